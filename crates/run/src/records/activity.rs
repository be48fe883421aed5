//! What this machine does while tests run, from one report interval to the next: read by sessions' threads, never by one that measures.
//!
//! Readings are the process's, since all tests of a server run on one machine: one that is fresh is good for every session that
//! asks, so that many clients cost no more than one.

use std::sync::{Arc, Mutex};

use pathscope_core::Tick;
use pathscope_core::counters::HostActivity;
use pathscope_os::counters::Reading;

use crate::threads::lock;

/// Kernels count processor time in ticks of 1 to 10 ms: of less than ten of them shares would be steps.
const LEAST_NS: u64 = 100_000_000;
/// A reading of this age is as good as one that is made now. A reading has hundreds of names of counters: sessions of a server are
/// to hold few different ones.
const FRESH_NS: u64 = 50_000_000;

/// The last reading, and when it was made.
#[derive(Debug)]
struct Readings(Mutex<Option<Moment>>);

/// Those of this process.
static PROCESS: Readings = Readings(Mutex::new(None));

/// A reading.
#[derive(Clone, Debug)]
struct Moment {
    at: Tick,
    reading: Arc<Reading>,
}

impl Readings {
    /// The last one where that is fresh, or else one that is made now.
    fn near(&self, now: Tick) -> Moment {
        let mut last = lock(&self.0);
        let fresh = last.as_ref().filter(|last| now.nanos_since(last.at) < FRESH_NS).cloned();
        fresh.unwrap_or_else(|| {
            let moment = Moment { at: now, reading: Arc::new(Reading::now()) };
            *last = Some(moment.clone());
            moment
        })
    }
}

/// What one test has heard of the machine.
#[derive(Debug)]
pub(crate) struct Activity {
    heard: Moment,
    readings: &'static Readings,
}

impl Activity {
    /// A test begins now.
    pub fn begin(now: Tick) -> Self {
        Self::of(&PROCESS, now)
    }

    fn of(readings: &'static Readings, now: Tick) -> Self {
        Self { heard: readings.near(now), readings }
    }

    /// The reading from which the next time counts.
    pub fn reading(&self) -> Arc<Reading> {
        Arc::clone(&self.heard.reading)
    }

    /// What the machine did since this was asked before; none where that is too short a time, which then counts in the next, or
    /// where the system counts nothing.
    pub fn since_the_last(&mut self, now: Tick) -> Option<HostActivity> {
        if now.nanos_since(self.heard.at) < LEAST_NS {
            return None;
        }
        let before = std::mem::replace(&mut self.heard, self.readings.near(now));
        let length_ns = self.heard.at.nanos_since(before.at);
        Some(self.heard.reading.since(&before.reading)?.activity(length_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn what_is_too_short_counts_in_the_next_and_nothing_is_counted_twice() {
        static READINGS: Readings = Readings(Mutex::new(None));
        let at = |milliseconds: u64| Tick::from_nanos(milliseconds * 1_000_000);
        let mut first = Activity::of(&READINGS, at(0));
        assert_eq!(first.since_the_last(at(99)), None);
        let told = first.since_the_last(at(250)).expect("Linux counts");
        assert_eq!(told.length_ns, 250_000_000);
        assert_eq!(first.since_the_last(at(300)), None);
        // Another that begins a moment later shares the reading, and counts from it.
        let mut second = Activity::of(&READINGS, at(260));
        assert!(Arc::ptr_eq(&first.heard.reading, &second.heard.reading));
        let [one, other] = [&mut first, &mut second].map(|it| it.since_the_last(at(1_250)));
        assert_eq!(one, other);
        assert_eq!(one.map(|it| it.length_ns), Some(1_000_000_000));
    }
}
