//! What to do when no flow can move: spin, or sleep, and for how long.
//!
//! The length of a sleep is asked for by who sleeps, at the moment of the sleep: it is no part of the decision, which
//! something that takes time may follow.

use std::time::Duration;

use pathscope_core::{Tick, Wait};

/// In `hybrid`, how long to spin for bytes before sleeping: longer than a round trip in one data
/// centre, shorter than what falling asleep and waking up cost on a virtual machine.
const SPIN_NS: u64 = 50_000;

/// In `hybrid`, how long before a timer to be awake. Sleeps with precise timers overshoot by 33 to 77 µs
/// at the 99th percentile on a quiet virtual machine (measurement practice, section 4).
const MARGIN_NS: u64 = 120_000;

/// From so long on, a sleep is one of several: it ends before its time, and what is left is slept after it.
///
/// The kernel lets a sleep end later by a thousandth of its length, and by a two hundredth in a process of lower
/// priority, whatever precision of timers was asked for (`select_estimate_accuracy` of Linux): one of 5 s by 5 ms.
const LONG_NS: u64 = 16_000_000;

/// Which part of a long sleep is left for another: more than the kernel's share of it, and what happened since the clock
/// was read.
const LEFT_OF_LONG: u64 = 128;

/// How a worker rests.
#[derive(Debug)]
pub(crate) struct Rest {
    wait: Wait,
    idle_since: Option<Tick>,
}

/// What to do now.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Pause {
    /// Look again.
    Spin,
    /// Sleep until something comes or is due.
    Sleep,
}

impl Rest {
    pub fn new(wait: Wait) -> Self {
        Self { wait, idle_since: None }
    }

    /// Something moved.
    #[inline]
    pub fn moved(&mut self) {
        self.idle_since = None;
    }

    /// Nothing can move at `now`, and the next thing to do otherwise is due at `due`.
    #[inline]
    pub fn pause(&mut self, now: Tick, due: Tick) -> Pause {
        match self.wait {
            Wait::Spin => Pause::Spin,
            Wait::Hybrid => {
                let idle_since = *self.idle_since.get_or_insert(now);
                if now.nanos_since(idle_since) < SPIN_NS || self.left_ns(now, due) == 0 {
                    return Pause::Spin;
                }
                Pause::Sleep
            }
            Wait::Sleep | Wait::Auto if self.left_ns(now, due) == 0 => Pause::Spin,
            Wait::Sleep | Wait::Auto => Pause::Sleep,
        }
    }

    /// Whether the clock has to be read right before a sleep until `due`, if it was last read at `now`: a long one ends
    /// early enough without.
    #[inline]
    pub fn needs_the_time(&self, now: Tick, due: Tick) -> bool {
        self.left_ns(now, due) < LONG_NS
    }

    /// How long to sleep from `now` on, so as to be awake at `due` or, of what is far, soon before; `None`: until
    /// something comes.
    #[inline]
    pub fn length(&self, now: Tick, due: Tick) -> Option<Duration> {
        if due == Tick::NEVER {
            return None;
        }
        let left_ns = self.left_ns(now, due);
        let kept_ns = if left_ns < LONG_NS { 0 } else { left_ns / LEFT_OF_LONG };
        Some(Duration::from_nanos(left_ns - kept_ns))
    }

    /// What may be slept.
    #[inline]
    fn left_ns(&self, now: Tick, due: Tick) -> u64 {
        let margin_ns = if self.wait == Wait::Hybrid { MARGIN_NS } else { 0 };
        due.nanos_since(now).saturating_sub(margin_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Tick = Tick::from_nanos(1_000_000);

    #[test]
    fn a_spinning_worker_never_sleeps() {
        assert_eq!(Rest::new(Wait::Spin).pause(NOW, Tick::NEVER), Pause::Spin);
    }

    #[test]
    fn a_sleeping_worker_sleeps_until_the_next_timer() {
        let mut rest = Rest::new(Wait::Sleep);
        assert_eq!(rest.pause(NOW, Tick::NEVER), Pause::Sleep);
        assert_eq!(rest.length(NOW, Tick::NEVER), None);
        assert_eq!(rest.pause(NOW, NOW.plus_nanos(7)), Pause::Sleep);
        assert_eq!(rest.length(NOW, NOW.plus_nanos(7)), Some(Duration::from_nanos(7)));
        assert_eq!(rest.pause(NOW, NOW), Pause::Spin);
        assert_eq!(rest.length(NOW, NOW), Some(Duration::ZERO));
    }

    #[test]
    fn a_hybrid_worker_spins_first_and_before_a_timer() {
        let mut rest = Rest::new(Wait::Hybrid);
        assert_eq!(rest.pause(NOW, Tick::NEVER), Pause::Spin);
        let later = NOW.plus_nanos(SPIN_NS);
        assert_eq!(rest.pause(later, Tick::NEVER), Pause::Sleep);
        assert_eq!(rest.pause(later, later.plus_nanos(MARGIN_NS)), Pause::Spin);
        let far = later.plus_nanos(MARGIN_NS + 5);
        assert_eq!(rest.pause(later, far), Pause::Sleep);
        assert_eq!(rest.length(later, far), Some(Duration::from_nanos(5)));
        rest.moved();
        assert_eq!(rest.pause(later, Tick::NEVER), Pause::Spin);
    }

    #[test]
    fn a_long_sleep_ends_before_its_time_by_more_than_the_kernel_adds_and_the_last_one_at_it() {
        let rest = Rest::new(Wait::Sleep);
        let (mut now, due) = (NOW, NOW.plus_nanos(5_000_000_000));
        let mut sleeps = 0;
        while now < due {
            let is_last = rest.needs_the_time(now, due);
            let length = rest.length(now, due).expect("a time").as_nanos() as u64;
            // The clock was read 50 µs before, and the process has a low priority.
            let taken_ns = length + length / 200 + if is_last { 0 } else { 50_000 };
            now = now.plus_nanos(taken_ns);
            sleeps += 1;
        }
        assert!(now.nanos_since(due) < 100_000, "{} ns late", now.nanos_since(due));
        assert!(sleeps <= 3, "{sleeps}");
        assert!(!rest.needs_the_time(NOW, Tick::NEVER));
    }
}
