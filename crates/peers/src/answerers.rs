//! Who answers that is no pathscope server: told by the first bytes that come, so that a client says more than that they were wrong, and
//! with which words such a server is spoken to. Not here: who calls a server (`callers`).

use std::fmt;

use crate::PeerError;
use crate::inquiry::Verdict;

/// A server that is none of ours.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Answerer {
    /// What was said comes back: lagscope's receiver does so, and other servers that echo.
    Echo,
    /// ctsTraffic's, which speaks first: a name of 36 characters and a zero byte.
    CtsTraffic,
    /// iperf3's, which takes our first bytes for a cookie and asks for parameters, or has a client already.
    Iperf3,
}

/// The bytes of ctsTraffic's name for a connection.
const NAME_BYTES: usize = 36;
/// What iperf3 says next, each a single byte: that parameters are to be exchanged, that it serves somebody else.
const IPERF3: [&[u8]; 2] = [&[9], &[0xff]];

impl Answerer {
    /// The kind of peer by which such a server is spoken to.
    const fn peer(self) -> &'static str {
        match self {
            Self::Echo => "lagscope",
            Self::CtsTraffic => "ctstraffic",
            Self::Iperf3 => "iperf3",
        }
    }
}

impl fmt::Display for Answerer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Echo => "what was said comes back, as a lagscope receiver answers",
            Self::CtsTraffic => "it names the connection as a ctsTraffic server does",
            Self::Iperf3 => "it answers as an iperf3 server does",
        })?;
        write!(formatter, "; --peer {} speaks to one", self.peer())
    }
}

/// An error where what answered `said` is known to be no pathscope server.
pub(crate) fn must_be_ours(said: &[u8], heard: &[u8]) -> Result<(), PeerError> {
    let foreign = |who: Answerer| PeerError::Foreign { who: who.to_string() };
    identify(said, heard).map_or(Ok(()), |who| Err(foreign(who)))
}

/// Whether this begins with ctsTraffic's name for a connection.
pub(crate) fn names_connection(heard: &[u8]) -> Verdict {
    let is_letter = |byte: &u8| byte.is_ascii_hexdigit() || *byte == b'-';
    let seen = heard.len().min(NAME_BYTES);
    match (heard[..seen].iter().all(is_letter), heard.get(NAME_BYTES)) {
        (true, None) => Verdict::More,
        (true, Some(0)) => Verdict::Known,
        _ => Verdict::Other,
    }
}

/// Who answers what began with `said`, by the first bytes that came at once.
fn identify(said: &[u8], heard: &[u8]) -> Option<Answerer> {
    if !said.is_empty() && heard.starts_with(said) {
        Some(Answerer::Echo)
    } else if names_connection(heard) == Verdict::Known {
        Some(Answerer::CtsTraffic)
    } else if IPERF3.contains(&heard) {
        Some(Answerer::Iperf3)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &[u8] = b"\xf5PSP\r\n\x1a\n";

    #[test]
    fn each_server_is_told_by_what_it_says_first() {
        for (heard, who) in [
            (&b"\xf5PSP\r\n\x1a\n\x01\0\0\0"[..], Some(Answerer::Echo)),
            (b"6f9619ff-8b86-d011-b42d-00c04fc964ff\0", Some(Answerer::CtsTraffic)),
            (b"\x09", Some(Answerer::Iperf3)),
            (b"\xff", Some(Answerer::Iperf3)),
            (b"SSH-2.0-OpenSSH_9.2\r\n", None),
            (b"\xf52\0\0", None),
            (b"\0\0\x01\x07\0\x02{", None),
            (b"6f9619ff-8b86-d011-b42d-00c04fc964ff", None),
            (b"", None),
        ] {
            assert_eq!(identify(SAID, heard), who, "{heard:?}");
        }
    }
}
