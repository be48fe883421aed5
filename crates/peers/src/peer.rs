//! What a kind of peer is to the rest of the program. Each has a folder that says it for itself; `registry` lists them.

use pathscope_core::Tick;
use pathscope_core::id::Token;

use crate::attach::{AttachDatagrams, AttachStream, Seat};

/// A kind of peer. Never a value: what is one of it has a type of its own.
pub trait Peer {
    /// A TCP connection that asks for its seat.
    type StreamAttaching: AttachStream;
    /// A datagram flow that does, or a lane of one.
    type DatagramAttaching: AttachDatagrams;

    /// A connection for this seat is about to be made; `session` is what the session is called, if it has a name.
    fn attach_stream(seat: Seat, session: Option<Token>) -> Self::StreamAttaching;

    /// A socket for this seat asks from now on; `nonce` is unpredictable and another one for each.
    fn attach_datagrams(
        seat: Seat,
        session: Option<Token>,
        nonce: u64,
        now: Tick,
    ) -> Self::DatagramAttaching;
}
