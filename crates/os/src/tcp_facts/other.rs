//! Any other system: not known.

use pathscope_core::record::TcpFacts;

use crate::Socket;

pub fn tcp_facts(_socket: &Socket) -> Option<TcpFacts> {
    None
}
