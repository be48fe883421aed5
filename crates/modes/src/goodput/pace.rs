//! How fast a sender goes: at a rate, period by period; or in bursts with pauses. Stated in the plan, kept by
//! each sender for itself.

use pathscope_core::Tick;
use pathscope_core::quantity::{BitRate, Period};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::limits::{BURST, BURST_PAUSE};
use crate::limits::{self, PlanError};
use crate::load::RATE_PERIOD;

/// How sends are spread over time. The default: as fast as they go.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Pace {
    /// What the rate of the plan allows in so long may leave at its begin; absent: a millisecond or less.
    pub period_ns: Option<Period>,
    /// Sends that follow one another before each pause.
    pub burst: Option<Burst>,
    /// The upper end of the range that each connection's rate is drawn from; its lower end is the rate of the
    /// plan. Absent: every connection has the same.
    pub rate_most_bps: Option<BitRate>,
}

/// Sends, then a pause.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Burst {
    /// How many sends.
    pub sends: u32,
    /// How long the pause.
    pub pause_ns: Period,
}

impl Pace {
    /// Whether this can be kept at such a rate.
    pub(super) fn check(self, rate: Option<BitRate>) -> Result<(), PlanError> {
        limits::in_range("--rate-period", self.period_ns, &RATE_PERIOD)?;
        if let Some(Burst { sends, pause_ns }) = self.burst {
            limits::in_range("--burst-count", u64::from(sends), &BURST)?;
            limits::in_range("--burst-delay", pause_ns, &BURST_PAUSE)?;
        }
        if let Some(low) = rate {
            limits::upper_end("--rate", low, self.rate_most_bps, &limits::RATE)?;
        }
        let is_rated = rate.is_some();
        let is_twice = is_rated && self.burst.is_some();
        limits::not_both(["--rate", "--burst-count"], is_twice, "leave one of them out")?;
        let is_open = !is_rated && self.rate_most_bps.is_some();
        let advice = "say with --rate where it begins";
        limits::not_both(["a range of rates", "no --rate"], is_open, advice)?;
        let is_empty = !is_rated && self.period_ns.is_some();
        let advice = "say with --rate how much a period holds";
        limits::not_both(["--rate-period", "no --rate"], is_empty, advice)
    }
}

/// A part of a send that is less than this one is worth no send of its own: it goes with those of the next period.
const LEAST_PART: u64 = 64;

/// How many bytes a rate lets a sender send that has sent `position` bytes since `started`, and whose next send would
/// be of `room` bytes; or until when it may send nothing.
pub(super) fn by_rate(
    (rate, period): (BitRate, Option<Period>),
    (position, room): (u64, u64),
    (started, now): (Tick, Tick),
) -> Result<u64, Tick> {
    let elapsed_ns = now.nanos_since(started);
    if let Some(Period(period_ns)) = period {
        let ended_ns = (elapsed_ns / period_ns).saturating_add(1).saturating_mul(period_ns);
        let allowed = rate.bytes_in(ended_ns).saturating_sub(position);
        let is_due = allowed >= room.div_ceil(LEAST_PART);
        return if is_due { Ok(room.min(allowed)) } else { Err(started.plus_nanos(ended_ns)) };
    }
    // A quantum of about a millisecond keeps the number of wake-ups bounded at any rate.
    let quantum = room.min(rate.bytes_in(1_000_000).max(1_024));
    let allowed = rate.bytes_in(elapsed_ns).saturating_sub(position);
    if allowed >= quantum {
        Ok(room.min(allowed))
    } else {
        Err(started.plus_nanos(rate.nanos_for(position + quantum)))
    }
}

/// Where a sender is in its bursts.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Bursts {
    /// Sends since the last pause.
    sends: u32,
    /// The end of the pause.
    until: Tick,
}

impl Bursts {
    /// Another send has left.
    #[inline]
    pub fn sent(&mut self, burst: Burst, at: Tick) {
        self.sends += 1;
        if self.sends >= burst.sends {
            *self = Self { sends: 0, until: at.plus_nanos(burst.pause_ns.0) };
        }
    }

    /// When the next may leave, if not now.
    #[inline]
    pub fn pause(self, now: Tick) -> Option<Tick> {
        (now < self.until).then_some(self.until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::period_of_whole_blocks;

    #[test]
    fn a_period_lets_go_at_its_begin_what_the_rate_allows_in_it() {
        let rate = (BitRate(8_000_000), Some(Period::from_millis(100)));
        let at = |ms: u64| (Tick::ZERO, Tick::from_nanos(ms * 1_000_000));
        assert_eq!(by_rate(rate, (0, 30_000), at(0)), Ok(30_000));
        assert_eq!(by_rate(rate, (90_000, 30_000), at(1)), Ok(10_000));
        let next = Tick::from_nanos(100_000_000);
        assert_eq!(by_rate(rate, (100_000, 30_000), at(99)), Err(next));
        assert_eq!(by_rate(rate, (100_000, 30_000), at(100)), Ok(30_000));
    }

    #[test]
    fn of_whole_blocks_no_part_leaves() {
        for rate in [100_000, 1_000_000, 3_333_333, 25_000_000, 999_999_937, 10_000_000_000] {
            for (block, at_once) in [(131_072, 1), (1_460, 1), (1_000, 7), (1 << 20, 1)] {
                let rate = BitRate(rate);
                let period_ns = period_of_whole_blocks(rate, block, at_once);
                let pace = Pace { period_ns, ..Pace::default() };
                let Some(period) = period_ns else {
                    assert!(rate.nanos_for(block) > RATE_PERIOD.end().0, "{rate:?} {block}");
                    continue;
                };
                assert_eq!(pace.check(Some(rate)), Ok(()), "{rate:?} {block}");
                let (mut position, mut now) = (0, Tick::ZERO);
                for _ in 0..1_000 {
                    match by_rate((rate, Some(period)), (position, block), (Tick::ZERO, now)) {
                        Ok(bytes) if bytes == block => position += bytes,
                        // At high rates what a nanosecond more in each period allows comes to something, after many.
                        Ok(part) if rate.0 > 100_000_000 && part >= block / LEAST_PART => {
                            position += part;
                        }
                        Ok(part) => panic!("{part} of {block} bytes at {rate:?}"),
                        Err(due) => now = due,
                    }
                }
                // What was due by then has left, and no more than is due within the period.
                let due = rate.bytes_in(now.as_nanos() + period.0);
                assert!(
                    due - position < rate.bytes_in(period.0) + block,
                    "{rate:?} {block}: {position} of {due}"
                );
            }
        }
    }

    #[test]
    fn bursts_are_followed_by_pauses() {
        let burst = Burst { sends: 2, pause_ns: Period(50) };
        let mut bursts = Bursts::default();
        bursts.sent(burst, Tick::from_nanos(10));
        assert_eq!(bursts.pause(Tick::from_nanos(10)), None);
        bursts.sent(burst, Tick::from_nanos(11));
        assert_eq!(bursts.pause(Tick::from_nanos(12)), Some(Tick::from_nanos(61)));
        assert_eq!(bursts.pause(Tick::from_nanos(61)), None);
    }
}
