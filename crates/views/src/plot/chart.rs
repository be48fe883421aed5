//! What the main chart of a result is: of what was measured for a rate its course, with the latency beside it; of what was
//! measured for a latency how many took how long; of runs that were repeated what each came to.

use std::ops::Range;

use pathscope_core::error::Failure;
use pathscope_core::figure::Unit;
use pathscope_core::presentation::{
    Chart as Form, Figure, HeatMap, Presentation, Section, Series, Shape, Value,
};
use pathscope_core::quantity::count;
use pathscope_core::stats::half_octave_edge_ns;

use super::estimates::{Spans, spans};
use super::page::{MOST_LINES, MOST_PANELS};
use crate::course::{Axis, Stop, axis, course, seconds, times};
use crate::findings::{ending, or_name};
use crate::joined::{Joined, charted, joined};
use crate::value::{axis_unit, shown_alone};
use crate::words::clean;

/// Units that share a picture: that of the rate, that of the latency, and one more.
const MOST_UNITS: usize = 3;
/// Ranges of a histogram, each as many times longer than the last.
const RANGES: usize = 60;
/// Failed checks that are told.
const MOST_CHECKS: usize = 3;
/// The least that a range's end is longer than its begin: buckets are a thousandth wide.
const LEAST_RATIO: f64 = 1.01;
/// Percentiles that are marked.
const MARKED: [f64; 5] = [50.0, 99.0, 99.9, 99.99, 99.999];

/// A chart: panels over one axis.
pub struct Chart {
    pub title: String,
    /// What was done and what failed.
    pub remarks: Vec<Remark>,
    pub panels: Panels,
    /// When and where.
    pub foot: String,
}

/// A sentence below the title.
pub struct Remark {
    pub text: String,
    pub is_bad: bool,
}

/// What is drawn over which axis.
pub enum Panels {
    /// Figures over time in seconds, those of each unit in a panel of their own; when each measurement began, where there are
    /// several.
    Time { axis: Axis, panels: Vec<Lines>, phases: Vec<(f64, String)> },
    /// How many took how long.
    Durations(Vec<Counts>),
    /// How many took how long, and when.
    Fields(Vec<Fields>),
    /// Numbers with their intervals, each chart over its own places.
    Estimates(Vec<Spans>),
}

/// Figures of one unit over time.
pub struct Lines {
    pub unit: String,
    /// How many of the base unit one of it is.
    pub multiple: f64,
    pub lines: Vec<Line>,
}

/// One figure over time.
pub struct Line {
    pub label: String,
    /// What it came to in all, where there is one measurement.
    pub value: Option<String>,
    pub is_area: bool,
    /// What it goes through, in the base unit.
    pub stops: Vec<Stop>,
}

/// How many durations were in which range.
pub struct Counts {
    pub title: String,
    pub ranges: Vec<(Range<f64>, u64)>,
    /// Percentiles and the longest, by name.
    pub marks: Vec<(String, u64)>,
}

/// How many durations were in which range in each stretch of time.
pub struct Fields {
    pub title: String,
    /// The most that one holds.
    pub most: u64,
    /// Each with its seconds, its nanoseconds and its count.
    pub fields: Vec<(Range<f64>, Range<f64>, u64)>,
}

/// The main chart; none where there is nothing that one shows.
pub fn main(presentation: &Presentation, failure: Option<(Failure, &str)>) -> Option<Chart> {
    let sections = charted(presentation);
    let mains: Option<Vec<(&Section, &Shape)>> =
        sections.iter().map(|section| Some((*section, main_shape(section)?))).collect();
    let shapes = || mains.iter().flatten().copied();
    let over_time = several_maps(&sections).or_else(|| over_time(&sections));
    let panels = match (estimates(presentation, &sections), over_time) {
        (Some(panels), _) => panels,
        (None, Some(panels)) if mains.is_none() => panels,
        (None, over_time) => {
            let all = sections
                .iter()
                .flat_map(|section| section.distributions.iter().map(|shape| (*section, shape)));
            counts(shapes()).or(over_time).or_else(|| counts(all)).or_else(|| fields(&sections))?
        }
    };
    let mut remarks = Vec::new();
    if let [section] = sections[..] {
        let words = [&section.title, &section.subtitle].map(|words| words.trim()).into_iter();
        let text =
            words.filter(|words| !words.is_empty()).map(clean).collect::<Vec<_>>().join(": ");
        remarks.extend((!text.is_empty()).then_some(Remark { text, is_bad: false }));
    }
    let bad = |text: String| Remark { text: format!("✗ {}", clean(&text)), is_bad: true };
    let checks = presentation.sections.iter().flat_map(|section| &section.checks);
    match failure {
        Some((kind, sentence)) => remarks.push(bad(format!("{}: {sentence}", ending(kind, true)))),
        None => remarks.extend(
            checks
                .filter(|it| it.has_failed())
                .take(MOST_CHECKS)
                .map(|it| bad(or_name(&it.text, &it.name))),
        ),
    }
    let context =
        presentation.context.iter().filter(|it| ["started", "lab"].contains(&it.label.as_str()));
    let context = context.map(|it| clean(&shown_alone(&it.value)));
    let foot = ["pathscope".to_owned()].into_iter().chain(context).collect::<Vec<_>>().join(" · ");
    Some(Chart { title: clean(&presentation.title), remarks, panels, foot })
}

/// Where what stands above all measurements has numbers with their intervals, they are what the result is about; those of other such sections
/// follow.
fn estimates(presentation: &Presentation, sections: &[&Section]) -> Option<Panels> {
    sections.first().filter(|first| !first.estimates.is_empty())?;
    let above = presentation.sections.iter().filter(|section| section.place.is_empty());
    let all = spans(&above.collect::<Vec<_>>());
    (!all.is_empty()).then_some(Panels::Estimates(all))
}

/// The distribution that a section is about: that of its first figure.
fn main_shape(section: &Section) -> Option<&Shape> {
    let first = section.figures.iter().find(|figure| !figure.id.is_empty())?;
    section
        .distributions
        .iter()
        .filter(|shape| shape.distribution.count > 0)
        .find(|shape| is_of(first, shape))
}

/// Whether a figure is of a distribution: `latency.rtt.p50` of `latency.rtt`.
fn is_of(figure: &Figure, shape: &Shape) -> bool {
    figure
        .id
        .strip_prefix(&shape.source.id)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Figures over time of all sections, those of one name in one line.
fn over_time(sections: &[&Section]) -> Option<Panels> {
    let Joined { series, phases } = joined(sections);
    let axis = axis(times(&series));
    let mut panels: Vec<(Unit, Vec<Line>)> = Vec::new();
    for one in &series {
        let unit = one.source.unit;
        let place = panels.iter().position(|(other, _)| *other == unit).unwrap_or_else(|| {
            panels.push((unit, Vec::new()));
            panels.len() - 1
        });
        let lines = &mut panels[place].1;
        if lines.len() < MOST_LINES {
            let alone = sections.first().filter(|_| sections.len() == 1);
            lines.push(Line {
                label: clean(&one.source.label),
                value: alone.and_then(|section| figure(section, one)),
                is_area: one.source.chart == Form::Area,
                stops: course(&one.points),
            });
        }
    }
    let panel = |(unit, lines): (Unit, Vec<Line>)| {
        let all = lines.iter().flat_map(|line| line.stops.iter().filter_map(|stop| stop.value));
        let (unit, multiple) = axis_unit(unit, all);
        Lines { unit: unit.to_owned(), multiple, lines }
    };
    // What flows comes first, and what it does to others below.
    panels.sort_by_key(|(_, lines)| !lines.iter().any(|line| line.is_area));
    let panels: Vec<Lines> = panels.into_iter().take(MOST_UNITS).map(panel).collect();
    let phases = if phases.len() > 1 { phases } else { Vec::new() };
    let phases = phases.into_iter().map(|(at_ns, name)| (seconds(at_ns), clean(&name))).collect();
    (!panels.is_empty()).then_some(Panels::Time { axis, panels, phases })
}

/// What a series came to in all: the figure of its name.
fn figure(section: &Section, series: &Series) -> Option<String> {
    let mut figures = section.figures.iter();
    let found = figures.find(|it| !it.id.is_empty() && it.id == series.source.id)?;
    (found.value != Value::Absent).then(|| clean(&shown_alone(&found.value)))
}

/// Histograms, all over the same ranges.
fn counts<'shape>(
    shapes: impl Iterator<Item = (&'shape Section, &'shape Shape)>,
) -> Option<Panels> {
    let shapes: Vec<_> =
        shapes.filter(|(_, shape)| shape.distribution.count > 0).take(MOST_PANELS).collect();
    let filled = |shape: &Shape| -> Vec<(u64, u64)> {
        let most = shape.distribution.max_ns.unwrap_or(u64::MAX);
        let buckets = shape.distribution.buckets.iter().filter(|bucket| bucket.count > 0);
        buckets.map(|bucket| (bucket.upper_ns.min(most).max(1), bucket.count)).collect()
    };
    let ends = shapes.iter().flat_map(|(_, shape)| {
        let buckets = filled(shape).into_iter().map(|(upper_ns, _)| upper_ns);
        shape.distribution.min_ns.map(|it| it.max(1)).into_iter().chain(buckets)
    });
    let ends: Vec<u64> = ends.collect();
    let (least, most) = (*ends.iter().min()? as f64, *ends.iter().max()? as f64);
    // One duration alone is in the middle of a range.
    let (least, most) =
        if most / least < LEAST_RATIO { (least * 0.98, most * 1.02) } else { (least, most) };
    let number = ((most / least).ln() / LEAST_RATIO.ln()).clamp(1.0, RANGES as f64) as usize;
    let edge = |at: usize| least * (most / least).powf(at as f64 / number as f64);
    let panel = |(section, shape): &(&Section, &Shape)| {
        let mut ranges: Vec<(Range<f64>, u64)> =
            (0..number).map(|at| (edge(at)..edge(at + 1), 0)).collect();
        for (upper_ns, more) in filled(shape) {
            let place =
                ranges.partition_point(|(range, _)| range.end < upper_ns as f64 * (1.0 - 1e-9));
            let place = place.min(number - 1);
            ranges[place].1 = ranges[place].1.saturating_add(more);
        }
        let of =
            if shapes.len() > 1 { format!("{}: ", clean(&section.title)) } else { String::new() };
        let samples = count(shape.distribution.count);
        let title =
            format!("{of}{}: how many of {samples} took how long", clean(&shape.source.label));
        Counts { title, ranges, marks: marks(section, shape) }
    };
    Some(Panels::Durations(shapes.iter().map(panel).collect()))
}

/// Heat maps where there are several beside each other and nothing flows: of several paths they tell more than lines do.
fn several_maps(sections: &[&Section]) -> Option<Panels> {
    let flows = |series: &Series| series.source.chart == Form::Area;
    let is_of_paths = |it: &&Section| it.heat_maps.len() > 1 && !it.series.iter().any(flows);
    sections.iter().all(is_of_paths).then(|| fields(sections)).flatten()
}

/// Heat maps.
fn fields(sections: &[&Section]) -> Option<Panels> {
    let maps = sections.iter().flat_map(|section| &section.heat_maps);
    let panel = |map: &HeatMap| {
        let fields = map.columns.iter().flat_map(|column| {
            let [start, end] = [column.start_ns, column.end_ns].map(seconds);
            column.counts.filled().map(move |(range, count)| {
                let [least, most] = [range, range + 1].map(|edge| half_octave_edge_ns(edge) as f64);
                (start..end, least..most, count)
            })
        });
        let fields: Vec<_> = fields.collect();
        let most = fields.iter().map(|(_, _, count)| *count).max()?;
        let title = format!(
            "{}: how many took how long, the darker the more; at most {}",
            clean(&map.source.label),
            count(most)
        );
        Some(Fields { title, most, fields })
    };
    let panels: Vec<Fields> = maps.filter_map(panel).take(MOST_PANELS).collect();
    (!panels.is_empty()).then_some(Panels::Fields(panels))
}

/// The figures of a distribution that are marked in it.
fn marks(section: &Section, shape: &Shape) -> Vec<(String, u64)> {
    let own = section.figures.iter().filter(|figure| is_of(figure, shape));
    let percentiles = own.filter_map(|figure| match &figure.value {
        Value::Percentile(it) if MARKED.contains(&it.percent) => {
            Some((format!("p{}", it.percent), it.value_ns?))
        }
        _ => None,
    });
    let longest = shape.distribution.max_ns.map(|max_ns| ("maximum".to_owned(), max_ns));
    percentiles.chain(longest).collect()
}
