//! Any other system: there is no datagram socket.

use std::io;

use super::{Arrived, MOST};
use crate::Socket;

pub fn cut(_socket: &Socket, _bytes: usize) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub fn join(_socket: &Socket) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub fn keep_whole(_socket: &Socket) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub fn longest_payload(_socket: &Socket) -> Option<u32> {
    None
}

pub fn receive(
    _socket: &Socket,
    _room: &mut [u8],
    _slot_bytes: usize,
    _arrived: &mut [Arrived; MOST],
    _waits: bool,
) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}
