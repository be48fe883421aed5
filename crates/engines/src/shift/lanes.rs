//! Lanes that join flows and leave them while they run.

use std::sync::Arc;

use pathscope_core::id::Lane;
use pathscope_flow::{Event, Machine};
use pathscope_os::Socket;

use super::{Seat, Shift, Wire, WireState};
use crate::SystemCalls;
use crate::mailbox::LaneChange;

impl<M: Machine, S: SystemCalls> Shift<M, S> {
    /// Has every lane join or leave that waits to.
    pub(super) fn change_lanes(&mut self) {
        while let Some(LaneChange { flow, lane, socket }) = self.inbox.take_lane() {
            let Some(&place) = self.places.get(&flow) else { continue };
            let joins = socket.is_some();
            self.seats[place].change_lane(lane, socket);
            let event = if joins { Event::LaneUp(lane) } else { Event::LaneDown(lane) };
            self.notify(place, event);
        }
    }
}

impl<M: Machine> Seat<M> {
    fn change_lane(&mut self, lane: Lane, socket: Option<Arc<Socket>>) {
        self.roams = true;
        let Some(socket) = socket else {
            if let Some(wire) = self.wires.get_mut(lane.index()) {
                wire.state = WireState::Dead;
                wire.unread.clear();
            }
            return;
        };
        while self.wires.len() < lane.index() {
            // Lanes before it that have not come yet: places, and no more.
            let state = WireState::Dead;
            self.wires.push(Wire { state, ..Wire::new(Arc::clone(&socket)) });
        }
        let wire = Wire::new(socket);
        match self.wires.get_mut(lane.index()) {
            // The old socket is closed where nobody else holds it, and is no longer waited for then.
            Some(old) => *old = wire,
            None => self.wires.push(wire),
        }
    }
}
