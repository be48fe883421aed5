//! TCP Fast Open (RFC 7413): what a client says first goes with its SYN. What the system allows, what a listener takes, and
//! whether it happened. Other connections are `sockets`'.
//!
//! The kernel decides of each connection: a client that has no cookie of the server's yet asks for one, and connects as ever.

#[cfg(all(target_os = "linux", not(pathscope_other)))]
mod linux;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
use linux as imp;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
mod other;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
use other as imp;
#[cfg(test)]
#[cfg(not(pathscope_other))]
mod tests;

use std::io;
use std::net::SocketAddr;

#[cfg(doc)]
use crate::sockets;
use crate::sockets::Settings;
use crate::{OsError, Socket};

/// Whether this kernel lets connections of this end ask for it; tried on a socket of its own. The error has the remedy.
pub fn check() -> Result<(), OsError> {
    imp::check()
}

/// Begins to connect as [`sockets::begin_connect_tcp`] does: the socket, and whether its SYN waits for what is said first, to bear it.
/// Else it is on its way, and asks for what the next one needs for that.
pub fn begin_connect_tcp(
    address: SocketAddr,
    settings: &Settings,
) -> Result<(Socket, bool), OsError> {
    imp::begin_connect_tcp(address, settings)
}

/// Whether this kernel gives what came with a SYN to listeners that ask for that; `None`: not known.
pub fn is_served() -> Option<bool> {
    imp::is_served()
}

/// Has a listener take what comes with a SYN, of so many connections at the most whose clients have not confirmed yet that they are
/// there. Without effect where the system does not allow it ([`is_served`]), and for clients that do not ask for it.
pub fn serve(listener: &Socket, most: i32) -> io::Result<()> {
    imp::serve(listener, most)
}

/// Whether what this end of a connection said with its SYN was acknowledged with that; `None` where the system does not say.
pub fn was_taken(socket: &Socket) -> Option<bool> {
    imp::was_taken(socket)
}
