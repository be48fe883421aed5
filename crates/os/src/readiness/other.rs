//! Any other system: there is nothing to wait for.

use std::convert::Infallible;
use std::time::Duration;

use super::{Interest, Ready};
use crate::OsError;

/// Anything; nothing is ever waited for.
pub trait Source {}

impl<T> Source for T {}

#[derive(Debug)]
pub struct Poller(Infallible);

impl Poller {
    pub fn new() -> Result<Self, OsError> {
        Err(OsError::Unsupported { what: "waiting for sockets", why: "only Linux so far" })
    }

    pub fn add(&self, _: &impl Source, _: u64, _: Interest) -> Result<(), OsError> {
        match self.0 {}
    }

    pub fn change(&self, _: &impl Source, _: u64, _: Interest) -> Result<(), OsError> {
        match self.0 {}
    }

    pub fn remove(&self, _: &impl Source) -> Result<(), OsError> {
        match self.0 {}
    }

    pub fn wait(&self, _: &mut Vec<Ready>, _: Option<Duration>) -> Result<(), OsError> {
        match self.0 {}
    }
}
