//! What repeated runs came to, figure by figure: the numbers of each test at each point on each side, with their medians and intervals; and over
//! the values of a setting that is swept.

use std::collections::BTreeMap;
use std::ops::Range;

use pathscope_core::figure::Unit;
use pathscope_core::presentation::{Estimate, EstimateLine, Estimates, Table};
use pathscope_core::quantity::{BitRate, Bytes, Period};
use pathscope_core::stats::{median, quantile_ranks};

use crate::document::Measurement;
use crate::figures::found;
use crate::pivot::{Cell, pivot};
use crate::runs::{Rounds, Run, Sweep, Swept};

/// The numbers of a figure in all runs of one test at one point on one side, each with its run's time since the begin of the document.
pub(super) struct Line {
    /// Any of its runs, for its test, its point and its side.
    pub(super) run: Run,
    pub(super) label: String,
    pub(super) id: String,
    pub(super) unit: Unit,
    pub(super) numbers: Vec<(Range<u64>, f64)>,
}

impl Line {
    /// Its numbers, the least first.
    pub(super) fn sorted(&self) -> Vec<f64> {
        let mut numbers: Vec<f64> = self.numbers.iter().map(|(_, number)| *number).collect();
        numbers.sort_by(f64::total_cmp);
        numbers
    }

    /// Where the true median lies with a probability of 0.95 at least; `None` where the runs are too few.
    pub(super) fn interval(&self) -> Option<(f64, f64)> {
        let numbers = self.sorted();
        let (low, high) = quantile_ranks(numbers.len() as u64, 0.5)?;
        let at = |rank: u64| numbers.get(rank as usize - 1).copied();
        at(low).zip(at(high))
    }

    fn value_of(&self, option: &str) -> Option<&str> {
        let swept = self.run.point.iter().find(|swept| swept.option == option)?;
        Some(&swept.value)
    }

    /// Its test, its side and the rest of its point, apart from these options.
    fn apart_from(&self, options: &[&str]) -> String {
        let is_other = |swept: &&Swept| !options.contains(&swept.option.as_str());
        let point = self.run.point.iter().filter(is_other).cloned().collect();
        Run { point, ..self.run.clone() }.title()
    }
}

/// Each figure that the tests are for, in the order of its first run.
pub(super) fn lines(measurements: &[Measurement]) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let mut places: BTreeMap<(String, String), usize> = BTreeMap::new();
    for measurement in measurements {
        let Some(run) = &measurement.run else { continue };
        let json = serde_json::to_value(measurement).unwrap_or_default();
        let primary = found(&json).into_iter().filter(|it| it.is_primary() && it.entry.is_none());
        for it in primary {
            let id = it.id();
            let place = *places.entry((run.title(), id.clone())).or_insert_with(|| {
                let (run, label, unit) = (run.clone(), it.label(), it.unit());
                lines.push(Line { run, label, id, unit, numbers: Vec::new() });
                lines.len() - 1
            });
            lines[place].numbers.push((time_of(measurement), it.number));
        }
    }
    lines
}

/// From its begin until the end of its last interval.
fn time_of(measurement: &Measurement) -> Range<u64> {
    let ends = measurement.intervals.iter().filter_map(|interval| Some(interval.either()?.end_ns));
    let start_ns = measurement.start_ns;
    start_ns..start_ns.saturating_add(ends.max().unwrap_or(0))
}

/// A chart for each figure over the values of a setting that is swept: of several that of the most values, the others side by side.
pub(super) fn over_values(rounds: &Rounds, lines: &[Line]) -> Vec<Estimates> {
    let longest = rounds.sweep.iter().rev().max_by_key(|sweep| sweep.values.len());
    let Some(sweep) = longest.filter(|sweep| sweep.values.len() > 1) else { return Vec::new() };
    let numbers = numbers(&sweep.values);
    let mut charts: Vec<(&str, Estimates)> = Vec::new();
    for line in lines {
        let place = charts.iter().position(|(id, _)| *id == line.id).unwrap_or_else(|| {
            charts.push((&line.id, chart(line, sweep)));
            charts.len() - 1
        });
        let name = line.apart_from(&[&sweep.option]);
        let own = &mut charts[place].1.lines;
        let place = own.iter().position(|it| it.label == name).unwrap_or_else(|| {
            own.push(EstimateLine { label: name, is_joined: true, points: Vec::new() });
            own.len() - 1
        });
        own[place].points.extend(estimate(line, sweep, numbers.as_deref()));
    }
    let order = |value: &str| sweep.values.iter().position(|other| other == value);
    for line in charts.iter_mut().flat_map(|(_, chart)| &mut chart.lines) {
        line.points.sort_by(|one, other| {
            let by_number = one.at.partial_cmp(&other.at).unwrap_or(std::cmp::Ordering::Equal);
            by_number.then(order(&one.place).cmp(&order(&other.place)))
        });
    }
    // What never happened in any run is nothing to look at.
    let is_any = |chart: &Estimates| {
        chart.lines.iter().flat_map(|line| &line.points).any(|it| it.value.abs() > 0.0)
    };
    charts.into_iter().map(|(_, chart)| chart).filter(is_any).collect()
}

fn chart(line: &Line, sweep: &Sweep) -> Estimates {
    Estimates {
        title: format!("{}: median of the runs over {}", line.label, sweep.option),
        axis: sweep.option.clone(),
        unit: line.unit,
        lines: Vec::new(),
    }
}

fn estimate(line: &Line, sweep: &Sweep, numbers: Option<&[f64]>) -> Option<Estimate> {
    let place = line.value_of(&sweep.option)?.to_owned();
    let at = sweep.values.iter().position(|value| *value == place);
    let at = at.zip(numbers).and_then(|(at, numbers)| numbers.get(at).copied());
    Some(Estimate { place, at, value: median(&line.sorted())?, interval: line.interval() })
}

/// How much each of these values is, where all are numbers, sizes, times or rates.
fn numbers(values: &[String]) -> Option<Vec<f64>> {
    let readers: [fn(&str) -> Option<f64>; 4] = [
        |text| text.parse().ok().filter(|number: &f64| number.is_finite()),
        |text| text.parse::<Bytes>().ok().map(|size| size.0 as f64),
        |text| text.parse::<Period>().ok().map(|time| time.0 as f64),
        |text| text.parse::<BitRate>().ok().map(|rate| rate.0 as f64),
    ];
    readers.iter().find_map(|read| values.iter().map(|value| read(value)).collect())
}

/// Of two settings that are swept a table for each figure: its median at each value of the one, in rows, and of the other, in columns.
pub(super) fn pivots(rounds: &Rounds, lines: &[Line]) -> Vec<Table> {
    let [rows, columns, ..] = &rounds.sweep[..] else { return Vec::new() };
    let options = [rows.option.as_str(), columns.option.as_str()];
    let cell = |line: &Line| {
        let [row, column] = options.map(|option| line.value_of(option).map(str::to_owned));
        let number = median(&line.sorted())?;
        let (of, unit) = (format!("{}, {}", line.label, line.apart_from(&options)), line.unit);
        Some(Cell { of, row: row?, column: column?, unit, number })
    };
    pivot(options, &lines.iter().filter_map(cell).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_numbers_where_all_are_of_one_kind() {
        let of = |values: &[&str]| {
            numbers(&values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(of(&["1", "2.5"]), Some(vec![1.0, 2.5]));
        assert_eq!(of(&["64", "1KiB"]), Some(vec![64.0, 1024.0]));
        assert_eq!(of(&["10ms", "1s"]), Some(vec![1e7, 1e9]));
        assert_eq!(of(&["cubic", "bbr"]), None);
        assert_eq!(of(&["1", "off"]), None);
    }
}
