//! What latency flows count, and what it becomes.

use pathscope_core::id::Role;
use pathscope_core::record::FlowError;
use pathscope_core::stats::{LatencyFigures, LatencyHistogram, LinearHistogram, LinearRanges};

use super::one_way::OneWayTally;
use super::parts::PartsTally;
use super::variation::VariationTallies;
use super::{LatencyInterval, LatencyPlan, LatencyReport, LoadModel, Timestamps};

/// Counts and histograms since the last report. A report takes them whole and leaves fresh ones, so
/// that no measuring thread ever merges or scans a histogram.
#[derive(Debug)]
pub struct LatencyTally {
    /// Pings sent (client) or echoed (server).
    pub sent: u64,
    /// First echoes (client) or pings (server) received.
    pub received: u64,
    /// Of those: of pings of the warm-up.
    pub warm_up: u64,
    /// Echoes (client) or pings (server) beyond the first of a ping.
    pub duplicates: u64,
    /// Echoes (client) or pings (server) that came after one of a later ping (RFC 4737: sequence below the
    /// next expected).
    pub reordered: u64,
    /// Of those of the client: how many arrivals had overtaken each, in all.
    pub reordering_extent: u64,
    /// The most of one.
    pub reordering_extent_max: u64,
    /// Echoes that another overtook which the server had sent later.
    pub reordered_return: u64,
    /// Word from the network that datagrams of this end did not arrive.
    pub unreachable: u64,
    /// Pings of an open loop that were due and did not leave in time.
    pub unsent: u64,
    /// Echoes (client) or pings (server) of pings that were not remembered any more.
    pub late: u64,
    /// Echoes (client) or pings (server) whose bytes were not those sent, copies included.
    pub corrupt: u64,
    /// Pings of which the first thing that came was such a one.
    pub damaged: u64,
    /// Of those: what was sent came after all.
    pub mended: u64,
    /// Datagrams of no session of ours.
    pub foreign: u64,
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
            sent: 0,
            received: 0,
            warm_up: 0,
            duplicates: 0,
            reordered: 0,
            reordering_extent: 0,
            reordering_extent_max: 0,
            reordered_return: 0,
            unreachable: 0,
            unsent: 0,
            late: 0,
            corrupt: 0,
            damaged: 0,
            mended: 0,
            foreign: 0,
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
        self.sent += other.sent;
        self.received += other.received;
        self.warm_up += other.warm_up;
        self.duplicates += other.duplicates;
        self.reordered += other.reordered;
        self.reordering_extent += other.reordering_extent;
        self.reordering_extent_max = self.reordering_extent_max.max(other.reordering_extent_max);
        self.reordered_return += other.reordered_return;
        self.unreachable += other.unreachable;
        self.unsent += other.unsent;
        self.late += other.late;
        self.corrupt += other.corrupt;
        self.damaged += other.damaged;
        self.mended += other.mended;
        self.foreign += other.foreign;
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
            sent: self.sent,
            received: self.received,
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
            sent: self.sent,
            received: self.received,
            warm_up: self.warm_up,
            lost: self.sent.saturating_sub(self.received + corrupt),
            duplicates: self.duplicates,
            reordered: self.reordered,
            reordering_extent_sum: self.reordering_extent,
            reordering_extent_max: self.reordering_extent_max,
            reordered_return: self.reordered_return,
            unreachable: self.unreachable,
            unsent: self.unsent,
            late: self.late,
            corrupt,
            corrupt_datagrams: self.corrupt,
            foreign: self.foreign,
            rtt: self.rtt().map(LatencyHistogram::distribution),
            rtt_since_scheduled: distribution(&self.since_scheduled),
            service: distribution(&self.service),
            send_lag: distribution(&self.send_lag),
            server_residence: distribution(&self.server_residence),
            linear: self.linear.as_deref().filter(|linear| linear.total() > 0).cloned(),
            variation: self.variation.as_ref().and_then(VariationTallies::report),
            parts: self.parts.as_ref().map(PartsTally::report),
            one_way: self.one_way.as_ref().and_then(OneWayTally::report),
            stamps: None,
            socket_drops: None,
            error,
        }
    }
}

fn merge(into: &mut Option<Box<LatencyHistogram>>, from: Option<&LatencyHistogram>) {
    if let Some(from) = from {
        into.get_or_insert_default().merge(from);
    }
}
