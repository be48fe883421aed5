//! What of a multipath test is drawn: latencies and losses over time, which path answered first, distributions, their boxes, and
//! what became of each path.
//!
//! Not here: figures and tables (`presentation`), and heat maps, which are there, too.

use pathscope_core::presentation::{
    BoxRow, Boxes, Chart, Series, SeriesPoint, Shape, Source, Stretch, Timeline, TimelineRow,
};
use pathscope_core::stats::{Distribution, LatencyFigures};

use super::figures::GROUP;
use super::losses::LossesOverTime;
use super::summary::WHISKERS;
use super::{GapReport, MultipathInterval, MultipathReport, MultipathSummary, PathSummary};
use crate::figure::{Part, Point, Unit};
use crate::paths::Transition;
use crate::results::Charts;

/// What the statistics of an interval are called where they are drawn, and the ends of their figures' names.
const LONGEST: &str = "max";
const RANK: &str = "p99";

/// Where an interval has a number of a path.
fn place(field: &str) -> String {
    format!("client.multipath.paths[].{field}")
}

/// A figure of an interval over time, labelled.
fn source(part: &Part, name: &str, (place, label): (&str, String), chart: Chart) -> Source {
    Source { label, ..GROUP.series(part, name, place, chart) }
}

/// The points of an interval. Paths go by the names that the summary has of them.
pub(super) fn points(summary: &MultipathSummary, interval: &MultipathInterval) -> Vec<Point> {
    let mut points = Vec::new();
    if let Some(effective) = &interval.effective {
        let rank = |percent| effective.percentile(percent).and_then(|it| it.value_ns);
        let all = [("p50", rank(50.0)), (RANK, rank(99.0)), (LONGEST, effective.max_ns)];
        points.extend(all.map(|(statistic, value)| {
            let name = format!("effective.{statistic}");
            let label = format!("effective latency {statistic}");
            let told = ("client.multipath.effective", label);
            Point {
                source: source(&Part::Whole, &name, told, Chart::Line),
                value: value.map(|value| value as f64),
            }
        }));
    }
    let paths = || {
        let known = summary.paths.iter();
        known.filter_map(|path| Some((path, interval.paths.get(usize::from(path.path))?)))
    };
    for (path, of) in paths() {
        let part = Part::Entry(path.interface.clone());
        let all =
            [("p50", of.latency_p50_ns), (RANK, of.latency_p99_ns), (LONGEST, of.latency_max_ns)];
        points.extend(all.map(|(statistic, value)| {
            let place = place(&format!("latency_{statistic}_ns"));
            let label = format!("latency {statistic} on {}", path.interface);
            let name = format!("path.latency.{statistic}");
            Point {
                source: source(&part, &name, (&place, label), Chart::Line),
                value: value.map(|value| value as f64),
            }
        }));
    }
    // An interval of an earlier version says nothing of who was first.
    let is_told = interval.received == 0 || interval.paths.iter().any(|path| path.first > 0);
    if summary.paths.len() > 1 && is_told {
        points.extend(paths().map(|(path, of)| {
            let part = Part::Entry(path.interface.clone());
            let label = format!("answered first on {}", path.interface);
            let source = source(&part, "path.first", (&place("first"), label), Chart::Stack);
            Point { source, value: Some(of.first as f64) }
        }));
    }
    points
}

/// The distributions of all paths together and of each.
pub(super) fn distributions(report: &MultipathReport) -> Vec<Shape> {
    let shape = |part: Part, name, place, distribution: &Distribution| {
        let mut shape = GROUP.shape(&part, (name, place, ""), distribution);
        shape.source.sample_column = None;
        shape.source.label = match part {
            Part::Entry(path) => format!("latency on {path}"),
            _ => "effective latency".to_owned(),
        };
        shape
    };
    let all = report.effective.iter().map(|distribution| {
        shape(Part::Whole, "effective", "client.multipath.effective", distribution)
    });
    let each = report.paths.iter().filter_map(|path| {
        let part = Part::Entry(path.facts.interface.clone());
        let place = "client.multipath.paths[].latency";
        Some(shape(part, "path.latency", place, path.latency.as_ref()?))
    });
    all.chain(each).collect()
}

/// What is known at the end alone.
pub(super) fn add(summary: &MultipathSummary, report: &MultipathReport, charts: &mut Charts) {
    keep_one_tail(&mut charts.series);
    charts.series.extend(losses(summary, report));
    charts.timelines.extend(timeline(summary, report));
    charts.boxes.extend(boxes(summary));
}

/// The longest of each interval is drawn where its samples suffice for no 99th percentile.
fn keep_one_tail(series: &mut Vec<Series>) {
    let ends = |series: &Series, end: &str| {
        series.source.unit == Unit::Duration && series.source.id.ends_with(&format!(".{end}"))
    };
    if series.iter().any(|series| ends(series, RANK)) {
        series.retain(|series| !ends(series, LONGEST));
    }
}

/// Losses of all paths at once and of each, where anything was lost at all: each step counts those that had been due in it.
fn losses(summary: &MultipathSummary, report: &MultipathReport) -> Vec<Series> {
    let series = |part: &Part, name, place: &str, label, losses: &LossesOverTime| {
        let source =
            Source { label, place: place.to_owned(), ..GROUP.series(part, name, "", Chart::Line) };
        let steps = summary.sending_ns.div_ceil(losses.step_ns.max(1));
        let steps = (steps as usize).min(MOST_POINTS).max(losses.lost.len());
        let point = |step: usize| {
            let lost = losses.lost.get(step).copied().unwrap_or(0);
            let [start_ns, end_ns] =
                [step, step + 1].map(|step| losses.step_ns.saturating_mul(step as u64));
            SeriesPoint::over(start_ns, end_ns, Some(lost as f64))
        };
        Series { source, points: (0..steps).map(point).collect() }
    };
    let each = summary.paths.iter().filter_map(|path| {
        let losses = report.paths.get(usize::from(path.path))?.lost_over_time.as_ref()?;
        let part = Part::Entry(path.interface.clone());
        let label = format!("lost on {}", path.interface);
        let place = "client.multipath.paths[].lost_over_time.lost";
        Some((path.lost, series(&part, "path.lost", place, label, losses)))
    });
    let all = report.lost_over_time.as_ref().filter(|_| summary.paths.len() > 1).map(|losses| {
        let place = "client.multipath.lost_over_time.lost";
        let label = "lost on all paths".to_owned();
        (summary.lost, series(&Part::Whole, "lost", place, label, losses))
    });
    let all: Vec<(u64, Series)> = all.into_iter().chain(each).collect();
    let is_any = all.iter().any(|(lost, _)| *lost > 0);
    all.into_iter().filter(|_| is_any).map(|(_, series)| series).collect()
}

/// No file makes more points than this of a test's length.
const MOST_POINTS: usize = 1_024;

/// Outages of each path and of all together, and what happened to them; nothing where nothing happened but that they came up at
/// the start.
fn timeline(summary: &MultipathSummary, report: &MultipathReport) -> Option<Timeline> {
    let outages = |gaps: &GapReport| -> Vec<Stretch> {
        let told = gaps.told.iter().map(|outage| Stretch {
            start_ns: outage.start_ns,
            end_ns: outage.start_ns.saturating_add(outage.duration_ns),
            what: "outage".to_owned(),
            note: pathscope_core::quantity::counted(outage.datagrams, "datagram"),
        });
        told.collect()
    };
    let events = |path: &PathSummary| {
        let own = |it: &&Transition| it.path.is_none_or(|place| place == path.path);
        let own = report.transitions.iter().filter(own);
        own.map(|it| Stretch {
            start_ns: it.at_ns,
            end_ns: it.at_ns,
            what: it.what.clone(),
            note: it.why.clone(),
        })
        .collect::<Vec<_>>()
    };
    let row = |label: String, mut stretches: Vec<Stretch>| {
        stretches.sort_by_key(|stretch| stretch.start_ns);
        TimelineRow { label, stretches }
    };
    let effective = row("all paths together".to_owned(), outages(&summary.effective_gaps));
    let paths = summary
        .paths
        .iter()
        .map(|path| row(path.interface.clone(), [outages(&path.gaps), events(path)].concat()));
    let rows: Vec<TimelineRow> = paths.chain([effective]).collect();
    let mut all = rows.iter().flat_map(|row| &row.stretches);
    let has_happened = all.any(|it| it.end_ns > it.start_ns || it.start_ns > 0);
    let end_ns = rows.iter().flat_map(|row| &row.stretches).map(|it| it.end_ns).max().unwrap_or(0);
    has_happened.then(|| Timeline {
        title: "outages and transitions of paths".to_owned(),
        start_ns: 0,
        end_ns: summary.sending_ns.max(end_ns),
        rows,
    })
}

/// The latencies of all paths together and of each; one that has too few samples for all five numbers is left out.
fn boxes(summary: &MultipathSummary) -> Option<Boxes> {
    let row = |label: &str, figures: &LatencyFigures| {
        let mut numbers = [0.0; 5];
        for (number, (percent, _)) in numbers.iter_mut().zip(WHISKERS) {
            *number = figures.percentile(percent)?.value_ns? as f64;
        }
        Some(BoxRow { label: label.to_owned(), numbers })
    };
    let all = row("effective", &summary.effective);
    let each = summary.paths.iter().filter_map(|path| row(&path.interface, &path.latency));
    let rows: Vec<BoxRow> = each.chain(all).collect();
    (!rows.is_empty()).then(|| Boxes {
        title: "latency of each path, from p5 over quartiles to p95".to_owned(),
        unit: Unit::Duration,
        names: WHISKERS.map(|(_, name)| name),
        rows,
    })
}
