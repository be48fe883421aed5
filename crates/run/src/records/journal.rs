//! What a session writes down while it runs: told by the session's own thread, never by one that measures.
//!
//! Here: when something is written down, and what it says. Not here: files and how rows look; a [`Sink`]
//! takes entries and returns at once.
//!
//! In one file: what is written down of a connection from its begin to its end.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Role, Token};
use pathscope_core::journal::{
    Connection, Ended, Entry, KernelView, Status, Step, Stream, StreamStatus, Trouble,
};
use pathscope_core::record::{Caveat, FlowError, FlowFacts};
use pathscope_flow::{Group, Phase, Totals};
use pathscope_modes::load::ConnectionEnd;
use pathscope_modes::registry::{EndInterval, EndReport, Plan, Test};
use pathscope_os::clock;
use pathscope_os::sockets::Socket;
use pathscope_os::tcp_facts::tcp_facts;
use pathscope_peers::native::connection_id;

use crate::messages::outcome::addresses;
use crate::records::confirmation::{Peer, PeerEnd, error_of_both, unconfirmed};

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
    /// Whether anybody reads what is written.
    pub(crate) fn is_kept(&self) -> bool {
        self.open.is_some()
    }

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
    token: Option<Token>,
    started: Tick,
    /// What is tested.
    plan: Option<Plan>,
    /// Whether a test with connections runs.
    is_running: bool,
    /// Of a test of streams: whether this end receives them.
    receives_streams: Option<bool>,
    /// Connections of the test that runs and have not ended, or whose end is not confirmed yet.
    connections: HashMap<FlowId, Held>,
    /// Of those that ended well, how many have waited for the other end's word.
    waiting: usize,
    /// Those that failed here and wait for it, in order.
    failed: VecDeque<(FlowId, Tick)>,
    role: Option<Role>,
    peer: Peer,
    /// Whether the other end says of each connection that failed there why.
    tells_failures: bool,
    /// The last row of status, which waits for the other end as its connections do.
    last: Option<(Tick, StreamStatus)>,
}

/// Connections that wait for word from an end that has not said any yet: memory is not theirs to use up.
const UNCONFIRMED: usize = 10_000;

/// The row of a connection that failed here is written after this time at the latest, whatever the other end may yet say
/// of it: it is told why, or finds out, within a second or two.
const FAILED_WAITS: Duration = Duration::from_secs(3);

/// A connection of the test that runs.
#[derive(Debug)]
struct Held {
    facts: FlowFacts,
    /// When its data could begin: those that follow others begin later than the test.
    since: Tick,
    /// Whoever runs it closes it: its port may be wanted for the next.
    socket: Weak<Socket>,
    /// What it came to at this end, and when.
    own: Option<(FlowFacts, Tick)>,
    /// What it came to at the other.
    peer: Option<PeerEnd>,
    /// What the kernel had sent again when this end reported.
    retransmits: Option<u64>,
}

impl Held {
    /// What it came to at this end, once; with what the kernel has sent again since. All that this end says of a connection
    /// is from one reading: that of its report, once there is one.
    fn take_own(&mut self) -> Option<(FlowFacts, Tick)> {
        let (mut facts, at) = self.own.take()?;
        let latest = self.retransmits.or_else(|| tcp_facts(&*self.socket.upgrade()?)?.retransmits);
        if let Some(tcp) = &mut facts.tcp {
            tcp.retransmits = tcp.retransmits.max(latest);
        }
        Some((facts, at))
    }
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
    pub fn expect(&mut self, token: Token, (role, tells_failures): (Role, bool), test: &Test) {
        self.token = Some(token);
        self.role = Some(role);
        self.plan = Some(test.plan.clone());
        // Of connections that are replaced, the server says what it counts on the connection itself.
        let says = role == Role::Server || !test.groups().iter().any(Group::replaces);
        self.peer = if says { Peer::Awaited } else { Peer::Silent };
        self.tells_failures = tells_failures;
        self.waiting = 0;
        self.failed.clear();
        self.connections.clear();
        self.is_running = false;
        self.receives_streams = None;
    }

    /// Whether anybody reads what is written.
    pub fn is_kept(&self) -> bool {
        self.journal.is_kept()
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
        self.status(at, &StreamStatus::default());
    }

    /// A test's streams begin, which this end receives or not.
    pub fn streams_started(&mut self, streams: &[(FlowId, Arc<Socket>)], receives: bool, at: Tick) {
        if !self.is_kept() || streams.is_empty() {
            return;
        }
        (self.started, self.receives_streams) = (at, Some(receives));
        for (flow, socket) in streams {
            let [local, remote] = addresses(socket);
            let facts = FlowFacts { flow: *flow, local, remote, ..FlowFacts::default() };
            self.tell_stream(Entry::StreamOpened, Stream { facts, ..Stream::default() }, at);
        }
        let streams = streams.len() as u64;
        self.stream_status(at, &StreamStatus { streams, ..StreamStatus::default() });
    }

    /// These streams are over, now or at the time beside each.
    pub fn streams_over(&self, streams: &[(Option<Tick>, Stream)], now: Tick) {
        for (at, stream) in streams {
            self.tell_stream(Entry::StreamClosed, stream.clone(), at.unwrap_or(now));
        }
    }

    fn tell_stream(&self, entry: fn(Box<Stream>) -> Entry, stream: Stream, at: Tick) {
        let (Some(receives), Some(token)) = (self.receives_streams, self.token) else { return };
        let id = connection_id(token, stream.facts.flow).to_string();
        let facts = FlowFacts { connection_id: Some(id), ..stream.facts };
        let (time_ns, session) = (at.nanos_since(self.started), self.session.clone());
        self.journal.write(at, |at_ns| {
            entry(Box::new(Stream { at_ns, time_ns, receives, facts, session, ..stream }))
        });
    }

    fn stream_status(&self, at: Tick, status: &StreamStatus) {
        let Some(receives) = self.receives_streams.filter(|_| self.journal.wants().status) else {
            return;
        };
        let session = self.session.clone();
        self.journal.write(at, |at_ns| {
            Entry::StreamStatus(Box::new(StreamStatus {
                at_ns,
                receives,
                session,
                ..status.clone()
            }))
        });
    }

    /// A connection begins to move data.
    pub fn opened(&mut self, flow: FlowId, socket: &Arc<Socket>, at: Tick) {
        let Some(token) = self.token.filter(|_| self.is_running) else { return };
        let [local, remote] = addresses(socket);
        let facts = FlowFacts {
            flow,
            connection_id: Some(connection_id(token, flow).to_string()),
            local,
            remote,
            ..FlowFacts::default()
        };
        self.tell(Entry::Opened, facts.clone(), (at, at));
        let socket = Arc::downgrade(socket);
        self.connections.insert(
            flow,
            Held { facts, since: at, socket, own: None, peer: None, retransmits: None },
        );
    }

    /// A connection that was to follow another was not made.
    pub fn not_made(&self, flow: FlowId, why: &str) {
        if self.is_running {
            self.journal.trouble(Some(self.session.clone()), format!("flow {flow}: {why}"));
        }
    }

    /// A connection of those that are replaced has ended, and so came out.
    pub fn departed(&mut self, facts: FlowFacts, at: Tick) {
        let Some(held) = self.connections.get(&facts.flow) else { return };
        let FlowFacts { connection_id, local, remote, .. } = held.facts.clone();
        self.is_over(FlowFacts { connection_id, local, remote, ..facts }, at);
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

    /// The other end was lost, or is waited for no longer since somebody wanted to stop. What it received of connections
    /// that it has not told of it will never say.
    pub fn alone(&mut self, is_stopped: bool) {
        let peer = if is_stopped { Peer::Left } else { Peer::Gone };
        if matches!(self.peer, Peer::Awaited | Peer::Heard) {
            self.peer = peer;
        }
        self.write_unconfirmed(&mut |facts| {
            facts.error.clone().or_else(|| Some(unconfirmed(peer)))
        });
    }

    /// This end has reported. What the kernel had sent again then is what rows say that are still to be written, too.
    pub fn reported(&mut self, report: &EndReport) {
        let told = self.plan.as_ref().map(|plan| report.connections(plan));
        for told in told.unwrap_or_default() {
            let held = self.connections.get_mut(&told.flow);
            if let (Some(held), Some(tcp)) = (held, &told.tcp) {
                held.retransmits = tcp.retransmits;
            }
        }
    }

    /// The other end says what a connection came to there.
    pub fn peer_ended(&mut self, flow: FlowId, totals: Totals, failure: Option<FlowError>) {
        if self.peer == Peer::Awaited {
            self.peer = Peer::Heard;
        }
        let Some(held) = self.connections.get_mut(&flow) else { return };
        held.peer = Some(PeerEnd { totals, failure });
        if let Some((facts, at)) = held.take_own() {
            self.is_over(facts, at);
        }
        if self.connections.is_empty() {
            self.write_last();
        }
    }

    /// The other end has said all that it will say.
    pub fn peer_reported(&mut self, report: &EndReport) {
        // One of another version says nothing of single connections: its report does, of the first.
        let has_heard = std::mem::take(&mut self.peer) == Peer::Heard;
        let role = self.role;
        let told = self.plan.as_ref().map(|plan| report.connections(plan).to_vec());
        let told = told.unwrap_or_default();
        self.write_unconfirmed(
            &mut |facts| match told.iter().find(|there| there.flow == facts.flow) {
                Some(there) => {
                    let (sent, received) = (there.sent_bytes, there.received_bytes);
                    let failure = there.error.clone();
                    let peer = PeerEnd { totals: Totals { sent, received }, failure };
                    error_of_both(role, facts, &peer)
                }
                None => facts.error.clone().or_else(|| has_heard.then(|| unconfirmed(Peer::Gone))),
            },
        );
    }

    /// Writes the rows of connections that have ended here and were not confirmed, each with what `judge` says.
    fn write_unconfirmed(&mut self, judge: &mut dyn FnMut(&FlowFacts) -> Option<FlowError>) {
        let waiting = self.connections.iter().filter(|(_, held)| held.own.is_some());
        let mut waiting: Vec<FlowId> = waiting.map(|(&flow, _)| flow).collect();
        waiting.sort_unstable();
        for flow in waiting {
            let Some(mut held) = self.connections.remove(&flow) else { continue };
            let Some((facts, at)) = held.take_own() else { continue };
            let error = judge(&facts);
            self.write_end(FlowFacts { error, ..facts }, (held.since, at));
        }
        self.write_last();
    }

    /// A worker is over: whatever of these connections was still under way is so no more.
    pub fn connections_over<'a>(
        &mut self,
        connections: impl Iterator<Item = &'a ConnectionEnd>,
        now: Tick,
    ) {
        for end in connections {
            self.close(end.flow, end.totals, end.ended_at.unwrap_or(now), end.error.clone());
        }
    }

    /// An interval of this end is whole.
    pub fn interval(&mut self, interval: &EndInterval) {
        let status = self.plan.as_ref().and_then(|plan| interval.status(plan));
        let Some(status) = status else { return };
        let at = self.started.plus_nanos(interval.end_ns);
        self.stream_status(at, &status);
        if !self.is_running {
            return;
        }
        self.write_last();
        self.write_failed(clock::now());
        // The row that ends a file says how all connections ended.
        let is_waiting = !self.connections.is_empty()
            && self.connections.values().all(|held| held.own.is_some());
        if is_waiting {
            self.last = Some((at, status));
        } else {
            self.status(at, &status);
        }
    }

    fn write_last(&mut self) {
        if let Some((at, status)) = self.last.take() {
            self.status(at, &status);
        }
    }

    fn close(&mut self, flow: FlowId, totals: Totals, at: Tick, error: Option<FlowError>) {
        let Some(held) = self.connections.get(&flow).filter(|held| held.own.is_none()) else {
            return;
        };
        let facts = FlowFacts {
            sent_bytes: totals.sent,
            received_bytes: totals.received,
            error,
            tcp: held.socket.upgrade().and_then(|socket| tcp_facts(&socket)),
            ..held.facts.clone()
        };
        self.is_over(facts, at);
    }

    /// A connection has ended here. Its row is written when the other end has confirmed it, or will not.
    fn is_over(&mut self, mut facts: FlowFacts, at: Tick) {
        let (flow, has_failed) = (facts.flow, facts.error.is_some());
        let Some(held) = self.connections.get_mut(&flow) else { return };
        let says = match self.peer {
            Peer::Awaited | Peer::Heard => true,
            Peer::Silent => has_failed && self.tells_failures,
            Peer::Gone | Peer::Left => false,
        };
        if says && held.peer.is_none() {
            held.own = Some((facts, at));
            if has_failed {
                self.failed.push_back((flow, at));
            } else {
                self.await_word();
            }
            return;
        }
        let (peer, since) = (held.peer.take(), held.since);
        self.connections.remove(&flow);
        facts.error = match peer {
            Some(peer) => error_of_both(self.role, &facts, &peer),
            None => facts.error.or_else(|| self.unsaid()),
        };
        self.write_end(facts, (since, at));
    }

    /// What there is to say of a connection that ended well, where the other end says nothing any more.
    fn unsaid(&self) -> Option<FlowError> {
        matches!(self.peer, Peer::Gone | Peer::Left).then(|| unconfirmed(self.peer))
    }

    /// One more that ended well waits for the other end's word.
    fn await_word(&mut self) {
        self.waiting += 1;
        if self.peer == Peer::Awaited && self.waiting > UNCONFIRMED {
            // It says nothing of connections, whatever it might: these rows stand for themselves.
            self.peer = Peer::Silent;
            self.write_unconfirmed(&mut |facts| facts.error.clone());
        }
    }

    /// Writes the rows of connections that failed here some time before, and of which the other end has said nothing.
    fn write_failed(&mut self, now: Tick) {
        while let Some(&(flow, _)) = self.failed.front().filter(|(_, at)| *at + FAILED_WAITS <= now)
        {
            self.failed.pop_front();
            let held = self.connections.remove(&flow);
            if let Some(Held { since, own: Some((facts, at)), .. }) = held {
                self.write_end(facts, (since, at));
            }
        }
    }

    fn write_end(&mut self, facts: FlowFacts, lasted: (Tick, Tick)) {
        self.ended.count(facts.error.as_ref());
        let retransmits = facts.tcp.and_then(|tcp| tcp.retransmits);
        self.retransmits =
            [self.retransmits, retransmits].into_iter().flatten().reduce(u64::saturating_add);
        self.tell(Entry::Closed, facts, lasted);
    }

    /// Of a connection that has lasted from one time to another, the other being now.
    fn tell(
        &self,
        entry: fn(Box<Connection>) -> Entry,
        facts: FlowFacts,
        (since, at): (Tick, Tick),
    ) {
        let time_ns = at.nanos_since(since);
        self.journal.write(at, |at_ns| {
            entry(Box::new(Connection { at_ns, time_ns, facts, session: self.session.clone() }))
        });
    }

    fn status(&self, at: Tick, status: &StreamStatus) {
        if !self.journal.wants().status {
            return;
        }
        self.journal.write(at, |at_ns| {
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
                length_ns: status.length_ns,
                sent_bytes: status.sent_bytes,
                received_bytes: status.received_bytes,
                in_flight: self.connections.len() as u64,
                ended: self.ended,
                tcp,
                session: self.session.clone(),
            }))
        });
    }
}

#[cfg(test)]
mod tests;
