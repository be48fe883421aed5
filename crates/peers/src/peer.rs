//! What a kind of peer is to the rest of the program. Each has a folder that says it for itself; `registry` lists them.

use pathscope_core::Tick;
use pathscope_core::id::Token;
use pathscope_core::record::Host;

use crate::attach::{AttachDatagrams, AttachStream, Seat};
use crate::dialogue::ClientDialogue;

/// A kind of peer. Never a value: what is one of it has a type of its own.
pub trait Peer {
    /// The port of both transports, unless another is chosen.
    const PORT: u16;

    /// The client's end of a session with one.
    type Client: ClientDialogue;
    /// A TCP connection that asks for its seat.
    type StreamAttaching: AttachStream;
    /// A datagram flow that does, or a lane of one.
    type DatagramAttaching: AttachDatagrams;

    /// A dialogue on a control connection that has just been made; `host` is this end, as far as the peer is told of it. Where
    /// `wants_ends`, it is asked to say of each connection what it came to.
    fn client(host: Host, wants_ends: bool, now: Tick) -> Self::Client;

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
