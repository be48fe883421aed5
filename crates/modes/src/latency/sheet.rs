//! A latency test, or the probes beside a load, as labelled figures: all that a view needs.

use pathscope_core::quantity::{count, duration_ns, ratio};
use pathscope_core::sheet::{Figure, Value};
use pathscope_core::stats::LatencyFigures;

use super::{Extent, LatencyPlan, LatencySummary, LoadModel};
use crate::registry::EndInterval;

/// What is done, in a few words.
pub fn subtitle(plan: &LatencyPlan) -> String {
    let extent = match plan.extent {
        Extent::Iterations(iterations) => format!(", {} pings", count(iterations)),
        Extent::DurationNs(duration) => format!(", {}", duration_ns(duration.0)),
        Extent::WithLoad => String::new(),
    };
    let protocol = plan.protocol.name().to_uppercase();
    format!("{protocol}, {}, {}{extent}", plan.size_bytes, load_model(plan))
}

fn load_model(plan: &LatencyPlan) -> String {
    match plan.load_model {
        LoadModel::Closed => "closed loop".to_owned(),
        LoadModel::Open { period_ns } => format!("open loop, one every {period_ns}"),
    }
}

/// The figures of a latency test.
pub fn figures(summary: &LatencySummary) -> Vec<Figure> {
    let rtt = &summary.rtt;
    let exact = |label: &str, value: Option<u64>| {
        Figure::new(label, value.map_or(Value::Absent, Value::Duration))
    };
    let mut figures = vec![exact("RTT minimum", rtt.min_ns)];
    figures.extend(percentiles(rtt, "RTT", &[50.0, 90.0, 95.0, 99.0, 99.9]));
    figures.push(exact("RTT maximum", rtt.max_ns));
    figures.push(mean(rtt));
    figures.extend(counts(summary));
    for (label, part) in [
        ("send lag p50", &summary.send_lag),
        ("service time p50", &summary.service),
        ("server residence p50", &summary.server_residence),
    ] {
        if let Some(percentile) = part.as_ref().and_then(|part| part.percentile(50.0)) {
            figures.push(Figure::new(label, Value::Percentile(*percentile)));
        }
    }
    figures
}

/// These percentiles, up to the first one that the samples do not support: it says what it needs.
pub fn percentiles(rtt: &LatencyFigures, label: &str, wanted: &[f64]) -> Vec<Figure> {
    let mut figures = Vec::new();
    for percentile in wanted.iter().filter_map(|&percent| rtt.percentile(percent)) {
        let label = format!("{label} p{}", percentile.percent);
        figures.push(Figure::new(label, Value::Percentile(*percentile)));
        if percentile.value_ns.is_none() {
            break;
        }
    }
    figures
}

fn mean(rtt: &LatencyFigures) -> Figure {
    let value = rtt.mean_ns.map_or(Value::Absent, |mean| Value::Duration(mean.round() as u64));
    let figure = Figure::new("RTT mean", value);
    match rtt.standard_deviation_ns {
        Some(deviation) => figure
            .with_note(format!("standard deviation {}", duration_ns(deviation.round() as u64))),
        None => figure,
    }
}

fn counts(summary: &LatencySummary) -> Vec<Figure> {
    let warm_up = match summary.warm_up {
        0 => String::new(),
        left_out => format!("; {} of them in the warm-up, left out", count(left_out)),
    };
    let mut figures = vec![
        Figure::new("pings", Value::Count(summary.sent))
            .with_note(format!("{} answered{warm_up}", count(summary.received))),
        lost(summary),
    ];
    for (label, number) in [
        ("duplicates", summary.duplicates),
        ("reordered", summary.reordered),
        ("late", summary.late),
        ("corrupt", summary.corrupt),
        ("foreign", summary.foreign),
    ] {
        if number > 0 {
            figures.push(Figure::new(label, Value::Count(number)));
        }
    }
    figures
}

fn lost(summary: &LatencySummary) -> Figure {
    let figure = Figure::new("lost", Value::Count(summary.lost));
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
pub fn cells(client: Option<&EndInterval>) -> Vec<Figure> {
    let latency = client.and_then(|interval| interval.latency.as_ref());
    let rtt = latency.and_then(|latency| latency.rtt.as_ref());
    let duration = |value: Option<u64>| value.map_or(Value::Absent, Value::Duration);
    vec![
        Figure::new(
            "pings",
            latency.map_or(Value::Absent, |latency| Value::Count(latency.received)),
        ),
        Figure::new("RTT p50", duration(rtt.and_then(LatencyFigures::median_ns))),
        Figure::new("RTT max", duration(rtt.and_then(|rtt| rtt.max_ns))),
    ]
}
