//! One test from its acceptance to its end, as both ends keep it: which flows are there, which have
//! sent all they will, whose report is in, and how long all that may take.
//!
//! ```text
//!  Attaching --all there; start, started--> Starting --> Running --both reports--> over
//!                                                          |  ^
//!                                        stop, from any side, winds up: the flows are told,
//!                                        reports are exchanged all the same
//! ```
//!
//! In one file: one state that both ends share while a test is under way.

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Role};
use pathscope_core::quantity::Period;
use pathscope_flow::{Dialogue, Event, Group, GroupId, Output, Phase};
use pathscope_modes::groups::Test;
use pathscope_modes::registry::{EndInterval, EndReport};

use super::frame::BODY_MOST;
use super::line::Line;
use super::message::{FlowEnd, FlowTotal, Message};
use super::own_ends::OwnEnds;
use super::own_totals::OwnTotals;
use super::resumption::IntervalOffset;
use super::shorten::shorten;
use super::{Wishes, deadlines};
use crate::flow_set::{Added, FlowSet};
use crate::limits::stated_duration;
use crate::{Moment, PeerError};

/// These flows are told to finish.
pub(super) fn tell_stop<D: Dialogue<Error = PeerError>>(line: &mut Line<D>, groups: &[Group]) {
    for group in groups {
        line.put(Output::Tell { group: group.id, flow: None, event: Event::Stop });
    }
}

/// A connection is over at the other end. One that failed there is waited for no longer than a moment here.
fn hear_end<D: Dialogue<Error = PeerError>>(line: &mut Line<D>, end: FlowEnd) {
    let (group, flow, totals) = (end.group, end.flow, end.totals());
    let failure = end.into_failure();
    let has_failed = failure.is_some();
    line.put(Output::PeerEnded { group, flow, totals, failure });
    if has_failed {
        line.put(Output::Tell { group, flow: Some(flow), event: Event::PeerFailed });
    }
}

/// One test under way.
#[derive(Debug)]
pub(super) struct ActiveTest {
    test: Test,
    groups: Vec<Group>,
    stage: Stage,
    /// When flows could begin to attach.
    attach_begin: Tick,
    /// When the stage has taken too long.
    deadline: Option<Tick>,
    /// When the test as a whole has, and why it is stopped then.
    run_end: Option<(Tick, String)>,
    attached: FlowSet,
    totals: OwnTotals,
    ends: OwnEnds,
    /// Flows of the other end whose totals came.
    heard: FlowSet,
    reports: Reports,
    stopped: bool,
    stopped_from_here: bool,
    /// When the first report came, of either end.
    reported: Option<Tick>,
    /// When the flows began, and how many intervals the other end has told since.
    begun: Tick,
    intervals: u64,
    /// How the other end's intervals are numbered here.
    offset: IntervalOffset,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Stage {
    Attaching,
    AwaitingOthers,
    Starting,
    Running,
}

/// Whose report is said.
#[derive(Clone, Copy, Debug, Default)]
struct Reports {
    own: bool,
    peer: bool,
}

impl ActiveTest {
    /// A test that was just accepted, and the other end's wishes.
    pub fn new(test: Test, wishes: Wishes, now: Tick) -> Self {
        let groups = test.groups();
        let [attached, heard] = [(); 2].map(|()| FlowSet::new(&groups));
        let totals = OwnTotals::new(&groups, wishes.packs_totals);
        Self {
            test,
            groups,
            stage: Stage::Attaching,
            attach_begin: now,
            deadline: Some(now.plus_nanos(deadlines::ATTACH.0)),
            run_end: None,
            attached,
            heard,
            totals,
            ends: OwnEnds::new(wishes.ends),
            reports: Reports::default(),
            stopped: false,
            stopped_from_here: false,
            reported: None,
            begun: now,
            intervals: 0,
            offset: IntervalOffset::default(),
        }
    }

    /// What is tested.
    pub const fn test(&self) -> &Test {
        &self.test
    }

    /// Whether it goes on without its session: lanes come and go, nobody has wound it up, and the other end has not been
    /// told its total.
    pub fn outlives_its_session(&self) -> bool {
        self.is_running()
            && !self.stopped
            && !self.reports.own
            && !self.reports.peer
            && !self.totals.is_enough()
            && self.test.roams()
    }

    /// The other end began later than this one.
    pub const fn number_from(&mut self, offset: IntervalOffset) {
        self.offset = offset;
    }

    /// Where in the dialogue this is.
    pub const fn moment(&self) -> Moment {
        match self.stage {
            Stage::Attaching | Stage::AwaitingOthers => Moment::Attaching,
            Stage::Starting => Moment::Starting,
            Stage::Running => Moment::Running,
        }
    }

    /// Whether flows run, or have run.
    pub fn is_running(&self) -> bool {
        self.stage == Stage::Running
    }

    /// Whether both reports are said.
    pub const fn is_over(&self) -> bool {
        self.reports.own && self.reports.peer
    }

    /// Whether all flows are attached.
    pub const fn is_complete(&self) -> bool {
        self.attached.is_full()
    }

    /// How long the test may run where its plan states a duration: that, and time to drain.
    pub fn longest_run(&self) -> Option<Period> {
        let stated = stated_duration(&self.test)?;
        Some(Period(stated.0.saturating_add(deadlines::OVERTIME.0)))
    }

    /// A flow is attached: the next gets its time anew, as long as they keep their pace.
    pub fn attach(&mut self, group: GroupId, flow: FlowId, now: Tick) {
        if self.attached.add(&self.groups, group, flow) == Added::New
            && self.stage == Stage::Attaching
        {
            let next = now.plus_nanos(deadlines::ATTACH.0);
            self.deadline = Some(next.min(self.attach_pace()));
        }
    }

    /// When the next flow has to be there at the latest: all of them have a fixed time, and each its share of that, so that
    /// many are not held for long by one that comes now and then. Beside it there is the time that one may take.
    fn attach_pace(&self) -> Tick {
        let (attached, flows) = self.attached.progress();
        let all = deadlines::ATTACH_ALL.0;
        let share = u128::from(all) * u128::from(attached + 1) / u128::from(flows.max(1));
        let share = u64::try_from(share).unwrap_or(all);
        let begin = self.attach_begin;
        begin.plus_nanos(deadlines::ATTACH.0.saturating_add(share)).min(begin.plus_nanos(all))
    }

    /// Every flow is there, and the test is to start with others, which may not be ready. Whether that is new.
    pub fn await_others(&mut self, now: Tick) -> bool {
        if self.stage != Stage::Attaching {
            return false;
        }
        self.stage = Stage::AwaitingOthers;
        self.deadline = Some(now.plus_nanos(deadlines::OTHERS.0));
        true
    }

    /// Whether that is so.
    pub fn awaits_others(&self) -> bool {
        self.stage == Stage::AwaitingOthers
    }

    /// The client has said that it is ready, or has heard so.
    pub fn await_start(&mut self, now: Tick) {
        self.stage = Stage::Starting;
        self.deadline = Some(now.plus_nanos(deadlines::START.0));
    }

    /// The flows begin. They are stopped for `reason` when they run for longer than `most`.
    pub fn run(&mut self, most: Option<Period>, reason: String, now: Tick) {
        self.stage = Stage::Running;
        (self.begun, self.intervals) = (now, 0);
        self.deadline = None;
        self.run_end = most.map(|most| (now.plus_nanos(most.0), reason));
    }

    /// A flow of this end changed its phase. The first that is no longer `Running` fixes its total.
    pub fn phase<D>(
        &mut self,
        line: &mut Line<D>,
        total: FlowTotal,
        phase: Phase,
        now: Tick,
    ) -> Result<(), PeerError>
    where
        D: Dialogue<Error = PeerError>,
    {
        if self.reports.own || phase < Phase::SendingDone {
            return Ok(());
        }
        self.totals.add(&self.groups, total, now);
        let is_time = self.is_running() && self.totals.is_enough();
        if is_time { self.totals.say(line) } else { Ok(()) }
    }

    /// A connection is over at this end.
    pub fn ended<D>(&mut self, line: &mut Line<D>, end: FlowEnd, now: Tick) -> Result<(), PeerError>
    where
        D: Dialogue<Error = PeerError>,
    {
        if self.reports.own || !self.is_running() {
            return Ok(());
        }
        self.ends.add(end, now);
        if self.ends.is_enough() { self.ends.say(line) } else { Ok(()) }
    }

    /// An interval of this end.
    pub fn interval<D>(
        &mut self,
        line: &mut Line<D>,
        interval: Box<EndInterval>,
        now: Tick,
    ) -> Result<(), PeerError>
    where
        D: Dialogue<Error = PeerError>,
    {
        if !self.is_running() || self.reports.own {
            return Ok(());
        }
        self.note_progress(&interval, now);
        if self.test.plan.has_moved_in(&interval) && self.test.roams() {
            // Its datagrams came, though the control connection may be on a path that is gone.
            line.heard(now);
        }
        line.say(&Message::Interval(interval))
    }

    /// All flows of this end are over.
    pub fn report<D>(
        &mut self,
        line: &mut Line<D>,
        report: Box<EndReport>,
        now: Tick,
    ) -> Result<(), PeerError>
    where
        D: Dialogue<Error = PeerError>,
    {
        if !self.is_running() || self.reports.own {
            return Ok(());
        }
        self.totals.say(line)?;
        self.ends.say(line)?;
        self.reports.own = true;
        self.wind_up(now);
        line.say(&Message::Report(shorten(report, BODY_MOST)))
    }

    /// The other end said something about the running test.
    pub fn hear<D>(
        &mut self,
        line: &mut Line<D>,
        message: Message,
        now: Tick,
    ) -> Result<(), PeerError>
    where
        D: Dialogue<Error = PeerError, Interval = EndInterval, Report = EndReport>,
    {
        match message {
            Message::Interval(mut interval) if self.may_hear() => {
                self.intervals += 1;
                if self.intervals > self.intervals_most(now) {
                    let what = "it told more intervals than there was time for";
                    return Err(line.breach(self.moment(), &what));
                }
                self.note_progress(&interval, now);
                self.offset.apply(&mut interval);
                line.put(Output::PeerInterval(interval));
                Ok(())
            }
            Message::Totals(totals) | Message::PackedTotals(totals) if self.may_hear() => {
                self.hear_totals(line, &totals)
            }
            Message::Ended(ends) if self.may_hear() => {
                ends.into_iter().for_each(|end| hear_end(line, end));
                Ok(())
            }
            Message::Report(report) if self.may_hear() => {
                self.reports.peer = true;
                self.wind_up(now);
                line.put(Output::PeerReport(report));
                Ok(())
            }
            other => Err(line.unexpected(self.moment(), &other)),
        }
    }

    /// Winds up: the flows are told to finish, and both reports have a fixed time.
    pub fn stop<D: Dialogue<Error = PeerError>>(&mut self, line: &mut Line<D>, now: Tick) {
        if self.stopped {
            return;
        }
        self.stopped = true;
        self.run_end = None;
        self.deadline = Some(now.plus_nanos(self.patience().0));
        self.tell_stop(line);
    }

    /// This end wants to stop. Wanted a second time, the other end is waited for no longer.
    pub fn stop_from_here<D>(
        &mut self,
        line: &mut Line<D>,
        reason: &str,
        now: Tick,
    ) -> Result<(), PeerError>
    where
        D: Dialogue<Error = PeerError>,
    {
        if self.stopped_from_here {
            return Err(line.stopped(line.role, self.moment(), reason));
        }
        self.stopped_from_here = true;
        self.stop(line, now);
        line.say_stop(reason)
    }

    /// The dialogue has failed: flows that run are told to finish, and what they measured remains. `is_lost`: the other end is
    /// gone, and nobody's wish to stop is what ended it.
    pub fn abandon<D: Dialogue<Error = PeerError>>(&self, line: &mut Line<D>, is_lost: bool) {
        if self.is_running() && is_lost {
            for group in &self.groups {
                line.put(Output::Tell { group: group.id, flow: None, event: Event::PeerLost });
            }
        }
        if self.is_running() && !self.stopped {
            self.tell_stop(line);
        }
    }

    fn tell_stop<D: Dialogue<Error = PeerError>>(&self, line: &mut Line<D>) {
        tell_stop(line, &self.groups);
    }

    /// The deadline has come: says what has gathered, stops what runs too long, finds who is late.
    pub fn expire<D>(&mut self, line: &mut Line<D>, now: Tick) -> Result<(), PeerError>
    where
        D: Dialogue<Error = PeerError>,
    {
        if self.say_at().is_some_and(|at| now >= at) {
            self.totals.say(line)?;
        }
        if self.ends.say_at().is_some_and(|at| now >= at) {
            self.ends.say(line)?;
        }
        if self.deadline.is_some_and(|deadline| now >= deadline) {
            return Err(self.late(line.role));
        }
        if let Some((_, reason)) = self.run_end.take_if(|(end, _)| now >= *end) {
            line.say_stop(&reason)?;
            self.stop(line, now);
        }
        Ok(())
    }

    /// When to come back.
    pub fn deadline(&self) -> Option<Tick> {
        let run_end = self.run_end.as_ref().map(|&(end, _)| end);
        [self.deadline, self.say_at(), self.ends.say_at(), run_end].into_iter().flatten().min()
    }

    /// A flow may fail before the test runs; its total is told after.
    fn say_at(&self) -> Option<Tick> {
        self.totals.say_at().filter(|_| self.is_running())
    }

    fn may_hear(&self) -> bool {
        self.is_running() && !self.reports.peer
    }

    fn hear_totals<D>(&mut self, line: &mut Line<D>, totals: &[FlowTotal]) -> Result<(), PeerError>
    where
        D: Dialogue<Error = PeerError>,
    {
        for &FlowTotal { group, flow, total } in totals {
            if self.heard.add(&self.groups, group, flow) != Added::New {
                let what =
                    format!("a total of flow {flow}, group {}, is unknown or told twice", group.0);
                return Err(line.breach(self.moment(), &what));
            }
            line.put(Output::Tell { group, flow: Some(flow), event: Event::PeerTotal(total) });
        }
        Ok(())
    }

    /// How many intervals the other end can have told by now. The first may have come sooner than the word that its flows
    /// run, by as long as words are waited for at all, and its clock may be a hundredth faster.
    fn intervals_most(&self, now: Tick) -> u64 {
        /// Such as those that an end cuts short.
        const MORE: u64 = 16;
        let elapsed_ns = now.nanos_since(self.begun);
        let most_ns =
            elapsed_ns.saturating_add(elapsed_ns / 100).saturating_add(deadlines::SILENCE.0);
        most_ns / self.test.report_every_ns.0.max(1) + MORE
    }

    /// A report is in. The other has to follow, unless data still moves: a slow path drains for long, but not for ever,
    /// whatever the other end says that moves.
    fn wind_up(&mut self, now: Tick) {
        if !self.stopped {
            let first = *self.reported.get_or_insert(now);
            let last = first.plus_nanos(self.longest_patience().0);
            self.deadline = Some(now.plus_nanos(self.patience().0).min(last));
        }
    }

    /// How long the second report is waited for after the first.
    const fn longest_patience(&self) -> Period {
        Period(deadlines::OVERTIME.0.saturating_add(self.patience().0))
    }

    /// What the deadline of a report was, that has passed.
    fn patience_passed(&self) -> Period {
        let last = self.reported.map(|first| first.plus_nanos(self.longest_patience().0));
        if !self.stopped && last.is_some() && last == self.deadline {
            self.longest_patience()
        } else {
            self.patience()
        }
    }

    /// How long a report is waited for: while nobody has stopped, until the next interval has told
    /// whether data still moves.
    const fn patience(&self) -> Period {
        if self.stopped {
            deadlines::REPORT
        } else {
            Period(deadlines::REPORT.0.saturating_add(self.test.report_every_ns.0))
        }
    }

    fn note_progress(&mut self, interval: &EndInterval, now: Tick) {
        if self.deadline.is_some() && self.test.plan.has_moved_in(interval) {
            self.wind_up(now);
        }
    }

    fn late(&self, role: Role) -> PeerError {
        let who = role.peer();
        let is_behind = self.deadline.is_some_and(|deadline| deadline >= self.attach_pace());
        match self.stage {
            Stage::Attaching if !self.is_complete() && is_behind => PeerError::Late {
                who: Role::Client,
                what: "set up the test's flows at a pace that has all of them there",
                limit: deadlines::ATTACH_ALL,
            },
            Stage::Attaching | Stage::Starting if !self.is_complete() => PeerError::Late {
                who: Role::Client,
                what: "set up the next of the test's flows",
                limit: deadlines::ATTACH,
            },
            Stage::Attaching => PeerError::Late { who, what: "start", limit: deadlines::ATTACH },
            Stage::AwaitingOthers => PeerError::Late {
                who: Role::Client,
                what: "have every server of its run ready to start",
                limit: deadlines::OTHERS,
            },
            Stage::Starting => PeerError::Late { who, what: "start", limit: deadlines::START },
            Stage::Running if self.reports.own => PeerError::Late {
                who,
                what: "send its final report",
                limit: self.patience_passed(),
            },
            Stage::Running => {
                let since = if self.stopped { "of the stop" } else { "of the other end's" };
                PeerError::Unfinished { limit: self.patience_passed(), since }
            }
        }
    }
}
