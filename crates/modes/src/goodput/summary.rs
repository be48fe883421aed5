//! What a goodput test came to, at one end and over both.

use pathscope_core::id::FlowId;
use pathscope_core::record::FlowFacts;
use pathscope_core::sending::SendSamples;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Endings, FailureTimes, GoodputPlan};
use crate::load::{
    FailureCounts, NoFairness, RateSpread, RateSums, ReceiveWindow, RemoteCounts, Starved, Verify,
};
use crate::pattern::Corruption;

/// What the flows of one end did in one interval.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct GoodputInterval {
    /// Bytes handed to the kernel.
    pub sent_bytes: u64,
    /// Bytes taken from the kernel and checked.
    pub received_bytes: u64,
}

/// What the flows of one end came to.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct GoodputReport {
    /// Bytes handed to the kernel, over all flows.
    pub sent_bytes: u64,
    /// Bytes taken from the kernel and checked, over all flows.
    pub received_bytes: u64,
    /// Of all flows together: what was received in the window that counts.
    pub window: ReceiveWindow,
    /// Flows that ended well.
    pub completed: u64,
    /// Flows that failed in the network, with wrong data, or by a breach of protocol.
    pub failed: u64,
    /// The same, by what they failed of.
    pub failures: FailureCounts,
    /// Flows that the end of the run stopped before their transfer was whole; they count neither as
    /// completed nor as failed.
    pub cut: u64,
    /// The first flows, one by one.
    pub flows: Vec<FlowFacts>,
    /// Flows beyond those.
    pub flows_omitted: u64,
    /// The first corruptions, located.
    pub corruptions: Vec<FlowCorruption>,
    /// Bytes a second of each flow that received, in bits, summed up and squared: for the fairness of
    /// all flows, also those omitted.
    pub rates: RateSums,
    /// The middle of those rates, and who has next to nothing. Where connections are replaced: of those told one
    /// by one.
    pub spread: Option<RateSpread>,
    /// What became of connections, by the other end's address.
    pub remotes: Vec<RemoteCounts>,
    /// What the first connections that were to send were seen to wait for; absent where nobody looked.
    pub sending: Option<SendSamples>,
    /// Of all flows together: how long the pauses between bursts kept them from sending.
    pub paused_ns: u64,
}

/// What a goodput test came to, over both ends.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct GoodputSummary {
    /// From client to server, where the plan has that.
    pub up: Option<DirectionSummary>,
    /// From server to client, where the plan has that.
    pub down: Option<DirectionSummary>,
    /// Connections that ended well at both ends.
    pub completed: u64,
    /// Connections that failed at either end, or whose ends do not count the same.
    pub failed: u64,
    /// The same, by what they failed of. Where the ends saw different things, wrong data counts before a
    /// breach of protocol, and that before the network, since who finds wrong data resets the connection.
    pub failures: FailureCounts,
    /// Connections that the end of the run stopped before their transfer was whole.
    pub cut: u64,
    /// Connections that ended well at the client, and of which the server never said how they ended there.
    pub unknown: u64,
    /// Connections that were made, or were to be made and could not.
    pub attempted: u64,
    /// Connections that ended well, a second of the run; absent where they are not replaced.
    pub completed_per_second: Option<f64>,
    /// Segments sent again, both directions together; known of the connections told one by one.
    pub retransmits: Option<u64>,
    /// Connections that got next to nothing, the first of each direction.
    pub starved: Vec<Starved>,
    /// When connections failed, as the client saw it; absent where none did, or no interval tells.
    pub failure_times: Option<FailureTimes>,
    /// What became of connections, by the server's address, as the client saw it.
    pub remotes: Vec<RemoteCounts>,
}

/// One direction, as its receiver saw it.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct DirectionSummary {
    /// Bytes received, checked and in the window, a second, in bits; absent where fewer than two
    /// receives fell into the window, or the receiver has not reported.
    pub goodput_bps: Option<f64>,
    /// Length of the window.
    pub window_ns: u64,
    /// Bytes that the sender handed to its kernel; absent where it has not reported.
    pub sent_bytes: Option<u64>,
    /// Bytes that the receiver took from its kernel and checked; absent where it has not reported.
    pub received_bytes: Option<u64>,
    /// Whether every received byte was compared with what it must be.
    pub verified: bool,
    /// Which of the received bytes were.
    pub verify: Option<Verify>,
    /// Jain's index over the connections' rates, where there are several.
    pub fairness: Option<f64>,
    /// Where there are several and no such index: why.
    pub no_fairness: Option<NoFairness>,
    /// Connections that were too short to have a rate: they are in none of these figures.
    pub too_short: u64,
    /// The slowest connection.
    pub slowest_bps: Option<f64>,
    /// The fastest connection.
    pub fastest_bps: Option<f64>,
    /// The middle of the connections' rates.
    pub median_bps: Option<f64>,
    /// Connections with less than a tenth of it.
    pub starved: u64,
}

impl GoodputSummary {
    /// From what both ends said; `server` is absent where it was lost.
    pub fn of(plan: &GoodputPlan, client: &GoodputReport, server: Option<&GoodputReport>) -> Self {
        let up = plan.is_up().then(|| DirectionSummary::of(plan, Some(client), server));
        let down = plan.is_down().then(|| DirectionSummary::of(plan, server, Some(client)));
        let Endings { attempted, completed, failed, cut, unknown } =
            Endings::of(plan, client, server);
        let retransmits = [Some(client), server]
            .into_iter()
            .flatten()
            .flat_map(|report| &report.flows)
            .filter_map(|flow| flow.tcp?.retransmits)
            .reduce(u64::saturating_add);
        Self {
            up,
            down,
            completed,
            failed,
            failures: FailureCounts::of_both(client, server, failed),
            cut,
            unknown,
            attempted,
            completed_per_second: None,
            retransmits,
            starved: Starved::of_both(
                server.filter(|_| plan.is_up()).and_then(|server| server.spread.as_ref()),
                client.spread.as_ref().filter(|_| plan.is_down()),
            ),
            failure_times: None,
            remotes: client.remotes.clone(),
        }
    }
}

impl DirectionSummary {
    fn of(
        plan: &GoodputPlan,
        sender: Option<&GoodputReport>,
        receiver: Option<&GoodputReport>,
    ) -> Self {
        let rates = receiver.map(|receiver| receiver.rates).unwrap_or_default();
        let spread = receiver.and_then(|receiver| receiver.spread.as_ref());
        Self {
            goodput_bps: receiver.and_then(|receiver| receiver.window.goodput_bps()),
            window_ns: receiver.map_or(0, |receiver| receiver.window.length_ns()),
            sent_bytes: sender.map(|sender| sender.sent_bytes),
            received_bytes: receiver.map(|receiver| receiver.received_bytes),
            verified: plan.verify == Verify::Full,
            verify: Some(plan.verify),
            fairness: rates.fairness().filter(|_| rates.flows > 1),
            no_fairness: rates.no_fairness(),
            too_short: rates.too_short,
            slowest_bps: rates.min_bps.filter(|_| rates.flows > 1),
            fastest_bps: rates.max_bps.filter(|_| rates.flows > 1),
            median_bps: spread.and_then(|spread| spread.median_bps).filter(|_| rates.flows > 1),
            starved: spread.map_or(0, |spread| spread.starved),
        }
    }
}

/// A corruption and the flow it was found on.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct FlowCorruption {
    /// The flow.
    pub flow: FlowId,
    /// Where and what.
    pub corruption: Corruption,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_receive_opens_the_window_and_is_not_in_it() {
        let mut window = ReceiveWindow::default();
        window.record(1_000_000, 5_000_000_000);
        assert_eq!(window.goodput_bps(), None);
        window.record(125_000_000, 6_000_000_000);
        assert_eq!(window.goodput_bps(), Some(1e9));
    }

    #[test]
    fn windows_merge_to_the_span_of_both() {
        let mut left = ReceiveWindow { first_ns: Some(5), last_ns: Some(9), bytes: 10 };
        left.merge(&ReceiveWindow { first_ns: Some(2), last_ns: Some(8), bytes: 1 });
        left.merge(&ReceiveWindow::default());
        assert_eq!(left, ReceiveWindow { first_ns: Some(2), last_ns: Some(9), bytes: 11 });
    }

    #[test]
    fn fairness_is_one_for_equals_and_one_in_n_for_a_monopoly() {
        let of = |rates: &[f64]| {
            let mut sums = RateSums::default();
            rates.iter().for_each(|&rate| sums.record(rate));
            sums.fairness()
        };
        assert_eq!(of(&[3.0, 3.0, 3.0, 3.0]), Some(1.0));
        assert_eq!(of(&[8.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn it_is_said_why_there_is_no_fairness() {
        let of =
            |flows, too_short| RateSums { flows, too_short, ..RateSums::default() }.no_fairness();
        assert_eq!(of(0, 8), Some(NoFairness::TooShort));
        assert_eq!(of(1, 1), Some(NoFairness::TooShort));
        assert_eq!((of(0, 1), of(1, 0), of(2, 9), of(0, 0)), (None, None, None, None));
    }
}
