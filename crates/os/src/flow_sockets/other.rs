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
    opener: &mut FlowOpener,
    _ends: (SocketAddr, SocketAddr),
    _settings: &Settings,
) -> Result<Socket, OsError> {
    match opener.ahead.take() {
        // None is ever bound ahead.
        Some(socket) => match socket.0 {},
        None => Err(UNSUPPORTED),
    }
}
