//! Any other system: no socket can be opened, so none is stamped.

use std::io;

use super::Handover;
use crate::Socket;

pub fn enable(_socket: &Socket) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub fn restart(_socket: &Socket) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub fn receive(
    _socket: &Socket,
    _room: &mut [u8],
    _may_sleep: bool,
) -> io::Result<(usize, Option<u64>)> {
    Err(io::ErrorKind::Unsupported.into())
}

pub fn handover(_socket: &Socket) -> io::Result<Option<Handover>> {
    Err(io::ErrorKind::Unsupported.into())
}
