//! Repeated runs as a view needs them: a row for each as it ends, and of all of them the median of each figure that the tests are for, how well
//! it is known, and each run over time.

use pathscope_core::presentation::{
    Chart, Figure, Row, Section, Series, SeriesPoint, Source, Table, Value,
};
use pathscope_core::quantity::{count, counted, ratio};
use pathscope_core::stats::median;

use super::lines::{lines, over_values, pivots};
use super::together;
use crate::document::Measurement;
use crate::end::Hosts;
use crate::figures::{Found, told};
use crate::runs::{Goal, Rounds, Run, Swept};

/// A run that has just ended: which one, and the figures that it is for.
pub fn row(run: &Run, rounds: &Rounds, numbers: &[Found]) -> Row {
    let mut cells = vec![Figure::new("run", Value::Count(u64::from(run.round)))];
    let points = run.point.iter();
    cells.extend(
        points.map(|Swept { option, value }| Figure::new(option, Value::Text(value.clone()))),
    );
    cells.extend(run.side.map(|side| Figure::new("side", Value::Text(side.name().to_owned()))));
    cells.extend(numbers.iter().map(|it| Figure::new(it.label(), Value::of(it.unit(), it.number))));
    let times = if rounds.least == rounds.most {
        counted(u64::from(rounds.most), "run")
    } else {
        format!("{} to {} runs", rounds.least, rounds.most)
    };
    Row { section: format!("{}, {times}", run.of), cells }
}

/// All runs side by side.
pub fn section(rounds: &Rounds, measurements: &[Measurement], hosts: &Hosts) -> Section {
    let lines = lines(measurements);
    let rows = lines.iter().map(|line| {
        let numbers = line.sorted();
        let of = |number: Option<f64>| number.map_or(Value::Absent, |it| Value::of(line.unit, it));
        let interval = line.interval().map_or(Value::Absent, |(low, high)| {
            Value::Text(format!("{} to {}", told(line.unit, low), told(line.unit, high)))
        });
        vec![
            Value::Text(line.run.title()),
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
            label: format!("{} of {}", line.label, line.run.title()),
            unit: line.unit,
            chart: Chart::Line,
            ..Source::default()
        },
        points: line
            .numbers
            .iter()
            .map(|(time, number)| SeriesPoint::over(time.start, time.end, Some(*number)))
            .collect(),
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
    let mut section = Section {
        title: "all runs".to_owned(),
        figures: [done.with_note(asked)].into_iter().chain(goal(rounds)).chain(against).collect(),
        tables: [Table::new("", columns, rows)].into_iter().chain(pivots(rounds, &lines)).collect(),
        series: series.collect(),
        estimates: over_values(rounds, &lines),
        ..Section::default()
    };
    together::add_to(&mut section, measurements, hosts);
    section
}

/// Whether what was to be known is known.
fn goal(rounds: &Rounds) -> Option<Figure> {
    let Goal { asked, reached, widest, widest_share, is_absent } = rounds.until.as_ref()?;
    let known = match (widest_share, widest) {
        _ if *is_absent => {
            "no test of the first round has that figure, so it ended there".to_owned()
        }
        (Some(share), _) => format!("the median is known to within ±{}", ratio(*share)),
        (None, Some(_)) => "the median is 0".to_owned(),
        (None, None) => {
            "the runs were too few for an interval, or do not have that figure".to_owned()
        }
    };
    let word = if *reached { "reached" } else { "not reached" };
    Some(Figure::new("until", Value::Text(asked.clone())).with_note(format!("{word}: {known}")))
}
