//! Connections that bear no token: each is a lane of a flow by being of a client, whose session the first of them begins. Not here:
//! those that say for which seat they are (`attach`), and who has which seat.

use std::net::IpAddr;

/// What all connections of a client say that is known by it: as long as iperf3's and ctsTraffic's.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Cookie(pub [u8; Self::BYTES]);

impl Cookie {
    /// Its length.
    pub const BYTES: usize = 37;
}

/// By what connections are known to be of one client.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Identity {
    /// They all say this.
    Cookie(Cookie),
    /// They say nothing, and come from there: the first so many are one session's, the next begin another.
    Address(IpAddr),
}

/// A connection that is of a client, and becomes the next lane of its session's flows, in the order in which they come.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Joining<G> {
    /// How its client asks for the session, which the first of its connections begins.
    pub greeting: G,
    /// Which others are of the same client.
    pub identity: Identity,
    /// What it is told at once when it has its place. A few bytes, which a new connection takes.
    pub answer: Vec<u8>,
}

/// A datagram that asks for a session of one stream.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Calling<G> {
    /// How its client asks for the session.
    pub greeting: G,
    /// What is sent back at once.
    pub answer: Vec<u8>,
}

impl<G> Joining<G> {
    /// The same, of whichever kind.
    pub(crate) fn map<H>(self, session: impl FnOnce(G) -> H) -> Joining<H> {
        let Self { greeting, identity, answer } = self;
        Joining { greeting: session(greeting), identity, answer }
    }
}
