//! A datagram of a multipath test and its echo, on the wire.
//!
//! Its header is that of [`echoed`](crate::echoed), and begins with `PSMP`. `kind`: 1 data, 2 its echo, 3 a check of a lane that is about to be used,
//! 4 its echo. The number is the same on every lane. The filler is the flow's stream at position number × size + 48; an echo
//! has it, too.
//!
//! With a server of `MultipathLatencyAnalyzer` they are laid out as its own are (`conventions/bare`): a lane is known by its socket alone,
//! and the server writes one stamp, which stands for both.

use pathscope_core::id::{FlowId, Lane};

use super::MultipathPlan;
use crate::conventions::Framing;
use crate::conventions::bare::{self, Bare};
use crate::echoed::{self, HEADER_BYTES, Tag};
use crate::pattern::{SessionKey, StreamKey};

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

impl echoed::Kind for Kind {
    const MAGIC: u32 = u32::from_le_bytes(*b"PSMP");
    const ALL: &'static [Self] = &[Self::Data, Self::Echo, Self::Check, Self::CheckEcho];

    fn code(self) -> u8 {
        self as u8
    }
}

/// What stands before the filler.
pub(super) type Header = echoed::Header<Kind>;

/// What was found in bytes that came.
pub(super) type Found = echoed::Found<Kind>;

/// How the datagrams of one flow are written and known again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Content {
    stream: StreamKey,
    pub tag: Tag,
    pub size: usize,
    /// Numbers are below this.
    datagrams: u64,
    framing: Framing,
}

impl Content {
    pub fn of(plan: &MultipathPlan, session: SessionKey, flow: FlowId) -> Self {
        Self {
            stream: session.stream(flow.0, true),
            tag: Tag::of(session, flow, 1),
            size: plan.datagram_bytes.0 as usize,
            datagrams: plan.datagrams(),
            framing: Framing::Own,
        }
    }

    /// The same, laid out like this.
    pub fn framed(self, framing: Framing) -> Self {
        Self { framing, ..self }
    }

    /// Writes a datagram, which has room for all of it.
    pub fn write(&self, header: &Header, datagram: &mut [u8]) {
        if self.framing == Framing::Bare {
            return write_bare(header, datagram);
        }
        self.tag.write(header, datagram);
        self.stream.copy_to(self.position(header.sequence), &mut datagram[HEADER_BYTES..]);
    }

    /// Judges a datagram that came on `lane`.
    pub fn read(&self, datagram: &[u8], lane: Lane) -> Found {
        if self.framing == Framing::Bare {
            return self.read_bare(datagram, lane);
        }
        let found = self.tag.read(datagram);
        let Found::Whole(header) = found else { return found };
        let Header { kind, sequence, .. } = header;
        let is_check = matches!(kind, Kind::Check | Kind::CheckEcho);
        let is_whole = datagram.len() == self.size
            && sequence < self.datagrams
            && (sequence == 0 || !is_check)
            && header.lane == lane
            // What comes from a client has no stamps of a server.
            && (kind.echo().is_none() || header.is_unstamped())
            && self.stream.first_wrong(self.position(sequence), &datagram[HEADER_BYTES..]).is_none();
        if is_whole { found } else { Found::Corrupt }
    }

    /// The same of one that is laid out as `MultipathLatencyAnalyzer` does it. Nothing in it says of which run it is: whoever has its
    /// number and its stamp is taken for it.
    fn read_bare(&self, datagram: &[u8], lane: Lane) -> Found {
        let Some(Bare { sequence, sent_us, echoed_us }) = Bare::read(datagram) else {
            return Found::Foreign;
        };
        let times = bare::tick(sent_us).zip(bare::tick(echoed_us));
        let number = u64::try_from(sequence).ok().filter(|&number| number < self.datagrams);
        let is_ping = sequence == bare::PING;
        let is_whole = datagram.len() == self.size && bare::has_its_filler(datagram);
        let (Some((sent, echoed)), true, true) = (times, is_whole, is_ping || number.is_some())
        else {
            return Found::Corrupt;
        };
        let kind = match (is_ping, echoed_us) {
            (false, 0) => Kind::Data,
            (false, _) => Kind::Echo,
            (true, 0) => Kind::Check,
            (true, _) => Kind::CheckEcho,
        };
        let sequence = number.unwrap_or(0);
        Found::Whole(Header {
            kind,
            lane,
            sequence,
            sent,
            server_received: echoed,
            server_sent: echoed,
        })
    }

    /// Where the filler of a datagram stands in the flow's stream. A number may be a stranger's.
    fn position(&self, number: u64) -> u64 {
        number.wrapping_mul(self.size as u64).wrapping_add(HEADER_BYTES as u64)
    }
}

/// What one tick is of the stamps that come back.
pub(super) const fn stamp_tick_ns(framing: Framing) -> u64 {
    match framing {
        Framing::Own | Framing::Frames | Framing::Sequenced(_) | Framing::Unnumbered => 1,
        Framing::Bare => bare::TICK_NS,
    }
}

/// Writes one as `MultipathLatencyAnalyzer`'s client does.
fn write_bare(header: &Header, datagram: &mut [u8]) {
    let is_check = matches!(header.kind, Kind::Check | Kind::CheckEcho);
    let number = i64::try_from(header.sequence).unwrap_or(i64::MAX);
    let sequence = if is_check { bare::PING } else { number };
    let echoed_us = if header.kind.echo().is_some() { 0 } else { bare::stamp(header.server_sent) };
    Bare { sequence, sent_us: bare::micros(header.sent), echoed_us }.write(datagram);
}

#[cfg(test)]
mod tests {
    use pathscope_core::Tick;
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
        Header { kind, lane: Lane(1), sequence: number, sent, server_received, server_sent }
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

        /// What the calibration counts on: a bit is seen as damage of a path but where the datagram loses its name.
        #[test]
        fn a_changed_bit_is_foreign_in_the_name_alone(number in 1_u64..10_000, place in 0_usize..48, bit in 0_u32..8) {
            let content = content();
            for kind in [Kind::Data, Kind::Echo] {
                let mut datagram = vec![0; content.size];
                content.write(&header(kind, number), &mut datagram);
                datagram[place] ^= 1 << bit;
                let is_name = place < 4 || (6..16).contains(&place);
                // Which end a stamp is for, that end judges.
                let is_stamp = (24..32).contains(&place) || (place >= 32 && kind == Kind::Echo);
                let found = content.read(&datagram, Lane(1));
                prop_assert_eq!(found == Found::Foreign, is_name, "{:?} {}", kind, place);
                prop_assert_eq!(found == Found::Corrupt, !is_name && !is_stamp, "{:?} {}", kind, place);
            }
        }

        #[test]
        fn what_is_written_for_the_analyzer_is_read_to_its_microsecond(number in 0_u64..10_000, code in 0_usize..4) {
            let kind = [Kind::Data, Kind::Echo, Kind::Check, Kind::CheckEcho][code];
            let number = if code < 2 { number } else { 0 };
            let content = content().framed(Framing::Bare);
            let at = Tick::from_nanos(5_999);
            let mut datagram = vec![0; content.size];
            let header = Header { sent: at, server_received: at, server_sent: at, ..header(kind, number) };
            content.write(&header, &mut datagram);
            let whole = Tick::from_nanos(5_000);
            let echoed = if kind.echo().is_some() { Tick::ZERO } else { whole };
            let read = Header { sent: whole, server_received: echoed, server_sent: echoed, ..header };
            // The lane is that of the socket, whatever stands in the datagram.
            prop_assert_eq!(content.read(&datagram, Lane(1)), Found::Whole(read));
        }

        #[test]
        fn no_changed_byte_of_the_analyzer_goes_unseen(number in 0_u64..10_000, place in 0_usize..1_024, mask in 1_u8..) {
            let content = content().framed(Framing::Bare);
            let mut datagram = vec![0; content.size];
            content.write(&header(Kind::Echo, number), &mut datagram);
            datagram[place] ^= mask;
            match content.read(&datagram, Lane(1)) {
                // Another number, or a stamp that the client has to compare with its own.
                Found::Whole(read) => prop_assert!(place < 24, "{read:?}"),
                found => prop_assert_eq!(found, Found::Corrupt),
            }
            prop_assert_eq!(content.read(&datagram[..1_023], Lane(1)), Found::Corrupt);
        }

        #[test]
        fn any_bytes_are_judged_as_the_analyzer_s(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let expected = if bytes.len() < 24 { Found::Foreign } else { Found::Corrupt };
            prop_assert_eq!(content().framed(Framing::Bare).read(&bytes, Lane(0)), expected);
        }

        #[test]
        fn any_bytes_are_judged(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            prop_assert_eq!(content().read(&bytes, Lane(0)), Found::Foreign);
        }
    }
}
