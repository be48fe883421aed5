//! Many datagrams of a flow at once: cut by the kernel or the interface on their way out, joined on their way in, or
//! several with one call. And what a path takes of them.
//!
//! Not when to do which, and not what to do where it is refused: that is an engine's.

#[cfg(all(target_os = "linux", not(pathscope_other)))]
mod linux;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
use linux as imp;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
mod other;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
use other as imp;

use std::io;

use crate::Socket;

/// The most that one call brings.
pub const MOST: usize = 32;

/// Datagrams that came as one, to the begin of their slot: one, or several that the kernel joined.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Arrived {
    /// Bytes of all of them.
    pub len: usize,
    /// Length of each but for a shorter last one.
    pub stride: usize,
}

/// From now on what is sent with one call leaves as datagrams of so many bytes, the last one perhaps shorter
/// (`UDP_SEGMENT`); zero: each call one datagram.
pub fn cut(socket: &Socket, bytes: usize) -> io::Result<()> {
    imp::cut(socket, bytes)
}

/// From now on datagrams of one length that come together may be received as one (`UDP_GRO`). They are to be taken by
/// [`receive`], which tells their length.
pub fn join(socket: &Socket) -> io::Result<()> {
    imp::join(socket)
}

/// Datagrams that are longer than the path takes whole are refused and not cut in pieces.
pub fn keep_whole(socket: &Socket) -> io::Result<()> {
    imp::keep_whole(socket)
}

/// The longest payload that the path to a connected socket's other end is known to take whole.
pub fn longest_payload(socket: &Socket) -> Option<u32> {
    imp::longest_payload(socket)
}

/// Receives what is there, each to the begin of a slot of so many bytes in `room`, longer ones cut; says how many slots
/// are filled, and with what. With `waits` it sleeps for the first one as the socket's timeout has it.
pub fn receive(
    socket: &Socket,
    room: &mut [u8],
    slot_bytes: usize,
    arrived: &mut [Arrived; MOST],
    waits: bool,
) -> io::Result<usize> {
    imp::receive(socket, room, slot_bytes, arrived, waits)
}
