//! What the connections of one end came to, written down as each ends: sums of all, the first one by one. Its size is
//! bounded, however many connections follow one another. Off the hot path.

use std::net::SocketAddr;

use pathscope_core::Tick;
use pathscope_core::id::FlowId;
use pathscope_core::record::{FlowError, FlowFacts, TcpFacts};
use pathscope_flow::Totals;

use super::{FailureCounts, RateSums, RemoteCounts};

/// Connections below this number are told one by one; of others only their sums, and so many that failed.
pub const FLOWS_TOLD: u32 = 1_000;
const FAILURES_TOLD: usize = 100;

/// A connection that has ended, as its flow knows it.
#[derive(Clone, Debug)]
pub struct ConnectionEnd {
    /// Which it was.
    pub flow: FlowId,
    /// What went through.
    pub totals: Totals,
    /// What ended it before its time.
    pub error: Option<FlowError>,
    /// Whether the end of the run stopped it before its transfer was whole.
    pub is_cut: bool,
    /// Whether it was reset: the system has forgotten what it knew of it.
    pub is_reset: bool,
    /// What it received a second in its own time, in bits, where it was long enough for that.
    pub own_rate_bps: Option<f64>,
    /// When it ended, where that was found out later.
    pub ended_at: Option<Tick>,
}

/// The account.
#[derive(Debug, Default)]
pub struct Connections {
    /// Bytes handed to the system, over all.
    pub sent_bytes: u64,
    /// Bytes taken from the system and checked, over all.
    pub received_bytes: u64,
    /// Those that ended well.
    pub completed: u64,
    /// Those that failed, or could not be made.
    pub failed: u64,
    /// The same, by what they failed of.
    pub failures: FailureCounts,
    /// Those that were stopped before their transfer was whole.
    pub cut: u64,
    /// The first, one by one.
    pub flows: Vec<FlowFacts>,
    /// Those beyond them.
    pub flows_omitted: u64,
    /// Rates in their own time, of those that are replaced.
    pub rates: RateSums,
    /// What became of them, by the other end's address.
    pub remotes: Vec<RemoteCounts>,
    failures_told: usize,
}

impl Connections {
    /// One of those that are replaced has ended: its rate is that of its own time. What it came to, where that is wanted.
    pub fn depart(
        &mut self,
        end: ConnectionEnd,
        addresses: [Option<SocketAddr>; 2],
        is_wanted: bool,
        tcp: impl FnOnce() -> Option<TcpFacts>,
    ) -> Option<FlowFacts> {
        let rate = end.own_rate_bps;
        match rate {
            Some(rate) => self.rates.record(rate),
            None => self.rates.too_short += u64::from(end.totals.received > 0),
        }
        self.add((end, rate), addresses, is_wanted, tcp)
    }

    /// One has ended together with all others: its rate follows when all are known.
    pub fn end(
        &mut self,
        end: ConnectionEnd,
        addresses: [Option<SocketAddr>; 2],
        tcp: impl FnOnce() -> Option<TcpFacts>,
    ) {
        self.add((end, None), addresses, false, tcp);
    }

    /// One never got its socket.
    pub fn not_made(&mut self, flow: FlowId, address: SocketAddr, error: FlowError) {
        self.count(Some(&error), false);
        self.remote(Some(address)).into_iter().for_each(|remote| remote.failed += 1);
        let remote = Some(address.to_string());
        self.tell(FlowFacts { flow, remote, error: Some(error), ..FlowFacts::default() });
    }

    /// More was sent again after one had been written down.
    pub fn note_retransmits(&mut self, flow: FlowId, retransmits: u64) {
        let facts = self.flows.iter_mut().find(|facts| facts.flow == flow);
        let told = facts.and_then(|facts| facts.tcp.as_mut()?.retransmits.as_mut());
        // One that was reset has forgotten what it had counted.
        told.into_iter().for_each(|told| *told = retransmits.max(*told));
    }

    /// What the system says of a connection is asked for once, and only where it is told.
    fn add(
        &mut self,
        (end, rate): (ConnectionEnd, Option<f64>),
        [local, remote]: [Option<SocketAddr>; 2],
        is_wanted: bool,
        tcp: impl FnOnce() -> Option<TcpFacts>,
    ) -> Option<FlowFacts> {
        let ConnectionEnd { flow, totals, error, is_cut, .. } = end;
        let failed = error.is_some();
        self.sent_bytes += totals.sent;
        self.received_bytes += totals.received;
        self.count(error.as_ref(), is_cut);
        if let Some(remote) = self.remote(remote) {
            remote.sent_bytes += totals.sent;
            remote.received_bytes += totals.received;
            *match (failed, is_cut) {
                (true, _) => &mut remote.failed,
                (false, true) => &mut remote.cut,
                (false, false) => &mut remote.completed,
            } += 1;
        }
        let is_told = self.tells(flow, failed);
        if !is_told && !is_wanted {
            self.flows_omitted += 1;
            return None;
        }
        let text = |address: Option<SocketAddr>| address.map(|address| address.to_string());
        let facts = FlowFacts {
            flow,
            local: text(local),
            remote: text(remote),
            sent_bytes: totals.sent,
            received_bytes: totals.received,
            received_bps: rate,
            cut: is_cut,
            tcp: tcp(),
            error,
            ..FlowFacts::default()
        };
        let wanted = is_wanted.then(|| facts.clone());
        self.tell(facts);
        wanted
    }

    fn count(&mut self, error: Option<&FlowError>, is_cut: bool) {
        match error.map(|error| error.kind) {
            None if is_cut => self.cut += 1,
            None => self.completed += 1,
            Some(kind) => {
                self.failed += 1;
                self.failures.count(kind);
            }
        }
    }

    fn remote(&mut self, remote: Option<SocketAddr>) -> Option<&mut RemoteCounts> {
        let address = remote?.ip().to_canonical();
        Some(RemoteCounts::of(&mut self.remotes, &address.to_string()))
    }

    /// The same flows at both ends, whatever the order they end in; and the first failures beyond them.
    fn tells(&self, flow: FlowId, failed: bool) -> bool {
        flow.0 < FLOWS_TOLD || failed && self.failures_told < FAILURES_TOLD
    }

    fn tell(&mut self, facts: FlowFacts) {
        if !self.tells(facts.flow, facts.error.is_some()) {
            self.flows_omitted += 1;
            return;
        }
        self.failures_told += usize::from(facts.flow.0 >= FLOWS_TOLD);
        self.flows.push(facts);
    }
}
