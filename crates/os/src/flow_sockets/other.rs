//! Any other system: no socket can be opened.

use std::net::SocketAddr;

use super::FlowOpener;
use crate::OsError;
use crate::sockets::{Settings, Socket};

const UNSUPPORTED: OsError =
    OsError::Unsupported { what: "opening a socket", why: "only Linux so far" };

pub fn guard(listener: &Socket) -> Result<SocketAddr, OsError> {
    match listener.0 {}
}

pub fn open(
    _opener: &mut FlowOpener,
    _ends: (SocketAddr, SocketAddr),
    _settings: &Settings,
) -> Result<Socket, OsError> {
    Err(UNSUPPORTED)
}
