//! What of streams is drawn over time: how frames ended, how much delay varied, and how deep a buffer they would have needed.
//!
//! Not here: how full a buffer was. None is filled: each frame is judged at its play-out moment, and what its datagrams left of the
//! time until then is told by the depth that they needed.

use pathscope_core::presentation::{Chart, Series, Source};

use super::figures::GROUP;
use super::{FrameCounts, MediaInterval};
use crate::figure::{Part, Point};

/// How frames end, each in one of these: the figure, its place among the counts, and what it is called beside the others.
type Fate = (&'static str, &'static str, &'static str, fn(&FrameCounts) -> u64);

const FATES: [Fate; 5] = [
    ("frames.completed", "completed", "in time", |it| it.completed),
    ("frames.repeated", "repeated", "in time, repeated", |it| it.repeated),
    ("frames.missed", "missed", "not there in time", |it| it.missed),
    ("frames.erroneous", "erroneous", "in error", |it| it.erroneous),
    ("frames.cut", "cut", "cut", |it| it.cut),
];

/// The points of an interval of the receiver at this end of this way.
pub(super) fn points(way: &'static str, own: Option<&MediaInterval>) -> Vec<Point> {
    let end = if way == "up" { "server" } else { "client" };
    let point = |name: &str, place: &str, label: &str, chart, value: Option<f64>| {
        let place = format!("{end}.media.{place}");
        let source = GROUP.series(&Part::Side(way), name, &place, chart);
        Point { source: Source { label: format!("{label} {way}"), ..source }, value }
    };
    let duration = own.and_then(|own| own.jitter_ns);
    let depth = own.and_then(|own| own.needed_depth_ns).map(|depth| depth as f64);
    let mut points = vec![
        point("jitter", "jitter_ns", "interarrival jitter", Chart::Line, duration),
        point("needed_depth", "needed_depth_ns", "buffer needed", Chart::Line, depth),
    ];
    points.extend(FATES.map(|(name, place, label, count)| {
        let value = own.map(|own| count(&own.frames) as f64);
        let label = format!("frames {label},");
        point(name, &format!("frames.{place}"), &label, Chart::Stack, value)
    }));
    // Known later than the others, of frames that are among them already: beside them, and not upon them.
    let late = own.map(|own| own.frames.late as f64);
    points.push(point("frames.late", "frames.late", "frames whole too late,", Chart::Line, late));
    points
}

/// Ways for a frame to end that none took are left out, but for the one that all should.
pub(super) fn drop_unheard(series: &mut Vec<Series>) {
    let is_told = |series: &Series| {
        let is_count = series.source.id.starts_with("media.frames.");
        let is_good = series.source.id.starts_with("media.frames.completed");
        let happened = || series.points.iter().any(|point| point.value.is_some_and(|it| it > 0.0));
        !is_count || is_good || happened()
    };
    series.retain(is_told);
}

#[cfg(test)]
mod tests {
    use pathscope_core::presentation::SeriesPoint;

    use super::*;

    #[test]
    fn fates_lie_upon_each_other_and_those_of_no_frame_are_left_out() {
        let frames = FrameCounts { completed: 28, missed: 2, late: 1, ..FrameCounts::default() };
        let interval = MediaInterval {
            frames,
            jitter_ns: Some(1.5),
            needed_depth_ns: Some(40),
            ..MediaInterval::default()
        };
        let series = points("down", Some(&interval)).into_iter();
        let series = series
            .map(|it| Series { source: it.source, points: vec![SeriesPoint::at(0, it.value)] });
        let mut series: Vec<Series> = series.collect();
        drop_unheard(&mut series);
        let told: Vec<_> = series
            .iter()
            .map(|it| (it.source.label.as_str(), it.source.chart, it.points[0].value))
            .collect();
        let expected = [
            ("interarrival jitter down", Chart::Line, Some(1.5)),
            ("buffer needed down", Chart::Line, Some(40.0)),
            ("frames in time, down", Chart::Stack, Some(28.0)),
            ("frames not there in time, down", Chart::Stack, Some(2.0)),
            ("frames whole too late, down", Chart::Line, Some(1.0)),
        ];
        assert_eq!(told, expected);
        assert_eq!(series[2].source.place, "intervals[].client.media.frames.completed");
    }

    #[test]
    fn each_frame_is_in_one_of_the_fates() {
        let frames = FrameCounts {
            completed: 1,
            repeated: 2,
            missed: 30,
            late: 7,
            unsent: 5,
            erroneous: 100,
            cut: 1_000,
        };
        assert_eq!(FATES.iter().map(|fate| fate.3(&frames)).sum::<u64>(), 1_133);
    }
}
