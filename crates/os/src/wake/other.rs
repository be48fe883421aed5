//! Any other system: the flag alone, for threads that spin.

use crate::OsError;

#[derive(Debug)]
pub struct Signal;

impl Signal {
    #[expect(clippy::unnecessary_wraps, reason = "the same signature on every system")]
    pub fn new() -> Result<Self, OsError> {
        Ok(Self)
    }

    #[expect(clippy::unused_self, reason = "the same signature on every system")]
    pub fn raise(&self) {}

    #[expect(clippy::unused_self, reason = "the same signature on every system")]
    pub fn lower(&self) {}
}

#[cfg(test)]
pub fn await_signal(waker: &super::Waker) -> bool {
    while !waker.is_raised() {
        std::hint::spin_loop();
    }
    true
}
