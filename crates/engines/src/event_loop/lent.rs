//! What a worker receives into and sends from, where a thread runs many of them: each has it for its turn. What is to outlive a turn
//! lies elsewhere: what was left unread, with its lane.

use std::mem::swap;

use pathscope_flow::{Machine, Transport};

use super::room::Room;
use super::{DATAGRAM_BYTES, EventLoop, SCRATCH_BYTES};
use crate::SystemCalls;

/// Memory for one turn.
#[derive(Debug)]
pub(crate) struct Lent {
    received: Room,
    datagrams: Box<[u8]>,
    scratch: Box<[u8]>,
}

/// How much of it workers need: those that need as much can have the same.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) struct LentSize {
    room_bytes: usize,
    transport: Transport,
}

impl Lent {
    /// So much.
    pub fn new(size: LentSize) -> Self {
        let datagram_bytes = if size.transport == Transport::Datagram { DATAGRAM_BYTES } else { 0 };
        Self {
            received: Room::new(size.room_bytes),
            datagrams: vec![0; datagram_bytes].into(),
            scratch: vec![0; SCRATCH_BYTES].into(),
        }
    }

    fn nothing() -> Self {
        Self { received: Room::none(), datagrams: Box::default(), scratch: Box::default() }
    }
}

impl<M: Machine, S: SystemCalls> EventLoop<M, S> {
    /// What this worker needs in each turn.
    pub fn lent_size(&self) -> LentSize {
        LentSize { room_bytes: self.medium.room_bytes, transport: self.medium.transport }
    }

    /// Gives up what it has had since it was opened: from now on it has some for each turn.
    pub fn give_up_own(&mut self) {
        self.exchange(&mut Lent::nothing());
    }

    /// A turn begins or ends: this is lent, or given back.
    pub fn exchange(&mut self, lent: &mut Lent) {
        swap(&mut self.received, &mut lent.received);
        swap(&mut self.datagrams, &mut lent.datagrams);
        swap(&mut self.scratch, &mut lent.scratch);
    }
}
