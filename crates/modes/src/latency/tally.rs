//! What latency flows count, and what it becomes.

use std::array;

use pathscope_core::id::Role;
use pathscope_core::record::FlowError;
use pathscope_core::stats::{HalfOctaves, LatencyFigures, LatencyHistogram, LinearHistogram};

use super::parts::{PARTS, Trip};
use super::variation::Variation;
use super::{
    LatencyInterval, LatencyPlan, LatencyReport, LoadModel, OneWayReport, PartsReport, Protocol,
    Timestamps, VariationReport,
};
use crate::arrivals::VariationTally;
use crate::sums::add_fields;

/// More than any delay of one way that is told. Clocks that are no one clock mostly differ by more.
const MOST_ONE_WAY_NS: i64 = 60_000_000_000;

/// Counts and histograms since the last report. A report takes them whole and leaves fresh ones, so
/// that no measuring thread ever merges or scans a histogram.
#[derive(Debug)]
pub struct LatencyTally {
    /// Counts, in the fields that they are told in. What is derived is empty until [`report`](Self::report).
    pub(super) counts: LatencyReport,
    /// Pings of which the first thing that came had other bytes than were sent.
    pub(super) damaged: u64,
    /// Of those: what was sent came after all.
    pub(super) mended: u64,
    /// By [`Time`]; of those that are measured.
    times: [Option<Box<LatencyHistogram>>; TIMES],
    /// Pings of which the delays of one way cannot be of one clock.
    impossible: u64,
    /// Pings whose kernel stamps cannot be.
    implausible: u64,
    pub(super) linear: Option<Box<LinearHistogram>>,
    pub(super) variation: Variation,
}

/// Times of pings of which there is a distribution, as the report has them.
#[derive(Clone, Copy, Debug)]
pub(super) enum Time {
    RoundTrip,
    SinceScheduled,
    Service,
    SendLag,
    ServerResidence,
    /// As if both ends read one clock. Whether they do is known to who knows the machines.
    Forward,
    Back,
    /// The first of the parts of a round trip, which the others follow in the order of [`Trip::parts`].
    Parts,
}

/// How many such times there are.
const TIMES: usize = Time::Parts as usize + PARTS;

impl LatencyTally {
    /// An empty tally for flows of `plan` at this end: with what the end that measures fills, which is the client. Whoever
    /// echoes counts alone, and a server of many clients has no memory for what it never fills.
    pub fn for_plan(plan: &LatencyPlan, role: Role) -> Self {
        let measures = role == Role::Client;
        let is_open_loop = matches!(plan.load_model, LoadModel::Open { .. });
        let has_stamps = plan.protocol == Protocol::Udp;
        let of_kernels = plan.timestamps == Timestamps::Kernel;
        let [open, stamped, kernel] =
            [is_open_loop, has_stamps, of_kernels].map(|is_so| measures && is_so);
        let own = [measures, open, open, open, stamped, stamped, stamped];
        let is_measured = |time| own.get(time).copied().unwrap_or(kernel);
        let ranges = plan.histogram.filter(|_| measures);
        let ways = if stamped { 3 } else { usize::from(measures) };
        Self {
            counts: LatencyReport::default(),
            damaged: 0,
            mended: 0,
            times: array::from_fn(|time| is_measured(time).then(Box::default)),
            impossible: 0,
            implausible: 0,
            linear: ranges.map(|ranges| Box::new(LinearHistogram::new(ranges))),
            variation: (0..ways).map(|_| VariationTally::default()).collect(),
        }
    }

    /// Adds all that `other` counted.
    pub fn merge(&mut self, other: &Self) {
        self.counts.add(&other.counts);
        add_fields!(self, other; damaged, mended, impossible, implausible);
        for (sum, more) in self.times.iter_mut().zip(&other.times) {
            sum.iter_mut().zip(more).for_each(|(sum, more)| sum.merge(more));
        }
        self.linear.iter_mut().zip(&other.linear).for_each(|(sum, more)| sum.merge(more));
        self.variation.iter_mut().zip(&other.variation).for_each(|(sum, more)| sum.merge(more));
    }

    /// A ping took so long, which counts where that is measured.
    #[inline]
    pub(super) fn record(&mut self, time: Time, value_ns: u64) {
        if let Some(histogram) = &mut self.times[time as usize] {
            histogram.record(value_ns);
        }
    }

    /// One ping took so long there, and its echo so long back.
    pub(super) fn record_one_way(&mut self, [forward_ns, back_ns]: [i64; 2]) {
        let may_be = 0..=MOST_ONE_WAY_NS;
        if may_be.contains(&forward_ns) && may_be.contains(&back_ns) {
            self.record(Time::Forward, forward_ns.unsigned_abs());
            self.record(Time::Back, back_ns.unsigned_abs());
        } else {
            self.impossible += 1;
        }
    }

    /// Every stamp of a ping came.
    pub(super) fn record_parts(&mut self, trip: &Trip) {
        let Some(parts) = trip.parts() else {
            self.implausible += 1;
            return;
        };
        let histograms = self.times[Time::Parts as usize..].iter_mut().flatten();
        histograms.zip(parts).for_each(|(histogram, part)| histogram.record(part));
    }

    /// Round trips recorded so far, at the end that measures them.
    pub fn rtt(&self) -> Option<&LatencyHistogram> {
        self.times[Time::RoundTrip as usize].as_deref().filter(|rtt| !rtt.is_empty())
    }

    /// What is said of an interval.
    pub fn interval(&self) -> LatencyInterval {
        LatencyInterval {
            sent: self.counts.sent,
            received: self.counts.received,
            rtt: self.rtt().map(LatencyFigures::of),
            rtt_half_octaves: self.rtt().and_then(HalfOctaves::of),
        }
    }

    /// What is said at the end.
    pub fn report(&self, error: Option<FlowError>) -> LatencyReport {
        let told = self.times.each_ref().map(|times| {
            let times = times.as_deref().filter(|times| !times.is_empty());
            times.map(LatencyHistogram::distribution)
        });
        let [rtt, rtt_since_scheduled, service, send_lag, server_residence, rest @ ..] = told;
        let [forward, back, parts @ ..] = rest;
        // Clocks that are no one clock tell nothing of one way.
        let one_way = forward.zip(back).filter(|_| self.impossible == 0);
        let has_parts = self.times[Time::Parts as usize].is_some();
        let parts = parts.map(Option::unwrap_or_default);
        // Of pings: echoes may be more, and a copy that is late or damaged takes no ping's place.
        let corrupt = self.damaged.saturating_sub(self.mended);
        LatencyReport {
            lost: self.counts.sent.saturating_sub(self.counts.received + corrupt),
            corrupt,
            rtt,
            rtt_since_scheduled,
            service,
            send_lag,
            server_residence,
            linear: self.linear.as_deref().filter(|linear| linear.total() > 0).cloned(),
            variation: VariationReport::of(&self.variation),
            parts: has_parts.then(|| PartsReport::of(parts, self.implausible)),
            one_way: one_way.map(|(forward, back)| OneWayReport { forward, back }),
            error,
            ..self.counts.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use pathscope_core::quantity::Frequency;

    use super::super::parts::tests::trip;
    use super::*;
    use crate::registry::{EndInterval, Tally};

    fn tally() -> LatencyTally {
        let plan = LatencyPlan {
            protocol: Protocol::Udp,
            timestamps: Timestamps::Kernel,
            ..LatencyPlan::probe(Frequency(1))
        };
        LatencyTally::for_plan(&plan, Role::Client)
    }

    #[test]
    fn what_is_told_of_an_interval_is_of_the_pings_of_all_workers() {
        let worker = |sent: u64, rtt_ns: u64| {
            let mut own = tally();
            (own.counts.sent, own.counts.received) = (sent, 1);
            own.record(Time::RoundTrip, rtt_ns);
            Tally::Latency(Box::new(own))
        };
        let mut all = worker(5, 1_000);
        assert!(all.joins() && all.join(&worker(7, 90_000)) && all.join(&worker(9, 2_000)));
        let mut interval = EndInterval::default();
        all.add_to(&mut interval);
        let told = interval.latency.expect("they are pings");
        assert_eq!((told.sent, told.received), (21, 3));
        let rtt = told.rtt.expect("three came back");
        assert_eq!((rtt.count, rtt.min_ns, rtt.max_ns), (3, Some(1_000), Some(90_000)));
    }

    #[test]
    fn delays_of_one_clock_are_told_and_others_are_not() {
        let mut found = tally();
        assert_eq!(found.report(None).one_way, None);
        (1..=100).for_each(|step| found.record_one_way([step * 1_000, 250_000]));
        let report = found.report(None).one_way.expect("a hundred");
        assert_eq!((report.forward.min_ns, report.forward.max_ns), (Some(1_000), Some(100_000)));
        assert_eq!((report.back.count, report.back.max_ns), (100, Some(250_000)));
        for impossible in [[-1, 9], [9, -1], [MOST_ONE_WAY_NS + 1, 5], [i64::MIN, i64::MAX]] {
            let mut found = tally();
            found.record_one_way([5, 5]);
            found.record_one_way(impossible);
            assert_eq!(found.report(None).one_way, None, "{impossible:?}");
        }
    }

    #[test]
    fn times_that_cannot_be_are_counted_and_not_measured() {
        let mut found = tally();
        for times in [
            // Handed over before it was sent, came after it was received, an echo before its ping, a server that kept
            // it longer than it was away.
            [100, 99, 330, 371, 200, 230, 240, 245],
            [100, 107, 372, 371, 200, 230, 240, 245],
            [100, 107, 330, 371, 200, 230, 229, 245],
            [100, 107, 330, 371, 200, 230, 240, 424],
            [100, 107, 330, 371, u64::MAX, 0, u64::MAX, 0],
        ] {
            found.record_parts(&trip(times));
        }
        let report = found.report(None).parts.expect("kernels stamp");
        assert_eq!((report.pings, report.implausible, report.wire.count), (0, 5, 0));
    }
}
