//! Operations that the kernel has for a while, and what happens to their flows meanwhile. Engines that do each operation as
//! it is decided have none.
//!
//! While a send is in flight its machine is shown what comes, by what it wanted before, and nothing else: it is neither asked nor
//! told anything. So whatever it decides of its sending, in `want` by time or in an event, it knows what became of all that it offered.
//! What there is to tell has the send recalled; what it was shown has it asked again within [`PATIENCE_NS`].
//! Before it is told what has come and was not received, receives land as well.

use std::collections::{HashMap, VecDeque};

use pathscope_core::Tick;
use pathscope_core::id::Lane;
use pathscope_flow::{Event, Machine, Weigh};
use pathscope_os::Socket;

use super::wire::InFlight;
use super::{EventLoop, Slot, SlotState, Wire};
use crate::SystemCalls;

/// How long a flow that was shown something may wait for its send before it is asked what it wants now. A send lands by itself
/// as a rule, and to recall each whenever something comes would cost more than all else; but one that has no room may
/// wait for as long as the other end likes.
const PATIENCE_NS: u64 = 1_000_000;

/// Names an operation that is in flight: no two of a kind are on one lane's socket.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Ticket {
    /// The flow's place at its worker.
    pub place: u32,
    /// The lane.
    pub lane: Lane,
    /// Which way.
    pub way: Way,
}

/// Which way an operation moves bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Way {
    /// Out.
    Send,
    /// In.
    Receive,
    /// Neither: it waits until a send may take something.
    Neither,
}

/// What a worker has in flight.
#[derive(Debug, Default)]
pub(super) struct Flights {
    pub count: usize,
    /// Of those, sends.
    pub sends: usize,
    /// The last number that a socket was given on which something was in flight.
    last: u32,
    /// By place: what its flow is told once its send has landed.
    deferred: HashMap<usize, VecDeque<Event>>,
    /// What is to land early.
    recalls: Vec<Ticket>,
    /// Sockets that lanes had, each until nothing is in flight on it any more.
    retired: Vec<Retired>,
    /// Places whose flows are over, and depart once nothing of theirs is in flight any more.
    leaving: Vec<usize>,
}

/// A socket that is its lane's no more.
#[derive(Debug)]
struct Retired {
    launched_as: u32,
    in_flight: u8,
    /// Closed with this.
    #[expect(dead_code, reason = "it is kept open")]
    socket: Socket,
}

impl InFlight {
    fn count(self) -> u8 {
        u8::from(self.sends) + u8::from(self.receives) + u8::from(self.awaits_room)
    }
}

impl Wire {
    fn of_way(&mut self, way: Way) -> &mut bool {
        match way {
            Way::Send => &mut self.in_flight.sends,
            Way::Receive => &mut self.in_flight.receives,
            Way::Neither => &mut self.in_flight.awaits_room,
        }
    }
}

impl<M: Machine> Slot<M> {
    /// Whether a send is in flight.
    pub fn is_sending(&self) -> bool {
        self.wires.iter().any(|wire| wire.in_flight.sends)
    }

    fn is_receiving(&self) -> bool {
        self.wires.iter().any(|wire| wire.in_flight.receives)
    }

    /// Whether its timer runs for an answer of the machine's, and not because it was shown something while it sends.
    fn is_due(&self, now: Tick) -> bool {
        self.want.wake <= now
    }
}

/// Beginning and end.
impl<M: Machine, S: SystemCalls> EventLoop<M, S> {
    /// An operation has begun. What tells its socket from others of its lane.
    pub(super) fn launched(&mut self, Ticket { place, lane, way }: Ticket) -> u32 {
        self.flights.count += 1;
        self.flights.sends += usize::from(way == Way::Send);
        let wire = &mut self.slots[place as usize].wires[lane.index()];
        *wire.of_way(way) = true;
        if wire.launched_as == 0 {
            // It comes round after billions of sockets, when nothing of the first is in flight any more.
            self.flights.last = self.flights.last.wrapping_add(1).max(1);
            wire.launched_as = self.flights.last;
        }
        wire.launched_as
    }

    /// An operation on this socket has landed; whether the flow is still there, and its lane has that socket.
    pub(super) fn landed(&mut self, Ticket { place, lane, way }: Ticket, launched_as: u32) -> bool {
        self.flights.count -= 1;
        if way == Way::Send {
            self.flights.sends -= 1;
            // What was cut short or interrupted goes on with its next visit.
            self.last_woken = Some(place as usize);
        }
        let place = place as usize;
        let slot = &mut self.slots[place];
        let wire = slot.wires.get_mut(lane.index()).filter(|it| it.launched_as == launched_as);
        let Some(wire) = wire else {
            self.flights.retired.retain_mut(|retired| {
                retired.in_flight -= u8::from(retired.launched_as == launched_as);
                retired.in_flight > 0
            });
            return false;
        };
        *wire.of_way(way) = false;
        wire.in_flight.goes_on &= way != Way::Receive;
        if slot.state == SlotState::Over {
            self.depart_if_landed(place);
            return false;
        }
        true
    }

    /// An operation on this socket has brought something, and is in flight still; whether the flow is there, and its lane has that socket.
    pub(super) fn brought_some(&mut self, ticket: Ticket, launched_as: u32) -> bool {
        let slot = &mut self.slots[ticket.place as usize];
        let wire = slot.wires.get_mut(ticket.lane.index());
        let Some(wire) = wire.filter(|it| it.launched_as == launched_as) else { return false };
        wire.in_flight.goes_on = true;
        slot.state != SlotState::Over
    }

    /// A flow is over: it departs once nothing of its sockets is in flight.
    #[cold]
    pub(super) fn depart_when_landed(&mut self, place: usize) {
        self.recall_all(place);
        if self.has_succession() {
            self.flights.leaving.push(place);
            self.depart_if_landed(place);
        }
    }

    fn depart_if_landed(&mut self, place: usize) {
        if self.slots[place].wires.iter().any(|wire| wire.in_flight.count() > 0) {
            return;
        }
        if let Some(index) = self.flights.leaving.iter().position(|&it| it == place) {
            self.flights.leaving.swap_remove(index);
            self.depart(place);
        }
    }

    /// Whoever had operations in flight has none any more, and none of them is told.
    pub(super) fn forget_flights(&mut self) {
        if self.flights.count == 0 {
            return;
        }
        let Flights { leaving, .. } = std::mem::take(&mut self.flights);
        self.slots.iter_mut().flat_map(|slot| &mut slot.wires).for_each(|wire| {
            wire.in_flight = InFlight::default();
        });
        leaving.into_iter().for_each(|place| self.depart(place));
    }

    /// What has landed was told: what waited for it is carried out, and told.
    pub(super) fn settle(&mut self, place: usize) {
        if self.slots[place].state == SlotState::Landing {
            if self.slots[place].is_receiving() {
                return;
            }
            self.slots[place].state = SlotState::Live;
            self.carry_out(place);
        }
        loop {
            // Each event is answered before the next, and one that is over hears of none.
            self.refresh(place);
            if self.slots[place].is_sending() || self.slots[place].state == SlotState::Landing {
                return;
            }
            if self.flights.deferred.is_empty() {
                return;
            }
            let deferred = self.flights.deferred.get_mut(&place);
            let Some(event) = deferred.and_then(VecDeque::pop_front) else { break };
            self.tell_machine(place, event);
        }
        self.flights.deferred.remove(&place);
    }
}

/// What waits.
impl<M: Machine, S: SystemCalls> EventLoop<M, S> {
    /// Whether a flow cannot be asked yet, since it sends. That is not for long.
    #[cold]
    pub(super) fn cannot_be_asked(&mut self, place: usize) -> bool {
        let slot = &mut self.slots[place];
        if !slot.is_sending() {
            return false;
        }
        if slot.has_new_phase() {
            // It failed by what it was shown.
            self.recall(place, |way| way == Way::Send);
        } else if let Some(due) = slot.timer_at_the_latest(self.now.plus_nanos(PATIENCE_NS)) {
            self.timers.set(place, due);
        }
        true
    }

    /// Whether a timer that fires has nothing to say to its machine, but that a send is waited for no longer.
    #[cold]
    pub(super) fn was_patient(&mut self, place: usize) -> bool {
        if self.slots[place].is_due(self.now) {
            return false;
        }
        self.recall(place, |way| way == Way::Send);
        true
    }

    /// Has the flow, which is to be told what has come and was not received, wait until its receives have landed.
    #[cold]
    pub(super) fn lands_first(&mut self, place: usize) -> bool {
        let slot = &mut self.slots[place];
        if slot.want.weigh == Weigh::Nothing || !slot.is_receiving() {
            return false;
        }
        slot.state = SlotState::Landing;
        self.recall(place, |way| way == Way::Receive);
        true
    }

    /// Has an event wait for a send to land, where one is in flight.
    #[cold]
    pub(super) fn defers(&mut self, place: usize, event: Event) -> bool {
        let slot = &self.slots[place];
        let is_behind = self.flights.deferred.get(&place).is_some_and(|others| !others.is_empty());
        let defers = is_behind || slot.state == SlotState::Landing || slot.is_sending();
        if defers {
            self.flights.deferred.entry(place).or_default().push_back(event);
            self.recall(place, |way| way == Way::Send);
        }
        defers
    }
}

/// What is to land early.
impl<M: Machine, S: SystemCalls> EventLoop<M, S> {
    fn recall(&mut self, place: usize, is_meant: impl Fn(Way) -> bool) {
        for lane in 0..self.slots[place].wires.len() {
            self.recall_on(place, Lane(lane as u8), &is_meant);
        }
    }

    fn recall_on(&mut self, place: usize, lane: Lane, is_meant: impl Fn(Way) -> bool) {
        let wire = &mut self.slots[place].wires[lane.index()];
        for way in [Way::Send, Way::Receive, Way::Neither] {
            if *wire.of_way(way) && is_meant(way) {
                self.flights.recalls.push(Ticket { place: place as u32, lane, way });
            }
        }
    }

    /// A receive that goes on brings more than its flow takes: what comes next stays in the kernel.
    #[cold]
    pub(super) fn stop_receiving(&mut self, place: usize, lane: Lane) {
        self.recall_on(place, lane, |way| way == Way::Receive);
        // Once is enough, unless it brings more before that.
        self.slots[place].wires[lane.index()].in_flight.goes_on = false;
    }

    /// A flow is over, whatever it has in flight.
    #[cold]
    pub(super) fn recall_all(&mut self, place: usize) {
        self.recall(place, |_| true);
        self.flights.deferred.remove(&place);
    }

    /// A lane gets another socket, or leaves. The one that is replaced is kept open until what is in flight on it has landed.
    #[cold]
    pub(super) fn recall_lane(&mut self, place: usize, lane: Lane, is_replaced: bool) {
        if lane.index() >= self.slots[place].wires.len() {
            return;
        }
        self.recall_on(place, lane, |_| true);
        let wire = &mut self.slots[place].wires[lane.index()];
        let in_flight = wire.in_flight.count();
        if !is_replaced || in_flight == 0 {
            return;
        }
        // What it dropped stays with its lane.
        wire.count_drops();
        let launched_as = wire.launched_as;
        let retired = wire.socket.take();
        self.flights.retired.extend(retired.map(|socket| Retired {
            launched_as,
            in_flight,
            socket,
        }));
    }

    /// The next operation that is to land early.
    pub fn next_recall(&mut self) -> Option<Ticket> {
        self.flights.recalls.pop()
    }
}
