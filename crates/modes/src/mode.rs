//! What is asked of a mode, whichever it is: everything about a test that follows from its plan alone.
//!
//! Each mode answers for itself, in its folder; `registry` names the modes once.

use std::fmt::Debug;

use pathscope_core::Wait;
use pathscope_core::id::{FlowId, Role};
use pathscope_core::quantity::{BitRate, Period};
use pathscope_flow::Transport;

use crate::limits::PlanError;
use crate::memory::MemoryNeed;
use crate::offered::{Offered, PingSizes};
use crate::placement::Placement;
use crate::sockets::SocketPlan;

/// The flows of a plan, before they are numbered through all groups of a test.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Flows {
    /// What kind of socket carries each lane.
    pub transport: Transport,
    /// How many at once.
    pub flows: u32,
    /// How many in all: more where one that ends is replaced.
    pub numbers: u32,
    /// Sockets of each.
    pub lanes: u8,
    /// Whether lanes may come late, go, and come back from another address.
    pub roams: bool,
}

impl Flows {
    /// So many flows of one lane each, none of which is replaced.
    pub const fn of(transport: Transport, flows: u32) -> Self {
        Self { transport, flows, numbers: flows, lanes: 1, roams: false }
    }
}

/// What a plan asks of both ends' machines; what it leaves open is theirs to choose.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asks<'plan> {
    /// How to wait.
    pub wait: Wait,
    /// The engine, by its name.
    pub engine: Option<&'plan str>,
    /// Processors that the client's workers are kept on, in turns, and those of the server's; none: any.
    pub cpus: [&'plan [u32]; 2],
    /// Where and how sockets are opened and set.
    pub sockets: Option<&'plan SocketPlan>,
    /// Congestion control, by the kernel's name for it.
    pub congestion_control: Option<&'plan str>,
}

impl<'plan> Asks<'plan> {
    /// Processors that the workers of an end are kept on; none: any.
    pub fn cpus_of(&self, role: Role) -> &'plan [u32] {
        let [client, server] = self.cpus;
        if role == Role::Client { client } else { server }
    }
}

/// A plan of a mode: stated by the client, judged by the server, kept in the result.
pub trait Mode: Debug {
    /// Whether it can be run. Holds for what was typed here and for what a stranger sends.
    fn validate(&self) -> Result<(), PlanError>;

    /// Its flows.
    fn flows(&self) -> Flows;

    /// How long it lasts at the most, where that is stated.
    fn duration_ns(&self) -> Option<Period>;

    /// What it does, in a few words.
    fn subtitle(&self) -> String;

    /// What a server needs to remember for it.
    fn server_memory(&self) -> MemoryNeed;

    /// How its flows are best run by an end that may use so many processors.
    fn placement(&self, cpus: usize) -> Placement;

    /// What it asks of both ends' machines.
    fn asks(&self) -> Asks<'_> {
        Asks::default()
    }

    /// What it puts on the path; none where that cannot be said in a word. Pings are too few to be felt.
    fn offered(&self) -> Option<Offered> {
        Some(Offered::default())
    }

    /// What its pings weigh, where it sends any.
    fn ping_sizes(&self) -> Option<PingSizes> {
        None
    }

    /// Whether what is measured are the times of single datagrams or pings, and not rates.
    fn is_of_times(&self) -> bool {
        false
    }

    /// Whether its connections go to all addresses of the server that answer, each in its turn.
    fn spreads(&self) -> bool {
        false
    }

    /// Whether it ends only when somebody ends it.
    fn is_endless(&self) -> bool {
        false
    }

    /// How many of its connections may be in the making at once.
    fn connect_limit(&self) -> u32 {
        1
    }

    /// The rate that a flow of this end keeps evenly, so that its kernel may spread what leaves.
    fn even_rate(&self, _role: Role, _flow: FlowId) -> Option<BitRate> {
        None
    }
}
