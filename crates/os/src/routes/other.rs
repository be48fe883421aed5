//! Any other system: nothing is known.

use std::convert::Infallible;
use std::net::IpAddr;

use super::{Asked, Disturbed, Interface, Route};
use crate::OsError;

const NONE: OsError = OsError::Unsupported {
    what: "telling interfaces and routes",
    why: "it is only written for Linux",
};

pub fn interfaces() -> Result<Vec<Interface>, OsError> {
    Err(NONE)
}

pub fn route(_destination: IpAddr, _asked: Asked) -> Result<Option<Route>, OsError> {
    Err(NONE)
}

#[derive(Debug)]
pub struct Monitor(Infallible);

impl Monitor {
    pub fn open() -> Result<Self, OsError> {
        Err(NONE)
    }

    pub fn drain(&mut self) -> Disturbed {
        match self.0 {}
    }
}
