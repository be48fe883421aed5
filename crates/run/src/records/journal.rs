//! What a session writes down while it runs: told by the session's own thread, never by one that measures.
//!
//! Here: when something is written down, and what it says. Not here: files and how rows look; a [`Sink`]
//! takes entries and returns at once.
//!
//! In one file: what is written down of a connection from its begin to its end.

mod called;
mod runs;
mod views;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Role};
use pathscope_core::journal::{
    Connection, Each, Ended, Entry, KernelView, PathChange, Status, Step, Stream, StreamStatus,
    Trouble,
};
use pathscope_core::record::{Caveat, FlowError, FlowFacts, TcpFacts};
use pathscope_core::tcp_look::TcpLook;
use pathscope_flow::{FlowDatagrams, Group, Totals};
use pathscope_modes::groups::Test;
use pathscope_modes::load::ConnectionEnd;
use pathscope_modes::mode::ToldAs;
use pathscope_modes::paths::Transition;
use pathscope_modes::registry::{EndInterval, EndReport, Plan};
use pathscope_os::clock;

use crate::messages::outcome::{FlowProgress, LastSeen, texts};
use crate::records::confirmation::{Peer, PeerEnd, error_of_both, unconfirmed};
use crate::records::names::FlowNames;
use crate::records::newcomers::both;

use self::runs::Runs;
pub(crate) use self::views::{ASKED, Beginner};

/// Which entries somebody reads: those that cost something to make are not made for nobody.
#[expect(clippy::struct_excessive_bools, reason = "each is wanted or not, whatever the others are")]
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Wants {
    /// Rows of status, for which the kernel is asked about every connection.
    pub status: bool,
    /// Steps of a session.
    pub steps: bool,
    /// What went through each connection in each report interval.
    pub progress: bool,
    /// Flows of pings as they begin, and each ping; frames of streams, each by itself.
    pub each: bool,
    /// How often the machine was interrupted while a test ran, and by what, beside its status.
    pub interrupts: bool,
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

    /// A journal whose times count from then on.
    pub fn begin(sink: Arc<dyn Sink>, began: Tick) -> Self {
        Self { open: Some((sink, began)) }
    }

    /// Something went wrong that is no matter of one connection.
    pub(crate) fn trouble(&self, session: Option<String>, text: impl Into<String>) {
        self.write(clock::now(), |at_ns| {
            Entry::Trouble(Box::new(Trouble { at_ns, text: text.into(), session }))
        });
    }

    pub(crate) fn wants(&self) -> Wants {
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

    /// These were measured one by one, and are told by `each` with times since the journal began.
    pub(crate) fn each<S>(&self, samples: &[S], each: impl Fn(&S, Tick) -> Option<Each>) {
        if let Some((sink, began)) = &self.open {
            let all: Box<[Each]> =
                samples.iter().filter_map(|sample| each(sample, *began)).collect();
            sink.take(Entry::Each(all));
        }
    }

    fn write(&self, at: Tick, entry: impl FnOnce(u64) -> Entry) {
        if let Some((sink, began)) = &self.open {
            sink.take(entry(at.nanos_since(*began)));
        }
    }
}

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
    /// The last row of status, which waits for the other end as its connections do.
    last: Option<(Tick, StreamStatus)>,
}

/// Connections that wait for word from an end that has not said any yet: memory is not theirs to use up.
const UNCONFIRMED: usize = 10_000;

/// The row of a connection that failed here is written after this time at the latest, whatever the other end may yet say
/// of it: it is told why, or finds out, within a second or two.
const FAILED_WAITS: Duration = Duration::from_secs(3);

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

    /// A connection has ended, and so the kernel saw it then. Of one that is known to have, this says nothing new.
    pub fn ended(
        &mut self,
        flow: FlowId,
        totals: Totals,
        (at, seen): (Tick, Option<LastSeen>),
        error: Option<FlowError>,
    ) {
        let held = self.connections.get(&flow).filter(|held| held.until.is_none());
        let Some(held) = held else { return };
        let facts = FlowFacts {
            sent_bytes: totals.sent,
            received_bytes: totals.received,
            error,
            tcp: seen.map(|seen| seen.facts),
            ..held.facts.clone()
        };
        self.is_over(facts, seen.and_then(|seen| seen.look), at);
    }

    /// A worker is over: whatever of these connections was still under way is so no more.
    pub fn connections_over(
        &mut self,
        connections: &[(ConnectionEnd, Option<Box<TcpFacts>>)],
        now: Tick,
    ) {
        for (end, tcp) in connections {
            let at = end.ended_at.unwrap_or(now);
            let seen = tcp.as_deref().map(|&facts| LastSeen { facts, look: None });
            self.ended(end.flow, end.totals, (at, seen), end.error.clone());
        }
    }

    /// A connection has ended here; it stood so then, as far as more is known of that than its facts tell. Its row is written when the other
    /// end has confirmed it, or will not.
    fn is_over(&mut self, facts: FlowFacts, look: Option<TcpLook>, at: Tick) {
        let (flow, has_failed) = (facts.flow, facts.error.is_some());
        if self.wants_progress() {
            let totals = Totals { sent: facts.sent_bytes, received: facts.received_bytes };
            let tcp = facts.tcp.as_ref().filter(|_| facts.sent_bytes > 0);
            let tcp = tcp.map(|tcp| look.unwrap_or_else(|| TcpLook::at_end(flow, tcp)));
            let progress = FlowProgress { flow, totals, datagrams: None, tcp };
            self.progress_of(&progress, (Tick::ZERO, at));
        }
        let Some(held) = self.connections.get_mut(&flow) else { return };
        (held.facts, held.until) = (facts, Some(at));
        let says = match self.peer {
            Peer::Awaited | Peer::Heard => true,
            Peer::Silent => has_failed && self.tells_failures,
            Peer::Gone | Peer::Left => false,
        };
        let peer = held.peer.take();
        if says && peer.is_none() {
            if has_failed {
                self.failed.push_back((flow, at));
            } else {
                self.await_word();
            }
            return;
        }
        let (role, state) = (self.role(), self.peer);
        self.write_end(flow, |facts| match peer {
            Some(peer) => error_of_both(role, facts, &peer),
            // What ended well has no word of the other end, where that says nothing any more.
            None => facts
                .error
                .clone()
                .or_else(|| matches!(state, Peer::Gone | Peer::Left).then(|| unconfirmed(state))),
        });
    }

    /// One more that ended well waits for the other end's word.
    fn await_word(&mut self) {
        self.waiting += 1;
        if self.peer == Peer::Awaited && self.waiting > UNCONFIRMED {
            // It says nothing of connections, whatever it might: these rows stand for themselves.
            self.peer = Peer::Silent;
            self.write_unconfirmed(|facts| facts.error.clone());
        }
    }

    /// The other end was lost, or is waited for no longer since somebody wanted to stop. What it received of connections
    /// that it has not told of it will never say.
    pub fn alone(&mut self, is_stopped: bool) {
        let peer = if is_stopped { Peer::Left } else { Peer::Gone };
        if matches!(self.peer, Peer::Awaited | Peer::Heard) {
            self.peer = peer;
        }
        self.write_unconfirmed(|facts| facts.error.clone().or_else(|| Some(unconfirmed(peer))));
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

    /// The other end says what a connection came to there.
    pub fn peer_ended(&mut self, flow: FlowId, totals: Totals, failure: Option<FlowError>) {
        if self.peer == Peer::Awaited {
            self.peer = Peer::Heard;
        }
        let role = self.role();
        let Some(held) = self.connections.get_mut(&flow) else { return };
        let peer = PeerEnd { totals, failure };
        if held.until.is_some() {
            self.write_end(flow, |facts| error_of_both(role, facts, &peer));
        } else {
            held.peer = Some(peer);
        }
        if self.connections.is_empty() {
            self.write_last();
        }
    }

    /// The other end has said all that it will say.
    /// What it counted while more was on its way says nothing of how they ended.
    pub fn peer_reported(&mut self, report: &EndReport, is_cut_short: bool) {
        // One of another version says nothing of single connections: its report does, of the first.
        let has_heard = std::mem::take(&mut self.peer) == Peer::Heard;
        let role = self.role();
        let told = self.test.as_ref().map(|(plan, ..)| plan.connections_of(report));
        let told = told.unwrap_or_default();
        self.write_unconfirmed(|facts| match told.iter().find(|there| there.flow == facts.flow) {
            Some(there) => {
                let totals = if is_cut_short {
                    Totals { sent: facts.received_bytes, received: facts.sent_bytes }
                } else {
                    Totals { sent: there.sent_bytes, received: there.received_bytes }
                };
                error_of_both(role, facts, &PeerEnd { totals, failure: there.error.clone() })
            }
            None => facts.error.clone().or_else(|| has_heard.then(|| unconfirmed(Peer::Gone))),
        });
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

    /// Writes the rows of connections that have ended here and were not confirmed, each with what `judge` says.
    fn write_unconfirmed(&mut self, judge: impl Fn(&FlowFacts) -> Option<FlowError>) {
        let waiting = self.connections.iter().filter(|(_, held)| held.until.is_some());
        let mut waiting: Vec<FlowId> = waiting.map(|(&flow, _)| flow).collect();
        waiting.sort_unstable();
        for flow in waiting {
            self.write_end(flow, &judge);
        }
        self.write_last();
    }

    /// Writes the rows of connections that failed here some time before, and of which the other end has said nothing.
    fn write_failed(&mut self, now: Tick) {
        while let Some(&(flow, _)) = self.failed.front().filter(|(_, at)| *at + FAILED_WAITS <= now)
        {
            self.failed.pop_front();
            self.write_end(flow, |facts| facts.error.clone());
        }
    }

    /// Writes the row of a connection that has ended here, with the error that `judge` finds; once. It says what the kernel
    /// has sent again since, too: all that this end says of a connection is from one reading, that of its report, once there
    /// is one.
    fn write_end(&mut self, flow: FlowId, judge: impl FnOnce(&FlowFacts) -> Option<FlowError>) {
        let Some(Held { mut facts, since, until: Some(at), retransmits, .. }) =
            self.connections.remove(&flow)
        else {
            return;
        };
        self.forget_name(flow);
        if let Some(tcp) = &mut facts.tcp {
            tcp.retransmits = tcp.retransmits.max(retransmits);
        }
        facts.error = judge(&facts);
        self.ended.count(facts.error.as_ref());
        self.retransmits = sum(self.retransmits, facts.tcp.and_then(|tcp| tcp.retransmits));
        self.tell(Entry::Closed, facts, (since, at));
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
