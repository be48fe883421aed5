//! What plans of loads have in common: which way data goes, how much of it, and which of it is compared.

use std::ops::Range;

use pathscope_core::id::{FlowId, Role};
use pathscope_core::quantity::{Bytes, Period};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::{self, PlanError};
use crate::sockets::SocketPlan;

/// What waits unsent in the kernel at the most where both ends send at once, unless it is stated. What waits there is
/// pushed on by whoever acknowledges, at the other end's expense where both are one machine, and out of the caches by
/// then; what is on its way is not limited by it. docs/method/bench.md has what it is worth.
const DUPLEX_UNSENT: Bytes = Bytes(128 << 10);

/// Who sends when.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// The client sends, the server receives.
    Push,
    /// The server sends, the client receives.
    Pull,
    /// In turns: the client sends a segment, then the server, and so on.
    Pushpull,
    /// Both send at once.
    Duplex,
    /// Both send at once, each on connections of its own, of which each end has as many.
    Bidir,
}

impl Pattern {
    /// The patterns in their order, with their names as typed.
    pub const ALL: [(&'static str, Self); 5] = [
        ("push", Self::Push),
        ("pull", Self::Pull),
        ("pushpull", Self::Pushpull),
        ("duplex", Self::Duplex),
        ("bidir", Self::Bidir),
    ];

    /// How sockets are set that carry this, where nothing else was asked for.
    pub fn sockets(self, asked: SocketPlan) -> SocketPlan {
        let unsent = (self == Self::Duplex).then_some(DUPLEX_UNSENT);
        SocketPlan { not_sent_low_water_bytes: asked.not_sent_low_water_bytes.or(unsent), ..asked }
    }

    /// Whether each connection carries bytes one way, from the first to the last.
    pub const fn is_one_way(self) -> bool {
        matches!(self, Self::Push | Self::Pull | Self::Bidir)
    }

    /// How many flows so many connections are: where each end has its own, as many again.
    pub const fn flows(self, connections: u32) -> u32 {
        if matches!(self, Self::Bidir) { connections.saturating_mul(2) } else { connections }
    }

    /// The flows that an end sends on at once, of so many connections: of those that each end has for itself, the client's come first.
    pub fn flows_from(self, role: Role, connections: u32) -> Range<u32> {
        match (self, role) {
            (Self::Bidir, Role::Server) => connections..self.flows(connections),
            _ if self.sends(role) => 0..connections,
            _ => 0..0,
        }
    }

    /// Whether an end sends on a flow, of so many connections.
    pub fn sends_on(self, role: Role, flow: FlowId, connections: u32) -> bool {
        let is_its_own = self.flows_from(role, connections).contains(&flow.0);
        self.sends(role) && (self != Self::Bidir || is_its_own)
    }

    /// So many connections, as a list of settings says it.
    pub(crate) fn counted(self, connections: u32, thing: &str) -> String {
        let plural = if connections == 1 { "" } else { "s" };
        let each_way = if self == Self::Bidir { " each way" } else { "" };
        format!("{connections} {thing}{plural}{each_way}")
    }

    /// Whether an end sends.
    pub fn sends(self, role: Role) -> bool {
        let of_the_other = if role == Role::Client { Self::Pull } else { Self::Push };
        self != of_the_other
    }

    /// How much an end that sends sends of so many bytes, both directions together. An odd byte is the client's.
    pub const fn part(self, role: Role, total: u64) -> u64 {
        match (self, role) {
            (Self::Duplex, Role::Client) => total - total / 2,
            (Self::Duplex, Role::Server) => total / 2,
            _ => total,
        }
    }

    /// As it is typed.
    pub fn name(self) -> &'static str {
        limits::name_of(&Self::ALL, self)
    }
}

/// How much, or how long.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// So many bytes on each connection, both directions together: `pushpull` ends a segment early
    /// where the sum is reached, `duplex` sends half each way, and in `bidir` each connection goes one way.
    TransferBytes(Bytes),
    /// So long.
    DurationNs(Period),
}

impl Extent {
    /// Whether this can be asked for, with such a warm-up.
    pub(crate) fn check(self, warm_up: Period) -> Result<(), PlanError> {
        match self {
            Self::TransferBytes(transfer) => {
                limits::in_range("--transfer", transfer, &limits::TRANSFER)
            }
            Self::DurationNs(duration) => limits::duration(duration, warm_up),
        }
    }
}

/// How received bytes are checked.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verify {
    /// Every byte.
    #[default]
    Full,
    /// One in sixteen: of each lap of the table the first part, its mark included. Damage that lasts for a
    /// lap is always found; a bit that flips is found one time in sixteen.
    Sampled,
    /// None. The result says so.
    Off,
}

impl Verify {
    /// The ways with their names as typed.
    pub const ALL: [(&'static str, Self); 3] =
        [("full", Self::Full), ("sampled", Self::Sampled), ("off", Self::Off)];
}
