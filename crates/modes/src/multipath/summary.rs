//! What a multipath test came to over both ends. Each figure's definition is in docs/method/multipath.md.

use pathscope_core::quantity::total;
use pathscope_core::stats::{Distribution, LatencyFigures};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{GapReport, LossPair, MultipathReport, PathReport, Policy, PolicyReport};
use crate::paths::WirelessReport;
use crate::sums::with_fields;

/// All of it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct MultipathSummary {
    /// Numbers whose time came.
    pub scheduled: u64,
    /// Numbers sent on one path or more.
    pub sent: u64,
    /// Their payload, each counted once.
    pub sent_bytes: u64,
    /// From the first sending to the end of the schedule.
    pub sending_ns: u64,
    /// Payload a second, each number counted once.
    pub rate_bps: Option<f64>,
    /// Numbers answered.
    pub received: u64,
    /// Numbers sent and answered on no path.
    pub lost: u64,
    /// Numbers whose time came when there was no path.
    pub without_path: u64,
    /// Numbers that this machine was too slow to send.
    pub unsent: u64,
    /// Lost on the primary, answered on another path.
    pub prevented: u64,
    /// Of the numbers answered on the primary: by how much less their first answers were waited for, in all.
    /// Negative where sending in turns made the primary's own wait the shorter one.
    pub waiting_saved_ns: i64,
    /// The same, for each nanosecond waited on the primary.
    pub waiting_saved_ratio: Option<f64>,
    /// Numbers answered first on another path than the primary.
    pub first_elsewhere: u64,
    /// The same, for each number answered.
    pub first_elsewhere_ratio: Option<f64>,
    /// From the first sending to the first answer.
    pub effective: LatencyFigures,
    /// Stretches in which nothing came through on any path.
    pub effective_gaps: GapReport,
    /// Of the numbers answered on the primary, by how much less the mean was with all paths: 0.1 is a tenth.
    pub mean_improvement: Option<f64>,
    /// The same of the median.
    pub median_improvement: Option<f64>,
    /// Of the numbers answered on the primary: the first answers.
    pub paired: LatencyFigures,
    /// From the time that a number was due to its first sending.
    pub send_lag: LatencyFigures,
    /// Each path, the primary first; those that were never there are left out.
    pub paths: Vec<PathSummary>,
    /// What other senders would have had of the same paths.
    pub policies: Vec<PolicySummary>,
    /// How losses of every two paths go together.
    pub losses: Vec<LossSummary>,
    /// Datagrams of no session of ours, at both ends.
    pub foreign: u64,
}

/// One path.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct PathSummary {
    /// Its place; 0 is the primary.
    pub path: u8,
    /// The interface.
    pub interface: String,
    /// Datagrams sent on it.
    pub sent: u64,
    /// Answered on it.
    pub received: u64,
    /// Sent and not answered on it.
    pub lost: u64,
    /// Of those: never reached the server; absent where it has not reported, or not on all of the test.
    pub lost_forward: Option<u64>,
    /// Of those: reached the server, and had no answer here.
    pub lost_return: Option<u64>,
    /// Came back, or came to the server, with other bytes than were sent.
    pub corrupt: u64,
    /// Came back more than once.
    pub duplicates: u64,
    /// Came back after one of a higher number.
    pub reordered: u64,
    /// Came back after they had been given up.
    pub late: u64,
    /// Refused by this machine, or not taken in time: not sent.
    pub refused: u64,
    /// Numbers that it answered first.
    pub first: u64,
    /// Numbers that it alone answered.
    pub only: u64,
    /// From its own sending to its own answer.
    pub latency: LatencyFigures,
    /// Stretches in which nothing came through on it.
    pub gaps: GapReport,
    /// Its radio, where it is one of Wi-Fi.
    pub wireless: Option<WirelessReport>,
}

/// One policy.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct PolicySummary {
    /// Which.
    pub policy: Policy,
    /// Datagrams that it puts on paths.
    pub sent: u64,
    /// Their payload.
    pub sent_bytes: u64,
    /// Numbers without an answer, of all that were scheduled.
    pub lost: u64,
    /// The same, for each that was scheduled.
    pub lost_ratio: Option<f64>,
    /// From its first sending to its first answer.
    pub latency: LatencyFigures,
}

/// The losses of two paths.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct LossSummary {
    /// The counts.
    pub pair: LossPair,
    /// 0: independent; 1: always the same; absent where a path lost nothing, or everything.
    pub correlation: Option<f64>,
    /// Lost on both, were they independent.
    pub expected_both: Option<f64>,
}

/// The numbers that a box is drawn from, and what they are called.
pub(super) const WHISKERS: [(f64, &str); 5] =
    [(5.0, "p5"), (25.0, "p25"), (50.0, "p50"), (75.0, "p75"), (95.0, "p95")];

/// The same as `figures`, with all that a box is drawn from.
fn boxed(distribution: Option<&Distribution>) -> LatencyFigures {
    let asked = WHISKERS.map(|(percent, _)| percent);
    distribution.map(|it| LatencyFigures::with(&it.histogram(), &asked)).unwrap_or_default()
}

fn figures(distribution: Option<&Distribution>) -> LatencyFigures {
    distribution.map(|it| LatencyFigures::of(&it.histogram())).unwrap_or_default()
}

fn share(part: f64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part / whole as f64)
}

impl MultipathSummary {
    /// From what both ends said of datagrams of this payload; `server` is absent where it was lost.
    pub fn of(
        datagram_bytes: u64,
        client: &MultipathReport,
        server: Option<&MultipathReport>,
    ) -> Self {
        let primary = client.paths.first().and_then(|path| path.latency.as_ref());
        let primary = figures(primary);
        let paired = figures(client.paired_effective.as_ref());
        let less = |primary: Option<f64>, all: Option<f64>| {
            let (one, all) = primary.zip(all).filter(|(one, _)| *one > 0.0)?;
            Some((one - all) / one)
        };
        let median = |figures: &LatencyFigures| figures.median_ns().map(|median| median as f64);
        let saved =
            i128::from(client.paired_primary_wait_ns) - i128::from(client.paired_effective_wait_ns);
        let first_elsewhere = total(client.paths.iter().skip(1).map(|path| path.first));
        let sent_bytes = client.sent.saturating_mul(datagram_bytes);
        Self {
            sent_bytes,
            rate_bps: share(sent_bytes as f64 * 8e9, client.sending_ns),
            waiting_saved_ns: saved.clamp(i64::MIN.into(), i64::MAX.into()) as i64,
            waiting_saved_ratio: share(saved as f64, client.paired_primary_wait_ns),
            first_elsewhere,
            first_elsewhere_ratio: share(first_elsewhere as f64, client.received),
            effective: boxed(client.effective.as_ref()),
            effective_gaps: client.effective_gaps.clone(),
            mean_improvement: less(primary.mean_ns, paired.mean_ns),
            median_improvement: less(median(&primary), median(&paired)),
            paired,
            send_lag: figures(client.send_lag.as_ref()),
            paths: paths(client, server),
            policies: client
                .policies
                .iter()
                .map(|it| policy(datagram_bytes, client.scheduled, it))
                .collect(),
            losses: client
                .losses
                .iter()
                .filter(|pair| pair.judged() > 0)
                .map(|&pair| LossSummary {
                    pair,
                    correlation: pair.correlation(),
                    expected_both: pair.expected_both(),
                })
                .collect(),
            foreign: client.foreign.saturating_add(server.map_or(0, |server| server.foreign)),
            ..with_fields!(
                Self, client; scheduled, sent, sending_ns, received, lost, without_path, unsent, prevented
            )
        }
    }
}

fn paths(client: &MultipathReport, server: Option<&MultipathReport>) -> Vec<PathSummary> {
    let was_there =
        |(_, path): &(usize, &PathReport)| path.sent > 0 || !path.facts.interface.is_empty();
    let known = client.paths.iter().enumerate().filter(was_there);
    known
        .map(|(place, path)| {
            let far = server.and_then(|server| server.paths.get(place));
            // A server that was started anew has not seen what the one before it saw.
            let whole = far.filter(|_| client.resumptions == 0);
            let lost_forward = whole.map(|far| {
                let arrived = far.received.saturating_add(far.late);
                path.sent.saturating_sub(arrived).min(path.lost)
            });
            PathSummary {
                path: place as u8,
                interface: path.facts.interface.clone(),
                lost_forward,
                lost_return: lost_forward.map(|forward| path.lost.saturating_sub(forward)),
                corrupt: path.corrupt.saturating_add(far.map_or(0, |far| far.corrupt)),
                latency: boxed(path.latency.as_ref()),
                gaps: path.gaps.clone(),
                wireless: path.wireless.clone(),
                ..with_fields!(
                    PathSummary, path; sent, received, lost, duplicates, reordered, late, refused, first, only
                )
            }
        })
        .collect()
}

fn policy(datagram_bytes: u64, scheduled: u64, report: &PolicyReport) -> PolicySummary {
    PolicySummary {
        policy: report.policy,
        sent: report.sent,
        sent_bytes: report.sent.saturating_mul(datagram_bytes),
        lost: report.lost,
        lost_ratio: share(report.lost as f64, scheduled),
        latency: figures(report.latency.as_ref()),
    }
}
