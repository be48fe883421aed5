//! Linux: `close_range(2)` with `CLOSE_RANGE_UNSHARE`, and `SCM_RIGHTS` over a pair of sockets.

use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use rustix::cmsg_space;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
    sockopt,
};

use super::{AT_ONCE, Handed, Inside};
use crate::{OsError, Socket, Waker};

/// A few messages are on their way at once: the system counts the sockets of a user that are, and allows no more than a process may have
/// open. No system gives less room than for some four messages.
const SEND_BUFFER_BYTES: usize = 2 << 10;

/// Where the system has no room for more on the way it is tried again after this time, so often. It tells nobody when there is room.
const PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
const PAUSES: u32 = 1_000;

/// Standard input, output and error stay.
const FIRST_CLOSED: RawFd = 3;

/// Has the call leave the table that is shared.
const CLOSE_RANGE_UNSHARE: libc::c_uint = 1 << 1;

/// One end of what sockets are handed over by.
#[derive(Debug)]
pub struct Link(OwnedFd);

/// Where the inner end of a pair is in the table that its thread leaves.
#[derive(Debug)]
pub struct Place(RawFd);

/// Both ends: the outer, and the inner.
pub fn pair() -> Result<(Link, Link), OsError> {
    let failed = OsError::call("open a pair of sockets");
    let flags = SocketFlags::CLOEXEC;
    let (outer, inner) =
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).map_err(failed)?;
    sockopt::set_socket_send_buffer_size(&outer, SEND_BUFFER_BYTES)
        .map_err(OsError::call("set up a pair of sockets"))?;
    Ok((Link(outer), Link(inner)))
}

/// Has the calling thread leave the table that it shares, for one in which nothing is open but this, these wakers, and standard
/// input, output and error.
pub fn leave(link: &Link, wakers: &[Waker]) -> Result<(), OsError> {
    let mut kept: Vec<RawFd> = wakers.iter().map(|waker| waker.as_fd().as_raw_fd()).collect();
    kept.push(link.0.as_raw_fd());
    kept.retain(|&descriptor| descriptor >= FIRST_CLOSED);
    kept.sort_unstable();
    kept.dedup();
    // What lies behind the last one first: the call that leaves the table copies no more of it than is kept.
    let last = kept.last().map_or(FIRST_CLOSED, |last| last + 1);
    close_range(last, RawFd::MAX, CLOSE_RANGE_UNSHARE)?;
    let mut from = FIRST_CLOSED;
    for descriptor in kept {
        if descriptor > from {
            close_range(from, descriptor - 1, 0)?;
        }
        from = descriptor + 1;
    }
    Ok(())
}

fn close_range(first: RawFd, last: RawFd, flags: libc::c_uint) -> Result<(), OsError> {
    // SAFETY: three numbers. The first call gives this thread a table of its own, so that no other loses anything; what this one keeps to
    // use is left out by `leave`, and whatever else it was given by others it must not use, which `Table::start` asks of its callers.
    let status = unsafe { libc::syscall(libc::SYS_close_range, first, last, flags) };
    if status == 0 {
        return Ok(());
    }
    let source = io::Error::last_os_error();
    Err(OsError::Call { what: "give a thread a table of descriptors of its own", source })
}

impl Link {
    /// Where it is in the table of the thread that made it.
    pub fn place(&self) -> Place {
        Place(self.0.as_raw_fd())
    }

    /// Its descriptor is closed by somebody else.
    pub fn forget(self) {
        std::mem::forget(self);
    }

    /// At most [`AT_ONCE`].
    pub fn give(&self, sockets: &[(u32, Socket)]) -> io::Result<()> {
        let descriptors: Vec<_> = sockets.iter().map(|(_, socket)| socket.as_fd()).collect();
        let numbers: Vec<u8> =
            sockets.iter().flat_map(|(number, _)| number.to_ne_bytes()).collect();
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(AT_ONCE))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&descriptors));
        let slices = [IoSlice::new(&numbers)];
        self.send(|link| sendmsg(link, &slices, &mut control, SendFlags::NOSIGNAL))
    }

    pub fn call(&self) -> io::Result<()> {
        self.send(|link| rustix::net::send(link, &[0], SendFlags::NOSIGNAL))
    }

    /// Once the system has room: others take what is on its way to them, or give memory back.
    fn send(&self, mut send: impl FnMut(&OwnedFd) -> rustix::io::Result<usize>) -> io::Result<()> {
        let mut pauses = 0;
        loop {
            match send(&self.0) {
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(Errno::TOOMANYREFS | Errno::NOBUFS | Errno::NOMEM) if pauses < PAUSES => {
                    pauses += 1;
                    // Over at once where the other end is gone, which the next try tells.
                    let _ = poll(&mut [PollFd::new(&self.0, PollFlags::empty())], Some(&PAUSE));
                }
                Err(Errno::TOOMANYREFS) => {
                    return Err(io::Error::other(
                        "more sockets are on their way between threads than this process may have open (ETOOMANYREFS): raise the \
                         limit of open files (ulimit -n) or ask for fewer connections",
                    ));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Adds what has come; nothing where nothing has, and it may not wait.
    pub fn receive(&self, may_wait: bool, into: &mut VecDeque<Handed>) {
        let how = if may_wait { RecvFlags::empty() } else { RecvFlags::DONTWAIT };
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(AT_ONCE))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut numbers = [0; AT_ONCE * size_of::<u32>()];
        let received = loop {
            let mut slices = [IoSliceMut::new(&mut numbers)];
            match recvmsg(&self.0, &mut slices, &mut control, RecvFlags::CMSG_CLOEXEC | how) {
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => return into.push_back(Handed::Over),
                Ok(received) => break received.bytes,
            }
        };
        let (numbers, rest) = numbers[..received].as_chunks();
        if numbers.is_empty() {
            return into.push_back(if rest.is_empty() { Handed::Over } else { Handed::Call });
        }
        let mut descriptors = control.drain().flat_map(|message| match message {
            RecvAncillaryMessage::ScmRights(descriptors) => descriptors.collect::<Vec<_>>(),
            _ => Vec::new(),
        });
        // Where the table has no room for all, the first come.
        into.extend(numbers.iter().map(|&number| {
            let (number, descriptor) = (u32::from_ne_bytes(number), descriptors.next());
            descriptor.map_or(Handed::Lost(number), |it| Handed::Socket(number, it.into()))
        }));
    }
}

/// Readable where something has come.
impl AsFd for Inside {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.link.0.as_fd()
    }
}

impl Place {
    /// Closes it there: on a thread of that table, once its own thread has left it or has ended.
    pub fn close(self) {
        // SAFETY: the descriptor was made by `pair` in this table and never closed in it: the value that owns it has gone to another table,
        // or was forgotten.
        drop(unsafe { OwnedFd::from_raw_fd(self.0) });
    }
}
