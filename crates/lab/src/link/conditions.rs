//! The conditions of one direction of a link, as data, and what makes them possible.
//!
//! How each is written in words stands with its type; all of them together are a [`Change`].

use std::fmt;

use pathscope_core::quantity::Period;
use serde::{Deserialize, Serialize};

use super::change::Change;
use super::error::ConditionsError;
use super::words;
use super::{Chance, Loss, Queue, Rate, Reordering};

/// What one direction of a link does to each frame, in this order: queue, rate, then on the wire
/// loss, corruption, duplication, delay with its jitter, and reordering.
///
/// The default does nothing: no limit, no delay, no damage. Every frame is treated, whatever it
/// carries, ARP like IP; in a lab, where neighbours are static, that is IP in practice. Only
/// corruption looks inside. Written and read as a [`Change`] of the default, and then always
/// [possible](Self::check).
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(try_from = "Change", into = "Change")]
pub struct Conditions {
    /// How fast frames are sent.
    pub rate: Rate,
    /// From the end of a frame's transmission to its arrival.
    pub delay: Period,
    /// Each frame's delay differs from `delay` by up to this much either way, evenly distributed.
    /// Frames keep their order: one never arrives before the one ahead of it. So where frames are
    /// closer to each other than this, they arrive in clumps, and later on average than `delay`
    /// says.
    pub jitter: Period,
    /// What may wait for its transmission, besides the frame being sent.
    pub queue: Queue,
    /// Frames that are sent and never arrive.
    pub loss: Loss,
    /// Frames that arrive twice, the second right behind the first.
    pub duplication: Chance,
    /// Frames of which one bit of the payload is turned over and the checksums made to fit.
    pub corruption: Chance,
    /// Frames that arrive later than those sent after them.
    pub reordering: Reordering,
}

/// The longest delay, and the longest patience: longer than any real path's.
pub const MOST_DELAY: Period = Period::from_secs(60);
/// The highest rate: above what any relay carries, and a small frame still takes some nanoseconds.
pub const MOST_RATE: u64 = 100_000_000_000;
/// The longest queue in frames.
pub const MOST_QUEUE_FRAMES: u32 = 100_000;
/// The longest queue in bytes.
pub const MOST_QUEUE_BYTES: u64 = 128 << 20;
/// How many frames may pass one.
pub const MOST_DISTANCE: u32 = 1_000;

impl Conditions {
    /// These conditions after a change, if a link can be like that.
    pub fn after(&self, change: &Change) -> Result<Self, ConditionsError> {
        let after = Self {
            rate: change.rate.unwrap_or(self.rate),
            delay: change.delay.unwrap_or(self.delay),
            jitter: change.jitter.unwrap_or(self.jitter),
            queue: change.queue.unwrap_or(self.queue),
            loss: change.loss.unwrap_or(self.loss),
            duplication: change.duplication.unwrap_or(self.duplication),
            corruption: change.corruption.unwrap_or(self.corruption),
            reordering: change.reordering.unwrap_or(self.reordering),
        };
        after.check().map(|()| after)
    }

    /// Whether a link can be like this; the first fault otherwise.
    pub fn check(&self) -> Result<(), ConditionsError> {
        self.check_rate_and_queue()?;
        self.check_times()?;
        self.check_chances()?;
        self.check_reordering()
    }

    fn check_rate_and_queue(&self) -> Result<(), ConditionsError> {
        if let Rate::Limited(rate) = self.rate {
            let value = || words::bit_rate(rate);
            check("rate", rate.0 > 0, value, "a rate is above 0", "to let nothing pass, 'cut'")?;
            let range = "a rate is 100Gbit at most";
            check("rate", rate.0 <= MOST_RATE, value, range, "for no limit, rate=none")?;
        }
        let (is_some, fits) = match self.queue {
            Queue::Packets(frames) => (frames > 0, frames <= MOST_QUEUE_FRAMES),
            Queue::Bytes(bytes) => (bytes > 0, bytes <= MOST_QUEUE_BYTES),
        };
        let value = || self.queue.to_string();
        let range = "a queue holds at least one frame or byte";
        check("queue", is_some, value, range, "the least that works is queue=1p")?;
        let range = "a queue holds 100000p or 128MiB at most";
        check("queue", fits, value, range, "what waits is held in memory")
    }

    fn check_times(&self) -> Result<(), ConditionsError> {
        let value = || words::period(self.delay);
        check("delay", self.delay <= MOST_DELAY, value, "a delay is 60s at most", "shorten it")?;
        let value = || words::period(self.jitter);
        let range = "jitter is at most the delay, since no frame arrives before it was sent";
        check("jitter", self.jitter <= self.delay, value, range, "raise delay in the same change")
    }

    fn check_chances(&self) -> Result<(), ConditionsError> {
        let range = "a chance is 100% at most";
        for (key, chance) in [("dup", self.duplication), ("corrupt", self.corruption)] {
            check(key, chance <= Chance::ALWAYS, || chance.to_string(), range, "lower it")?;
        }
        let value = || self.loss.to_string();
        let possible = self.loss.chances().iter().all(|chance| *chance <= Chance::ALWAYS);
        check("loss", possible, value, range, "lower it")?;
        let range = "a burst that never ends is no burst";
        let remedy = "raise the second chance, or write loss=100%";
        check("loss", self.loss.bursts_end(), value, range, remedy)
    }

    fn check_reordering(&self) -> Result<(), ConditionsError> {
        let Reordering { chance, distance, patience } = self.reordering;
        let value = || self.reordering.to_string();
        let range = "a chance is 100% at most";
        check("reorder", chance <= Chance::ALWAYS, value, range, "lower it")?;
        let range = "from 1 to 1000 frames pass each";
        let remedy = "write for example reorder=1%x3";
        check("reorder", (1..=MOST_DISTANCE).contains(&distance), value, range, remedy)?;
        let range = "a frame waits for others above 0 and at most 60s";
        let possible = patience.0 > 0 && patience <= MOST_DELAY;
        check("reorder", possible, value, range, "write for example reorder=1%x3,100ms")
    }
}

fn check(
    key: &'static str,
    possible: bool,
    value: impl Fn() -> String,
    range: &'static str,
    remedy: &'static str,
) -> Result<(), ConditionsError> {
    if possible {
        return Ok(());
    }
    Err(ConditionsError::OutOfRange { key, value: value(), range, remedy })
}

impl TryFrom<Change> for Conditions {
    type Error = ConditionsError;

    fn try_from(change: Change) -> Result<Self, ConditionsError> {
        Self::default().after(&change)
    }
}

/// Every condition, named.
impl From<Conditions> for Change {
    fn from(conditions: Conditions) -> Self {
        Self {
            rate: Some(conditions.rate),
            delay: Some(conditions.delay),
            jitter: Some(conditions.jitter),
            queue: Some(conditions.queue),
            loss: Some(conditions.loss),
            duplication: Some(conditions.duplication),
            corruption: Some(conditions.corruption),
            reordering: Some(conditions.reordering),
        }
    }
}

/// Every condition as it would be typed.
impl fmt::Display for Conditions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        Change::from(*self).fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use pathscope_core::quantity::BitRate;

    use super::*;

    #[test]
    fn the_default_does_nothing_and_is_possible() {
        assert_eq!(Conditions::default().check(), Ok(()));
        assert_eq!(Conditions::default().rate, Rate::Unlimited);
        assert_eq!(Conditions::default().loss, Loss::None);
    }

    #[test]
    fn impossible_conditions_are_refused_in_a_sentence() {
        type Break = fn(&mut Conditions);
        let broken: [(Break, &str); 11] = [
            (|it| it.rate = Rate::Limited(BitRate(0)), "set rate=0bit: a rate is above 0"),
            (|it| it.rate = Rate::Limited(BitRate(MOST_RATE + 1)), "for no limit, rate=none"),
            (|it| it.queue = Queue::Packets(0), "set queue=0p: a queue holds at least one"),
            (|it| it.queue = Queue::Bytes(0), "set queue=0B"),
            (|it| it.queue = Queue::Packets(100_001), "100000p or 128MiB at most"),
            (|it| it.delay = Period(MOST_DELAY.0 + 1), "a delay is 60s at most"),
            (|it| it.jitter = Period(1), "no frame arrives before it was sent"),
            (|it| it.duplication = Chance(1_000_000_001), "set dup=100.0000001%"),
            (|it| it.loss = Loss::Random(Chance(u32::MAX)), "a chance is 100% at most"),
            (|it| it.reordering.distance = 1_001, "from 1 to 1000 frames"),
            (|it| it.reordering.patience = Period(0), "above 0 and at most 60s"),
        ];
        for (break_it, words) in broken {
            let mut conditions = Conditions::default();
            break_it(&mut conditions);
            let error = conditions.check().expect_err(words).to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
