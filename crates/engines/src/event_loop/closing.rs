//! How the sockets of a flow are closed, as its machine says: each way once, and never less than before. Not here: when a flow is
//! over, and the closing of sockets whose flows have departed, which is theirs to do who take them.

use pathscope_flow::{Close, Machine, Transport};
use pathscope_os::Socket;

use super::slot::{Medium, Slot};
use super::wire::{InFlight, Wire, WireState, in_kernel};

impl<M: Machine> Slot<M> {
    /// Closes once for each way of closing, and never less than before.
    pub(super) fn close(&mut self, close: Close, medium: Medium) {
        if self.closed.is_some_and(|done| rank(done) >= rank(close)) {
            return;
        }
        let is_stream = medium.transport == Transport::Stream;
        // Of a flow that is over, and makes room for another, sockets are closed at once: that says it as well.
        let departs = medium.closes_departed && self.machine.phase().is_over();
        for wire in self.wires.iter_mut().filter(|wire| wire.state != WireState::Dead) {
            if close == Close::Reset {
                if is_stream {
                    wire.reset(departs, medium);
                }
                wire.state = WireState::Dead;
            } else if self.closed.is_none() && is_stream && !(departs && close == Close::Complete) {
                // A failure means that the connection is gone already, which is what was asked for.
                let _ = wire.socket.as_ref().map(Socket::shutdown_send);
            }
        }
        self.closed = Some(close);
    }
}

impl Wire {
    /// Resets its connection; where it is closed at once, by that: it is one call less, and made once a connection.
    fn reset(&mut self, is_closed_soon: bool, medium: Medium) {
        let Some(socket) = &self.socket else { return };
        self.lost_bytes = lost_bytes(socket, medium);
        // What the kernel has of it is to land, and a socket stays open until it has.
        let is_closed_soon = is_closed_soon && self.in_flight == InFlight::default();
        // A failure means that the connection is gone already, which is what was asked for.
        let _ = if is_closed_soon { socket.reset_when_closed() } else { socket.reset() };
    }
}

/// What was sent on a connection that is broken, and not acknowledged, where somebody is told that: it costs a call.
pub(super) fn lost_bytes(socket: &Socket, medium: Medium) -> u32 {
    let asks = medium.counts_lost;
    in_kernel(asks.then(|| socket.unacknowledged_bytes()).flatten())
}

const fn rank(close: Close) -> u8 {
    match close {
        Close::HalfWrite => 0,
        Close::Graceful => 1,
        Close::Complete => 2,
        Close::Reset => 3,
    }
}
