//! Any other system: no socket can be opened, so no call is ever made.

use std::io::IoSlice;
use std::time::Duration;

use pathscope_os::{Socket, Waker};

use super::{Blocking, Called, Trouble, Watch};

/// `ENOSYS`, by whatever number a system has for it.
const UNSUPPORTED: Trouble = Trouble::Failed(0);

pub fn send(
    _socket: &Socket,
    _slices: &[IoSlice<'_>],
    _blocking: Blocking,
) -> Result<usize, Trouble> {
    Err(UNSUPPORTED)
}

pub fn send_more(
    _socket: &Socket,
    _slices: &[IoSlice<'_>],
    _blocking: Blocking,
) -> Result<usize, Trouble> {
    Err(UNSUPPORTED)
}

pub fn send_datagrams(
    _socket: &Socket,
    _bytes: &[u8],
    _stride: usize,
    _blocking: Blocking,
) -> Result<usize, Trouble> {
    Err(UNSUPPORTED)
}

pub fn receive(_socket: &Socket, _room: &mut [u8], _blocking: Blocking) -> Result<usize, Trouble> {
    Err(UNSUPPORTED)
}

pub fn poll(
    _watches: &mut [Watch<'_>],
    _waker: &Waker,
    _timeout: Option<Duration>,
) -> Result<Called, Trouble> {
    Err(UNSUPPORTED)
}
