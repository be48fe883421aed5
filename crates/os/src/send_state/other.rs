//! Any other system: not known.

use pathscope_core::sending::SendState;

use crate::Socket;

pub fn send_state(_socket: &Socket) -> Option<SendState> {
    None
}
