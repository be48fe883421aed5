//! The relay's thread: takes frames, hands over what is due, sleeps until the next is.
//!
//! One loop for all links of a lab, so that it never waits for itself. Nothing here allocates per frame
//! in steady state: frames live in the storage of [`Direction`].

use std::sync::mpsc::Receiver;

use pathscope_core::Tick;
use pathscope_os::packets::{Batch, MOST_AT_ONCE, PacketSocket};
use pathscope_os::readiness::{Interest, Poller, Ready};
use pathscope_os::scheduling::{self, Alarm, Awake};
use pathscope_os::{OsError, Waker, clock, cpus};

use super::account::{DirectionAccount, LinkAccount, RelayAccount};
use super::{Command, TimedOrder, Wire};
use crate::link::{ConditionsError, Counts, Delivery, Direction, Way};

const ALARM: u64 = u64::MAX;
const WAKER: u64 = u64::MAX - 1;

/// The thread's own state.
pub(super) struct Carrier {
    lines: Vec<Line>,
    inbox: Receiver<Command>,
    waker: Waker,
    poller: Poller,
    alarm: Alarm,
    /// What the alarm was set to last.
    alarm_at: Tick,
    /// Orders for later, each to one direction, the last one first.
    orders: Vec<TimedOrder>,
    batch: Batch,
    due: Vec<Delivery>,
    has_priority: bool,
    awake: Option<Awake>,
    turns: u64,
}

/// A link with its two directions.
struct Line {
    name: String,
    nodes: [String; 2],
    ports: [PacketSocket; 2],
    /// From the first port to the second, and back.
    directions: [Direction; 2],
    frame_bytes: usize,
    /// By port: frames that came and were longer than the link carries,
    too_long: [u64; 2],
    /// whether frames wait that were not offered yet,
    has_input: [bool; 2],
    /// and up to when all that came was offered.
    known: [Tick; 2],
}

impl Carrier {
    pub fn new(wires: Vec<Wire>, inbox: Receiver<Command>, waker: Waker) -> Result<Self, OsError> {
        let poller = Poller::new()?;
        let alarm = Alarm::new()?;
        poller.add(&alarm, ALARM, Interest::INPUT)?;
        poller.add(&waker, WAKER, Interest::INPUT)?;
        let longest = wires.iter().map(|wire| wire.frame_bytes).max().unwrap_or(1);
        for (index, wire) in (0..).zip(&wires) {
            poller.add(&wire.ports[0], 2 * index, Interest::INPUT)?;
            poller.add(&wire.ports[1], 2 * index + 1, Interest::INPUT)?;
        }
        cpus::set_precise_timers()?;
        // Both are refused to most users; the account says whether they were had.
        let has_priority = scheduling::run_first().is_ok();
        let awake = if wires.is_empty() { None } else { Awake::ask().ok() };
        Ok(Self {
            lines: wires.into_iter().map(Line::new).collect(),
            inbox,
            waker,
            poller,
            alarm,
            alarm_at: Tick::NEVER,
            orders: Vec::new(),
            batch: Batch::new(MOST_AT_ONCE, longest),
            due: Vec::with_capacity(MOST_AT_ONCE),
            has_priority,
            awake,
            turns: 0,
        })
    }

    pub fn run(mut self) {
        let mut ready = Vec::new();
        loop {
            if self.poller.wait(&mut ready, None).is_err() {
                // Only a descriptor of ours that is gone could be the reason: nothing can be carried.
                return;
            }
            self.turns += 1;
            // Also where its descriptor alone is ready: somebody may have been between raising the flag,
            // which we have seen a turn ago, and the descriptor, which would ring for ever.
            let is_called = ready.iter().any(|ready| ready.key == WAKER) || self.waker.is_raised();
            if is_called && !self.hear() {
                return;
            }
            self.take(&ready);
            self.obey_by(clock::now());
            self.hand_over();
            if self.sleep_until_due(&ready).is_err() {
                return;
            }
        }
    }

    /// Takes frames that wait, a batch from every port; what becomes due meanwhile does not wait until
    /// all ports had their turn.
    fn take(&mut self, ready: &[Ready]) {
        let woken = clock::now();
        let ports = || {
            let ports = ready.iter().filter(|ready| ready.key < WAKER);
            ports.map(|port| ((port.key / 2) as usize, (port.key % 2) as usize))
        };
        for (line, end) in ports() {
            if let Some(line) = self.lines.get_mut(line) {
                line.has_input[end] = true;
            }
        }
        for line in &mut self.lines {
            line.know(woken);
        }
        for (wire, end) in ports() {
            if let Some(line) = self.lines.get_mut(wire) {
                line.take(end, woken, &mut self.batch, |arrival, direction| {
                    obey_before(&mut self.orders, (wire, end), arrival, direction);
                });
                self.hand_over();
            }
        }
    }

    /// Hands over all that is due, a batch from every direction in turn.
    fn hand_over(&mut self) {
        let now = clock::now();
        let mut is_more = true;
        while is_more {
            is_more = false;
            for line in &mut self.lines {
                is_more |= line.hand_over(now, &mut self.due);
            }
        }
    }

    /// Sets the alarm to what is due next.
    fn sleep_until_due(&mut self, ready: &[Ready]) -> Result<(), OsError> {
        let frames = self.lines.iter().flat_map(|line| &line.directions);
        let next = frames.filter_map(Direction::next_due).chain(self.orders.last().map(|it| it.at));
        let next = next.min().unwrap_or(Tick::NEVER);
        // One that has gone off rings until it is set again, also where nothing is due any more.
        if next != self.alarm_at || ready.iter().any(|ready| ready.key == ALARM) {
            self.alarm.set(next)?;
            self.alarm_at = next;
        }
        Ok(())
    }

    /// Does what it is told; false where that is to end.
    fn hear(&mut self) -> bool {
        self.waker.drain();
        while let Ok(command) = self.inbox.try_recv() {
            // Whoever asked may have gone: then nobody needs the answer.
            match command {
                Command::Obey { orders, answer } => drop(answer.send(self.schedule(orders))),
                Command::Account { answer } => drop(answer.send(self.account())),
                Command::Totals { answer } => drop(answer.send(self.totals())),
                Command::End => return false,
            }
        }
        true
    }

    /// Checks orders as if each came to the conditions that those before it leave, then keeps them.
    fn schedule(&mut self, orders: Vec<TimedOrder>) -> Result<(), ConditionsError> {
        // The last one first, and of those for the same time the one that was given last: a sort that
        // leaves equal ones as they are, of a list in which later words stand first.
        let mut all: Vec<_> = orders.into_iter().rev().flat_map(one_way).collect();
        all.extend(self.orders.iter().cloned());
        all.sort_by_key(|order| std::cmp::Reverse(order.at));
        let mut after: Vec<_> = self.lines.iter().map(Line::conditions).collect();
        for TimedOrder { wire, way, order, .. } in all.iter().rev() {
            let Some(conditions) = after.get_mut(*wire) else { continue };
            for index in indices(*way) {
                if let crate::link::Order::Change(change) = order {
                    conditions[index] = conditions[index].after(change)?;
                }
            }
        }
        self.orders = all;
        Ok(())
    }

    fn obey_by(&mut self, now: Tick) {
        while let Some(TimedOrder { wire, way, order, at }) =
            self.orders.pop_if(|order| order.at <= now)
        {
            let Some(line) = self.lines.get_mut(wire) else { continue };
            for index in indices(way) {
                // It was checked when it was given, and is checked again: what cannot be is not done.
                let _ = line.directions[index].obey(at, &order);
            }
        }
    }

    fn totals(&self) -> Vec<[Counts; 2]> {
        self.lines.iter().map(|line| [0, 1].map(|way| line.directions[way].total())).collect()
    }

    /// Link by link, since copying the counts of many flows takes time that frames in flight do not have.
    fn account(&mut self) -> RelayAccount {
        let mut links = Vec::with_capacity(self.lines.len());
        for index in 0..self.lines.len() {
            links.push(self.lines[index].account());
            self.hand_over();
        }
        RelayAccount {
            links,
            turns: self.turns,
            has_priority: self.has_priority,
            keeps_awake: self.awake.is_some(),
        }
    }
}

/// An order to both directions is one to each: they do not obey at the same moment.
fn one_way(order: TimedOrder) -> impl Iterator<Item = TimedOrder> {
    let ways = [Way::Forth, Way::Back].into_iter();
    let meant = move |&way: &Way| order.way.is_none_or(|only| only == way);
    ways.filter(meant).map(move |way| TimedOrder { way: Some(way), ..order.clone() })
}

/// Has one direction obey what is due when a frame comes there, before it is decided what becomes of the
/// frame. The other directions may still have older frames to take.
fn obey_before(
    orders: &mut Vec<TimedOrder>,
    (wire, way): (usize, usize),
    arrival: Tick,
    direction: &mut Direction,
) {
    // Nearly always the next order is later, and that is all there is to see.
    let mut index = orders.len();
    while index > 0 && orders[index - 1].at <= arrival {
        index -= 1;
        if orders[index].wire == wire && indices(orders[index].way).contains(&way) {
            let TimedOrder { order, at, .. } = orders.remove(index);
            // As in `obey_by`.
            let _ = direction.obey(at, &order);
        }
    }
}

/// The directions that are meant.
fn indices(way: Option<Way>) -> std::ops::Range<usize> {
    match way {
        Some(Way::Forth) => 0..1,
        Some(Way::Back) => 1..2,
        None => 0..2,
    }
}

impl Line {
    fn new(wire: Wire) -> Self {
        let [first, second] = wire.seeds;
        let directions =
            [Direction::new(wire.conditions[0], first), Direction::new(wire.conditions[1], second)];
        let Wire { name, nodes, ports, frame_bytes, .. } = wire;
        Self {
            name,
            nodes,
            ports,
            directions,
            frame_bytes,
            too_long: [0; 2],
            has_input: [false; 2],
            known: [Tick::ZERO; 2],
        }
    }

    /// Where nothing waits at `now`, all that came by then was offered.
    fn know(&mut self, now: Tick) {
        for (known, has_input) in self.known.iter_mut().zip(self.has_input) {
            *known = if has_input { *known } else { now };
        }
    }

    fn conditions(&self) -> [crate::link::Conditions; 2] {
        [*self.directions[0].conditions(), *self.directions[1].conditions()]
    }

    /// Takes a batch of frames that came to one port since some time before `woken` and offers them to the
    /// direction that begins there; before each, that direction is prepared.
    fn take(
        &mut self,
        end: usize,
        woken: Tick,
        batch: &mut Batch,
        mut prepare: impl FnMut(Tick, &mut Direction),
    ) {
        self.has_input[end] = false;
        // An interface that was taken away brings nothing more.
        let taken = self.ports[end].receive(batch).unwrap_or(0);
        let mut last = woken;
        for frame in batch.frames() {
            last = frame.arrival;
            if frame.len > self.frame_bytes {
                self.too_long[end] += 1;
                continue;
            }
            let direction = &mut self.directions[end];
            prepare(frame.arrival, direction);
            let mut blank = direction.blank();
            blank.fill(frame.bytes);
            direction.offer(frame.arrival, blank);
        }
        // A full batch leaves more behind that came later than its last.
        let known = if taken < MOST_AT_ONCE { woken } else { last };
        self.known[end] = self.known[end].max(known);
    }

    /// Hands over what is due, a batch each way; whether there may be more.
    fn hand_over(&mut self, now: Tick, due: &mut Vec<Delivery>) -> bool {
        let mut is_more = false;
        for (way, direction) in self.directions.iter_mut().enumerate() {
            let take = || direction.take_due_of(now, self.known[way]);
            due.extend(std::iter::from_fn(take).take(MOST_AT_ONCE));
            is_more |= due.len() == MOST_AT_ONCE;
            send(&self.ports[1 - way], direction, due);
        }
        is_more
    }

    fn account(&self) -> LinkAccount {
        let direction = |index: usize| {
            let [from, to] = [&self.nodes[index], &self.nodes[1 - index]];
            let direction = &self.directions[index];
            DirectionAccount {
                from: from.clone(),
                to: to.clone(),
                conditions: *direction.conditions(),
                is_cut: direction.is_cut(),
                truth: direction.truth(),
                // The socket is open, so asking cannot fail; and a failure is no frame.
                missed: self.ports[index].dropped().unwrap_or(0),
                refused: 0,
                too_long: self.too_long[index],
            }
        };
        LinkAccount { name: self.name.clone(), forward: direction(0), backward: direction(1) }
    }
}

/// Sends frames, at most as many as one call takes, and says of each what became of it.
fn send(port: &PacketSocket, direction: &mut Direction, due: &mut Vec<Delivery>) {
    let mut waiting = due.drain(..);
    while !waiting.as_slice().is_empty() {
        let mut frames: [&[u8]; MOST_AT_ONCE] = [&[]; MOST_AT_ONCE];
        let left = waiting.as_slice();
        for (frame, delivery) in frames.iter_mut().zip(left) {
            *frame = delivery.bytes();
        }
        // No room is as final as an error: the kernel has dropped the first frame, and may take the next.
        let sent = port.send(&frames[..left.len()]).unwrap_or(0);
        let at = clock::now();
        waiting.by_ref().take(sent).for_each(|delivery| direction.sent(delivery, at));
        if sent == 0 {
            waiting.next().into_iter().for_each(|delivery| direction.not_sent(delivery));
        }
    }
}
