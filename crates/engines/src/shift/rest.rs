//! What to do when no flow can move: spin, or sleep, and for how long.

use std::time::Duration;

use pathscope_core::{Tick, Wait};

/// In `hybrid`, how long to spin for bytes before sleeping: longer than a round trip in one data
/// centre, shorter than what falling asleep and waking up cost on a virtual machine.
const SPIN_NS: u64 = 50_000;

/// In `hybrid`, how long before a timer to be awake. Sleeps with precise timers overshoot by 33 to 77 µs
/// at the 99th percentile on a quiet virtual machine (measurement practice, section 4).
const MARGIN_NS: u64 = 120_000;

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
    /// Sleep until something comes, or for so long.
    Sleep(Option<Duration>),
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
                if now.nanos_since(idle_since) < SPIN_NS {
                    return Pause::Spin;
                }
                sleep_until(now, due, MARGIN_NS)
            }
            Wait::Sleep | Wait::Auto => sleep_until(now, due, 0),
        }
    }
}

fn sleep_until(now: Tick, due: Tick, margin_ns: u64) -> Pause {
    match due.nanos_since(now).saturating_sub(margin_ns) {
        _ if due == Tick::NEVER => Pause::Sleep(None),
        0 => Pause::Spin,
        nanoseconds => Pause::Sleep(Some(Duration::from_nanos(nanoseconds))),
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
        assert_eq!(rest.pause(NOW, Tick::NEVER), Pause::Sleep(None));
        assert_eq!(rest.pause(NOW, NOW.plus_nanos(7)), Pause::Sleep(Some(Duration::from_nanos(7))));
        assert_eq!(rest.pause(NOW, NOW), Pause::Spin);
    }

    #[test]
    fn a_hybrid_worker_spins_first_and_before_a_timer() {
        let mut rest = Rest::new(Wait::Hybrid);
        assert_eq!(rest.pause(NOW, Tick::NEVER), Pause::Spin);
        let later = NOW.plus_nanos(SPIN_NS);
        assert_eq!(rest.pause(later, Tick::NEVER), Pause::Sleep(None));
        assert_eq!(rest.pause(later, later.plus_nanos(MARGIN_NS)), Pause::Spin);
        let far = later.plus_nanos(MARGIN_NS + 5);
        assert_eq!(rest.pause(later, far), Pause::Sleep(Some(Duration::from_nanos(5))));
        rest.moved();
        assert_eq!(rest.pause(later, Tick::NEVER), Pause::Spin);
    }
}
