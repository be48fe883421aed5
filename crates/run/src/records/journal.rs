//! What a session writes down while it runs: told by the session's own thread, never by one that measures.
//!
//! Here: when something is written down, and what it says; of connections' ends, which both ends have a say in, that is `ends`. Not
//! here: files and how rows look; a [`Sink`] takes entries and returns at once.

mod called;
mod ends;
mod runs;
mod scribed;
mod sink;
mod views;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Role};
use pathscope_core::journal::{
    Connection, Ended, Entry, KernelView, PathChange, Status, Step, Stream, StreamStatus,
};
use pathscope_core::record::{Caveat, FlowError, FlowFacts, Remarks};
use pathscope_flow::{FlowDatagrams, Group, Totals};
use pathscope_modes::groups::Test;
use pathscope_modes::mode::ToldAs;
use pathscope_modes::paths::Transition;
use pathscope_modes::registry::{EndInterval, EndReport, Plan};
use pathscope_os::clock;

use crate::messages::outcome::texts;
use crate::records::confirmation::{Peer, PeerEnd};
use crate::records::names::FlowNames;
use crate::records::newcomers::both;

use self::runs::Runs;
use self::scribed::Scribed;
pub use self::sink::{Journal, Sink, Wants};
pub(crate) use self::views::{ASKED, Beginner};

/// The part of a journal that one session writes.
#[derive(Default)]
pub(crate) struct SessionJournal {
    journal: Journal,
    session: String,
    ended: Ended,
    /// How connections of the test ended that have no rows.
    left_out: Ended,
    /// Segments that connections which have ended sent again.
    retransmits: Option<u64>,
    /// What is tested, at which end, and what its flows are called.
    test: Option<(Plan, Role, FlowNames)>,
    started: Tick,
    /// When its flows were told to end.
    stopped: Option<Tick>,
    /// What of the test that runs is told one by one; nothing before it runs.
    told_as: ToldAs,
    /// Connections of the test that runs and have not ended, or whose end is not confirmed yet.
    connections: HashMap<FlowId, Held>,
    /// How the kernel saw the first of those, by worker, when that last reported; by none, when the test began.
    views: BTreeMap<Option<usize>, Box<[(FlowId, KernelView)]>>,
    /// Of those that ended well, how many have waited for the other end's word.
    waiting: usize,
    /// Those that failed here and wait for it, in order.
    failed: VecDeque<(FlowId, Tick)>,
    peer: Peer,
    /// Whether the other end says of each connection that failed there why.
    tells_failures: bool,
    /// Bytes of each datagram of the test that runs.
    block_bytes: u64,
    /// Tells that it is over.
    runs: Option<Runs>,
    /// What its client says of it beside.
    remarks: Remarks,
    /// Who hears of it beside, for its client.
    scribed: Option<Arc<Scribed>>,
    /// The last row of status, which waits for the other end as its connections do.
    last: Option<(Tick, StreamStatus)>,
}

/// A connection of the test that runs.
struct Held {
    /// What it came to at this end, once it has ended; before that, which it is.
    facts: FlowFacts,
    /// When its data could begin: those that follow others begin later than the test.
    since: Tick,
    /// When it ended at this end.
    until: Option<Tick>,
    /// What it came to at the other.
    peer: Option<PeerEnd>,
    /// What the kernel had sent again when this end reported.
    retransmits: Option<u64>,
    /// What had gone through it when it was told of last, and when that was, since the start of the test.
    told: (Totals, u64),
    /// What had become of its datagrams then.
    told_datagrams: FlowDatagrams,
}

impl SessionJournal {
    /// For a session whose control connection has `session` at its other end.
    pub fn new(journal: Journal, session: String) -> Self {
        Self { journal, session, ..Self::default() }
    }

    /// A step of the session.
    pub fn step<T: Into<String>>(&self, text: impl FnOnce() -> T) {
        if self.journal.wants().steps {
            self.write(clock::now(), |at_ns, session| {
                Entry::Step(Box::new(Step { at_ns, text: text().into(), session }))
            });
        }
    }

    /// What could not be kept, so far.
    pub fn caveats(&self) -> Vec<Caveat> {
        self.journal.caveats()
    }

    /// The connections of a test are about to be made, called so. The other end says what they come to there, or else at most of each
    /// that has failed there why.
    pub fn expect(
        &mut self,
        names: FlowNames,
        (role, [tells, tells_failures]): (Role, [bool; 2]),
        test: &Test,
    ) {
        // Of connections that are replaced, the server says what it counts on the connection itself.
        let says = role == Role::Server || !test.groups().iter().any(Group::replaces);
        let says = tells && says;
        self.write_last();
        let session = std::mem::take(&mut self.session);
        *self = Self {
            ended: both(self.ended, self.left_out),
            retransmits: self.retransmits,
            test: Some((test.plan.clone(), role, names)),
            peer: if says { Peer::Awaited } else { Peer::Silent },
            tells_failures,
            ..Self::new(self.journal.clone(), session)
        };
    }

    /// Whether anybody reads what is written.
    pub fn is_kept(&self) -> bool {
        self.journal.is_kept()
    }

    /// These streams are over, now or at the time beside each.
    pub fn streams_over(&self, streams: &[(Option<Tick>, Stream)], now: Tick) {
        for (at, stream) in streams {
            let mut stream = stream.clone();
            stream.facts.connection_id = self.id_of(stream.facts.flow);
            self.tell_stream(Entry::StreamClosed, stream, at.unwrap_or(now));
        }
    }

    fn tell_stream(&self, entry: fn(Box<Stream>) -> Entry, stream: Stream, at: Tick) {
        let ToldAs::Streams { receives } = self.told_as else { return };
        let time_ns = at.nanos_since(self.started);
        self.write(at, |at_ns, session| {
            entry(Box::new(Stream { at_ns, time_ns, receives, session, ..stream }))
        });
    }

    /// A flow begins to move data between these addresses.
    pub fn opened(&mut self, flow: FlowId, addresses: [Option<SocketAddr>; 2], at: Tick) {
        let is_told = match self.told_as {
            ToldAs::Nothing => false,
            ToldAs::Begins => self.journal.wants().each,
            ToldAs::Datagrams => self.wants_progress(),
            ToldAs::Connections | ToldAs::Streams { .. } => true,
        };
        if !is_told {
            return;
        }
        let ([local, remote], connection_id) = (texts(addresses), self.id_of(flow));
        let facts = FlowFacts { flow, connection_id, local, remote, ..FlowFacts::default() };
        if let ToldAs::Streams { .. } = self.told_as {
            let stream = Stream { facts, ..Stream::default() };
            return self.tell_stream(Entry::StreamOpened, stream, at);
        }
        self.tell(Entry::Opened, facts.clone(), (at, at));
        if self.told_as == ToldAs::Begins {
            return;
        }
        let told = (Totals::default(), at.nanos_since(self.started));
        let told_datagrams = FlowDatagrams::default();
        let (until, peer, retransmits) = (None, None, None);
        let held = Held { facts, since: at, until, peer, retransmits, told, told_datagrams };
        self.connections.insert(flow, held);
    }

    /// So those ended of the test that have no rows.
    pub fn leaves_out(&mut self, so_far: Ended) {
        self.left_out = so_far;
    }

    /// A connection that was to follow another was not made: it has failed, and no bytes went over it.
    pub fn not_made(
        &mut self,
        flow: FlowId,
        address: SocketAddr,
        error: FlowError,
        [since, at]: [Tick; 2],
    ) {
        if self.told_as != ToldAs::Connections {
            return;
        }
        self.ended.count(Some(&error));
        let (remote, connection_id) = (Some(address.to_string()), self.id_of(flow));
        let error = Some(error);
        let facts = FlowFacts { flow, connection_id, remote, error, ..FlowFacts::default() };
        self.tell(Entry::Closed, facts, (since, at));
    }

    /// A connection of those that are replaced has ended, and so came out. Whether it has a row.
    pub fn departed(&mut self, facts: FlowFacts, at: Tick) -> bool {
        let Some(held) = self.connections.get(&facts.flow) else { return false };
        let FlowFacts { connection_id, local, remote, .. } = held.facts.clone();
        self.is_over(FlowFacts { connection_id, local, remote, ..facts }, None, at);
        true
    }

    /// The flows of the test are told to end.
    pub fn stops(&mut self, at: Tick) {
        self.stopped.get_or_insert(at);
    }

    /// The session has failed so.
    pub fn failed(&mut self, error: &impl fmt::Display) {
        self.runs.iter_mut().for_each(|runs| runs.failed(&error.to_string()));
    }

    /// This end has reported. What the kernel had sent again then is what rows say that are still to be written, too.
    pub fn reported(&mut self, report: &EndReport) {
        self.runs.iter_mut().for_each(|runs| runs.reported(report));
        let told = self.test.as_ref().map(|(plan, ..)| plan.connections_of(report));
        for told in told.unwrap_or_default() {
            let held = self.connections.get_mut(&told.flow);
            if let (Some(held), Some(tcp)) = (held, &told.tcp) {
                held.retransmits = tcp.retransmits;
            }
        }
    }

    fn role(&self) -> Option<Role> {
        self.test.as_ref().map(|&(_, role, _)| role)
    }

    /// An interval of this end is whole.
    pub fn interval(&mut self, interval: &EndInterval) {
        let status = self.test.as_ref().and_then(|(plan, ..)| plan.status_in(interval));
        let Some(status) = status else { return };
        let at = self.started.plus_nanos(interval.end_ns);
        self.write_last();
        self.write_failed(clock::now());
        // The row that ends a file says how all connections ended.
        let is_waiting = !self.connections.is_empty()
            && self.connections.values().all(|held| held.until.is_some());
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

    /// Of a connection that has lasted from one time to another, the other being now.
    fn tell(
        &self,
        entry: fn(Box<Connection>) -> Entry,
        facts: FlowFacts,
        (since, at): (Tick, Tick),
    ) {
        let time_ns = at.nanos_since(since);
        self.write(at, |at_ns, session| {
            entry(Box::new(Connection { at_ns, time_ns, facts, session }))
        });
    }

    fn status(&self, at: Tick, status: &StreamStatus) {
        if !self.journal.wants().status {
            return;
        }
        match self.told_as {
            ToldAs::Nothing | ToldAs::Begins | ToldAs::Datagrams => {}
            ToldAs::Streams { receives } => self.write(at, |at_ns, session| {
                Entry::StreamStatus(Box::new(StreamStatus {
                    at_ns,
                    receives,
                    session,
                    ..status.clone()
                }))
            }),
            ToldAs::Connections => self.write(at, |at_ns, session| {
                let mut tcp = KernelView::of_all(&self.views());
                tcp.retransmits = sum(tcp.retransmits, self.retransmits);
                Entry::Status(Box::new(Status {
                    at_ns,
                    length_ns: status.length_ns,
                    sent_bytes: status.sent_bytes,
                    received_bytes: status.received_bytes,
                    in_flight: self.connections.len() as u64,
                    ended: both(self.ended, self.left_out),
                    tcp,
                    session,
                }))
            }),
        }
    }

    /// Something happened to a path.
    pub fn path_changed(&self, change: Transition, at: Tick) {
        let Transition { path, interface, what, why, .. } = change;
        self.write(at, |at_ns, session| {
            Entry::Path(Box::new(PathChange { at_ns, path, interface, what, why, session }))
        });
    }

    /// Writes something down that happened then, with the session that it is of.
    fn write(&self, at: Tick, entry: impl FnOnce(u64, String) -> Entry) {
        self.journal.write(at, |at_ns| entry(at_ns, self.session.clone()));
    }
}

/// Both, as far as they are known.
fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    [one, other].into_iter().flatten().reduce(u64::saturating_add)
}

#[cfg(test)]
mod tests;
