//! Repeated runs as a view needs them: a row for each as it ends, and of all of them the median of each figure that the tests are for, how well
//! it is known, and each run over time.

use std::collections::BTreeMap;

use pathscope_core::figure::Unit;
use pathscope_core::presentation::{Chart, Figure, Row, Section, Series, Source, Table, Value};
use pathscope_core::quantity::{count, counted, ratio};
use pathscope_core::stats::{median, quantile_ranks};

use crate::document::Measurement;
use crate::figures::{Found, found, told};
use crate::runs::{Goal, Rounds, Run, Swept};

/// A run that has just ended: which one, and the figures that it is for.
pub fn row(run: &Run, rounds: &Rounds, numbers: &[Found]) -> Row {
    let mut cells = vec![Figure::new("run", Value::Count(u64::from(run.round)))];
    let points = run.point.iter();
    cells.extend(
        points.map(|Swept { option, value }| Figure::new(option, Value::Text(value.clone()))),
    );
    cells.extend(run.side.map(|side| Figure::new("side", Value::Text(side.name().to_owned()))));
    cells.extend(numbers.iter().map(|it| Figure::new(label(it), Value::of(it.unit(), it.number))));
    let times = if rounds.least == rounds.most {
        counted(u64::from(rounds.most), "run")
    } else {
        format!("{} to {} runs", rounds.least, rounds.most)
    };
    Row { section: format!("{}, {times}", run.of), cells }
}

/// What a figure is called in a column.
fn label(found: &Found) -> String {
    let words = [Some(found.figure.label), found.statistic.as_deref(), found.side];
    words.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// The numbers of a figure in all runs of one test at one point on one side, each with its run's begin in time since that of the document.
struct Line {
    title: String,
    label: String,
    id: String,
    unit: Unit,
    numbers: Vec<(u64, f64)>,
}

/// All runs side by side.
pub fn section(rounds: &Rounds, measurements: &[Measurement]) -> Section {
    let lines = lines(measurements);
    let rows = lines.iter().map(|line| {
        let mut numbers: Vec<f64> = line.numbers.iter().map(|(_, number)| *number).collect();
        numbers.sort_by(f64::total_cmp);
        let of = |number: Option<f64>| number.map_or(Value::Absent, |it| Value::of(line.unit, it));
        let interval = quantile_ranks(numbers.len() as u64, 0.5);
        let interval = interval.map_or(Value::Absent, |(low, high)| {
            let at = |rank: u64| told(line.unit, numbers[rank as usize - 1]);
            Value::Text(format!("{} to {}", at(low), at(high)))
        });
        vec![
            Value::Text(line.title.clone()),
            Value::Text(line.label.clone()),
            Value::Count(numbers.len() as u64),
            of(median(&numbers)),
            interval,
            of(numbers.first().copied()),
            of(numbers.last().copied()),
        ]
    });
    let columns = ["", "", "runs", "median", "95 % interval", "least", "most"];
    // What never happened in any run is no line to look at.
    let moved = lines.iter().filter(|line| line.numbers.iter().any(|(_, it)| it.abs() > 0.0));
    let series = moved.map(|line| Series {
        source: Source {
            id: line.id.clone(),
            label: format!("{} of {}", line.label, line.title),
            unit: line.unit,
            chart: Chart::Line,
            ..Source::default()
        },
        points: line.numbers.iter().map(|(at, number)| (*at, Some(*number))).collect(),
    });
    let done = Figure::new("rounds", Value::Count(u64::from(rounds.done)));
    let asked = if rounds.least == rounds.most {
        format!("of {}", count(u64::from(rounds.most)))
    } else {
        format!("of {} to {}", rounds.least, rounds.most)
    };
    let against = rounds.interleaved_with.as_ref().map(|words| {
        Figure::new("sides", Value::Text(format!("A as typed; B with {words}")))
            .with_note("what differs is told below, and by pathscope compare RESULT")
    });
    Section {
        title: "all runs".to_owned(),
        figures: [done.with_note(asked)].into_iter().chain(goal(rounds)).chain(against).collect(),
        tables: vec![Table::new("", columns, rows)],
        series: series.collect(),
        ..Section::default()
    }
}

/// Whether what was to be known is known.
fn goal(rounds: &Rounds) -> Option<Figure> {
    let Goal { asked, reached, widest, widest_share } = rounds.until.as_ref()?;
    let known = match (widest_share, widest) {
        (Some(share), _) => format!("the median is known to within ±{}", ratio(*share)),
        (None, Some(_)) => "the median is 0".to_owned(),
        (None, None) => {
            "the runs were too few for an interval, or do not have that figure".to_owned()
        }
    };
    let word = if *reached { "reached" } else { "not reached" };
    Some(Figure::new("until", Value::Text(asked.clone())).with_note(format!("{word}: {known}")))
}

/// Each figure that the tests are for, in the order of its first run.
fn lines(measurements: &[Measurement]) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let mut places: BTreeMap<(String, String), usize> = BTreeMap::new();
    for measurement in measurements {
        let Some(run) = &measurement.run else { continue };
        let json = serde_json::to_value(measurement).unwrap_or_default();
        let primary = found(&json).into_iter().filter(|it| it.is_primary() && it.entry.is_none());
        for it in primary {
            let (title, id) = (run.title(), it.id());
            let place = *places.entry((title.clone(), id.clone())).or_insert_with(|| {
                let (label, unit) = (label(&it), it.unit());
                lines.push(Line { title, label, id, unit, numbers: Vec::new() });
                lines.len() - 1
            });
            lines[place].numbers.push((measurement.start_ns, it.number));
        }
    }
    lines
}
