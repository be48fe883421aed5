//! What a server says by a number when it declines or fails, in words of ours, and which number says what ours declines. Numbers are the
//! protocol's own; the system's number that follows one is often stale, and is not told.

use super::states::{ACCESS_DENIED, SERVER_ERROR};
use crate::Refusal;

/// The test lasts too long, or for no length at all.
pub(super) const DURATION: u32 = 5;
/// Too many streams, or none.
pub(super) const STREAMS: u32 = 6;
/// Sends of such a length over TCP.
pub(super) const BLOCK: u32 = 7;
/// Buffers of such a size.
pub(super) const BUFFER: u32 = 8;
/// Segments of such a size.
pub(super) const SEGMENT: u32 = 10;
/// Such a warm-up.
pub(super) const OMIT: u32 = 12;
/// Something that is not there.
pub(super) const UNIMPLEMENTED: u32 = 13;
/// No SCTP.
pub(super) const NO_SCTP: u32 = 18;
/// Datagrams of such a length.
pub(super) const DATAGRAM: u32 = 20;
/// Such a type of service.
pub(super) const SERVICE: u32 = 21;
/// A higher rate than is granted.
pub(super) const RATE: u32 = 27;
/// A longer time than is granted.
pub(super) const LONGEST: u32 = 37;
/// The parameters cannot be read.
pub(super) const PARAMETERS: u32 = 114;
/// The results cannot be read.
pub(super) const RESULTS: u32 = 117;
/// Nothing has come for too long.
pub(super) const IDLE: u32 = 144;
/// The client's program was told to end.
pub(super) const CLIENT_ENDED: u32 = 119;
/// The server's own time for the test is over.
pub(super) const TIME_OVER: u32 = 160;
/// The streams could not be set up.
pub(super) const STREAM: u32 = 200;

/// Bytes behind the state, where all of them come: some servers say the first number alone, some nothing.
pub(super) const TAIL: usize = 8;

/// What says that this end declines or fails.
pub(super) fn said(number: u32) -> Vec<u8> {
    [&[SERVER_ERROR][..], &number.to_be_bytes(), &0_u32.to_be_bytes()].concat()
}

/// Why ours declines, and by which number the client is told.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Declined {
    /// The number that goes on the wire; none where it is busy, which has a state of its own: what is refused now may be granted later.
    pub number: Option<u32>,
    /// The same for people.
    pub refusal: Refusal,
}

impl Declined {
    /// For this reason.
    pub fn new(number: u32, sentence: impl Into<String>) -> Self {
        Self { number: Some(number), refusal: Refusal::new("invalid", sentence) }
    }

    /// For one that holds of all kinds of clients.
    pub fn of(refusal: Refusal) -> Self {
        let number = match refusal.code.as_str() {
            "duration" => Some(LONGEST),
            "connections" => Some(STREAMS),
            "rate" => Some(RATE),
            "threads" | "memory" | "descriptors" => None,
            _ => Some(UNIMPLEMENTED),
        };
        Self { number, refusal }
    }

    /// What the client is told.
    pub fn said(&self) -> Vec<u8> {
        self.number.map_or_else(|| vec![ACCESS_DENIED], said)
    }
}

/// What another server means by what follows its word that it cannot: as many bytes as there are.
pub(super) fn meant(tail: &[u8]) -> Refusal {
    let Some(number) = tail.first_chunk().copied().map(u32::from_be_bytes) else {
        return Refusal::new("failed", "it cannot run the test, and does not say why")
            .with_hint("see what it has printed itself");
    };
    let (code, sentence, hint) = match number {
        DURATION => ("duration", "the test is of no length that it takes", "ask for 1 to 86,400 s"),
        STREAMS => {
            ("connections", "there are too many streams, or none", "ask for 1 to 128 each way")
        }
        BLOCK => (
            "invalid",
            "it takes no sends of this length",
            "ask for a --buffer of 1 MiB at the most",
        ),
        DATAGRAM => (
            "invalid",
            "it takes no datagrams of this length",
            "ask for a --datagram of 16 to 65,507 bytes",
        ),
        BUFFER | 141 => (
            "invalid",
            "it cannot have socket buffers of this size",
            "ask for less, or raise its system's own limits (net.core.rmem_max and wmem_max)",
        ),
        SEGMENT => (
            "invalid",
            "it cannot have segments of this size",
            "ask for another --mss, or leave it out",
        ),
        OMIT => ("invalid", "it takes no such warm-up", "ask for 600 s at the most"),
        SERVICE | 40 => ("invalid", "it cannot mark what it sends so", "leave --dscp out"),
        RATE => (
            "rate",
            "all streams together are faster than it grants",
            "ask for a lower --rate or fewer streams",
        ),
        LONGEST => (
            "duration",
            "the test is longer than it grants",
            "ask for less time; one that ends by bytes has no limit it could keep",
        ),
        PARAMETERS => {
            ("invalid", "it could not read what was asked for", "see what it has printed itself")
        }
        116 | RESULTS => {
            ("failed", "the results could not be exchanged", "see what it has printed itself")
        }
        CLIENT_ENDED => ("stopped", "it was told that this end had stopped", "run the test again"),
        120 => ("stopped", "its program was told to end", "start it again"),
        121 => {
            ("busy", "it runs another test", "try again when that is over: it runs one at a time")
        }
        142 => (
            "unauthorized",
            "it serves nobody who does not say a user's name and password",
            "start it without users: pathscope has no words for them",
        ),
        IDLE => (
            "failed",
            "nothing came to it for so long that it gave up",
            "see whether a firewall drops data on the way to it",
        ),
        TIME_OVER => (
            "duration",
            "the test had not ended 40 s after its time",
            "see whether anything still gets through",
        ),
        200..=208 => (
            "failed",
            "it could not set up a stream, or move data on one",
            "see what it has printed itself",
        ),
        _ => {
            let sentence = format!("it failed with its error {number}");
            return Refusal::new("failed", sentence).with_hint("see what it has printed itself");
        }
    };
    Refusal::new(code, sentence).with_hint(hint)
}

/// What another server means that says nothing but that it denies access.
pub(super) fn denied() -> Refusal {
    Refusal::new("busy", "it runs another test, or none for us")
        .with_hint("try again when that is over: an iperf3 server runs one test at a time")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_said_and_meant_whether_all_or_some_of_what_follows_comes() {
        let all = said(LONGEST);
        assert_eq!(all, [0xfe, 0, 0, 0, 37, 0, 0, 0, 0]);
        for end in [5, 9] {
            assert_eq!(meant(&all[1..end]).code, "duration");
        }
        for end in [1, 2, 4] {
            assert!(meant(&all[1..end]).sentence.ends_with("does not say why"));
        }
        assert!(meant(&said(999)[1..]).sentence.contains("999"));
    }

    #[test]
    fn a_client_is_told_to_try_again_where_others_have_what_it_asks_for() {
        let of = |code: &str| Declined::of(Refusal::new(code, "no")).said();
        for code in ["threads", "memory", "descriptors"] {
            assert_eq!(of(code), [ACCESS_DENIED], "{code}");
        }
        for (code, number) in [("duration", LONGEST), ("unable", UNIMPLEMENTED)] {
            assert_eq!(of(code), said(number), "{code}");
        }
    }
}
