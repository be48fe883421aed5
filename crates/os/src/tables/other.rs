//! Any other system: none.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;

use super::Handed;
use crate::{OsError, Socket, Waker};

#[derive(Debug)]
pub struct Link(Infallible);

#[derive(Debug)]
pub struct Place(Infallible);

pub fn pair() -> Result<(Link, Link), OsError> {
    Err(OsError::Unsupported {
        what: "a table of descriptors for a thread",
        why: "only Linux so far",
    })
}

pub fn leave(link: &Link, _wakers: &[Waker]) -> Result<(), OsError> {
    match link.0 {}
}

impl Link {
    pub fn place(&self) -> Place {
        match self.0 {}
    }

    pub fn forget(self) {
        match self.0 {}
    }

    pub fn give(&self, _sockets: &[(u32, Socket)]) -> io::Result<()> {
        match self.0 {}
    }

    pub fn call(&self) -> io::Result<()> {
        match self.0 {}
    }

    pub fn receive(&self, _may_wait: bool, _into: &mut VecDeque<Handed>) {
        match self.0 {}
    }
}

impl Place {
    pub fn close(self) {
        match self.0 {}
    }
}
