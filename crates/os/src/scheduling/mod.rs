//! Being on time: a place before other threads, processors that do not doze off, and an alarm to the
//! nanosecond that a poller can wait for beside sockets.
//!
//! The timers that calls like `poll` take are rounded: up to a millisecond by a
//! [`Poller`](crate::readiness::Poller), and by the slack that
//! [`set_precise_timers`](crate::cpus::set_precise_timers) takes away. An [`Alarm`] is neither.

#[cfg(all(target_os = "linux", not(pathscope_other)))]
mod linux;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
use linux as imp;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
mod other;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
use other as imp;

use pathscope_core::Tick;

use crate::OsError;

/// Asks for the calling thread to run before all threads of the ordinary class, at the lowest of the
/// real-time priorities; threads and processes that it starts stay ordinary. Most users may not, so a
/// refusal is an ordinary answer. A thread that never waits keeps its processor for 95 % of the time,
/// which is what Linux leaves to this class.
pub fn run_first() -> Result<(), OsError> {
    imp::run_first()
}

/// Processors that are idle without sleeping, so that they are there at once when a timer is due; for as
/// long as this is held. It costs power, and on a virtual machine it matters most: there an idle
/// processor is handed back to the host, and on one such machine an alarm that was 3 ms late once in a
/// hundred times was 0.1 ms late with this, where [`run_first`] alone changed nothing.
#[derive(Debug)]
#[must_use = "processors may sleep again once it is dropped"]
pub struct Awake {
    _held: imp::Awake,
}

impl Awake {
    /// Asks for it. All processors of the machine are meant, so only root may; a refusal is an ordinary
    /// answer.
    pub fn ask() -> Result<Self, OsError> {
        imp::keep_awake().map(|held| Self { _held: held })
    }
}

/// A timer that makes a descriptor readable at a tick of [`clock::now`](crate::clock::now).
#[derive(Debug)]
pub struct Alarm(imp::Alarm);

impl Alarm {
    /// One that is not set.
    pub fn new() -> Result<Self, OsError> {
        imp::Alarm::new().map(Self)
    }

    /// Goes off at `at` and not at the tick it was set to before; at once where `at` has passed, never
    /// where it is [`Tick::NEVER`]. One that went off is quiet again.
    pub fn set(&self, at: Tick) -> Result<(), OsError> {
        self.0.set(at)
    }
}

#[cfg(test)]
#[cfg(not(pathscope_other))]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::clock;
    use crate::readiness::{Interest, Poller};

    /// Whether the alarm is ringing, or does so within the time.
    fn rings(alarm: &Alarm, timeout: Duration) -> bool {
        let poller = Poller::new().expect("a poller");
        poller.add(alarm, 1, Interest::INPUT).expect("an alarm has a descriptor");
        let mut ready = Vec::new();
        poller.wait(&mut ready, Some(timeout)).expect("a wait");
        !ready.is_empty()
    }

    #[test]
    fn an_alarm_goes_off_when_its_tick_has_come_and_not_before() {
        let alarm = Alarm::new().expect("an alarm");
        assert!(!rings(&alarm, Duration::ZERO));
        let at = clock::now() + Duration::from_micros(2_300);
        alarm.set(at).expect("a tick to come");
        assert!(rings(&alarm, Duration::from_secs(10)));
        assert!(clock::now() >= at);
    }

    #[test]
    fn an_alarm_that_is_set_again_forgets_what_was() {
        let alarm = Alarm::new().expect("an alarm");
        for past in [Tick::ZERO, Tick::from_nanos(1), clock::now()] {
            alarm.set(past).expect("a tick that has passed");
            assert!(rings(&alarm, Duration::from_secs(10)), "{past:?}");
        }
        alarm.set(Tick::NEVER).expect("no tick");
        assert!(!rings(&alarm, Duration::ZERO));
        alarm.set(clock::now() + Duration::from_secs(3_600)).expect("a tick to come");
        assert!(!rings(&alarm, Duration::ZERO));
    }

    #[test]
    fn processors_are_kept_awake_or_the_reason_is_told() {
        match Awake::ask() {
            Ok(awake) => drop(awake),
            Err(refusal) => {
                assert!(refusal.remedy().is_some(), "{refusal}");
                println!("skipped, because of this ordinary answer: {refusal}");
            }
        }
    }

    #[test]
    fn what_a_thread_that_runs_first_starts_is_ordinary() {
        let thread = std::thread::spawn(|| {
            let answer = run_first();
            let child = std::thread::spawn(imp::is_ordinary).join().expect("no panic");
            (answer, imp::is_ordinary(), child)
        });
        let (answer, is_ordinary, child_is_ordinary) = thread.join().expect("no panic");
        assert!(child_is_ordinary);
        assert_eq!(is_ordinary, answer.is_err());
        if let Err(refusal) = answer {
            println!("skipped, because of this ordinary answer: {refusal}");
        }
    }
}
