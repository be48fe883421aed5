//! One flow at its engine: its machine, its sockets, and what it wanted when it was last asked.

use pathscope_core::Tick;
use pathscope_core::id::Lane;
use pathscope_flow::{Close, Event, Machine, Phase, SendWant, Transport, Weigh};
use pathscope_os::Socket;

use super::held_back::Prologue;
use super::kept_want::KeptWant;
use super::wire::{Wire, WireState, Wires};
use crate::{Lanes, Made, Worker};

/// One flow and its sockets.
#[derive(Debug)]
pub(crate) struct Slot<M> {
    pub machine: M,
    pub wires: Wires,
    pub want: KeptWant,
    pub state: SlotState,
    /// For an engine's list of slots to visit: whether this one is on it.
    pub is_queued: bool,
    /// Whether a lane joined it or left it while it ran: its sockets are not those it began with.
    pub roams: bool,
    /// Which lane to receive from first: they take turns as well.
    pub next_lane: u8,
    /// What is to be said and heard before anything else.
    pub prologue: Option<Box<Prologue>>,
    /// Something happened since the want was asked for.
    is_stale: bool,
    phase: Phase,
    /// How its sockets were closed, where they were.
    pub closed: Option<Close>,
    /// When the timer is set for.
    armed: Tick,
}

/// How far the engine is with a flow.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum SlotState {
    /// Its machine is asked.
    Live,
    /// What its machine said last is carried out once its receives have landed; nothing else is done for it before.
    Landing,
    /// Its machine is over; what still comes is thrown away until the other end closes.
    Lingering,
    /// Nothing more is done for it.
    Over,
}

/// What the sockets of a worker have in common.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Medium {
    pub transport: Transport,
    /// The most that one receive brings.
    pub room_bytes: usize,
    /// Whether they are closed as their flows depart.
    pub closes_departed: bool,
    /// Whether it is told what was not acknowledged on those that are reset.
    pub counts_lost: bool,
}

/// What a flow waits for on one lane.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Awaited {
    pub to_receive: bool,
    pub to_send: bool,
}

impl<M: Machine> Slot<M> {
    pub fn new(machine: M, sockets: impl IntoIterator<Item = Socket>) -> Self {
        Self {
            machine,
            wires: sockets.into_iter().map(Wire::new).collect(),
            want: KeptWant::NOTHING,
            state: SlotState::Live,
            is_queued: false,
            roams: false,
            next_lane: 0,
            prologue: None,
            is_stale: false,
            phase: Phase::Running,
            closed: None,
            armed: Tick::NEVER,
        }
    }

    /// Those of all flows of a worker. There is room for these and no more.
    pub fn all_of(worker: &mut Worker<M>) -> Vec<Self> {
        let mut slots = Vec::with_capacity(worker.count());
        let there = std::mem::take(&mut worker.flows).into_iter();
        slots.extend(there.map(|(machine, sockets)| Self::new(machine, sockets)));
        let made = worker.made.take().into_iter().flat_map(Made::flows);
        slots.extend(made.map(|(machine, sockets)| Self::new(machine, sockets)));
        slots
    }

    /// Where lanes came and went: what the sockets of each dropped.
    pub fn lane_drops(&mut self) -> Vec<u64> {
        if self.roams { self.wires.iter_mut().map(Wire::all_drops).collect() } else { Vec::new() }
    }

    /// The flow and its sockets again.
    pub fn leave(self) -> (M, Lanes) {
        (self.machine, self.wires.into_sockets())
    }

    /// Is to be visited; whether nobody has put it in a queue for that yet.
    #[inline]
    pub fn enters_queue(&mut self) -> bool {
        !std::mem::replace(&mut self.is_queued, true)
    }

    /// Something happened: the want is no longer what it was, and what was left unread may be now.
    pub fn touch(&mut self) {
        self.is_stale = true;
        for wire in &mut self.wires {
            wire.starved = false;
        }
    }

    /// Bytes were presented: the want is no longer what it was.
    pub fn presented(&mut self) {
        self.is_stale = true;
    }

    pub fn is_stale(&self) -> bool {
        self.is_stale && self.state == SlotState::Live
    }

    /// Asks what the flow wants.
    #[inline]
    pub fn ask(&mut self, shared: &mut M::Shared, now: Tick) {
        self.is_stale = false;
        self.want = KeptWant::of(self.machine.want(shared, now));
    }

    /// Tells the flow at once what it asked for, and closes as it says.
    #[inline]
    pub fn carry_out(&mut self, shared: &mut M::Shared, medium: Medium, now: Tick) {
        if self.want.weigh != Weigh::Nothing {
            self.weigh(shared, now);
        }
        if let Some(close) = self.want.close {
            self.close(close, medium);
        }
    }

    /// Tells the flow what has come and was not received yet.
    #[cold]
    fn weigh(&mut self, shared: &mut M::Shared, now: Tick) {
        let of_all = |of_socket: fn(&Socket) -> Option<u64>| -> u64 {
            let of_one = |wire: &Wire| {
                let in_kernel = wire.socket.as_ref().and_then(of_socket);
                in_kernel.unwrap_or(0) + wire.unread.len() as u64
            };
            self.wires.iter().map(of_one).sum()
        };
        let bytes = of_all(Socket::held_bytes);
        let ready_bytes = if bytes == 0 { 0 } else { of_all(Socket::ready_bytes) };
        self.machine.event(shared, Event::Held { bytes, ready_bytes }, now);
        self.want = KeptWant::of(self.machine.want(shared, now));
    }

    /// When the timer has to be set anew: for when.
    pub fn timer_change(&mut self) -> Option<Tick> {
        let due = self.want.wake;
        (due != self.armed).then(|| {
            self.armed = due;
            due
        })
    }

    /// When the timer has to be set anew for it to fire by `latest`.
    pub fn timer_at_the_latest(&mut self, latest: Tick) -> Option<Tick> {
        (latest < self.armed).then(|| {
            self.armed = latest;
            latest
        })
    }

    /// The timer fired.
    pub fn disarm(&mut self) {
        self.armed = Tick::NEVER;
    }

    /// Whether the phase is not the one last seen.
    pub fn has_new_phase(&self) -> bool {
        self.machine.phase() != self.phase
    }

    /// The phase, if it is not the one last seen.
    pub fn phase_change(&mut self) -> Option<Phase> {
        let phase = self.machine.phase();
        (phase != self.phase).then(|| {
            self.phase = phase;
            phase
        })
    }

    /// What to send on which lane; nothing after a close.
    pub fn offer(&self) -> Option<(Lane, SendWant)> {
        let sends = self.state == SlotState::Live && self.closed.is_none();
        let wire = self.wires.get(self.want.send_lane.index())?;
        (sends && self.want.sends() && wire.state != WireState::Dead)
            .then(|| (self.want.send_lane, self.want.send()))
    }

    /// How many bytes to receive at most; `None`: leave them in the kernel.
    pub fn appetite(&self) -> Option<usize> {
        self.want.appetite().filter(|_| self.state == SlotState::Live)
    }

    /// Whether what comes is thrown away: after a graceful close, unless the machine wants it.
    pub fn discards(&self) -> bool {
        match self.state {
            SlotState::Live => self.closed == Some(Close::Graceful) && self.appetite().is_none(),
            SlotState::Lingering => true,
            SlotState::Landing | SlotState::Over => false,
        }
    }

    /// What the flow waits for on a lane. Not for what it could not take: a socket that is ready and
    /// not served would keep the engine from ever sleeping.
    pub fn awaited(&self, lane: usize, medium: Medium) -> Awaited {
        if let Some(prologue) = self.prologue.as_ref().filter(|_| self.state == SlotState::Live) {
            let (is_said, is_seen) = (prologue.rest().is_empty(), prologue.unread == 0);
            let to_receive = prologue.awaits && is_said || !is_seen;
            return Awaited { to_receive, to_send: !is_said && is_seen };
        }
        let wire = &self.wires[lane];
        let has_room = match (self.appetite(), medium.transport) {
            (None, _) => self.discards(),
            (Some(limit), Transport::Stream) => wire.unread.len() < limit.min(medium.room_bytes),
            (Some(_), Transport::Datagram) => wire.unread.is_empty(),
        };
        Awaited {
            to_receive: has_room && wire.is_open_to_receive(),
            to_send: self.offer().is_some_and(|(offered, _)| offered.index() == lane),
        }
    }

    /// Whether what its flow waits for may be heard late.
    #[cfg_attr(pathscope_other, expect(dead_code, reason = "for the epoll engine alone"))]
    pub fn is_patient(&self) -> bool {
        self.state == SlotState::Live && self.prologue.is_none() && self.want.is_patient
    }

    /// Whether its flow is neither told nor asked anything yet.
    pub fn is_held_back(&self) -> bool {
        self.prologue.as_ref().is_some_and(|prologue| prologue.awaits)
    }

    /// Whether there is a wire whose end has not been seen, after a graceful close.
    pub fn may_linger(&self) -> bool {
        self.closed == Some(Close::Graceful) && self.wires.iter().any(Wire::is_open_to_receive)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_engine_has_of_a_flow_is_small_enough_for_a_million() {
        assert!(size_of::<Slot<()>>() <= 112, "{} bytes", size_of::<Slot<()>>());
    }
}
