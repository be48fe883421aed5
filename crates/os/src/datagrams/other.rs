//! Any other system: there is no listener.

use std::io;
use std::net::{IpAddr, SocketAddr};

use super::Datagram;
use crate::Socket;

pub fn receive(_listener: &Socket, _buffer: &mut [u8]) -> io::Result<Option<Datagram>> {
    Err(io::ErrorKind::Unsupported.into())
}

pub fn send(
    _listener: &Socket,
    _bytes: &[u8],
    _remote: SocketAddr,
    _local: Option<IpAddr>,
) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
