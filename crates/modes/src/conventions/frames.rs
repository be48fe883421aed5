//! The datagrams of ctsTraffic's streams of frames, as they stand on the wire. Not here: how a frame is cut and when it is due, which is
//! the mode's, and what the bytes behind a header are, which is the payload's.
//!
//! ```text
//!  client    START
//!            0      2                              39
//!            +------+------------------------------+
//!  server    |0x1000| its name of the connection   |   once, at the begin
//!            +------+----------+---------+---------+---------
//!            |0x0000| frame    | ticks   | a second| pattern, from its first byte in each datagram
//!            +------+----------+---------+---------+---------
//!            0      2          10        18        26
//! ```
//!
//! Numbers are little-endian, those of 64 bits have a sign. Frames count from 1. Ticks are of the sender's clock, which tells how many of
//! them are a second. Nothing says which datagram of its frame one is, nor that a stream is over.

use pathscope_core::Tick;

/// What a client says that wants a stream.
pub const START: &[u8; 5] = b"START";
/// Length of a header of data.
pub const HEADER_BYTES: usize = 26;
/// Length of the datagram that names the connection.
pub const NAME_BYTES: usize = 39;

const DATA: [u8; 2] = [0, 0];
const NAME: [u8; 2] = [0, 0x10];

/// Ticks of our clock in a second: those of most machines that run the original, and few enough for its readers, which multiply them.
const TICKS_PER_SECOND: i64 = 10_000_000;
const NANOS_PER_TICK: u64 = 1_000_000_000 / TICKS_PER_SECOND as u64;

/// What stands before the pattern.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Header {
    /// Which frame, from 0.
    pub frame: u64,
    /// When it left, by the sender's clock.
    pub sent: Tick,
}

/// What the first bytes of a datagram of a server are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Sight {
    /// Its name of the connection.
    Name,
    /// Data.
    Data(Header),
    /// Neither.
    Neither,
}

impl Header {
    /// Writes the header to the start of a datagram that has room for it.
    pub fn write(&self, datagram: &mut [u8]) {
        let Some((header, _)) = datagram.split_first_chunk_mut::<HEADER_BYTES>() else { return };
        let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX).to_le_bytes();
        header[..2].copy_from_slice(&DATA);
        header[2..10].copy_from_slice(&number(self.frame.saturating_add(1)));
        header[10..18].copy_from_slice(&number(self.sent.as_nanos() / NANOS_PER_TICK));
        header[18..].copy_from_slice(&TICKS_PER_SECOND.to_le_bytes());
    }
}

/// What a datagram of a server begins with.
pub fn read(datagram: &[u8]) -> Sight {
    if datagram.len() == NAME_BYTES && datagram.starts_with(&NAME) {
        return Sight::Name;
    }
    let Some((header, _)) = datagram.split_first_chunk::<HEADER_BYTES>() else {
        return Sight::Neither;
    };
    let (&flag, numbers) = header.split_first_chunk::<2>().expect("it is longer");
    let numbers: &[[u8; 8]; 3] = numbers.as_chunks().0.first_chunk().expect("it is as long");
    let [frame, ticks, a_second] = numbers.map(i64::from_le_bytes).map(u64::try_from);
    match (flag, frame, ticks, a_second) {
        (DATA, Ok(frame @ 1..), Ok(ticks), Ok(a_second @ 1..)) => {
            let nanos = u128::from(ticks) * 1_000_000_000 / u128::from(a_second);
            let sent = Tick::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
            Sight::Data(Header { frame: frame - 1, sent })
        }
        _ => Sight::Neither,
    }
}

/// The datagram by which a server names a connection.
pub fn name(id: &[u8; NAME_BYTES - 2]) -> [u8; NAME_BYTES] {
    let mut datagram = [0; NAME_BYTES];
    datagram[..2].copy_from_slice(&NAME);
    datagram[2..].copy_from_slice(id);
    datagram
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Frame 2 of a stream, sent at tick 3 of a clock of 10 MHz: section 3.3 of the reference, with the first bytes of its pattern.
    const SECOND: &[u8] =
        b"\0\0\x02\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0\x80\x96\x98\0\0\0\0\0\0\0\x01\0";
    /// Section 3.2.
    const NAMED: &[u8; 39] = b"\0\x1012345678-1234-1234-1234-123456789abc\0";

    #[test]
    fn a_header_is_these_bytes() {
        let mut datagram = [0, 0, 1, 0].repeat(8);
        datagram.truncate(SECOND.len());
        datagram[26..].copy_from_slice(&[0, 0, 1, 0]);
        let header = Header { frame: 1, sent: Tick::from_nanos(350) };
        header.write(&mut datagram);
        assert_eq!(datagram, SECOND);
        assert_eq!(read(SECOND), Sight::Data(Header { sent: Tick::from_nanos(300), ..header }));
        assert_eq!(name(b"12345678-1234-1234-1234-123456789abc\0"), *NAMED);
        assert_eq!(read(NAMED), Sight::Name);
    }

    #[test]
    fn another_clock_is_read_by_what_it_says_of_itself() {
        let mut datagram = SECOND.to_vec();
        datagram[10..18].copy_from_slice(&9_000_000_000_000_000_000_i64.to_le_bytes());
        datagram[18..26].copy_from_slice(&1_000_000_000_i64.to_le_bytes());
        let sent = Tick::from_nanos(9_000_000_000_000_000_000);
        assert_eq!(read(&datagram), Sight::Data(Header { frame: 1, sent }));
    }

    #[test]
    fn what_no_server_says_is_neither() {
        let changed = |place: usize, bytes: &[u8]| {
            let mut datagram = SECOND.to_vec();
            datagram[place..place + bytes.len()].copy_from_slice(bytes);
            datagram
        };
        for datagram in [
            Vec::new(),
            START.to_vec(),
            SECOND[..25].to_vec(),
            NAMED[..38].to_vec(),
            changed(0, &[1, 0]),
            changed(2, &[0; 8]),
            changed(9, &[0x80]),
            changed(17, &[0x80]),
            changed(18, &[0; 8]),
            changed(25, &[0x80]),
        ] {
            assert_eq!(read(&datagram), Sight::Neither, "{datagram:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_judged(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            _ = read(&bytes);
        }

        #[test]
        fn what_is_written_is_read(frame in 0..u64::MAX / 4, nanos: u64) {
            let mut datagram = [0; HEADER_BYTES];
            Header { frame, sent: Tick::from_nanos(nanos) }.write(&mut datagram);
            let sent = Tick::from_nanos(nanos / 100 * 100);
            prop_assert_eq!(read(&datagram), Sight::Data(Header { frame, sent }));
        }
    }
}
