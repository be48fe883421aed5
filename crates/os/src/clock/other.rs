//! Any other system: the standard library's clocks, counted from the first reading.

use std::sync::OnceLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use pathscope_core::Tick;

pub const NAME: &str = "monotonic";

#[expect(clippy::disallowed_methods, reason = "this is the room that reads clocks")]
pub fn now() -> Tick {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    Tick::from_nanos(1) + ORIGIN.get_or_init(Instant::now).elapsed()
}

#[expect(clippy::disallowed_methods, reason = "this is the room that reads clocks")]
pub fn wall_unix_ns() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64)
}

pub fn local_offset_s(_: i64) -> i64 {
    0
}

pub fn source() -> Option<String> {
    None
}
