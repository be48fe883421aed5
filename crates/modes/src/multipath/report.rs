//! What one end of a multipath test says: in each interval, and at the end.
//!
//! What happened between two reports is handed over whole: its figures are computed by whoever takes it, since that costs
//! more than a measuring thread has to spare.

use pathscope_core::quantity::total;
use pathscope_core::record::WirelessFacts;
use pathscope_core::stats::{
    Distribution, HalfOctaveCounts, HalfOctaves, LatencyFigures, LatencyHistogram, Percentile,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::gaps::GapReport;
use super::losses::LossesOverTime;
use super::policies::PolicyReport;
use crate::paths::{PathFacts, Transition, WirelessReport};

/// What one end did in one interval.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct MultipathInterval {
    /// Numbers sent on one path or more; the client's alone.
    pub sent: u64,
    /// Numbers answered for the first time in it; the client's alone.
    pub received: u64,
    /// From the first sending to the first answer, of those; the client's alone.
    pub effective: Option<LatencyFigures>,
    /// The same by how long it took, for a heat map; the client's alone.
    pub effective_half_octaves: Option<HalfOctaves>,
    /// Each path, the primary first.
    pub paths: Vec<PathInterval>,
}

/// What one path did in one interval.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct PathInterval {
    /// Datagrams sent (client) or echoed (server).
    pub sent: u64,
    /// First echoes (client) or datagrams (server) received.
    pub received: u64,
    /// Of those, the first answers to their numbers on any path; the client's alone.
    pub first: u64,
    /// The median from its own sending to its own answer, where there were enough of them; the client's alone, as those below.
    pub latency_p50_ns: Option<u64>,
    /// The 99th percentile of the same.
    pub latency_p99_ns: Option<u64>,
    /// The longest of the same.
    pub latency_max_ns: Option<u64>,
    /// From its own sending to its own answer, of those, by how long that took, for a heat map; the client's alone.
    pub latency_half_octaves: Option<HalfOctaves>,
    /// Its radio at the end of it, where it is one of Wi-Fi; the client's alone.
    pub wireless: Option<WirelessFacts>,
}

/// What happened between two reports: counts, and the latencies themselves.
#[derive(Clone, Debug, Default)]
pub struct MultipathTally {
    /// In the fields that they are told in; the figures of latencies are computed by [`interval`](Self::interval).
    pub(super) counts: MultipathInterval,
    /// From the first sending to the first answer.
    pub(super) effective: LatencyHistogram,
    /// Of each path, from its own sending to its own answer; empty at the server.
    pub(super) latencies: Vec<Option<PathLatencies>>,
}

/// How long answers of one path took between two reports.
#[derive(Clone, Debug, Default)]
pub(super) struct PathLatencies {
    /// By ranges whose edges are the same everywhere.
    ranges: HalfOctaveCounts,
    /// As exactly as percentiles need.
    all: LatencyHistogram,
}

impl PathLatencies {
    /// One more.
    #[inline]
    pub fn record(&mut self, latency_ns: u64) {
        self.ranges.record(latency_ns);
        self.all.record(latency_ns);
    }

    /// All of it, which begins anew. Of a path that says nothing no room is made for what it may say.
    pub fn take(&mut self) -> Option<Self> {
        (!self.all.is_empty()).then(|| std::mem::take(self))
    }
}

impl MultipathTally {
    /// With what happened on each path, which begins anew.
    pub(super) fn with<'a>(mut self, paths: impl Iterator<Item = &'a mut PathInterval>) -> Self {
        self.counts.paths = paths.map(std::mem::take).collect();
        self
    }

    /// What is said of it.
    pub fn interval(&self) -> MultipathInterval {
        let mut interval = MultipathInterval {
            effective: (!self.effective.is_empty()).then(|| LatencyFigures::of(&self.effective)),
            effective_half_octaves: HalfOctaves::of(&self.effective),
            ..self.counts.clone()
        };
        for (path, latencies) in interval.paths.iter_mut().zip(&self.latencies) {
            let Some(PathLatencies { ranges, all }) = latencies else { continue };
            let percentile = |percent| Percentile::of(all, percent).value_ns;
            path.latency_half_octaves = ranges.told();
            (path.latency_p50_ns, path.latency_p99_ns) = (percentile(50.0), percentile(99.0));
            path.latency_max_ns = all.max_ns();
        }
        interval
    }
}

/// What one end came to.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct MultipathReport {
    /// Numbers whose time came; the client's, as all that follows up to `paths`.
    pub scheduled: u64,
    /// Of those: sent on one path or more.
    pub sent: u64,
    /// Of those: answered on one path or more.
    pub received: u64,
    /// Sent, and answered on none: lost on all paths at once.
    pub lost: u64,
    /// Scheduled when there was no path to send on.
    pub without_path: u64,
    /// Numbers that were due and not reached within a second after the end: this machine was too slow.
    pub unsent: u64,
    /// Lost on the primary and answered on another path.
    pub prevented: u64,
    /// Of numbers answered on the primary: how many.
    pub paired: u64,
    /// The same: time waited for the primary's answers, in all.
    pub paired_primary_wait_ns: u64,
    /// The same: time waited for the first answers, in all.
    pub paired_effective_wait_ns: u64,
    /// The same: from the first sending to the first answer.
    pub paired_effective: Option<Distribution>,
    /// From the first sending to the first answer, of all that were answered.
    pub effective: Option<Distribution>,
    /// Stretches in which nothing came through on any path.
    pub effective_gaps: GapReport,
    /// When what was lost on all paths had been due; the client's alone.
    pub lost_over_time: Option<LossesOverTime>,
    /// From the time that a number was due to its first sending: this machine's own lateness.
    pub send_lag: Option<Distribution>,
    /// From the first sending to the end of the schedule.
    pub sending_ns: u64,
    /// A path without an answer for so long is left by the policy that fails over.
    pub fail_over_after_ns: u64,
    /// What other senders would have had of the same paths.
    pub policies: Vec<PolicyReport>,
    /// How losses of every two paths go together.
    pub losses: Vec<LossPair>,
    /// Each path, the primary first; the server's, too.
    pub paths: Vec<PathReport>,
    /// What happened to the paths, in order; the client's alone.
    pub transitions: Vec<Transition>,
    /// Transitions that were too many to be told.
    pub transitions_omitted: u64,
    /// How often the server was gone and had the test again; the client's alone. What the server counts then is of what came
    /// after the last of them.
    pub resumptions: u64,
    /// Datagrams that belong to no session of ours.
    pub foreign: u64,
    /// What ended the flow before its time.
    pub error: Option<pathscope_core::record::FlowError>,
}

/// What one path came to at one end.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct PathReport {
    /// How it was set up; the client's alone.
    pub facts: PathFacts,
    /// Datagrams sent (client) or echoed (server).
    pub sent: u64,
    /// First echoes (client) or datagrams (server) received, every byte as it was sent.
    pub received: u64,
    /// Sent and not received, after the drain; the client's alone.
    pub lost: u64,
    /// Datagrams whose bytes were not those sent: of the client's, lost ones.
    pub corrupt: u64,
    /// Received beyond the first of a number.
    pub duplicates: u64,
    /// Received after one of a higher number.
    pub reordered: u64,
    /// Echoes of numbers that had been given up.
    pub late: u64,
    /// Datagrams that the system refused to send, or could not take in time.
    pub refused: u64,
    /// Numbers that this path answered first; the client's alone.
    pub first: u64,
    /// Numbers that this path alone answered.
    pub only: u64,
    /// Of numbers answered on several paths, by this one among them: how many.
    pub shared: u64,
    /// From its own sending to its own answer.
    pub latency: Option<Distribution>,
    /// Stretches in which nothing came through on it, from its first use on.
    pub gaps: GapReport,
    /// When what was lost on it had been due; the client's alone.
    pub lost_over_time: Option<LossesOverTime>,
    /// Datagrams that this end's own sockets dropped.
    pub socket_drops: u64,
    /// Its radio, where it is one of Wi-Fi; the client's alone.
    pub wireless: Option<WirelessReport>,
}

/// How the losses of two paths go together, over the numbers that were sent on both.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct LossPair {
    /// A path's place.
    pub one: u8,
    /// Another's.
    pub other: u8,
    /// Answered on both.
    pub neither: u64,
    /// Lost on `one` alone.
    pub one_lost: u64,
    /// Lost on `other` alone.
    pub other_lost: u64,
    /// Lost on both.
    pub both_lost: u64,
}

impl LossPair {
    /// The correlation of the two losses (phi, Pearson's for two events): 0 where they are independent, 1
    /// where both lose the same. None where a path lost nothing, or everything.
    pub fn correlation(&self) -> Option<f64> {
        let [neither, one, other, both] =
            [self.neither, self.one_lost, self.other_lost, self.both_lost].map(|it| it as f64);
        let product = (both + one) * (other + neither) * (both + other) * (one + neither);
        (product > 0.0).then(|| (both * neither - one * other) / product.sqrt())
    }

    /// How many would be lost on both by chance, were the losses independent.
    pub fn expected_both(&self) -> Option<f64> {
        let sum = self.judged();
        let [one, other] =
            [self.one_lost, self.other_lost].map(|it| it.saturating_add(self.both_lost) as f64);
        (sum > 0).then(|| one * other / sum as f64)
    }

    /// How many were judged on both.
    pub fn judged(&self) -> u64 {
        total([self.neither, self.one_lost, self.other_lost, self.both_lost])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_correlated_as_the_textbook_says() {
        let pair = |neither, one_lost, other_lost, both_lost| LossPair {
            neither,
            one_lost,
            other_lost,
            both_lost,
            ..LossPair::default()
        };
        assert_eq!(pair(90, 0, 0, 10).correlation(), Some(1.0));
        assert_eq!(pair(0, 50, 50, 0).correlation(), Some(-1.0));
        // 10 % and 20 % lost, independently.
        let independent = pair(720, 80, 180, 20);
        assert_eq!(independent.correlation(), Some(0.0));
        assert_eq!(independent.expected_both(), Some(20.0));
        assert_eq!(pair(100, 0, 5, 0).correlation(), None);
        assert_eq!(pair(0, 0, 0, 0).expected_both(), None);
    }
}
