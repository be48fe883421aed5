//! What a session writes down while it runs: told by the session's own thread, never by one that measures.
//!
//! Here: when something is written down, and what it says. Not here: files and how rows look; a [`Sink`]
//! takes entries and returns at once.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Weak};

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Token};
use pathscope_core::journal::{Connection, Ended, Entry, KernelView, Status, Step, Trouble};
use pathscope_core::record::{Caveat, FlowError, FlowErrorKind, FlowFacts};
use pathscope_engines::Finished;
use pathscope_flow::{Machine, Phase, Totals};
use pathscope_modes::goodput::GoodputFlow;
use pathscope_modes::registry::EndInterval;
use pathscope_os::clock;
use pathscope_os::sockets::Socket;
use pathscope_os::tcp_facts::tcp_facts;
use pathscope_peers::native::connection_id;

use crate::ledger::error_of;

/// Connections whose kernel is asked for every status row; asking a million would take a second.
const ASKED: usize = 1_000;

/// Which entries somebody reads: those that cost something to make are not made for nobody.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Wants {
    /// Rows of status, for which the kernel is asked about every connection.
    pub status: bool,
    /// Steps of a session.
    pub steps: bool,
}

/// Takes entries. Never blocks, never fails: what cannot be kept is a caveat.
pub trait Sink: Send + Sync {
    /// Which entries it has a use for.
    fn wants(&self) -> Wants;
    /// Something to write down.
    fn take(&self, entry: Entry);
    /// Waits until everything is written, or a while. What could not be kept, so far.
    fn settle(&self) -> Vec<Caveat>;
    /// What could not be kept, so far.
    fn caveats(&self) -> Vec<Caveat>;
}

/// Where entries go, if anywhere. Cheap to clone.
#[derive(Clone, Default)]
pub struct Journal {
    open: Option<(Arc<dyn Sink>, Tick)>,
}

impl fmt::Debug for Journal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Journal").field("is_kept", &self.open.is_some()).finish()
    }
}

impl Journal {
    /// A journal that begins now.
    pub fn begin(sink: Arc<dyn Sink>) -> Self {
        Self { open: Some((sink, clock::now())) }
    }

    /// Something went wrong that is no matter of one connection.
    pub(crate) fn trouble(&self, session: Option<String>, text: impl Into<String>) {
        self.write(clock::now(), |at_ns| {
            Entry::Trouble(Box::new(Trouble { at_ns, text: text.into(), session }))
        });
    }

    fn wants(&self) -> Wants {
        self.open.as_ref().map(|(sink, _)| sink.wants()).unwrap_or_default()
    }

    /// Waits until all is written, or a while. What could not be kept.
    pub(crate) fn settle(&self) -> Vec<Caveat> {
        self.open.as_ref().map(|(sink, _)| sink.settle()).unwrap_or_default()
    }

    /// What could not be kept, so far.
    pub(crate) fn caveats(&self) -> Vec<Caveat> {
        self.open.as_ref().map(|(sink, _)| sink.caveats()).unwrap_or_default()
    }

    fn write(&self, at: Tick, entry: impl FnOnce(u64) -> Entry) {
        if let Some((sink, began)) = &self.open {
            sink.take(entry(at.nanos_since(*began)));
        }
    }
}

/// The part of a journal that one session writes.
#[derive(Debug, Default)]
pub(crate) struct SessionJournal {
    journal: Journal,
    session: String,
    ended: Ended,
    /// Segments that connections which have ended sent again.
    retransmits: Option<u64>,
    /// The other end is gone: it will confirm nothing any more.
    is_alone: bool,
    token: Option<Token>,
    started: Tick,
    /// Whether a test with connections runs.
    is_running: bool,
    /// Connections of the test that runs and have not ended.
    connections: HashMap<FlowId, Held>,
}

/// A connection of the test that runs.
#[derive(Debug)]
struct Held {
    facts: FlowFacts,
    /// Whoever runs it closes it: its port may be wanted for the next.
    socket: Weak<Socket>,
}

impl SessionJournal {
    /// For a session whose control connection has `session` at its other end.
    pub fn new(journal: Journal, session: String) -> Self {
        Self { journal, session, ..Self::default() }
    }

    /// A step of the session.
    pub fn step(&self, text: impl FnOnce() -> String) {
        if !self.journal.wants().steps {
            return;
        }
        self.journal.write(clock::now(), |at_ns| {
            Entry::Step(Box::new(Step { at_ns, text: text(), session: self.session.clone() }))
        });
    }

    /// What could not be kept, so far.
    pub fn caveats(&self) -> Vec<Caveat> {
        self.journal.caveats()
    }

    /// The connections of a test are about to be made, under this token.
    pub fn expect(&mut self, token: Token) {
        self.token = Some(token);
        self.connections.clear();
        self.is_running = false;
    }

    /// Whether anybody reads what is written.
    pub fn is_kept(&self) -> bool {
        self.journal.open.is_some()
    }

    /// A test's connections begin to move data.
    pub fn started(&mut self, connections: &[(FlowId, Arc<Socket>)], at: Tick) {
        if !self.is_kept() || connections.is_empty() {
            return;
        }
        (self.started, self.is_running) = (at, true);
        for (flow, socket) in connections {
            self.opened(*flow, socket, at);
        }
        self.status(at, &EndInterval::default());
    }

    /// A connection begins to move data.
    pub fn opened(&mut self, flow: FlowId, socket: &Arc<Socket>, at: Tick) {
        let Some(token) = self.token.filter(|_| self.is_running) else { return };
        let facts = FlowFacts {
            flow,
            connection_id: Some(connection_id(token, flow).to_string()),
            local: socket.local_addr().ok().map(|address| address.to_string()),
            remote: socket.peer_addr().ok().map(|address| address.to_string()),
            ..FlowFacts::default()
        };
        self.tell(Entry::Opened, facts.clone(), at);
        self.connections.insert(flow, Held { facts, socket: Arc::downgrade(socket) });
    }

    /// A connection that was to follow another was not made.
    pub fn not_made(&self, flow: FlowId, why: &str) {
        if self.is_running {
            self.journal.trouble(Some(self.session.clone()), format!("flow {flow}: {why}"));
        }
    }

    /// A connection of those that are replaced has ended, and so came out.
    pub fn departed(&mut self, facts: FlowFacts, at: Tick) {
        let Some(held) = self.connections.remove(&facts.flow) else { return };
        let FlowFacts { connection_id, local, remote, .. } = held.facts;
        self.write_end(FlowFacts { connection_id, local, remote, ..facts }, at);
    }

    /// A connection is in a new phase.
    pub fn phase(
        &mut self,
        flow: FlowId,
        phase: Phase,
        totals: Totals,
        at: Tick,
        error: Option<FlowError>,
    ) {
        if phase.is_over() {
            self.close(flow, totals, at, error);
        }
    }

    /// The other end was lost. What it received of connections that have not ended yet it will never say.
    pub fn alone(&mut self) {
        self.is_alone = true;
    }

    /// A worker is over: whatever of its connections was still under way is so no more.
    pub fn worker_over(&mut self, finished: &Finished<GoodputFlow>, at: Tick) {
        for (flow, _) in &finished.flows {
            self.close(flow.id(), flow.totals(), at, error_of(flow));
        }
    }

    /// An interval of this end is whole.
    pub fn interval(&mut self, interval: &EndInterval) {
        if self.is_running && interval.goodput.is_some() {
            self.status(self.started.plus_nanos(interval.end_ns), interval);
        }
    }

    fn close(&mut self, flow: FlowId, totals: Totals, at: Tick, error: Option<FlowError>) {
        let Some(held) = self.connections.remove(&flow) else { return };
        let error = error.or_else(|| self.is_alone.then(unconfirmed));
        let facts = FlowFacts {
            sent_bytes: totals.sent,
            received_bytes: totals.received,
            error,
            tcp: held.socket.upgrade().and_then(|socket| tcp_facts(&socket)),
            ..held.facts
        };
        self.write_end(facts, at);
    }

    fn write_end(&mut self, facts: FlowFacts, at: Tick) {
        self.ended.count(facts.error.as_ref());
        let retransmits = facts.tcp.and_then(|tcp| tcp.retransmits);
        self.retransmits =
            [self.retransmits, retransmits].into_iter().flatten().reduce(u64::saturating_add);
        self.tell(Entry::Closed, facts, at);
    }

    fn tell(&self, entry: fn(Box<Connection>) -> Entry, facts: FlowFacts, at: Tick) {
        let time_ns = at.nanos_since(self.started);
        self.journal.write(at, |at_ns| {
            entry(Box::new(Connection { at_ns, time_ns, facts, session: self.session.clone() }))
        });
    }

    fn status(&self, at: Tick, interval: &EndInterval) {
        if !self.journal.wants().status {
            return;
        }
        self.journal.write(at, |at_ns| {
            let goodput = interval.goodput.unwrap_or_default();
            let open = self.connections.values().take(ASKED);
            let views: Vec<KernelView> = open
                .filter_map(|held| tcp_facts(&*held.socket.upgrade()?))
                .map(|tcp| KernelView::of(&tcp))
                .collect();
            let mut tcp = KernelView::of_all(&views);
            tcp.retransmits = [tcp.retransmits, self.retransmits]
                .into_iter()
                .flatten()
                .reduce(u64::saturating_add);
            Entry::Status(Box::new(Status {
                at_ns,
                length_ns: interval.end_ns.saturating_sub(interval.start_ns),
                sent_bytes: goodput.sent_bytes,
                received_bytes: goodput.received_bytes,
                in_flight: self.connections.len() as u64,
                ended: self.ended,
                tcp,
                session: self.session.clone(),
            }))
        });
    }
}

fn unconfirmed() -> FlowError {
    FlowError {
        kind: FlowErrorKind::Network,
        text: "the session was lost before the other end said what it received".to_owned(),
        errno: None,
    }
}
