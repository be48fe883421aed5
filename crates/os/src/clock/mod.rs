//! The one place that reads clocks: monotonic time for measuring, wall time for stamps on results.

#[cfg(all(target_os = "linux", not(pathscope_other)))]
mod linux;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
use linux as imp;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
mod other;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
use other as imp;

use pathscope_core::Tick;
use pathscope_core::record::ClockFacts;

/// Readings that the cost and the step of the clock are measured with: some 50 µs of them.
const READINGS: usize = 2_048;
/// Readings of which the cost is measured together, since one costs less than the clock can tell.
const BLOCK: usize = 32;

/// The monotonic clock, now. Some 20 ns where the kernel keeps time by the processor's counter.
#[inline]
pub fn now() -> Tick {
    imp::now()
}

/// Nanoseconds since 1970, now. May step: never the difference of two of them.
pub fn wall_unix_ns() -> u64 {
    imp::wall_unix_ns()
}

/// By how many seconds the local time of this machine's user is ahead of UTC at a time since 1970; zero where the system does not say.
pub fn local_offset_s(wall_unix_ns: u64) -> i64 {
    imp::local_offset_s((wall_unix_ns / 1_000_000_000).cast_signed())
}

/// What keeps time here, and what a reading costs.
pub fn facts() -> ClockFacts {
    let readings: Vec<Tick> = (0..READINGS).map(|_| now()).collect();
    ClockFacts {
        name: imp::NAME.to_owned(),
        source: imp::source(),
        read_ns: median_cost(&readings),
        smallest_step_ns: smallest_step(&readings),
    }
}

/// The median over blocks, so that an interruption in one of them does not count.
fn median_cost(readings: &[Tick]) -> Option<f64> {
    let mut costs: Vec<u64> =
        readings.windows(BLOCK + 1).step_by(BLOCK).map(|b| b[BLOCK].nanos_since(b[0])).collect();
    costs.sort_unstable();
    costs.get(costs.len() / 2).map(|&cost| cost as f64 / BLOCK as f64)
}

fn smallest_step(readings: &[Tick]) -> Option<u64> {
    readings.windows(2).map(|pair| pair[1].nanos_since(pair[0])).filter(|&step| step > 0).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_does_not_run_backwards() {
        let readings: Vec<Tick> = (0..1_000).map(|_| now()).collect();
        assert!(readings.is_sorted());
    }

    #[test]
    fn a_reading_costs_something_and_the_clock_moves() {
        let facts = facts();
        assert!(facts.read_ns.is_some_and(|cost| cost > 0.0), "{facts:?}");
        assert!(facts.smallest_step_ns.is_some_and(|step| step > 0), "{facts:?}");
    }

    #[test]
    fn the_cost_is_the_median_block_s() {
        let mut readings: Vec<Tick> = (0..=96).map(|step| Tick::from_nanos(step * 20)).collect();
        readings[96] = Tick::from_nanos(1_000_000);
        assert_eq!(median_cost(&readings), Some(20.0));
        assert_eq!(smallest_step(&readings), Some(20));
        assert_eq!((median_cost(&[]), smallest_step(&[])), (None, None));
    }

    #[test]
    fn wall_time_is_of_this_century() {
        assert!(wall_unix_ns() > 1_600_000_000_000_000_000);
    }
}
