//! One machine's turn: does for it what an engine does, one thing at a time.
//!
//! Each step is one call of `event`, one `gather` or `fill` with its `sent`, or one `received`; after
//! each, `want` is asked once, and its answer holds until the next. While the system has a send (`flight`), what comes is shown and
//! nothing else is done.

use pathscope_core::Tick;
use pathscope_core::id::Lane;

use super::Ends;
use super::end::End;
use super::outcome::{Breach, Waiting};
use super::pipe::Pipe;
use super::transit::Listener;
use super::world::{EndKey, Happening, World};
use crate::{Close, Event, Machine};

/// A machine with everything that it touches.
pub(super) struct Site<'sim, M: Machine> {
    pub(super) key: EndKey,
    pub(super) end: &'sim mut End<M>,
    pub(super) shared: &'sim mut M::Shared,
    pub(super) lanes: &'sim mut [Ends<Pipe>],
    pub(super) world: &'sim mut World,
}

/// What the simulator does with a machine of either type.
pub(super) trait AnySite {
    /// Does the next thing; `false` when there is nothing to do until something happens.
    fn step(&mut self) -> Result<bool, Breach>;

    /// Has the machine told of something.
    fn tell(&mut self, event: Event);

    /// The connection of a lane is gone.
    fn break_lane(&mut self, lane: Lane, errno: i32);

    /// The process dies.
    fn kill(&mut self);

    /// Whether a timer set for `at` still counts.
    fn awaits(&self, at: Tick) -> bool;

    /// The timer has fired.
    fn disarm(&mut self);

    /// What the machine waits for; `None` when it is over.
    fn waiting(&self) -> Option<Waiting>;

    /// When it was over.
    fn over_at(&self) -> Option<Tick>;
}

impl<M: Machine> AnySite for Site<'_, M> {
    fn step(&mut self) -> Result<bool, Breach> {
        if self.end.closing == Some(Close::Graceful) && self.receive_limit().is_none() {
            self.drain();
        }
        if self.end.over_at.is_some() {
            return Ok(false);
        }
        if self.end.flight.is_some() {
            return self.fly();
        }
        if self.be_told() || self.transfer()? || self.be_told_of_an_end() {
            if self.end.flight.is_none() {
                self.ask()?;
            }
            return Ok(true);
        }
        self.arm();
        Ok(false)
    }

    fn tell(&mut self, event: Event) {
        self.end.tell(event);
        self.world.make_ready(self.key);
    }

    fn break_lane(&mut self, lane: Lane, errno: i32) {
        if !self.end.sockets[lane.index()].is_dead {
            self.drop_lane(lane);
            self.tell(Event::Reset { lane, errno });
        }
    }

    fn kill(&mut self) {
        self.retire();
        for lane in self.every_lane() {
            self.finish(lane);
            self.incoming(lane).stop_receiving(Listener::Dead);
        }
    }

    fn awaits(&self, at: Tick) -> bool {
        self.end.armed == Some(at)
    }

    fn disarm(&mut self) {
        self.end.armed = None;
        self.world.make_ready(self.key);
    }

    fn waiting(&self) -> Option<Waiting> {
        let EndKey { flow, role } = self.key;
        self.end.over_at.is_none().then(|| Waiting {
            flow,
            role,
            started: self.end.started,
            phase: self.end.phase,
            totals: self.end.machine.totals(),
            want: self.end.want,
            unsent_bytes: self.lanes.iter().map(|lane| lane[role].unsent_bytes()).sum(),
            unread_bytes: self.lanes.iter().map(|lane| lane[role.peer()].unread_bytes()).sum(),
        })
    }

    fn over_at(&self) -> Option<Tick> {
        self.end.over_at
    }
}

/// Events.
impl<M: Machine> Site<'_, M> {
    fn be_told(&mut self) -> bool {
        let now = self.now();
        let event = self.end.next_told().or_else(|| self.is_due().then_some(Event::Wake));
        event.is_some_and(|event| {
            self.end.started |= event == Event::Start;
            self.deliver(event, now);
            true
        })
    }

    /// Whether the timer's time has come.
    pub(super) fn is_due(&self) -> bool {
        let firing = self.end.want.wake.map(|wake| self.world.firing(self.key.role, wake));
        firing.is_some_and(|firing| firing <= self.world.now)
    }

    /// A lane whose stream has ended, once everything before that has been shown.
    pub(super) fn ended_lane(&self) -> Option<Lane> {
        if self.receive_limit().is_none() && self.end.closing != Some(Close::Graceful) {
            return None;
        }
        let from = self.key.role.peer();
        self.every_lane().find(|lane| {
            let told = self.end.sockets[lane.index()].end_told;
            let incoming = &self.lanes[lane.index()][from];
            !told && matches!(incoming, Pipe::Stream(pipe) if pipe.is_at_end())
        })
    }

    fn be_told_of_an_end(&mut self) -> bool {
        self.ended_lane().is_some_and(|lane| {
            self.end.sockets[lane.index()].end_told = true;
            self.deliver(Event::PeerClosed(lane), self.now());
            true
        })
    }

    fn deliver(&mut self, event: Event, now: Tick) {
        self.reconsider();
        self.end.machine.event(self.shared, event, now);
    }

    pub(super) fn arm(&mut self) {
        let wake = self.end.want.wake.filter(|wake| *wake != Tick::NEVER);
        let at = wake.map(|wake| self.world.firing(self.key.role, wake));
        if let Some(at) = at.filter(|at| Some(*at) != self.end.armed) {
            self.world.at(at, Happening::Wake(self.key));
        }
        self.end.armed = at;
    }
}
