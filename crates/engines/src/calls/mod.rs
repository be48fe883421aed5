//! The system calls that engines make, as a trait: zero-cost for the kernel, and a place where tests
//! make each call short, interrupted or failing.

#[cfg(all(target_os = "linux", not(pathscope_other)))]
mod linux;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
use linux as imp;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
pub(crate) use linux::timespec;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
mod other;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
use other as imp;

use std::io::{self, IoSlice};
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_os::batches::{self, Arrived, MOST};
use pathscope_os::stamps::{self, Handover};
use pathscope_os::{Socket, Waker, clock};

/// What an engine asks of the system while flows run: the kernel's own answers, but for those that an implementation
/// gives itself.
pub trait SystemCalls {
    /// Whether the calls that move bytes are the kernel's own. An engine that hands operations to the kernel makes none of them then; else it
    /// asks this for each.
    const IS_KERNEL: bool = false;

    /// The monotonic clock.
    #[inline]
    fn now(&mut self) -> Tick {
        clock::now()
    }

    /// Sends slices of a stream; returns how many bytes the kernel took.
    #[inline]
    fn send(
        &mut self,
        socket: &Socket,
        slices: &[IoSlice<'_>],
        blocking: Blocking,
    ) -> Result<usize, Trouble> {
        imp::send(socket, slices, blocking)
    }

    /// The same, where more follows at once: the kernel may keep what fills no segment until then. Whoever gives answers of its own to
    /// [`send`](Self::send) gives them here as well.
    #[inline]
    fn send_more(
        &mut self,
        socket: &Socket,
        slices: &[IoSlice<'_>],
        blocking: Blocking,
    ) -> Result<usize, Trouble> {
        if Self::IS_KERNEL {
            imp::send_more(socket, slices, blocking)
        } else {
            self.send(socket, slices, blocking)
        }
    }

    /// Has the kernel send what it keeps of a stream: nothing follows.
    fn push(&mut self, socket: &Socket) {
        // Where that fails the connection is broken, which the next call on it says.
        let _ = socket.push();
    }

    /// Sends datagrams of `stride` bytes, the last one perhaps shorter, on a connected socket; returns
    /// how many of them the kernel took.
    #[inline]
    fn send_datagrams(
        &mut self,
        socket: &Socket,
        bytes: &[u8],
        stride: usize,
        blocking: Blocking,
    ) -> Result<usize, Trouble> {
        imp::send_datagrams(socket, bytes, stride, blocking)
    }

    /// Receives into `room`: of a stream what is there, or one datagram.
    #[inline]
    fn receive(
        &mut self,
        socket: &Socket,
        room: &mut [u8],
        blocking: Blocking,
    ) -> Result<usize, Trouble> {
        imp::receive(socket, room, blocking)
    }

    /// Has the kernel stamp the datagrams of a socket; those that leave are numbered from 0.
    fn stamp(&mut self, socket: &Socket) -> Result<(), Trouble> {
        Ok(stamps::enable(socket)?)
    }

    /// Numbers those that leave from 0 again.
    fn stamp_again(&mut self, socket: &Socket) -> Result<(), Trouble> {
        Ok(stamps::restart(socket)?)
    }

    /// Receives one datagram, and when the kernel got it, by the wall clock.
    #[inline]
    fn receive_stamped(
        &mut self,
        socket: &Socket,
        room: &mut [u8],
        blocking: Blocking,
    ) -> Result<(usize, Option<u64>), Trouble> {
        Ok(stamps::receive(socket, room, blocking == Blocking::UntilTimeout)?)
    }

    /// The next word of a stamped datagram that was handed to the device.
    #[inline]
    fn handover(&mut self, socket: &Socket) -> Result<Option<Handover>, Trouble> {
        Ok(stamps::handover(socket)?)
    }

    /// From now on what is sent with one call on this socket leaves as datagrams of so many bytes.
    fn cut(&mut self, socket: &Socket, stride: usize) -> Result<(), Trouble> {
        Ok(batches::cut(socket, stride)?)
    }

    /// Sends datagrams with one call, as [`cut`](Self::cut) had it: all of them or none.
    #[inline]
    fn send_cut(
        &mut self,
        socket: &Socket,
        bytes: &[u8],
        blocking: Blocking,
    ) -> Result<(), Trouble> {
        imp::send(socket, &[IoSlice::new(bytes)], blocking).map(drop)
    }

    /// From now on datagrams that come together may be received as one on this socket.
    fn join(&mut self, socket: &Socket) -> Result<(), Trouble> {
        Ok(batches::join(socket)?)
    }

    /// Receives datagrams into strides of so many bytes of `room`; returns how many strides are filled.
    #[inline]
    fn receive_datagrams(
        &mut self,
        socket: &Socket,
        (room, stride_bytes): (&mut [u8], usize),
        arrived: &mut [Arrived; MOST],
        blocking: Blocking,
    ) -> Result<usize, Trouble> {
        let waits = blocking == Blocking::UntilTimeout;
        Ok(batches::receive(socket, room, stride_bytes, arrived, waits)?)
    }

    /// Makes a call that waits for sockets, for so long; `None`: until one is ready.
    #[inline]
    fn wait<R>(
        &mut self,
        timeout: Option<Duration>,
        call: impl FnOnce(Option<Duration>) -> Result<R, Trouble>,
    ) -> Result<R, Trouble> {
        call(timeout)
    }
}

/// Whether a call may sleep in the kernel.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Blocking {
    /// It returns at once.
    Never,
    /// It sleeps for as long as the socket's timeout lets it.
    UntilTimeout,
}

/// Why a call moved nothing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Trouble {
    /// Nothing can move now.
    Blocked,
    /// A signal came; the call may be made again.
    Interrupted,
    /// The system's error number.
    Failed(i32),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::WouldBlock => Self::Blocked,
            io::ErrorKind::Interrupted => Self::Interrupted,
            _ => Self::Failed(error.raw_os_error().unwrap_or(0)),
        }
    }
}

/// The kernel itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Kernel;

impl SystemCalls for Kernel {
    const IS_KERNEL: bool = true;
}

/// A socket to wait for, and what came of it.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(pathscope_other, expect(dead_code, reason = "nothing is polled there"))]
pub(crate) struct Watch<'socket> {
    pub socket: &'socket Socket,
    pub readable: bool,
    pub writable: bool,
}

/// Whether a wait ended because the waker was raised.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Called {
    /// It ended for another reason.
    No,
    /// There is word.
    Yes,
}

/// Waits until one of the sockets is what is asked of it, the waker is raised, or the time is up; says
/// of each socket in its place what it is. To the nanosecond, as far as the kernel's timers go.
pub(crate) fn poll(
    watches: &mut [Watch<'_>],
    waker: &Waker,
    timeout: Option<Duration>,
) -> Result<Called, Trouble> {
    imp::poll(watches, waker, timeout)
}
