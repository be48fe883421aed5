//! What our own protocol is as a kind of peer.

use pathscope_core::Tick;
use pathscope_core::id::Token;

use super::{Attaching, StreamAttaching};
use crate::attach::Seat;
use crate::peer::Peer;

/// pathscope itself.
#[derive(Debug)]
pub enum Native {}

impl Peer for Native {
    type StreamAttaching = StreamAttaching;
    type DatagramAttaching = Attaching;

    fn attach_stream(seat: Seat, session: Option<Token>) -> StreamAttaching {
        StreamAttaching::new(seat, session)
    }

    fn attach_datagrams(seat: Seat, session: Option<Token>, nonce: u64, now: Tick) -> Attaching {
        Attaching::new(seat, session, nonce, now)
    }
}
