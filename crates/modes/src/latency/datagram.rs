//! A ping on the wire, over UDP. Over TCP a ping is nothing but the next bytes of the flow's stream.
//!
//! Its header is that of [`echoed`](crate::echoed), and begins with `PSPG`. The echo is the ping with `kind` and the server's stamps changed. The
//! filler is the flow's stream at position seq × size + 48. Kinds are 1, a ping; 2, its echo; 3, the echo of a ping that
//! came damaged where its echo does not reach, so that only the server could see it.
//!
//! Where kernel stamps are asked for, 24 bytes stand between header and filler, which begins at 72: when the server's
//! kernel got the ping, and the sequence number of an earlier ping with the time at which the server's kernel handed its
//! echo to the device, all by the server's clock; all ones where there is none, and in a ping.

use pathscope_core::Tick;

use crate::codec;
use crate::echoed::{self, HEADER_BYTES};

/// Length of the header and of the note behind it, where kernel stamps are asked for.
pub const NOTED_BYTES: usize = HEADER_BYTES + 24;

/// Which way a datagram goes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    Ping = 1,
    Echo,
    /// The echo of a ping that came damaged where the echo does not show it.
    DamagedEcho,
}

/// The header of a ping or an echo.
pub(super) type Header = echoed::Header<Kind>;

impl echoed::Kind for Kind {
    const MAGIC: u32 = u32::from_le_bytes(*b"PSPG");
    const ALL: &'static [Self] = &[Self::Ping, Self::Echo, Self::DamagedEcho];

    fn code(self) -> u8 {
        self as u8
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
    use pathscope_core::id::{FlowId, Lane};
    use proptest::prelude::*;

    use super::*;
    use crate::echoed::{Found, Tag};

    const TAG: Tag = Tag { token: 0x1122_3344_5566_7788, flow: FlowId(0x0203) };
    const HEADER: Header = Header {
        kind: Kind::Echo,
        lane: Lane(1),
        sequence: 9,
        sent: Tick::from_nanos(10),
        server_received: Tick::from_nanos(11),
        server_sent: Tick::from_nanos(12),
    };

    #[test]
    fn the_header_is_a_promise() {
        let mut datagram = [0xff; 50];
        TAG.write(&HEADER, &mut datagram);
        assert_eq!(datagram[..16], *b"PSPG\x02\x01\x03\x02\x88\x77\x66\x55\x44\x33\x22\x11");
        assert_eq!(datagram[16..24], [9, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(datagram[40..], [12, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]);
        assert_eq!(TAG.read(&datagram), Found::Whole(HEADER));
        for (byte, kind) in [(1, Kind::Ping), (3, Kind::DamagedEcho)] {
            datagram[4] = byte;
            assert_eq!(TAG.read(&datagram), Found::Whole(Header { kind, ..HEADER }));
        }
        datagram[4] = 4;
        assert_eq!(TAG.read::<Kind>(&datagram), Found::Corrupt);
        let other = Tag { flow: FlowId(0x0204), ..TAG };
        assert_eq!(other.read::<Kind>(&datagram), Found::Foreign);
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
            prop_assume!(!bytes.starts_with(b"PSPG"));
            prop_assert_eq!(TAG.read::<Kind>(&bytes), Found::Foreign);
        }
    }
}
