//! What the goodput flows of one end came to, written down as each ends: sums of all, the first one by one.
//! Its size is bounded, however many connections follow one another.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use pathscope_core::id::FlowId;
use pathscope_core::record::{FlowError, FlowErrorKind, FlowFacts, TcpFacts};
use pathscope_core::sending::{Progress, SendSamples};
use pathscope_flow::{Machine, Phase};
use pathscope_modes::goodput::{GoodputFlow, GoodputReport, RemoteCounts};
use pathscope_os::errno::errno_name;
use pathscope_os::send_state::send_state;
use pathscope_os::sockets::Socket;
use pathscope_os::tcp_facts::tcp_facts;

use crate::connect::attendance::Attended;
use crate::error::RunError;

/// Flows below this number are told one by one; of the others only their sums, and so many that failed.
pub(crate) const FLOWS_TOLD: u32 = 1_000;
const FAILURES_TOLD: usize = 100;
/// Flows that are looked at while they run.
const FLOWS_WATCHED: usize = 8;

/// Where flows that end are written down. Cheap to clone; each call locks, once a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger(Arc<Mutex<Page>>);

#[derive(Debug, Default)]
struct Page {
    report: GoodputReport,
    failures_told: usize,
    /// Of flows that run and may be told one by one: the kernel forgets them with the connection.
    addresses: HashMap<FlowId, Addresses>,
    /// The first of those that still send. Whoever runs them closes them: they are held for a look alone, under the lock
    /// that each takes as it departs, so that a port is free when its flow is gone.
    watched: Vec<(FlowId, Weak<Socket>)>,
    seen: SendSamples,
    progress: Progress,
}

#[derive(Debug)]
struct Addresses {
    local: Option<SocketAddr>,
    remote: Option<SocketAddr>,
    /// Held until the flow is written down as over.
    _attended: Option<Attended>,
}

impl Ledger {
    /// A flow begins on this connection.
    pub fn begin(&self, flow: FlowId, socket: &Arc<Socket>, attended: Option<Attended>) {
        let (local, remote) = (socket.local_addr().ok(), socket.peer_addr().ok());
        let mut page = self.page();
        page.addresses.insert(flow, Addresses { local, remote, _attended: attended });
        if page.watched.len() < FLOWS_WATCHED {
            page.watched.push((flow, Arc::downgrade(socket)));
        }
    }

    /// Looks at what the first flows that still send wait for. Off the measuring threads: some calls of the system.
    pub fn look(&self) {
        let mut page = self.page();
        let Page { watched, seen, progress, .. } = &mut *page;
        let states = watched.iter().filter_map(|(_, socket)| send_state(&*socket.upgrade()?));
        let states: Vec<_> = states.collect();
        seen.count(&states);
        seen.count_stalled(&states, progress);
    }

    /// A flow has sent all it will.
    pub fn sent_all(&self, flow: FlowId) {
        self.page().watched.retain(|&(watched, _)| watched != flow);
    }

    /// What was seen of flows that send, once.
    pub fn take_seen(&self) -> SendSamples {
        std::mem::take(&mut self.page().seen)
    }

    /// More was sent again after a flow had been written down.
    pub fn note_retransmits(&self, flow: FlowId, retransmits: u64) {
        let mut page = self.page();
        let facts = page.report.flows.iter_mut().find(|facts| facts.flow == flow);
        let told = facts.and_then(|facts| facts.tcp.as_mut()?.retransmits.as_mut());
        // One that was reset has forgotten what it had counted.
        told.into_iter().for_each(|told| *told = retransmits.max(*told));
    }

    /// A flow of those that are replaced has ended: its rate is that of its own time. What it came to, where that
    /// is wanted.
    pub fn depart(
        &self,
        flow: &GoodputFlow,
        sockets: &[Arc<Socket>],
        is_wanted: bool,
    ) -> Option<FlowFacts> {
        let mut page = self.page();
        let rate = flow.own_rate_bps();
        let facts = page.add(flow, sockets.first(), (rate, is_wanted));
        match rate {
            Some(rate) => page.report.rates.record(rate),
            None => page.report.rates.too_short += u64::from(flow.totals().received > 0),
        }
        facts
    }

    /// A flow has ended together with all others: its rate follows when all are known.
    pub fn end(&self, flow: &GoodputFlow, sockets: &[Arc<Socket>]) {
        self.page().add(flow, sockets.first(), (None, false));
    }

    /// A flow never got its socket.
    pub fn not_made(&self, flow: FlowId, address: SocketAddr, error: &RunError) {
        let error = FlowError {
            kind: FlowErrorKind::Network,
            text: match error {
                RunError::Attach { why, .. } => why.clone(),
                RunError::Refused { why, .. } => why.to_string(),
                other => other.to_string(),
            },
            errno: error.errno().map(|errno| errno_name(errno).to_owned()),
        };
        let mut page = self.page();
        page.count(Some(&error), false);
        page.count_remote(Some(address), |remote| remote.failed += 1);
        let remote = Some(address.to_string());
        page.tell(FlowFacts { flow, remote, error: Some(error), ..FlowFacts::default() });
    }

    /// All that is written down, once.
    pub fn take(&self) -> GoodputReport {
        std::mem::take(&mut self.page().report)
    }

    /// Connections that have ended so far: those that ended well, and those that failed.
    pub fn ended(&self) -> (u64, u64) {
        let page = self.page();
        (page.report.completed, page.report.failed)
    }

    fn page(&self) -> MutexGuard<'_, Page> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Page {
    fn add(
        &mut self,
        flow: &GoodputFlow,
        socket: Option<&Arc<Socket>>,
        (rate, is_wanted): (Option<f64>, bool),
    ) -> Option<FlowFacts> {
        let totals = flow.totals();
        self.watched.retain(|&(watched, _)| watched != flow.id());
        self.report.sent_bytes += totals.sent;
        self.report.received_bytes += totals.received;
        let error = goodput_error_of(flow);
        self.count(error.as_ref(), flow.is_cut());
        let addresses = self.addresses.remove(&flow.id());
        let (failed, is_cut) = (error.is_some(), flow.is_cut());
        self.count_remote(addresses.as_ref().and_then(|it| it.remote), |remote| {
            remote.sent_bytes += totals.sent;
            remote.received_bytes += totals.received;
            *match (failed, is_cut) {
                (true, _) => &mut remote.failed,
                (false, true) => &mut remote.cut,
                (false, false) => &mut remote.completed,
            } += 1;
        });
        let is_told = self.tells(flow.id(), failed);
        if !is_told {
            self.report.flows_omitted += 1;
        }
        // What the kernel says of a connection is asked for once, and only where it is told.
        let tcp = if is_told || is_wanted { tcp_of(flow, socket) } else { None };
        let facts = FlowFacts { error, received_bps: rate, tcp, ..facts(flow, addresses) };
        match (is_told, is_wanted) {
            (true, true) => self.tell(facts.clone()),
            (true, false) => {
                self.tell(facts);
                return None;
            }
            (false, _) => {}
        }
        is_wanted.then_some(facts)
    }

    fn count(&mut self, error: Option<&FlowError>, is_cut: bool) {
        let report = &mut self.report;
        match error.map(|error| error.kind) {
            None if is_cut => report.cut += 1,
            None => report.completed += 1,
            Some(kind) => {
                report.failed += 1;
                report.failures.count(kind);
            }
        }
    }

    fn count_remote(&mut self, remote: Option<SocketAddr>, count: impl FnOnce(&mut RemoteCounts)) {
        let Some(address) = remote.map(|remote| remote.ip().to_canonical()) else { return };
        count(RemoteCounts::of(&mut self.report.remotes, &address.to_string()));
    }

    /// The same flows at both ends, whatever the order they end in; and the first failures beyond them.
    fn tells(&self, flow: FlowId, failed: bool) -> bool {
        flow.0 < FLOWS_TOLD || failed && self.failures_told < FAILURES_TOLD
    }

    fn tell(&mut self, facts: FlowFacts) {
        if !self.tells(facts.flow, facts.error.is_some()) {
            self.report.flows_omitted += 1;
            return;
        }
        self.failures_told += usize::from(facts.flow.0 >= FLOWS_TOLD);
        self.report.flows.push(facts);
    }
}

/// What the kernel says of a flow's connection; of one that was reset it knows nothing any more.
fn tcp_of(flow: &GoodputFlow, socket: Option<&Arc<Socket>>) -> Option<TcpFacts> {
    socket.filter(|_| !flow.is_reset()).and_then(|socket| tcp_facts(socket))
}

fn facts(flow: &GoodputFlow, addresses: Option<Addresses>) -> FlowFacts {
    let totals = flow.totals();
    let text = |address: Option<SocketAddr>| address.map(|address| address.to_string());
    let (local, remote) = addresses.map_or((None, None), |it| (text(it.local), text(it.remote)));
    FlowFacts {
        flow: flow.id(),
        local,
        remote,
        sent_bytes: totals.sent,
        received_bytes: totals.received,
        cut: flow.is_cut(),
        ..FlowFacts::default()
    }
}

/// What ended a goodput flow before its time; of one that was still under way, what is missing.
pub(crate) fn goodput_error_of(flow: &GoodputFlow) -> Option<FlowError> {
    match (flow.error(), flow.phase().is_over()) {
        (None, false) => Some(flow.unfinished()),
        _ => error_of(flow),
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
