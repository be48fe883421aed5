//! A figure by its id, and its number in a document.

use serde_json::Value;
use thiserror::Error;

use super::found::{entries, numbers, sides, statistic, unit, whole};
use super::near::nearest;
use super::{FigureDefinition, Group, Unit, groups};

/// One number of a document, by its id: `goodput.rate.up`, `latency.rtt.p99`.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureId {
    text: String,
    group: &'static Group,
    figure: &'static FigureDefinition,
    /// Its direction or end, where there is one for each.
    side: Option<&'static str>,
    /// Where it is, without `{way}` and `{end}`.
    place: String,
    /// Which number of a distribution.
    statistic: Option<String>,
}

/// Shares that are negative where things got worse.
const SIGNED_SHARES: [&str; 3] = ["drift.change", "mean_improvement", "median_improvement"];

/// Why a text is no figure's id.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum FigureIdError {
    /// No figure is called so.
    #[error("there is no figure {typed}; {others}")]
    NoSuch {
        /// As it was typed.
        typed: String,
        /// What there is: groups, or figures of the one that was named.
        others: String,
    },
    /// It is not complete, or is completed wrongly.
    #[error("{typed} is no single number: write {example}")]
    NotOne {
        /// As it was typed.
        typed: String,
        /// What is.
        example: String,
    },
    /// There is one of them for each of a list.
    #[error("{typed} is there for each of a list, and cannot be named alone")]
    Many {
        /// As it was typed.
        typed: String,
    },
}

impl FigureId {
    /// The figure that is meant.
    pub fn find(typed: &str) -> Result<Self, FigureIdError> {
        let (group, rest) = group(typed)?;
        let named = group.figures.iter().filter_map(|figure| {
            let rest = rest.strip_prefix(figure.name)?;
            (rest.is_empty() || rest.starts_with('.')).then_some((figure, rest))
        });
        let mut failure = None;
        for (figure, rest) in named {
            match Self::complete(typed, group, figure, rest) {
                Ok(id) => return Ok(id),
                // Of `jitter` and `jitter.max`, the longer name says what was meant.
                Err(error) => failure = Some(error),
            }
        }
        Err(failure.unwrap_or_else(|| no_such_figure(typed, group, rest)))
    }

    fn complete(
        typed: &str,
        group: &'static Group,
        figure: &'static FigureDefinition,
        rest: &str,
    ) -> Result<Self, FigureIdError> {
        let not_one =
            || FigureIdError::NotOne { typed: typed.to_owned(), example: example(group, figure) };
        let rest = rest.strip_prefix('.').unwrap_or(rest);
        let (first, behind) = rest.split_once('.').unwrap_or((rest, ""));
        let meant = |(side, place)| match side {
            None => Some((side, place, rest)),
            Some(name) => (name == first).then_some((side, place, behind)),
        };
        let mut sides = sides(&group.place_of(figure)).into_iter();
        let (side, place, last) = sides.find_map(meant).ok_or_else(not_one)?;
        if place.contains("[]") || place.contains('*') || figure.unit == Unit::Percentiles {
            return Err(FigureIdError::Many { typed: typed.to_owned() });
        }
        let statistic = match figure.unit {
            Unit::Distribution => Some(statistic(last).ok_or_else(not_one)?),
            _ if last.is_empty() => None,
            _ => return Err(not_one()),
        };
        Ok(Self { text: typed.to_owned(), group, figure, side, place, statistic })
    }

    /// As it is written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// As [`Found::id`](super::Found::id) writes it, however it was typed.
    pub fn id(&self) -> String {
        whole(self.group, self.figure, self.side, self.statistic())
    }

    /// What it is one of.
    pub fn group(&self) -> &'static Group {
        self.group
    }

    /// The figure, apart from its way, end and statistic.
    pub fn figure(&self) -> &'static FigureDefinition {
        self.figure
    }

    /// Whether it is of this way: `up` or `down`.
    pub fn is_of(&self, way: &str) -> bool {
        self.side == Some(way)
    }

    /// Which number of a distribution it is: `p99`, `mean`.
    pub fn statistic(&self) -> Option<&str> {
        self.statistic.as_deref()
    }

    /// What it is a number of.
    pub fn unit(&self) -> Unit {
        unit(self.figure, self.statistic())
    }

    /// Whether it is 0 or more whatever is measured, and of a share 1 or less.
    pub fn is_never_negative(&self) -> bool {
        match self.unit() {
            Unit::Number | Unit::Dbm => false,
            Unit::Share => !SIGNED_SHARES.contains(&self.figure.name),
            _ => true,
        }
    }

    /// The number, of a measurement as a document has it. Absent where it was not measured.
    pub fn number(&self, measurement: &Value) -> Option<f64> {
        let (_, value) = entries(measurement, &self.place).pop()?;
        let mut numbers = numbers(self.figure.unit, value).into_iter();
        numbers.find(|(name, _)| *name == self.statistic).map(|(_, number)| number)
    }
}

fn group(typed: &str) -> Result<(&'static Group, &str), FigureIdError> {
    let found = typed
        .split_once('.')
        .and_then(|(name, rest)| Some((groups().find(|group| group.name == name)?, rest)));
    found.ok_or_else(|| {
        if let Some(error) = meant(typed) {
            return error;
        }
        let groups = groups().map(|group| group.name).collect::<Vec<_>>().join(", ");
        let others = format!("figures begin with {groups} (docs/figures.md has all)");
        FigureIdError::NoSuch { typed: typed.to_owned(), others }
    })
}

/// What was likely meant, instead of all that there is.
fn meant(typed: &str) -> Option<FigureIdError> {
    let others = format!("did you mean {}? docs/figures.md has all", nearest(typed)?);
    Some(FigureIdError::NoSuch { typed: typed.to_owned(), others })
}

fn no_such_figure(typed: &str, group: &'static Group, rest: &str) -> FigureIdError {
    if let Some(error) = meant(typed) {
        return error;
    }
    let first = rest.split('.').next().unwrap_or_default();
    let all = group.figures.iter().map(|it| it.name);
    let mut figures: Vec<&str> = all.clone().filter(|name| name.starts_with(first)).collect();
    if figures.is_empty() {
        figures.extend(all);
    }
    let others = format!("{} has {} (docs/figures.md)", group.name, figures.join(", "));
    FigureIdError::NoSuch { typed: typed.to_owned(), others }
}

/// An id of the figure that is complete.
fn example(group: &Group, figure: &FigureDefinition) -> String {
    let side = sides(&group.place_of(figure)).into_iter().find_map(|(side, _)| side);
    let side = side.map_or_else(String::new, |side| format!(".{side}"));
    let statistic = if figure.unit == Unit::Distribution { ".mean, .p99 or .max" } else { "" };
    format!("{}{side}{statistic}", group.id(figure))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn error(typed: &str) -> String {
        FigureId::find(typed).expect_err(typed).to_string()
    }

    #[test]
    fn numbers_are_found_by_their_ids() {
        let measurement = json!({ "summary": {
            "goodput": { "up": { "goodput_bps": 28.5e6 }, "down": null, "failed": 3 },
            "latency": { "rtt": {
                "count": 7, "mean_ns": 60_500_000.0,
                "percentiles": [
                    { "percent": 50.0, "value_ns": 60_400_000 },
                    { "percent": 99.9, "value_ns": null },
                ],
            } },
        } });
        let number = |id: &str| FigureId::find(id).expect(id).number(&measurement);
        assert_eq!(number("goodput.rate.up"), Some(28.5e6));
        assert_eq!(number("goodput.rate.down"), None);
        assert_eq!(number("goodput.failed"), Some(3.0));
        assert_eq!(number("latency.rtt.count"), Some(7.0));
        assert_eq!(number("latency.rtt.mean"), Some(60_500_000.0));
        assert_eq!(number("latency.rtt.p50"), Some(60_400_000.0));
        assert_eq!(number("latency.rtt.p99.9"), None);
        assert_eq!(number("latency.rtt.p75"), None);
        assert_eq!(number("loaded.rtt.mean"), None);
    }

    #[test]
    fn an_id_knows_its_parts() {
        let id = FigureId::find("latency.rtt.p99.9").expect("a figure");
        assert_eq!((id.statistic(), id.unit()), (Some("p99.9"), Unit::Duration));
        let typed = FigureId::find("latency.rtt.p99.90").expect("a figure");
        assert_eq!((typed.text(), typed.id()), ("latency.rtt.p99.90", id.id()));
        let id = FigureId::find("latency.rtt.mean").expect("a figure");
        assert_eq!((id.group().name, id.figure().name), ("latency", "rtt"));
        assert_eq!(id.statistic(), Some("mean"));
        let id = FigureId::find("goodput.rate.down").expect("a figure");
        assert!(id.is_of("down") && !id.is_of("up") && id.statistic().is_none());
        let id = FigureId::find("end.connect.server.count").expect("a figure");
        assert_eq!(id.unit(), Unit::Count);
        assert_eq!(id.id(), "end.connect.server.count");
    }

    #[test]
    fn what_is_no_figure_is_told_with_what_there_is() {
        assert!(error("speed").contains("figures begin with goodput, datagrams"));
        // The nearest one, or all.
        assert!(error("goodput.rat.up").contains("did you mean goodput.rate.up?"));
        assert!(error("goodput.up").contains("did you mean goodput.rate.up?"));
        assert!(error("goodput.bandwidth.up").contains("goodput has rate, window"));
        assert!(error("goodput.rate").contains("write goodput.rate.up"));
        assert!(error("goodput.rate.sideways").contains("write goodput.rate.up"));
        assert!(error("goodput.failed.up").contains("write goodput.failed"));
        assert!(error("latency.rtt").contains("write latency.rtt.mean, .p99 or .max"));
        assert!(error("latency.rtt.p101").contains("write latency.rtt.mean"));
        assert!(error("goodput.address.sent").contains("each of a list"));
        assert!(error("").contains("figures begin with"));
    }

    #[test]
    fn every_figure_that_is_one_number_can_be_named() {
        for group in groups() {
            for figure in group.figures {
                let place = group.place_of(figure);
                let is_many = place.contains("[]") || place.contains('*');
                let text = example(group, figure);
                let first = text.split(", ").next().unwrap_or_default();
                let found = FigureId::find(first);
                assert_eq!(found.is_ok(), !is_many && figure.unit != Unit::Percentiles, "{first}");
            }
        }
    }
}
