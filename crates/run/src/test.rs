//! One test as one end runs it: from the sockets of its flows to its report.

use std::sync::Arc;

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Role, Token};
use pathscope_core::record::{Caveat, FlowError, FlowErrorKind, FlowFacts, Substitution};
use pathscope_engines::Finished;
use pathscope_flow::{Event, Group, GroupId, Machine, Phase, Transport};
use pathscope_modes::goodput::{GoodputFlow, GoodputReport};
use pathscope_modes::latency::{Extent, LatencyTally};
use pathscope_modes::pattern::SessionKey;
use pathscope_modes::registry::{EndInterval, EndReport, Plan, Test};
use pathscope_os::counters::Reading;
use pathscope_os::cpus::{self, HostCpu};
use pathscope_os::errno::errno_name;
use pathscope_os::sockets::{self, Socket};
use pathscope_os::tcp_facts::tcp_facts;
use pathscope_peers::native::connection_id;

use crate::attach;
use crate::error::RunError;
use crate::intervals::Collector;
use crate::mail::{FlowSocket, Mailbox, Part, WorkerOutcome};
use crate::placement::{self, Placement, Spinning};
use crate::samples::{SampleFile, SampleWriter};
use crate::worker::{self, Job, ReadyGroup, RunningWorker, Setting};

/// Flows below this number are told one by one; of the others only their sums.
const FLOWS_TOLD: u32 = 1_000;

/// Room for datagrams that wait while an end stands still, of all flows of a group. The kernel charges some 800
/// bytes for a small one: 20,000 of them, two seconds at 10,000 a second.
const DATAGRAM_ROOM: usize = 16 << 20;
/// Of each flow at least so much: about what systems give without being asked.
const LEAST_DATAGRAM_ROOM: usize = 256 << 10;

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
    workers: Vec<RunningWorker>,
    workers_over: usize,
    collector: Option<Collector>,
    report: EndReport,
    /// Client: where pings are written one by one, before the test starts and while it runs.
    pub samples: Option<SampleFile>,
    writer: Option<SampleWriter>,
    main_over: bool,
    is_reported: bool,
}

/// Whether this end can run a test; if not, why.
pub(crate) fn check(test: &Test) -> Result<(), RunError> {
    RunningTest::new(test.clone(), Role::Client, Token([0; 16]), 1).map(drop)
}

/// A group before, while and after it runs.
#[derive(Debug)]
struct GroupState {
    group: Group,
    job: Job,
    is_probe: bool,
    placement: Placement,
    /// Held as long as the flows may run.
    _spinning: Option<Spinning>,
    sockets: Vec<Option<FlowSocket>>,
    /// Those of the flows that run, kept until it is this end's turn to close.
    opened: Vec<Arc<Socket>>,
    workers_running: usize,
    /// Goodput: bytes that each flow received in the window, by flow.
    received: Vec<(FlowId, u64)>,
    tally: Option<LatencyTally>,
    /// Datagrams that the sockets of these flows dropped.
    socket_drops: Option<u64>,
    error: Option<FlowError>,
}

impl RunningTest {
    /// A test whose flows have no sockets yet, for workers on so many processors; or why this end cannot
    /// run it.
    pub fn new(test: Test, role: Role, token: Token, cpus: usize) -> Result<Self, RunError> {
        let groups = test.groups().into_iter().map(|group| GroupState::new(&test, group, cpus));
        let groups: Vec<GroupState> = groups.collect::<Result<_, _>>()?;
        if let Some(name) = &attach::settings(&test).congestion_control {
            sockets::check_congestion_control(name)?;
        }
        let load = groups.iter().filter(|state| !state.is_probe);
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
            workers: Vec::new(),
            workers_over: 0,
            collector: None,
            report: EndReport::default(),
            samples: None,
            writer: None,
            main_over: false,
            is_reported: false,
        })
    }

    /// What was left open and chosen here.
    pub fn substitutions(&self) -> &[Substitution] {
        &self.substitutions
    }

    /// The sockets of the goodput connections that run, from the first on.
    pub fn connections(&self) -> impl Iterator<Item = &Arc<Socket>> {
        let goodput = |state: &&GroupState| matches!(state.job, Job::Goodput(_));
        self.groups.iter().filter(goodput).flat_map(|state| &state.opened)
    }

    /// Whether this group is of goodput connections.
    pub fn is_goodput(&self, group: GroupId) -> bool {
        let found = self.groups.iter().find(|state| state.group.id == group);
        found.is_some_and(|state| matches!(state.job, Job::Goodput(_)))
    }

    /// The sockets of all flows, to be closed when it is this end's turn.
    pub fn into_sockets(self) -> Vec<Arc<Socket>> {
        self.groups.into_iter().flat_map(|state| state.opened).collect()
    }

    /// A flow has its socket. Returns whether it was expected.
    pub fn attach(&mut self, group: GroupId, flow: FlowId, socket: FlowSocket) -> bool {
        if self.started.is_some() {
            return false;
        }
        let Some(state) = self.groups.iter_mut().find(|state| state.group.id == group) else {
            return false;
        };
        let slot = flow
            .0
            .checked_sub(state.group.first.0)
            .and_then(|index| state.sockets.get_mut(index as usize));
        match slot {
            Some(slot @ None) => {
                *slot = Some(socket);
                true
            }
            _ => false,
        }
    }

    /// Starts every flow.
    pub fn start(&mut self, mailbox: &Mailbox, now: Tick) -> Result<(), RunError> {
        let setting = Setting {
            role: self.role,
            key: self.key,
            start: now,
            report_every: self.test.report_every_ns,
        };
        self.started = Some(now);
        self.cpu_at_start = cpus::host();
        self.counters_at_start = Some(Reading::now());
        for state in &mut self.groups {
            let before = self.workers.len();
            let mut ready = state.ready()?;
            if let (Job::Latency(_), Some(file)) = (&ready.job, self.samples.take()) {
                let (samples, writer) = file.write(now)?;
                (ready.samples, self.writer) = (Some(samples), Some(writer));
            }
            let result = worker::start(ready, setting, &mut self.workers, mailbox);
            state.workers_running = self.workers.len() - before;
            result?;
        }
        self.collector =
            Some(Collector::new(now, self.workers.iter().map(|worker| worker.reports).collect()));
        Ok(())
    }

    /// When it was started.
    pub fn started(&self) -> Option<Tick> {
        self.started
    }

    /// Tells flows of a group.
    pub fn tell(&self, group: GroupId, flow: Option<FlowId>, event: Event) {
        let hears = |worker: &&RunningWorker| {
            worker.group == group && flow.is_none_or(|flow| worker.flows.contains(&flow.0))
        };
        self.workers.iter().filter(hears).for_each(|worker| worker.tell(flow, event));
    }

    /// Tells every flow.
    pub fn tell_all(&self, event: Event) {
        self.workers.iter().for_each(|worker| worker.tell(None, event));
    }

    /// Ends every flow at once, with what it has.
    pub fn abandon(&self) {
        self.workers.iter().for_each(RunningWorker::abandon);
    }

    /// A worker reported an interval. Returns those that are whole now.
    pub fn part(
        &mut self,
        group: GroupId,
        worker: usize,
        (index, start, end): (u64, Tick, Tick),
        part: &Part,
    ) -> Vec<EndInterval> {
        if let (Part::Latency(tally), Some(state)) =
            (part, self.groups.iter_mut().find(|state| state.group.id == group))
            && let Some(sum) = &mut state.tally
        {
            sum.merge(tally);
        }
        let Some(collector) = &mut self.collector else { return Vec::new() };
        collector.add(worker, index, start, end, part);
        std::iter::from_fn(|| collector.take()).collect()
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
        let Some(state) = self.groups.iter_mut().find(|state| state.group.id == group) else {
            return Vec::new();
        };
        state.workers_running = state.workers_running.saturating_sub(1);
        match outcome {
            Ok(outcome) => state.add(&outcome, &mut self.report),
            Err(error) => state.lose(flows, &error, &mut self.report),
        }
        self.end_probes();
        let Some(collector) = &mut self.collector else { return Vec::new() };
        collector.worker_over(worker);
        std::iter::from_fn(|| collector.take()).collect()
    }

    /// Whether every flow is over.
    pub fn is_over(&self) -> bool {
        self.started.is_some() && self.workers_over >= self.workers.len()
    }

    /// What this end says at the end; once.
    pub fn take_report(&mut self) -> Option<EndReport> {
        if self.started.is_none() || std::mem::replace(&mut self.is_reported, true) {
            return None;
        }
        let mut report = std::mem::take(&mut self.report);
        for state in &mut self.groups {
            let Some(tally) = state.tally.take() else { continue };
            let mut latency = tally.report(state.error.take());
            latency.socket_drops = state.socket_drops;
            let latency = Some(latency);
            if state.is_probe { report.probe = latency } else { report.latency = latency }
        }
        report.caveats.extend(self.writer.take().and_then(SampleWriter::finish));
        if let Some(goodput) = &mut report.goodput {
            goodput.flows.sort_by_key(|flow| flow.flow);
            for flow in &mut goodput.flows {
                flow.connection_id = Some(connection_id(self.token, flow.flow).to_string());
            }
            let received = self.groups.iter().flat_map(|state| state.received.iter().copied());
            rate_flows(goodput, received);
        }
        report.host = self.counters_at_start.take().and_then(|start| Reading::now().since(&start));
        report.host_cpu_share =
            self.cpu_at_start.take().and_then(|start| cpus::host()?.busy_share_since(&start));
        Some(report)
    }

    /// Probes last as long as the load beside them: the client's end stops them.
    fn end_probes(&mut self) {
        let load_runs =
            self.groups.iter().any(|state| !state.is_probe && state.workers_running > 0);
        if load_runs || self.main_over || self.role == Role::Server {
            return;
        }
        self.main_over = true;
        let probes: Vec<GroupId> = self
            .groups
            .iter()
            .filter(|state| state.lasts_with_load())
            .map(|state| state.group.id)
            .collect();
        probes.into_iter().for_each(|group| self.tell(group, None, Event::Stop));
    }
}

impl GroupState {
    fn new(test: &Test, group: Group, cpus: usize) -> Result<Self, RunError> {
        let (job, is_probe) = match (&test.plan, &test.probe) {
            (Plan::Goodput(plan), _) if group.id == GroupId(0) => {
                (Job::Goodput(plan.clone()), false)
            }
            (Plan::Latency(plan), _) if group.id == GroupId(0) => {
                (Job::Latency(plan.clone()), false)
            }
            (_, Some(probe)) => (Job::Latency(probe.clone()), true),
            (Plan::Goodput(plan), None) => (Job::Goodput(plan.clone()), false),
            (Plan::Latency(plan), None) => (Job::Latency(plan.clone()), false),
        };
        let tally = match &job {
            Job::Latency(plan) => Some(LatencyTally::for_plan(plan)),
            Job::Goodput(_) => None,
        };
        let mut placement = job.placement(group.flows, cpus)?;
        let spinning = placement::claim_spinning(&mut placement, job.wait(), cpus)?;
        let sockets = vec![None; group.flows as usize];
        Ok(Self {
            group,
            job,
            is_probe,
            placement,
            _spinning: spinning,
            sockets,
            opened: Vec::new(),
            workers_running: 0,
            received: Vec::new(),
            tally,
            socket_drops: None,
            error: None,
        })
    }

    fn lasts_with_load(&self) -> bool {
        matches!(&self.job, Job::Latency(plan) if plan.extent == Extent::WithLoad)
    }

    fn ready(&mut self) -> Result<ReadyGroup, RunError> {
        let missing =
            || RunError::Attach { flow: self.group.first.0, why: "it has no socket".to_owned() };
        let sockets = self.sockets.iter().map(|socket| socket.as_ref().ok_or_else(missing)?.open());
        self.opened = sockets.collect::<Result<_, _>>()?;
        if self.group.transport == Transport::Datagram {
            let bytes = (DATAGRAM_ROOM / self.group.flows.max(1) as usize).max(LEAST_DATAGRAM_ROOM);
            for socket in &self.opened {
                // What the system does not grant shows as drops, which are told.
                let _ = socket.enlarge_receive_buffer(bytes);
            }
        }
        Ok(ReadyGroup {
            group: self.group,
            job: self.job.clone(),
            placement: self.placement.clone(),
            sockets: self.opened.clone(),
            samples: None,
        })
    }

    /// A worker of this group could not go on: its flows have failed.
    fn lose(&mut self, flows: u64, error: &RunError, report: &mut EndReport) {
        report.caveats.push(Caveat::new("worker_failed", error.to_string()));
        match &self.job {
            Job::Goodput(_) => {
                let goodput = report.goodput.get_or_insert_with(GoodputReport::default);
                goodput.failed += flows;
                goodput.failures.network += flows;
            }
            Job::Latency(_) => {
                let (kind, text) = (FlowErrorKind::Unknown, error.to_string());
                self.error = Some(FlowError { kind, text, errno: None });
            }
        }
    }

    /// Adds what a worker of this group came to.
    fn add(&mut self, outcome: &WorkerOutcome, report: &mut EndReport) {
        let usages = if self.is_probe { &mut report.probe_workers } else { &mut report.workers };
        usages.extend_from_slice(outcome.usage());
        match outcome {
            WorkerOutcome::Goodput(finished) => {
                let windows =
                    finished.flows.iter().map(|(flow, _)| (flow.id(), flow.window().bytes));
                self.received.extend(windows);
                add_goodput(finished, report.goodput.get_or_insert_with(GoodputReport::default));
            }
            WorkerOutcome::Ping(finished) => {
                self.error = first_error(finished);
                self.socket_drops = socket_drops(self.group, finished);
            }
            WorkerOutcome::Echo(finished) => {
                self.error = first_error(finished);
                self.socket_drops = socket_drops(self.group, finished);
            }
        }
    }
}

/// Each flow's rate over the window of all of them, so that one that starved has a rate of nearly nothing
/// and not none.
fn rate_flows(report: &mut GoodputReport, received: impl Iterator<Item = (FlowId, u64)>) {
    let length_ns = report.window.length_ns();
    if length_ns == 0 {
        return;
    }
    for (flow, bytes) in received {
        let rate = bytes as f64 * 8e9 / length_ns as f64;
        report.rates.record(rate);
        let told = report.flows.binary_search_by_key(&flow, |facts| facts.flow);
        if let Ok(told) = told {
            report.flows[told].received_bps = Some(rate);
        }
    }
}

fn add_goodput(finished: &Finished<GoodputFlow>, report: &mut GoodputReport) {
    report.window.merge(&finished.shared.received().window());
    report.corruptions.extend(finished.shared.received().corruptions().iter().cloned());
    for (flow, lanes) in &finished.flows {
        let totals = flow.totals();
        report.sent_bytes += totals.sent;
        report.received_bytes += totals.received;
        let error = error_of(flow);
        *if error.is_none() { &mut report.completed } else { &mut report.failed } += 1;
        error.iter().for_each(|error| report.failures.count(error.kind));
        // The same flows at both ends, whatever the order they end in.
        if flow.id().0 < FLOWS_TOLD {
            report.flows.push(facts(flow, lanes.first(), error));
        } else {
            report.flows_omitted += 1;
        }
    }
}

fn facts(flow: &GoodputFlow, socket: Option<&Arc<Socket>>, error: Option<FlowError>) -> FlowFacts {
    let address = |of: fn(&Socket) -> std::io::Result<std::net::SocketAddr>| {
        socket.and_then(|socket| of(socket).ok()).map(|address| address.to_string())
    };
    let totals = flow.totals();
    FlowFacts {
        flow: flow.id(),
        connection_id: None,
        local: address(Socket::local_addr),
        remote: address(Socket::peer_addr),
        sent_bytes: totals.sent,
        received_bytes: totals.received,
        received_bps: None,
        error,
        tcp: socket.and_then(|socket| tcp_facts(socket)),
    }
}

/// What ended a flow before its time, with the system's name for it.
pub(crate) fn error_of(flow: &impl Machine) -> Option<FlowError> {
    let unfinished = || FlowError {
        kind: FlowErrorKind::Network,
        text: "it was still under way when the test ended".to_owned(),
        errno: None,
    };
    match flow.phase() {
        Phase::Done => None,
        Phase::Failed | Phase::Running | Phase::SendingDone => {
            Some(named(flow.error().unwrap_or_else(unfinished)))
        }
    }
}

/// An error with the system's name in place of its number.
pub(crate) fn named(mut error: FlowError) -> FlowError {
    if let Some(number) = error.errno.as_ref().and_then(|errno| errno.parse().ok()) {
        let name = errno_name(number);
        error.text = error.text.replace(&format!("error {number}"), name);
        error.errno = Some(name.to_owned());
    }
    error
}

/// What the kernel dropped since the sockets had no room; `None` where it does not say.
fn socket_drops<M: Machine>(group: Group, finished: &Finished<M>) -> Option<u64> {
    let sockets = finished.flows.iter().flat_map(|(_, sockets)| sockets);
    let drops = sockets.map(|socket| socket.receive_drops().map(u64::from));
    if group.transport == Transport::Datagram { drops.sum() } else { None }
}

fn first_error<M: Machine>(finished: &Finished<M>) -> Option<FlowError> {
    finished.flows.iter().find_map(|(flow, _)| error_of(flow))
}
