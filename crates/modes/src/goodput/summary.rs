//! What a goodput test came to, at one end and over both.

use pathscope_core::record::FlowFacts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::GoodputPlan;
use super::both_ends::{pairs, silent_disagreements};
use super::errnos::ErrnoCounts;
use crate::load::{
    FailureCounts, FastOpen, GoodputReport, NoFairness, RemoteCounts, Starved, Verify,
};
use crate::results::Slice;

/// What the flows of one end did in one interval.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct GoodputInterval {
    /// Bytes handed to the kernel.
    pub sent_bytes: u64,
    /// Bytes taken from the kernel and checked.
    pub received_bytes: u64,
    /// Bytes that the other end's kernel acknowledged, where that end tells nothing of what it received.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acknowledged_bytes: Option<u64>,
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
    /// Those that failed by an error of the system, by its name, as each end saw it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errnos: Vec<ErrnoCounts>,
    /// Of connections that were to be opened with what they say first; absent where that was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fast_open: Option<FastOpen>,
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
    /// Bytes that the receiver's kernel acknowledged in the sender's intervals after the warm-up, a second, in bits; only where the
    /// receiver tells nothing. Whether anybody took or checked them is not known by that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acknowledged_bps: Option<f64>,
    /// All bytes that it acknowledged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acknowledged_bytes: Option<u64>,
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
    /// From what both ends said; `server` is absent where it was lost, or says nothing but, where it `tells_endings`, of each
    /// connection that all has come.
    pub fn of(
        plan: &GoodputPlan,
        client: &GoodputReport,
        server: Option<&GoodputReport>,
        tells_endings: bool,
    ) -> Self {
        let ended = Self::endings(plan, client, server, tells_endings);
        let flows = [Some(client), server].into_iter().flatten().flat_map(|report| &report.flows);
        Self {
            up: plan.is_up().then(|| DirectionSummary::of(plan, Some(client), server)),
            down: plan.is_down().then(|| DirectionSummary::of(plan, server, Some(client))),
            failures: FailureCounts::of_both(client, server, ended.failed),
            retransmits: flows.filter_map(|flow| flow.tcp?.retransmits).reduce(u64::saturating_add),
            starved: Starved::of_both(
                server.filter(|_| plan.is_up()).and_then(|server| server.spread.as_ref()),
                client.spread.as_ref().filter(|_| plan.is_down()),
            ),
            errnos: ErrnoCounts::of_both(client, server),
            fast_open: FastOpen::of_both(client.fast_open, server.and_then(|it| it.fast_open)),
            remotes: client.remotes.clone(),
            ..ended
        }
    }

    /// How connections ended, over both ends: each is one of these, and nothing else is said.
    pub(super) fn endings(
        plan: &GoodputPlan,
        client: &GoodputReport,
        server: Option<&GoodputReport>,
        tells_endings: bool,
    ) -> Self {
        let attempted = if plan.replaces() {
            client.completed.saturating_add(client.failed).saturating_add(client.cut)
        } else {
            u64::from(plan.flows_at_once())
        };
        let Some(server) = server else {
            let (failed, cut) = (client.failed, client.cut);
            let rest = attempted.saturating_sub(failed.saturating_add(cut));
            // Of connections that are replaced the server has said on each what it verified.
            let said = match (plan.replaces(), tells_endings) {
                (true, _) => rest,
                // As the client has seen it: the others are under way.
                (false, true) => client.completed.min(rest),
                (false, false) => 0,
            };
            let (completed, unknown) = (said, rest - said);
            return Self { completed, failed, cut, unknown, attempted, ..Self::default() };
        };
        // Those that are so at either end. Of those that are not told one by one only the sums are known, and those of one
        // end may be those of the other.
        let of_both = |all: fn(&GoodputReport) -> u64, is: fn(&FlowFacts, &FlowFacts) -> bool| {
            let (mut here, mut there, mut told) = (all(client), all(server), 0_u64);
            for (client, server) in pairs(client, server) {
                here = here.saturating_sub(is(client, client).into());
                there = there.saturating_sub(is(server, server).into());
                told += u64::from(is(client, server));
            }
            told.saturating_add(here.max(there))
        };
        let failed = of_both(|end| end.failed, has_failed)
            .saturating_add(silent_disagreements(client, server));
        let cut = of_both(|end| end.cut, is_cut).min(attempted.saturating_sub(failed));
        let completed = attempted.saturating_sub(failed.saturating_add(cut)).min(client.completed);
        Self { completed, failed, cut, attempted, ..Self::default() }
    }
}

fn has_failed(here: &FlowFacts, there: &FlowFacts) -> bool {
    here.error.is_some() || there.error.is_some()
}

fn is_cut(here: &FlowFacts, there: &FlowFacts) -> bool {
    (here.cut || there.cut) && !has_failed(here, there)
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
            acknowledged_bps: None,
            acknowledged_bytes: None,
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

/// What the sender's intervals tell of what was acknowledged: all of it, and how much a second in those that begin after the warm-up;
/// in all of them where those are less than half of the time, as in a run of one interval.
pub(super) fn acknowledged(
    plan: &GoodputPlan,
    intervals: &[Slice<'_, GoodputPlan>],
) -> Option<(u64, Option<f64>)> {
    let told = || intervals.iter().filter_map(|it| Some((it, it.own?.acknowledged_bytes?)));
    let sums = |opens_ns| {
        let counted = told().filter(move |(it, _)| it.start_ns >= opens_ns);
        counted.fold((0_u64, 0_u64), |(bytes, time_ns), (it, more)| {
            let length_ns = it.end_ns.saturating_sub(it.start_ns);
            (bytes.saturating_add(more), time_ns.saturating_add(length_ns))
        })
    };
    let (all, whole) = (sums(0), sums(plan.warm_up_ns.0));
    told().next()?;
    let (bytes, time_ns) = if whole.1 >= all.1 / 2 { whole } else { all };
    let rate = (bytes > 0 && time_ns > 0).then(|| bytes as f64 * 8e9 / time_ns as f64);
    Some((all.0, rate))
}

/// When connections failed, by the intervals of a run.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct FailureTimes {
    /// The begin of the first interval with a failure.
    pub from_ns: u64,
    /// The end of the last one.
    pub until_ns: u64,
    /// Begin of the interval with the most.
    pub worst_start_ns: u64,
    /// Its end.
    pub worst_end_ns: u64,
    /// Failures in it.
    pub worst: u64,
}

impl FailureTimes {
    /// Of intervals in order: begin, end and failures of each.
    pub fn of(intervals: impl IntoIterator<Item = (u64, u64, u64)>) -> Option<Self> {
        let mut times: Option<Self> = None;
        for (start_ns, end_ns, failed) in intervals.into_iter().filter(|&(_, _, it)| it > 0) {
            let times = times.get_or_insert(Self { from_ns: start_ns, ..Self::default() });
            times.until_ns = end_ns;
            if failed > times.worst {
                (times.worst_start_ns, times.worst_end_ns, times.worst) =
                    (start_ns, end_ns, failed);
            }
        }
        times
    }
}

#[cfg(test)]
mod tests {
    use pathscope_core::quantity::{Bytes, Period};

    use super::super::tests::plan;
    use super::*;
    use crate::load::{Extent, Pattern, RateSums, ReceiveWindow};

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

    #[test]
    fn what_was_acknowledged_is_a_rate_after_the_warm_up_where_enough_of_the_time_is_left() {
        let second = 1_000_000_000;
        let mut plan = plan(Pattern::Push, Extent::TransferBytes(Bytes(1)));
        let of = |plan: &GoodputPlan, told: &[(u64, Option<u64>)]| {
            let own: Vec<_> = told
                .iter()
                .map(|&(_, acknowledged_bytes)| GoodputInterval {
                    sent_bytes: 9_999,
                    acknowledged_bytes,
                    ..GoodputInterval::default()
                })
                .collect();
            let starts = told.iter().scan(0, |from, (length, _)| {
                Some((*from, {
                    *from += length;
                    *from
                }))
            });
            let slices: Vec<_> = starts
                .zip(&own)
                .map(|((start_ns, end_ns), own)| Slice {
                    start_ns,
                    end_ns,
                    own: Some(own),
                    ended: None,
                })
                .collect();
            acknowledged(plan, &slices)
        };
        let rows = [(second, Some(1_000)), (second, Some(500)), (second / 2, Some(250))];
        assert_eq!(of(&plan, &rows), Some((1_750, Some(5_600.0))));
        plan.warm_up_ns = Period(second / 2);
        assert_eq!(of(&plan, &rows), Some((1_750, Some(4_000.0))));
        // One interval, and what was left behind it.
        assert_eq!(of(&plan, &[(second, Some(1_000)), (1, None)]), Some((1_000, Some(8_000.0))));
        assert_eq!(of(&plan, &[(second, None)]), None);
        assert_eq!(of(&plan, &[(second, Some(0))]), Some((0, None)));
    }

    #[test]
    fn failures_have_their_time() {
        assert_eq!(FailureTimes::of([(0, 9, 0)]), None);
        let times =
            FailureTimes::of([(0, 1, 0), (1, 2, 3), (2, 3, 0), (3, 4, 5), (4, 5, 5), (5, 6, 0)]);
        let expected =
            FailureTimes { from_ns: 1, until_ns: 5, worst_start_ns: 3, worst_end_ns: 4, worst: 5 };
        assert_eq!(times, Some(expected));
    }
}
