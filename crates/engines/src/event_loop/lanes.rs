//! Lanes that join flows and leave them while they run.

use pathscope_core::id::Lane;
use pathscope_flow::{Event, Machine};
use pathscope_os::Socket;

use super::wire::Wires;
use super::{EventLoop, Slot, Wire, WireState};
use crate::SystemCalls;
use crate::inbox::LaneChange;

impl<M: Machine, S: SystemCalls> EventLoop<M, S> {
    /// Has every lane join or leave that waits to.
    pub(super) fn change_lanes(&mut self) {
        while let Some(LaneChange { flow, lane, socket }) = self.inbox.take_lane() {
            let Some(place) = self.places.get(flow) else { continue };
            let joins = socket.is_some();
            if self.flights.count > 0 {
                self.recall_lane(place, lane, joins);
            }
            self.slots[place].change_lane(lane, socket);
            let event = if joins { Event::LaneUp(lane) } else { Event::LaneDown(lane) };
            self.notify(place, event);
        }
    }
}

impl<M: Machine> Slot<M> {
    fn change_lane(&mut self, lane: Lane, socket: Option<Socket>) {
        self.roams = true;
        let Some(socket) = socket else {
            if let Some(wire) = self.wires.get_mut(lane.index()) {
                wire.state = WireState::Dead;
                wire.unread.clear();
            }
            return;
        };
        open(&mut self.wires, lane, socket);
    }
}

fn open(wires: &mut Wires, lane: Lane, socket: Socket) {
    while wires.len() < lane.index() {
        // Lanes before it that have not come yet.
        wires.push(Wire::place());
    }
    match wires.get_mut(lane.index()) {
        // The old socket is closed, and no longer waited for.
        Some(wire) => wire.replaced_by(socket),
        None => wires.push(Wire::new(socket)),
    }
}

#[cfg(test)]
#[cfg(not(pathscope_other))]
mod tests {
    use std::net::UdpSocket;

    use super::*;

    /// A socket that has dropped what it had no room for, and how much that was.
    fn overrun() -> (Socket, u64) {
        let near = UdpSocket::bind(("127.0.0.1", 0)).expect("loopback");
        let far = UdpSocket::bind(("127.0.0.1", 0)).expect("loopback");
        far.connect(near.local_addr().expect("bound")).expect("loopback");
        let socket = Socket::from(near);
        let drops = || u64::from(socket.receive_drops().expect("this kernel tells"));
        while drops() < 3 {
            far.send(&[0; 4_096]).expect("loopback");
        }
        let drops = drops();
        (socket, drops)
    }

    #[test]
    fn what_a_replaced_socket_dropped_stays_with_its_lane() {
        let mut wires = Wires::from_iter([]);
        let mut sums = [0; 3];
        // The second lane comes first, and the first has a place until it comes; the third never had another.
        for lane in [1, 0, 1, 1, 2, 0] {
            let (socket, drops) = overrun();
            sums[usize::from(lane)] += drops;
            open(&mut wires, Lane(lane), socket);
        }
        assert_eq!(wires.iter_mut().map(Wire::all_drops).collect::<Vec<_>>(), sums);
        let mut wires = Wires::from_iter([]);
        let (socket, drops) = overrun();
        open(&mut wires, Lane(2), socket);
        assert_eq!(wires.iter_mut().map(Wire::all_drops).collect::<Vec<_>>(), [0, 0, drops]);
    }
}
