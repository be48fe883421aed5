//! A value as people read it: a number and its unit, or words.

use pathscope_core::figure::Unit;
use pathscope_core::presentation::Value;
use pathscope_core::quantity::{self, Dimension, Scale};

/// What is shown for what was not measured. Also for a number that is none: in a document it is null.
pub const ABSENT: &str = "–";

/// A value as people read it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Shown {
    /// A number, and its unit where it has one.
    Number {
        /// Its digits.
        number: String,
        /// Its unit; empty for a count.
        unit: String,
    },
    /// Anything else.
    Words(String),
}

impl Shown {
    /// The value in one piece.
    pub fn text(&self) -> String {
        match self {
            Self::Number { number, unit } if unit.is_empty() => number.clone(),
            Self::Number { number, unit } => format!("{number} {unit}"),
            Self::Words(words) => words.clone(),
        }
    }
}

/// The value in the unit that suits it alone.
pub fn alone(value: &Value) -> Shown {
    match value {
        Value::Count(count) => {
            Shown::Number { number: quantity::count(*count), unit: String::new() }
        }
        Value::Percentile(percentile) => match percentile.value_ns {
            Some(nanoseconds) => number(&quantity::duration_ns(nanoseconds)),
            None => Shown::Words(format!("needs {}", quantity::count(percentile.samples_needed))),
        },
        Value::Text(text) | Value::Worded(_, text) => Shown::Words(text.clone()),
        Value::Bytes(bytes) => number(&quantity::bytes(*bytes)),
        Value::Duration(nanoseconds) => number(&quantity::duration_ns(*nanoseconds)),
        Value::BitRate(rate) if rate.is_finite() => number(&quantity::bit_rate(*rate)),
        Value::Frequency(rate) if rate.is_finite() => number(&quantity::frequency(*rate)),
        Value::Ratio(ratio) if ratio.is_finite() => number(&quantity::ratio(*ratio)),
        Value::BitRate(_) | Value::Frequency(_) | Value::Ratio(_) | Value::Absent => {
            Shown::Words(ABSENT.to_owned())
        }
    }
}

/// The value in a unit it shares with others, where it has one of that kind.
pub fn beside(value: &Value, scale: Option<&Scale>) -> Shown {
    match (magnitude(value), scale) {
        (Some((dimension, size)), Some(scale)) if dimension == scale.dimension() => {
            Shown::Number { number: scale.number(size), unit: scale.unit().to_owned() }
        }
        _ => alone(value),
    }
}

/// Numbers with spaces behind them, so that their points stand below each other where they are aligned at the right.
pub fn align_points<'number>(numbers: impl Iterator<Item = &'number mut String>) {
    let numbers: Vec<_> = numbers.collect();
    let widest = numbers.iter().map(|number| fraction_width(number)).max().unwrap_or(0);
    for number in numbers {
        let missing = widest - fraction_width(number);
        number.push_str(&" ".repeat(missing));
    }
}

/// Columns from the point on.
fn fraction_width(number: &str) -> usize {
    number.find('.').map_or(0, |point| number.len() - point)
}

/// The unit that all these values can share. Counts share none: a bare number beside figures in Gbit/s
/// would be read as one.
pub fn common_scale<'value>(values: impl IntoIterator<Item = &'value Value>) -> Option<Scale> {
    let mut dimension = None;
    let mut sizes = Vec::new();
    for value in values {
        if matches!(value, Value::Count(_)) {
            return None;
        }
        let Some((kind, size)) = magnitude(value) else { continue };
        if *dimension.get_or_insert(kind) != kind {
            return None;
        }
        sizes.push(size);
        if let Value::Percentile(percentile) = value {
            // Its interval is told in the same unit.
            sizes.extend(
                [percentile.low_ns, percentile.high_ns].into_iter().flatten().map(|end| end as f64),
            );
        }
    }
    Scale::of(dimension?, sizes)
}

/// What kind of quantity a value is and its size in the base unit; `None` for what has no unit, is not
/// there, or is not finite.
pub fn magnitude(value: &Value) -> Option<(Dimension, f64)> {
    let (dimension, size) = match value {
        Value::Bytes(bytes) => (Dimension::Bytes, *bytes as f64),
        Value::BitRate(rate) => (Dimension::BitRate, *rate),
        Value::Duration(nanoseconds) => (Dimension::Duration, *nanoseconds as f64),
        Value::Frequency(rate) => (Dimension::Frequency, *rate),
        Value::Ratio(ratio) => (Dimension::Ratio, *ratio),
        Value::Percentile(percentile) => (Dimension::Duration, percentile.value_ns? as f64),
        Value::Count(_) | Value::Worded(..) | Value::Text(_) | Value::Absent => return None,
    };
    size.is_finite().then_some((dimension, size))
}

/// The unit in which the largest of these is best read, by its name and how many of the base unit one of it is: an axis begins at
/// zero, or has its small numbers at their place.
pub fn axis_unit(unit: Unit, values: impl Iterator<Item = f64>) -> (&'static str, f64) {
    let most = Value::of(unit, values.map(f64::abs).fold(0.0, f64::max));
    match (unit, common_scale([&most])) {
        (_, Some(scale)) => (scale.unit(), scale.multiple()),
        (Unit::Dbm, None) => ("dBm", 1.0),
        (Unit::Megahertz, None) => ("MHz", 1.0),
        (_, None) => ("", 1.0),
    }
}

/// A formatted quantity, cut where its unit begins.
fn number(formatted: &str) -> Shown {
    let (number, unit) = formatted.split_once(' ').unwrap_or((formatted, ""));
    Shown::Number { number: number.to_owned(), unit: unit.to_owned() }
}

/// A value in the unit that suits it alone.
pub fn shown_alone(value: &Value) -> String {
    alone(value).text()
}

/// A value beside others: in a unit that they share, which stands elsewhere.
pub fn shown_beside(value: &Value, scale: Option<&Scale>) -> String {
    match beside(value, scale) {
        Shown::Number { number, .. } if scale.is_some() => number,
        shown => shown.text(),
    }
}

/// The unit of each column: one for all neighbours of a kind where one suits them, since p50 and p99 are
/// compared, too.
pub fn scales(columns: &[Vec<Option<&Value>>]) -> Vec<Option<Scale>> {
    let own = |values: &Vec<Option<&Value>>| common_scale(values.iter().copied().flatten());
    let scaled: Vec<_> = columns.iter().map(|values| (values, own(values))).collect();
    let kind = |scale: &Option<Scale>| scale.map(|scale| scale.dimension());
    let neighbours = scaled.chunk_by(|left, right| kind(&left.1) == kind(&right.1));
    let shared = neighbours.flat_map(|run| {
        let values = run.iter().flat_map(|(values, _)| values.iter());
        let common = common_scale(values.copied().flatten());
        run.iter().map(move |&(_, own)| own.and(common).or(own))
    });
    shared.collect()
}

#[cfg(test)]
mod tests {
    use pathscope_core::stats::Percentile;

    use super::*;

    #[test]
    fn what_is_no_number_is_absent() {
        for value in [
            Value::Absent,
            Value::Ratio(f64::NAN),
            Value::BitRate(f64::INFINITY),
            Value::Frequency(f64::NEG_INFINITY),
        ] {
            assert_eq!(beside(&value, common_scale([&value]).as_ref()).text(), ABSENT, "{value:?}");
        }
    }

    #[test]
    fn a_percentile_without_samples_says_what_it_needs() {
        let percentile = Percentile {
            percent: 99.9,
            value_ns: None,
            low_ns: None,
            high_ns: None,
            samples_needed: 10_000,
        };
        assert_eq!(alone(&Value::Percentile(percentile)).text(), "needs 10,000");
    }

    #[test]
    fn values_of_different_kinds_share_no_unit() {
        assert_eq!(common_scale([&Value::BitRate(1e9), &Value::Duration(5)]), None);
        assert_eq!(common_scale([&Value::BitRate(1e9), &Value::Count(5)]), None);
        assert!(common_scale([&Value::BitRate(1e9), &Value::Absent]).is_some());
    }
}
