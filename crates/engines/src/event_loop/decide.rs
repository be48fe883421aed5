//! Deciding: which operation a flow wants next of its sockets. Nothing is asked of the system or of a machine here, and
//! nothing changes.

use pathscope_core::id::Lane;
use pathscope_flow::{Machine, SendWant, Transport};

use super::{Medium, Slot};

/// Something that the system is to do for a flow.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Operation {
    /// Send bytes of a stream, up to `max`, which the machine is asked for.
    SendStream { lane: Lane, max: usize },
    /// Send datagrams, up to `max`, which the machine is asked for.
    SendDatagrams { lane: Lane, stride: usize, max: usize },
    /// Receive. Of a stream the machine is shown `limit` bytes at most, with what was left of before.
    Receive { lane: Lane, limit: usize },
    /// Receive several datagrams.
    ReceiveSeveral { lane: Lane },
    /// Receive for nobody.
    Discard { lane: Lane },
    /// Show what was left of before, at most `limit` bytes. It needs no call.
    ShowRest { lane: Lane, limit: usize },
}

impl<M: Machine> Slot<M> {
    /// What to send, where the socket may take it.
    #[inline]
    pub fn next_send(&self) -> Option<Operation> {
        let (lane, want) = self.offer()?;
        if !self.wires[lane.index()].writable {
            return None;
        }
        match want {
            SendWant::Stream { max } => Some(Operation::SendStream { lane, max }),
            SendWant::Datagrams { stride, max } => {
                Some(Operation::SendDatagrams { lane, stride, max })
            }
            SendWant::Nothing => None,
        }
    }

    /// How to receive on a lane, where its socket may bring something or something was left.
    #[inline]
    pub fn next_receive(&self, lane: Lane, medium: Medium) -> Option<Operation> {
        let wire = &self.wires[lane.index()];
        let has_more = wire.readable && wire.is_open_to_receive();
        let has_rest = !wire.unread.is_empty();
        match self.appetite() {
            None if has_more && self.discards() => Some(Operation::Discard { lane }),
            Some(limit) if has_rest && !wire.starved => Some(Operation::ShowRest { lane, limit }),
            // Datagrams are not joined: the next has to wait until this one is consumed.
            Some(_) if has_rest && medium.transport == Transport::Datagram => None,
            Some(_) if has_more && wire.batching().is_some() => {
                Some(Operation::ReceiveSeveral { lane })
            }
            // More than has room could not be shown in one piece.
            Some(limit) if has_more && wire.unread.len() < limit.min(medium.room_bytes) => {
                Some(Operation::Receive { lane, limit })
            }
            _ => None,
        }
    }
}
