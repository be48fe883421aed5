//! Datagrams of a UDP listener: with whom they came, and to which of this machine's addresses, so that
//! an answer leaves from the address that was called.
//!
//! For the handful that set up a flow. A flow has a connected socket and its engine.

#[cfg(all(target_os = "linux", not(pathscope_other)))]
mod linux;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
use linux as imp;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
pub(crate) use linux::tell_local_address;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
mod other;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
use other as imp;

use std::io;
use std::net::{IpAddr, SocketAddr};

use crate::Socket;

/// A datagram that came to a listener.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Datagram {
    /// Bytes of it that are in the buffer.
    pub len: usize,
    /// Whether it was longer than the buffer.
    pub truncated: bool,
    /// Who sent it.
    pub remote: SocketAddr,
    /// Which of this machine's addresses it was sent to.
    pub local: Option<IpAddr>,
}

/// The next datagram that came to a socket of [`bind_udp`](crate::sockets::bind_udp); `None` where none
/// waits. An error that an earlier answer met on its way counts as none.
pub fn receive(listener: &Socket, buffer: &mut [u8]) -> io::Result<Option<Datagram>> {
    imp::receive(listener, buffer)
}

/// Sends a datagram from the listener's port and, where given, from this one of its addresses.
pub fn send(
    listener: &Socket,
    bytes: &[u8],
    remote: SocketAddr,
    local: Option<IpAddr>,
) -> io::Result<()> {
    imp::send(listener, bytes, remote, local)
}
