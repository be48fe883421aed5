//! One direction of a link as a machine in virtual time: frames in, frames out when they are due.
//!
//! It reads no clock and moves no bytes. A driver offers it what comes in, asks when something is
//! due, takes it and says when it handed it over; time is whatever ticks the driver passes.
//! Everything is computed from the ticks of arrival, so a driver that is late delivers late and
//! shifts nothing else.

mod fate;
mod sender;
#[cfg(test)]
mod tests;
mod transmitter;
mod wire;

use pathscope_core::Tick;

use self::fate::Fate;
use self::sender::Sender;
use self::wire::Wire;
use super::frame::{Frame, Pool};
use super::ledger::{DamagedFrame, Ledger, Place, Row, Truth};
use super::packet;
use super::random::Seed;
use super::{Conditions, ConditionsError, Counts, Order};

/// Frames that one direction holds, waiting and on their way. With a rate there are at most the
/// queue and `rate` x (`delay` + `jitter`) of them, and those held back; this is what bounds them
/// without.
pub const MOST_FRAMES: u64 = 131_072;
/// Bytes of storage that these frames take.
pub const MOST_BYTES: u64 = 256 << 20;

/// One direction of a link.
///
/// Memory is bounded: what would go beyond [`MOST_FRAMES`] or [`MOST_BYTES`] is lost and counted as
/// overrun. Storage is used again, so that a steady stream allocates nothing; as much as
/// [`MOST_BYTES`] of it waits for that.
#[derive(Debug)]
pub struct Direction {
    conditions: Conditions,
    is_cut: bool,
    last_arrival: Tick,
    sender: Sender,
    fate: Fate,
    wire: Wire,
    load: Load,
    pool: Pool,
    ledger: Ledger,
}

/// A frame within the machine, and where it is counted.
#[derive(Debug)]
struct Carried {
    frame: Frame,
    row: Row,
}

/// A frame at the far end. Give it back by [`Direction::sent`] or [`Direction::not_sent`]: until
/// then it counts as in flight.
#[derive(Debug)]
#[must_use = "a frame that is not given back is in flight for ever"]
pub struct Delivery {
    carried: Carried,
    due: Tick,
    was_passed: bool,
}

impl Delivery {
    /// The frame's bytes.
    pub fn bytes(&self) -> &[u8] {
        self.carried.frame.bytes()
    }

    /// When it arrives.
    pub fn due(&self) -> Tick {
        self.due
    }
}

impl Direction {
    /// An idle direction. The same seed and the same offers have the same outcome.
    pub fn new(conditions: Conditions, seed: Seed) -> Self {
        let mut sender = Sender::default();
        sender.set_rate(conditions.rate);
        Self {
            conditions,
            is_cut: false,
            last_arrival: Tick::ZERO,
            sender,
            fate: Fate::new(seed),
            wire: Wire::default(),
            load: Load::default(),
            pool: Pool::new(MOST_BYTES),
            ledger: Ledger::default(),
        }
    }

    /// What it does to frames.
    pub fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    /// Whether it is cut.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// What became of every frame so far. A copy of a row for each flow.
    pub fn truth(&self) -> Truth {
        self.ledger.truth()
    }

    /// The same of all frames together, without a row for each flow.
    pub fn total(&self) -> Counts {
        self.ledger.total()
    }

    /// An empty frame to read into and offer, with storage that was used before where there is
    /// some.
    pub fn blank(&mut self) -> Frame {
        self.pool.take()
    }

    /// A frame came to the entrance at `arrived`, which may be a little past. Offer frames in the
    /// order in which they came, and before taking what is due: one that came before another that
    /// was offered already counts as come with it.
    pub fn offer(&mut self, arrived: Tick, frame: Frame) {
        let arrived = arrived.max(self.last_arrival);
        self.last_arrival = arrived;
        self.advance(arrived);
        let row = self.ledger.row(packet::read(frame.bytes()).flow);
        self.ledger.count(row, |counts| &mut counts.offered, frame.len());
        let carried = Carried { frame, row };
        if self.is_cut {
            return self.discard(carried, |counts| &mut counts.cut);
        }
        self.sender.look(&mut self.ledger.queue);
        if !self.sender.admits(self.conditions.queue, carried.frame.len()) {
            return self.discard(carried, |counts| &mut counts.dropped);
        }
        if !self.load.admits(&carried.frame) {
            return self.discard(carried, |counts| &mut counts.overrun);
        }
        self.load.add(&carried.frame);
        self.sender.accept(arrived, carried, &mut self.ledger.queue);
        // Without a rate it has been sent already.
        self.advance(arrived);
    }

    /// When to ask for what is due; `None` while nothing is on its way. Never too late; too early
    /// where a frame is still to be sent, since only then it shows whether and when it arrives.
    pub fn next_due(&self) -> Option<Tick> {
        let shortest = self.conditions.delay.0.saturating_sub(self.conditions.jitter.0);
        let entering = self.sender.next_end().map(|end| end.plus_nanos(shortest));
        self.wire.next_due(entering)
    }

    /// The next frame that has arrived by `now`, in the order of arrival. Ask until there is none.
    pub fn take_due(&mut self, now: Tick) -> Option<Delivery> {
        self.take_due_of(now, now)
    }

    /// The same where only frames that came by `known` have been offered: those on the wire arrive,
    /// and the queue stays as it was at `known`, since it is not yet certain who comes to it.
    pub fn take_due_of(&mut self, now: Tick, known: Tick) -> Option<Delivery> {
        self.advance(known.min(now));
        let due = self.wire.arrived_by(now)?;
        self.load.remove(&due.carried.frame);
        Some(Delivery { carried: due.carried, due: due.at, was_passed: due.was_passed })
    }

    /// A frame was handed over at `at`.
    pub fn sent(&mut self, delivery: Delivery, at: Tick) {
        self.ledger.late_by(at.nanos_since(delivery.due));
        if delivery.was_passed {
            let Carried { frame, row } = &delivery.carried;
            self.ledger.count(*row, |counts| &mut counts.reordered, frame.len());
        }
        self.discard(delivery.carried, |counts| &mut counts.delivered);
    }

    /// A frame could not be handed over: the exit took no more. It counts as overrun.
    pub fn not_sent(&mut self, delivery: Delivery) {
        self.discard(delivery.carried, |counts| &mut counts.overrun);
    }

    /// Obeys from `now` on.
    ///
    /// Frames that are being sent keep their rate, those on their way keep their delay and those
    /// held back keep waiting; those that wait to be sent get the new conditions, and no frame
    /// overtakes another by a shorter delay. A queue that became too small drops nothing that waits
    /// already. A cut takes all that has not arrived by `now`. What a link cannot be like is
    /// refused, and all stays as it was.
    pub fn obey(&mut self, now: Tick, order: &Order) -> Result<(), ConditionsError> {
        match order {
            Order::Change(change) => {
                let after = self.conditions.after(change)?;
                self.advance(now);
                self.sender.set_rate(after.rate);
                self.conditions = after;
            }
            Order::Cut => {
                self.advance(now);
                self.cut(now);
            }
            Order::Restore => self.is_cut = false,
        }
        Ok(())
    }

    /// Does all that happens until `now`.
    fn advance(&mut self, now: Tick) {
        while let Some((ended, carried)) = self.sender.sent_by(now, &mut self.ledger.queue) {
            self.enter(ended, carried);
        }
        self.wire.release_by(now);
    }

    /// A frame has been sent: it enters the wire, or does not.
    fn enter(&mut self, ended: Tick, mut carried: Carried) {
        if self.fate.loses(self.conditions.loss) {
            self.load.remove(&carried.frame);
            return self.discard(carried, |counts| &mut counts.lost);
        }
        self.corrupt(ended, &mut carried);
        let copy = self.duplicate(&carried);
        let Conditions { delay, jitter, reordering, .. } = self.conditions;
        let due = ended.plus_nanos(self.fate.delay_ns(delay, jitter));
        if self.fate.holds_back(reordering.chance) {
            self.wire.hold(due, carried, copy, reordering);
        } else {
            self.wire.carry(due, carried, copy);
        }
    }

    fn corrupt(&mut self, ended: Tick, carried: &mut Carried) {
        let Some(generator) = self.fate.corrupts(self.conditions.corruption) else { return };
        let Carried { frame, row } = carried;
        let packet = packet::read(frame.bytes());
        if let Some(damage) = packet::damage(frame.bytes_mut(), &packet, generator) {
            let (flow, at_ns) = (packet.flow, ended.as_nanos());
            self.ledger.damaged(DamagedFrame { flow, at_ns, damage });
            self.ledger.count(*row, |counts| &mut counts.corrupted, frame.len());
        } else {
            self.ledger.count(*row, |counts| &mut counts.spared, frame.len());
        }
    }

    fn duplicate(&mut self, carried: &Carried) -> Option<Carried> {
        if !self.fate.duplicates(self.conditions.duplication) {
            return None;
        }
        let mut frame = self.pool.take();
        frame.fill(carried.frame.bytes());
        let copy = Carried { frame, row: carried.row };
        self.ledger.count(copy.row, |counts| &mut counts.duplicated, copy.frame.len());
        if !self.load.admits(&copy.frame) {
            self.discard(copy, |counts| &mut counts.overrun);
            return None;
        }
        self.load.add(&copy.frame);
        Some(copy)
    }

    fn cut(&mut self, now: Tick) {
        self.is_cut = true;
        for carried in self.sender.cut(now).chain(self.wire.cut(now)) {
            self.load.remove(&carried.frame);
            self.ledger.count(carried.row, |counts| &mut counts.cut, carried.frame.len());
            self.pool.give_back(carried.frame);
        }
    }

    /// A frame's way ends: it is counted, and its storage used again.
    fn discard(&mut self, carried: Carried, place: Place) {
        self.ledger.count(carried.row, place, carried.frame.len());
        self.pool.give_back(carried.frame);
    }
}

/// What the frames in the machine take.
#[derive(Debug, Default)]
struct Load {
    frames: u64,
    bytes: u64,
}

impl Load {
    fn admits(&self, frame: &Frame) -> bool {
        self.frames < MOST_FRAMES && self.bytes + frame.storage_bytes() <= MOST_BYTES
    }

    fn add(&mut self, frame: &Frame) {
        self.frames += 1;
        self.bytes += frame.storage_bytes();
    }

    fn remove(&mut self, frame: &Frame) {
        self.frames -= 1;
        self.bytes -= frame.storage_bytes();
    }
}
