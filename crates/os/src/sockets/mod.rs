//! Sockets: opening, connecting, their options and their end. Not the moving of a flow's bytes.
//!
//! Every socket here is closed when a child process starts, and is left in blocking mode: who wants
//! otherwise says so with each call (`MSG_DONTWAIT`). Listeners alone do not block.

#[cfg(all(target_os = "linux", not(pathscope_other)))]
mod linux;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
use linux as imp;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
pub(crate) use linux::{connect_failed, labelled, set_number, to_be_connected, unconnected_tcp};
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
mod other;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
use other as imp;
#[cfg(test)]
#[cfg(not(pathscope_other))]
mod tests;

use std::io;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::record::SocketFacts;

#[cfg(all(target_os = "linux", not(pathscope_other)))]
pub(crate) use imp::{set_common as apply_common, udp as udp_socket};

pub use crate::socket::Socket;
use crate::{OsError, Waker};

/// How a socket is to be set before it is used. The default leaves all to the system, but for Nagle's
/// algorithm, which no measurement wants.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Settings {
    /// This end's address; port 0 lets the system choose.
    pub local: Option<SocketAddr>,
    /// The interface that carries it, whatever the routes say.
    pub interface: Option<String>,
    /// Congestion control by the kernel's name for it. TCP only.
    pub congestion_control: Option<String>,
    /// Send buffer; absent: the system's own, which for TCP adapts itself.
    pub send_buffer_bytes: Option<usize>,
    /// Receive buffer; absent: the system's own, which for TCP adapts itself.
    pub receive_buffer_bytes: Option<usize>,
    /// Differentiated services code point.
    pub dscp: Option<u8>,
    /// Routers that what is sent may pass: IPv4's time to live, IPv6's hop limit.
    pub hops: Option<u8>,
    /// The most that waits unsent in the kernel before the socket takes more. TCP only.
    pub not_sent_low_water_bytes: Option<u32>,
    /// The largest segment, of both directions. TCP only, and only of the end that connects.
    pub segment_bytes: Option<u32>,
    /// After so long without a word the other end is asked whether it is there. TCP only.
    pub keepalive: Option<Duration>,
    /// A connection on which what was sent is not acknowledged for so long is over. TCP only.
    pub user_timeout: Option<Duration>,
    /// Label of IPv6 packets, of 20 bits; absent: the system's choice. Only of the end that connects.
    pub flow_label: Option<u32>,
    /// Nagle's algorithm. TCP only.
    pub nagle: bool,
    /// The most that the kernel sends in a second, spread evenly; absent: no bound of its own. TCP only.
    pub pacing_bytes_per_second: Option<u32>,
}

/// Listens for TCP connections. An IPv6 address takes no IPv4 connections: listen on both.
pub fn listen_tcp(address: SocketAddr, backlog: i32) -> Result<Socket, OsError> {
    imp::listen_tcp(address, backlog)
}

/// The next connection that was made to a listener; `None` where none waits. It does not block, and Nagle's algorithm is off.
pub fn accept_tcp(listener: &Socket) -> Result<Option<(Socket, SocketAddr)>, OsError> {
    imp::accept_tcp(listener)
}

/// Connects, and gives up at `deadline` or as soon as `cancel` is raised.
pub fn connect_tcp(
    address: SocketAddr,
    settings: &Settings,
    deadline: Tick,
    cancel: Option<&Waker>,
) -> Result<Socket, OsError> {
    imp::connect_tcp(address, settings, deadline, cancel)
}

/// Begins to connect, and returns at once a socket that does not block. It is ready to write when it is known
/// what came of it.
pub fn begin_connect_tcp(address: SocketAddr, settings: &Settings) -> Result<Socket, OsError> {
    imp::begin_connect_tcp(address, settings)
}

/// A UDP socket that takes datagrams from anybody, and tells which of this machine's addresses each
/// was sent to. See [`datagrams`](crate::datagrams); beside it there may be sockets of flows ([`flow_sockets`](crate::flow_sockets)).
pub fn bind_udp(address: SocketAddr) -> Result<Socket, OsError> {
    imp::bind_udp(address, true)
}

/// The same, where no flow has a socket of its own: nobody else can have its port as well.
pub fn bind_udp_alone(address: SocketAddr) -> Result<Socket, OsError> {
    imp::bind_udp(address, false)
}

/// A UDP socket that talks with one other end.
pub fn connect_udp(address: SocketAddr, settings: &Settings) -> Result<Socket, OsError> {
    imp::connect_udp(address, settings)
}

/// The congestion controls this kernel has loaded, as it lists them; `None` where it has no list.
pub fn congestion_controls() -> Option<String> {
    imp::congestion_controls()
}

/// Congestion controls that every user of this machine may choose: they are loaded already, and their authors hold them to be
/// fair to others. Whoever has the right to may choose more, and makes the kernel load them.
pub fn unprivileged_congestion_controls() -> Vec<String> {
    imp::unprivileged_congestion_controls()
}

/// Whether this kernel lets this process use a congestion control of this name; tried on a socket of its
/// own. The error names those that are available.
pub fn check_congestion_control(name: &str) -> Result<(), OsError> {
    imp::check_congestion_control(name)
}

impl Socket {
    /// The same connection for the standard library.
    pub fn into_tcp_stream(self) -> TcpStream {
        imp::into_tcp_stream(self.0)
    }

    /// The same socket for the standard library.
    pub fn into_udp_socket(self) -> UdpSocket {
        imp::into_udp_socket(self.0)
    }

    /// The same socket once more, which is open until both are closed: for two threads that each own theirs.
    pub fn try_clone(&self) -> io::Result<Self> {
        imp::try_clone(&self.0).map(Self)
    }

    /// This end's address.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        imp::local_addr(&self.0)
    }

    /// The other end's address.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        imp::peer_addr(&self.0)
    }

    /// The interface that it is bound to; `None` where it is bound to none, or the system does not say.
    pub fn interface(&self) -> Option<String> {
        imp::interface(self)
    }

    /// Sets what can be set of a connection that is there.
    pub fn apply(&self, settings: &Settings) -> Result<(), OsError> {
        imp::apply(self, settings)
    }

    /// What the kernel says of its settings.
    pub fn facts(&self) -> SocketFacts {
        imp::facts(self)
    }

    /// Sends at once what the kernel keeps of a stream for lack of a whole segment (`MSG_MORE`): nothing follows it.
    pub fn push(&self) -> Result<(), OsError> {
        imp::push(&self.0)
    }

    /// Switches Nagle's algorithm off or on.
    pub fn set_nodelay(&self, nodelay: bool) -> Result<(), OsError> {
        imp::set_nodelay(&self.0, nodelay)
    }

    /// Sets the congestion control; the error names those that are available.
    pub fn set_congestion_control(&self, name: &str) -> Result<(), OsError> {
        imp::set_congestion_control(&self.0, name)
    }

    /// The congestion control in use.
    pub fn congestion_control(&self) -> Option<String> {
        imp::congestion_control(&self.0)
    }

    /// Room for bytes that wait to be sent, as it is now. Linux counts its own overhead in.
    pub fn send_buffer_bytes(&self) -> Option<usize> {
        imp::send_buffer_bytes(&self.0)
    }

    /// Room for bytes that wait to be received, as it is now. Linux counts its own overhead in.
    pub fn receive_buffer_bytes(&self) -> Option<usize> {
        imp::receive_buffer_bytes(&self.0)
    }

    /// Makes room for as many bytes that wait to be received, as far as the system grants that; beyond its usual
    /// limit where this process may. What was granted is told by [`receive_buffer_bytes`](Self::receive_buffer_bytes).
    pub fn enlarge_receive_buffer(&self, bytes: usize) -> Result<(), OsError> {
        imp::enlarge_receive_buffer(&self.0, bytes)
    }

    /// Datagrams dropped for want of room in this socket, ever, modulo 2^32.
    pub fn receive_drops(&self) -> Option<u32> {
        imp::receive_drops(&self.0)
    }

    /// Bytes of a TCP stream that have come and were not received yet, those among them that wait for others before them. No
    /// fewer than there are; where some came out of order on this connection, as many as the kernel charges for, which is
    /// more. Of a socket of datagrams what the kernel charges for those that wait, which is more as well, and 0 where none does.
    /// `None` where it does not say.
    pub fn held_bytes(&self) -> Option<u64> {
        imp::held_bytes(&self.0)
    }

    /// Bytes of a TCP stream that a receive would bring now; those that wait for others before them are not among them. Of a socket of
    /// datagrams the length of the next. `None` where the system does not say.
    pub fn ready_bytes(&self) -> Option<u64> {
        imp::ready_bytes(&self.0)
    }

    /// Bytes of a TCP stream that were handed to the kernel and have not been acknowledged, whether they left or not; the end of the
    /// stream counts as one. `None` where it does not say.
    pub fn unacknowledged_bytes(&self) -> Option<u64> {
        imp::unacknowledged_bytes(&self.0)
    }

    /// How long a blocking receive waits; `None`: for ever.
    pub fn set_receive_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        imp::set_receive_timeout(&self.0, timeout)
    }

    /// How long a blocking send waits; `None`: for ever.
    pub fn set_send_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        imp::set_send_timeout(&self.0, timeout)
    }

    /// Says to the other end that nothing more will be sent.
    pub fn shutdown_send(&self) -> io::Result<()> {
        imp::shutdown_send(&self.0)
    }

    /// Of a listener: a connection is there to be accepted once its client has said something, or after a second or two. Until then
    /// the kernel has it, in the queue of those that are not there yet, where it costs no descriptor. A matter of room alone.
    pub fn await_first_words(&self) -> io::Result<()> {
        imp::await_first_words(&self.0)
    }

    /// Ends a connection at once with a reset, though the socket stays open: no `TIME_WAIT`, and what
    /// was not sent yet is thrown away.
    pub fn reset(&self) -> io::Result<()> {
        imp::reset(&self.0)
    }

    /// Has closing the socket end its connection with a reset. For one that is closed at once: a call less than
    /// [`reset`](Self::reset).
    pub fn reset_when_closed(&self) -> io::Result<()> {
        imp::reset_when_closed(&self.0)
    }
}
