//! Comparisons as rows of a table and as JSON.

use anyhow::{Context as _, Result};
use pathscope_core::quantity;
use serde_json::{Value, json};

use super::PAIRS_FOR_A_CLAIM;
use super::case::{Case, Measure};
use super::conditions::Conditions;
use super::ends::Run;
use super::reading::Reading;
use super::relay::Repetition;
use super::scale::Scale;
use super::statistics::{RatioSummary, median};
use crate::sessions::Sessions;

/// One case, one opponent, all pairs.
#[derive(Debug)]
pub struct Comparison {
    /// What was compared.
    pub case: Case,
    /// In which figure.
    pub measure: Measure,
    /// Who.
    pub subject: &'static str,
    /// With whom; the subject itself tells the noise.
    pub opponent: &'static str,
    /// The subject's and the opponent's runs, pair by pair.
    pub runs: Vec<(Run, Run)>,
    /// What their ratios come to.
    pub summary: RatioSummary,
    /// The same for processor time a gigabyte, in transfers.
    pub cpu: Option<RatioSummary>,
}

/// The heads of the columns.
pub fn head() -> String {
    format!(
        "{:<26} {:<10} {:>14} {:>14} {:>7} {:>17} {:>11} {:>11} {:>7} {:>17}  {}",
        "case",
        "against",
        "ours",
        "theirs",
        "ratio",
        "95 % interval",
        "cpu/GB",
        "theirs",
        "ratio",
        "95 % interval",
        "verdict"
    )
}

/// The heads of the columns of memory.
pub fn memory_head() -> String {
    format!(
        "{:<26} {:<10} {:>14} {:>14} {:>14} {:>14}",
        "resident at the most", "against", "our server", "theirs", "our client", "theirs"
    )
}

impl Comparison {
    /// As a row of the table.
    pub fn row(&self) -> String {
        let (ratio, interval) = in_words(&self.summary);
        let (cpu_ratio, cpu_interval) =
            self.cpu.as_ref().map_or_else(|| ("-".to_owned(), "-".to_owned()), in_words);
        let (ours, theirs) = (self.median_of(|pair| &pair.0), self.median_of(|pair| &pair.1));
        format!(
            "{:<26} {:<10} {:>14} {:>14} {ratio:>7} {interval:>17} {:>11} {:>11} \
             {cpu_ratio:>7} {cpu_interval:>17}  {}",
            self.case.name(),
            self.opponent,
            self.measure.in_words(ours.figure),
            self.measure.in_words(theirs.figure),
            cpu_in_words(ours.cpu_ns_per_gigabyte),
            cpu_in_words(theirs.cpu_ns_per_gigabyte),
            self.verdict(),
        )
    }

    /// A run with the median of each of its figures.
    fn median_of(&self, side: impl Fn(&(Run, Run)) -> &Run) -> Run {
        let of = |value: fn(&Run) -> f64| -> f64 {
            median(&self.runs.iter().map(|pair| value(side(pair))).collect::<Vec<_>>())
        };
        let shares: Vec<f64> =
            self.runs.iter().filter_map(|pair| side(pair).cpu_ns_per_gigabyte).collect();
        Run {
            figure: of(|run| run.figure),
            cpu_ns: of(|run| run.cpu_ns as f64) as u64,
            cpu_ns_per_gigabyte: (!shares.is_empty()).then(|| median(&shares)),
            server_resident_bytes: of(|run| run.server_resident_bytes as f64) as u64,
            client_resident_bytes: of(|run| run.client_resident_bytes as f64) as u64,
        }
    }

    /// What both ends had resident at the most, medians of ours and of theirs.
    pub fn memory_row(&self) -> String {
        let (ours, theirs) = (self.median_of(|pair| &pair.0), self.median_of(|pair| &pair.1));
        // Of a server that ended by itself nothing is left to look at.
        let bytes = |seen| if seen == 0 { "-".to_owned() } else { quantity::bytes(seen) };
        format!(
            "{:<26} {:<10} {:>14} {:>14} {:>14} {:>14}",
            self.case.name(),
            self.opponent,
            bytes(ours.server_resident_bytes),
            bytes(theirs.server_resident_bytes),
            bytes(ours.client_resident_bytes),
            bytes(theirs.client_resident_bytes),
        )
    }

    /// Of the opponent's figure, how much is wanted: a bare loop neither verifies nor reports, and recording each round
    /// trip may cost 3 % of them.
    fn wanted(&self) -> f64 {
        match (self.opponent, &self.case, self.measure) {
            ("checked", ..) | ("bare", Case::Goodput { .. }, _) => 0.95,
            ("bare", Case::Datagrams { .. }, _) => 0.85,
            (_, Case::Churn { .. }, _) => 0.9,
            ("tcp_rr", Case::Requests { .. }, _) => 1.2,
            (.., Measure::RoundTrips) => 0.97,
            _ => 1.0,
        }
    }

    fn verdict(&self) -> String {
        let wanted = self.wanted();
        let (holds, claim) = match self.measure {
            Measure::GoodputBps
            | Measure::RoundTrips
            | Measure::RequestsPerSecond
            | Measure::ConnectionsPerSecond => {
                (self.summary.is_at_least(wanted), format!("at least {wanted}"))
            }
            Measure::MedianRttNs | Measure::MeanRttNs => {
                (self.summary.is_at_most(wanted), format!("at most {wanted}"))
            }
        };
        match (self.subject == self.opponent, self.summary.pairs < PAIRS_FOR_A_CLAIM, holds) {
            (true, ..) => "noise".to_owned(),
            (_, true, _) => "too few pairs".to_owned(),
            (.., true) => claim,
            (.., false) => format!("not shown: {claim}"),
        }
    }

    fn json(&self) -> Value {
        let sides = |(ours, theirs): &(Run, Run)| json!({ "ours": ours, "theirs": theirs });
        json!({
            "case": self.case.name(),
            "setting": self.case,
            "measure": self.measure,
            "subject": self.subject,
            "opponent": self.opponent,
            "ratio": self.summary,
            "cpu_ratio": self.cpu,
            "verdict": self.verdict(),
            "runs": self.runs.iter().map(sides).collect::<Vec<_>>(),
        })
    }
}

impl Measure {
    fn in_words(self, figure: f64) -> String {
        match self {
            Self::GoodputBps => quantity::bit_rate(figure),
            Self::RoundTrips => quantity::count(figure as u64),
            Self::RequestsPerSecond | Self::ConnectionsPerSecond => {
                format!("{}/s", quantity::count(figure as u64))
            }
            Self::MedianRttNs | Self::MeanRttNs => quantity::duration_ns(figure as u64),
        }
    }
}

/// The median of the ratios, and where it lies.
fn in_words(summary: &RatioSummary) -> (String, String) {
    let interval = match (summary.low, summary.high) {
        (Some(low), Some(high)) => format!("{low:.3} to {high:.3}"),
        _ => "too few pairs".to_owned(),
    };
    (format!("{:.3}", summary.median), interval)
}

fn cpu_in_words(nanoseconds: Option<f64>) -> String {
    nanoseconds.map_or_else(|| "-".to_owned(), |value| quantity::duration_ns(value as u64))
}

/// Everything as JSON.
pub fn json(
    comparisons: &[Comparison],
    (relay, readings): (&[Repetition], &[Reading]),
    (scale, sessions): (Option<&Scale>, &[Sessions]),
    conditions: &Conditions,
) -> Result<String> {
    let comparisons: Vec<Value> = comparisons.iter().map(Comparison::json).collect();
    let all = json!({ "conditions": conditions, "comparisons": comparisons, "relay": relay, "readings": readings, "scale": scale, "sessions": sessions });
    serde_json::to_string_pretty(&all).context("write the comparisons as JSON")
}
