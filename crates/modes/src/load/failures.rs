//! Connections that failed: how many of what, why one did as both its ends saw it, and whose ends do not count the same.
//! Off the hot path.

use std::fmt;

use pathscope_core::id::{FlowId, Role};
use pathscope_core::quantity::count;
use pathscope_core::record::{FlowError, FlowErrorKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many connections failed of what.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct FailureCounts {
    /// The system or the path: reset, unreachable, timed out.
    pub network: u64,
    /// Bytes were not what they must be.
    pub data: u64,
    /// The peer broke the rules, or the ends do not count the same.
    pub protocol: u64,
}

impl FailureCounts {
    /// Counts one more.
    pub fn count(&mut self, kind: FlowErrorKind) {
        let count = self.of(kind);
        *count = count.saturating_add(1);
    }

    /// Counts one less, which was counted by mistake.
    pub(crate) fn uncount(&mut self, kind: FlowErrorKind) {
        let count = self.of(kind);
        *count = count.saturating_sub(1);
    }

    fn of(&mut self, kind: FlowErrorKind) -> &mut u64 {
        match kind {
            FlowErrorKind::Network => &mut self.network,
            FlowErrorKind::Data => &mut self.data,
            FlowErrorKind::Protocol | FlowErrorKind::Unknown | FlowErrorKind::Unconfirmed => {
                &mut self.protocol
            }
        }
    }
}

/// How many connections failed by one error of the system, at one end.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct ErrnoCount {
    /// Its name, such as `ECONNREFUSED`.
    pub errno: String,
    /// Connections.
    pub failed: u64,
}

impl ErrnoCount {
    /// Counts one more that failed by this error.
    pub(crate) fn count(all: &mut Vec<Self>, errno: &str) {
        match all.iter_mut().find(|count| count.errno == errno) {
            Some(count) => count.failed = count.failed.saturating_add(1),
            None => all.push(Self { errno: errno.to_owned(), failed: 1 }),
        }
    }
}

/// One direction of a connection of which less, or more, arrived than was sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Disagreement {
    /// Which connection.
    pub flow: FlowId,
    /// Whether the client sent.
    pub is_up: bool,
    /// Bytes that the sender handed to its kernel.
    pub sent_bytes: u64,
    /// Bytes that the receiver took from its kernel and checked.
    pub received_bytes: u64,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sender, receiver) =
            if self.is_up { ("client", "server") } else { ("server", "client") };
        let (sent, received) = (self.sent_bytes, self.received_bytes);
        let short = if received < sent { receiver } else { sender };
        write!(
            formatter,
            "flow {}: the {sender} sent {} bytes and the {receiver} took {}; the {short} is short by {}",
            self.flow,
            count(sent),
            count(received),
            count(sent.abs_diff(received))
        )
    }
}

/// Why a connection failed that failed at the other end, which is `peer` and says this of it: what tells more comes
/// first. Where this end's own finding tells as much, that.
pub fn failure_of_both(peer: Role, theirs: &FlowError, own: Option<&FlowError>) -> FlowError {
    let there = if peer == Role::Server { "at the server" } else { "at the client" };
    // Whoever found it speaks of this end as the other one.
    let this = if peer == Role::Server { "the client" } else { "the server" };
    let found = theirs.text.replace("the other end", this);
    let text = match own {
        Some(own) if weight(own) >= weight(theirs) => return own.clone(),
        Some(own) => format!("{found} ({there}; here: {})", own.text),
        None => format!("{found} ({there})"),
    };
    FlowError { kind: theirs.kind, text, errno: theirs.errno.clone() }
}

/// Wrong data tells more than a breach of protocol, and that more than the network's trouble.
fn weight(error: &FlowError) -> u8 {
    match error.kind {
        FlowErrorKind::Data => 2,
        FlowErrorKind::Protocol | FlowErrorKind::Unknown => 1,
        FlowErrorKind::Network | FlowErrorKind::Unconfirmed => 0,
    }
}
