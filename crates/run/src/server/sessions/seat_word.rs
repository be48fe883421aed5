//! What becomes of a connection that asks for its seat, and how it is told that it has it: its worker says so with the first bytes of
//! the flow.

use std::net::TcpStream;

use pathscope_core::Tick;
use pathscope_engines::{Preface, Unheard};

use super::SeatRequest;
use crate::workers::entrances::WayIn;

/// What becomes of a connection that asks for its seat.
#[derive(Debug)]
pub(in crate::server) enum Attached {
    /// It has it, or is gone. Where its flow was left for a worker that is still to be woken, that way.
    Over(Option<WayIn>),
    /// There is no room for it yet.
    Waits(SeatRequest),
    /// It has none, and is to be told this: whoever closes it reads first what it has sent ahead, or the system would reset
    /// it, and the word could be lost.
    Refused { stream: TcpStream, word: Vec<u8> },
}

/// The word for one connection; it awaits nothing.
pub(super) struct SeatWord(pub Vec<u8>);

impl Preface for SeatWord {
    fn says(&self) -> &[u8] {
        &self.0
    }

    fn missing_bytes(&self) -> usize {
        0
    }

    fn until(&self) -> Tick {
        Tick::NEVER
    }

    fn connected(&mut self, _at: Tick) {}

    fn heard(&mut self, _bytes: &[u8]) -> bool {
        true
    }

    fn turned_away(self: Box<Self>, _why: Unheard, _at: Tick) {}
}
