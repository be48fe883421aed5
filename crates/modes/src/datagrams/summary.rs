//! What a test of datagram goodput came to, at one end and over both.

use pathscope_core::id::FlowId;
use pathscope_core::record::FlowError;
use pathscope_core::stats::LatencyFigures;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DatagramCorruption, DatagramsPlan};
use crate::arrivals::{LossBursts, VariationFigures};
use crate::load::{NoFairness, RateSums, ReceiveWindow, Verify};
use crate::sums::add_fields;

/// What the flows of one end did in one interval.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct DatagramsInterval {
    /// Datagrams that the kernel took.
    pub sent: u64,
    /// Their payload.
    pub sent_bytes: u64,
    /// Datagrams that came the first time, whole and right.
    pub received: u64,
    /// Their payload.
    pub received_bytes: u64,
    /// By how much the highest numbers rose: what is more than `received` was lost or is yet to come.
    pub expected: u64,
}

/// What the flows of one end came to.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct DatagramsReport {
    /// Datagrams that the kernel took, warm-up included as in all counts.
    pub sent: u64,
    /// Their payload, headers of 40 bytes included.
    pub sent_bytes: u64,
    /// Datagrams that were due by the rate and did not leave within 50 ms after the end.
    pub unsent: u64,
    /// From the time that the last datagram of a batch was due to the time that the batch left; with a rate.
    pub send_lag: Option<LatencyFigures>,
    /// Word from the network (ICMP) that datagrams of this end did not arrive.
    pub unreachable: u64,
    /// Datagrams that the other end says it sent; absent where it never said so of some flow.
    pub expected: Option<u64>,
    /// Datagrams that came the first time, whole and right.
    pub received: u64,
    /// Their payload.
    pub received_bytes: u64,
    /// What was received after the warm-up: payload, and when.
    pub window: ReceiveWindow,
    /// Datagrams that never came. Where the other end never said how many it sent: of those up to the highest
    /// number that came.
    pub lost: u64,
    /// Missing numbers in runs: the lost, and those that came late or with a damaged header.
    pub bursts: LossBursts,
    /// Copies beyond the first of a datagram.
    pub duplicates: u64,
    /// Datagrams that came after one of a higher number.
    pub reordered: u64,
    /// How many arrivals had overtaken each of those, in all.
    pub reordering_extent_sum: u64,
    /// The most of one.
    pub reordering_extent_max: u64,
    /// Datagrams that came after the drain, or when their number was not remembered any more. Not lost, and not
    /// received.
    pub late: u64,
    /// Datagrams that came otherwise than they were sent. Not lost, and not received.
    pub corrupt: u64,
    /// Of those: with a damaged header.
    pub corrupt_headers: u64,
    /// The first of them, one by one.
    pub corruptions: Vec<DatagramCorruption>,
    /// Datagrams of no flow of ours.
    pub foreign: u64,
    /// Whether those that came have no numbers: of such nobody knows what was lost, doubled or overtaken, and those counts say nothing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_unnumbered: bool,
    /// How much the transit times varied; of those that came joined, the stamps are those of the batch.
    pub jitter: Option<VariationFigures>,
    /// Buffers that this end's own sockets dropped, since they came faster than they were taken. Each holds a datagram,
    /// or as many as were joined. Absent where the system does not say.
    pub socket_drops: Option<u64>,
    /// The most payload that came in one buffer of a receiving socket: of one datagram, or of as many as were joined at
    /// the most. Absent where nothing came.
    pub largest_buffer_bytes: Option<u64>,
    /// Room in a receiving socket, as the kernel granted it.
    pub receive_buffer_bytes: Option<u64>,
    /// Flows that came to their end.
    pub completed: u64,
    /// Flows that failed.
    pub failed: u64,
    /// The first flows, one by one.
    pub flows: Vec<DatagramFlowFacts>,
    /// Flows beyond those.
    pub flows_omitted: u64,
    /// Received payload bits a second of each flow, summed up and squared.
    pub rates: RateSums,
}

impl DatagramsReport {
    /// Adds what other flows counted, or these later; what is derived of counts, or known of flows alone, stays.
    pub(super) fn add(&mut self, other: &Self) {
        add_fields!(
            self, other;
            sent, sent_bytes, unsent, unreachable, received, received_bytes, duplicates, reordered, reordering_extent_sum,
            late, corrupt, corrupt_headers, foreign,
        );
        self.reordering_extent_max = self.reordering_extent_max.max(other.reordering_extent_max);
        self.largest_buffer_bytes = self.largest_buffer_bytes.max(other.largest_buffer_bytes);
        self.bursts.merge(&other.bursts);
        self.is_unnumbered |= other.is_unnumbered;
    }
}

/// One flow as one end saw it.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct DatagramFlowFacts {
    /// Which.
    pub flow: FlowId,
    /// Datagrams that the kernel took.
    #[serde(default)]
    pub sent: u64,
    /// Datagrams that the other end says it sent.
    #[serde(default)]
    pub expected: Option<u64>,
    /// Datagrams that came the first time, whole and right.
    #[serde(default)]
    pub received: u64,
    /// Datagrams that never came.
    #[serde(default)]
    pub lost: u64,
    /// Payload bits a second, in the window of all flows.
    #[serde(default)]
    pub received_bps: Option<f64>,
    /// What ended it before its time.
    #[serde(default)]
    pub error: Option<FlowError>,
    /// Where datagrams are those of another tool, which is told it: how many were sent up to the highest number that came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub highest: Option<u64>,
    /// In the same case: payload of the datagrams received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received_bytes: Option<u64>,
    /// In the same case: the interarrival jitter of RFC 3550, section 6.4.1, at the end of the flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smoothed_jitter_ns: Option<f64>,
}

/// What a test of datagram goodput came to over both ends.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct DatagramsSummary {
    /// From client to server, where the plan has that.
    pub up: Option<DatagramDirection>,
    /// From server to client, where the plan has that.
    pub down: Option<DatagramDirection>,
    /// Flows that came to their end at both ends.
    pub completed: u64,
    /// Flows that failed.
    pub failed: u64,
}

/// One direction: what the sender sent and what the receiver made of it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct DatagramDirection {
    /// Payload bits a second that were received, after the warm-up: each datagram once, headers of ours
    /// included, and without those of UDP, IP and below.
    pub goodput_bps: Option<f64>,
    /// Datagrams a second, in the same window.
    pub datagrams_per_second: Option<f64>,
    /// Length of that window.
    pub window_ns: u64,
    /// Datagrams that left; absent where the sender's report is missing.
    pub sent: Option<u64>,
    /// Datagrams that were due and did not leave.
    pub unsent: Option<u64>,
    /// Datagrams that came; this and the following are absent where the receiver's report is missing.
    pub received: Option<u64>,
    /// Their payload.
    pub received_bytes: Option<u64>,
    /// Datagrams that never came.
    pub lost: Option<u64>,
    /// Lost datagrams of those sent.
    pub lost_ratio: Option<f64>,
    /// Buffers that the receiver's socket dropped: at least as many of the lost ones were lost there.
    pub socket_drops: Option<u64>,
    /// The most datagrams that each of those is taken to have held: as many as came joined in one buffer at the most. 1
    /// without offload.
    pub datagrams_per_buffer: Option<u64>,
    /// Of the lost: at least so many were lost on the way, since the buffers that the receiver's socket dropped held no
    /// more. Where each holds one, this is exact.
    pub lost_on_the_way: Option<u64>,
    /// Runs of missing numbers; this and the counts that follow are absent, too, where the receiver is another tool's, which does not
    /// tell them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bursts: Option<LossBursts>,
    /// Copies beyond the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicates: Option<u64>,
    /// Datagrams that came after one of a higher number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reordered: Option<u64>,
    /// Reordered datagrams of those received.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reordered_ratio: Option<f64>,
    /// By how many arrivals a reordered one was overtaken (RFC 4737, section 4.2), at most.
    pub reordering_extent_max: Option<u64>,
    /// On average.
    pub reordering_extent_mean: Option<f64>,
    /// Datagrams that came too late to count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late: Option<u64>,
    /// Datagrams that came otherwise than they were sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrupt: Option<u64>,
    /// Datagrams of no flow of ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foreign: Option<u64>,
    /// How much transit times varied.
    pub jitter: Option<VariationFigures>,
    /// How far the sender was behind its schedule.
    pub send_lag: Option<LatencyFigures>,
    /// Which received bytes were compared with what they must be.
    pub verify: Option<Verify>,
    /// Jain's index over the flows' rates, where there are several.
    pub fairness: Option<f64>,
    /// Where there are several and no such index: why.
    pub no_fairness: Option<NoFairness>,
    /// The slowest flow.
    pub slowest_bps: Option<f64>,
    /// The fastest flow.
    pub fastest_bps: Option<f64>,
}

impl DatagramsSummary {
    /// From what both ends said; `server` is absent where it was lost.
    pub fn of(
        plan: &DatagramsPlan,
        client: &DatagramsReport,
        server: Option<&DatagramsReport>,
    ) -> Self {
        let failed = client.failed.max(server.map_or(0, |server| server.failed));
        Self {
            up: plan.is_up().then(|| DatagramDirection::of(plan, Some(client), server)),
            down: plan.is_down().then(|| DatagramDirection::of(plan, server, Some(client))),
            completed: u64::from(plan.flows_in_all()).saturating_sub(failed).min(client.completed),
            failed,
        }
    }

    /// Both directions that there are, by the names of their labels.
    pub fn directions(&self) -> impl Iterator<Item = (&'static str, &DatagramDirection)> {
        let both = [("up", &self.up), ("down", &self.down)];
        both.into_iter().filter_map(|(name, way)| Some((name, way.as_ref()?)))
    }
}

impl DatagramDirection {
    /// Without what its receiver is no end to tell that says no more than how many it received and lost.
    pub(super) fn forget_untold(&mut self) {
        self.bursts = None;
        (self.duplicates, self.reordered, self.reordered_ratio) = (None, None, None);
        (self.late, self.corrupt, self.foreign) = (None, None, None);
    }

    /// Nor what was lost, where those that came have no numbers.
    fn forget_lost(&mut self) {
        self.forget_untold();
        (self.lost, self.lost_ratio, self.lost_on_the_way, self.jitter) = (None, None, None, None);
    }

    fn of(
        plan: &DatagramsPlan,
        sender: Option<&DatagramsReport>,
        receiver: Option<&DatagramsReport>,
    ) -> Self {
        let of_sender = Self {
            sent: sender.map(|sender| sender.sent),
            unsent: sender.map(|sender| sender.unsent),
            send_lag: sender.and_then(|sender| sender.send_lag.clone()),
            verify: Some(plan.verify),
            ..Self::default()
        };
        let Some(receiver) = receiver else { return of_sender };
        let goodput_bps = receiver.window.goodput_bps();
        // Where the sender's report is missing, what it told in time.
        let sent = of_sender.sent.or(receiver.expected).filter(|&sent| sent > 0);
        let (rates, lost, reordered) = (receiver.rates, receiver.lost, receiver.reordered);
        let drops = receiver.socket_drops;
        let per_buffer = plan.datagrams_per_buffer(receiver.largest_buffer_bytes);
        let payload_bits = plan.datagram_bytes.0 as f64 * 8.0;
        let extent_sum = receiver.reordering_extent_sum;
        let mut way = Self {
            goodput_bps,
            datagrams_per_second: goodput_bps.map(|goodput| goodput / payload_bits),
            window_ns: receiver.window.length_ns(),
            received: Some(receiver.received),
            received_bytes: Some(receiver.received_bytes),
            lost: Some(lost),
            lost_ratio: sent.map(|sent| lost as f64 / sent as f64),
            socket_drops: drops,
            datagrams_per_buffer: drops.map(|_| per_buffer),
            lost_on_the_way: drops.map(|it| lost.saturating_sub(it.saturating_mul(per_buffer))),
            bursts: Some(receiver.bursts.clone()),
            duplicates: Some(receiver.duplicates),
            reordered: Some(reordered),
            reordered_ratio: Some(reordered as f64 / receiver.received.max(1) as f64),
            reordering_extent_max: (reordered > 0).then_some(receiver.reordering_extent_max),
            reordering_extent_mean: (reordered > 0).then(|| extent_sum as f64 / reordered as f64),
            late: Some(receiver.late),
            corrupt: Some(receiver.corrupt),
            foreign: Some(receiver.foreign),
            jitter: receiver.jitter.clone(),
            fairness: rates.fairness().filter(|_| rates.flows > 1),
            no_fairness: rates.no_fairness(),
            slowest_bps: rates.min_bps.filter(|_| rates.flows > 1),
            fastest_bps: rates.max_bps.filter(|_| rates.flows > 1),
            ..of_sender
        };
        if receiver.is_unnumbered {
            way.forget_lost();
        }
        way
    }
}
