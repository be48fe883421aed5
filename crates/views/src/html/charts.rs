//! The charts of a section as data for the page's script: what is drawn, in which unit. Numbers are in base units.

use pathscope_core::figure::Unit;
use pathscope_core::presentation::{
    Background, Chart, HeatColumn, HeatMap, Presentation, Section, Series, Shape,
};
use pathscope_core::stats::half_octave_edge_ns;
use serde::Serialize;

use super::bars::BarsData;
use super::estimates::{EstimatesData, data};
use super::extents::{BoxData, TimelineData};
use super::scatter::ScatterData;
use super::unit::UnitData;
use crate::course::{Axis, axis, axis_of, course, seconds, times};
use crate::joined::{Joined, charted, joined, share_a_time};
use crate::words::clean;

/// Units in the chart of all measurements, as in the picture of them: that of the rate, that of the latency, and one more.
const MOST_UNITS: usize = 3;
/// Of fewer samples there is no distribution to be looked at.
const LEAST_SAMPLES: u64 = 2;

/// A chart of a section.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ChartData {
    /// Figures over one axis of time, those of each unit in a panel of their own; of several measurements when each began, and its name.
    Time { title: String, range: Axis, phases: Vec<(f64, String)>, panels: Vec<Panel> },
    /// Distributions of durations.
    Distribution { title: String, unit: UnitData, shapes: Vec<ShapeData> },
    /// Numbers with their intervals at places beside one another.
    Estimates { title: String, estimates: EstimatesData },
    /// Distributions of durations over time, all on the same axes.
    Heat { title: String, range: Axis, unit: UnitData, edges: Vec<u64>, maps: Vec<HeatData> },
    /// What became of several things over time.
    Stretches(TimelineData),
    /// Distributions side by side.
    Boxes(BoxData),
    /// Amounts of many things side by side.
    Bars(BarsData),
    /// Things by when they began.
    Scatter(ScatterData),
}

impl ChartData {
    /// What it shows.
    pub fn title(&self) -> &str {
        match self {
            Self::Time { title, .. }
            | Self::Distribution { title, .. }
            | Self::Estimates { title, .. }
            | Self::Heat { title, .. } => title,
            Self::Stretches(timeline) => timeline.title(),
            Self::Boxes(boxes) => boxes.title(),
            Self::Bars(bars) => &bars.title,
            Self::Scatter(scatter) => &scatter.title,
        }
    }

    /// What is said of all of it together; empty: nothing.
    pub fn note(&self) -> &str {
        match self {
            Self::Bars(bars) => bars.note(),
            Self::Scatter(scatter) => scatter.note(),
            _ => "",
        }
    }
}

/// Figures of one unit.
#[derive(Debug, Serialize)]
pub struct Panel {
    unit: UnitData,
    lines: Vec<LineData>,
}

/// One figure over time: where it is drawn, its value, none in a gap, and begin and end of the time that it is of, all in seconds. Where
/// it is drawn at one of those, a line is held there.
#[derive(Debug, Serialize)]
pub struct LineData {
    label: String,
    is_area: bool,
    is_stacked: bool,
    points: Vec<(f64, Option<f64>, f64, f64)>,
}

/// One distribution: the upper edge of each bucket that holds something, and how many it holds.
#[derive(Debug, Serialize)]
pub struct ShapeData {
    label: String,
    min_ns: Option<u64>,
    max_ns: Option<u64>,
    buckets: Vec<(u64, u64)>,
}

/// One distribution over time.
#[derive(Debug, Serialize)]
pub struct HeatData {
    label: String,
    /// Of each stretch of time: its begin and end in seconds, the first range that holds something, by its place among the edges of
    /// the chart, and how many each range from there on holds.
    columns: Vec<(f64, f64, usize, Vec<u64>)>,
}

/// The charts of what a section measured; those of nothing are left out. All that are over time have the same axis.
pub fn charts(section: &Section) -> Vec<ChartData> {
    let name = |what: &str| named(section, what);
    let titled = |title: &str| name(&clean(title));
    let range = axis_of(section);
    let estimates = section.estimates.iter().filter_map(|it| {
        Some(ChartData::Estimates { title: titled(&it.title), estimates: data(it)? })
    });
    let mut charts: Vec<ChartData> = estimates.collect();
    // Of connections that follow one another one asks first how long each took.
    let scatters = section.scatters.iter();
    let scatters = scatters.filter_map(|it| ScatterData::of(it, range, titled(&it.title)));
    charts.extend(scatters.map(ChartData::Scatter));
    let panels = panels(&section.series);
    if !panels.is_empty() {
        charts.push(ChartData::Time {
            title: name("over time"),
            range,
            phases: Vec::new(),
            panels,
        });
    }
    let shapes: Vec<ShapeData> = section.distributions.iter().filter_map(shape).collect();
    if !shapes.is_empty() {
        let ends = shapes.iter().flat_map(|shape| [shape.min_ns, shape.max_ns]).flatten();
        let unit = UnitData::of(Unit::Duration, ends.map(|end| end as f64));
        charts.push(ChartData::Distribution { title: name("distribution"), unit, shapes });
    }
    let boxes = section.boxes.iter().filter_map(|it| BoxData::of(it, titled(&it.title)));
    charts.extend(boxes.map(ChartData::Boxes));
    charts.extend(heat(&section.heat_maps, range, name("distribution over time")));
    let timelines = section.timelines.iter();
    let timelines = timelines.filter_map(|it| TimelineData::of(it, range, titled(&it.title)));
    charts.extend(timelines.map(ChartData::Stretches));
    let bars = section.bars.iter().filter_map(|it| BarsData::of(it, titled(&it.title)));
    charts.extend(bars.map(ChartData::Bars));
    charts
}

/// The main chart of a document of several measurements: all of them on one axis of time, what flows before what it does to others; none
/// of a document of one, and of several results, each of which has a time of its own.
pub fn together(presentation: &Presentation) -> Option<ChartData> {
    let sections = charted(presentation);
    let Joined { mut series, phases } = joined(&sections);
    series.sort_by_key(|series| series.source.chart != Chart::Area);
    let mut panels = panels(&series);
    panels.truncate(MOST_UNITS);
    let phases = phases.iter().map(|(at_ns, name)| (seconds(*at_ns), clean(name)));
    let phases: Vec<_> = phases.collect();
    let is_one = phases.len() > 1 && share_a_time(&sections) && !panels.is_empty();
    let title = "all measurements over time".to_owned();
    is_one.then(|| ChartData::Time { title, range: axis(times(&series)), phases, panels })
}

/// The chart of what else a section saw meanwhile; none where that is nothing.
pub fn background(section: &Section, background: &Background) -> Option<ChartData> {
    let panels = panels(&background.series);
    let title = named(section, &format!("{} over time", clean(&background.title)));
    (!panels.is_empty()).then(|| ChartData::Time {
        title,
        range: axis_of(section),
        phases: Vec::new(),
        panels,
    })
}

/// What a chart of a section is called: what begins with the name of that has it already.
fn named(section: &Section, what: &str) -> String {
    let has_name = |rest: &str| rest.is_empty() || rest.starts_with(' ');
    if section.title.is_empty() || what.strip_prefix(&section.title).is_some_and(has_name) {
        what.to_owned()
    } else {
        format!("{}: {what}", section.title)
    }
}

/// Figures of one unit share a panel; parts of a whole have one of their own.
fn panels(series: &[Series]) -> Vec<Panel> {
    let mut panels: Vec<((Unit, bool), Vec<&Series>)> = Vec::new();
    for one in series.iter().filter(|series| series.numbers().count() > 0) {
        let key = (one.source.unit, is_stacked(one));
        match panels.iter_mut().find(|(other, _)| *other == key) {
            Some((_, same)) => same.push(one),
            None => panels.push((key, vec![one])),
        }
    }
    let panel = |((kind, _), series): ((Unit, bool), Vec<&Series>)| Panel {
        unit: UnitData::of(kind, series.iter().flat_map(|series| series.numbers())),
        lines: series.into_iter().map(line).collect(),
    };
    panels.into_iter().map(panel).collect()
}

fn is_stacked(series: &Series) -> bool {
    series.source.chart == Chart::Stack
}

fn line(series: &Series) -> LineData {
    // A bar is as long as its time, and needs no ends.
    let stops =
        course(&series.points).into_iter().filter(|it| !(is_stacked(series) && it.is_edge()));
    LineData {
        label: clean(&series.source.label),
        is_area: series.source.chart == Chart::Area,
        is_stacked: is_stacked(series),
        points: stops.map(|it| (it.at, it.value, it.start, it.end)).collect(),
    }
}

fn shape(shape: &Shape) -> Option<ShapeData> {
    let distribution = &shape.distribution;
    let filled = distribution.buckets.iter().filter(|bucket| bucket.count > 0);
    let buckets: Vec<_> = filled.map(|bucket| (bucket.upper_ns, bucket.count)).collect();
    let samples = buckets.iter().map(|(_, count)| count).sum::<u64>();
    (samples >= LEAST_SAMPLES).then(|| ShapeData {
        label: clean(&shape.source.label),
        min_ns: distribution.min_ns,
        max_ns: distribution.max_ns,
        buckets,
    })
}

/// Maps of durations share their ranges: from the first to the last of any that holds something.
fn heat(maps: &[HeatMap], range: Axis, title: String) -> Option<ChartData> {
    let samples = |map: &HeatMap| {
        let filled = map.columns.iter().flat_map(|column| column.counts.filled());
        filled.map(|(_, count)| count).sum::<u64>()
    };
    let maps: Vec<&HeatMap> = maps.iter().filter(|map| samples(map) >= LEAST_SAMPLES).collect();
    let columns = || maps.iter().flat_map(|map| &map.columns);
    let filled = || columns().flat_map(|column| column.counts.filled().map(|(range, _)| range));
    let (first, last) = filled().min().zip(filled().max())?;
    let edges: Vec<u64> = (first..=last + 1).map(half_octave_edge_ns).collect();
    let data = |map: &HeatMap| HeatData {
        label: clean(&map.source.label),
        columns: map.columns.iter().filter_map(|column| self::column(column, first)).collect(),
    };
    let unit = UnitData::of(Unit::Duration, edges.iter().map(|&edge| edge as f64));
    Some(ChartData::Heat { title, range, unit, edges, maps: maps.into_iter().map(data).collect() })
}

fn column(column: &HeatColumn, first_of_all: usize) -> Option<(f64, f64, usize, Vec<u64>)> {
    let filled: Vec<(usize, u64)> = column.counts.filled().collect();
    let (first, last) = (filled.first()?.0, filled.last()?.0);
    let mut counts = vec![0; last - first + 1];
    filled.iter().for_each(|&(range, count)| counts[range - first] = count);
    let [start, end] = [column.start_ns, column.end_ns].map(seconds);
    Some((start, end, first - first_of_all, counts))
}

#[cfg(test)]
mod tests {
    use pathscope_core::presentation::{SeriesPoint, Source};

    use super::*;

    #[test]
    fn parts_of_a_whole_have_a_panel_of_their_own() {
        let series = |label: &str, chart| Series {
            source: Source {
                label: label.to_owned(),
                unit: Unit::Count,
                chart,
                ..Source::default()
            },
            points: vec![SeriesPoint::over(0, 2, Some(1.0)), SeriesPoint::over(2, 4, Some(2.0))],
        };
        let section = Section {
            series: vec![
                series("one", Chart::Stack),
                series("lost", Chart::Line),
                series("other", Chart::Stack),
            ],
            ..Section::default()
        };
        let charts = serde_json::to_value(charts(&section)).expect("plain data");
        let lines = |panel: usize| {
            let lines = charts[0]["panels"][panel]["lines"].as_array().expect("lines");
            let told = lines.iter().map(|it| (it["label"].clone(), it["is_stacked"] == true));
            told.collect::<Vec<_>>()
        };
        assert_eq!(lines(0), [("one".into(), true), ("other".into(), true)]);
        assert_eq!(lines(1), [("lost".into(), false)]);
    }
}
