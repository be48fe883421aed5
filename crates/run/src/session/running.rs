//! One test as one end runs it: from the sockets of its flows to its report.
//!
//! In one file: one test from its start to its report, as messages come.

mod delivery;
mod looks;
mod report;
mod watch;

use std::net::SocketAddr;
use std::sync::Arc;

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane, Role, Token};
use pathscope_core::record::{Caveat, Substitution};
use pathscope_core::stats::LatencyHistogram;
use pathscope_flow::{Credentials, Event, GroupId, Phase, Transport};
use pathscope_modes::end::EndedConnections;
use pathscope_modes::mode::ToldAs;
use pathscope_modes::pattern::SessionKey;
use pathscope_modes::registry::{EndInterval, EndReport, Tally, Test};
use pathscope_os::counters::Reading;
use pathscope_os::cpus::{self, HostCpu};
use pathscope_os::sockets::{self, Socket};

use crate::connect::settings;
use crate::error::RunError;
use crate::findings::RunCaveat;
use crate::messages::attendance::Attended;
use crate::messages::inbox::{FlowSocket, Inbox};
use crate::messages::outcome::WorkerOutcome;
use crate::messages::replacements::OpenerRemote;
use crate::paths::log::{PathsRemote, ServerIs};
use crate::records::samples::{SampleFile, SampleWriter};
use crate::session::group::GroupState;
use crate::session::intervals::Collector;
use crate::workers::placement::{GroupWorkers, Means};
use crate::workers::shares;
use crate::workers::worker::{PeerConsent, RunningWorker, Setting};

use self::delivery::Delivery;
pub(crate) use self::delivery::Patience;
use self::report::AtEnd;
use self::watch::Watch;

/// One test at one end.
#[derive(Debug)]
pub(crate) struct RunningTest {
    pub test: Test,
    substitutions: Vec<Substitution>,
    role: Role,
    token: Token,
    key: SessionKey,
    groups: Vec<GroupState>,
    started: Option<Tick>,
    cpu_at_start: Option<HostCpu>,
    counters_at_start: Option<Reading>,
    /// What the machine had done when the last flow was over.
    at_end: Option<AtEnd>,
    /// What is looked at while flows run.
    watch: Option<Watch>,
    /// From the end of the last flow on.
    delivery: Option<Delivery>,
    workers: Vec<RunningWorker>,
    workers_over: usize,
    collector: Option<Collector>,
    /// How long the plan's connections took to be established.
    connects: Option<Box<LatencyHistogram>>,
    /// Connections that are not replaced and have ended, and of all those that an interval tells.
    over: EndedConnections,
    told: EndedConnections,
    report: Box<EndReport>,
    /// Client: where what is measured is written one by one.
    pub samples: Option<SampleFile>,
    /// Whether each flow that is replaced is told as it ends; else those that fail.
    pub tells_departures: bool,
    pub consent: PeerConsent,
    writer: Option<SampleWriter>,
    main_over: bool,
    is_reported: bool,
}

/// Whether this end can run a test; if not, why.
pub(crate) fn check(test: &Test) -> Result<(), RunError> {
    let means = Means { cpus: 1, spinning: usize::MAX };
    RunningTest::new(test.clone(), Role::Client, Token([0; 16]), means).map(drop)
}

/// The group of this number. Not of the whole test, so that its workers can be told meanwhile.
fn with_id(groups: &mut [GroupState], group: GroupId) -> Option<&mut GroupState> {
    groups.iter_mut().find(|state| state.group.id == group)
}

impl RunningTest {
    /// A test whose flows have no sockets yet, for workers with such means; or why this end cannot run it.
    pub fn new(test: Test, role: Role, token: Token, mut means: Means) -> Result<Self, RunError> {
        let mut groups = Vec::new();
        for group in test.groups() {
            let state = GroupState::new(&test, group, (role, means))?;
            means.spinning -= state.placement.spinning();
            groups.push(state);
        }
        if let Some(name) = &settings::settings(&test).congestion_control {
            sockets::check_congestion_control(name)?;
        }
        let load = groups.iter().filter(|state| !state.is_probe());
        let substitutions = load.flat_map(|state| state.placement.substitutions.clone()).collect();
        Ok(Self {
            test,
            substitutions,
            role,
            token,
            key: SessionKey::from(token),
            groups,
            started: None,
            cpu_at_start: None,
            counters_at_start: None,
            at_end: None,
            watch: None,
            delivery: None,
            workers: Vec::new(),
            workers_over: 0,
            collector: None,
            connects: None,
            over: EndedConnections::default(),
            told: EndedConnections::default(),
            report: Box::default(),
            samples: None,
            tells_departures: false,
            consent: PeerConsent::default(),
            writer: None,
            main_over: false,
            is_reported: false,
        })
    }

    /// What was left open and chosen here.
    pub fn substitutions(&self) -> &[Substitution] {
        &self.substitutions
    }

    /// The connections that are there before the start and are told one by one.
    pub fn connections(&self) -> Vec<(FlowId, Arc<Socket>)> {
        let role = self.role;
        let is_told = |state: &&GroupState| state.job.told_as(role) == ToldAs::Connections;
        let open = |state: &GroupState| {
            let flows = (state.group.first.0..).map(FlowId).zip(state.sockets.clone());
            flows.filter_map(|(flow, socket)| match socket {
                Some(FlowSocket::Open(socket)) => Some((flow, socket)),
                _ => None,
            })
        };
        self.groups.iter().filter(is_told).flat_map(open).collect()
    }

    /// The streams that have begun and are told one by one.
    pub fn streams(&self) -> Vec<(FlowId, Arc<Socket>)> {
        let role = self.role;
        let is_told =
            |state: &&GroupState| matches!(state.job.told_as(role), ToldAs::Streams { .. });
        let open = |state: &GroupState| {
            (state.group.first.0..).map(FlowId).zip(state.opened.clone()).collect::<Vec<_>>()
        };
        self.groups.iter().filter(is_told).flat_map(open).collect()
    }

    /// How many workers each of its groups will have.
    pub fn workers(&self) -> Vec<GroupWorkers> {
        let of = |state: &GroupState| GroupWorkers {
            group: state.group,
            workers: state.placement.workers,
            threads: state.placement.threads(&*state.job),
        };
        self.groups.iter().map(of).collect()
    }

    /// Its flows are about to come.
    pub fn make_room(&mut self) {
        self.groups.iter_mut().for_each(GroupState::make_room);
    }

    /// Whether it has been started.
    pub fn is_started(&self) -> bool {
        self.started.is_some()
    }

    fn state(&self, group: GroupId) -> Option<&GroupState> {
        self.groups.iter().find(|state| state.group.id == group)
    }

    /// What carries a group's flows.
    pub fn transport_of(&self, group: GroupId) -> Option<Transport> {
        self.state(group).map(|state| state.group.transport)
    }

    /// Whether this group is of connections that are told one by one.
    pub fn tells_connections(&self, group: GroupId) -> bool {
        let told_as = self.state(group).map(|state| state.job.told_as(self.role));
        told_as == Some(ToldAs::Connections)
    }

    /// The sockets of all flows, to be closed when it is this end's turn.
    pub fn into_sockets(self) -> Vec<Arc<Socket>> {
        self.groups.into_iter().flat_map(|state| state.opened).collect()
    }

    /// A flow has its socket. Returns whether it is one that the test waits for to begin.
    pub fn attach(
        &mut self,
        (group, flow): (GroupId, FlowId),
        socket: FlowSocket,
        attended: Option<Attended>,
    ) -> bool {
        let tells = self.tells_connections(group);
        let Some(state) = with_id(&mut self.groups, group) else {
            return false;
        };
        if self.started.is_some() {
            if let FlowSocket::Open(socket) = socket {
                state.admit(flow, (socket, attended), &self.workers);
            }
            return false;
        }
        let slot = flow
            .0
            .checked_sub(state.group.first.0)
            .and_then(|index| state.sockets.get_mut(index as usize));
        match slot {
            Some(slot @ None) => {
                // Once it is reset, the kernel does not tell any more where it went.
                if let (true, FlowSocket::Open(socket)) = (tells, &socket) {
                    state.ledger.begin(flow, socket, attended);
                }
                *slot = Some(socket);
                true
            }
            _ => false,
        }
    }

    /// A connection of a group took so long to be established.
    pub fn connected(&mut self, group: GroupId, took_ns: u64) {
        // Probes have one each, which nobody waits for.
        if self.state(group).is_some_and(|state| !state.is_probe()) {
            self.connects.get_or_insert_default().record(took_ns);
        }
    }

    /// Starts every flow.
    pub fn start(&mut self, inbox: &Inbox, now: Tick) -> Result<(), RunError> {
        let setting = Setting {
            role: self.role,
            key: self.key,
            start: now,
            report_every: self.test.report_every_ns,
            tells_departures: self.tells_departures,
            consent: self.consent,
        };
        self.started = Some(now);
        self.cpu_at_start = cpus::host();
        self.counters_at_start = Some(Reading::now());
        for state in &mut self.groups {
            let before = self.workers.len();
            state.opener.iter().for_each(|opener| opener.started(now));
            let asked = settings::settings_of(state.group, &self.test);
            let mut ready = state.ready(self.role, &asked)?;
            if !state.is_probe() {
                let facts = ready.sockets.first().map(|socket| socket.facts());
                self.report.caveats.extend(
                    facts.iter().flat_map(|facts| settings::cut_buffers(self.role, &asked, facts)),
                );
                self.report.sockets = facts;
            }
            ready.samples = self.samples.clone().filter(|_| !state.is_probe());
            let running = (&mut self.workers, &mut self.writer);
            let result = shares::start(ready, setting, running, inbox);
            state.workers_running = self.workers.len() - before;
            result?;
        }
        self.watch = Some(self.begin_watch(now));
        self.collector =
            Some(Collector::new(now, self.workers.iter().map(|worker| worker.reports).collect()));
        Ok(())
    }

    /// Watches the flows that send bytes, and whether this program runs: no figure of any mode tells that it stood still.
    fn begin_watch(&self, now: Tick) -> Watch {
        let senders = self.groups.iter().filter(|state| state.job.sends_bytes(self.role));
        let ledgers = senders.map(|state| state.ledger.clone()).collect();
        Watch::begin(now, &self.test.plan, ledgers)
    }

    /// When it was started.
    pub fn started(&self) -> Option<Tick> {
        self.started
    }

    /// Connections of a group are opened while it runs.
    pub fn opens(&mut self, group: GroupId, opener: OpenerRemote) {
        let state = with_id(&mut self.groups, group);
        if let Some(state) = state.filter(|state| state.group.replaces()) {
            state.opener = Some(opener);
        }
    }

    /// The paths of a group are kept while it runs.
    pub fn keeps(&mut self, group: GroupId, paths: PathsRemote) {
        if let Some(state) = with_id(&mut self.groups, group) {
            state.paths = Some(paths);
        }
    }

    /// The server is gone, and the test goes on.
    pub fn server_gone(&self) {
        self.paths().for_each(|paths| paths.note_server(ServerIs::Gone));
    }

    /// A server expects the test again: its lanes have to come in anew, and present this.
    pub fn rejoin(&self, credentials: Credentials) {
        self.paths().for_each(|paths| paths.rejoin(credentials));
    }

    /// The server's flows run again.
    pub fn resumed(&self) {
        self.paths().for_each(|paths| paths.note_server(ServerIs::Back));
    }

    fn paths(&self) -> impl Iterator<Item = &PathsRemote> {
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
        let state = with_id(&mut self.groups, group);
        let Some(state) = state.filter(|state| state.group.roams && state.group.holds(flow)) else {
            return false;
        };
        if self.started.is_none() {
            return state.note_lane(lane, socket);
        }
        let asked = settings::settings_of(state.group, &self.test);
        let socket = match socket.map(|socket| state.open_lane(&socket, &asked)).transpose() {
            Ok(socket) => socket,
            // The client asks again, from another socket.
            Err(error) => {
                self.report.caveats.push(Caveat::new(RunCaveat::LaneLost, error.to_string()));
                return false;
            }
        };
        let ours = self.workers.iter().filter(|worker| worker.group == group);
        ours.for_each(|worker| worker.change_lane(flow, lane, socket.clone()));
        false
    }

    /// A flow that was to follow another has no connection.
    pub fn not_made(&self, group: GroupId, flow: FlowId, address: SocketAddr, error: &RunError) {
        let state = self.state(group);
        state.iter().for_each(|state| state.ledger.not_made(flow, address, error));
    }

    /// No flow of this group, or of any, comes any more.
    pub fn close_entrances(&mut self, group: Option<GroupId>) {
        for worker in &mut self.workers {
            if group.is_none_or(|group| group == worker.group) {
                worker.close_entrance();
            }
        }
    }

    /// Whether flows are replaced as they end.
    pub fn replaces(&self) -> bool {
        self.groups.iter().any(|state| state.group.replaces())
    }

    /// Tells flows of a group.
    pub fn tell(&mut self, group: GroupId, flow: Option<FlowId>, event: Event) {
        let Some(state) = with_id(&mut self.groups, group) else {
            return;
        };
        state.note(flow, event);
        let replaces = state.group.replaces();
        let hears = |worker: &&RunningWorker| {
            worker.group == group
                && flow.is_none_or(|flow| replaces || worker.flows.contains(&flow.0))
        };
        self.workers.iter().filter(hears).for_each(|worker| worker.tell(flow, event));
    }

    /// Tells every flow.
    pub fn tell_all(&mut self, event: Event) {
        self.groups.iter_mut().for_each(|state| state.note(None, event));
        self.workers.iter().for_each(|worker| worker.tell(None, event));
    }

    /// Tells every flow of what no flow that is still to come has to know.
    pub fn tell_all_alike(&self, event: Event) {
        self.workers.iter().for_each(|worker| worker.tell(None, event));
    }

    /// Ends every flow at once, with what it has.
    pub fn abandon(&self) {
        self.workers.iter().for_each(RunningWorker::abandon);
    }

    /// A worker reported an interval. Returns those that are whole now.
    pub fn interval(
        &mut self,
        group: GroupId,
        worker: usize,
        (index, start, end): (u64, Tick, Tick),
        tally: &Tally,
    ) -> Vec<EndInterval> {
        let accumulator = with_id(&mut self.groups, group).and_then(|it| it.accumulator.as_mut());
        accumulator.into_iter().for_each(|sum| sum.count(tally));
        let Some(collector) = &mut self.collector else { return Vec::new() };
        collector.add(worker, index, start, end, tally);
        let whole = std::iter::from_fn(|| collector.take()).collect();
        self.with_ended(whole)
    }

    /// A flow is in a new phase.
    pub fn phase(&mut self, group: GroupId, flow: FlowId, phase: Phase) {
        if phase != Phase::Running
            && let Some(state) = self.state(group)
        {
            state.ledger.sent_all(flow);
        }
        let counted = |state: &GroupState| state.group.id == group && !state.group.replaces();
        if self.tells_connections(group) && self.groups.iter().any(counted) {
            self.over.completed += u64::from(phase == Phase::Done);
            self.over.failed += u64::from(phase == Phase::Failed);
        }
    }

    /// These intervals, the first of them with the connections that ended since the last, those of paths with what
    /// their radios say, and those about which this program stood still with how long.
    fn with_ended(&mut self, mut whole: Vec<EndInterval>) -> Vec<EndInterval> {
        if let Some(first) = whole.first_mut() {
            let mut all = self.over;
            for state in self.groups.iter().filter(|state| state.group.replaces()) {
                let (completed, failed) = state.ledger.ended();
                all = EndedConnections {
                    completed: all.completed + completed,
                    failed: all.failed + failed,
                };
            }
            let before = std::mem::replace(&mut self.told, all);
            let since = EndedConnections {
                completed: all.completed - before.completed,
                failed: all.failed - before.failed,
            };
            first.ended = (since != EndedConnections::default()).then_some(since);
        }
        if let Some(watch) = &self.watch {
            for interval in &mut whole {
                interval.stood_still_ns = watch.still_about(interval.start_ns, interval.end_ns);
            }
        }
        for paths in self.paths() {
            let radios = paths.radios();
            whole.iter_mut().for_each(|it| it.tell_radios(&self.test.plan, &radios));
        }
        whole
    }

    /// A worker is over. Returns the intervals that are whole now.
    pub fn worker_over(
        &mut self,
        group: GroupId,
        worker: usize,
        outcome: Result<WorkerOutcome, RunError>,
        now: Tick,
    ) -> Vec<EndInterval> {
        self.workers_over += 1;
        self.report.elapsed_ns = now.nanos_since(self.started.unwrap_or(now));
        let flows = self.workers.get_mut(worker).map_or(0, |running| {
            running.join();
            u64::from(running.flows.end - running.flows.start)
        });
        let Some(state) = with_id(&mut self.groups, group) else {
            return Vec::new();
        };
        state.workers_running = state.workers_running.saturating_sub(1);
        match outcome {
            Ok(outcome) => state.add(outcome, &mut self.report),
            Err(error) => state.lose(flows, &error, &mut self.report),
        }
        self.end_probes();
        if self.is_over() {
            let (counters, cpu) = (self.counters_at_start.as_ref(), self.cpu_at_start.as_ref());
            self.at_end = Some(AtEnd::read(counters, cpu));
        }
        let Some(collector) = &mut self.collector else { return Vec::new() };
        collector.worker_over(worker);
        let whole = std::iter::from_fn(|| collector.take()).collect();
        self.with_ended(whole)
    }

    /// Whether every flow is over.
    pub fn is_over(&self) -> bool {
        self.started.is_some() && self.workers_over >= self.workers.len()
    }

    /// Probes last as long as the load beside them: the client's end stops them.
    fn end_probes(&mut self) {
        let load_runs =
            self.groups.iter().any(|state| !state.is_probe() && state.workers_running > 0);
        if load_runs || self.main_over || self.role == Role::Server {
            return;
        }
        self.main_over = true;
        let probes: Vec<GroupId> = self
            .groups
            .iter()
            .filter(|state| state.job.lasts_with_load())
            .map(|state| state.group.id)
            .collect();
        probes.into_iter().for_each(|group| self.tell(group, None, Event::Stop));
    }
}
