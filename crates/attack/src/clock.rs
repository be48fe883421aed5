//! The one place where this program reads a clock and waits. Not a measuring clock: what is timed here are bounds of
//! tenths of seconds.

use std::time::{Duration, Instant};

/// The moment.
#[expect(
    clippy::disallowed_methods,
    reason = "this crate imports nothing of ours, os::clock neither"
)]
pub fn now() -> Instant {
    Instant::now()
}

/// Keeps the pace of an attack. Nothing here waits so for an answer.
#[expect(
    clippy::disallowed_methods,
    reason = "a pace: one byte a second, one connection in twelve"
)]
pub fn pause(time: Duration) {
    std::thread::sleep(time);
}

/// What is left until then.
pub fn left(until: Instant) -> Duration {
    until.saturating_duration_since(now())
}
