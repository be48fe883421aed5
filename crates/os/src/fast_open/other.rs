//! Any other system: not possible.

use std::io;
use std::net::SocketAddr;

use crate::sockets::Settings;
use crate::{OsError, Socket};

const UNSUPPORTED: OsError =
    OsError::Unsupported { what: "TCP Fast Open", why: "only Linux so far" };

pub fn check() -> Result<(), OsError> {
    Err(UNSUPPORTED)
}

pub fn begin_connect_tcp(
    _address: SocketAddr,
    _settings: &Settings,
) -> Result<(Socket, bool), OsError> {
    Err(UNSUPPORTED)
}

pub fn is_served() -> Option<bool> {
    None
}

pub fn serve(listener: &Socket, _most: i32) -> io::Result<()> {
    match listener.0 {}
}

pub fn was_taken(socket: &Socket) -> Option<bool> {
    match socket.0 {}
}
