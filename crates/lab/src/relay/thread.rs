//! The relay's thread: takes frames, hands over what is due, sleeps until the next is.
//!
//! One loop for all links of a lab, so that it never waits for itself. Nothing here allocates per frame
//! in steady state: frames live in the storage of [`Direction`].

use std::io;
use std::sync::mpsc::Receiver;

use pathscope_core::Tick;
use pathscope_os::packets::{Batch, MOST_AT_ONCE, PacketSocket};
use pathscope_os::readiness::{Interest, Poller, Ready};
use pathscope_os::scheduling::{self, Alarm, Awake};
use pathscope_os::{OsError, Waker, clock, cpus};

use super::account::{DirectionAccount, LinkAccount, RelayAccount};
use super::{Command, TimedOrder, Wire};
use crate::link::{ConditionsError, Delivery, Direction, Way};

const ALARM: u64 = u64::MAX;
const WAKER: u64 = u64::MAX - 1;

/// Calls that take frames from one port before the others have their turn.
const TURNS: usize = 4;

/// The thread's own state.
pub(super) struct Carrier {
    lines: Vec<Line>,
    inbox: Receiver<Command>,
    waker: Waker,
    poller: Poller,
    alarm: Alarm,
    /// What the alarm is set to; [`Tick::NEVER`] where it has gone off or was never set.
    alarm_at: Tick,
    /// Orders for later, the last one first.
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
    /// Frames that came and were longer than the link carries, by the port they came to.
    too_long: [u64; 2],
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
            if self.waker.is_raised() && !self.hear() {
                return;
            }
            self.take(&ready);
            let now = clock::now();
            self.obey_by(now);
            for line in &mut self.lines {
                line.hand_over(now, &mut self.due);
            }
            if self.sleep_until_due(&ready).is_err() {
                return;
            }
        }
    }

    /// Takes the frames that wait, from every port in turn.
    fn take(&mut self, ready: &[Ready]) {
        for port in ready.iter().filter(|ready| ready.key < WAKER) {
            let (line, end) = ((port.key / 2) as usize, (port.key % 2) as usize);
            if let Some(line) = self.lines.get_mut(line) {
                line.take(end, &mut self.batch);
            }
        }
    }

    /// Sets the alarm to what is due next.
    fn sleep_until_due(&mut self, ready: &[Ready]) -> Result<(), OsError> {
        if ready.iter().any(|ready| ready.key == ALARM) {
            self.alarm_at = Tick::NEVER;
        }
        let frames = self.lines.iter().flat_map(|line| &line.directions);
        let next = frames.filter_map(Direction::next_due).chain(self.orders.last().map(|it| it.at));
        let next = next.min().unwrap_or(Tick::NEVER);
        if next != self.alarm_at {
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
                Command::End => return false,
            }
        }
        true
    }

    /// Checks orders as if each came to the conditions that those before it leave, then keeps them.
    fn schedule(&mut self, orders: Vec<TimedOrder>) -> Result<(), ConditionsError> {
        let mut all = self.orders.clone();
        all.extend(orders);
        all.reverse();
        // The last one first, and of those for the same time the one that was given last.
        all.sort_by_key(|order| std::cmp::Reverse(order.at));
        let mut after: Vec<_> = self.lines.iter().map(Line::conditions).collect();
        for TimedOrder { wire, way, order, .. } in all.iter().rev() {
            let Some(conditions) = after.get_mut(*wire) else { continue };
            for index in indices(*way) {
                if let crate::link::Order::Change(change) = order {
                    conditions[index] = change.of(&conditions[index])?;
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

    fn account(&self) -> RelayAccount {
        RelayAccount {
            links: self.lines.iter().map(Line::account).collect(),
            turns: self.turns,
            has_priority: self.has_priority,
            keeps_awake: self.awake.is_some(),
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
        let Wire { name, nodes, ports, .. } = wire;
        Self { name, nodes, ports, directions, too_long: [0; 2] }
    }

    fn conditions(&self) -> [crate::link::Conditions; 2] {
        [*self.directions[0].conditions(), *self.directions[1].conditions()]
    }

    /// Takes frames that came to one port and offers them to the direction that begins there.
    fn take(&mut self, end: usize, batch: &mut Batch) {
        for _ in 0..TURNS {
            // An interface that was taken away brings nothing more.
            let Ok(taken) = self.ports[end].receive(batch) else { return };
            for frame in batch.frames() {
                if frame.is_truncated() {
                    self.too_long[end] += 1;
                    continue;
                }
                let direction = &mut self.directions[end];
                let mut blank = direction.blank();
                blank.fill(frame.bytes);
                direction.offer(frame.arrival, blank);
            }
            if taken < MOST_AT_ONCE {
                return;
            }
        }
    }

    /// Hands over all that is due.
    fn hand_over(&mut self, now: Tick, due: &mut Vec<Delivery>) {
        for way in 0..2 {
            loop {
                let direction = &mut self.directions[way];
                due.extend(std::iter::from_fn(|| direction.take_due(now)).take(MOST_AT_ONCE));
                if due.is_empty() {
                    break;
                }
                send(&self.ports[1 - way], direction, due);
            }
        }
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
        let outcome = port.send(&frames[..left.len()]);
        let sent = *outcome.as_ref().unwrap_or(&0);
        let at = clock::now();
        waiting.by_ref().take(sent).for_each(|delivery| direction.sent(delivery, at));
        if sent == 0 {
            refused(outcome, &mut waiting, direction);
        }
    }
}

/// The exit took nothing: the first frame is lost, or all of them where it has no room.
fn refused(
    outcome: io::Result<usize>,
    waiting: &mut impl Iterator<Item = Delivery>,
    direction: &mut Direction,
) {
    let lost = if outcome.is_ok() { usize::MAX } else { 1 };
    waiting.take(lost).for_each(|delivery| direction.not_sent(delivery));
}
