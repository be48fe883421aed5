//! Which sockets of a test are taken: the server's list of who sits where. Its length is bounded by the
//! plan, whatever comes: of flows that replace others, only the last so many numbers are remembered.

use std::collections::HashMap;
use std::net::SocketAddr;

use pathscope_core::id::{FlowId, Lane};
use pathscope_flow::{Group, Transport};

use crate::attach::{Seat, SeatRefusal};
use crate::flow_set::{Added, FlowSet};
use crate::later::Later;

/// The seats of one test at its server.
#[derive(Debug)]
pub struct Seats {
    groups: Vec<Group>,
    /// Those of connections that there are from the start.
    streams: FlowSet,
    /// Who sits where, of datagram flows.
    taken: HashMap<(FlowId, Lane), SocketAddr>,
    /// Who comes from where, of datagram flows that stay there.
    addresses: HashMap<SocketAddr, (FlowId, Lane)>,
    /// Flows that replace others.
    later: Later,
}

impl Seats {
    /// All free.
    pub fn new(groups: Vec<Group>) -> Self {
        let streams = FlowSet::new(&groups);
        let (taken, addresses, later) = (HashMap::new(), HashMap::new(), Later::default());
        Self { groups, streams, taken, addresses, later }
    }

    /// A TCP connection asks for a seat.
    pub fn claim_stream(&mut self, seat: Seat) -> Result<(), SeatRefusal> {
        if !self.has(seat, Transport::Stream) {
            return Err(SeatRefusal::UnknownFlow);
        }
        let is_first = self.groups.iter().any(|group| {
            group.id == seat.group && seat.flow.0.wrapping_sub(group.first.0) < group.flows
        });
        let is_new = if is_first {
            self.streams.add(&self.groups, seat.group, seat.flow) == Added::New
        } else {
            self.later.take(seat.flow)
        };
        if is_new { Ok(()) } else { Err(SeatRefusal::Taken) }
    }

    /// A proven address asks for a seat. May ask again: its answer was lost.
    pub fn claim_datagram(&mut self, seat: Seat, from: SocketAddr) -> Result<(), SeatRefusal> {
        if !self.has(seat, Transport::Datagram) {
            return Err(SeatRefusal::UnknownFlow);
        }
        let roams = self.groups.iter().any(|group| group.id == seat.group && group.roams);
        let place = (seat.flow, seat.lane);
        // Datagrams are told apart by where they come from, and by nothing else.
        let has_other = !roams && self.addresses.get(&from).is_some_and(|&other| other != place);
        if has_other {
            return Err(SeatRefusal::AddressTaken);
        }
        let sitting = self.taken.entry(place).or_insert(from);
        if roams {
            // It is the same client, at another of its addresses: whose the socket is was looked at before.
            *sitting = from;
        }
        if *sitting != from {
            return Err(SeatRefusal::Taken);
        }
        if !roams {
            self.addresses.insert(from, place);
        }
        Ok(())
    }

    fn has(&self, seat: Seat, transport: Transport) -> bool {
        self.groups.iter().any(|group| {
            group.id == seat.group
                && group.transport == transport
                && group.holds(seat.flow)
                && seat.lane.0 < group.lanes
        })
    }
}

#[cfg(test)]
mod tests {
    use pathscope_core::id::Token;
    use pathscope_flow::GroupId;

    use super::*;

    fn seats() -> Seats {
        let group = |id, transport, first, flows, lanes| Group {
            id: GroupId(id),
            transport,
            first: FlowId(first),
            flows,
            numbers: flows,
            lanes,
            roams: false,
        };
        Seats::new(vec![
            group(0, Transport::Stream, 0, 2, 1),
            group(1, Transport::Datagram, 2, 1, 2),
        ])
    }

    fn seat(group: u8, flow: u32, lane: u8) -> Seat {
        let token = Token([0; 16]);
        Seat { token, group: GroupId(group), flow: FlowId(flow), lane: Lane(lane) }
    }

    #[test]
    fn a_connection_takes_a_seat_once() {
        let mut seats = seats();
        assert_eq!(seats.claim_stream(seat(0, 1, 0)), Ok(()));
        assert_eq!(seats.claim_stream(seat(0, 1, 0)), Err(SeatRefusal::Taken));
        assert_eq!(seats.claim_stream(seat(0, 0, 0)), Ok(()));
    }

    #[test]
    fn a_flow_that_replaces_another_takes_its_seat_once() {
        let mut seats = seats();
        seats.groups.pop();
        seats.groups[0].numbers = 1_000_000;
        for flow in [3, 2, 900_000] {
            assert_eq!(seats.claim_stream(seat(0, flow, 0)), Ok(()));
            assert_eq!(seats.claim_stream(seat(0, flow, 0)), Err(SeatRefusal::Taken));
        }
        // Long past: nobody remembers whether it was taken.
        assert_eq!(seats.claim_stream(seat(0, 4, 0)), Err(SeatRefusal::Taken));
        assert_eq!(seats.claim_stream(seat(0, 1_000_000, 0)), Err(SeatRefusal::UnknownFlow));
    }

    #[test]
    fn a_datagram_flow_may_ask_for_its_own_seat_again() {
        let mut seats = seats();
        let [one, other] =
            ["192.0.2.1:1", "192.0.2.1:2"].map(|text| text.parse().expect("address"));
        assert_eq!(seats.claim_datagram(seat(1, 2, 0), one), Ok(()));
        assert_eq!(seats.claim_datagram(seat(1, 2, 0), one), Ok(()));
        assert_eq!(seats.claim_datagram(seat(1, 2, 0), other), Err(SeatRefusal::Taken));
        assert_eq!(seats.claim_datagram(seat(1, 2, 1), one), Err(SeatRefusal::AddressTaken));
        assert_eq!(seats.claim_datagram(seat(1, 2, 1), other), Ok(()));
    }

    #[test]
    fn a_lane_that_roams_may_come_from_another_address() {
        let mut seats = seats();
        seats.groups[1].roams = true;
        for text in ["192.0.2.1:1", "192.0.2.1:2", "198.51.100.7:1"] {
            let from = text.parse().expect("address");
            assert_eq!(seats.claim_datagram(seat(1, 2, 0), from), Ok(()));
        }
    }

    #[test]
    fn what_is_not_in_the_plan_has_no_seat() {
        let mut seats = seats();
        let from = "192.0.2.1:1".parse().expect("an address");
        for wrong in [seat(0, 2, 0), seat(1, 0, 0), seat(0, 0, 1), seat(1, 2, 0), seat(9, 0, 0)] {
            assert_eq!(seats.claim_stream(wrong), Err(SeatRefusal::UnknownFlow), "{wrong:?}");
        }
        assert_eq!(seats.claim_datagram(seat(0, 0, 0), from), Err(SeatRefusal::UnknownFlow));
        assert_eq!(seats.claim_datagram(seat(1, 2, 2), from), Err(SeatRefusal::UnknownFlow));
        assert!(seats.taken.is_empty());
        assert_eq!(seats.streams.progress(), (0, 3));
    }
}
