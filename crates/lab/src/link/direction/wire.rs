//! What is on its way, in the order in which it will arrive, and what is held back to arrive later.

use std::collections::VecDeque;

use pathscope_core::Tick;

use super::Carried;
use crate::link::Reordering;

/// A delay line that is first in, first out, and beside it the frames that others are to pass.
///
/// Both are sorted by time: a frame is never due before the one ahead of it, and one that is held
/// back never leaves before one that was held back earlier. So each step looks at their fronts
/// alone.
#[derive(Debug, Default)]
pub struct Wire {
    line: VecDeque<Due>,
    held: VecDeque<Held>,
    last_due: Tick,
    /// Frames put into the line that were not held back: those that pass others.
    passed: u64,
}

/// A frame and when it arrives.
#[derive(Debug)]
pub struct Due {
    pub at: Tick,
    pub carried: Carried,
    /// Whether later frames of its flow arrived before it.
    pub was_passed: bool,
}

#[derive(Debug)]
struct Held {
    carried: Carried,
    /// Whether a later frame of its flow has arrived. Those of others change no order that an end could see.
    was_passed: bool,
    /// What `passed` has to be for it to go on;
    until: u64,
    /// or else this has to come.
    deadline: Tick,
}

impl Wire {
    /// Lets a frame arrive at `due` and its copy right behind it; both later where frames ahead
    /// of them do.
    pub fn carry(&mut self, due: Tick, carried: Carried, copy: Option<Carried>) {
        let due = due.max(self.last_due);
        self.release_by(due);
        for held in self.held.iter_mut().filter(|held| held.carried.row == carried.row) {
            held.was_passed = true;
        }
        self.push(due, carried, false);
        if let Some(copy) = copy {
            self.push(due, copy, false);
        }
        self.passed += 1;
        while let Some(held) = pop_if(&mut self.held, |held| held.until <= self.passed) {
            self.push(due, held.carried, held.was_passed);
        }
    }

    /// Holds a frame back that would have arrived at `due`, and its copy with it.
    pub fn hold(&mut self, due: Tick, carried: Carried, copy: Option<Carried>, by: Reordering) {
        let last = self.held.back();
        let until = self.passed + u64::from(by.distance);
        let deadline = due.max(self.last_due).plus_nanos(by.patience.0);
        // After a change of distance or patience they would overtake each other.
        let until = last.map_or(until, |last| last.until.max(until));
        let deadline = last.map_or(deadline, |last| last.deadline.max(deadline));
        let hold = |carried| Held { carried, was_passed: false, until, deadline };
        self.held.push_back(hold(carried));
        self.held.extend(copy.map(hold));
    }

    /// Lets those go on whose patience has ended by `now`.
    pub fn release_by(&mut self, now: Tick) {
        while let Some(held) = pop_if(&mut self.held, |held| held.deadline <= now) {
            self.push(held.deadline, held.carried, held.was_passed);
        }
    }

    /// The next frame that has arrived by `now`.
    pub fn arrived_by(&mut self, now: Tick) -> Option<Due> {
        pop_if(&mut self.line, |due| due.at <= now)
    }

    /// When the next frame arrives. `entering` is the earliest that one still to come could; it is
    /// never ahead of those in the line.
    pub fn next_due(&self, entering: Option<Tick>) -> Option<Tick> {
        let next = self.line.front().map(|due| due.at).or(entering);
        let held = self.held.front().map(|held| held.deadline);
        next.into_iter().chain(held).min()
    }

    /// Gives up all that has not arrived by `now`.
    pub fn cut(&mut self, now: Tick) -> impl Iterator<Item = Carried> {
        let arrived = self.line.partition_point(|due| due.at <= now);
        self.last_due = self.last_due.min(now);
        let line = self.line.drain(arrived..).map(|due| due.carried);
        line.chain(self.held.drain(..).map(|held| held.carried))
    }

    fn push(&mut self, due: Tick, carried: Carried, was_passed: bool) {
        self.last_due = self.last_due.max(due);
        self.line.push_back(Due { at: self.last_due, carried, was_passed });
    }
}

fn pop_if<T>(line: &mut VecDeque<T>, is_due: impl Fn(&T) -> bool) -> Option<T> {
    if line.front().is_some_and(is_due) { line.pop_front() } else { None }
}
