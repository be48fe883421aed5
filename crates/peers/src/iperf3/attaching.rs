//! A stream of datagrams that is set up: four bytes each way. What comes twice would be taken for data at the server, so that nothing is said
//! again once it was answered.

use std::net::SocketAddr;

use pathscope_core::Tick;
use pathscope_core::quantity::Period;

use crate::attach::{AttachDatagrams, AttachError, DatagramHeard, HearDatagrams, NoClaim};

/// What asks for a stream since 3.12. Before it was another number, and on some machines in another order: servers take any of that length.
const CONNECT: [u8; 4] = *b"9876";
/// What is answered. Clients before 3.12 take anything.
const ACCEPT: [u8; 4] = *b"6789";
/// The same up to 3.11.
const ACCEPT_BEFORE: [u8; 4] = [0xb1, 0x68, 0xde, 0x3a];

/// It is asked again after so long, where nothing has come.
const AGAIN: Period = Period::from_secs(1);
/// How long an answer is waited for, as real clients do.
const UNANSWERED: Period = Period::from_secs(30);

/// A stream that is set up.
#[derive(Debug)]
pub struct Connecting {
    begun: Tick,
    /// When it is asked again.
    again_at: Tick,
    outcome: Option<Result<(), AttachError>>,
}

impl Connecting {
    /// It asks from now on.
    pub(super) const fn new(now: Tick) -> Self {
        Self { begun: now, again_at: now, outcome: None }
    }

    fn ends_at(&self) -> Tick {
        self.begun.plus_nanos(UNANSWERED.0)
    }
}

impl AttachDatagrams for Connecting {
    fn datagram(&mut self, now: Tick) -> Option<Vec<u8>> {
        if self.outcome.is_none() && now >= self.ends_at() {
            self.outcome =
                Some(Err(AttachError::Unanswered { seconds: UNANSWERED.0 / 1_000_000_000 }));
        }
        if self.outcome.is_some() || now < self.again_at {
            return None;
        }
        self.again_at = now.plus_nanos(AGAIN.0);
        Some(CONNECT.to_vec())
    }

    fn deadline(&self) -> Option<Tick> {
        self.outcome.is_none().then(|| self.again_at.min(self.ends_at()))
    }

    fn received(&mut self, datagram: &[u8], _: Tick) {
        if self.outcome.is_none() && (datagram == ACCEPT || datagram == ACCEPT_BEFORE) {
            self.outcome = Some(Ok(()));
        }
    }

    fn outcome(&self) -> Option<&Result<(), AttachError>> {
        self.outcome.as_ref()
    }
}

/// The server's side: whoever sends four bytes asks for the next stream of the test that awaits one from its address.
#[derive(Clone, Copy, Debug, Default)]
pub struct HearConnects;

impl HearDatagrams for HearConnects {
    type Claim = NoClaim;

    fn hear(&self, _: SocketAddr, datagram: &[u8], _: Tick) -> DatagramHeard<NoClaim> {
        match datagram.first_chunk::<{ CONNECT.len() }>() {
            Some(_) if datagram.len() == CONNECT.len() => DatagramHeard::Joins(ACCEPT.to_vec()),
            _ => DatagramHeard::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: u64) -> Tick {
        Tick::from_nanos(1_000 + seconds * 1_000_000_000)
    }

    #[test]
    fn it_is_asked_again_while_nothing_comes_and_not_after() {
        let mut stream = Connecting::new(at(0));
        assert_eq!(stream.datagram(at(0)), Some(b"9876".to_vec()));
        assert_eq!((stream.datagram(at(0)), stream.deadline()), (None, Some(at(1))));
        assert!(stream.datagram(at(1)).is_some());
        stream.received(b"nothing of it", at(1));
        assert_eq!(stream.outcome(), None);
        for answer in [*b"6789", [0xb1, 0x68, 0xde, 0x3a]] {
            let mut stream = Connecting::new(at(0));
            stream.received(&answer, at(1));
            assert_eq!((stream.datagram(at(9)), stream.outcome()), (None, Some(&Ok(()))));
            assert_eq!(stream.deadline(), None);
        }
    }

    #[test]
    fn four_bytes_ask_for_a_stream_and_nothing_else_does() {
        let from = "192.0.2.1:7".parse().expect("an address");
        for asks in [&b"9876"[..], b"6789", &[0x15, 0xcd, 0x5b, 0x07]] {
            let heard = HearConnects.hear(from, asks, at(0));
            assert_eq!(heard, DatagramHeard::Joins(b"6789".to_vec()));
        }
        for other in [&b""[..], b"987", b"98765"] {
            assert_eq!(HearConnects.hear(from, other, at(0)), DatagramHeard::Nothing);
        }
    }

    #[test]
    fn an_answer_is_not_waited_for_for_ever() {
        let mut stream = Connecting::new(at(0));
        let asked = (0..60).filter(|&second| stream.datagram(at(second)).is_some()).count();
        assert_eq!(asked, 30);
        assert_eq!(stream.outcome(), Some(&Err(AttachError::Unanswered { seconds: 30 })));
    }
}
