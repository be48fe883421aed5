//! A test of a sender as it runs at a server: by when what has to have happened, and whether it has ended as it was to.

use pathscope_core::Tick;
use pathscope_core::id::Role;
use pathscope_core::quantity::Period;
use pathscope_modes::groups::Test;

use crate::dialogue::STOP_TAKES;
use crate::limits::duration_reached;
use crate::{Moment, PeerError};

/// A test in which nothing moves for so long is given up.
pub(super) const QUIET: Period = Period::from_secs(60);
/// A sender is given so much more time than was agreed on.
const OVERTIME: Period = Period::from_secs(15);
/// When it has said that it ends, or is gone, all connections have ended within this time.
const REST: Period = Period::from_secs(10);
/// One that is gone so much before its time has not ended as it was to: its clock begins when it hears that this end has begun.
const EARLY: Period = Period::from_secs(1);

/// A test that runs.
#[derive(Debug)]
pub(super) struct Run {
    pub test: Box<Test>,
    started: Tick,
    /// By then something has to have moved.
    pub quiet_at: Tick,
    /// By then all flows are to be over.
    pub over_at: Tick,
    /// Whether the sender has said that it ends.
    pub has_ended: bool,
    pub is_stopped: bool,
    /// When the sender of datagrams was gone, or had said that it ends: what was on its way has been awaited since.
    drains_since: Option<Tick>,
    /// Why it was stopped, where that is somebody's fault.
    fault: Option<PeerError>,
}

impl Run {
    /// It begins, and lasts as long as was agreed on, or as any may where nothing was.
    pub fn begin(
        test: Box<Test>,
        (cycle, limit): (Option<Period>, Option<Period>),
        now: Tick,
    ) -> Self {
        let overtime = |cycle: Period| Period(cycle.0.saturating_add(OVERTIME.0));
        let most = cycle.map(overtime).or(limit);
        let over_at = most.map_or(Tick::NEVER, |most| now.plus_nanos(most.0));
        let (has_ended, is_stopped, fault) = (false, false, None);
        let quiet_at = Tick::NEVER;
        let mut run = Self {
            test,
            started: now,
            quiet_at,
            over_at,
            has_ended,
            is_stopped,
            drains_since: None,
            fault,
        };
        run.moved(now);
        run
    }

    /// Something moves.
    pub fn moved(&mut self, now: Tick) {
        let report = self.test.report_every_ns.0.saturating_mul(2);
        self.quiet_at = now.plus_nanos(QUIET.0.saturating_add(report));
    }

    /// The sender says that it ends.
    pub fn ends(&mut self, now: Tick) {
        self.has_ended = true;
        self.is_alone(now);
    }

    /// It says nothing any more.
    pub fn is_alone(&mut self, now: Tick) {
        self.over_at = self.over_at.min(now.plus_nanos(REST.0));
    }

    /// The sender has sent all, of which its flows know nothing: they are to take what is on its way. Whether that is new.
    pub fn drains(&mut self, now: Tick) -> bool {
        self.drains_since.replace(self.drains_since.unwrap_or(now)).is_none() && !self.is_stopped
    }

    /// It is to end now.
    pub fn stop(&mut self, fault: Option<PeerError>, now: Tick) {
        (self.is_stopped, self.fault) = (true, fault);
        self.over_at = now.plus_nanos(STOP_TAKES.0);
    }

    /// Whether a sender that is gone now has not sent for as long as it was to.
    pub fn is_early(&self, cycle: Option<Period>, now: Tick) -> bool {
        let lasted = Period(now.nanos_since(self.started).saturating_add(EARLY.0));
        cycle.is_some_and(|cycle| lasted < cycle)
    }

    /// What it came to, all flows being over.
    pub fn result(self, cycle: Option<Period>, now: Tick) -> Result<(), PeerError> {
        let ended = self.drains_since.unwrap_or(now);
        let is_its_own = !self.has_ended && !self.is_stopped;
        let is_early = is_its_own && self.is_early(cycle, ended);
        let gone = || {
            let (who, moment) = (Role::Client, Moment::Running);
            PeerError::Closed { who, moment, reason: None }
        };
        self.fault.or_else(|| is_early.then(gone)).map_or(Ok(()), Err)
    }
}

/// Whose fault it is that a test goes on for too long: of one whose end was not agreed on, this end allows no more.
pub(super) fn overdue(limit: Option<Period>) -> PeerError {
    match limit {
        Some(limit) => PeerError::Stopped {
            who: Role::Server,
            by_this_end: true,
            moment: Moment::Running,
            reason: duration_reached(limit),
        },
        None => PeerError::Late {
            who: Role::Client,
            what: "end its test after the time that it had asked for",
            limit: OVERTIME,
        },
    }
}
