//! One group of a test's flows at one end, before, while and after it runs: their sockets, what they have to be
//! told, what they came to. The test as a whole is in `test`.

use std::collections::HashMap;
use std::sync::Arc;

use pathscope_core::id::{FlowId, Role};
use pathscope_core::quantity::bytes;
use pathscope_core::record::{Caveat, FlowError, FlowErrorKind, SocketFacts, StampFacts};
use pathscope_engines::Finished;
use pathscope_flow::{Event, Group, GroupId, Machine, Transport};
use pathscope_modes::goodput::GoodputReport;
use pathscope_modes::latency::{Extent, LatencyTally};
use pathscope_modes::registry::{EndReport, Plan, Test};
use pathscope_os::OsError;
use pathscope_os::cpus;
use pathscope_os::sockets::{Settings, Socket};

use crate::datagrams::DatagramFindings;
use crate::error::RunError;
use crate::ledger::{Ledger, error_of};
use crate::mail::{FlowSocket, WorkerOutcome};
use crate::placement::{self, Placement, Spinning};
use crate::vacancies::OpenerRemote;
use crate::worker::{Job, ReadyGroup, RunningWorker, Succession};

/// Room for datagrams that wait while an end stands still, of all flows of a group. The kernel charges some 800
/// bytes for a small one: 20,000 of them, two seconds at 10,000 a second.
const DATAGRAM_ROOM: usize = 16 << 20;
/// Of each flow at least so much: about what systems give without being asked.
const LEAST_DATAGRAM_ROOM: usize = 256 << 10;

/// A group before, while and after it runs.
#[derive(Debug)]
pub(crate) struct GroupState {
    pub group: Group,
    pub job: Job,
    pub is_probe: bool,
    pub placement: Placement,
    /// Held as long as the flows may run.
    _spinning: Option<Spinning>,
    pub sockets: Vec<Option<FlowSocket>>,
    /// Those of the flows that run, kept until it is this end's turn to close.
    pub opened: Vec<Arc<Socket>>,
    pub workers_running: usize,
    /// Goodput: bytes that each flow received in the window, by flow.
    pub received: Vec<(FlowId, u64)>,
    pub tally: Option<LatencyTally>,
    /// Datagram goodput: what its flows came to.
    pub datagrams: DatagramFindings,
    /// Datagrams that the sockets of these flows dropped.
    pub socket_drops: Option<u64>,
    /// How far the kernel's stamps can be trusted, where they were asked for.
    pub stamps: Option<StampFacts>,
    pub error: Option<FlowError>,
    /// Where goodput flows are written down as they end.
    pub ledger: Ledger,
    /// At the client: what opens connections that follow others.
    pub opener: Option<OpenerRemote>,
    /// Of flows that are replaced, those that the other end stopped before their time: word of them may
    /// come before their connections.
    pub totals: HashMap<FlowId, u64>,
    pub is_stopped: bool,
}

impl GroupState {
    pub fn new(test: &Test, group: Group, (role, cpus): (Role, usize)) -> Result<Self, RunError> {
        let (job, is_probe) = match (&test.plan, &test.probe) {
            (Plan::Goodput(plan), _) if group.id == GroupId(0) => {
                (Job::Goodput(plan.clone()), false)
            }
            (Plan::Latency(plan), _) if group.id == GroupId(0) => {
                (Job::Latency(plan.clone()), false)
            }
            (Plan::Datagrams(plan), _) if group.id == GroupId(0) => {
                (Job::Datagrams(plan.clone()), false)
            }
            (_, Some(probe)) => (Job::Latency(probe.clone()), true),
            (Plan::Goodput(plan), None) => (Job::Goodput(plan.clone()), false),
            (Plan::Latency(plan), None) => (Job::Latency(plan.clone()), false),
            (Plan::Datagrams(plan), None) => (Job::Datagrams(plan.clone()), false),
        };
        let tally = match &job {
            Job::Latency(plan) => Some(LatencyTally::for_plan(plan)),
            Job::Goodput(_) | Job::Datagrams(_) => None,
        };
        let list = job.cpus(role);
        check_cpus(list)?;
        // One worker carries all pings, whichever processor it is kept on.
        let cpus = match &job {
            Job::Goodput(_) if !list.is_empty() => list.len(),
            _ => cpus,
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
            datagrams: DatagramFindings::default(),
            socket_drops: None,
            stamps: None,
            error: None,
            ledger: Ledger::default(),
            opener: None,
            totals: HashMap::new(),
            is_stopped: false,
        })
    }

    pub fn lasts_with_load(&self) -> bool {
        matches!(&self.job, Job::Latency(plan) if plan.extent == Extent::WithLoad)
    }

    /// Everything that its workers need at this end. This was asked of its sockets.
    pub fn ready(&mut self, role: Role, asked: &Settings) -> Result<ReadyGroup, RunError> {
        let missing =
            || RunError::Attach { flow: self.group.first.0, why: "it has no socket".to_owned() };
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
        let is_left_to_us = asked.receive_buffer_bytes.is_none();
        if let Job::Datagrams(plan) = &self.job {
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
            samples: None,
            succession: replaces
                .then(|| Succession { ledger: self.ledger.clone(), opener: self.opener.clone() }),
        })
    }

    /// Takes in a flow that follows another, at the worker that has the fewest.
    pub fn admit(&self, flow: FlowId, socket: Arc<Socket>, workers: &[RunningWorker]) {
        if !self.group.replaces() || !self.group.holds(flow) {
            return;
        }
        let ours = workers.iter().filter(|worker| worker.group == self.group.id);
        let open = ours.filter_map(|worker| Some((worker.present()?, worker)));
        let Some((_, worker)) = open.min_by_key(|&(present, _)| present) else { return };
        self.ledger.begin(flow, &socket);
        worker.admit(flow, socket);
        // What was said to all of them, or of this one, before it was here.
        if self.is_stopped {
            worker.tell(Some(flow), Event::Stop);
        }
        if let Some(&total) = self.totals.get(&flow) {
            worker.tell(Some(flow), Event::PeerTotal(total));
        }
    }

    /// Remembers what flows that are still to come have to be told.
    pub fn note(&mut self, flow: Option<FlowId>, event: Event) {
        if !self.group.replaces() {
            return;
        }
        match (flow, event) {
            (Some(flow), Event::PeerTotal(total)) => drop(self.totals.insert(flow, total)),
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
            Job::Goodput(_) => {
                let goodput = report.goodput.get_or_insert_with(GoodputReport::default);
                goodput.failed += flows;
                goodput.failures.network += flows;
            }
            Job::Datagrams(_) => self.datagrams.lose(flows),
            Job::Latency(_) => {
                let (kind, text) = (FlowErrorKind::Unknown, error.to_string());
                self.error = Some(FlowError { kind, text, errno: None });
            }
        }
    }

    /// Adds what a worker of this group came to.
    pub fn add(&mut self, outcome: &WorkerOutcome, report: &mut EndReport) {
        let usages = if self.is_probe { &mut report.probe_workers } else { &mut report.workers };
        usages.extend_from_slice(outcome.usage());
        match outcome {
            WorkerOutcome::Goodput(finished) => {
                let goodput = report.goodput.get_or_insert_with(GoodputReport::default);
                goodput.window.merge(&finished.shared.received().window());
                goodput
                    .corruptions
                    .extend(finished.shared.received().corruptions().iter().cloned());
                if self.group.replaces() {
                    return;
                }
                for (flow, sockets) in &finished.flows {
                    self.received.push((flow.id(), flow.window().bytes));
                    self.ledger.end(flow, sockets);
                }
            }
            WorkerOutcome::Datagrams(finished) => {
                self.datagrams.add(finished);
                let drops = socket_drops(self.group, finished);
                self.socket_drops = self.socket_drops.unwrap_or(0).checked_add(drops.unwrap_or(0));
            }
            WorkerOutcome::Ping(finished) => {
                self.stamps.clone_from(&finished.stamps);
                self.error = first_error(finished);
                self.socket_drops = socket_drops(self.group, finished);
            }
            WorkerOutcome::Echo(finished) => {
                self.stamps.clone_from(&finished.stamps);
                self.error = first_error(finished);
                self.socket_drops = socket_drops(self.group, finished);
            }
        }
    }
}

/// Buffers that the kernel made smaller than was asked for. It counts its own overhead in, as much again.
pub(crate) fn cut_buffers(
    role: Role,
    asked: &Settings,
    facts: &SocketFacts,
) -> impl Iterator<Item = Caveat> + use<> {
    let end = if role == Role::Client { "client" } else { "server" };
    let buffers = [
        ("send", asked.send_buffer_bytes, facts.send_buffer_bytes, "net.core.wmem_max"),
        ("receive", asked.receive_buffer_bytes, facts.receive_buffer_bytes, "net.core.rmem_max"),
    ];
    buffers.into_iter().filter_map(move |(name, asked, granted, limit)| {
        let (asked, granted) = (asked? as u64, granted? / 2);
        (granted < asked).then(|| {
            let text = format!(
                "a {name} buffer of {} was asked for, and the {end}'s kernel granted {}: raise {limit} there",
                bytes(asked),
                bytes(granted)
            );
            Caveat::new("buffer_cut", text)
        })
    })
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

fn first_error<M: Machine>(finished: &Finished<M>) -> Option<FlowError> {
    finished.flows.iter().find_map(|(flow, _)| error_of(flow))
}

/// What the kernel dropped since the sockets had no room; `None` where it does not say.
fn socket_drops<M: Machine>(group: Group, finished: &Finished<M>) -> Option<u64> {
    let sockets = finished.flows.iter().flat_map(|(_, sockets)| sockets);
    let drops = sockets.map(|socket| socket.receive_drops().map(u64::from));
    if group.transport == Transport::Datagram { drops.sum() } else { None }
}
