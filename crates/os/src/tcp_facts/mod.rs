//! What the kernel says of one TCP connection.

#[cfg(all(target_os = "linux", not(pathscope_other)))]
mod linux;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
use linux as imp;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
pub(crate) use linux::{INFO_BYTES, STATE_CLOSED, number, option, out_of_order};
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
mod other;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
use other as imp;

use pathscope_core::record::TcpFacts;
use pathscope_core::tcp_look::TcpLook;

use crate::Socket;

/// What the kernel says of this connection; `None` for anything but TCP. What an older kernel does not
/// know is absent.
pub fn tcp_facts(socket: &Socket) -> Option<TcpFacts> {
    imp::tcp_facts(socket)
}

/// How this connection stands now, as one that sends; `None` for anything but TCP, and once it is closed. Whose it is, is left open.
pub fn tcp_look(socket: &Socket) -> Option<TcpLook> {
    imp::tcp_look(socket)
}
