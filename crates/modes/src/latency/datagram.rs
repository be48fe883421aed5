//! A ping on the wire, over UDP. Over TCP a ping is nothing but the next bytes of the flow's stream.
//!
//! ```text
//!  0       4     5     6        8         16        24         32                40               48
//!  +-------+-----+-----+--------+---------+---------+----------+-----------------+----------------+--
//!  | PSPG  |kind |lane | flow   | token   | seq     | sent     | server received | server sent    | filler
//!  +-------+-----+-----+--------+---------+---------+----------+-----------------+----------------+--
//! ```
//!
//! All numbers little-endian. `sent` is of the client's clock, the other two stamps of the server's;
//! a ping has zeros there. The echo is the ping with `kind` and the server's stamps changed. The
//! filler is the flow's stream at position seq × size + 48. Kinds are 1, a ping; 2, its echo; 3, the echo of a ping that
//! came damaged where its echo does not reach, so that only the server could see it.
//!
//! Where kernel stamps are asked for, 24 bytes stand between header and filler, which begins at 72: when the server's
//! kernel got the ping, and the sequence number of an earlier ping with the time at which the server's kernel handed its
//! echo to the device, all by the server's clock; all ones where there is none, and in a ping.

use pathscope_core::Tick;

use crate::{codec, stamps};

/// Length of the header, and so of the smallest ping.
pub const HEADER_BYTES: usize = 48;

/// Length of the header and of the note behind it, where kernel stamps are asked for.
pub const NOTED_BYTES: usize = HEADER_BYTES + 24;

/// First four bytes of every ping and echo.
const MAGIC: u32 = u32::from_le_bytes(*b"PSPG");

/// The only one that pings have.
const LANE: u8 = 0;

/// Which way a datagram goes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    Ping = 1,
    Echo,
    /// The echo of a ping that came damaged where the echo does not show it.
    DamagedEcho,
}

/// The header of a ping or an echo.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Header {
    pub kind: Kind,
    pub lane: u8,
    pub flow: u16,
    pub token: u64,
    pub sequence: u64,
    pub sent: Tick,
    pub server_received: Tick,
    pub server_sent: Tick,
}

impl Header {
    /// Whether what a client writes the same each time is so: its one lane, and nothing where the server's stamps will be.
    pub fn is_of_client(&self) -> bool {
        self.lane == LANE && self.server_received == Tick::ZERO && self.server_sent == Tick::ZERO
    }

    /// Whether what a server leaves or writes can be: the lane, and its stamps.
    pub fn is_of_server(&self, now: Tick) -> bool {
        self.lane == LANE
            && stamps::are_plausible([self.server_received, self.server_sent], self.sent, now)
    }

    /// Writes the header to the start of `datagram`, which must have room for it.
    pub fn write(&self, datagram: &mut [u8]) {
        let [low, high] = self.flow.to_le_bytes();
        let kind_and_flow = u32::from_le_bytes([self.kind as u8, self.lane, low, high]);
        let words = [
            codec::word(MAGIC, kind_and_flow),
            self.token,
            self.sequence,
            self.sent.as_nanos(),
            self.server_received.as_nanos(),
            self.server_sent.as_nanos(),
        ];
        codec::write(words, datagram);
    }

    /// Reads the header of `datagram`; `None` if it is neither ping nor echo.
    pub fn read(datagram: &[u8]) -> Option<Self> {
        let [first, token, sequence, times @ ..] = codec::read::<6>(datagram)?;
        let [sent, server_received, server_sent] = times.map(Tick::from_nanos);
        let [magic, kind_and_flow] = codec::halves(first);
        let [kind, lane, low, high] = kind_and_flow.to_le_bytes();
        let flow = u16::from_le_bytes([low, high]);
        let kinds = [Kind::Ping, Kind::Echo, Kind::DamagedEcho];
        let kind = kinds.into_iter().find(|&it| it as u8 == kind).filter(|_| magic == MAGIC)?;
        Some(Self { kind, lane, flow, token, sequence, sent, server_received, server_sent })
    }
}

/// What a server's kernel says, behind the header.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Note {
    /// When the ping came that this answers.
    pub came: Option<Tick>,
    /// Which ping was answered earlier, and when its echo was handed to the device.
    pub handed_over: Option<(u64, Tick)>,
}

impl Note {
    /// Writes the note behind the header of `datagram`, which must have room for it.
    pub fn write(&self, datagram: &mut [u8]) {
        let (sequence, at) = self.handed_over.unwrap_or((u64::MAX, Tick::NEVER));
        let words = [self.came.unwrap_or(Tick::NEVER).as_nanos(), sequence, at.as_nanos()];
        codec::write(words, &mut datagram[HEADER_BYTES..NOTED_BYTES]);
    }

    /// Reads the note of `datagram`; an empty one where it is too short.
    pub fn read(datagram: &[u8]) -> Self {
        let words = datagram.get(HEADER_BYTES..).and_then(codec::read::<3>);
        let known = |word| Some(Tick::from_nanos(word)).filter(|&word| word != Tick::NEVER);
        let Some([came, sequence, at]) = words.map(|words| words.map(known)) else {
            return Self::default();
        };
        Self { came, handed_over: sequence.map(Tick::as_nanos).zip(at) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HEADER: Header = Header {
        kind: Kind::Echo,
        lane: 1,
        flow: 0x0203,
        token: 0x1122_3344_5566_7788,
        sequence: 9,
        sent: Tick::from_nanos(10),
        server_received: Tick::from_nanos(11),
        server_sent: Tick::from_nanos(12),
    };

    #[test]
    fn the_header_is_a_promise() {
        let mut datagram = [0xff; 50];
        HEADER.write(&mut datagram);
        assert_eq!(datagram[..16], *b"PSPG\x02\x01\x03\x02\x88\x77\x66\x55\x44\x33\x22\x11");
        assert_eq!(datagram[16..24], [9, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(datagram[40..], [12, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]);
        assert_eq!(Header::read(&datagram), Some(HEADER));
        for (byte, kind) in [(1, Some(Kind::Ping)), (3, Some(Kind::DamagedEcho)), (4, None)] {
            datagram[4] = byte;
            assert_eq!(Header::read(&datagram).map(|header| header.kind), kind);
        }
    }

    #[test]
    fn the_note_is_a_promise() {
        let mut datagram = [0xaa; 80];
        let note = Note {
            came: Some(Tick::from_nanos(5)),
            handed_over: Some((9, Tick::from_nanos(0x0102))),
        };
        note.write(&mut datagram);
        assert_eq!((datagram[47], datagram[48], datagram[56], datagram[72]), (0xaa, 5, 9, 0xaa));
        assert_eq!(datagram[64..66], [2, 1]);
        assert_eq!(Note::read(&datagram), note);
        Note::default().write(&mut datagram);
        assert_eq!(datagram[48..72], [0xff; 24]);
        assert_eq!(Note::read(&datagram), Note::default());
        assert_eq!(Note::read(&datagram[..71]), Note::default());
    }

    proptest! {
        #[test]
        fn garbage_is_no_ping(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            prop_assume!(!bytes.starts_with(&MAGIC.to_le_bytes()));
            prop_assert_eq!(Header::read(&bytes), None);
        }
    }
}
