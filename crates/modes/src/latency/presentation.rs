//! A latency test, or the probes beside a load, as labelled figures: all that a view needs.

use pathscope_core::presentation::{Chart, Figure, Shape, Table, Value};
use pathscope_core::quantity::{count, duration_ns, ratio, total};
use pathscope_core::stats::{LatencyFigures, LinearHistogram, Trend};

use super::figures::GROUP;
use super::{
    JitterSummary, LatencyInterval, LatencyPlan, LatencySummary, OneWaySummary, PartsSummary,
    VariationReport,
};
use crate::arrivals::VariationFigures;
use crate::figure::{Group, Heat, Part, Point, notes};
use crate::results::{Detail, Ends, Presents, Slices};

impl Presents for LatencyPlan {
    fn cells(&self, interval: Slices<'_, Self>) -> Vec<Figure> {
        let latency = interval.of_client();
        let received = GROUP.figure("received", latency.map(|latency| latency.received));
        let [median, high, most] = rtt_cells(&GROUP, latency);
        vec![received.labelled("pings"), median, high, most]
    }

    fn points(&self, _: &Self::Summary, interval: Slices<'_, Self>) -> Vec<Point> {
        vec![median_point(&GROUP, interval.of_client())]
    }

    fn figures(&self, summary: &LatencySummary) -> Vec<Figure> {
        let mut shown: Vec<f64> = ALWAYS.into_iter().chain(self.percentiles()).collect();
        shown.sort_by(f64::total_cmp);
        shown.dedup();
        let mut figures = round_trips(summary, &shown);
        let corrected = summary.corrected.iter();
        figures.extend(corrected.flat_map(|of| percentiles(&GROUP, ("corrected", of), &ALWAYS)));
        let mut figures: Vec<_> = figures.into_iter().map(|figure| figure.of("RTT")).collect();
        figures.extend(summary.jitter.iter().flat_map(jitter));
        figures.extend(summary.drift.as_ref().filter(|drift| drift.is_significant()).map(drift));
        figures.extend(counts(summary));
        figures.extend(send_lag(summary));
        figures.extend(median("service", summary.service.as_ref()));
        figures.extend(median("server_residence", summary.server_residence.as_ref()));
        figures.extend(summary.one_way.iter().flat_map(one_way));
        figures.extend(summary.parts.iter().flat_map(parts));
        figures
    }

    fn tables(&self, _: &LatencySummary, ends: &Ends<'_, Self>, _: Detail) -> Vec<Table> {
        ends.of_client().linear.iter().map(ranges).collect()
    }

    fn heats<'interval>(
        &self,
        _: &LatencySummary,
        interval: Slices<'interval, Self>,
    ) -> Vec<Heat<'interval>> {
        heat(&GROUP, interval.of_client()).into_iter().collect()
    }

    fn distributions(ends: &Ends<'_, Self>) -> Vec<Shape> {
        let rtt = ends.of_client().rtt.iter();
        let shape = |rtt| GROUP.shape(&Part::Whole, ("rtt", "client.latency.rtt", "rtt_ns"), rtt);
        rtt.map(shape).collect()
    }
}

/// The percentiles that are shown unasked.
pub(super) const ALWAYS: [f64; 6] = [50.0, 75.0, 90.0, 95.0, 99.0, 99.9];

/// How long round trips took, these percentiles among the figures.
pub(super) fn round_trips(summary: &LatencySummary, shown: &[f64]) -> Vec<Figure> {
    let rtt = &summary.rtt;
    let least = GROUP.figure("rtt.min", rtt.min_ns);
    let mut figures = vec![least.with_note(since(summary).unwrap_or_default())];
    figures.extend(percentiles(&GROUP, ("rtt", rtt), shown));
    figures.push(GROUP.figure("rtt.max", rtt.max_ns));
    figures.push(GROUP.figure("rtt.mean", rtt.mean_ns));
    figures.extend(rtt.standard_deviation_ns.map(|it| GROUP.figure("rtt.deviation", it)));
    figures
}

/// The median of a part of round trips.
fn median(name: &str, part: Option<&LatencyFigures>) -> Option<Figure> {
    let median = *part?.percentile(50.0)?;
    Some(GROUP.figure(&format!("{name}.p50"), median).of("parts"))
}

/// From when round trips count, where they are told from an older result.
pub fn since(summary: &LatencySummary) -> Option<&'static str> {
    summary
        .counts_from_the_schedule()
        .then_some("RTT since scheduled: a result of version 1 counts from when a ping was due")
}

/// What pings waited for this machine.
fn send_lag(summary: &LatencySummary) -> Option<Figure> {
    let lag = summary.send_lag.as_ref()?;
    let most = duration_ns(lag.max_ns?);
    let apart = if summary.counts_from_the_schedule() { "" } else { "; not in RTT" };
    let median = GROUP.figure("send_lag.p50", *lag.percentile(50.0)?);
    Some(median.with_note(format!("at most {most}{apart}")))
}

/// The delays of each way, where both ends read one clock.
fn one_way(delays: &OneWaySummary) -> impl Iterator<Item = Figure> {
    let bound = delays.error_bound_ns;
    let bound = bound.map_or_else(String::new, |bound| format!(", within {}", duration_ns(bound)));
    let note = format!("both ends read one clock{bound}");
    let ways = [("one_way.forward", &delays.forward), ("one_way.back", &delays.back)];
    let medians = ways.into_iter().filter_map(|(name, way)| median(name, Some(way)));
    medians.map(move |figure| figure.with_note(&*note))
}

/// Where the time of round trips went.
fn parts(parts: &PartsSummary) -> Vec<Figure> {
    let errors = [&parts.client, &parts.server].into_iter().flatten().map(|facts| facts.error_ns);
    let error = errors.max().map(|error| format!("each within {}", duration_ns(error)));
    let of = format!("of {} pings that were measured", count(parts.of));
    let pings = GROUP.figure("parts.pings", parts.pings).with_note(notes([Some(of), error]));
    let figure = |(name, part): (&str, &LatencyFigures)| {
        let mean = part.mean_ns.map_or(0, |mean| mean.round() as u64);
        let median = median(&format!("parts.{name}"), Some(part).filter(|_| parts.pings > 0))?;
        Some(median.with_note(format!("mean {}", duration_ns(mean))))
    };
    [pings].into_iter().chain(parts.named().into_iter().filter_map(figure)).collect()
}

/// These percentiles, up to the first one that the samples do not support: it says what it needs.
pub fn percentiles(
    group: &Group,
    (name, of): (&str, &LatencyFigures),
    wanted: &[f64],
) -> Vec<Figure> {
    let mut figures = Vec::new();
    for percentile in wanted.iter().filter_map(|&percent| of.percentile(percent)) {
        figures.push(group.figure(&format!("{name}.p{}", percentile.percent), *percentile));
        // Each one further from the median needs more.
        if percentile.value_ns.is_none() && percentile.percent >= 50.0 {
            break;
        }
    }
    figures
}

/// How much delay varied, each by the name of its definition.
pub(super) fn jitter(jitter: &JitterSummary) -> impl Iterator<Item = Figure> {
    let VariationReport { round_trip, forward, back } = &jitter.variation;
    let mean = |way: &VariationFigures| way.ipdv.mean_ns;
    let ipdv = mean(round_trip).map(|ipdv| {
        let rounded = |nanoseconds: f64| duration_ns(nanoseconds.round() as u64);
        let ways = forward.as_ref().and_then(mean).zip(back.as_ref().and_then(mean));
        let ways =
            ways.map(|(there, back)| format!("{} there, {} back", rounded(there), rounded(back)));
        let note = notes([Some("RFC 3393, of neighbouring pings".to_owned()), ways]);
        GROUP.figure("ipdv.mean", ipdv).labelled("mean |IPDV|").with_note(note)
    });
    let smoothed = round_trip.rfc3550;
    let smoothed = GROUP.figure("jitter", smoothed.mean_ns).with_note(smoothed.words());
    let range = jitter.interquartile_range_ns.map(|range| GROUP.figure("iqr", range));
    [ipdv, Some(smoothed), range].into_iter().flatten().map(|figure| figure.of("variation"))
}

fn drift(drift: &Trend) -> Figure {
    let way = if drift.change_over_run < 0.0 { "fell" } else { "rose" };
    let text = format!("the median {way} by {} over the run", ratio(drift.change_over_run.abs()));
    GROUP.figure("drift.change", Value::Worded(drift.change_over_run, text))
}

/// The round trips in the ranges that were asked for; empty ones at both ends are left out.
fn ranges(linear: &LinearHistogram) -> Table {
    let LinearHistogram { start_ns, width_ns, counts, below, above } = linear;
    let edge = |index: usize| {
        Value::Duration(start_ns.saturating_add(width_ns.saturating_mul(index as u64)))
    };
    let first = counts.iter().position(|&count| count > 0).unwrap_or(0);
    let end = counts.iter().rposition(|&count| count > 0).map_or(first, |last| last + 1);
    let below = (*below > 0).then(|| vec![Value::Absent, edge(0), Value::Count(*below)]);
    let ranges = (first..end).map(|at| vec![edge(at), edge(at + 1), Value::Count(counts[at])]);
    let above = (*above > 0).then(|| vec![edge(counts.len()), Value::Absent, Value::Count(*above)]);
    let rows = below.into_iter().chain(ranges).chain(above);
    Table::new("RTT in equal ranges", ["RTT from", "below", "pings"], rows)
}

fn counts(summary: &LatencySummary) -> Vec<Figure> {
    let left_out = (summary.warm_up > 0)
        .then(|| format!("{} of them in the warm-up, left out", count(summary.warm_up)));
    let note = notes([Some(format!("{} answered", count(summary.received))), left_out]);
    let mut figures = vec![GROUP.figure("sent", summary.sent).with_note(note), lost(summary)];
    figures.extend(reordered(summary));
    let others = [
        ("duplicates", summary.duplicates, ""),
        ("unreachable", summary.unreachable, ""),
        ("late", summary.late, ""),
        ("foreign", summary.foreign, ""),
    ];
    figures.extend(GROUP.counted(&Part::Whole, others));
    figures.extend(corrupt(summary));
    figures
}

/// Pings, and beside them the datagrams: of a ping several may come.
fn corrupt(summary: &LatencySummary) -> Option<Figure> {
    let forward = summary.corrupt_forward.unwrap_or(0);
    if total([summary.corrupt, summary.corrupt_echoes, forward]) == 0 {
        return None;
    }
    let there = match forward {
        0 => String::new(),
        pings => format!(", and {} of pings that the server got", count(pings)),
    };
    let note = format!("in {} of the echoes{there}", count(summary.corrupt_echoes));
    Some(GROUP.figure("corrupt", summary.corrupt).with_note(note))
}

fn reordered(summary: &LatencySummary) -> Vec<Figure> {
    let ways = summary.reordered_forward.zip(summary.reordered_return);
    let ways = ways.map_or_else(String::new, |ways| format!(": {}", on_each_way(ways)));
    let extent = summary.reordering_extent_max.map(|it| format!("extent at most {}", count(it)));
    let note = notes([Some(format!("{}{ways}", ratio(summary.reordered_ratio))), extent]);
    GROUP.counted(&Part::Whole, [("reordered", summary.reordered, &*note)])
}

fn lost(summary: &LatencySummary) -> Figure {
    let figure = GROUP.figure("lost", summary.lost);
    if summary.lost == 0 || summary.sent == 0 {
        return figure;
    }
    let share = ratio(summary.lost as f64 / summary.sent as f64);
    figure.with_note(match summary.lost_forward.zip(summary.lost_return) {
        Some(ways) => format!("{share}: {}", on_each_way(ways)),
        None => share,
    })
}

fn on_each_way((forward, back): (u64, u64)) -> String {
    format!("{} on the way there, {} on the way back", count(forward), count(back))
}

/// Of its round trips: the median, the 99th percentile, the longest.
pub fn rtt_cells(group: &Group, latency: Option<&LatencyInterval>) -> [Figure; 3] {
    let rtt = latency.and_then(|latency| latency.rtt.as_ref());
    [
        group.figure("rtt.p50", rtt.and_then(LatencyFigures::median_ns)),
        group.figure("rtt.p99", rtt.and_then(|rtt| rtt.percentile(99.0)?.value_ns)),
        group.figure("rtt.max", rtt.and_then(|rtt| rtt.max_ns)).labelled("RTT max"),
    ]
}

/// The median of an interval, as a point over time.
pub fn median_point(group: &Group, latency: Option<&LatencyInterval>) -> Point {
    let rtt = latency.and_then(|latency| latency.rtt.as_ref());
    let value = rtt.and_then(LatencyFigures::median_ns).map(|median| median as f64);
    let source = group.series(&Part::Whole, "rtt.p50", "client.latency.rtt", Chart::Line);
    Point { source, value }
}

/// The round trips of an interval as a column of a heat map.
pub fn heat<'interval>(
    group: &Group,
    latency: Option<&'interval LatencyInterval>,
) -> Option<Heat<'interval>> {
    let counts = latency?.rtt_half_octaves.as_ref()?;
    let source = group.heat_map(&Part::Whole, "rtt", "client.latency.rtt_half_octaves");
    Some(Heat { source, counts })
}
