//! Round trips that somebody else measured: what can be said of them where their lengths are known, and of some files their
//! order, and nothing besides.
//!
//! Not here: who wrote them and how that is read (`foreign`).

use pathscope_core::presentation::{Chart, Figure, Section, Shape};
use pathscope_core::stats::{Distribution, LatencyFigures, LatencyHistogram};

use super::figures::GROUP;
use super::presentation::{ALWAYS, jitter, round_trips};
use super::summary::{JitterSummary, LatencySummary};
use super::variation::VariationReport;
use crate::arrivals::{LastTransit, VariationTally};
use crate::figure::Part;

/// Lengths of round trips, as they are read.
#[derive(Debug, Default)]
pub struct Durations {
    rtt: LatencyHistogram,
    /// The last one, and how those in order varied.
    last: LastTransit,
    variation: VariationTally,
    in_order: u64,
}

impl Durations {
    /// One more, which followed the one before it.
    pub fn next(&mut self, nanoseconds: u64) {
        self.rtt.record(nanoseconds);
        let transit_ns = i64::try_from(nanoseconds).unwrap_or(i64::MAX);
        self.last.arrived(self.in_order, transit_ns, &mut self.variation);
        self.in_order += 1;
    }

    /// So many that took as long, at any time of the test.
    pub fn add(&mut self, nanoseconds: u64, times: u64) {
        self.rtt.record_many(nanoseconds, times);
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.rtt.count()
    }

    /// What a summary has of them; what is not known is what an empty one has.
    pub fn summary(&self) -> LatencySummary {
        let rtt = LatencyFigures::of(&self.rtt);
        let round_trip = self.variation.figures();
        let report = round_trip
            .map(|round_trip| VariationReport { round_trip, ..VariationReport::default() });
        LatencySummary {
            jitter: report.map(|report| JitterSummary::of(&report, &rtt)),
            received: rtt.count,
            rtt,
            ..LatencySummary::default()
        }
    }

    /// All of them.
    pub fn distribution(&self) -> Distribution {
        self.rtt.distribution()
    }

    /// What views show of them, as far as that is theirs.
    pub fn section(&self) -> Section {
        let summary = self.summary();
        let figures = round_trips(&summary, &ALWAYS).into_iter().map(|figure| figure.of("RTT"));
        let mut figures: Vec<Figure> = figures.collect();
        figures.extend(summary.jitter.iter().flat_map(jitter));
        figures.push(GROUP.figure("received", summary.received));
        let mut shape =
            GROUP.shape(&Part::Whole, ("rtt", "client.latency.rtt", ""), &self.distribution());
        (shape.source.sample_column, shape.source.chart) = (None, Chart::Histogram);
        Section { figures, distributions: Vec::<Shape>::from([shape]), ..Section::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_in_order_vary_and_those_without_do_not() {
        let mut ordered = Durations::default();
        [12_000, 15_000, 12_000].into_iter().for_each(|it| ordered.next(it));
        let jitter = ordered.summary().jitter.expect("three in a row");
        assert_eq!(jitter.variation.round_trip.ipdv.mean_ns, Some(3_000.0));
        let mut counted = Durations::default();
        counted.add(12_000, 2);
        counted.add(15_000, 1);
        let summary = counted.summary();
        assert_eq!((summary.received, summary.rtt.mean_ns), (3, Some(13_000.0)));
        assert!(summary.jitter.is_none());
        assert_eq!(ordered.distribution().buckets, counted.distribution().buckets);
    }

    #[test]
    fn figures_have_the_ids_of_our_own() {
        let mut durations = Durations::default();
        (1..=1_000).for_each(|it| durations.next(it * 1_000));
        let section = durations.section();
        let of = |id: &str| section.figures.iter().find(|figure| figure.id == id);
        for id in ["latency.rtt.min", "latency.rtt.p50", "latency.rtt.p99", "latency.jitter"] {
            assert!(of(id).is_some(), "{id}");
        }
        assert!(of("latency.sent").is_none() && of("latency.lost").is_none());
    }
}
