//! Any other system: we have not learned how it hands out frames.

use std::convert::Infallible;
use std::io;

use super::{Batch, Scope};
use crate::OsError;

#[derive(Debug)]
pub struct PacketSocket(Infallible);

impl PacketSocket {
    pub fn open(_interface: u32, _scope: Scope, _buffer: usize) -> Result<Self, OsError> {
        Err(OsError::Unsupported { what: "taking whole frames", why: "only Linux so far" })
    }

    pub fn buffer(&self) -> usize {
        match self.0 {}
    }

    pub fn receive(&self, _batch: &mut Batch) -> io::Result<usize> {
        match self.0 {}
    }

    pub fn send(&self, _frames: &[&[u8]]) -> io::Result<usize> {
        match self.0 {}
    }

    pub fn dropped(&self) -> io::Result<u64> {
        match self.0 {}
    }
}
