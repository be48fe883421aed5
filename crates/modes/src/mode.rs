//! What is asked of a mode, whichever it is: everything about a test that follows from its plan alone.
//!
//! Each mode answers for itself, in its folder; `registry` names the modes once.

use std::fmt::Debug;

use pathscope_core::Wait;
use pathscope_core::id::{FlowId, Role};
use pathscope_core::journal::LoadFacts;
use pathscope_core::quantity::{BitRate, Period};
use pathscope_flow::{Batches, Transport};

use crate::conventions::Framing;
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

/// How flows take what comes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Receives {
    /// The most at once, of streams and of single datagrams.
    pub at_once_bytes: usize,
    /// How datagrams are handed over.
    pub batches: Batches,
    /// Whether the kernel stamps datagrams.
    pub stamps: bool,
}

impl Default for Receives {
    /// One datagram of any size with each receive, so that each has a time of its own.
    fn default() -> Self {
        Self { at_once_bytes: LARGEST_DATAGRAM, batches: Batches::One, stamps: false }
    }
}

/// Room for a datagram of any size.
const LARGEST_DATAGRAM: usize = 64 << 10;

/// What files of a session have of flows, one by one.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ToldAs {
    /// Nothing.
    #[default]
    Nothing,
    /// That each begins, where somebody wants what it measures one by one; not how it ends.
    Begins,
    /// Each is a connection.
    Connections,
    /// That each begins and what goes through it, where somebody wants that: each is a flow of datagrams.
    Datagrams,
    /// Each is a stream, and this end receives it or not.
    Streams {
        /// Whether it does.
        receives: bool,
    },
}

/// What sockets of datagrams have to have at an end.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct DatagramSockets {
    /// Whether what it sends must leave whole.
    pub keep_whole: bool,
    /// The longest that is sent: a path that takes less cannot carry the test.
    pub longest_bytes: Option<u64>,
    /// Room for what waits to be received, beyond the system's limit where this process may.
    pub room_bytes: Option<u64>,
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
    /// Whether what connections that follow others say first is to go with their SYN.
    pub fast_open: bool,
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

    /// Whether its datagrams have room for what stands before their data where they are laid out so.
    fn fits(&self, _framing: Framing) -> Result<(), PlanError> {
        Ok(())
    }

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

    /// Whether its flows have so little to do that a thread may run them beside those of other tests, where a server has many:
    /// neither takes time from the other that is worth mentioning.
    fn is_light(&self) -> bool {
        false
    }

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

    /// Whether its client's system keeps the port of a connection for a minute after its end: not where each is ended by a reset.
    fn keeps_ports(&self) -> bool {
        true
    }

    /// Whether it ends only when somebody ends it.
    fn is_endless(&self) -> bool {
        false
    }

    /// How its flows take what comes.
    fn receives(&self) -> Receives {
        Receives::default()
    }

    /// Whether what a flow sends and what it receives are independent, so that they can be two halves on a thread each.
    fn has_halves(&self) -> bool {
        false
    }

    /// Whether its flows go on until a load beside them is over.
    fn lasts_with_load(&self) -> bool {
        false
    }

    /// Whether these are connections on which an end sends a load.
    fn sends_bytes(&self, _role: Role) -> bool {
        false
    }

    /// Whether an end sends a load on one of them.
    fn sends_on(&self, role: Role, _flow: FlowId) -> bool {
        self.sends_bytes(role)
    }

    /// What load it is, where it is one.
    fn load(&self) -> Option<LoadFacts> {
        None
    }

    /// What files of a session have of its flows at an end.
    fn told_as(&self, _role: Role) -> ToldAs {
        ToldAs::Nothing
    }

    /// What its sockets of datagrams have to have at an end; none: what is usual.
    fn datagram_sockets(&self, _role: Role) -> Option<DatagramSockets> {
        None
    }

    /// The client's interfaces that its lanes are to use, as they were named; none: those that there are.
    fn path_names(&self) -> &[String] {
        &[]
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
