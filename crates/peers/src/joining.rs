//! Connections that bear no token: each is a lane of a flow by being of a client, whose session the first of them begins. Not here:
//! those that say for which seat they are (`attach`), and who has which seat.

use std::net::IpAddr;

/// What all connections of a client say that is known by it: as long as iperf3's and ctsTraffic's.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Cookie(pub [u8; Self::BYTES]);

/// Letters of a UUID as text.
const NAME_LETTERS: usize = 36;

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

/// What a connection is called, where what is answered on it is that and nothing else: a UUID as text, and a zero.
pub fn name_in(answer: &[u8]) -> Option<String> {
    let (0, name) = answer.split_last()? else { return None };
    let is_right = |(place, &byte): (usize, &u8)| match place {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    let is_name = name.len() == NAME_LETTERS && name.iter().enumerate().all(is_right);
    is_name.then(|| String::from_utf8_lossy(name).into_owned())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_a_name_where_it_is_a_uuid_and_a_zero() {
        let name = "0f8fad5b-d9cb-469f-A165-70867728950e";
        let answer = |text: &str| name_in(&[text.as_bytes(), b"\0"].concat());
        assert_eq!(answer(name).as_deref(), Some(name));
        let letters = "a".repeat(36);
        for other in ["", "0f8fad5b", &letters, &name.replace('f', ","), &format!("{name}0")] {
            assert_eq!(answer(other), None, "{other}");
        }
        assert_eq!((name_in(name.as_bytes()), name_in(&[])), (None, None));
    }
}
