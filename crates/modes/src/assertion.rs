//! What a user asserts of a result before it is measured: `goodput.rate.up>900Mbit`. It is judged once all is measured, and told as a
//! check of the measurement that has the figure.
//!
//! Not here: what has to hold of each mode whoever asks (each mode's checks), and what experiments expect, which follows from
//! links.

use std::collections::BTreeMap;
use std::str::FromStr;

use pathscope_core::quantity::shown;
use pathscope_core::record::Check;
use pathscope_core::stats::median;
use thiserror::Error;

use crate::document::Document;
use crate::figures::{FigureId, FigureIdError, read, told};
use crate::finding::TestCheck;
use crate::presentation;
use crate::runs::Run;

/// A figure, and what it has to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Assertion {
    /// As it was typed.
    typed: String,
    figure: FigureId,
    /// Whether the median of several runs is meant, and not each of them.
    is_median: bool,
    relation: Relation,
    bound: f64,
}

/// What stands behind a figure of which the median of several runs is meant.
const MEDIAN: &str = "@median";

/// What the figure has to be, beside the bound.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Relation {
    Above,
    AtLeast,
    Below,
    AtMost,
    Equal,
}

impl Relation {
    /// As each is typed; what begins like another one stands first.
    const ALL: [(&'static str, Self); 5] = [
        (">=", Self::AtLeast),
        ("<=", Self::AtMost),
        (">", Self::Above),
        ("<", Self::Below),
        ("=", Self::Equal),
    ];

    fn holds(self, figure: f64, bound: f64) -> bool {
        match self {
            Self::Above => figure > bound,
            Self::AtLeast => figure >= bound,
            Self::Below => figure < bound,
            Self::AtMost => figure <= bound,
            Self::Equal => figure.total_cmp(&bound).is_eq(),
        }
    }
}

/// Why a text is no assertion.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum AssertionError {
    /// Nothing is compared in it.
    #[error(
        "'{}' compares nothing: write a figure, >, >=, <, <= or =, and a value, as in goodput.rate.up>900Mbit",
        shown(.0)
    )]
    NoRelation(String),
    /// It begins with no figure.
    #[error(transparent)]
    Figure(#[from] FigureIdError),
    /// It asks for something else of several runs than their median.
    #[error("'{}': of several runs {MEDIAN} alone can be asked for, or nothing: then each has to hold", shown(.0))]
    NoMedian(String),
    /// It ends with nothing that the figure could be.
    #[error("'{}' is no value of {figure}: {why}", shown(value))]
    Value {
        /// As it was typed.
        value: String,
        /// The figure's id.
        figure: String,
        /// What one is.
        why: String,
    },
}

impl FromStr for Assertion {
    type Err = AssertionError;

    fn from_str(typed: &str) -> Result<Self, AssertionError> {
        let parts = typed.find(['<', '>', '=']).and_then(|at| {
            let (figure, rest) = typed.split_at(at);
            let mut relations = Relation::ALL.into_iter();
            relations.find_map(|(sign, it)| Some((figure, it, rest.strip_prefix(sign)?)))
        });
        let (figure, relation, value) =
            parts.ok_or_else(|| AssertionError::NoRelation(typed.to_owned()))?;
        let (figure, value) = (figure.trim(), value.trim());
        let bare = figure.strip_suffix(MEDIAN);
        if bare.unwrap_or(figure).contains('@') {
            return Err(AssertionError::NoMedian(figure.to_owned()));
        }
        let (figure, is_median) = (FigureId::find(bare.unwrap_or(figure))?, bare.is_some());
        let bound = read(figure.unit(), value).map_err(|why| AssertionError::Value {
            value: value.to_owned(),
            figure: figure.text().to_owned(),
            why,
        })?;
        Ok(Self { typed: typed.trim().to_owned(), figure, is_median, relation, bound })
    }
}

impl Assertion {
    /// What it comes to for this number, which is the median of so many runs; none: there is no such figure.
    fn check(&self, number: Option<f64>, runs: usize) -> Check {
        let Self { typed, figure, relation, bound, .. } = self;
        let passed = number.is_some_and(|number| relation.holds(number, *bound));
        let text = match number {
            Some(number) => {
                let of =
                    if runs > 1 { format!(", the median of {runs} runs") } else { String::new() };
                format!("{typed}: it is {}{of}", told(figure.unit(), number))
            }
            None => format!("{typed}: this result has no such figure"),
        };
        Check::new(TestCheck::Asserted, passed, text)
    }
}

/// Judges what was asserted of each measurement that is shown and has the figure. What none has does not hold, and is told of the last.
pub fn judge(assertions: &[Assertion], document: &mut Document) {
    if assertions.is_empty() {
        return;
    }
    if !document.servers.is_empty() {
        return judge_together(assertions, document);
    }
    // Of repeated runs each is judged; of a search, the trial that shows what was found.
    let places: Vec<usize> = match &document.rounds {
        Some(_) => (0..document.measurements.len()).collect(),
        None => presentation::shown(document).map(|(number, _)| number as usize - 1).collect(),
    };
    let json = |place: usize| serde_json::to_value(&document.measurements[place]);
    let shown: Vec<_> =
        places.into_iter().map(|place| (place, json(place).unwrap_or_default())).collect();
    for assertion in assertions {
        let number = |(place, told): &(usize, _)| Some((*place, assertion.figure.number(told)?));
        let found: Vec<_> = shown.iter().filter_map(number).collect();
        let found = if assertion.is_median { medians(&found, document) } else { alone(&found) };
        for &(place, number, runs) in &found {
            document.measurements[place].checks.push(assertion.check(Some(number), runs));
        }
        if let (true, Some(last)) = (found.is_empty(), document.measurements.last_mut()) {
            last.checks.push(assertion.check(None, 1));
        }
    }
}

/// Of several servers the figures over all are judged; what there is of each alone is not, and says so.
fn judge_together(assertions: &[Assertion], document: &mut Document) {
    let Some(together) = &mut document.together else { return };
    let told = serde_json::to_value(&*together).unwrap_or_default();
    let checks = assertions.iter().map(|assertion| {
        let number = assertion.figure.number(&told);
        let check = assertion.check(number, 1);
        let text = format!("{} over all servers", check.text);
        Check { text, ..check }
    });
    let checks: Vec<Check> = checks.collect();
    together.checks.extend(checks);
}

/// A number that is judged: of which measurement, how much, and of how many runs it is the median.
type Judged = (usize, f64, usize);

/// Each run by itself.
fn alone(found: &[(usize, f64)]) -> Vec<Judged> {
    found.iter().map(|&(place, number)| (place, number, 1)).collect()
}

/// The median of all runs of one test at one point on one side, told of the last of them.
fn medians(found: &[(usize, f64)], document: &Document) -> Vec<Judged> {
    let title = |place: usize| {
        let measurement = &document.measurements[place];
        let run = measurement.run.as_ref();
        run.map_or_else(|| measurement.name.clone(), Run::title)
    };
    let mut groups: BTreeMap<String, (usize, Vec<f64>)> = BTreeMap::new();
    for &(place, number) in found {
        let (last, numbers) = groups.entry(title(place)).or_default();
        *last = place;
        numbers.push(number);
    }
    let of = |(last, numbers): (usize, Vec<f64>)| Some((last, median(&numbers)?, numbers.len()));
    groups.into_values().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(typed: &str) -> String {
        typed.parse::<Assertion>().expect_err(typed).to_string()
    }

    #[test]
    fn a_figure_is_compared_in_its_own_unit() {
        for (typed, number, passed, text) in [
            ("goodput.rate.up>900Mbit", 900e6, false, "it is 900.0 Mbit/s"),
            ("goodput.rate.up>=900Mbit", 900e6, true, "it is 900.0 Mbit/s"),
            ("latency.rtt.p99<20ms", 19_999_999.0, true, "it is 20 ms"),
            ("latency.rtt.p99 <= 20ms", 20_000_001.0, false, "it is 20 ms"),
            ("latency.lost=0", 0.0, true, "it is 0"),
            ("latency.lost = 0", 3.0, false, "it is 3"),
            ("latency.reordered_share<1%", 0.005, true, "it is 0.5 %"),
            ("latency.reordered_share<0.01", 0.5, false, "it is 50.0 %"),
            ("goodput.fairness.up>0.99", 0.5, false, "it is 0.5"),
        ] {
            let assertion: Assertion = typed.parse().expect(typed);
            let check = assertion.check(Some(number), 1);
            assert_eq!((check.has_held(), check.text), (passed, format!("{typed}: {text}")));
        }
    }

    #[test]
    fn what_is_not_there_does_not_hold() {
        let assertion: Assertion = "latency.rtt.p99<20ms".parse().expect("one");
        let check = assertion.check(None, 1);
        assert!(check.has_failed());
        assert_eq!(check.text, "latency.rtt.p99<20ms: this result has no such figure");
    }

    #[test]
    fn what_is_no_assertion_says_what_one_is() {
        assert!(error("latency.rtt.p99").contains("compares nothing"));
        assert!(error("").contains("compares nothing"));
        assert!(error("speed>3").contains("figures begin with goodput"));
        assert!(error("goodput.up>3Mbit").contains("did you mean goodput.rate.up?"));
        assert!(error("latency.rtt.p99@mean<3ms").contains("@median alone"));
        assert!(error("latency.rtt>3ms").contains("write latency.rtt.mean"));
        assert!(
            error("latency.lost<many")
                .contains("'many' is no value of latency.lost: write a number")
        );
        assert!(error("latency.lost<NaN").contains("write a number"));
        assert!(error("latency.rtt.p99<20").contains("of latency.rtt.p99"));
        assert!(error("latency.reordered_share<x%").contains("as 1% or 0.01"));
        assert!(error("goodput.rate.up>\u{1b}[2J").contains("no value"));
    }
}
