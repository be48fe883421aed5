//! What is not bytes: the start, commands, timers, reports.

use std::fmt;
use std::time::Duration;

use pathscope_core::id::FlowId;
use pathscope_core::record::OffCpu;
use pathscope_core::{Tick, Wait};
use pathscope_flow::{ClockNeed, Event, FlowDatagrams, Machine, Shared, Totals, Transport};
use pathscope_os::Waker;

use super::{Called, EventLoop, Medium, Pause, Slot, SlotState};
use crate::calls::poll;
use crate::inbox::{Command, Letter, Notice};
use crate::{Ended, EngineError, SystemCalls, Trouble};

/// The longest that a timer is waited for on the clock. An answer that comes meanwhile is read so much later, and after
/// what the timer calls for.
const APPROACH_NS: u64 = 3_000;

/// How long a report may be kept for what is more urgent than telling it.
const KEPT_NS: u64 = 500_000;

/// A report that was taken when it was due, and is to be told.
pub(super) struct Kept<R> {
    /// What went through each flow until then, where that is to be told, too.
    flows: Option<Notice<R>>,
    notice: Notice<R>,
    /// Until when it may be kept.
    latest: Tick,
}

/// Without the report, of which nothing is asked but that it can be sent.
impl<R> fmt::Debug for Kept<R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Kept").field("latest", &self.latest).finish_non_exhaustive()
    }
}

impl<M: Machine, S: SystemCalls> EventLoop<M, S> {
    /// When the next timer or report is due, or one that is kept is to be told, or the engine is to look at sockets.
    #[inline]
    pub fn due(&self) -> Tick {
        let timer = self.timers.next().min(self.look_by);
        match &self.kept {
            None => timer.min(self.reports.due()),
            Some(kept) if timer <= kept.latest => timer,
            Some(kept) if self.flights.sends > 0 => kept.latest,
            Some(_) => Tick::ZERO,
        }
    }

    /// Whether there may be letters that it has not read.
    #[cfg_attr(pathscope_other, expect(dead_code, reason = "for the epoll engine alone"))]
    pub fn is_called(&self) -> bool {
        self.inbox.is_raised()
    }

    /// Attends to all there is, as of the last clock reading. No system call where there is nothing.
    #[inline]
    pub fn attend(&mut self) {
        if self.inbox.is_raised() {
            self.inbox.waker().clear();
            self.hear();
        }
        if self.now >= self.due() {
            self.take_reports_that_are_due();
            self.fire_timers();
            self.tell_unless_somebody_is_expected();
        }
    }

    /// After a turn since `began` in which nothing moved: where the next timer is due before another such turn would
    /// end, waits for it on the clock. A turn is a system call or two; a timer would be late by half of one on average.
    #[inline]
    pub fn approach(&mut self, began: Tick) {
        let due = self.timers.next();
        if due.nanos_since(began) > 2 * APPROACH_NS {
            return;
        }
        self.tick();
        let turn_ns = self.now.nanos_since(began).min(APPROACH_NS);
        while self.now < due && due.nanos_since(self.now) <= turn_ns {
            let last = self.now;
            self.tick();
            if self.now <= last {
                // It cannot be waited for on a clock that stands.
                return;
            }
        }
    }

    /// Waits for `begin`, then starts every flow. Told to stop before, they are started at once, so
    /// that each has had its start before anything else.
    pub(super) fn begin(&mut self, begin: Tick) -> Result<(), EngineError> {
        let early = self.await_begin(begin)?;
        self.rest.moved();
        // A turn of one that moves streams may take long by itself.
        self.account.off_cpu = (self.account.wait == Wait::Spin
            && M::CLOCK == ClockNeed::EveryOperation)
            .then(OffCpu::default);
        if self.left.is_some() {
            return Ok(());
        }
        for place in 0..self.slots.len() {
            self.notify(place, Event::Start);
        }
        for command in early {
            self.obey(command);
        }
        Ok(())
    }

    fn await_begin(&mut self, begin: Tick) -> Result<Vec<Command>, EngineError> {
        let mut early = Vec::new();
        while self.now < begin && self.left.is_none() {
            self.inbox.waker().drain();
            early.extend(std::iter::from_fn(|| self.next_command()));
            let stops =
                |command: &Command| matches!(command, Command::Tell { event: Event::Stop, .. });
            if early.iter().any(stops) {
                break;
            }
            self.await_letter_or(begin)?;
            self.tick();
        }
        Ok(early)
    }

    fn await_letter_or(&mut self, due: Tick) -> Result<(), EngineError> {
        if self.rest.pause(self.now, due) == Pause::Spin {
            return Ok(());
        }
        let timeout = self.length_of_sleep(due);
        let waker = self.inbox.waker();
        match self.calls.wait(timeout, |timeout| poll(&mut [], waker, timeout)) {
            Err(Trouble::Failed(errno)) => Err(EngineError::Wait { errno }),
            _ => Ok(()),
        }
    }

    /// What to do when no flow can move.
    #[inline]
    pub fn pause(&mut self) -> Pause {
        self.rest.pause(self.now, self.due())
    }

    /// Waits as `pause` says by the call that the engine waits with, which is told for how long, and reads letters if the
    /// call says that there are any.
    pub fn wait(
        &mut self,
        pause: Pause,
        call: impl FnOnce(&mut [Slot<M>], (&Waker, Medium), Option<Duration>) -> Result<Called, Trouble>,
    ) -> Result<(), EngineError> {
        let timeout = match pause {
            // What was called for meanwhile is looked at in the next turn; until then nobody has to wake this thread for more.
            Pause::Sleep if self.inbox.waker().may_sleep() => self.length_of_sleep(self.due()),
            Pause::Sleep | Pause::Spin => Some(Duration::ZERO),
        };
        let Self { calls, slots, inbox, medium, .. } = self;
        let waited = calls.wait(timeout, |timeout| call(slots, (inbox.waker(), *medium), timeout));
        inbox.waker().stays_awake();
        match waited {
            Ok(Called::Yes) => {
                self.tick();
                self.inbox.waker().drain();
                self.hear();
            }
            Ok(Called::No) | Err(Trouble::Interrupted | Trouble::Blocked) => {}
            Err(Trouble::Failed(errno)) => return Err(EngineError::Wait { errno }),
        }
        Ok(())
    }

    /// How long a sleep is that begins now. Whatever was done since the clock was read, a visit or the telling of a
    /// report, would be slept again.
    fn length_of_sleep(&mut self, due: Tick) -> Option<Duration> {
        if self.rest.needs_the_time(self.now, due) {
            self.tick();
        }
        self.rest.length(self.now, due)
    }

    /// Reads letters. Also right where the waker's flag is not up any more: its descriptor may lag.
    fn hear(&mut self) {
        while let Some(command) = self.next_command() {
            self.obey(command);
        }
    }

    /// The next command to a flow. Others are carried out.
    fn next_command(&mut self) -> Option<Command> {
        match self.inbox.take() {
            Letter::Command(Command::Abandon) => self.left = Some(Ended::Abandoned),
            Letter::Command(command) => return Some(command),
            Letter::Empty => {}
            Letter::Orphaned => {
                self.left.get_or_insert(Ended::Orphaned);
            }
        }
        None
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Tell { flow: Some(flow), event } => {
                if let Some(place) = self.places.get(flow) {
                    self.notify(place, event);
                }
            }
            Command::Tell { flow: None, event } => {
                for place in 0..self.slots.len() {
                    self.notify(place, event);
                }
            }
            Command::TellFlows => self.tells_flows = true,
            Command::Admit => self.admit_all(),
            Command::Lanes => self.change_lanes(),
            Command::Look => self.outbox.send(Notice::Look, &self.sight()),
            Command::Abandon => self.left = Some(Ended::Abandoned),
        }
    }

    fn fire_timers(&mut self) {
        // One round: a timer set again for what is already past waits until bytes had their turn.
        let now = self.now;
        for _ in 0..self.slots.len() {
            let Some(place) = self.timers.pop_due(now) else { return };
            if self.slots[place].state == SlotState::Lingering {
                self.dismiss(place);
                continue;
            }
            self.slots[place].disarm();
            if self.slots[place].is_held_back() {
                self.look_at_prologue(place);
                continue;
            }
            if self.flights.count == 0 || !self.was_patient(place) {
                self.notify(place, Event::Wake);
                self.last_woken = Some(place);
            }
        }
    }

    /// Has each other flow ask at once what it holds, if it wants to know.
    #[cold]
    pub(super) fn have_others_weighed(&mut self, asking: usize) {
        for place in 0..self.slots.len() {
            if place != asking && self.slots[place].state == SlotState::Live {
                self.notify(place, Event::Weighing);
            }
        }
    }

    /// Tells a flow what happened outside of a visit, and has it visited.
    pub(super) fn notify(&mut self, place: usize, event: Event) {
        self.deliver(place, event);
        self.refresh(place);
        if self.slots[place].enters_queue() {
            self.roused.push(place as u32);
        }
    }

    /// Tells a flow what happened.
    pub(super) fn deliver(&mut self, place: usize, event: Event) {
        if self.keeps_for_later(place, event) {
            return;
        }
        if self.flights.count == 0 || !self.defers(place, event) {
            self.tell_machine(place, event);
        }
    }

    #[inline]
    pub(super) fn tell_machine(&mut self, place: usize, event: Event) {
        let slot = &mut self.slots[place];
        if slot.state == SlotState::Live {
            slot.machine.event(&mut self.shared, event, self.now);
            slot.touch();
        }
    }

    /// Reports hold what happened until they were due, and nothing of what happens after.
    fn take_reports_that_are_due(&mut self) {
        while self.now >= self.reports.due() {
            self.take_report();
        }
    }

    /// Tells what happened since the last report was due, and an interval that ends with the worker.
    pub(super) fn report_the_rest(&mut self) {
        self.take_reports_that_are_due();
        self.take_report();
        self.tell();
    }

    fn take_report(&mut self) {
        self.tell();
        let report = self.shared.report(self.now);
        let (index, start) = (self.reports.index(), self.reports.begin());
        let end = self.reports.cut_at(self.now);
        self.reports.advance(end);
        let flows = self.tells_flows.then(|| Notice::Flows { start, end, flows: self.totals() });
        let notice = Notice::Report { index, start, end, report };
        let latest = self.now.plus_nanos(KEPT_NS);
        self.kept = Some(Box::new(Kept { flows, notice, latest }));
    }

    /// What went through each flow so far. Those that are gone, so that others may come, are left out.
    fn totals(&self) -> Vec<(FlowId, Totals, Option<FlowDatagrams>)> {
        let is_there = |slot: &&Slot<M>| self.succession.is_none() || slot.state != SlotState::Over;
        let there = self.slots.iter().filter(is_there);
        let so_far = |machine: &M| (machine.id(), machine.totals(), machine.datagrams());
        there.map(|slot| so_far(&slot.machine)).collect()
    }

    /// Tells the report that was taken, unless a timer is due soon or has woken a flow that had no visit yet, or a send is in flight.
    ///
    /// Many timers are due with a report, or a round trip after it: both count from the session's start. What they send
    /// goes first, since to tell a report wakes the session, which has more to do than a punctual sender may be late.
    fn tell_unless_somebody_is_expected(&mut self) {
        let Some(latest) = self.kept.as_ref().map(|kept| kept.latest) else { return };
        let is_expected =
            self.timers.next() <= latest || self.last_woken.is_some() || self.flights.sends > 0;
        if self.now > latest || !is_expected {
            self.tell();
        }
    }

    fn tell(&mut self) {
        if let Some(kept) = self.kept.take() {
            let Kept { flows, notice, .. } = *kept;
            self.count_drops();
            flows.into_iter().for_each(|flows| self.outbox.send(flows, &self.sight()));
            self.outbox.send(notice, &self.sight());
        }
    }

    /// A flow has done what it could.
    #[inline]
    pub fn visited(&mut self, place: usize) {
        if self.last_woken == Some(place) {
            self.last_woken = None;
        }
    }

    /// Asks each datagram socket what it dropped. Here, since it costs a call each, and no byte waits.
    fn count_drops(&mut self) {
        if self.medium.transport == Transport::Stream {
            return;
        }
        for wire in self.slots.iter_mut().flat_map(|slot| &mut slot.wires) {
            wire.count_drops();
        }
    }
}
