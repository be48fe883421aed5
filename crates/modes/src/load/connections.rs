//! What the connections of one end came to, written down as each ends: sums of all, the first one by one. Its size is
//! bounded, however many connections follow one another. Off the hot path.

use std::net::{IpAddr, SocketAddr};

use pathscope_core::Tick;
use pathscope_core::id::FlowId;
use pathscope_core::record::{FlowError, FlowFacts, TcpFacts};
use pathscope_flow::Totals;

use super::{ErrnoCount, GoodputReport, RemoteCounts};
use crate::times::{Passed, TimesDrawn};

/// Connections below this number are told one by one; of others only their sums, and so many that failed.
pub const FLOWS_TOLD: u32 = 1_000;
const FAILURES_TOLD: usize = 100;

/// A connection that has ended, as its flow knows it.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, and any go together")]
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
    /// Whether another follows it. The rates of those that end together are known when all have ended.
    pub is_replaced: bool,
    /// Whether another was there before it.
    pub follows: bool,
    /// Of one that is replaced, what it received a second in its own time, in bits, where it was long enough for that.
    pub own_rate_bps: Option<f64>,
    /// When it was begun, where that is known: before its SYN.
    pub begun_at: Option<Tick>,
    /// When it ended, where that was found out later, or is known at all.
    pub ended_at: Option<Tick>,
}

/// The account.
#[derive(Debug, Default)]
pub struct Connections {
    /// What is said of them. Rates are of those that are replaced, in their own time.
    pub report: GoodputReport,
    /// When those began that are replaced, and how long they took.
    pub times: TimesDrawn,
    failures_told: usize,
    /// Where the last one went, and where its address stands in the report: nearly all go where the one before went.
    last_remote: Option<(IpAddr, usize)>,
}

impl Connections {
    /// One never got its socket, which was to follow another. `tried`: from when to when.
    pub fn not_made(
        &mut self,
        flow: FlowId,
        address: SocketAddr,
        error: FlowError,
        [begun_at, ended_at]: [Tick; 2],
    ) {
        let (begun_at, ended_at) = (Some(begun_at), Some(ended_at));
        let is_replaced = true;
        let end = ConnectionEnd {
            flow,
            error: Some(error),
            is_replaced,
            begun_at,
            ended_at,
            ..ConnectionEnd::default()
        };
        self.depart(end, [None, Some(address)], false, (|| None, || None));
    }

    /// More was sent again after one had been written down.
    pub fn note_retransmits(&mut self, flow: FlowId, retransmits: u64) {
        let facts = self.report.flows.iter_mut().find(|facts| facts.flow == flow);
        let told = facts.and_then(|facts| facts.tcp.as_mut()?.retransmits.as_mut());
        // One that was reset has forgotten what it had counted.
        told.into_iter().for_each(|told| *told = retransmits.max(*told));
    }

    /// One has ended. What it came to, where that is wanted; its own address, where that is not known, and what the system says of it
    /// are asked for once, and only where it is told.
    pub fn depart(
        &mut self,
        end: ConnectionEnd,
        [local, remote]: [Option<SocketAddr>; 2],
        is_wanted: bool,
        (find_local, tcp): (impl FnOnce() -> Option<SocketAddr>, impl FnOnce() -> Option<TcpFacts>),
    ) -> Option<FlowFacts> {
        let (began, ended) = (end.begun_at, end.ended_at);
        let ConnectionEnd { flow, totals, error, is_cut, is_replaced, .. } = end;
        let ConnectionEnd { follows, own_rate_bps, .. } = end;
        let failure = error.as_ref().map(|error| error.kind);
        let times = began.zip(ended).filter(|_| is_replaced);
        times.into_iter().for_each(|(began, ended)| {
            self.times.record(Passed { flow, began, ended, failed: failure, is_cut, follows });
        });
        let report = &mut self.report;
        report.sent_bytes += totals.sent;
        report.received_bytes += totals.received;
        failure.into_iter().for_each(|kind| report.failures.count(kind));
        let errno = error.as_ref().and_then(|error| error.errno.as_deref());
        errno.into_iter().for_each(|errno| ErrnoCount::count(&mut report.errnos, errno));
        match own_rate_bps {
            Some(rate) => report.rates.record(rate),
            None => report.rates.too_short += u64::from(is_replaced && totals.received > 0),
        }
        let count = |failed: &mut u64, cut: &mut u64, completed: &mut u64| {
            *match (failure, is_cut) {
                (Some(_), _) => failed,
                (None, true) => cut,
                (None, false) => completed,
            } += 1;
        };
        count(&mut report.failed, &mut report.cut, &mut report.completed);
        if let Some(remote) = remote {
            let counts = counts_of(&mut self.last_remote, remote.ip(), &mut report.remotes);
            counts.sent_bytes += totals.sent;
            counts.received_bytes += totals.received;
            count(&mut counts.failed, &mut counts.cut, &mut counts.completed);
        }
        // The same flows at both ends, whatever the order they end in; and the first failures beyond them.
        let is_beyond = flow.0 >= FLOWS_TOLD;
        let is_told = !is_beyond || failure.is_some() && self.failures_told < FAILURES_TOLD;
        report.flows_omitted += u64::from(!is_told);
        self.failures_told += usize::from(is_told && is_beyond);
        if !is_told && !is_wanted {
            return None;
        }
        let text = |address: Option<SocketAddr>| address.map(|address| address.to_string());
        let facts = FlowFacts {
            flow,
            local: text(local.or_else(find_local)),
            remote: text(remote),
            sent_bytes: totals.sent,
            received_bytes: totals.received,
            received_bps: own_rate_bps,
            cut: is_cut,
            tcp: tcp(),
            error,
            ..FlowFacts::default()
        };
        let wanted = is_wanted.then(|| facts.clone());
        report.flows.extend(is_told.then_some(facts));
        wanted
    }
}

/// The counts of the connections that went there.
fn counts_of<'all>(
    last: &mut Option<(IpAddr, usize)>,
    remote: IpAddr,
    all: &'all mut Vec<RemoteCounts>,
) -> &'all mut RemoteCounts {
    let known = last.filter(|(address, _)| *address == remote).map(|(_, place)| place);
    let place = known
        .filter(|&place| place < all.len())
        .unwrap_or_else(|| RemoteCounts::place_of(all, &remote.to_canonical().to_string()));
    *last = Some((remote, place));
    &mut all[place]
}

#[cfg(test)]
mod tests {
    use pathscope_core::record::FlowErrorKind;

    use super::*;

    #[test]
    fn only_those_that_are_replaced_have_rates_of_their_own_or_are_too_short_for_one() {
        let mut connections = Connections::default();
        let totals = Totals { sent: 0, received: 9 };
        for (flow, is_replaced, own_rate_bps) in
            [(0, false, None), (1, true, None), (2, true, Some(8e6))]
        {
            let flow = FlowId(flow);
            let end =
                ConnectionEnd { flow, totals, is_replaced, own_rate_bps, ..Default::default() };
            connections.depart(end, [None, None], false, (|| None, || None));
        }
        let report = connections.report;
        assert_eq!((report.rates.too_short, report.rates.flows, report.completed), (1, 1, 3));
    }

    #[test]
    fn failures_are_counted_by_the_error_that_they_are_of() {
        let mut connections = Connections::default();
        for (flow, errno) in [(0, Some("EPIPE")), (1, None), (2, Some("EIO")), (3, Some("EPIPE"))] {
            let kind = FlowErrorKind::Network;
            let error = FlowError { kind, text: String::new(), errno: errno.map(str::to_owned) };
            let end =
                ConnectionEnd { flow: FlowId(flow), error: Some(error), ..Default::default() };
            connections.depart(end, [None, None], false, (|| None, || None));
        }
        let counts = connections.report.errnos.iter().map(|it| (it.errno.as_str(), it.failed));
        assert_eq!(counts.collect::<Vec<_>>(), [("EPIPE", 2), ("EIO", 1)]);
        assert_eq!(connections.report.failures.network, 4);
    }
}
