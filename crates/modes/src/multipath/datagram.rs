//! A datagram of a multipath test and its echo, on the wire.
//!
//! ```text
//!  0       4     5     6        8         16        24         32                40               48
//!  +-------+-----+-----+--------+---------+---------+----------+-----------------+----------------+--
//!  | PSMP  |kind |lane | flow   | token   | number  | sent     | server received | server sent    | filler
//!  +-------+-----+-----+--------+---------+---------+----------+-----------------+----------------+--
//! ```
//!
//! All numbers little-endian. `kind`: 1 data, 2 its echo, 3 a check of a lane that is about to be used, 4 its
//! echo. The number is the same on every lane. `sent` is of the client's clock, the other two stamps of the
//! server's; what comes from the client has zeros there. The filler is the flow's stream at position
//! number × size + 48; an echo has it, too.

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane};

use super::MultipathPlan;
use crate::pattern::{SessionKey, StreamKey};
use crate::{codec, stamps};

/// Length of the header, and so of the smallest datagram.
pub const HEADER_BYTES: usize = 48;

/// First four bytes of every datagram.
const MAGIC: u32 = u32::from_le_bytes(*b"PSMP");

/// What a datagram is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    Data = 1,
    Echo,
    Check,
    CheckEcho,
}

impl Kind {
    /// What the server sends back; nothing where it came from a server.
    pub const fn echo(self) -> Option<Self> {
        match self {
            Self::Data => Some(Self::Echo),
            Self::Check => Some(Self::CheckEcho),
            Self::Echo | Self::CheckEcho => None,
        }
    }
}

/// What stands before the filler.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Header {
    pub kind: Kind,
    pub lane: Lane,
    pub number: u64,
    pub sent: Tick,
    pub server_received: Tick,
    pub server_sent: Tick,
}

impl Header {
    /// Whether the server's stamps can be.
    pub fn is_plausible(&self, now: Tick) -> bool {
        stamps::are_plausible([self.server_received, self.server_sent], self.sent, now)
    }
}

/// How the datagrams of one flow are written and known again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Content {
    stream: StreamKey,
    token: u64,
    flow: u16,
    pub size: usize,
    /// Numbers are below this.
    datagrams: u64,
}

/// What was found in bytes that came.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Found {
    /// A datagram of this flow, every byte as it was sent.
    Whole(Header),
    /// One of this flow that is not as it was sent.
    Corrupt,
    /// Nothing of this flow.
    Foreign,
}

impl Content {
    pub fn of(plan: &MultipathPlan, session: SessionKey, flow: FlowId) -> Self {
        Self {
            stream: session.stream(flow.0, true),
            token: session.token(),
            flow: flow.0 as u16,
            size: plan.datagram_bytes.0 as usize,
            datagrams: plan.datagrams(),
        }
    }

    /// Writes a datagram, which has room for all of it.
    pub fn write(&self, header: &Header, datagram: &mut [u8]) {
        let [low, high] = self.flow.to_le_bytes();
        let kind_and_flow = u32::from_le_bytes([header.kind as u8, header.lane.0, low, high]);
        let words = [
            codec::word(MAGIC, kind_and_flow),
            self.token,
            header.number,
            header.sent.as_nanos(),
            header.server_received.as_nanos(),
            header.server_sent.as_nanos(),
        ];
        codec::write(words, datagram);
        self.stream.copy_to(self.position(header.number), &mut datagram[HEADER_BYTES..]);
    }

    /// Judges a datagram that came on `lane`.
    pub fn read(&self, datagram: &[u8], lane: Lane) -> Found {
        let Some([first, token, number, times @ ..]) = codec::read::<6>(datagram) else {
            return Found::Foreign;
        };
        let [magic, kind_and_flow] = codec::halves(first);
        let [kind, came_on, low, high] = kind_and_flow.to_le_bytes();
        if magic != MAGIC || u16::from_le_bytes([low, high]) != self.flow || token != self.token {
            return Found::Foreign;
        }
        let kinds = [Kind::Data, Kind::Echo, Kind::Check, Kind::CheckEcho];
        let Some(kind) = kinds.into_iter().find(|&it| it as u8 == kind) else {
            return Found::Corrupt;
        };
        let [sent, server_received, server_sent] = times.map(Tick::from_nanos);
        let is_check = matches!(kind, Kind::Check | Kind::CheckEcho);
        let is_whole = datagram.len() == self.size
            && number < self.datagrams
            && (number == 0 || !is_check)
            && came_on == lane.0
            // What comes from a client has no stamps of a server.
            && (kind.echo().is_none() || times[1..] == [0, 0])
            && self.stream.first_wrong(self.position(number), &datagram[HEADER_BYTES..]).is_none();
        if !is_whole {
            return Found::Corrupt;
        }
        Found::Whole(Header { kind, lane, number, sent, server_received, server_sent })
    }

    /// Where the filler of a datagram stands in the flow's stream. A number may be a stranger's.
    fn position(&self, number: u64) -> u64 {
        number.wrapping_mul(self.size as u64).wrapping_add(HEADER_BYTES as u64)
    }
}

#[cfg(test)]
mod tests {
    use pathscope_core::id::Token;
    use proptest::prelude::*;

    use super::super::tests::plan;
    use super::*;

    fn content() -> Content {
        Content::of(&plan(2), SessionKey::from(Token([3; 16])), FlowId(0))
    }

    fn header(kind: Kind, number: u64) -> Header {
        // What comes from a client has no stamps of a server.
        let server = if kind.echo().is_some() { [0, 0] } else { [2, 3] };
        let [sent, server_received, server_sent] = [1, server[0], server[1]].map(Tick::from_nanos);
        Header { kind, lane: Lane(1), number, sent, server_received, server_sent }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(number in 0_u64..10_000, code in 0_usize..4) {
            let kind = [Kind::Data, Kind::Echo, Kind::Check, Kind::CheckEcho][code];
            // A check has no number: one that has one was something else.
            let number = if code < 2 { number } else { 0 };
            let (content, header) = (content(), header(kind, number));
            let mut datagram = vec![0; content.size];
            content.write(&header, &mut datagram);
            prop_assert_eq!(content.read(&datagram, Lane(1)), Found::Whole(header));
            prop_assert_eq!(content.read(&datagram, Lane(0)), Found::Corrupt);
        }

        #[test]
        fn no_changed_byte_goes_unseen(number in 0_u64..10_000, place in 0_usize..1_024, mask in 1_u8..) {
            let content = content();
            let mut datagram = vec![0; content.size];
            let header = header(Kind::Data, number);
            content.write(&header, &mut datagram);
            datagram[place] ^= mask;
            match content.read(&datagram, Lane(1)) {
                // The stamp is the client's to compare, and the kind may become that of an echo, or of a check where there is
                // no number.
                Found::Whole(read) => {
                    let is_echo = read.kind == Kind::Echo || number == 0;
                    prop_assert!((24..32).contains(&place) || (place == 4 && is_echo), "{read:?}");
                }
                Found::Corrupt | Found::Foreign => {}
            }
        }

        #[test]
        fn any_bytes_are_judged(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            prop_assert_eq!(content().read(&bytes, Lane(0)), Found::Foreign);
        }
    }
}
