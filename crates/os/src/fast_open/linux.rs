//! Linux: `TCP_FASTOPEN` and `TCP_FASTOPEN_CONNECT` (since 4.11), `TCP_INFO`, and what `net.ipv4.tcp_fastopen` says.

use std::net::{Ipv4Addr, SocketAddr};
use std::{fs, io};

use rustix::io::Errno;

use crate::sockets::{
    Settings, connect_failed, labelled, set_number, to_be_connected, unconnected_tcp,
};
use crate::{OsError, Socket, tcp_facts};

/// Of `net.ipv4.tcp_fastopen`: listeners that ask for it are given what comes with a SYN.
const SERVES: u32 = 2;

/// `tcpi_options`, and the bit in it of data that was acknowledged with the SYN.
const OPTIONS: usize = 5;
const SYN_DATA: u8 = 32;

pub fn check() -> Result<(), OsError> {
    ask(&unconnected_tcp(SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)))?)
}

pub fn begin_connect_tcp(
    address: SocketAddr,
    settings: &Settings,
) -> Result<(Socket, bool), OsError> {
    let socket = to_be_connected(address, settings)?;
    ask(&socket)?;
    match rustix::net::connect(&socket, &labelled(address, settings)) {
        // A socket that does not block is never connected by then: its SYN waits for what is said.
        Ok(()) => Ok((socket, true)),
        Err(Errno::INPROGRESS | Errno::INTR) => Ok((socket, false)),
        Err(errno) => Err(connect_failed(address)(errno.into())),
    }
}

/// Has what is said first go with a socket's SYN, once the kernel has a cookie of the other end's; before that it asks for one.
fn ask(socket: &Socket) -> Result<(), OsError> {
    let set = set_number(&socket.0, libc::IPPROTO_TCP, libc::TCP_FASTOPEN_CONNECT, 1);
    set.map_err(|source| OsError::Refused {
        what: "send data with a SYN (TCP Fast Open)",
        takes: "bit 1 of net.ipv4.tcp_fastopen at the client",
        remedy: "set it there, and bit 2 at the server (sysctl -w net.ipv4.tcp_fastopen=3 sets both), or leave --fast-open out",
        source,
    })
}

pub fn is_served() -> Option<bool> {
    let said = fs::read_to_string("/proc/sys/net/ipv4/tcp_fastopen").ok()?;
    Some(said.trim().parse::<u32>().ok()? & SERVES != 0)
}

pub fn serve(listener: &Socket, most: i32) -> io::Result<()> {
    set_number(&listener.0, libc::IPPROTO_TCP, libc::TCP_FASTOPEN, most)
}

pub fn was_taken(socket: &Socket) -> Option<bool> {
    let mut info = [0_u8; OPTIONS + 1];
    let filled = tcp_facts::option(socket, libc::IPPROTO_TCP, libc::TCP_INFO, &mut info)?;
    (filled > OPTIONS).then_some(info[OPTIONS] & SYN_DATA != 0)
}
