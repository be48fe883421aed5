//! What our own protocol is as a kind of peer.

use pathscope_core::Tick;
use pathscope_core::id::Token;
use pathscope_core::record::Host;

use super::{Attaching, Client, DEFAULT_PORT, StreamAttaching};
use crate::attach::Seat;
use crate::peer::Peer;

/// pathscope itself.
#[derive(Debug)]
pub enum Native {}

impl Peer for Native {
    const PORT: u16 = DEFAULT_PORT;

    type Client = Client;
    type StreamAttaching = StreamAttaching;
    type DatagramAttaching = Attaching;

    fn client(host: Host, wants_ends: bool, now: Tick) -> Client {
        Client::asking(host, wants_ends, now)
    }

    fn attach_stream(seat: Seat, session: Option<Token>) -> StreamAttaching {
        StreamAttaching::new(seat, session)
    }

    fn attach_datagrams(seat: Seat, session: Option<Token>, nonce: u64, now: Tick) -> Attaching {
        Attaching::new(seat, session, nonce, now)
    }
}
