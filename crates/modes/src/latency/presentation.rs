//! A latency test, or the probes beside a load, as labelled figures: all that a view needs.

use pathscope_core::presentation::{Chart, Figure, Table, Value};
use pathscope_core::quantity::{count, counted, duration_ns, ratio, total};
use pathscope_core::stats::{LatencyFigures, LinearHistogram, Trend};

use super::figures::GROUP;
use super::{
    Arrivals, Extent, JitterSummary, LatencyInterval, LatencyPlan, LatencySummary, LoadModel,
    OneWaySummary, PartsSummary, VariationReport,
};
use crate::arrivals::VariationFigures;
use crate::figure::{Group, Part, Point};

/// What is done, in a few words.
pub fn subtitle(plan: &LatencyPlan) -> String {
    let extent = match plan.extent {
        Extent::Iterations(iterations) => format!(", {}", counted(iterations, "ping")),
        Extent::DurationNs(duration) => format!(", {}", duration_ns(duration.0)),
        Extent::WithLoad => String::new(),
    };
    let protocol = plan.protocol.name().to_uppercase();
    let size = match plan.reply_bytes {
        Some(reply) => format!("{} there, {reply} back", plan.size_bytes),
        None => plan.size_bytes.to_string(),
    };
    let flows = match plan.connections {
        1 => String::new(),
        flows => format!(", {} flows", count(flows.into())),
    };
    format!("{protocol}, {size}, {}{flows}{extent}", load_model(plan))
}

fn load_model(plan: &LatencyPlan) -> String {
    match plan.load_model {
        LoadModel::Closed => match (plan.pace_ns, plan.outstanding) {
            (Some(pace), _) => format!("closed loop, one every {pace} at most"),
            (None, 1) => "closed loop".to_owned(),
            (None, outstanding) => {
                format!("closed loop, {} outstanding", count(outstanding.into()))
            }
        },
        LoadModel::Open { period_ns, arrivals: Arrivals::Fixed } => {
            format!("open loop, one every {period_ns}")
        }
        LoadModel::Open { period_ns, arrivals: Arrivals::Poisson { seed } } => {
            format!("open loop, one every {period_ns} on average (Poisson, seed {seed})")
        }
    }
}

/// The figures of a latency test.
pub fn figures(plan: &LatencyPlan, summary: &LatencySummary) -> Vec<Figure> {
    let rtt = &summary.rtt;
    let mut shown = vec![50.0, 75.0, 90.0, 95.0, 99.0, 99.9];
    shown.extend(plan.percentiles());
    shown.sort_by(f64::total_cmp);
    shown.dedup();
    let least = GROUP.figure("rtt.min", rtt.min_ns);
    let mut figures = vec![least.with_note(since(summary).unwrap_or_default())];
    figures.extend(percentiles(&GROUP, ("rtt", rtt), &shown));
    figures.push(GROUP.figure("rtt.max", rtt.max_ns));
    figures.push(GROUP.figure("rtt.mean", rtt.mean_ns));
    figures.extend(rtt.standard_deviation_ns.map(|it| GROUP.figure("rtt.deviation", it)));
    if let Some(corrected) = &summary.corrected {
        let shown = [50.0, 75.0, 90.0, 95.0, 99.0, 99.9];
        figures.extend(percentiles(&GROUP, ("corrected", corrected), &shown));
    }
    let mut figures: Vec<_> = figures.into_iter().map(|figure| figure.of("RTT")).collect();
    figures.extend(summary.jitter.iter().flat_map(jitter));
    figures.extend(summary.drift.as_ref().filter(|drift| drift.is_significant()).map(drift));
    figures.extend(counts(summary));
    figures.extend(send_lag(summary));
    for (name, part) in
        [("service.p50", &summary.service), ("server_residence.p50", &summary.server_residence)]
    {
        let median = part.as_ref().and_then(|part| part.percentile(50.0)).copied();
        figures.extend(median.map(|median| GROUP.figure(name, median).of("parts")));
    }
    figures.extend(summary.one_way.iter().flat_map(one_way));
    figures.extend(summary.parts.iter().flat_map(parts));
    figures
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
fn one_way(delays: &OneWaySummary) -> Vec<Figure> {
    let bound = delays.error_bound_ns;
    let note = bound.map_or_else(String::new, |bound| format!(", within {}", duration_ns(bound)));
    let figure = |(name, way): (&str, &LatencyFigures)| {
        let figure = GROUP.figure(name, *way.percentile(50.0)?).of("parts");
        Some(figure.with_note(format!("both ends read one clock{note}")))
    };
    let ways = [("one_way.forward.p50", &delays.forward), ("one_way.back.p50", &delays.back)];
    ways.into_iter().filter_map(figure).collect()
}

/// Where the time of round trips went.
fn parts(parts: &PartsSummary) -> Vec<Figure> {
    let errors = [&parts.client, &parts.server].into_iter().flatten().map(|facts| facts.error_ns);
    let error = errors
        .max()
        .map_or_else(String::new, |error| format!("; each within {}", duration_ns(error)));
    let mut figures = vec![
        GROUP
            .figure("parts.pings", parts.pings)
            .with_note(format!("of {} pings that were measured{error}", count(parts.of))),
    ];
    for (name, part) in parts.named() {
        let Some(median) = part.percentile(50.0).filter(|_| parts.pings > 0) else { continue };
        let figure = GROUP.figure(&format!("parts.{name}.p50"), *median).of("parts");
        let mean = part.mean_ns.map_or(0, |mean| mean.round() as u64);
        figures.push(figure.with_note(format!("mean {}", duration_ns(mean))));
    }
    figures
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
fn jitter(jitter: &JitterSummary) -> Vec<Figure> {
    let rounded = |nanoseconds: f64| duration_ns(nanoseconds.round() as u64);
    let VariationReport { round_trip, forward, back } = &jitter.variation;
    let mean = |way: &VariationFigures| way.ipdv.mean_ns;
    let mut figures = Vec::new();
    if let Some(ipdv) = mean(round_trip) {
        let ways = forward.as_ref().and_then(mean).zip(back.as_ref().and_then(mean));
        let note = ways.map_or_else(String::new, |(there, back)| {
            format!("; {} there, {} back", rounded(there), rounded(back))
        });
        figures.push(
            GROUP
                .figure("ipdv.mean", ipdv)
                .labelled("mean |IPDV|")
                .of("variation")
                .with_note(format!("RFC 3393, of neighbouring pings{note}")),
        );
    }
    let smoothed = round_trip.rfc3550;
    figures.push(
        GROUP
            .figure("jitter", smoothed.mean_ns)
            .of("variation")
            .with_note(format!("RFC 3550, mean; at most {}", rounded(smoothed.max_ns))),
    );
    let range = jitter.interquartile_range_ns;
    figures.extend(range.map(|range| GROUP.figure("iqr", range).of("variation")));
    figures
}

fn drift(drift: &Trend) -> Figure {
    let way = if drift.change_over_run < 0.0 { "fell" } else { "rose" };
    let text = format!("the median {way} by {} over the run", ratio(drift.change_over_run.abs()));
    GROUP.figure("drift.change", Value::Worded(drift.change_over_run, text))
}

/// The round trips in the ranges that were asked for; empty ones at both ends are left out.
pub fn ranges(linear: &LinearHistogram) -> Table {
    let edge = |index: usize| {
        Value::Duration(
            linear.start_ns.saturating_add(linear.width_ns.saturating_mul(index as u64)),
        )
    };
    let is_filled = |count: &u64| *count > 0;
    let first = linear.counts.iter().position(is_filled).unwrap_or(0);
    let end = linear.counts.iter().rposition(is_filled).map_or(first, |last| last + 1);
    let mut rows = Vec::new();
    if linear.below > 0 {
        rows.push(vec![Value::Absent, edge(0), Value::Count(linear.below)]);
    }
    rows.extend(
        (first..end).map(|at| vec![edge(at), edge(at + 1), Value::Count(linear.counts[at])]),
    );
    if linear.above > 0 {
        rows.push(vec![edge(linear.counts.len()), Value::Absent, Value::Count(linear.above)]);
    }
    Table::new("RTT in equal ranges", ["RTT from", "below", "pings"], rows)
}

fn counts(summary: &LatencySummary) -> Vec<Figure> {
    let warm_up = match summary.warm_up {
        0 => String::new(),
        left_out => format!("; {} of them in the warm-up, left out", count(left_out)),
    };
    let mut figures = vec![
        GROUP
            .figure("sent", summary.sent)
            .with_note(format!("{} answered{warm_up}", count(summary.received))),
        lost(summary),
    ];
    figures.extend(reordered(summary));
    for (name, number) in [
        ("duplicates", summary.duplicates),
        ("unreachable", summary.unreachable),
        ("late", summary.late),
        ("foreign", summary.foreign),
    ] {
        if number > 0 {
            figures.push(GROUP.figure(name, number));
        }
    }
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

fn reordered(summary: &LatencySummary) -> Option<Figure> {
    let ways = summary.reordered_forward.zip(summary.reordered_return);
    let ways = ways.map_or_else(String::new, |(forward, back)| {
        format!(": {} on the way there, {} on the way back", count(forward), count(back))
    });
    let extent = summary
        .reordering_extent_max
        .map_or_else(String::new, |extent| format!("; extent at most {}", count(extent)));
    let note = format!("{}{ways}{extent}", ratio(summary.reordered_ratio));
    (summary.reordered > 0).then(|| GROUP.figure("reordered", summary.reordered).with_note(note))
}

fn lost(summary: &LatencySummary) -> Figure {
    let figure = GROUP.figure("lost", summary.lost);
    if summary.lost == 0 || summary.sent == 0 {
        return figure;
    }
    let share = ratio(summary.lost as f64 / summary.sent as f64);
    figure.with_note(match summary.lost_forward.zip(summary.lost_return) {
        Some((forward, back)) => {
            format!("{share}: {} on the way there, {} on the way back", count(forward), count(back))
        }
        None => share,
    })
}

/// The cells of a live row.
pub fn cells(latency: Option<&LatencyInterval>) -> Vec<Figure> {
    let received = GROUP.figure("received", latency.map(|latency| latency.received));
    let [median, high, most] = rtt_cells(&GROUP, latency);
    vec![received.labelled("pings"), median, high, most]
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
