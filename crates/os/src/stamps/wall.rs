//! From the wall clock, by which the kernel stamps, to ticks. On Linux the two clocks run at one rate, whatever adjusts
//! it, and differ by an offset that changes only when the wall clock is stepped.

use pathscope_core::Tick;

use crate::clock;

/// Readings of which the closest one counts.
const READINGS: usize = 16;
/// The offset is measured again after so long, so that a step is noticed.
const EVERY_NS: u64 = 100_000_000;

/// How far the wall clock is ahead of the monotonic one.
#[derive(Clone, Copy, Debug)]
pub struct WallClock {
    offset: Offset,
    measured: Tick,
    steps: u64,
}

/// An offset between clocks, known to lie within `error_ns` of `nanoseconds`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Offset {
    nanoseconds: i128,
    error_ns: u64,
}

impl WallClock {
    /// Measures the offset: a microsecond.
    pub fn measure() -> Self {
        Self { offset: Offset::measure(), measured: clock::now(), steps: 0 }
    }

    /// The tick of a time of the wall clock, within [`error_ns`](Self::error_ns).
    pub fn tick(&self, wall_ns: u64) -> Tick {
        let tick = i128::from(wall_ns) - self.offset.nanoseconds;
        Tick::from_nanos(u64::try_from(tick.max(0)).unwrap_or(u64::MAX))
    }

    /// By how much a tick may be wrong, where the wall clock was not stepped since the offset was last measured.
    pub fn error_ns(&self) -> u64 {
        self.offset.error_ns
    }

    /// How often the wall clock was seen to have been stepped.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Measures again, if the last time was a tenth of a second ago or more.
    pub fn keep_up(&mut self, now: Tick) {
        if now.nanos_since(self.measured) >= EVERY_NS {
            self.take(Offset::measure());
            self.measured = now;
        }
    }

    /// Two measurements of one offset agree within their errors, and the better one stands.
    fn take(&mut self, found: Offset) {
        let apart = (found.nanoseconds - self.offset.nanoseconds).unsigned_abs();
        let is_step = apart > u128::from(found.error_ns) + u128::from(self.offset.error_ns);
        self.steps += u64::from(is_step);
        if is_step || found.error_ns < self.offset.error_ns {
            self.offset = found;
        }
    }
}

impl Offset {
    fn measure() -> Self {
        let reading = |_| {
            let before = clock::now();
            let wall_ns = clock::wall_unix_ns();
            Self::between(before, wall_ns, clock::now())
        };
        (0..READINGS)
            .map(reading)
            .min_by_key(|offset| offset.error_ns)
            .unwrap_or(Self { nanoseconds: 0, error_ns: u64::MAX })
    }

    /// The wall clock showed `wall_ns` between the two ticks.
    fn between(before: Tick, wall_ns: u64, after: Tick) -> Self {
        // Rounded up, and the two clocks' own grain.
        let error_ns = after.nanos_since(before) / 2 + 2;
        let middle = before.as_nanos() + after.nanos_since(before) / 2;
        Self { nanoseconds: i128::from(wall_ns) - i128::from(middle), error_ns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offset(nanoseconds: i128, error_ns: u64) -> Offset {
        Offset { nanoseconds, error_ns }
    }

    fn at(offset: Offset) -> WallClock {
        WallClock { offset, measured: Tick::ZERO, steps: 0 }
    }

    #[test]
    fn an_offset_is_known_to_half_the_time_that_it_took_to_read() {
        let read = Offset::between(Tick::from_nanos(100), 5_000, Tick::from_nanos(140));
        assert_eq!(read, offset(4_880, 22));
        assert_eq!(at(read).tick(5_010), Tick::from_nanos(130));
    }

    #[test]
    fn the_best_measurement_stands_until_the_clock_is_stepped() {
        let mut wall = at(offset(1_000, 30));
        wall.take(offset(1_025, 900));
        wall.take(offset(1_010, 20));
        assert_eq!((wall.offset, wall.steps()), (offset(1_010, 20), 0));
        // An hour forwards, and a second back.
        for (step, steps) in [(3_600_000_000_000, 1), (-1_000_000_000, 2)] {
            wall.take(offset(step, 40));
            assert_eq!((wall.offset, wall.steps()), (offset(step, 40), steps));
        }
        // Before the origin of the monotonic clock there is nothing.
        assert_eq!(at(offset(5_000, 1)).tick(10), Tick::ZERO);
    }

    #[test]
    fn on_this_machine_the_offset_is_known_to_a_microsecond_or_so() {
        let wall = WallClock::measure();
        assert!(wall.error_ns() < 1_000_000, "{wall:?}");
        let gap = wall.tick(clock::wall_unix_ns()).as_nanos().abs_diff(clock::now().as_nanos());
        assert!(gap < 1_000_000_000, "{gap}");
    }
}
