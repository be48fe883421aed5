//! Any other system: no socket can be opened, so no call is ever made.

use std::io::IoSlice;
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_os::batches::{Arrived, MOST};
use pathscope_os::{Socket, Waker, clock};

use super::{Blocking, Called, Kernel, SystemCalls, Trouble, Watch};

/// `ENOSYS`, by whatever number a system has for it.
const UNSUPPORTED: Trouble = Trouble::Failed(0);

impl SystemCalls for Kernel {
    fn now(&mut self) -> Tick {
        clock::now()
    }

    fn send(
        &mut self,
        _socket: &Socket,
        _slices: &[IoSlice<'_>],
        _blocking: Blocking,
    ) -> Result<usize, Trouble> {
        Err(UNSUPPORTED)
    }

    fn send_datagrams(
        &mut self,
        _socket: &Socket,
        _bytes: &[u8],
        _stride: usize,
        _blocking: Blocking,
    ) -> Result<usize, Trouble> {
        Err(UNSUPPORTED)
    }

    fn receive(
        &mut self,
        _socket: &Socket,
        _room: &mut [u8],
        _blocking: Blocking,
    ) -> Result<usize, Trouble> {
        Err(UNSUPPORTED)
    }

    fn cut(&mut self, _socket: &Socket, _stride: usize) -> Result<(), Trouble> {
        Err(UNSUPPORTED)
    }

    fn send_cut(
        &mut self,
        _socket: &Socket,
        _bytes: &[u8],
        _blocking: Blocking,
    ) -> Result<(), Trouble> {
        Err(UNSUPPORTED)
    }

    fn join(&mut self, _socket: &Socket) -> Result<(), Trouble> {
        Err(UNSUPPORTED)
    }

    fn receive_datagrams(
        &mut self,
        _socket: &Socket,
        _room: (&mut [u8], usize),
        _arrived: &mut [Arrived; MOST],
        _blocking: Blocking,
    ) -> Result<usize, Trouble> {
        Err(UNSUPPORTED)
    }
}

pub fn poll(
    _watches: &mut [Watch<'_>],
    _waker: &Waker,
    _timeout: Option<Duration>,
) -> Result<Called, Trouble> {
    Err(UNSUPPORTED)
}
