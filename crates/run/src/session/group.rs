//! One group of a test's flows at one end, before, while and after it runs: their sockets, what they have to be
//! told, what they came to. The test as a whole is in `running`.

mod ports;
mod sockets;

use std::collections::BTreeMap;
use std::ops::Range;

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane, Role};
use pathscope_core::record::{Caveat, FlowError, FlowErrorKind, StampFacts};
use pathscope_engines::Part;
use pathscope_flow::{Event, Group};
use pathscope_modes::flows::AtEnd;
use pathscope_modes::groups::Test;
use pathscope_modes::mode::ToldAs;
use pathscope_modes::registry::{Accumulator, EndReport, Plan};
use pathscope_os::sockets::Socket;
use pathscope_os::{OsError, cpus, fast_open, limits};

use crate::connect::settings::buffer_cut;
use crate::error::RunError;
use crate::findings::RunCaveat;
use crate::holders::Holders;
use crate::messages::attendance::Arrival;
use crate::messages::inbox::FlowSocket;
use crate::messages::outcome::WorkerOutcome;
use crate::messages::replacements::{OpenerRemote, Told};
use crate::paths::log::PathsRemote;
use crate::records::ledger::Ledger;
use crate::workers::entrances::Entrances;
use crate::workers::placement::{self, Held, Means, Placement};

pub(crate) use self::sockets::Opened;

/// A group before, while and after it runs.
pub(crate) struct GroupState {
    pub group: Group,
    /// Whether these are probes beside the plan's own flows.
    pub is_probe: bool,
    pub job: Plan,
    role: Role,
    pub placement: Placement,
    /// As long as the flows may run.
    _held: Held,
    pub sockets: Vec<Option<FlowSocket>>,
    /// Those of flows whose workers are over, in order, kept until it is this end's turn to close.
    pub returned: Vec<(FlowId, Socket)>,
    /// Who holds the sockets of its flows, where one table of descriptors has no room for them.
    pub holders: Option<Holders>,
    /// The part that its worker has of a thread which runs those of other tests, too.
    pub part: Option<Part>,
    /// Those of lanes that roam, before the test starts.
    pub lanes: BTreeMap<Lane, FlowSocket>,
    /// At the client: what keeps the paths of a flow that roams.
    pub paths: Option<PathsRemote>,
    /// What its flows come to; taken when this end reports.
    pub accumulator: Option<Accumulator>,
    /// Room asked for in each socket that receives datagrams, and the least that one was granted.
    room_bytes: Option<(u64, u64)>,
    /// Datagrams that the sockets of these flows dropped, by worker that is over.
    socket_drops: Vec<Option<u64>>,
    /// How far the kernel's stamps can be trusted, where they were asked for.
    stamps: Option<StampFacts>,
    error: Option<FlowError>,
    /// Where goodput flows are written down as they end.
    pub ledger: Ledger,
    /// At the client: what opens connections that follow others.
    pub opener: Option<OpenerRemote>,
    /// Where flows come in that follow others.
    pub entrances: Entrances,
    has_lanes: bool,
}

impl GroupState {
    /// Whether its flows are connections that are told one by one.
    pub fn tells_connections(&self) -> bool {
        self.job.told_as(self.role) == ToldAs::Connections
    }

    /// Whether what goes through each of them is told to who wants that.
    pub fn tells_flows(&self) -> bool {
        matches!(self.job.told_as(self.role), ToldAs::Connections | ToldAs::Datagrams)
    }

    /// Whether this end sends a load on them.
    pub fn sends_bytes(&self) -> bool {
        self.job.sends_bytes(self.role)
    }

    pub fn new(test: &Test, group: Group, (role, means): (Role, Means)) -> Result<Self, RunError> {
        let job = test.plan_of(group.id).into_owned();
        check_cpus(job.asks().cpus_of(role))?;
        let (mut placement, held) = placement::of(&*job, group.flows, (role, means))?;
        if !group.replaces() && !group.roams {
            placement.spread_over_tables(&*job, group.flows, role);
        }
        let accumulator = job.accumulator(role);
        let ledger = Ledger::default();
        // Those that follow others send as the first of them does.
        let entrances = Entrances::new(ledger.clone(), job.sends_on(role, group.first));
        Ok(Self {
            group,
            is_probe: test.is_probe(group.id),
            job,
            role,
            placement,
            _held: held,
            sockets: Vec::new(),
            returned: Vec::new(),
            holders: None,
            part: None,
            lanes: BTreeMap::new(),
            paths: None,
            accumulator: Some(accumulator),
            room_bytes: None,
            socket_drops: Vec::new(),
            stamps: None,
            error: None,
            ledger,
            opener: None,
            entrances,
            has_lanes: false,
        })
    }

    /// Its flows are about to come. `one_by_one`: those that follow one another do once it runs, the first of them, too.
    pub fn make_room(&mut self, one_by_one: bool) {
        let has_none = self.group.roams || one_by_one && self.group.replaces();
        let seats = if has_none { 0 } else { self.group.flows };
        self.sockets = std::iter::repeat_with(|| None).take(seats as usize).collect();
        if self.tells_connections() && !self.group.replaces() {
            self.ledger.expect(self.group.first, seats);
        }
    }

    /// A flow that the test waits for to begin has its socket. Whether there was a place for it.
    pub fn seat(&mut self, flow: FlowId, socket: FlowSocket, arrival: Arrival) -> bool {
        let tells = self.tells_connections();
        let index = flow.0.checked_sub(self.group.first.0);
        let slot = index.and_then(|index| self.sockets.get_mut(index as usize));
        let Some(slot @ None) = slot else { return false };
        // Once it is reset, the kernel does not tell any more where it went.
        if let Some(addresses) = socket.addresses().filter(|_| tells) {
            self.ledger.begin(flow, addresses, arrival);
        }
        *slot = Some(socket);
        if tells {
            self.watch(flow);
        }
        true
    }

    /// What this end sends on a flow is looked at, where it sends.
    fn watch(&self, flow: FlowId) {
        if self.job.sends_on(self.role, flow) {
            self.ledger.watch(flow);
        }
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

    /// Takes in a flow that follows another.
    pub fn admit(&self, flow: FlowId, socket: Socket, arrival: Arrival) {
        if self.group.replaces() && self.group.holds(flow) {
            self.entrances.admit(flow, socket, arrival);
        }
    }

    /// Remembers what flows that are still to come have to be told.
    pub fn note(&self, flow: Option<FlowId>, event: Event) {
        if !self.group.replaces() {
            return;
        }
        self.entrances.note(flow, event);
        if (flow, event) == (None, Event::Stop) {
            self.opener.iter().for_each(|opener| opener.tell(Told::Stop));
        }
    }

    /// A worker of this group could not go on: its flows have failed.
    pub fn lose(&mut self, flows: Range<u32>, error: &RunError, report: &mut EndReport) {
        self.ledger.lose(&flows);
        let text = error.to_string();
        report.caveats.push(Caveat::new(RunCaveat::WorkerFailed, text.clone()));
        let error = FlowError { kind: FlowErrorKind::Unknown, text, errno: None };
        self.accumulator.iter_mut().for_each(|sum| sum.lose(flows.len() as u64, &error));
        self.error = Some(error);
    }

    /// Adds what a worker of this group came to.
    pub fn add(&mut self, outcome: WorkerOutcome, report: &mut EndReport) {
        let usages = if self.is_probe { &mut report.probe_workers } else { &mut report.workers };
        usages.extend(outcome.usage);
        if let Some(accumulator) = &mut self.accumulator {
            accumulator.add(outcome.report);
        }
        // Those that are replaced were written down as they ended.
        if !self.group.replaces() {
            for (end, tcp) in outcome.connections {
                self.ledger.depart(end, (|| None, || tcp.as_deref().copied()), false);
            }
        }
        self.returned.extend(outcome.sockets);
        self.returned.sort_by_key(|&(flow, _)| flow);
        self.socket_drops.push(outcome.socket_drops);
        self.stamps = self.stamps.take().or(outcome.stamps);
        self.error = self.error.take().or(outcome.error);
    }

    /// Puts what its flows came to into what this end says, once; `name` names a flow at both ends alike.
    pub fn report(
        &mut self,
        start: Tick,
        name: &dyn Fn(FlowId) -> Option<String>,
        into: &mut EndReport,
    ) {
        let Some(accumulator) = self.accumulator.take() else { return };
        let sends_bytes = self.sends_bytes();
        // What the kernel has sent again since its flows were over.
        if sends_bytes {
            for (flow, retransmits) in self.retransmits() {
                self.ledger.note_retransmits(flow, retransmits);
            }
        }
        into.caveats.extend(self.room_caveat());
        let without = self.ledger.failed_of(ports::NO_PORT);
        into.caveats.extend((without > 0).then(|| ports::used_up(without, limits::local_ports())));
        into.caveats.extend(self.ledger.newcomers_caveat());
        if self.job.asks().fast_open {
            let is_served = || fast_open::is_served();
            self.ledger.tell_fast_open((self.role == Role::Server).then(is_served).flatten());
        }
        // Not known of one, not known of all.
        let drops = self.socket_drops.iter().copied().reduce(|sum, more| Some(sum? + more?));
        let end = AtEnd {
            start,
            connections: self.ledger.take(),
            sending: sends_bytes.then(|| self.ledger.take_seen()),
            socket_drops: drops.flatten(),
            receive_buffer_bytes: self.room_bytes.map(|(_, granted)| granted),
            stamps: self.stamps.take(),
            error: self.error.take(),
            paths: self.paths.as_ref().map(|paths| paths.stop(start)),
            name,
        };
        if self.is_probe {
            let mut of_probes = EndReport::default();
            accumulator.report(end, &mut of_probes);
            into.take_probes(of_probes);
        } else {
            accumulator.report(end, into);
        }
    }

    /// Where the size was left to us and the kernel granted less. Of what the user asked for is told elsewhere.
    fn room_caveat(&self) -> Option<Caveat> {
        let asked = self.job.asks().sockets.and_then(|sockets| sockets.receive_buffer_bytes);
        let (wanted, granted) = self.room_bytes.filter(|(wanted, granted)| granted < wanted)?;
        let cut = || buffer_cut(self.role, ("receive", "net.core.rmem_max"), (wanted, granted));
        asked.is_none().then(cut)
    }
}

/// Whether this process may use these processors.
fn check_cpus(cpus: &[u32]) -> Result<(), RunError> {
    let allowed = cpus::allowed();
    let Some(&cpu) = cpus.iter().find(|cpu| !allowed.contains(cpu)) else { return Ok(()) };
    let allowed: Vec<String> = allowed.iter().map(u32::to_string).collect();
    Err(OsError::Processor { cpu, allowed: allowed.join(", ") }.into())
}
