//! Any other system: all threads are alike, and nothing waits for an alarm.

use std::convert::Infallible;

use pathscope_core::Tick;

use crate::OsError;

pub fn run_first() -> Result<(), OsError> {
    Err(OsError::Unsupported { what: "running before other threads", why: "only Linux so far" })
}

pub type Awake = Infallible;

pub fn keep_awake() -> Result<Awake, OsError> {
    Err(OsError::Unsupported { what: "keeping processors awake", why: "only Linux so far" })
}

#[derive(Debug)]
pub struct Alarm(Infallible);

impl Alarm {
    pub fn new() -> Result<Self, OsError> {
        Err(OsError::Unsupported { what: "an alarm to wait for", why: "only Linux so far" })
    }

    pub fn set(&self, _at: Tick) -> Result<(), OsError> {
        match self.0 {}
    }
}
