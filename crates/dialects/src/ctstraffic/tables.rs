//! The two tables of status, of connections and of streams: as text in columns, and as CSV.

use std::fmt::Write as _;

use pathscope_core::journal::totals::Slice;

const CONNECTIONS: [&str; 7] =
    ["TimeSlice", "SendBps", "RecvBps", "In-Flight", "Completed", "NetError", "DataError"];
const STREAMS: [&str; 7] =
    ["TimeSlice", "Bits/Sec", "Streams", "Completed", "Dropped", "Repeated", "Errors"];
/// Where each column ends.
const CONNECTIONS_END: [usize; 7] = [10, 23, 36, 47, 58, 68, 79];
const STREAMS_END: [usize; 7] = [10, 25, 36, 48, 58, 69, 79];

/// The names of the columns, as text.
pub fn header(is_udp: bool) -> String {
    let (names, ends) =
        if is_udp { (STREAMS, STREAMS_END) } else { (CONNECTIONS, CONNECTIONS_END) };
    aligned(names, ends)
}

/// The names of the columns, as CSV.
pub fn csv_header(is_udp: bool) -> String {
    format!("{}\r\n", if is_udp { STREAMS } else { CONNECTIONS }.join(","))
}

/// A row, as text.
pub fn row(is_udp: bool, slice: &Slice) -> String {
    let ends = if is_udp { STREAMS_END } else { CONNECTIONS_END };
    let mut begin = 0;
    let numbers = numbers(is_udp, slice);
    let fitted =
        numbers.iter().zip(ends.into_iter().skip(1)).scan(ends[0], |begin, (number, end)| {
            let width = end.saturating_sub(*begin);
            *begin = end;
            Some(fitted(*number, width.saturating_sub(1)))
        });
    let cells = std::iter::once(seconds(slice.at_ns)).chain(fitted);
    let mut line = String::new();
    for (cell, end) in cells.zip(ends) {
        // Writing to a String cannot fail.
        let _ = write!(line, "{cell:>width$}", width = end - begin);
        begin = end;
    }
    line.push('\n');
    line
}

/// A row, as CSV.
pub fn csv_row(is_udp: bool, slice: &Slice) -> String {
    let mut line = seconds(slice.at_ns);
    for number in numbers(is_udp, slice) {
        let _ = write!(line, ",{number}");
    }
    line.push_str("\r\n");
    line
}

fn numbers(is_udp: bool, slice: &Slice) -> [u64; 6] {
    let Slice { in_flight, ended, frames, .. } = slice;
    if is_udp {
        let rate = slice.bits_per_second();
        [rate, *in_flight, frames.completed, frames.missed, frames.repeated, frames.erroneous]
    } else {
        let rates = [slice.sent_per_second(), slice.received_per_second()];
        let failed = [ended.network_errors, ended.data_or_protocol_errors()];
        [rates[0], rates[1], *in_flight, ended.completed, failed[0], failed[1]]
    }
}

fn aligned(cells: [&str; 7], ends: [usize; 7]) -> String {
    let mut line = String::new();
    for (cell, end) in cells.into_iter().zip(ends) {
        let _ = write!(line, "{cell:>width$}", width = end - line.len());
    }
    line.push('\n');
    line
}

/// A number in so many characters: in millions and more where it has more digits.
fn fitted(number: u64, width: usize) -> String {
    let plain = number.to_string();
    if plain.len() <= width {
        return plain;
    }
    let scales = [(1e6, 6), (1e9, 9), (1e12, 12)];
    let scaled = scales.map(|(unit, power)| format!("{:.1}x^{power}", number as f64 / unit));
    scaled.into_iter().find(|text| text.len() <= width).unwrap_or_else(|| "9+++T".to_owned())
}

/// Seconds with three decimals.
pub fn seconds(nanoseconds: u64) -> String {
    let milliseconds = nanoseconds / 1_000_000;
    format!("{}.{:03}", milliseconds / 1_000, milliseconds % 1_000)
}

#[cfg(test)]
mod tests {
    use pathscope_core::journal::{Ended, Frames};

    use super::*;

    #[test]
    fn columns_end_where_they_always_have() {
        let ends = |text: &str, names: [&str; 7]| {
            names.map(|name| text.find(name).map_or(0, |begin| begin + name.len()))
        };
        assert_eq!(ends(&header(false), CONNECTIONS), CONNECTIONS_END);
        assert_eq!(ends(&header(true), STREAMS), STREAMS_END);
        let slice = Slice {
            at_ns: 5_002_999_999,
            length_ns: 1_000_000_000,
            sent_bytes: 2_635_357_062,
            received_bytes: 124,
            in_flight: 8,
            ended: Ended { completed: 57, network_errors: 1, data_errors: 2, protocol_errors: 3 },
            ..Slice::default()
        };
        assert_eq!(
            row(false, &slice),
            "     5.002   2635357062          124          8         57         1          5\n"
        );
        assert_eq!(csv_row(false, &slice), "5.002,2635357062,124,8,57,1,5\r\n");
        assert_eq!(
            csv_header(false),
            "TimeSlice,SendBps,RecvBps,In-Flight,Completed,NetError,DataError\r\n"
        );
    }

    #[test]
    fn streams_have_a_table_of_their_own() {
        let frames =
            Frames { completed: 300, missed: 1, repeated: 2, erroneous: 3, ..Frames::default() };
        let slice = Slice {
            at_ns: 10_000_000_000,
            length_ns: 5_000_000_000,
            received_bytes: 15_624_900,
            in_flight: 1,
            frames,
            ..Slice::default()
        };
        assert_eq!(
            row(true, &slice),
            "    10.000       24999840          1         300         1          2         3\n"
        );
        assert_eq!(csv_row(true, &slice), "10.000,24999840,1,300,1,2,3\r\n");
        assert_eq!(
            csv_header(true),
            "TimeSlice,Bits/Sec,Streams,Completed,Dropped,Repeated,Errors\r\n"
        );
    }

    #[test]
    fn a_number_that_is_too_wide_is_told_in_millions_and_more() {
        for (number, width, text) in [
            (123_456_789_012, 12, "123456789012"),
            (1_234_567_890_123, 12, "1234567.9x^6"),
            (12_345_678_901_234, 12, "12345.7x^9"),
            (12_345_678_901_234_567, 12, "12345.7x^12"),
            (u64::MAX, 6, "9+++T"),
            (0, 1, "0"),
        ] {
            assert_eq!(fitted(number, width), text, "{number}");
        }
        // The columns never touch, whatever stands in them.
        let most = Slice {
            length_ns: 1,
            sent_bytes: u64::MAX,
            received_bytes: u64::MAX,
            in_flight: u64::MAX,
            ..Slice::default()
        };
        assert_eq!(row(false, &most).split_whitespace().count(), 7);
        assert_eq!(row(false, &most).trim_end().len(), 79);
    }
}
