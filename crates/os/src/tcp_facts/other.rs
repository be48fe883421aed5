//! Any other system: not known.

use pathscope_core::record::TcpFacts;
use pathscope_core::tcp_look::TcpLook;

use crate::Socket;

pub fn tcp_facts(_socket: &Socket) -> Option<TcpFacts> {
    None
}

pub fn tcp_look(_socket: &Socket) -> Option<TcpLook> {
    None
}
