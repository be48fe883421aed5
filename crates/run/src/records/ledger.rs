//! Where the connections of one end are written down as each ends, and what those that send are seen to wait for. What is
//! counted of them is `pathscope_modes::load`'s.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, Weak};

use pathscope_core::Tick;
use pathscope_core::id::FlowId;
use pathscope_core::record::{FlowError, FlowErrorKind, FlowFacts, TcpFacts};
use pathscope_core::sending::{Progress, SendSamples};
use pathscope_core::tcp_look::TcpLook;
use pathscope_modes::end::EndedConnections;
use pathscope_modes::load::{ConnectionEnd, Connections, FailureCounts};
use pathscope_os::errno::errno_name;
use pathscope_os::send_state::send_state;
use pathscope_os::sockets::Socket;
use pathscope_os::tcp_facts::{tcp_facts, tcp_look};

use crate::error::RunError;
use crate::messages::attendance::{Arrival, Attended};
use crate::messages::outcome::named;
use crate::records::places::{Hosts, Places};
use crate::threads::lock;

/// Flows that are looked at while they run.
const FLOWS_WATCHED: usize = 8;

/// Where flows that end are written down. Cheap to clone; each call locks, once a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger(Arc<Mutex<Page>>);

#[derive(Debug, Default)]
struct Page {
    connections: Connections,
    /// Of each flow that runs: the kernel forgets it with the connection.
    begun: HashMap<FlowId, Begun>,
    hosts: Hosts,
    /// Of those that follow one another, at the server: held until the flow is written down as over.
    attended: HashMap<FlowId, Attended>,
    /// The first of those that still send. Whoever runs them closes them: they are held for a look alone, under the lock
    /// that each takes as it departs, so that a port is free when its flow is gone.
    watched: Vec<(FlowId, Weak<Socket>)>,
    seen: SendSamples,
    progress: Progress,
}

/// Small, since there is one for each flow that runs, however few of them are told.
#[derive(Clone, Copy, Debug)]
struct Begun {
    places: Places,
    /// When its connection was begun; [`Tick::NEVER`] where that is not known.
    at: Tick,
}

impl Ledger {
    /// A flow begins on this connection.
    pub fn begin(&self, flow: FlowId, socket: &Arc<Socket>, arrival: Arrival) {
        let addresses = [socket.local_addr().ok(), socket.peer_addr().ok()];
        let Arrival { begun, attended, .. } = arrival;
        let mut page = lock(&self.0);
        let places = page.hosts.keep(addresses);
        let begun = Begun { places, at: begun.unwrap_or(Tick::NEVER) };
        if let Some(before) = page.begun.insert(flow, begun) {
            page.hosts.forget(before.places);
        }
        page.attended.extend(attended.map(|attended| (flow, attended)));
        if page.watched.len() < FLOWS_WATCHED {
            page.watched.push((flow, Arc::downgrade(socket)));
        }
    }

    /// Looks at what the first flows that still send wait for. Off the measuring threads: some calls of the system.
    pub fn look(&self, now: Tick) {
        let mut page = lock(&self.0);
        let Page { watched, seen, progress, .. } = &mut *page;
        let states = watched.iter().filter_map(|(_, socket)| send_state(&*socket.upgrade()?));
        let states: Vec<_> = states.collect();
        seen.count(&states);
        seen.count_stalled(&states, now, progress);
    }

    /// How the connections of the first flows that still send stand now. Off the measuring threads, too.
    pub fn tcp_looks(&self) -> Vec<TcpLook> {
        let page = lock(&self.0);
        let look = |(flow, socket): &(FlowId, Weak<Socket>)| {
            Some(TcpLook { flow: *flow, ..tcp_look(&*socket.upgrade()?)? })
        };
        page.watched.iter().filter_map(look).collect()
    }

    /// A flow has sent all it will.
    pub fn sent_all(&self, flow: FlowId) {
        lock(&self.0).watched.retain(|&(watched, _)| watched != flow);
    }

    /// What was seen of flows that send, once.
    pub fn take_seen(&self) -> SendSamples {
        std::mem::take(&mut lock(&self.0).seen)
    }

    /// More was sent again after a flow had been written down.
    pub fn note_retransmits(&self, flow: FlowId, retransmits: u64) {
        lock(&self.0).connections.note_retransmits(flow, retransmits);
    }

    /// A flow has ended. What it came to, where that is wanted.
    pub fn depart(
        &self,
        end: ConnectionEnd,
        sockets: &[Arc<Socket>],
        is_wanted: bool,
    ) -> Option<FlowFacts> {
        let (is_reset, error) = (end.is_reset, end.error.map(named));
        let mut page = lock(&self.0);
        page.watched.retain(|&(watched, _)| watched != end.flow);
        let begun = page.begun.remove(&end.flow);
        let addresses = begun.map_or([None; 2], |begun| page.hosts.forget(begun.places));
        let begun_at = begun.map(|begun| begun.at).filter(|&at| at != Tick::NEVER);
        // Its place is free again when it is written down.
        let _attended = page.attended.remove(&end.flow);
        let tcp = || tcp_of(is_reset, sockets.first());
        let end = ConnectionEnd { error, begun_at, ..end };
        page.connections.depart(end, addresses, is_wanted, tcp)
    }

    /// A flow never got its socket, from when it was tried to when it was known.
    pub fn not_made(
        &self,
        flow: FlowId,
        address: SocketAddr,
        error: &RunError,
        tried: [Tick; 2],
    ) -> FlowError {
        let error = FlowError {
            kind: FlowErrorKind::Network,
            text: match error {
                RunError::Attach { why, .. } => why.clone(),
                RunError::Refused { why, .. } => why.to_string(),
                other => other.to_string(),
            },
            errno: error.errno().map(|errno| errno_name(errno).to_owned()),
        };
        lock(&self.0).connections.not_made(flow, address, error.clone(), tried);
        error
    }

    /// All that is written down, once.
    pub fn take(&self) -> Connections {
        std::mem::take(&mut lock(&self.0).connections)
    }

    /// Connections that have ended so far.
    pub fn ended(&self) -> EndedConnections {
        let report = &lock(&self.0).connections.report;
        let FailureCounts { network, data, protocol } = report.failures;
        EndedConnections {
            completed: report.completed,
            failed: report.failed,
            network,
            data,
            protocol,
        }
    }
}

/// What the kernel says of a flow's connection; of one that was reset it knows nothing any more.
fn tcp_of(is_reset: bool, socket: Option<&Arc<Socket>>) -> Option<TcpFacts> {
    socket.filter(|_| !is_reset).and_then(|socket| tcp_facts(socket))
}
