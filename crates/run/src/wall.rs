//! Wall time as people and documents write it.

use jiff::Timestamp;
use pathscope_os::clock;

/// RFC 3339 in UTC, to the millisecond.
pub(crate) fn rfc3339(unix_ns: u64) -> String {
    format!("{:.3}", timestamp(unix_ns))
}

/// Now, as a part of a file's name that sorts by time: `20261121-100544`.
pub fn file_stamp() -> String {
    timestamp(clock::wall_unix_ns()).strftime("%Y%m%d-%H%M%S").to_string()
}

fn timestamp(unix_ns: u64) -> Timestamp {
    Timestamp::from_nanosecond(i128::from(unix_ns)).unwrap_or(Timestamp::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_write_rfc_3339() {
        assert_eq!(rfc3339(1_000_000_000_123_456_789), "2001-09-09T01:46:40.123Z");
    }
}
