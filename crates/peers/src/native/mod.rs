//! pathscope's own protocol: one TCP port for control and data connections, and the UDP port of the
//! same number.
//!
//! [`Opening`] begins every TCP connection; [`Client`] and [`Server`] are the two ends of the dialogue on a
//! control connection, whose messages are in [`message`] and whose bytes in [`frame`] (version 1) and `numbered`
//! (version 2, which `link` keeps so that a lost connection can be made anew); [`Attaching`] and
//! [`Challenger`] bring a UDP flow in. The wire format for implementers is `docs/protocol.md`.

mod active_test;
mod body;
mod checksum;
mod client;
mod connection;
mod datagram;
mod deadlines;
pub mod findings;
pub mod frame;
mod keyed_hash;
mod line;
mod link;
pub mod message;
mod numbered;
mod opening;
mod own_ends;
mod own_kind;
mod own_totals;
mod packed;
mod proof;
mod renewal;
mod resumption;
mod server;
mod shorten;
mod stream;
mod unfinished;

#[cfg(test)]
pub(crate) mod fixtures;
#[cfg(test)]
mod tests;

use std::fmt;

use pathscope_core::record::Host;

use crate::Refusal;

pub use client::Client;
pub use datagram::{ANSWER_BYTES, Attaching, Challenger, Claim, Heard, REQUEST_BYTES, is_attach};
pub use opening::{
    ACK_BYTES, AttachCode, Greeting, HelloCheck, LONG_OPENING_BYTES, MAGIC, OPENING_BYTES, Opening,
    OpeningError, Return, encode_ack, encode_checked_ack, proof_of,
};
pub use own_kind::Native;
pub use proof::Proof;
pub use server::Server;
pub use stream::{StreamAttaching, StreamClaim};

/// The port of both transports, unless another is chosen.
pub const DEFAULT_PORT: u16 = 5210;

/// The versions of the protocol that this program speaks.
pub const VERSIONS: VersionRange = VersionRange { least: 1, most: 2 };

/// What is said to a client that comes back to a session that no longer is.
pub fn turned_away() -> Vec<u8> {
    line::absence::turned_away()
}

/// What a server says to a client that greets it so and gets no session: all there is to say, on a connection that the client
/// is to close.
pub fn refused(greeting: Greeting, refusal: &Refusal) -> Vec<u8> {
    server::refused(greeting, refusal)
}

/// Whose protocol it is, as results tell it.
const PROTOCOL: &str = "pathscope";

/// The one way to secure a control connection so far: not at all.
const SECURITY_NONE: &str = "none";

/// The capability of an end that wants to hear what each connection came to.
const WANTS_ENDS: &str = "ended";

/// The capability of an end that wants to hear of each connection that failed, and why, and that says it of its own.
const KNOWS_FAILURES: &str = "failures";

/// The capability of an end that reads totals in few bytes.
const READS_PACKED_TOTALS: &str = "packed_totals";

/// Takes the first bytes of a flow with what its connection presents, before that is answered.
const TAKES_EARLY_DATA: &str = "early_data";

/// What an end wants to hear, and how.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Wishes {
    ends: EndsWanted,
    packs_totals: bool,
}

/// Which connections an end wants to hear of as they end.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum EndsWanted {
    /// None: it knows nothing of it.
    #[default]
    None,
    /// Those that failed.
    Failures,
    /// All.
    All,
}

/// What an end can do beyond the version.
fn capabilities(wants_ends: bool) -> Vec<String> {
    let ends = wants_ends.then(|| WANTS_ENDS.to_owned());
    ends.into_iter().chain([KNOWS_FAILURES, READS_PACKED_TOTALS].map(str::to_owned)).collect()
}

/// The same of a server.
fn server_capabilities(wants_ends: bool) -> Vec<String> {
    let mut all = capabilities(wants_ends);
    all.push(TAKES_EARLY_DATA.to_owned());
    all
}

/// What the other end wants to hear.
fn wishes(other: Option<&OtherEnd>) -> Wishes {
    let can = |name| other.is_some_and(|other| other.can(name));
    let ends = match (can(WANTS_ENDS), can(KNOWS_FAILURES)) {
        (true, _) => EndsWanted::All,
        (false, true) => EndsWanted::Failures,
        (false, false) => EndsWanted::None,
    };
    Wishes { ends, packs_totals: can(READS_PACKED_TOTALS) }
}

/// A range of protocol versions.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct VersionRange {
    /// The oldest.
    pub least: u16,
    /// The newest.
    pub most: u16,
}

impl VersionRange {
    /// The newest version that both ranges hold.
    pub fn common(self, other: Self) -> Option<u16> {
        let newest = self.most.min(other.most);
        (newest >= self.least.max(other.least)).then_some(newest)
    }

    /// Whether it holds this version.
    pub const fn holds(self, version: u16) -> bool {
        self.least <= version && version <= self.most
    }
}

impl fmt::Display for VersionRange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.least == self.most {
            self.most.fmt(formatter)
        } else {
            write!(formatter, "{} to {}", self.least, self.most)
        }
    }
}

/// What is known of the other end once both have greeted each other.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherEnd {
    /// The version that both speak.
    pub version: u16,
    /// What it can do beyond that version.
    pub capabilities: Vec<String>,
    /// Its machine and program.
    pub host: Host,
    /// At the client: what the server grants.
    pub limits: Option<crate::limits::Limits>,
    /// At the client: what the server's process says at all of its addresses.
    pub identity: Option<pathscope_core::id::Token>,
}

impl OtherEnd {
    fn can(&self, name: &str) -> bool {
        self.capabilities.iter().any(|capability| capability == name)
    }

    /// Whether it says of each connection that fails there that it did, and why.
    pub fn tells_failures(&self) -> bool {
        self.can(KNOWS_FAILURES)
    }

    /// Whether it takes the first bytes of a flow with what its connection presents.
    pub fn takes_early_data(&self) -> bool {
        self.can(TAKES_EARLY_DATA)
    }

    /// Whether it says of each stream of datagrams that it still wants it, and hears that said.
    pub const fn consents(&self) -> bool {
        self.version >= 2
    }
}
