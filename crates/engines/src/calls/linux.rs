//! Linux: rustix, which makes its system calls without the C library.

use std::io::IoSlice;
use std::time::Duration;

use arrayvec::ArrayVec;
use pathscope_os::{Socket, Waker};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::{MMsgHdr, RecvFlags, SendAncillaryBuffer, SendFlags};

use super::{Blocking, Called, Trouble, Watch};

/// Datagrams that leave with one call at most.
const BATCH: usize = 64;

/// Sockets that can be waited for without an allocation.
const WATCHES_ON_STACK: usize = 16;

impl From<Errno> for Trouble {
    #[inline]
    fn from(errno: Errno) -> Self {
        match errno {
            // A SYN that was to bear what is sent left without it: nothing is sent before it is connected.
            Errno::AGAIN | Errno::INPROGRESS => Self::Blocked,
            Errno::INTR => Self::Interrupted,
            errno => Self::Failed(errno.raw_os_error()),
        }
    }
}

#[inline]
pub fn send(socket: &Socket, slices: &[IoSlice<'_>], blocking: Blocking) -> Result<usize, Trouble> {
    send_with(socket, slices, send_flags(blocking))
}

#[inline]
pub fn send_more(
    socket: &Socket,
    slices: &[IoSlice<'_>],
    blocking: Blocking,
) -> Result<usize, Trouble> {
    send_with(socket, slices, send_flags(blocking) | SendFlags::MORE)
}

#[inline]
fn send_with(socket: &Socket, slices: &[IoSlice<'_>], flags: SendFlags) -> Result<usize, Trouble> {
    let sent = match slices {
        [slice] => rustix::net::send(socket, slice, flags),
        slices => rustix::net::sendmsg(socket, slices, &mut SendAncillaryBuffer::default(), flags),
    };
    Ok(sent?)
}

#[inline]
pub fn send_datagrams(
    socket: &Socket,
    bytes: &[u8],
    stride: usize,
    blocking: Blocking,
) -> Result<usize, Trouble> {
    if bytes.len() > stride {
        return send_batch(socket, bytes, stride, blocking);
    }
    rustix::net::send(socket, bytes, send_flags(blocking))?;
    Ok(1)
}

#[inline]
pub fn receive(socket: &Socket, room: &mut [u8], blocking: Blocking) -> Result<usize, Trouble> {
    let flags = match blocking {
        Blocking::Never => RecvFlags::DONTWAIT,
        Blocking::UntilTimeout => RecvFlags::empty(),
    };
    let (received, _) = rustix::net::recv(socket, room, flags)?;
    Ok(received)
}

fn send_flags(blocking: Blocking) -> SendFlags {
    match blocking {
        Blocking::Never => SendFlags::NOSIGNAL | SendFlags::DONTWAIT,
        Blocking::UntilTimeout => SendFlags::NOSIGNAL,
    }
}

fn send_batch(
    socket: &Socket,
    bytes: &[u8],
    stride: usize,
    blocking: Blocking,
) -> Result<usize, Trouble> {
    let slices: ArrayVec<[IoSlice<'_>; 1], BATCH> =
        bytes.chunks(stride).take(BATCH).map(|datagram| [IoSlice::new(datagram)]).collect();
    let mut controls: [SendAncillaryBuffer<'_, '_, '_>; BATCH] =
        std::array::from_fn(|_| SendAncillaryBuffer::default());
    let mut messages: ArrayVec<MMsgHdr<'_>, BATCH> =
        slices.iter().zip(&mut controls).map(|(slice, none)| MMsgHdr::new(slice, none)).collect();
    Ok(rustix::net::sendmmsg(socket, &mut messages, send_flags(blocking))?)
}

pub fn poll(
    watches: &mut [Watch<'_>],
    waker: &Waker,
    timeout: Option<Duration>,
) -> Result<Called, Trouble> {
    let polled = watches.iter().map(|watch| {
        let mut flags = PollFlags::empty();
        flags.set(PollFlags::IN, watch.readable);
        flags.set(PollFlags::OUT, watch.writable);
        PollFd::new(watch.socket, flags)
    });
    // The waker last, so that the others stand at their watch's place.
    let polled = polled.chain([PollFd::new(waker, PollFlags::IN)]);
    if watches.len() < WATCHES_ON_STACK {
        let mut polled: ArrayVec<PollFd<'_>, WATCHES_ON_STACK> = polled.collect();
        rustix::event::poll(&mut polled, timeout.map(timespec).as_ref())?;
        return Ok(answer(&polled, watches));
    }
    let mut polled: Vec<PollFd<'_>> = polled.collect();
    rustix::event::poll(&mut polled, timeout.map(timespec).as_ref())?;
    Ok(answer(&polled, watches))
}

fn answer(polled: &[PollFd<'_>], watches: &mut [Watch<'_>]) -> Called {
    // An error is found by trying, whichever way was asked for.
    let trouble = PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL;
    for (watch, polled) in watches.iter_mut().zip(polled) {
        let ready = polled.revents();
        watch.readable = ready.intersects(PollFlags::IN | trouble);
        watch.writable = ready.intersects(PollFlags::OUT | trouble);
    }
    let is_called = polled.last().is_some_and(|waker| !waker.revents().is_empty());
    if is_called { Called::Yes } else { Called::No }
}

/// A length of time as the kernel takes it.
pub(crate) fn timespec(duration: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: duration.subsec_nanos().into(),
    }
}
