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
    pub(super) rtt: Option<Box<LatencyHistogram>>,
    pub(super) since_scheduled: Option<Box<LatencyHistogram>>,
    pub(super) service: Option<Box<LatencyHistogram>>,
    pub(super) send_lag: Option<Box<LatencyHistogram>>,
    pub(super) server_residence: Option<Box<LatencyHistogram>>,
    pub(super) linear: Option<Box<LinearHistogram>>,
    pub(super) variation: Option<VariationTallies>,
    pub(super) parts: Option<PartsTally>,
    pub(super) one_way: Option<OneWayTally>,
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
        let histogram = |wanted: bool| wanted.then(Box::<LatencyHistogram>::default);
        Self {
            counts: LatencyReport::default(),
            damaged: 0,
            mended: 0,
            rtt: histogram(shape.measures),
            since_scheduled: histogram(shape.open_loop),
            service: histogram(shape.open_loop),
            send_lag: histogram(shape.open_loop),
            server_residence: histogram(shape.stamped),
            linear: shape.ranges.map(|ranges| Box::new(LinearHistogram::new(ranges))),
            variation: shape.measures.then(|| VariationTallies::new(shape.stamped)),
            parts: shape.kernel.then(PartsTally::new),
            one_way: shape.stamped.then(OneWayTally::default),
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
        merge(&mut self.rtt, other.rtt.as_deref());
        merge(&mut self.since_scheduled, other.since_scheduled.as_deref());
        merge(&mut self.service, other.service.as_deref());
        merge(&mut self.send_lag, other.send_lag.as_deref());
        merge(&mut self.server_residence, other.server_residence.as_deref());
        if let (Some(sum), Some(other)) = (&mut self.linear, &other.linear) {
            sum.merge(other);
        }
        if let (Some(sum), Some(other)) = (&mut self.variation, &other.variation) {
            sum.merge(other);
        }
        if let (Some(sum), Some(other)) = (&mut self.one_way, &other.one_way) {
            sum.merge(other);
        }
        if let (Some(sum), Some(other)) = (&mut self.parts, &other.parts) {
            sum.merge(other);
        }
    }

    /// Round trips recorded so far, at the end that measures them.
    pub fn rtt(&self) -> Option<&LatencyHistogram> {
        self.rtt.as_deref().filter(|rtt| !rtt.is_empty())
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
        let distribution = |histogram: &Option<Box<LatencyHistogram>>| {
            histogram
                .as_ref()
                .filter(|histogram| !histogram.is_empty())
                .map(|histogram| histogram.distribution())
        };
        // Of pings: echoes may be more, and a copy that is late or damaged takes no ping's place.
        let corrupt = self.damaged.saturating_sub(self.mended);
        LatencyReport {
            lost: self.counts.sent.saturating_sub(self.counts.received + corrupt),
            corrupt,
            rtt: self.rtt().map(LatencyHistogram::distribution),
            rtt_since_scheduled: distribution(&self.since_scheduled),
            service: distribution(&self.service),
            send_lag: distribution(&self.send_lag),
            server_residence: distribution(&self.server_residence),
            linear: self.linear.as_deref().filter(|linear| linear.total() > 0).cloned(),
            variation: self.variation.as_ref().and_then(VariationTallies::report),
            parts: self.parts.as_ref().map(PartsTally::report),
            one_way: self.one_way.as_ref().and_then(OneWayTally::report),
            error,
            ..self.counts.clone()
        }
    }
}

fn merge(into: &mut Option<Box<LatencyHistogram>>, from: Option<&LatencyHistogram>) {
    if let Some(from) = from {
        into.get_or_insert_default().merge(from);
    }
}
