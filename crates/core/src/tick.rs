//! A point in monotonic time. Not a duration, not a wall clock; nobody here reads a clock.

use std::ops::{Add, AddAssign, Sub};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A point on one host's monotonic clock, in nanoseconds since that clock's own origin.
///
/// Ticks of two hosts cannot be compared. Differences saturate: a clock that seems to run backwards
/// yields zero and not a panic.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize,
)]
pub struct Tick(u64);

impl Tick {
    /// The origin of the clock.
    pub const ZERO: Self = Self(0);
    /// Later than any tick a clock will show.
    pub const NEVER: Self = Self(u64::MAX);

    /// The tick `nanoseconds` after the origin.
    pub const fn from_nanos(nanoseconds: u64) -> Self {
        Self(nanoseconds)
    }

    /// Nanoseconds since the origin.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Nanoseconds from `earlier` to `self`, zero if `earlier` is later.
    pub const fn nanos_since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// The time from `earlier` to `self`, zero if `earlier` is later.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.nanos_since(earlier))
    }

    /// The tick `nanoseconds` later, at most [`Tick::NEVER`].
    pub const fn plus_nanos(self, nanoseconds: u64) -> Self {
        Self(self.0.saturating_add(nanoseconds))
    }
}

impl Add<Duration> for Tick {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        self.plus_nanos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl AddAssign<Duration> for Tick {
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl Sub for Tick {
    type Output = Duration;

    fn sub(self, earlier: Self) -> Duration {
        self.since(earlier)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_saturate_at_zero() {
        assert_eq!(Tick::from_nanos(5) - Tick::from_nanos(9), Duration::ZERO);
        assert_eq!(Tick::from_nanos(9) - Tick::from_nanos(5), Duration::from_nanos(4));
    }

    #[test]
    fn sums_stop_at_never() {
        assert_eq!(Tick::NEVER + Duration::from_secs(1), Tick::NEVER);
    }
}
