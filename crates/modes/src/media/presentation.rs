//! A media test as labelled figures: all that a view needs.

use pathscope_core::presentation::{Figure, Table, Value};
use pathscope_core::quantity::{count, counted, duration_ns, ratio};
use pathscope_core::stats::LatencyFigures;

use super::figures::GROUP;
use super::{
    FrameCounts, Layout, MediaDirection, MediaInterval, MediaPlan, MediaReport, MediaSummary,
    Pacing, StreamFacts,
};
use crate::figure::{Amount, Unit};
use crate::results::Slices;

/// Streams that are shown one by one.
const STREAMS_SHOWN: usize = 20;

/// What is done, in a few words: with what its frames come to.
pub fn subtitle(plan: &MediaPlan) -> String {
    let layout = Layout::of(plan);
    let way = match (plan.is_up(), plan.is_down()) {
        (true, true) => "both ways",
        (true, false) => "up",
        _ => "down",
    };
    let streams = match plan.streams {
        1 => "1 stream".to_owned(),
        streams => format!("{} streams", count(streams.into())),
    };
    let profile = plan.profile.as_ref().map_or_else(String::new, |name| format!("{name}, "));
    let pacing = if plan.pacing == Pacing::Spread { ", spread" } else { "" };
    format!(
        "{profile}{way}, {streams} of {}, {} frames/s of {} B in {}{pacing}, buffer {}, {}",
        plan.rate_bps,
        count(layout.frame_rate.into()),
        count(layout.frame_bytes),
        counted(layout.datagrams.into(), "datagram"),
        plan.buffer_depth_ns,
        plan.duration_ns,
    )
}

/// The figures of a media test.
pub fn figures(plan: &MediaPlan, summary: &MediaSummary) -> Vec<Figure> {
    let has_both = plan.is_up() && plan.is_down();
    let named = |(name, way): (&'static str, &MediaDirection)| {
        let mut figures = of_direction(name, way);
        if has_both {
            // What is compared stays one group: the two directions of it.
            figures.iter_mut().for_each(|figure| figure.label = format!("{name} {}", figure.label));
        }
        figures
    };
    summary.directions().flat_map(named).collect()
}

fn of_direction(name: &'static str, way: &MediaDirection) -> Vec<Figure> {
    let mut figures = vec![GROUP.of(name, "received_rate", way.received_bps).of("received")];
    match &way.frames {
        Some(frames) => figures.extend(frames_of(name, way, frames)),
        None => figures.push(GROUP.of(name, "frames.completed", None::<u64>)),
    }
    figures.extend(datagrams_of(name, way));
    if let Some(delay) = &way.delay {
        figures.extend(delays(name, ("delay", delay), "above the least"));
    }
    figures.extend(jitter(name, way));
    figures.push(GROUP.of(name, "longest_freeze", way.longest_freeze_ns));
    let depth = GROUP.of(name, "needed_depth", way.needed_depth_ns);
    figures.push(depth.with_note("would have had each frame in time that ever was whole"));
    if let Some(lag) = &way.send_lag {
        figures.extend(delays(name, ("send_lag", lag), "its own lateness"));
    }
    figures
}

fn frames_of(name: &'static str, way: &MediaDirection, frames: &FrameCounts) -> Vec<Figure> {
    let note = match way.played_ratio {
        Some(share) => {
            let of = count(frames.judged());
            format!("{} of {of} there in time", ratio(share))
        }
        None => "none was to be played".to_owned(),
    };
    let mut figures = vec![
        GROUP.of(name, "frames.completed", frames.completed).with_note(note),
        Figure::new("frames dropped", Value::Count(frames.dropped())),
    ];
    let some = [
        ("frames.late", frames.late, "whole after their time"),
        ("frames.repeated", frames.repeated, "in time, with datagrams that came twice"),
        ("frames.erroneous", frames.erroneous, "not whole, with datagrams that came damaged"),
        ("frames.cut", frames.cut, "not yet to be played at the stop"),
        ("frames.never_left", way.frames_unsent.unwrap_or(0), "were due and never left"),
    ];
    let told = some.into_iter().filter(|(_, frames, _)| *frames > 0);
    figures.extend(told.map(|(what, frames, note)| GROUP.of(name, what, frames).with_note(note)));
    figures
}

fn datagrams_of(name: &'static str, way: &MediaDirection) -> Vec<Figure> {
    let mut figures = Vec::new();
    if let Some(lost) = way.lost_datagrams {
        let figure = GROUP.of(name, "lost", lost);
        figures.push(if lost > 0 { figure.with_note(loss(way, lost)) } else { figure });
    }
    for (what, value) in [
        ("reordered", way.reordered),
        ("duplicates", way.duplicates),
        ("damaged", way.damaged_datagrams),
    ] {
        let some = value.filter(|&value| value > 0);
        figures.extend(some.map(|value| GROUP.of(name, what, value)));
    }
    figures
}

fn loss(way: &MediaDirection, lost: u64) -> String {
    let share = way.sent_datagrams.map(|sent| ratio(lost as f64 / sent.max(1) as f64));
    let share = share.map_or_else(String::new, |share| format!("{share}: "));
    let place = match (way.lost_in_network, way.lost_in_socket) {
        (Some(network), Some(socket)) => {
            let (network, socket) = (count(network), count(socket));
            format!("{network} in the network, {socket} in the receiver's socket")
        }
        _ => "where is not known".to_owned(),
    };
    let unreadable = way.lost_unreadable.filter(|&unreadable| unreadable > 0);
    let unreadable = unreadable.map_or_else(String::new, |unreadable| {
        format!(", {} came with a header that cannot be read", count(unreadable))
    });
    let bursts = way.bursts.as_ref().filter(|bursts| bursts.bursts > 0);
    let bursts = bursts.map_or_else(String::new, |bursts| {
        let number = counted(bursts.bursts, "burst");
        format!("; {number}, the longest of {}", count(bursts.longest))
    });
    format!("{share}{place}{unreadable}{bursts}")
}

fn delays(
    name: &'static str,
    (what, of): (&str, &LatencyFigures),
    note: &str,
) -> impl Iterator<Item = Figure> {
    let percentile = |percent: f64| {
        let percentile = of.percentile(percent).filter(|it| it.value_ns.is_some())?;
        Some(GROUP.of(name, &format!("{what}.p{percent}"), *percentile))
    };
    let most = GROUP.of(name, &format!("{what}.max"), of.max_ns).with_note(note);
    let label = most.label.replace("maximum", "max");
    let most = most.labelled(label);
    [50.0, 99.0].map(percentile).into_iter().flatten().chain([most]).map(move |it| it.of(what))
}

/// How much delay varied, each by the name of its definition.
fn jitter(name: &'static str, way: &MediaDirection) -> Vec<Figure> {
    let rounded = |nanoseconds: f64| duration_ns(nanoseconds.round() as u64);
    let mut figures = Vec::new();
    if let Some(variation) = &way.variation {
        let smoothed = variation.rfc3550;
        figures.push(
            GROUP
                .of(name, "jitter", smoothed.mean_ns)
                .of("variation")
                .with_note(format!("RFC 3550, mean; at most {}", rounded(smoothed.max_ns))),
        );
        if let Some(mean) = variation.ipdv.mean_ns {
            figures.push(
                GROUP
                    .of(name, "ipdv.mean", mean)
                    .labelled("mean |IPDV|")
                    .of("variation")
                    .with_note("RFC 3393, of neighbouring datagrams"),
            );
        }
    }
    if let Some(jitter) = &way.frame_jitter {
        figures.push(
            GROUP
                .of(name, "frame_jitter", jitter.mean_ns)
                .of("variation")
                .with_note(format!("ctsTraffic's, mean; at most {}", duration_ns(jitter.max_ns))),
        );
    }
    figures
}

/// What each receiver counted in the interval, up and down.
pub fn rates(plan: &MediaPlan, interval: Slices<'_, MediaInterval>) -> [Option<f64>; 2] {
    interval.rates_bps((plan.is_up(), plan.is_down()), |own| own.received_bytes)
}

/// The cells of a live row.
pub fn cells(plan: &MediaPlan, interval: Slices<'_, MediaInterval>) -> Vec<Figure> {
    let [up, down] = rates(plan, interval);
    let ways = [
        ("down", plan.is_down(), down, interval.client),
        ("up", plan.is_up(), up, interval.server),
    ];
    let mut cells = Vec::new();
    let mut frames: Option<FrameCounts> = None;
    let mut streams = None;
    for (name, _, rate, end) in ways.into_iter().filter(|(_, runs, ..)| *runs) {
        cells.push(GROUP.of(name, "received_rate", rate).labelled(name));
        if let Some(media) = end.and_then(|end| end.own) {
            frames.get_or_insert_default().add(&media.frames);
            streams = streams.max(Some(media.streams));
        }
    }
    let number = |pick: fn(&FrameCounts) -> u64| frames.as_ref().map(pick).value(Unit::Count);
    cells.push(Figure::new("streams", streams.value(Unit::Count)));
    cells.push(Figure::new("completed", number(|frames| frames.completed)));
    cells.push(Figure::new("dropped", number(|frames| frames.missed)));
    cells.push(Figure::new("repeated", number(|frames| frames.repeated)));
    cells.push(Figure::new("errors", number(|frames| frames.erroneous)));
    cells
}

/// The streams one by one, as their receivers saw them; nothing where there is one.
pub fn streams(
    summary: &MediaSummary,
    client: &MediaReport,
    server: Option<&MediaReport>,
) -> Option<Table> {
    let ends =
        [("down", summary.down.as_ref().map(|_| client)), ("up", summary.up.as_ref().and(server))];
    let has_both = summary.up.is_some() && summary.down.is_some();
    let mut streams: Vec<(&str, &StreamFacts)> = ends
        .into_iter()
        .flat_map(|(name, end)| {
            end.into_iter().flat_map(|end| &end.streams).map(move |it| (name, it))
        })
        .collect();
    let all = streams.len();
    let bad = |stream: &StreamFacts| stream.frames.missed.saturating_add(stream.frames.erroneous);
    if all > STREAMS_SHOWN {
        streams.sort_by_key(|(_, it)| std::cmp::Reverse((bad(it), it.needed_depth_ns)));
        streams.truncate(STREAMS_SHOWN);
    }
    let row = |(name, stream): (&str, &StreamFacts)| {
        let name = if has_both { format!(" {name}") } else { String::new() };
        let depth = stream.needed_depth_ns.value(Unit::Duration);
        let frames = &stream.frames;
        let counts =
            [frames.completed, frames.dropped(), frames.late, frames.repeated, frames.erroneous];
        let mut cells = vec![Value::Text(format!("{}{name}", stream.flow))];
        cells.extend(counts.map(Value::Count));
        cells.extend([Value::Count(stream.lost_datagrams), depth]);
        cells
    };
    let rows: Vec<_> = streams.into_iter().map(row).collect();
    let title = if all > STREAMS_SHOWN {
        format!("the worst {STREAMS_SHOWN} of {} streams", count(all as u64))
    } else {
        String::new()
    };
    let columns =
        ["stream", "completed", "dropped", "late", "repeated", "errors", "lost", "buffer needed"];
    (rows.len() > 1).then(|| Table::new(title, columns, rows))
}

/// Several runs side by side.
pub fn overview(runs: &[(&str, &MediaSummary)]) -> Table {
    let row = |(name, summary): &(&str, &MediaSummary)| {
        let mut frames = FrameCounts::default();
        let counts = summary.directions().filter_map(|(_, way)| way.frames);
        counts.for_each(|more| frames.add(&more));
        let sum = |pick: fn(&MediaDirection) -> Option<u64>| {
            let parts = summary.directions().filter_map(|(_, way)| pick(way));
            parts.reduce(u64::saturating_add).value(Unit::Count)
        };
        let rates = summary.directions().filter_map(|(_, way)| way.received_bps);
        vec![
            Value::Text((*name).to_owned()),
            rates.reduce(|sum, more| sum + more).value(Unit::BitRate),
            Value::Count(frames.completed),
            Value::Count(frames.dropped()),
            Value::Count(frames.late),
            Value::Count(frames.repeated),
            Value::Count(frames.erroneous),
            sum(|way| way.lost_datagrams),
        ]
    };
    let columns = ["", "received", "completed", "dropped", "late", "repeated", "errors", "lost"];
    Table::new("", columns, runs.iter().map(row))
}
