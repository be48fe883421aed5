//! What all datagrams of a test came to at its client, path by path and together: counts and histograms of
//! fixed size. Told of each event as it happens, and of each number once more when it is awaited no longer.

use pathscope_core::Tick;
use pathscope_core::id::Lane;
use pathscope_core::stats::{Distribution, LatencyHistogram};

use super::gaps::Gaps;
use super::policies::Policies;
use super::report::{LossPair, MultipathReport, PathReport};
use super::ring::{Head, Stamps};
use super::tally::MultipathTally;

/// One path.
#[derive(Debug)]
pub(super) struct PathTally {
    pub sent: u64,
    pub received: u64,
    pub corrupt: u64,
    pub duplicates: u64,
    pub reordered: u64,
    pub late: u64,
    pub refused: u64,
    highest: u64,
    lost: u64,
    first: u64,
    only: u64,
    shared: u64,
    /// Whether it was ever sent on, or was to be: an interface that was named is away for as long as it is not there.
    is_known: bool,
    latency: LatencyHistogram,
    gaps: Gaps,
}

impl PathTally {
    fn new(interval_ns: u64) -> Self {
        Self {
            sent: 0,
            received: 0,
            corrupt: 0,
            duplicates: 0,
            reordered: 0,
            late: 0,
            refused: 0,
            highest: 0,
            lost: 0,
            first: 0,
            only: 0,
            shared: 0,
            is_known: false,
            latency: LatencyHistogram::new(),
            gaps: Gaps::new(interval_ns),
        }
    }

    fn report(&self) -> PathReport {
        PathReport {
            sent: self.sent,
            received: self.received,
            lost: self.lost,
            corrupt: self.corrupt,
            duplicates: self.duplicates,
            reordered: self.reordered,
            late: self.late,
            refused: self.refused,
            first: self.first,
            only: self.only,
            shared: self.shared,
            latency: distribution(&self.latency),
            gaps: self.gaps.report(),
            ..PathReport::default()
        }
    }
}

/// All paths.
#[derive(Debug)]
pub(super) struct Ledger {
    pub paths: Vec<PathTally>,
    start: Tick,
    scheduled: u64,
    sent: u64,
    received: u64,
    without_path: u64,
    prevented: u64,
    lost: u64,
    paired_primary_wait_ns: u64,
    paired_effective_wait_ns: u64,
    paired_effective: LatencyHistogram,
    effective: LatencyHistogram,
    effective_gaps: Gaps,
    send_lag: LatencyHistogram,
    policies: Policies,
    losses: Vec<LossPair>,
    fail_over_after_ns: u64,
    interval: MultipathTally,
}

impl Ledger {
    /// Empty, for so many paths; groups leave at this interval.
    pub fn new(lanes: u8, interval_ns: u64, (late_by_ns, fail_over_after_ns): (u64, u64)) -> Self {
        let pairs = (0..lanes).flat_map(|one| (one + 1..lanes).map(move |other| (one, other)));
        Self {
            paths: (0..lanes).map(|_| PathTally::new(interval_ns)).collect(),
            start: Tick::ZERO,
            scheduled: 0,
            sent: 0,
            received: 0,
            without_path: 0,
            prevented: 0,
            lost: 0,
            paired_primary_wait_ns: 0,
            paired_effective_wait_ns: 0,
            paired_effective: LatencyHistogram::new(),
            effective: LatencyHistogram::new(),
            effective_gaps: Gaps::new(interval_ns),
            send_lag: LatencyHistogram::new(),
            policies: Policies::new(late_by_ns),
            losses: pairs
                .map(|(one, other)| LossPair { one, other, ..LossPair::default() })
                .collect(),
            fail_over_after_ns,
            interval: MultipathTally::new(lanes),
        }
    }

    /// So many paths, the first, were named: each is to be there from the first number on.
    #[must_use]
    pub fn with_named(mut self, named: usize) -> Self {
        self.paths.iter_mut().take(named).for_each(|path| path.is_known = true);
        self
    }

    /// The schedule begins.
    pub fn start(&mut self, at: Tick) {
        self.start = at;
    }

    /// A datagram left on a path; the first of its number where `due` says when that was due.
    pub fn sent(&mut self, lane: Lane, at: Tick, due: Option<Tick>) {
        let path = &mut self.paths[lane.index()];
        path.sent += 1;
        path.is_known = true;
        self.interval.paths[lane.index()].sent += 1;
        if let Some(due) = due {
            self.sent += 1;
            self.interval.sent += 1;
            self.send_lag.record(at.nanos_since(due));
        }
    }

    /// An echo of `number` came on a path, the first there. `stamps` are of all paths, this one among them.
    pub fn received(&mut self, number: u64, lane: Lane, stamps: &[Stamps]) {
        let path = &mut self.paths[lane.index()];
        path.received += 1;
        path.reordered += u64::from(number < path.highest);
        path.highest = path.highest.max(number);
        self.interval.paths[lane.index()].received += 1;
        if let Some(latency) = stamps[lane.index()].latency_ns() {
            path.latency.record(latency);
        }
        let answers = stamps.iter().filter(|stamps| stamps.is_received()).count();
        if answers == 1
            && let Some(effective) = effective_ns(stamps)
        {
            self.received += 1;
            self.interval.received += 1;
            self.effective.record(effective);
            self.interval.effective.record(effective);
        }
    }

    /// A number is awaited no more.
    pub fn settle(&mut self, head: Head, stamps: &[Stamps]) {
        self.scheduled += 1;
        let effective = effective_ns(stamps);
        let is_sent = stamps.iter().any(Stamps::is_sent);
        self.without_path += u64::from(!is_sent);
        self.lost += u64::from(is_sent && effective.is_none());
        self.settle_paths(head, stamps);
        self.effective_gaps.saw(head.due, effective.is_some(), self.start);
        if let Some(primary) = stamps.first() {
            let rescued = primary.is_sent() && !primary.is_received() && effective.is_some();
            self.prevented += u64::from(rescued);
            if let Some((primary, effective)) = primary.latency_ns().zip(effective) {
                self.paired_primary_wait_ns += primary;
                self.paired_effective_wait_ns += effective;
                self.paired_effective.record(effective);
            }
        }
        for pair in &mut self.losses {
            let [one, other] = [pair.one, pair.other].map(|lane| &stamps[usize::from(lane)]);
            if one.is_sent() && other.is_sent() {
                *match (one.is_received(), other.is_received()) {
                    (true, true) => &mut pair.neither,
                    (false, true) => &mut pair.one_lost,
                    (true, false) => &mut pair.other_lost,
                    (false, false) => &mut pair.both_lost,
                } += 1;
            }
        }
        self.policies.saw(head, stamps, effective);
    }

    fn settle_paths(&mut self, head: Head, stamps: &[Stamps]) {
        let first = stamps.iter().map(|stamps| stamps.received).min().unwrap_or(Tick::NEVER);
        let winner = stamps.iter().position(|it| it.is_received() && it.received == first);
        let answers = stamps.iter().filter(|stamps| stamps.is_received()).count();
        for (index, (path, stamps)) in self.paths.iter_mut().zip(stamps).enumerate() {
            path.lost += u64::from(stamps.is_sent() && !stamps.is_received());
            path.first += u64::from(winner == Some(index));
            path.only += u64::from(stamps.is_received() && answers == 1);
            path.shared += u64::from(stamps.is_received() && answers > 1);
            if path.is_known {
                path.gaps.saw(head.due, stamps.is_received(), self.start);
            }
        }
    }

    /// No further number. The schedule ends at this time.
    pub fn finish(&mut self, end: Tick) {
        self.effective_gaps.finish(end, self.start);
        self.paths.iter_mut().for_each(|path| path.gaps.finish(end, self.start));
    }

    /// What happened since the last call.
    pub fn take_interval(&mut self) -> MultipathTally {
        let lanes = self.interval.paths.len() as u8;
        std::mem::replace(&mut self.interval, MultipathTally::new(lanes))
    }

    pub fn report(&self) -> MultipathReport {
        MultipathReport {
            scheduled: self.scheduled,
            sent: self.sent,
            received: self.received,
            lost: self.lost,
            without_path: self.without_path,
            prevented: self.prevented,
            paired: self.paired_effective.count(),
            paired_primary_wait_ns: self.paired_primary_wait_ns,
            paired_effective_wait_ns: self.paired_effective_wait_ns,
            paired_effective: distribution(&self.paired_effective),
            effective: distribution(&self.effective),
            effective_gaps: self.effective_gaps.report(),
            send_lag: distribution(&self.send_lag),
            fail_over_after_ns: self.fail_over_after_ns,
            policies: self.policies.report(),
            losses: self.losses.clone(),
            paths: self.paths.iter().map(PathTally::report).collect(),
            ..MultipathReport::default()
        }
    }
}

/// From the first sending on any path to the first answer on any path.
fn effective_ns(stamps: &[Stamps]) -> Option<u64> {
    // An answer that never came is later than all others, as is a sending that never was.
    let sent = stamps.iter().map(|stamps| stamps.sent).min()?;
    let received = stamps.iter().map(|stamps| stamps.received).min()?;
    (received != Tick::NEVER).then(|| received.nanos_since(sent))
}

fn distribution(histogram: &LatencyHistogram) -> Option<Distribution> {
    (!histogram.is_empty()).then(|| histogram.distribution())
}
