//! What all datagrams of a test came to at its client, path by path and together: counts and histograms of
//! fixed size. Told of each event as it happens, and of each number once more when it is awaited no longer.

use pathscope_core::Tick;
use pathscope_core::id::Lane;
use pathscope_core::stats::{Distribution, LatencyHistogram};

use super::MultipathPlan;
use super::gaps::Gaps;
use super::losses::Losses;
use super::policies::Policies;
use super::report::{
    LossPair, MultipathReport, MultipathTally, PathInterval, PathLatencies, PathReport,
};
use super::ring::Head;
use super::sample::Stamps;

/// One path.
#[derive(Debug)]
pub(super) struct PathTally {
    /// In the fields that they are told in.
    pub counts: PathReport,
    /// Of them, what was not told yet.
    interval: PathInterval,
    /// Of the answers that were not told yet.
    interval_latency: PathLatencies,
    highest: u64,
    /// Whether it was ever sent on, or was to be: an interface that was named is away for as long as it is not there.
    is_known: bool,
    latency: LatencyHistogram,
    gaps: Gaps,
    losses: Losses,
}

impl PathTally {
    fn report(&self) -> PathReport {
        PathReport {
            latency: distribution(&self.latency),
            gaps: self.gaps.report.clone(),
            lost_over_time: Some(self.losses.told()),
            ..self.counts.clone()
        }
    }
}

/// A path that has not answered for so long, or for three groups, would be left by a sender that fails over.
const FAIL_OVER_AFTER_NS: u64 = 500_000_000;

/// What of a test bears on what its datagrams come to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    /// The most paths at a time.
    pub lanes: u8,
    /// Of those, so many were named.
    pub named: usize,
    /// From the first datagram to the last, as far as that is known before.
    pub length_ns: u64,
    /// From one group of datagrams to the next.
    pub interval_ns: u64,
    /// Of the policy that duplicates late: for how long it waits for the primary.
    pub late_by_ns: u64,
}

impl Terms {
    /// Those of a plan.
    pub fn of(plan: &MultipathPlan) -> Self {
        Self {
            lanes: plan.lanes,
            named: plan.paths.len(),
            length_ns: plan.duration_ns.0,
            interval_ns: plan.interval_ns(),
            late_by_ns: plan.late_by_ns.0,
        }
    }

    /// A sender that fails over leaves a path that is silent for so long.
    pub fn fail_over_after_ns(&self) -> u64 {
        FAIL_OVER_AFTER_NS.max(self.interval_ns.saturating_mul(3))
    }
}

/// All paths.
#[derive(Debug)]
pub(super) struct Ledger {
    pub paths: Vec<PathTally>,
    /// Of all together, in the fields that they are told in.
    pub counts: MultipathReport,
    /// When the schedule began.
    pub start: Tick,
    paired_effective: LatencyHistogram,
    effective: LatencyHistogram,
    effective_gaps: Gaps,
    losses: Losses,
    send_lag: LatencyHistogram,
    policies: Policies,
    /// Of all together, what was not told yet.
    interval: MultipathTally,
}

impl Ledger {
    /// Empty.
    pub fn new(terms: &Terms) -> Self {
        let Terms { lanes, named, length_ns, interval_ns, late_by_ns } = *terms;
        let path = |lane| PathTally {
            counts: PathReport::default(),
            interval: PathInterval::default(),
            interval_latency: PathLatencies::default(),
            highest: 0,
            is_known: usize::from(lane) < named,
            latency: LatencyHistogram::new(),
            gaps: Gaps::new(interval_ns),
            losses: Losses::new(length_ns),
        };
        let pairs = (0..lanes).flat_map(|one| (one + 1..lanes).map(move |other| (one, other)));
        let losses = pairs.map(|(one, other)| LossPair { one, other, ..LossPair::default() });
        Self {
            paths: (0..lanes).map(path).collect(),
            counts: MultipathReport {
                losses: losses.collect(),
                fail_over_after_ns: terms.fail_over_after_ns(),
                ..MultipathReport::default()
            },
            start: Tick::ZERO,
            paired_effective: LatencyHistogram::new(),
            effective: LatencyHistogram::new(),
            effective_gaps: Gaps::new(interval_ns),
            losses: Losses::new(length_ns),
            send_lag: LatencyHistogram::new(),
            policies: Policies::new(late_by_ns),
            interval: MultipathTally::default(),
        }
    }

    /// A datagram left on a path; the first of its number where `due` says when that was due.
    pub fn sent(&mut self, lane: Lane, at: Tick, due: Option<Tick>) {
        let path = &mut self.paths[lane.index()];
        path.counts.sent += 1;
        path.interval.sent += 1;
        path.is_known = true;
        if let Some(due) = due {
            self.counts.sent += 1;
            self.interval.counts.sent += 1;
            self.send_lag.record(at.nanos_since(due));
        }
    }

    /// An echo of `number` came on a path, the first there. `stamps` are of all paths, this one among them.
    pub fn received(&mut self, number: u64, lane: Lane, stamps: &[Stamps]) {
        let path = &mut self.paths[lane.index()];
        path.counts.received += 1;
        path.counts.reordered += u64::from(number < path.highest);
        path.highest = path.highest.max(number);
        path.interval.received += 1;
        if let Some(latency) = stamps[lane.index()].latency_ns() {
            path.latency.record(latency);
            path.interval_latency.record(latency);
        }
        let answers = stamps.iter().filter(|stamps| stamps.is_received()).count();
        if answers == 1
            && let Some(effective) = effective_ns(stamps)
        {
            self.paths[lane.index()].interval.first += 1;
            self.counts.received += 1;
            self.interval.counts.received += 1;
            self.effective.record(effective);
            self.interval.effective.record(effective);
        }
    }

    /// A number is awaited no more.
    pub fn settle(&mut self, head: Head, stamps: &[Stamps]) {
        self.counts.scheduled += 1;
        let effective = effective_ns(stamps);
        let is_sent = stamps.iter().any(Stamps::is_sent);
        self.counts.without_path += u64::from(!is_sent);
        if is_sent && effective.is_none() {
            self.counts.lost += 1;
            self.losses.lost(head.due, self.start);
        }
        self.settle_paths(head, stamps);
        self.effective_gaps.saw(head.due, effective.is_some(), self.start);
        if let Some(primary) = stamps.first() {
            let rescued = primary.is_sent() && !primary.is_received() && effective.is_some();
            self.counts.prevented += u64::from(rescued);
            if let Some((primary, effective)) = primary.latency_ns().zip(effective) {
                self.counts.paired_primary_wait_ns += primary;
                self.counts.paired_effective_wait_ns += effective;
                self.paired_effective.record(effective);
            }
        }
        for pair in &mut self.counts.losses {
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
        let answered = || stamps.iter().enumerate().filter(|(_, stamps)| stamps.is_received());
        let winner = answered().min_by_key(|(_, it)| it.received).map(|(index, _)| index);
        let answers = answered().count();
        for (index, (path, stamps)) in self.paths.iter_mut().zip(stamps).enumerate() {
            if stamps.is_sent() && !stamps.is_received() {
                path.counts.lost += 1;
                path.losses.lost(head.due, self.start);
            }
            path.counts.first += u64::from(winner == Some(index));
            path.counts.only += u64::from(stamps.is_received() && answers == 1);
            path.counts.shared += u64::from(stamps.is_received() && answers > 1);
            if path.is_known {
                path.gaps.saw(head.due, stamps.is_received(), self.start);
            }
        }
    }

    /// No further number. The schedule ends at this time.
    pub fn finish(&mut self, end: Tick) {
        self.effective_gaps.end(end, self.start);
        self.paths.iter_mut().for_each(|path| path.gaps.end(end, self.start));
    }

    /// What happened since the last call.
    pub fn take_interval(&mut self) -> MultipathTally {
        let mut tally = std::mem::take(&mut self.interval);
        let latencies = self.paths.iter_mut().map(|path| path.interval_latency.take());
        tally.latencies = latencies.collect();
        tally.with(self.paths.iter_mut().map(|path| &mut path.interval))
    }

    pub fn report(&self) -> MultipathReport {
        MultipathReport {
            paired: self.paired_effective.count(),
            paired_effective: distribution(&self.paired_effective),
            effective: distribution(&self.effective),
            effective_gaps: self.effective_gaps.report.clone(),
            lost_over_time: Some(self.losses.told()),
            send_lag: distribution(&self.send_lag),
            policies: self.policies.report(),
            paths: self.paths.iter().map(PathTally::report).collect(),
            ..self.counts.clone()
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
