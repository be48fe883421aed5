//! What a latency test came to, at one end and over both.

use pathscope_core::quantity::total;
use pathscope_core::record::{FlowError, StampFacts};
use pathscope_core::stats::{
    Distribution, HalfOctaves, LatencyFigures, LatencyHistogram, LinearHistogram, Percentile, Trend,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LatencyPlan, OneWayReport, OneWaySummary, PartsReport, PartsSummary, VariationReport};
use crate::drops::SocketDrops;
use crate::sums::{add_fields, with_fields};

/// What the flows of one end did in one interval.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct LatencyInterval {
    /// Pings sent (client) or echoed (server).
    pub sent: u64,
    /// Echoes (client) or pings (server) received in it.
    pub received: u64,
    /// Round trips of the pings that were answered in it; the client's alone.
    pub rtt: Option<LatencyFigures>,
    /// The same round trips by how long they took, for a heat map; absent in older documents.
    pub rtt_half_octaves: Option<HalfOctaves>,
}

/// What the flows of one end came to.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct LatencyReport {
    /// Pings sent (client) or echoed (server), warm-up included.
    pub sent: u64,
    /// First echoes (client) or pings (server) received, warm-up included.
    pub received: u64,
    /// Of those at the client: of pings of the warm-up, left out of the distributions.
    pub warm_up: u64,
    /// Pings of which nothing came while they were remembered and before the drain was over; the client's alone.
    pub lost: u64,
    /// Echoes (client) or pings (server) beyond the first of a ping.
    pub duplicates: u64,
    /// Echoes (client) or pings (server) that came after one of a later ping.
    pub reordered: u64,
    /// Of the client's: how many arrivals had overtaken each, in all.
    pub reordering_extent_sum: u64,
    /// The most of one.
    pub reordering_extent_max: u64,
    /// Echoes that were overtaken by one that the server had sent later.
    pub reordered_return: u64,
    /// Word from the network (ICMP) that datagrams of this end did not arrive: a port that nobody listens on, a
    /// host or a network without a way to it. Not each lost one has such word.
    pub unreachable: u64,
    /// Open loop: pings that were due and did not leave within a second after the end.
    pub unsent: u64,
    /// Echoes (client) or pings (server) that came when their ping was not remembered any more.
    pub late: u64,
    /// Pings of which nothing came but with other bytes than were sent.
    pub corrupt: u64,
    /// Echoes (client) or pings (server) with other bytes than were sent, those included that an intact copy made good.
    pub corrupt_datagrams: u64,
    /// Datagrams that belong to no session of ours.
    pub foreign: u64,
    /// From the first attempt to send, or from the scheduled time of a ping that fell due while the system refused its
    /// flow, to the receipt of the echo.
    pub rtt: Option<Distribution>,
    /// Open loop: from the scheduled send to the receipt of the echo.
    pub rtt_since_scheduled: Option<Distribution>,
    /// Open loop: from the send that was accepted to the receipt of the echo.
    pub service: Option<Distribution>,
    /// Open loop: from the scheduled send to where `rtt` begins. The generator's own lateness.
    pub send_lag: Option<Distribution>,
    /// Time in the server from the receipt of a ping to the sending of its echo, where the echo
    /// carries both stamps.
    pub server_residence: Option<Distribution>,
    /// Round trips in ranges of equal width, where they were asked for.
    pub linear: Option<LinearHistogram>,
    /// How much delay varied.
    pub variation: Option<VariationReport>,
    /// The delays of each way, where both ends read one clock; the client's alone.
    pub one_way: Option<OneWayReport>,
    /// Where the time of round trips went, where kernel stamps were asked for; the client's alone.
    pub parts: Option<PartsReport>,
    /// How far this end's kernel stamps can be trusted, where they were asked for.
    pub stamps: Option<StampFacts>,
    /// Datagrams that this end's own sockets dropped, since they came faster than they were taken; absent
    /// where the system does not say, and over TCP.
    pub socket_drops: Option<u64>,
    /// What ended the flow before its time.
    pub error: Option<FlowError>,
}

impl LatencyReport {
    /// Adds what `other` counts; what is derived of counts stays.
    pub(super) fn add(&mut self, other: &Self) {
        add_fields!(
            self, other;
            sent, received, warm_up, duplicates, reordered, reordering_extent_sum, reordered_return, unreachable, unsent,
            late, corrupt_datagrams, foreign,
        );
        self.reordering_extent_max = self.reordering_extent_max.max(other.reordering_extent_max);
    }

    /// Echoes (client) or pings (server) that came with other bytes than were sent.
    pub fn came_corrupt(&self) -> u64 {
        // Ends that count them by ping alone count at least those.
        self.corrupt_datagrams.max(self.corrupt)
    }
}

/// What a latency test, or the probes beside a load, came to over both ends.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct LatencySummary {
    /// Round trips: from the first attempt to send, or from the scheduled time of a ping that fell due while the system
    /// refused its flow, to the receipt. In documents of version 1, of an open loop, from the scheduled time of each.
    pub rtt: LatencyFigures,
    /// Open loop: from the scheduled send to the receipt. Absent in documents of version 1.
    pub rtt_since_scheduled: Option<LatencyFigures>,
    /// Open loop: from the send that was accepted to the receipt.
    pub service: Option<LatencyFigures>,
    /// Open loop: from the scheduled send to where `rtt` begins, which is what pings waited for this machine. In documents
    /// of version 1, to the send that was accepted.
    pub send_lag: Option<LatencyFigures>,
    /// From the server's receipt to its sending, where the echo carries both stamps.
    pub server_residence: Option<LatencyFigures>,
    /// Closed loop at a rate: the round trips with those that a stall kept from being sent, added by a model
    /// (see docs/method/latency.md). Stands beside `rtt` and never for it.
    pub corrected: Option<LatencyFigures>,
    /// How much delay varied, by every definition that has a name.
    pub jitter: Option<JitterSummary>,
    /// The delays of each way, where both ends read one clock.
    pub one_way: Option<OneWaySummary>,
    /// Where the time of round trips went, where kernel stamps were asked for.
    pub parts: Option<PartsSummary>,
    /// How the median of the intervals changed over the run.
    pub drift: Option<Trend>,
    /// Pings sent.
    pub sent: u64,
    /// Pings answered.
    pub received: u64,
    /// Pings answered but left out of the figures, as they belong to the warm-up.
    pub warm_up: u64,
    /// Pings of which nothing came while they were remembered and before the drain was over. Every ping that was sent is
    /// one of `received`, `lost` and `corrupt`.
    pub lost: u64,
    /// Of those: never reached the server; absent where it has not reported.
    pub lost_forward: Option<u64>,
    /// Of those: the echo was lost on its way back.
    pub lost_return: Option<u64>,
    /// Echoes beyond the first of a ping.
    pub duplicates: u64,
    /// Echoes that came after one of a later ping.
    pub reordered: u64,
    /// Of those pings, counted by themselves: the ping was overtaken on its way there; absent where the server
    /// has not reported.
    pub reordered_forward: Option<u64>,
    /// The echo was overtaken on its way back; absent where echoes carry no stamps.
    pub reordered_return: Option<u64>,
    /// Reordered echoes for each that came.
    pub reordered_ratio: f64,
    /// By how many arrivals a reordered echo was overtaken (RFC 4737, section 4.2), on average and at most.
    pub reordering_extent_mean: Option<f64>,
    /// At most.
    pub reordering_extent_max: Option<u64>,
    /// Word from the network that pings did not arrive.
    pub unreachable: u64,
    /// Open loop: pings that were due and never left.
    pub unsent: u64,
    /// Lost in a socket of this end or the other and not on the path.
    pub socket_drops: SocketDrops,
    /// Echoes that came when their ping was not remembered any more. If it had no answer by then, it is one of `lost`.
    pub late: u64,
    /// Pings of which nothing came but with other bytes than were sent.
    pub corrupt: u64,
    /// Echoes with other bytes than were sent or of pings that came so, those included that an intact copy made good.
    pub corrupt_echoes: u64,
    /// Pings that came to the server with other bytes than were sent, each copy by itself, where it could see that: in
    /// what its echoes leave out. Absent where it has not reported.
    pub corrupt_forward: Option<u64>,
    /// Datagrams of no session of ours.
    pub foreign: u64,
}

/// How much delay varied. All of it from the actual sends on.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct JitterSummary {
    /// Differences of arrivals that follow one another: RFC 3550 and RFC 3393.
    pub variation: VariationReport,
    /// Delay above the least one (the PDV form of RFC 5481), at the percentiles of the round trip.
    pub pdv: Vec<Percentile>,
    /// From the median to the 95th percentile.
    pub p95_minus_p50_ns: Option<u64>,
    /// The sample standard deviation.
    pub standard_deviation_ns: Option<f64>,
    /// From the 25th to the 75th percentile.
    pub interquartile_range_ns: Option<u64>,
}

impl JitterSummary {
    pub(super) fn of(variation: &VariationReport, round_trip: &LatencyFigures) -> Self {
        let least = round_trip.min_ns.unwrap_or(0);
        let above = |value: Option<u64>| value.map(|value| value.saturating_sub(least));
        let pdv = round_trip.percentiles.iter().map(|percentile| Percentile {
            value_ns: above(percentile.value_ns),
            low_ns: above(percentile.low_ns),
            high_ns: above(percentile.high_ns),
            ..*percentile
        });
        let value = |percent: f64| round_trip.percentile(percent)?.value_ns;
        Self {
            variation: variation.clone(),
            pdv: pdv.collect(),
            p95_minus_p50_ns: value(95.0).zip(value(50.0)).map(|(high, low)| high - low),
            standard_deviation_ns: round_trip.standard_deviation_ns,
            interquartile_range_ns: round_trip.interquartile_range_ns,
        }
    }
}

impl LatencySummary {
    /// Whether its `rtt` counts from the schedule, as that of an open loop did in documents of version 1.
    pub fn counts_from_the_schedule(&self) -> bool {
        self.service.is_some() && self.rtt_since_scheduled.is_none()
    }

    /// From what both ends said; `server` is absent where it was lost.
    pub fn of(plan: &LatencyPlan, client: &LatencyReport, server: Option<&LatencyReport>) -> Self {
        let percents = plan.percentiles();
        let with = |histogram: &LatencyHistogram| LatencyFigures::with(histogram, &percents);
        let of = |stored: &Distribution| with(&stored.histogram());
        let figures = |stored: &Option<Distribution>| stored.as_ref().map(of);
        // What the server received, whole or damaged, and the client did not get back was lost on the way back.
        let lost_forward = server.map(|server| {
            let arrived = total([server.received, server.late, server.corrupt]);
            client.sent.saturating_sub(arrived).min(client.lost)
        });
        let rtt = figures(&client.rtt).unwrap_or_default();
        let corrected = plan.pace_ns.zip(client.rtt.as_ref());
        let reordered = |sum: u64| (client.reordered > 0).then_some(sum);
        let parts = client.parts.as_ref().map(|parts| PartsSummary {
            client: client.stamps.clone(),
            server: server.and_then(|server| server.stamps.clone()),
            ..PartsSummary::of(parts, rtt.count, of)
        });
        Self {
            one_way: client.one_way.as_ref().map(|delays| OneWaySummary {
                forward: of(&delays.forward),
                back: of(&delays.back),
                error_bound_ns: None,
            }),
            parts,
            corrected: corrected.map(|(pace, rtt)| with(&rtt.histogram().corrected(pace.0))),
            jitter: client.variation.as_ref().map(|variation| JitterSummary::of(variation, &rtt)),
            rtt,
            rtt_since_scheduled: figures(&client.rtt_since_scheduled),
            service: figures(&client.service),
            send_lag: figures(&client.send_lag),
            server_residence: figures(&client.server_residence),
            lost_forward,
            lost_return: lost_forward.map(|forward| client.lost - forward),
            reordered_forward: server.map(|server| server.reordered),
            reordered_return: client.server_residence.as_ref().map(|_| client.reordered_return),
            reordered_ratio: client.reordered as f64 / client.received.max(1) as f64,
            reordering_extent_mean: reordered(client.reordering_extent_sum)
                .map(|sum| sum as f64 / client.reordered as f64),
            reordering_extent_max: reordered(client.reordering_extent_max),
            socket_drops: SocketDrops {
                client: client.socket_drops,
                server: server.and_then(|server| server.socket_drops),
            },
            corrupt_echoes: client.corrupt_datagrams,
            corrupt_forward: server.map(LatencyReport::came_corrupt),
            ..with_fields!(
                Self, client;
                sent, received, warm_up, lost, duplicates, reordered, unreachable, unsent, late, corrupt, foreign,
            )
        }
    }
}
