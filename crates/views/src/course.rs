//! Where lines over time go through, and from when until when an axis of time goes: for the page, the picture and whatever draws
//! them else, so that all agree. Not here: how they are drawn.
//!
//! What is known of a stretch of time stands in its middle, over the column of a heat map and the bar of a count of the same time. It
//! holds to the end of the stretch where none follows that has a value, so that a line is as long as what it tells of, and a gap as
//! long as what nothing is known of.

use pathscope_core::presentation::{Section, Series, SeriesPoint};

/// The shortest axis of time, in seconds.
const LEAST: f64 = 0.001;

/// From when until when an axis of time goes, in seconds.
pub type Axis = (f64, f64);

/// A place that a line goes through, or an end of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    /// Where it is drawn, in seconds.
    pub at: f64,
    /// How much; none in a gap.
    pub value: Option<f64>,
    /// The stretch of time that the value is of, in seconds.
    pub start: f64,
    /// Its end.
    pub end: f64,
}

impl Stop {
    /// Whether it is an end of a line that only prolongs it: the value stands in the middle, too.
    pub fn is_edge(&self) -> bool {
        self.end > self.start && (self.at <= self.start || self.at >= self.end)
    }
}

/// All that a line of these points goes through.
pub fn course(points: &[SeriesPoint]) -> Vec<Stop> {
    let is_there = |point: Option<&SeriesPoint>| point.is_some_and(|it| it.number().is_some());
    let mut stops = Vec::with_capacity(points.len() + 2);
    for (place, point) in points.iter().enumerate() {
        let [start, end] = [point.start_ns, point.end_ns].map(seconds);
        let stop = |at| Stop { at, value: point.number(), start, end };
        let has_ends = end > start && point.number().is_some();
        let is_first = !is_there(place.checked_sub(1).and_then(|before| points.get(before)));
        let is_last = !is_there(points.get(place + 1));
        stops.extend((has_ends && is_first).then(|| stop(start)));
        stops.push(stop(f64::midpoint(start, end)));
        stops.extend((has_ends && is_last).then(|| stop(end)));
    }
    stops
}

/// An axis of time over all of these, each with its begin and its end: it begins with a whole second.
pub fn axis(all: impl Iterator<Item = (u64, u64)>) -> Axis {
    let all = all.map(|(start_ns, end_ns)| (start_ns, end_ns.max(start_ns)));
    let ends = all.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
    let (first, last) = ends.unwrap_or_default();
    let begin = seconds(first).floor();
    (begin, seconds(last).max(begin + LEAST))
}

/// Begin and end of each point of these.
pub fn times<'all>(
    series: impl IntoIterator<Item = &'all Series>,
) -> impl Iterator<Item = (u64, u64)> {
    let points = series.into_iter().flat_map(|series| &series.points);
    points.map(|point| (point.start_ns, point.end_ns))
}

/// The axis of all that a section has over time: its charts stand below each other.
pub fn axis_of(section: &Section) -> Axis {
    let backgrounds = section.backgrounds.iter().flat_map(|it| &it.series);
    let columns = section.heat_maps.iter().flat_map(|map| &map.columns);
    let timelines = section.timelines.iter().filter(|timeline| !timeline.rows.is_empty());
    let dots = section.scatters.iter().flat_map(|scatter| &scatter.kinds);
    let begins = dots.flat_map(|dots| &dots.points).map(|&(at_ns, _)| (at_ns, at_ns));
    axis(
        times(section.series.iter().chain(backgrounds))
            .chain(columns.map(|column| (column.start_ns, column.end_ns)))
            .chain(timelines.map(|timeline| (timeline.start_ns, timeline.end_ns)))
            .chain(begins),
    )
}

/// Nanoseconds as seconds.
pub fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF: u64 = 500_000_000;

    #[test]
    fn a_line_goes_through_the_middle_of_each_stretch_and_holds_to_its_ends() {
        let values = [Some(1.0), Some(2.0), None, Some(f64::NAN), Some(3.0)];
        let points: Vec<SeriesPoint> = (0..)
            .zip(values)
            .map(|(at, value)| SeriesPoint::over(2 * HALF * at, 2 * HALF * (at + 1), value))
            .collect();
        let stops = course(&points);
        let told: Vec<_> = stops.iter().map(|it| (it.at, it.value, it.is_edge())).collect();
        assert_eq!(
            told,
            [
                (0.0, Some(1.0), true),
                (0.5, Some(1.0), false),
                (1.5, Some(2.0), false),
                (2.0, Some(2.0), true),
                (2.5, None, false),
                (3.5, None, false),
                (4.0, Some(3.0), true),
                (4.5, Some(3.0), false),
                (5.0, Some(3.0), true),
            ]
        );
        assert_eq!((stops[3].start, stops[3].end), (1.0, 2.0));
    }

    #[test]
    fn an_instant_has_one_place() {
        let points = [SeriesPoint::at(HALF, Some(1.0)), SeriesPoint::at(3 * HALF, Some(2.0))];
        let told: Vec<_> = course(&points).iter().map(|it| (it.at, it.is_edge())).collect();
        assert_eq!(told, [(0.5, false), (1.5, false)]);
    }

    #[test]
    fn an_axis_goes_from_a_whole_second_to_the_end_of_all() {
        assert_eq!(axis([(3 * HALF, 4 * HALF), (5 * HALF, 5 * HALF)].into_iter()), (1.0, 2.5));
        assert_eq!(axis([(HALF, 3 * HALF), (2 * HALF, 2 * HALF)].into_iter()), (0.0, 1.5));
        assert_eq!(axis(std::iter::empty()), (0.0, 0.001));
    }
}
