//! One test as one end runs it: from the sockets of its flows to its report.
//!
//! In one file: one test from its start to its report, as messages come.

mod delivery;
mod report;
#[cfg(test)]
#[cfg(not(pathscope_other))]
mod tests;
mod unrun;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane, Role, Token};
use pathscope_core::record::{Caveat, FlowErrorKind, SocketFacts, Substitution};
use pathscope_core::stats::LatencyHistogram;
use pathscope_core::tcp_look::TcpLook;
use pathscope_engines::{Command, LaneChange, Part};
use pathscope_flow::{Credentials, Event, GroupId, Phase, Resumed};
use pathscope_modes::conventions::Conventions;
use pathscope_modes::end::EndedConnections;
use pathscope_modes::flows::Begin;
use pathscope_modes::groups::Test;
use pathscope_modes::kernel_sending::KernelSending;
use pathscope_modes::pattern::SessionKey;
use pathscope_modes::registry::{EndInterval, EndReport, Tally};
use pathscope_os::sockets::{Socket, check_congestion_control};
use pathscope_os::{Waker, clock, fast_open};

use crate::connect::settings;
use crate::error::RunError;
use crate::findings::RunCaveat;
use crate::holders::Holders;
use crate::messages::attendance::Arrival;
use crate::messages::inbox::{FlowSocket, Inbox, TellsOpened};
use crate::messages::outcome::WorkerOutcome;
use crate::messages::replacements::Told;
use crate::paths::log::PathsRemote;
use crate::records::activity::Activity;
use crate::records::journal::Beginner;
use crate::records::lookout::{Senders, Watched};
use crate::records::samples::{SampleFile, SampleWriter};
use crate::session::group::{GroupState, Opened};
use crate::session::intervals::Collector;
use crate::threads;
use crate::workers::placement::Means;
use crate::workers::shares::Start;
use crate::workers::worker::{Given, ReadyGroup, RunningWorker, Setting, Tells};

use self::delivery::Delivery;
pub(crate) use self::delivery::Patience;
use self::report::{Moment, Ramping};

/// The token under which a test began, which data that are on their way already bear.
pub(crate) fn begun_as(sockets: &(Credentials, Option<Resumed>)) -> Token {
    sockets.1.map_or(sockets.0.token, |resumed| resumed.token)
}

/// Senders of which a report has the last look: as many as are looked at together.
const SENDERS_TOLD: usize = 8;

/// What is left of the sockets of a test: they are closed with it.
#[derive(Debug, Default)]
pub(crate) struct Leftover {
    sockets: Vec<Socket>,
    holders: Vec<Holders>,
    parts: Vec<Part>,
}

impl Leftover {
    /// Closes all of it: before this returns, but for what is in the table of a thread that has others' as well.
    pub fn close(self) {
        drop((self.sockets, self.parts));
        self.holders.into_iter().for_each(Holders::close);
    }

    /// The same, but on a thread of its own where there are very many; `waker` is woken when all are closed.
    pub fn close_beside(self, waker: &Waker) -> Option<Closing> {
        if self.holders.is_empty() {
            self.close();
            return None;
        }
        let (closing, waker) = (Closing::default(), waker.clone());
        let over = Arc::clone(&closing.0);
        // Where there is no thread, all are closed as what is not run is dropped.
        let close = move || {
            self.close();
            over.store(true, Ordering::Release);
            waker.wake();
        };
        threads::spawn("closer", close).ok().map(|_| closing)
    }
}

/// Sockets that are being closed.
#[derive(Debug, Default)]
pub(crate) struct Closing(Arc<AtomicBool>);

impl Closing {
    /// Whether all of them are closed.
    pub fn is_over(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// What is known of a report before its first worker has ended.
#[derive(Default)]
struct Early {
    caveats: Vec<Caveat>,
    sockets: Option<SocketFacts>,
    senders: Vec<TcpLook>,
}

/// One test at one end.
pub(crate) struct RunningTest {
    pub test: Test,
    role: Role,
    /// What the sockets of its flows present. At the server: what is known of a test that runs at its client already.
    pub sockets: (Credentials, Option<Resumed>),
    /// What its data bear.
    pub token: Token,
    pub groups: Vec<GroupState>,
    started: Option<Moment>,
    /// When the last flow was over.
    ended: Option<Moment>,
    /// Whether this program runs, and what senders wait for, while flows do.
    program: Option<Watched>,
    /// What the machine does, from one interval to the next.
    activity: Option<Activity>,
    /// From the end of the last flow on.
    delivery: Option<Delivery>,
    workers: Vec<RunningWorker>,
    /// There is one once every group has started.
    collector: Option<Collector>,
    /// How long the plan's connections took to be established.
    connects: Option<Box<LatencyHistogram>>,
    ramp: Ramping,
    /// Connections that are not replaced and have ended well or failed, and of all those that an interval tells.
    over: EndedConnections,
    told: EndedConnections,
    /// What the report will have, as far as it is known while all flows run.
    early: Early,
    /// From the end of the first worker on: a report is large, and a server has very many tests that run.
    report: Option<Box<EndReport>>,
    writer: Option<SampleWriter>,
    is_reported: bool,
}

/// Whether this end can run a test, and tell any other of it; if not, why.
pub(crate) fn check(test: &Test) -> Result<(), RunError> {
    test.told()?;
    if test.plan.asks().fast_open {
        fast_open::check()?;
    }
    let means = Means { cpus: 1, spinning: usize::MAX };
    let credentials = Credentials { token: Token([0; 16]), session: None, goes_ahead: false };
    RunningTest::new(test.clone(), Role::Client, (credentials, None), means).map(drop)
}

impl RunningTest {
    /// A test whose flows have no sockets yet, for workers with such means; or why this end cannot run it.
    pub fn new(
        test: Test,
        role: Role,
        sockets: (Credentials, Option<Resumed>),
        mut means: Means,
    ) -> Result<Self, RunError> {
        let mut groups = Vec::with_capacity(test.groups().len());
        for group in test.groups() {
            let mut state = GroupState::new(&test, group, (role, means))?;
            if sockets.0.goes_ahead && group.replaces() {
                state.placement.tell_of_early_data();
            }
            means.spinning -= state.placement.spinning();
            groups.push(state);
        }
        let loads = test.groups().into_iter().map(|group| settings::settings_of(&test, group.id));
        for name in loads.filter_map(|settings| settings.congestion_control) {
            check_congestion_control(&name)?;
        }
        Ok(Self {
            test,
            role,
            sockets,
            token: begun_as(&sockets),
            groups,
            started: None,
            ended: None,
            program: None,
            activity: None,
            delivery: None,
            workers: Vec::new(),
            collector: None,
            connects: None,
            ramp: Ramping::default(),
            over: EndedConnections::default(),
            told: EndedConnections::default(),
            early: Early::default(),
            report: None,
            writer: None,
            is_reported: false,
        })
    }

    /// What was left open and chosen here.
    pub fn substitutions(&self) -> Vec<Substitution> {
        let load = self.groups.iter().filter(|state| !state.is_probe);
        load.flat_map(|state| state.placement.substitutions.clone()).collect()
    }

    /// Its flows are about to come. `one_by_one`: those that follow one another do once it runs, the first of them, too.
    pub fn make_room(&mut self, one_by_one: bool) {
        self.groups.iter_mut().for_each(|state| state.make_room(one_by_one));
    }

    /// Flows that are there, of those that follow one another.
    pub fn present(&self) -> u32 {
        self.groups.iter().map(|state| state.entrances.present()).sum()
    }

    /// Whether all sockets of its flows that run are in tables of descriptors of those who run them beside others'.
    pub fn is_run_in_tables(&self) -> bool {
        let in_table =
            |state: &GroupState| state.part.as_ref().is_some_and(|it| it.thread().has_table());
        self.groups.iter().all(in_table)
    }

    /// The group of this number.
    pub fn group(&self, group: GroupId) -> Option<&GroupState> {
        self.groups.get(usize::from(group.0))
    }

    /// The same, to be changed.
    pub fn group_mut(&mut self, group: GroupId) -> Option<&mut GroupState> {
        self.groups.get_mut(usize::from(group.0))
    }

    /// Whether this group is of connections that are told one by one.
    pub fn tells_connections(&self, group: GroupId) -> bool {
        self.group(group).is_some_and(GroupState::tells_connections)
    }

    /// The sockets of all flows, to be closed when it is this end's turn.
    pub fn into_leftover(self) -> Leftover {
        let mut leftover = Leftover::default();
        for state in self.groups {
            leftover.sockets.extend(state.returned.into_iter().map(|(_, socket)| socket));
            leftover.holders.extend(state.holders);
            leftover.parts.extend(state.part);
        }
        leftover
    }

    /// Where there are more connections than one table of descriptors has room for: starts those who hold them. Where others' threads run
    /// its flows: finds one.
    pub fn hold(&mut self, inbox: &Inbox) -> Result<(), RunError> {
        self.groups.iter_mut().try_for_each(|state| state.hold(inbox))
    }

    /// A flow has its socket. Returns whether it is one that the test waits for to begin.
    pub fn attach(
        &mut self,
        (group, flow): (GroupId, FlowId),
        socket: FlowSocket,
        arrival: Arrival,
    ) -> bool {
        let Some(state) = self.groups.get_mut(usize::from(group.0)) else { return false };
        match socket {
            socket if self.started.is_none() => return state.seat(flow, socket, arrival),
            FlowSocket::Open(socket) => state.admit(flow, socket, arrival),
            // Those that follow others are never held elsewhere.
            FlowSocket::Promised(_) | FlowSocket::Held(_) => {}
        }
        false
    }

    /// A connection of a group was established.
    pub fn connected(&mut self, group: GroupId, arrival: &Arrival) {
        let Some(took_ns) = arrival.connect_ns else { return };
        // Probes have one each, which nobody waits for.
        if self.test.is_probe(group) {
            return;
        }
        self.connects.get_or_insert_default().record(took_ns);
        if let Some(begun) = arrival.begun.filter(|_| self.started.is_none()) {
            self.ramp.add(begun, took_ns);
        }
    }

    /// Has those who hold the sockets of its flows open them where they are still to be opened; word comes when they are. Whether there are any.
    pub fn open_elsewhere(&mut self, inbox: &Inbox) -> Result<bool, RunError> {
        if self.groups.iter().all(|state| state.holders.is_none()) {
            return Ok(false);
        }
        let tells = Arc::new(TellsOpened(inbox.clone()));
        let mut are_any = false;
        for state in &mut self.groups {
            let asked = settings::settings_of(&self.test, state.group.id);
            are_any |= state.open_elsewhere(&asked, &tells)?;
        }
        Ok(are_any)
    }

    /// Starts every flow; what is measured is written to `samples` one by one. `consents`: the other end says of each stream of
    /// datagrams that it still wants it. `conventions`: what holds on the flows' connections. `tells`: what is told of connections beside that. Returns
    /// those that are told one by one.
    pub fn start(
        &mut self,
        inbox: &Inbox,
        samples: Option<&SampleFile>,
        (consents, conventions, tells): (bool, Conventions, Tells),
        now: Tick,
    ) -> Result<Vec<Beginner>, RunError> {
        let (role, key) = (self.role, SessionKey::from(self.token));
        let setting = Setting {
            begin: Begin::of((role, key), consents, conventions),
            start: now,
            report_every: self.test.report_every_ns,
            tells,
        };
        // What is told of the whole test counts from the same reading as what is told of its first interval.
        let activity = Activity::begin(now);
        self.started = Some(Moment::with(now, activity.reading()));
        self.activity = Some(activity);
        let mut collector = Collector::new(now);
        let mut told = Vec::new();
        for state in &mut self.groups {
            let before = self.workers.len();
            state.opener.iter().for_each(|opener| opener.tell(Told::Started(now)));
            let asked = settings::settings_of(&self.test, state.group.id);
            let Opened { sockets, facts, told: begins } = state.open(&asked, tells)?;
            let lanes = state.open_lanes(&asked)?;
            let sending = facts.as_ref().map(KernelSending::of).unwrap_or_default();
            let setting = Setting { begin: Begin { sending, ..setting.begin }, ..setting };
            if !state.is_probe {
                self.early.caveats.extend(
                    facts.iter().flat_map(|facts| settings::cut_buffers(role, &asked, facts)),
                );
                self.early.sockets = facts;
            }
            told.extend(begins);
            let (group, placement) = (state.group, &state.placement);
            let part = state.part.as_ref();
            if part.is_some() {
                let text = "the server has more tests than threads: one ran these flows and those of others, which may have \
                            delayed them";
                self.early.caveats.push(Caveat::new(RunCaveat::ThreadShared, text));
            }
            let (ledger, opener) = (&state.ledger, state.opener.as_ref());
            let (entrances, holders) = (&state.entrances, state.holders.as_ref());
            let ready = ReadyGroup {
                group,
                placement,
                part,
                holders,
                ledger,
                entrances,
                opener,
                setting,
                inbox,
            };
            let given = Given { sockets, lanes };
            let samples = samples.filter(|_| !state.is_probe).cloned();
            let (running, writer) = (&mut self.workers, &mut self.writer);
            let result = state.job.run(role, Start { ready, given, samples, running, writer });
            collector.expect(self.workers[before..].iter().map(|worker| worker.reports));
            result?;
            let tells_newcomers = tells.rows && state.tells_connections() && group.replaces();
            if tells_newcomers {
                state.ledger.tell_newcomers(group.flows, role == Role::Client);
            }
            state.entrances.open(tells_newcomers, state.opener.as_ref());
        }
        self.collector = Some(collector);
        let senders = self.groups.iter().filter(|state| state.sends_bytes());
        let senders = senders.map(|state| {
            let ours = self.workers.iter().filter(|worker| worker.group == state.group.id);
            let workers = ours.map(|worker| worker.remote.clone()).collect();
            Senders { ledger: state.ledger.clone(), workers }
        });
        let senders = senders.collect();
        // No figure of any mode tells that it stood still.
        self.program = Watched::begin(now, &self.test.plan, senders);
        Ok(told)
    }

    /// When it was started.
    pub fn started(&self) -> Option<Tick> {
        self.started.as_ref().map(|moment| moment.at)
    }

    /// What keeps the paths of its groups.
    pub fn paths(&self) -> impl Iterator<Item = &PathsRemote> {
        self.groups.iter().filter_map(|state| state.paths.as_ref())
    }

    /// A lane of a flow that roams has its socket, or has lost it. Whether it is the flow's first.
    pub fn change_lane(
        &mut self,
        group: GroupId,
        flow: FlowId,
        lane: Lane,
        socket: Option<FlowSocket>,
    ) -> bool {
        let state = self.groups.get_mut(usize::from(group.0));
        let Some(state) = state.filter(|state| state.group.roams && state.group.holds(flow)) else {
            return false;
        };
        if self.started.is_none() {
            return state.note_lane(lane, socket);
        }
        let asked = settings::settings_of(&self.test, state.group.id);
        let socket = match socket.map(|socket| state.open_lane(socket, &asked)).transpose() {
            Ok(socket) => socket,
            // The client asks again, from another socket.
            Err(error) => {
                self.early.caveats.push(Caveat::new(RunCaveat::LaneLost, error.to_string()));
                return false;
            }
        };
        let mut runs = self.workers.iter().filter(|worker| worker.group == group);
        if let Some(worker) = runs.find(|worker| worker.flows.contains(&flow.0)) {
            worker.remote.change_lane(LaneChange { flow, lane, socket });
        }
        false
    }

    /// No flow of this group, or of any, comes any more.
    pub fn close_entrances(&self, group: Option<GroupId>) {
        let closes = |state: &&GroupState| group.is_none_or(|group| group == state.group.id);
        self.groups.iter().filter(closes).for_each(|state| state.entrances.close());
    }

    /// Whether flows are replaced as they end.
    pub fn replaces(&self) -> bool {
        self.groups.iter().any(|state| state.group.replaces())
    }

    /// Tells flows of a group.
    pub fn tell(&mut self, group: GroupId, flow: Option<FlowId>, event: Event) {
        let Some(state) = self.group_mut(group) else { return };
        state.note(flow, event);
        let replaces = state.group.replaces();
        let hears = |worker: &&RunningWorker| {
            worker.group == group
                && flow.is_none_or(|flow| replaces || worker.flows.contains(&flow.0))
        };
        self.workers.iter().filter(hears).for_each(|worker| worker.remote.tell(flow, event));
    }

    /// Tells every flow.
    pub fn tell_all(&mut self, event: Event) {
        self.groups.iter_mut().for_each(|state| state.note(None, event));
        self.tell_all_alike(event);
    }

    /// Tells every flow of what no flow that is still to come has to know.
    pub fn tell_all_alike(&self, event: Event) {
        self.workers.iter().for_each(|worker| worker.remote.tell(None, event));
    }

    /// Has the workers of connections and of flows of datagrams tell what went through each of them with every report.
    pub fn tell_flows(&self) {
        let is_told = |group| self.group(group).is_some_and(GroupState::tells_flows);
        let told = self.workers.iter().filter(|worker| is_told(worker.group));
        told.for_each(|worker| worker.remote.send(Command::TellFlows));
    }

    /// Ends every flow at once, with what it has.
    pub fn abandon(&self) {
        self.workers.iter().for_each(|worker| worker.remote.send(Command::Abandon));
    }

    /// A worker reported an interval. Returns those that are whole now.
    pub fn interval(
        &mut self,
        group: GroupId,
        worker: usize,
        (index, times): (u64, [Tick; 2]),
        tally: Tally,
    ) -> Vec<EndInterval> {
        let accumulator = self.group_mut(group).and_then(|state| state.accumulator.as_mut());
        accumulator.into_iter().for_each(|sum| sum.count(&tally));
        if let Some(collector) = &mut self.collector {
            collector.add(worker, index, times, tally);
        }
        self.whole()
    }

    /// A flow is in a new phase; `kind`: of what it failed, where that is known.
    pub fn phase(
        &mut self,
        group: GroupId,
        flow: FlowId,
        phase: Phase,
        kind: Option<FlowErrorKind>,
    ) {
        let Some(state) = self.group(group) else { return };
        if phase != Phase::Running {
            state.ledger.sent_all(flow);
        }
        if state.tells_connections() && !state.group.replaces() {
            match phase {
                Phase::Done => self.over.completed += 1,
                Phase::Failed => self.over.fail(kind),
                _ => {}
            }
        }
    }

    /// The intervals that are whole now, the first of them with the connections that ended since the last, those of paths
    /// with what their radios say, and those about which this program stood still with how long.
    fn whole(&mut self) -> Vec<EndInterval> {
        let Some(collector) = &mut self.collector else { return Vec::new() };
        let mut whole: Vec<_> = std::iter::from_fn(|| collector.take()).collect();
        if let Some(first) = whole.first_mut() {
            let replaced = self.groups.iter().filter(|state| state.group.replaces());
            let all = replaced.fold(self.over, |sum, state| sum.with(&state.ledger.ended()));
            let ended = all.since(&std::mem::replace(&mut self.told, all));
            first.ended = Some(ended).filter(|ended| *ended != EndedConnections::default());
        }
        if let Some(program) = &self.program {
            for interval in &mut whole {
                interval.stood_still_ns = program.still_about(interval.start_ns, interval.end_ns);
            }
        }
        if let (Some(activity), Some(last)) = (&mut self.activity, whole.last_mut()) {
            last.host_activity = activity.since_the_last(clock::now());
            let senders = self.groups.iter().filter(|state| state.sends_bytes());
            last.senders = senders.flat_map(|state| state.ledger.tcp_looks()).collect();
            // Of those that have ended meanwhile, what was seen before.
            for look in &last.senders {
                self.early.senders.retain(|seen| seen.flow != look.flow);
            }
            self.early.senders.extend(&last.senders);
            let told = self.early.senders.len();
            self.early.senders.drain(..told.saturating_sub(SENDERS_TOLD));
            self.early.senders.sort_by_key(|look| look.flow);
        }
        for paths in self.paths() {
            let radios = paths.radios();
            whole.iter_mut().for_each(|it| self.test.plan.tell_radios_in(it, &radios));
        }
        whole
    }

    /// The flows that this worker has.
    pub fn flows_of(&self, worker: usize) -> Range<u32> {
        self.workers.get(worker).map_or(0..0, |running| running.flows.clone())
    }

    /// A worker is over. Returns the intervals that are whole now.
    pub fn worker_over(
        &mut self,
        group: GroupId,
        worker: usize,
        outcome: Result<WorkerOutcome, RunError>,
        now: Tick,
    ) -> Vec<EndInterval> {
        let flows = self.flows_of(worker);
        let report = self.report.get_or_insert_default();
        let at = outcome.as_ref().map_or(now, |outcome| outcome.at);
        let elapsed_ns = at.nanos_since(self.started.as_ref().map_or(at, |moment| moment.at));
        report.elapsed_ns = report.elapsed_ns.max(elapsed_ns);
        self.workers.get_mut(worker).into_iter().for_each(|running| running.is_over = true);
        let Some(state) = self.groups.get_mut(usize::from(group.0)) else { return Vec::new() };
        match outcome {
            Ok(outcome) => state.add(outcome, report),
            Err(error) => state.lose(flows, &error, report),
        }
        let is_load = |group| !self.test.is_probe(group);
        let mut load = self.workers.iter().filter(|worker| is_load(worker.group));
        if is_load(group) && load.all(|worker| worker.is_over) && self.role == Role::Client {
            self.end_probes();
        }
        if self.is_over() {
            self.ended = Some(Moment::now(now));
        }
        self.collector.iter_mut().for_each(|collector| collector.worker_over(worker));
        self.whole()
    }

    /// Whether every flow is over.
    pub fn is_over(&self) -> bool {
        self.started.is_some() && self.workers.iter().all(|worker| worker.is_over)
    }

    /// Probes last as long as the load beside them: the client's end stops them.
    fn end_probes(&mut self) {
        let probes = self.groups.iter().filter(|state| state.job.lasts_with_load());
        let probes: Vec<GroupId> = probes.map(|state| state.group.id).collect();
        probes.into_iter().for_each(|group| self.tell(group, None, Event::Stop));
    }
}
