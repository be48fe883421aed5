//! The time of a day as tools write it before their lines.

use std::fmt;

/// The time of a day, of seconds since 1970 in some zone.
#[derive(Clone, Copy, Debug)]
pub struct Clock(i64);

impl Clock {
    /// At this time of the wall clock, where local time is so many seconds ahead of UTC.
    pub fn of(wall_unix_ns: u64, local_offset_s: i64) -> Self {
        let seconds = (wall_unix_ns / 1_000_000_000).cast_signed();
        Self(seconds.saturating_add(local_offset_s))
    }
}

impl fmt::Display for Clock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.rem_euclid(86_400);
        let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
        write!(formatter, "{hours:02}:{minutes:02}:{:02}", seconds % 60)
    }
}
