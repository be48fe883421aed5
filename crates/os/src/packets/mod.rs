//! Whole frames of one interface, with their headers, by packet sockets: taken and sent in batches, each
//! with the kernel's own stamp of its arrival. See packet(7).
//!
//! For a program that stands between the ends of a link. A frame is a copy: the kernel handles it as
//! well, unless nothing of it listens on that interface. A VLAN tag is not part of a frame as taken,
//! since the kernel takes it off before.
//!
//! Not here: what a frame means.

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

use pathscope_core::Tick;

use crate::OsError;

/// Frames that are taken or sent by one call of the kernel, at most.
pub const MOST_AT_ONCE: usize = 64;

/// Which frames a socket takes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Scope {
    /// Those that come in. Not what the socket itself sends.
    Incoming,
    /// Those that go out, too, as they are when the interface gets them.
    Both,
}

/// A packet socket of one interface. Never blocks; a poller can wait for it.
#[derive(Debug)]
pub struct PacketSocket(imp::PacketSocket);

impl PacketSocket {
    /// Listens on the interface of this index in the calling thread's network, for frames of all
    /// protocols. Wants `buffer` bytes for frames that wait, counted as the kernel does
    /// with its own overhead of some 1 KiB a frame; what it got, [`buffer`](Self::buffer) tells.
    pub fn open(interface: u32, scope: Scope, buffer: usize) -> Result<Self, OsError> {
        imp::PacketSocket::open(interface, scope, buffer).map(Self)
    }

    /// Bytes the kernel keeps for frames that wait. Without root of the machine no more than twice
    /// `net.core.rmem_max`.
    pub fn buffer(&self) -> usize {
        self.0.buffer()
    }

    /// Takes the frames that wait, [`MOST_AT_ONCE`] and the batch's room at most, in the place of those
    /// that the batch held. Returns how many. That the interface went down is no error: nothing comes.
    pub fn receive(&self, batch: &mut Batch) -> io::Result<usize> {
        batch.taken.clear();
        self.0.receive(batch)
    }

    /// Sends frames, the first [`MOST_AT_ONCE`] at most, past the interface's queueing discipline.
    /// Returns how many the kernel took: none where it has no room, or where there are none. An error
    /// is the first frame's: `ENETDOWN` where the interface is down, `EMSGSIZE` where the frame is
    /// longer than it takes.
    pub fn send(&self, frames: &[&[u8]]) -> io::Result<usize> {
        if frames.is_empty() {
            Ok(0)
        } else {
            self.0.send(&frames[..frames.len().min(MOST_AT_ONCE)])
        }
    }

    /// Frames that the kernel dropped because too many waited, since the socket was opened.
    pub fn dropped(&self) -> io::Result<u64> {
        self.0.dropped()
    }
}

/// Room for frames, used again and again.
#[derive(Debug)]
pub struct Batch {
    room: Vec<u8>,
    frame_room: usize,
    taken: Vec<Taken>,
}

/// What the kernel said of one frame.
#[derive(Clone, Copy, Debug)]
struct Taken {
    /// Its bytes on the wire, which may be more than fit.
    len: usize,
    arrival: Tick,
    stamp_unix_ns: Option<u64>,
}

/// A frame that came in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Frame<'batch> {
    /// From the destination's address to the last byte of the payload; no preamble, no check sequence.
    pub bytes: &'batch [u8],
    /// Bytes it had on the wire; more than `bytes` holds where the room did not suffice.
    pub len: usize,
    /// When the kernel took it from the device.
    pub arrival: Tick,
    /// The same by the wall clock, as the kernel stamped it: of two of these the difference is exact. Absent where there is no
    /// stamp.
    pub stamp_unix_ns: Option<u64>,
}

impl Frame<'_> {
    /// Whether it was longer than the room for it.
    pub fn is_truncated(&self) -> bool {
        self.len > self.bytes.len()
    }
}

impl Batch {
    /// Room for so many frames of up to so many bytes each; at least one of each.
    pub fn new(frames: usize, frame_bytes: usize) -> Self {
        let frames = frames.clamp(1, MOST_AT_ONCE);
        let frame_room = frame_bytes.max(1);
        let room = vec![0; frames * frame_room];
        Self { room, frame_room, taken: Vec::with_capacity(frames) }
    }

    /// The frames taken last, in order of arrival.
    pub fn frames(&self) -> impl ExactSizeIterator<Item = Frame<'_>> {
        self.room.chunks_exact(self.frame_room).zip(&self.taken).map(|(room, taken)| Frame {
            bytes: &room[..taken.len.min(room.len())],
            len: taken.len,
            arrival: taken.arrival,
            stamp_unix_ns: taken.stamp_unix_ns,
        })
    }
}
