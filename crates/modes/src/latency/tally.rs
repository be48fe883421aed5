//! What latency flows count, and what it becomes.

use pathscope_core::id::Role;
use pathscope_core::record::FlowError;
use pathscope_core::stats::{LatencyFigures, LatencyHistogram, LinearHistogram, LinearRanges};

use super::one_way::OneWayTally;
use super::parts::PartsTally;
use super::variation::VariationTallies;
use super::{LatencyInterval, LatencyPlan, LatencyReport, LoadModel, Timestamps};
use crate::sums::add_fields;

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
    times: [Option<Box<LatencyHistogram>>; 5],
    pub(super) linear: Option<Box<LinearHistogram>>,
    pub(super) variation: Option<VariationTallies>,
    pub(super) parts: Option<PartsTally>,
    pub(super) one_way: Option<OneWayTally>,
}

/// Times of pings of which there is a distribution, as the report has them.
#[derive(Clone, Copy, Debug)]
pub(super) enum Time {
    RoundTrip,
    SinceScheduled,
    Service,
    SendLag,
    ServerResidence,
}

/// Which histograms a plan fills: at the end that measures, which is the client. Whoever echoes counts alone, and a
/// server of many clients has no memory for what it never fills.
#[expect(clippy::struct_excessive_bools, reason = "each is whether something is measured")]
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    measures: bool,
    open_loop: bool,
    stamped: bool,
    kernel: bool,
    ranges: Option<LinearRanges>,
}

impl Shape {
    pub fn of(plan: &LatencyPlan, role: Role) -> Self {
        let measures = role == Role::Client;
        Self {
            measures,
            open_loop: measures && matches!(plan.load_model, LoadModel::Open { .. }),
            stamped: measures && plan.protocol == super::Protocol::Udp,
            kernel: measures && plan.timestamps == Timestamps::Kernel,
            ranges: plan.histogram.filter(|_| measures),
        }
    }
}

impl LatencyTally {
    pub(super) fn new(shape: Shape) -> Self {
        let Shape { measures, open_loop, stamped, .. } = shape;
        Self {
            counts: LatencyReport::default(),
            damaged: 0,
            mended: 0,
            times: [measures, open_loop, open_loop, open_loop, stamped]
                .map(|is_measured| is_measured.then(Box::default)),
            linear: shape.ranges.map(|ranges| Box::new(LinearHistogram::new(ranges))),
            variation: measures.then(|| VariationTallies::new(stamped)),
            parts: shape.kernel.then(PartsTally::new),
            one_way: stamped.then(OneWayTally::default),
        }
    }

    /// An empty tally for flows of `plan` at this end.
    pub fn for_plan(plan: &LatencyPlan, role: Role) -> Self {
        Self::new(Shape::of(plan, role))
    }

    /// Adds all that `other` counted.
    pub fn merge(&mut self, other: &Self) {
        self.counts.add(&other.counts);
        add_fields!(self, other; damaged, mended);
        for (sum, more) in self.times.iter_mut().zip(&other.times) {
            sum.iter_mut().zip(more).for_each(|(sum, more)| sum.merge(more));
        }
        self.linear.iter_mut().zip(&other.linear).for_each(|(sum, more)| sum.merge(more));
        self.variation.iter_mut().zip(&other.variation).for_each(|(sum, more)| sum.merge(more));
        self.parts.iter_mut().zip(&other.parts).for_each(|(sum, more)| sum.merge(more));
        self.one_way.iter_mut().zip(&other.one_way).for_each(|(sum, more)| sum.merge(more));
    }

    /// A ping took so long, which counts where that is measured.
    #[inline]
    pub(super) fn record(&mut self, time: Time, value_ns: u64) {
        if let Some(histogram) = &mut self.times[time as usize] {
            histogram.record(value_ns);
        }
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
        }
    }

    /// What is said at the end.
    pub fn report(&self, error: Option<FlowError>) -> LatencyReport {
        let [rtt, rtt_since_scheduled, service, send_lag, server_residence] =
            self.times.each_ref().map(|times| {
                let times = times.as_deref().filter(|times| !times.is_empty());
                times.map(LatencyHistogram::distribution)
            });
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
            variation: self.variation.as_ref().and_then(VariationTallies::report),
            parts: self.parts.as_ref().map(PartsTally::report),
            one_way: self.one_way.as_ref().and_then(OneWayTally::report),
            error,
            ..self.counts.clone()
        }
    }
}
