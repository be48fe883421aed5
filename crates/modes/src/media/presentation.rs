//! A media test as labelled figures: all that a view needs.

use pathscope_core::presentation::{Figure, Shape, Table, Value};
use pathscope_core::quantity::{count, counted, duration_ns, ratio};
use pathscope_core::stats::LatencyFigures;

use super::figures::GROUP;
use super::{
    FrameCounts, MediaDirection, MediaInterval, MediaPlan, MediaReport, MediaSummary, StreamFacts,
    charts,
};
use crate::figure::{Amount, Part, Point, Unit, notes};
use crate::load::presentation::{self as load, Received};
use crate::results::{Charts, Detail, Ends, Presents, Slices};

/// Streams that are shown one by one.
const STREAMS_SHOWN: usize = 20;

impl Presents for MediaPlan {
    fn cells(&self, interval: Slices<'_, Self>) -> Vec<Figure> {
        let mut cells = Vec::new();
        let mut frames: Option<FrameCounts> = None;
        let mut streams = None;
        for received in received(self, interval).rev() {
            cells.push(received.cell(&GROUP, "received_rate"));
            if let Some(media) = received.own {
                frames.get_or_insert_default().add(&media.frames);
                streams = streams.max(Some(media.streams));
            }
        }
        let counts = [
            ("streams", streams),
            ("completed", frames.map(|frames| frames.completed)),
            ("dropped", frames.map(|frames| frames.missed)),
            ("repeated", frames.map(|frames| frames.repeated)),
            ("errors", frames.map(|frames| frames.erroneous)),
        ];
        cells.extend(counts.map(|(label, number)| Figure::new(label, number.value(Unit::Count))));
        cells
    }

    fn points(&self, _: &Self::Summary, interval: Slices<'_, Self>) -> Vec<Point> {
        let ways = received(self, interval).map(|it| {
            let rate = it.point(&GROUP, "received_rate");
            [vec![rate], charts::points(it.way, it.own)].concat()
        });
        ways.flatten().collect()
    }

    fn charts(&self, _: &MediaSummary, _: &Ends<'_, Self>, charts: &mut Charts) {
        charts::drop_unheard(&mut charts.series);
    }

    fn figures(&self, summary: &MediaSummary) -> Vec<Figure> {
        let has_both = self.is_up() && self.is_down();
        let named = |(name, way): (&'static str, &MediaDirection)| {
            let mut figures = of_direction(name, way);
            if has_both {
                // What is compared stays one group: the two directions of it.
                figures
                    .iter_mut()
                    .for_each(|figure| figure.label = format!("{name} {}", figure.label));
            }
            figures
        };
        summary.directions().flat_map(named).collect()
    }

    fn tables(&self, summary: &MediaSummary, ends: &Ends<'_, Self>, _: Detail) -> Vec<Table> {
        streams(summary, ends.of_client(), ends.of_server()).into_iter().collect()
    }

    fn distributions(ends: &Ends<'_, Self>) -> Vec<Shape> {
        let receivers = [
            ("down", "client.media.delay", Some(ends.of_client())),
            ("up", "server.media.delay", ends.of_server()),
        ];
        let shape = |(way, place, end): (&'static str, &str, Option<&MediaReport>)| {
            let delay = end?.delay.as_ref()?;
            Some(GROUP.shape(&Part::Side(way), ("delay", place, "RelativeInFlightTimeMs"), delay))
        };
        receivers.into_iter().filter_map(shape).collect()
    }

    fn overview(runs: &[(&str, &MediaSummary)]) -> Option<Table> {
        let row = |(name, summary): &(&str, &MediaSummary)| {
            let mut frames = FrameCounts::default();
            let ways = || summary.directions().map(|(_, way)| way);
            ways().filter_map(|way| way.frames).for_each(|more| frames.add(&more));
            let rate = ways().filter_map(|way| way.received_bps).reduce(|sum, more| sum + more);
            let lost = ways().filter_map(|way| way.lost_datagrams).reduce(u64::saturating_add);
            let name = Value::Text((*name).to_owned());
            ([name, rate.value(Unit::BitRate)], frames, [lost.value(Unit::Count)])
        };
        Some(table(String::new(), (["", "received"], ["lost"]), runs.iter().map(row)))
    }
}

/// What each receiver counted in the interval, up and down.
fn received<'a>(
    plan: &MediaPlan,
    interval: Slices<'a, MediaPlan>,
) -> impl DoubleEndedIterator<Item = Received<'a, MediaInterval>> {
    load::received((plan.is_up(), plan.is_down()), interval, |own| own.received_bytes)
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
    let others = [
        ("frames.late", frames.late, "whole after their time"),
        ("frames.repeated", frames.repeated, "in time, with datagrams that came twice"),
        ("frames.erroneous", frames.erroneous, "not whole, with datagrams that came damaged"),
        ("frames.cut", frames.cut, "not yet to be played at the stop"),
        ("frames.never_left", way.frames_unsent.unwrap_or(0), "were due and never left"),
    ];
    figures.extend(GROUP.counted(&Part::Side(name), others));
    figures
}

fn datagrams_of(name: &'static str, way: &MediaDirection) -> Vec<Figure> {
    let lost = way.lost_datagrams;
    let lost = lost.map(|lost| GROUP.of(name, "lost", lost).with_note(loss(way, lost)));
    let others = [
        ("reordered", way.reordered.unwrap_or(0), ""),
        ("duplicates", way.duplicates.unwrap_or(0), ""),
        ("damaged", way.damaged_datagrams.unwrap_or(0), ""),
    ];
    lost.into_iter().chain(GROUP.counted(&Part::Side(name), others)).collect()
}

/// Of how many, where, and how many in a row; nothing of none.
fn loss(way: &MediaDirection, lost: u64) -> String {
    if lost == 0 {
        return String::new();
    }
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
    let bursts = bursts.map(|bursts| {
        let number = counted(bursts.bursts, "burst");
        format!("{number}, the longest of {}", count(bursts.longest))
    });
    notes([Some(format!("{share}{place}{unreadable}")), bursts])
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
fn jitter(name: &'static str, way: &MediaDirection) -> impl Iterator<Item = Figure> {
    let variation = way.variation.as_ref();
    let jitter = variation.map(|it| it.rfc3550);
    let jitter = jitter.map(|it| GROUP.of(name, "jitter", it.mean_ns).with_note(it.words()));
    let mean = variation.and_then(|it| it.ipdv.mean_ns);
    let ipdv = mean.map(|mean| {
        let figure = GROUP.of(name, "ipdv.mean", mean).labelled("mean |IPDV|");
        figure.with_note("RFC 3393, of neighbouring datagrams")
    });
    let of_frames = way.frame_jitter.as_ref().map(|jitter| {
        let note = format!("ctsTraffic's, mean; at most {}", duration_ns(jitter.max_ns));
        GROUP.of(name, "frame_jitter", jitter.mean_ns).with_note(note)
    });
    [jitter, ipdv, of_frames].into_iter().flatten().map(|figure| figure.of("variation"))
}

/// A column of a table that says how frames ended.
type FrameColumn = (&'static str, fn(&FrameCounts) -> u64);

/// All of these.
const FRAMES: [FrameColumn; 5] = [
    ("completed", |frames| frames.completed),
    ("dropped", FrameCounts::dropped),
    ("late", |frames| frames.late),
    ("repeated", |frames| frames.repeated),
    ("errors", |frames| frames.erroneous),
];

/// A table of rows that each have a name, numbers before and after how their frames ended, and that.
fn table<const BEFORE: usize, const AFTER: usize>(
    title: String,
    (before, after): ([&str; BEFORE], [&str; AFTER]),
    rows: impl IntoIterator<Item = ([Value; BEFORE], FrameCounts, [Value; AFTER])>,
) -> Table {
    let columns = before.into_iter().chain(FRAMES.map(|(head, _)| head)).chain(after);
    let rows = rows.into_iter().map(|(before, frames, after)| {
        let counts = FRAMES.map(|(_, pick)| Value::Count(pick(&frames)));
        before.into_iter().chain(counts).chain(after).collect::<Vec<_>>()
    });
    Table::new(title, columns, rows)
}

/// The streams one by one, as their receivers saw them; nothing where there is one.
fn streams(
    summary: &MediaSummary,
    client: &MediaReport,
    server: Option<&MediaReport>,
) -> Option<Table> {
    let ends =
        [("down", summary.down.as_ref().map(|_| client)), ("up", summary.up.as_ref().and(server))];
    let has_both = summary.up.is_some() && summary.down.is_some();
    let mut streams: Vec<(&str, &StreamFacts)> = Vec::new();
    for (way, end) in ends {
        streams.extend(end.into_iter().flat_map(|end| &end.streams).map(|stream| (way, stream)));
    }
    let all = streams.len();
    let mut title = String::new();
    if all > STREAMS_SHOWN {
        title = format!("the worst {STREAMS_SHOWN} of {} streams", count(all as u64));
        let bad = |frames: &FrameCounts| frames.missed.saturating_add(frames.erroneous);
        streams.sort_by_key(|(_, it)| std::cmp::Reverse((bad(&it.frames), it.needed_depth_ns)));
        streams.truncate(STREAMS_SHOWN);
    }
    let row = |(way, stream): (&str, &StreamFacts)| {
        let way = if has_both { format!(" {way}") } else { String::new() };
        let depth = stream.needed_depth_ns.value(Unit::Duration);
        let name = Value::Text(format!("{}{way}", stream.flow));
        ([name], stream.frames, [Value::Count(stream.lost_datagrams), depth])
    };
    let rows = streams.into_iter().map(row);
    (all > 1).then(|| table(title, (["stream"], ["lost", "buffer needed"]), rows))
}
