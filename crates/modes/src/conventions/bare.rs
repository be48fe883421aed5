//! The datagrams of `MultipathLatencyAnalyzer`, which echo themselves with a single stamp: as they stand on the wire, and by which rules
//! they are answered. Not here: sockets, and what a datagram means to a test.
//!
//! ```text
//!  0          8          16         24
//!  +----------+----------+----------+--
//!  | sequence | sent     | echoed   | filler: 0, 1, 2 …, modulo 256
//!  +----------+----------+----------+--
//! ```
//!
//! Numbers are of 64 bits with a sign, little-endian; a sequence of -1 asks whether anybody is there. Times are microseconds, each of the
//! clock of the end that writes it. `echoed` is 0 on the way out, and written by the server, which changes nothing else.

use pathscope_core::Tick;

/// Length of the header, and so of the shortest datagram.
pub const HEADER_BYTES: usize = 24;
/// The length of its own client's datagrams, and the longest that its server has room for.
pub const DATAGRAM_BYTES: usize = 1_024;
/// In place of a number: it asks whether anybody is there.
pub const PING: i64 = -1;
/// What one of its ticks is.
pub const TICK_NS: u64 = 1_000;

/// Where the server's stamp stands.
const ECHOED: std::ops::Range<usize> = 16..HEADER_BYTES;

const FILLER: [u8; DATAGRAM_BYTES - HEADER_BYTES] = {
    let mut filler = [0; DATAGRAM_BYTES - HEADER_BYTES];
    let mut place = 0;
    while place < filler.len() {
        filler[place] = (place % 256) as u8;
        place += 1;
    }
    filler
};

/// What stands before the filler.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Bare {
    /// The number of a datagram, or [`PING`].
    pub sequence: i64,
    /// When it was sent, by the client's clock.
    pub sent_us: i64,
    /// When it was echoed, by the server's clock; 0 on the way out.
    pub echoed_us: i64,
}

impl Bare {
    /// Writes a datagram of this length, which is shortened to [`DATAGRAM_BYTES`].
    pub fn write(&self, datagram: &mut [u8]) {
        let words = [self.sequence, self.sent_us, self.echoed_us];
        let (header, filler) = datagram.split_at_mut(datagram.len().min(HEADER_BYTES));
        for (bytes, word) in header.as_chunks_mut().0.iter_mut().zip(words) {
            *bytes = word.to_le_bytes();
        }
        filler.iter_mut().zip(FILLER).for_each(|(byte, filler)| *byte = filler);
    }

    /// Reads the header, and looks at nothing that follows it.
    pub fn read(datagram: &[u8]) -> Option<Self> {
        let words: &[[u8; 8]; 3] = datagram.as_chunks().0.first_chunk()?;
        let [sequence, sent_us, echoed_us] = words.map(i64::from_le_bytes);
        Some(Self { sequence, sent_us, echoed_us })
    }
}

/// Whether all that follows the header is as it was written.
pub fn has_its_filler(datagram: &[u8]) -> bool {
    datagram.get(HEADER_BYTES..).is_some_and(|filler| FILLER.starts_with(filler))
}

/// A time as it is written.
pub fn micros(at: Tick) -> i64 {
    i64::try_from(at.as_nanos() / TICK_NS).unwrap_or(i64::MAX)
}

/// A server's stamp as it is written, which is never 0: that would be none.
pub fn stamp(at: Tick) -> i64 {
    micros(at).max(1)
}

/// A time as it was written; none of what no clock says.
pub fn tick(micros: i64) -> Option<Tick> {
    Some(Tick::from_nanos(u64::try_from(micros).ok()?.checked_mul(TICK_NS)?))
}

/// Makes the echo of a datagram that was heard now, in its place. Not of one that was echoed before, so that two servers which are set
/// upon each other fall silent; nor of one that no client of this kind can have sent. Whether it is to go back.
pub fn echo(datagram: &mut [u8], now: Tick) -> bool {
    let is_short = datagram.len() <= DATAGRAM_BYTES;
    let Some(echoed) = datagram.get_mut(ECHOED).filter(|_| is_short) else { return false };
    if echoed.iter().any(|&byte| byte != 0) {
        return false;
    }
    echoed.copy_from_slice(&stamp(now).to_le_bytes());
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A datagram of number 0x0102, sent at 0x0304 µs, and its echo at 0x0506 µs, cut to 28 bytes: section 3 of the reference.
    const OUT: &[u8] = b"\x02\x01\0\0\0\0\0\0\x04\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x02\x03";
    const BACK: &[u8] =
        b"\x02\x01\0\0\0\0\0\0\x04\x03\0\0\0\0\0\0\x06\x05\0\0\0\0\0\0\0\x01\x02\x03";
    /// That somebody is there is asked for so: number -1.
    const ASKED: &[u8] =
        b"\xff\xff\xff\xff\xff\xff\xff\xff\x04\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x02\x03";

    #[test]
    fn a_datagram_and_its_echo_are_these_bytes() {
        let mut datagram = [9; 28];
        let header = Bare { sequence: 0x0102, sent_us: 0x0304, echoed_us: 0 };
        header.write(&mut datagram);
        assert_eq!(datagram, OUT);
        assert!(has_its_filler(&datagram));
        assert!(echo(&mut datagram, Tick::from_nanos(0x0506 * TICK_NS + 999)));
        assert_eq!(datagram, BACK);
        assert_eq!(Bare::read(BACK), Some(Bare { echoed_us: 0x0506, ..header }));
        Bare { sequence: PING, ..header }.write(&mut datagram);
        assert_eq!(datagram, ASKED);
    }

    #[test]
    fn a_whole_datagram_ends_with_the_thousandth_byte_of_its_filler() {
        let mut datagram = [0; DATAGRAM_BYTES];
        Bare::default().write(&mut datagram);
        assert_eq!((datagram[24], datagram[279], datagram[280], datagram[1_023]), (0, 255, 0, 231));
        datagram[1_023] ^= 1;
        assert!(!has_its_filler(&datagram));
    }

    #[test]
    fn an_echo_has_a_stamp_even_at_the_begin_of_time_and_is_not_echoed() {
        let mut datagram = [0; HEADER_BYTES];
        assert!(echo(&mut datagram, Tick::ZERO));
        assert_eq!(Bare::read(&datagram).map(|it| it.echoed_us), Some(1));
        let before = datagram;
        assert!(!echo(&mut datagram, Tick::from_nanos(9_000)), "two servers fall silent");
        assert_eq!(datagram, before);
    }

    proptest! {
        #[test]
        fn what_cannot_be_a_client_s_is_not_answered(bytes in proptest::collection::vec(any::<u8>(), 0..1_100)) {
            let mut datagram = bytes.clone();
            let is_unechoed = bytes.get(ECHOED).is_some_and(|echoed| echoed == [0; 8]);
            let is_answered = echo(&mut datagram, Tick::from_nanos(5_000));
            prop_assert_eq!(is_answered, is_unechoed && bytes.len() <= DATAGRAM_BYTES);
            let changed: Vec<usize> = (0..bytes.len()).filter(|&place| bytes[place] != datagram[place]).collect();
            prop_assert_eq!(changed, if is_answered { vec![16] } else { Vec::new() });
        }

        #[test]
        fn times_are_read_as_they_were_written(nanos in 1_000_u64..) {
            let written = tick(micros(Tick::from_nanos(nanos)));
            prop_assert_eq!(written, Some(Tick::from_nanos(nanos / TICK_NS * TICK_NS)));
        }
    }
}
