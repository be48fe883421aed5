//! One group of a test's flows at one end, before, while and after it runs: their sockets, what they have to be
//! told, what they came to. The test as a whole is in `test`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use pathscope_core::id::{FlowId, Lane, Role};
use pathscope_core::record::{Caveat, FlowError, FlowErrorKind, StampFacts};
use pathscope_core::sending::SendState;
use pathscope_engines::Finished;
use pathscope_flow::{Event, Group, Machine, Transport};
use pathscope_modes::goodput::{FlowReceived, GoodputReport};
use pathscope_modes::latency::{Extent, LatencyTally};
use pathscope_modes::media::{MediaFlow, MediaReport, MediaTally, StreamFacts};
use pathscope_modes::multipath::MultipathReport;
use pathscope_modes::registry::{EndReport, Plan, Test};
use pathscope_os::OsError;
use pathscope_os::cpus;
use pathscope_os::send_state::send_state;
use pathscope_os::sockets::{Settings, Socket};
use pathscope_os::tcp_facts::tcp_facts;

use crate::connect::attendance::Attended;
use crate::connect::replacements::OpenerRemote;
use crate::error::RunError;
use crate::paths::log::PathsRemote;
use crate::records::datagrams::DatagramFindings;
use crate::session::inbox::{FlowSocket, WorkerOutcome};
use crate::session::ledger::{FLOWS_TOLD, Ledger, error_of};
use crate::session::settings::is_probe;
use crate::workers::placement::{self, Means, Placement, Places};
use crate::workers::shares::ReadyGroup;
use crate::workers::worker::{RunningWorker, Succession};

/// Room for datagrams that wait while an end stands still, of all flows of a group. The kernel charges some 800
/// bytes for a small one: 20,000 of them, two seconds at 10,000 a second.
const DATAGRAM_ROOM: usize = 16 << 20;
/// Of each flow at least so much: about what systems give without being asked.
const LEAST_DATAGRAM_ROOM: usize = 256 << 10;

/// Flows to come of which the other end may have said that they failed there; of more that is not remembered.
const FAILED_AHEAD: usize = 1_024;

/// A group before, while and after it runs.
#[derive(Debug)]
pub(crate) struct GroupState {
    pub group: Group,
    pub job: Plan,
    pub placement: Placement,
    /// Held as long as the flows may run.
    _places: [Option<Places>; 2],
    pub sockets: Vec<Option<FlowSocket>>,
    /// Those of the flows that run, kept until it is this end's turn to close.
    pub opened: Vec<Arc<Socket>>,
    /// Those of lanes that roam, before the test starts.
    pub lanes: BTreeMap<Lane, FlowSocket>,
    /// At the client: what keeps the paths of a flow that roams.
    pub paths: Option<PathsRemote>,
    pub workers_running: usize,
    /// Goodput: what each flow received in the window of all.
    pub received: Vec<FlowReceived>,
    pub tally: Option<LatencyTally>,
    /// Datagram goodput: what its flows came to.
    pub datagrams: DatagramFindings,
    /// What streams of frames came to, and each of them.
    pub streams: Option<StreamsSum>,
    /// Datagrams that the sockets of these flows dropped.
    pub socket_drops: Option<u64>,
    /// How far the kernel's stamps can be trusted, where they were asked for.
    pub stamps: Option<StampFacts>,
    /// Whether a worker of several has said what its sockets dropped.
    has_drops: bool,
    pub error: Option<FlowError>,
    /// Where goodput flows are written down as they end.
    pub ledger: Ledger,
    /// At the client: what opens connections that follow others.
    pub opener: Option<OpenerRemote>,
    /// Of flows that are replaced, those that the other end stopped before their time: word of them may
    /// come before their connections.
    pub totals: HashMap<FlowId, u64>,
    /// The same of those that failed at the other end before their time.
    failed_there: HashSet<FlowId>,
    /// The last of those that followed others.
    newest: Option<FlowId>,
    pub is_stopped: bool,
    has_lanes: bool,
}

impl GroupState {
    /// Whether these are probes beside the plan's own flows.
    pub fn is_probe(&self) -> bool {
        is_probe(self.group)
    }

    pub fn new(test: &Test, group: Group, (role, means): (Role, Means)) -> Result<Self, RunError> {
        let job = test.plan_of(group.id);
        let tally = match &job {
            Plan::Latency(plan) => Some(LatencyTally::for_plan(plan, role)),
            _ => None,
        };
        check_cpus(job.asks().cpus_of(role))?;
        let (placement, places) = placement::of(&*job, group.flows, (role, means))?;
        Ok(Self {
            group,
            job,
            placement,
            _places: places,
            sockets: Vec::new(),
            opened: Vec::new(),
            lanes: BTreeMap::new(),
            paths: None,
            workers_running: 0,
            received: Vec::new(),
            tally,
            datagrams: DatagramFindings::default(),
            streams: matches!(&test.plan, Plan::Media(_)).then(StreamsSum::default),
            socket_drops: None,
            stamps: None,
            has_drops: false,
            error: None,
            ledger: Ledger::default(),
            opener: None,
            totals: HashMap::new(),
            failed_there: HashSet::new(),
            newest: None,
            is_stopped: false,
            has_lanes: false,
        })
    }

    /// Its flows are about to come.
    pub fn make_room(&mut self) {
        self.sockets = vec![None; self.group.flows as usize];
    }

    pub fn lasts_with_load(&self) -> bool {
        matches!(&self.job, Plan::Latency(plan) if plan.extent == Extent::WithLoad)
    }

    /// Whether these are connections on which this end sends a load.
    pub fn sends_bytes(&self, role: Role) -> bool {
        match (&self.job, role) {
            (Plan::Goodput(plan), Role::Client) => plan.is_up(),
            (Plan::Goodput(plan), Role::Server) => plan.is_down(),
            _ => false,
        }
    }

    /// How the first sockets stand that are kept until both ends have reported: those of the flows that are told.
    pub fn send_states(&self) -> impl Iterator<Item = SendState> {
        self.opened.iter().take(FLOWS_TOLD as usize).filter_map(|socket| send_state(socket))
    }

    /// Writes down what the kernel has sent again since its flows were over.
    pub fn count_retransmits(&self) {
        let flows = (self.group.first.0..).map(FlowId).zip(&self.opened).take(FLOWS_TOLD as usize);
        for (flow, socket) in flows {
            if let Some(retransmits) = tcp_facts(socket).and_then(|tcp| tcp.retransmits) {
                self.ledger.note_retransmits(flow, retransmits);
            }
        }
    }

    /// Everything that its workers need at this end. This was asked of its sockets.
    pub fn ready(&mut self, role: Role, asked: &Settings) -> Result<ReadyGroup, RunError> {
        let missing =
            || RunError::Attach { flow: self.group.first.0, why: "it has no socket".to_owned() };
        if self.group.roams {
            return self.ready_to_roam(asked);
        }
        let sockets =
            self.sockets.iter().map(|socket| socket.as_ref().ok_or_else(missing)?.open(asked));
        let sockets: Vec<Arc<Socket>> = sockets.collect::<Result<_, _>>()?;
        let replaces = self.group.replaces();
        if replaces {
            // Whoever runs them closes them as they end.
            self.sockets = Vec::new();
        } else {
            self.opened.clone_from(&sockets);
        }
        if let (Plan::Media(_), Some(bytes)) = (&self.job, asked.receive_buffer_bytes) {
            for socket in &sockets {
                // Beyond the system's limit where this process may; what was granted is told.
                let _ = socket.enlarge_receive_buffer(bytes);
            }
        }
        let is_left_to_us = asked.receive_buffer_bytes.is_none();
        if let Plan::Datagrams(plan) = &self.job {
            self.datagrams.prepare(plan, role, &sockets)?;
        } else if self.group.transport == Transport::Datagram && is_left_to_us {
            let bytes = (DATAGRAM_ROOM / self.group.flows.max(1) as usize).max(LEAST_DATAGRAM_ROOM);
            for socket in &sockets {
                // What the system does not grant shows as drops, which are told.
                let _ = socket.enlarge_receive_buffer(bytes);
            }
        }
        Ok(ReadyGroup {
            group: self.group,
            job: self.job.clone(),
            placement: self.placement.clone(),
            sockets,
            lanes: Vec::new(),
            rows: Vec::new(),
            succession: replaces
                .then(|| Succession { ledger: self.ledger.clone(), opener: self.opener.clone() }),
        })
    }

    fn ready_to_roam(&mut self, asked: &Settings) -> Result<ReadyGroup, RunError> {
        let lanes = std::mem::take(&mut self.lanes);
        let open = |(lane, socket): (Lane, FlowSocket)| Ok((lane, self.open_lane(&socket, asked)?));
        Ok(ReadyGroup {
            group: self.group,
            job: self.job.clone(),
            placement: self.placement.clone(),
            sockets: Vec::new(),
            lanes: lanes.into_iter().map(open).collect::<Result<_, RunError>>()?,
            rows: Vec::new(),
            succession: None,
        })
    }

    /// The socket of a lane that roams, with room for datagrams that wait.
    pub fn open_lane(
        &self,
        socket: &FlowSocket,
        asked: &Settings,
    ) -> Result<Arc<Socket>, RunError> {
        let socket = socket.open(asked)?;
        let bytes = DATAGRAM_ROOM / usize::from(self.group.lanes.max(1));
        // What the system does not grant shows as drops, which are told.
        let _ = socket.enlarge_receive_buffer(bytes);
        Ok(socket)
    }

    /// Before the start: a lane has come, or has gone. Whether it is the first that came.
    pub fn note_lane(&mut self, lane: Lane, socket: Option<FlowSocket>) -> bool {
        let Some(socket) = socket else {
            self.lanes.remove(&lane);
            return false;
        };
        self.lanes.insert(lane, socket);
        !std::mem::replace(&mut self.has_lanes, true)
    }

    /// Takes in a flow that follows another, at the worker that has the fewest.
    pub fn admit(
        &mut self,
        flow: FlowId,
        (socket, attended): (Arc<Socket>, Option<Attended>),
        workers: &[RunningWorker],
    ) {
        if !self.group.replaces() || !self.group.holds(flow) {
            return;
        }
        let ours = workers.iter().filter(|worker| worker.group == self.group.id);
        let open = ours.filter_map(|worker| Some((worker.present()?, worker)));
        let Some((_, worker)) = open.min_by_key(|&(present, _)| present) else { return };
        self.ledger.begin(flow, &socket, attended);
        worker.admit(flow, socket);
        self.newest = self.newest.max(Some(flow));
        // What was said to all of them, or of this one, before it was here.
        if self.is_stopped {
            worker.tell(Some(flow), Event::Stop);
        }
        if let Some(&total) = self.totals.get(&flow) {
            worker.tell(Some(flow), Event::PeerTotal(total));
        }
        if self.failed_there.remove(&flow) {
            worker.tell(Some(flow), Event::PeerFailed);
        }
    }

    /// Remembers what flows that are still to come have to be told.
    pub fn note(&mut self, flow: Option<FlowId>, event: Event) {
        if !self.group.replaces() {
            return;
        }
        match (flow, event) {
            (Some(flow), Event::PeerTotal(total)) => drop(self.totals.insert(flow, total)),
            (Some(flow), Event::PeerFailed) => {
                let is_to_come = self.newest.is_none_or(|newest| flow > newest);
                if is_to_come && self.failed_there.len() < FAILED_AHEAD {
                    self.failed_there.insert(flow);
                }
            }
            (None, Event::Stop) => {
                self.is_stopped = true;
                self.opener.iter().for_each(OpenerRemote::stop);
            }
            _ => {}
        }
    }

    /// A worker of this group could not go on: its flows have failed.
    pub fn lose(&mut self, flows: u64, error: &RunError, report: &mut EndReport) {
        report.caveats.push(Caveat::new("worker_failed", error.to_string()));
        match &self.job {
            Plan::Goodput(_) => {
                let goodput = report.goodput.get_or_insert_with(GoodputReport::default);
                goodput.failed += flows;
                goodput.failures.network += flows;
            }
            Plan::Datagrams(_) => self.datagrams.lose(flows),
            Plan::Latency(_) => {
                let (kind, text) = (FlowErrorKind::Unknown, error.to_string());
                self.error = Some(FlowError { kind, text, errno: None });
            }
            Plan::Media(_) => self.streams.get_or_insert_default().failed += flows,
            Plan::Multipath(_) => {
                let (kind, text) = (FlowErrorKind::Unknown, error.to_string());
                let multipath = report.multipath.get_or_insert_default();
                multipath.error = Some(FlowError { kind, text, errno: None });
            }
        }
    }

    /// Adds what a worker of this group came to.
    pub fn add(&mut self, outcome: &WorkerOutcome, report: &mut EndReport) {
        let usages = if self.is_probe() { &mut report.probe_workers } else { &mut report.workers };
        usages.extend_from_slice(outcome.usage());
        match outcome {
            WorkerOutcome::Goodput(finished) => {
                let goodput = report.goodput.get_or_insert_with(GoodputReport::default);
                goodput.window.merge(&finished.shared.received().window());
                goodput.paused_ns += finished.shared.paused_ns();
                goodput
                    .corruptions
                    .extend(finished.shared.received().corruptions().iter().cloned());
                if self.group.replaces() {
                    return;
                }
                let Plan::Goodput(plan) = &self.job else { return };
                for (flow, sockets) in &finished.flows {
                    self.received.push(flow.received(plan));
                    self.ledger.end(flow, sockets);
                }
            }
            WorkerOutcome::Datagrams(finished) => {
                self.datagrams.add(finished);
                self.socket_drops =
                    added(self.socket_drops, socket_drops(self.group, finished), self.has_drops);
                self.has_drops = true;
            }
            WorkerOutcome::Multipath(finished) => {
                let mut multipath = finished.shared.report_all();
                add_socket_drops(&mut multipath, finished);
                if let Some(paths) = &self.paths {
                    paths.note_used(finished.shared.used());
                }
                report.multipath = Some(multipath);
            }
            WorkerOutcome::MultipathEcho(finished) => {
                let mut multipath = finished.shared.report_all();
                add_socket_drops(&mut multipath, finished);
                report.multipath = Some(multipath);
            }
            WorkerOutcome::Ping(finished) => {
                self.stamps.clone_from(&finished.stamps);
                self.error = first_error(finished);
                self.socket_drops = socket_drops(self.group, finished);
            }
            WorkerOutcome::Media(finished) => {
                self.socket_drops =
                    added(self.socket_drops, socket_drops(self.group, finished), self.has_drops);
                self.has_drops = true;
                self.streams.get_or_insert_default().add(finished);
            }
            WorkerOutcome::Echo(finished) => {
                self.stamps.clone_from(&finished.stamps);
                self.error = first_error(finished);
                self.socket_drops = socket_drops(self.group, finished);
            }
        }
    }
}

/// Streams that are told one by one.
const STREAMS_TOLD: u32 = 1_000;

/// What streams of frames came to.
#[derive(Debug, Default)]
pub(crate) struct StreamsSum {
    pub tally: MediaTally,
    streams: Vec<StreamFacts>,
    omitted: u64,
    failed: u64,
}

impl StreamsSum {
    fn add(&mut self, finished: &Finished<MediaFlow>) {
        for (flow, sockets) in &finished.flows {
            let facts = stream_facts(flow, sockets);
            self.failed += u64::from(facts.error.is_some());
            if flow.id().0 < STREAMS_TOLD {
                self.streams.push(facts);
            } else {
                self.omitted += 1;
            }
        }
    }

    /// All of it, with each stream's name.
    pub fn report(mut self, name: impl Fn(FlowId) -> String) -> MediaReport {
        self.streams.sort_by_key(|stream| stream.flow);
        for stream in &mut self.streams {
            stream.connection_id = Some(name(stream.flow));
        }
        MediaReport {
            streams: self.streams,
            streams_omitted: self.omitted,
            failed: self.failed,
            ..self.tally.report()
        }
    }
}

/// A stream that has ended, with its addresses.
pub(crate) fn stream_facts(flow: &MediaFlow, sockets: &[Arc<Socket>]) -> StreamFacts {
    let address = |address: std::io::Result<std::net::SocketAddr>| {
        address.ok().map(|address| address.to_string())
    };
    StreamFacts {
        local: sockets.first().and_then(|socket| address(socket.local_addr())),
        remote: sockets.first().and_then(|socket| address(socket.peer_addr())),
        error: error_of(flow),
        ..flow.facts()
    }
}

/// The drops of one worker more; not known of one, not known of all.
fn added(sum: Option<u64>, more: Option<u64>, has_sum: bool) -> Option<u64> {
    if has_sum { Some(sum? + more?) } else { more }
}

/// Whether this process may use these processors.
fn check_cpus(cpus: &[u32]) -> Result<(), RunError> {
    let allowed = cpus::allowed();
    match cpus.iter().find(|cpu| !allowed.contains(cpu)) {
        Some(&cpu) => {
            let allowed: Vec<String> = allowed.iter().map(u32::to_string).collect();
            Err(OsError::Processor { cpu, allowed: allowed.join(", ") }.into())
        }
        None => Ok(()),
    }
}

/// What the sockets of each lane dropped, those that were replaced among them. A multipath test has one flow.
fn add_socket_drops<M: Machine>(report: &mut MultipathReport, finished: &Finished<M>) {
    for (path, drops) in report.paths.iter_mut().zip(finished.lane_drops.iter().flatten()) {
        path.socket_drops = *drops;
    }
}

fn first_error<M: Machine>(finished: &Finished<M>) -> Option<FlowError> {
    finished.flows.iter().find_map(|(flow, _)| error_of(flow))
}

/// What the kernel dropped since the sockets had no room; `None` where it does not say.
fn socket_drops<M: Machine>(group: Group, finished: &Finished<M>) -> Option<u64> {
    let sockets = finished.flows.iter().flat_map(|(_, sockets)| sockets);
    let drops = sockets.map(|socket| socket.receive_drops().map(u64::from));
    if group.transport == Transport::Datagram { drops.sum() } else { None }
}
