//! The sockets of a server's flows of datagrams: each has the address and port of the listener where it was asked for, and hears one other
//! end. Not the listener (`sockets`), nor what flows send.
//!
//! Between the time that such a socket has its port and the time that it is connected, the kernel would give it what strangers send there,
//! who are asking for flows of their own. So the listener and the sockets that wait are one group (`SO_REUSEPORT`), and a filter of the
//! group's gives all that strangers send to its first, the listener. A socket leaves the group as it is connected.
//!
//! Before the kernel lets a socket have a port it looks for others that have it, the newest first, until one is of such a group. So one is
//! always bound before the one before it is connected: of very many each takes no longer to open than the first.

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

use std::net::SocketAddr;

use crate::OsError;
use crate::sockets::{Settings, Socket};

/// Opens them, one after the other. What it has bound ahead is a descriptor of the table of the thread that opened it: another table needs
/// one of its own.
#[derive(Debug, Default)]
pub struct FlowOpener {
    /// Where the listener is bound, where its group has such a filter.
    guarded: Option<SocketAddr>,
    /// Bound, and not connected.
    ahead: Option<Socket>,
}

impl FlowOpener {
    /// Beside this listener, which is [`bind_udp`](crate::sockets::bind_udp)'s. Where the kernel has no such filter, what strangers send
    /// in those microseconds is lost.
    pub fn beside(listener: &Socket) -> Self {
        Self { guarded: imp::guard(listener).ok(), ahead: None }
    }

    /// Another one beside the same listener, for a thread with a table of descriptors of its own.
    #[must_use]
    pub const fn another(&self) -> Self {
        Self { guarded: self.guarded, ahead: None }
    }

    /// A socket at `local`, which is an address of the listener's, that hears `remote` alone. What came from there before stays at the
    /// listener.
    pub fn open(
        &mut self,
        (local, remote): (SocketAddr, SocketAddr),
        settings: &Settings,
    ) -> Result<Socket, OsError> {
        imp::open(self, (local, remote), settings)
    }
}
