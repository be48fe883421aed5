//! Any other system: no socket can be opened, so none exists.

use std::io;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::record::SocketFacts;

use super::Settings;
use crate::socket::{Handle, Socket};
use crate::{OsError, Waker};

const UNSUPPORTED: OsError =
    OsError::Unsupported { what: "opening a socket", why: "only Linux so far" };

pub fn listen_tcp(_address: SocketAddr, _backlog: i32) -> Result<Socket, OsError> {
    Err(UNSUPPORTED)
}

pub fn accept_tcp(listener: &Socket) -> Result<Option<(Socket, SocketAddr)>, OsError> {
    match listener.0 {}
}

pub fn connect_tcp(
    _address: SocketAddr,
    _settings: &Settings,
    _deadline: Tick,
    _cancel: Option<&Waker>,
) -> Result<Socket, OsError> {
    Err(UNSUPPORTED)
}

pub fn begin_connect_tcp(_address: SocketAddr, _settings: &Settings) -> Result<Socket, OsError> {
    Err(UNSUPPORTED)
}

pub fn bind_udp(_address: SocketAddr, _is_shared: bool) -> Result<Socket, OsError> {
    Err(UNSUPPORTED)
}

pub fn connect_udp(_address: SocketAddr, _settings: &Settings) -> Result<Socket, OsError> {
    Err(UNSUPPORTED)
}

pub fn check_congestion_control(_name: &str) -> Result<(), OsError> {
    Err(UNSUPPORTED)
}

pub fn congestion_controls() -> Option<String> {
    None
}

pub fn unprivileged_congestion_controls() -> Vec<String> {
    Vec::new()
}

pub fn into_tcp_stream(handle: Handle) -> TcpStream {
    match handle {}
}

pub fn into_udp_socket(handle: Handle) -> UdpSocket {
    match handle {}
}

pub fn try_clone(handle: &Handle) -> io::Result<Handle> {
    match *handle {}
}

pub fn local_addr(handle: &Handle) -> io::Result<SocketAddr> {
    match *handle {}
}

pub fn peer_addr(handle: &Handle) -> io::Result<SocketAddr> {
    match *handle {}
}

pub fn interface(socket: &Socket) -> Option<String> {
    match socket.0 {}
}

pub fn apply(socket: &Socket, _settings: &Settings) -> Result<(), OsError> {
    match socket.0 {}
}

pub fn facts(socket: &Socket) -> SocketFacts {
    match socket.0 {}
}

pub fn push(handle: &Handle) -> Result<(), OsError> {
    match *handle {}
}

pub fn set_nodelay(handle: &Handle, _nodelay: bool) -> Result<(), OsError> {
    match *handle {}
}

pub fn set_congestion_control(handle: &Handle, _name: &str) -> Result<(), OsError> {
    match *handle {}
}

pub fn congestion_control(handle: &Handle) -> Option<String> {
    match *handle {}
}

pub fn send_buffer_bytes(handle: &Handle) -> Option<usize> {
    match *handle {}
}

pub fn receive_buffer_bytes(handle: &Handle) -> Option<usize> {
    match *handle {}
}

pub fn enlarge_receive_buffer(handle: &Handle, _bytes: usize) -> Result<(), OsError> {
    match *handle {}
}

pub fn receive_drops(handle: &Handle) -> Option<u32> {
    match *handle {}
}

pub fn held_bytes(handle: &Handle) -> Option<u64> {
    match *handle {}
}

pub fn ready_bytes(handle: &Handle) -> Option<u64> {
    match *handle {}
}

pub fn await_first_words(handle: &Handle) -> io::Result<()> {
    match *handle {}
}

pub fn unacknowledged_bytes(handle: &Handle) -> Option<u64> {
    match *handle {}
}

pub fn set_receive_timeout(handle: &Handle, _timeout: Option<Duration>) -> io::Result<()> {
    match *handle {}
}

pub fn set_send_timeout(handle: &Handle, _timeout: Option<Duration>) -> io::Result<()> {
    match *handle {}
}

pub fn shutdown_send(handle: &Handle) -> io::Result<()> {
    match *handle {}
}

pub fn reset(handle: &Handle) -> io::Result<()> {
    match *handle {}
}

pub fn reset_when_closed(handle: &Handle) -> io::Result<()> {
    match *handle {}
}
