//! A figure over time as one row of blocks.

use pathscope_core::figure::{Better, Unit};
use pathscope_core::presentation::{Series, SeriesPoint};
use pathscope_core::quantity::{count, duration_range, rate_range};

use super::line::{Line, Style};
use super::page::Page;
use crate::words;

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Fewer blocks than this show no course.
const LEAST_BLOCKS: usize = 4;
/// Labels longer than this push their own blocks aside.
const LONGEST_LABEL: usize = 28;

/// Adds figures over time, their blocks below each other.
pub fn series(page: &mut Page, series: &[Series]) {
    let labels = series.iter().map(|series| words::width(&series.source.label));
    let start = 4 + labels.max().unwrap_or(0).min(LONGEST_LABEL);
    series.iter().for_each(|series| add(page, series, start));
}

/// Whether any of them has a course.
pub fn has_any(series: &[Series]) -> bool {
    series.iter().any(|series| has_course(series) && extremes(series).is_some())
}

/// Its points, as far as it has values: what had no time to have one at the end is no gap to be looked at.
fn course(series: &Series) -> &[SeriesPoint] {
    let last = series.points.iter().rposition(|point| point.number().is_some());
    last.map_or(&[], |last| &series.points[..=last])
}

/// A range without its course is no news of a run that was cut off: its figures say more.
fn has_course(series: &Series) -> bool {
    series.numbers().count() >= LEAST_BLOCKS
}

fn add(page: &mut Page, series: &Series, start: usize) {
    let Some((least, most)) = extremes(series).filter(|_| has_course(series)) else { return };
    let range = range(series.source.unit, least, most);
    let start = start.max(words::width(&series.source.label) + 4);
    let line = Line::indented(2).with(Style::Plain, &series.source.label).padded_to(start);
    let room = page.columns().saturating_sub(start + 2 + words::width(&range));
    let blocks = blocks(series, most, room);
    let line = match blocks.chars().count() {
        LEAST_BLOCKS.. => line.with(Style::Plain, &blocks).with(Style::Plain, "  "),
        _ => line,
    };
    page.sentence(line, Style::Faint, &range);
}

/// The least and the greatest value; `None` unless there are two to compare.
fn extremes(series: &Series) -> Option<(f64, f64)> {
    let values = || series.numbers();
    (values().count() > 1).then(|| values().fold((f64::INFINITY, f64::NEG_INFINITY), widen))
}

fn widen((least, most): (f64, f64), value: f64) -> (f64, f64) {
    (least.min(value), most.max(value))
}

/// A block for each point, or for several where there are more than fit. Heights begin at zero, so that
/// half the height is half the value; a gap is a space.
fn blocks(series: &Series, most: f64, room: usize) -> String {
    let points = course(series);
    let points_a_block = points.len().div_ceil(room.max(1)).max(1);
    let values = points.chunks(points_a_block);
    values
        .map(|points| worst(series.source.better, points).map_or(' ', |value| block(value, most)))
        .collect()
}

/// Of several points, the one that must not vanish: a stall among rates, a spike among times.
fn worst(better: Better, points: &[SeriesPoint]) -> Option<f64> {
    let values = points.iter().filter_map(SeriesPoint::number);
    match better {
        Better::Higher => values.reduce(f64::min),
        Better::Lower | Better::Neither => values.reduce(f64::max),
    }
}

fn block(value: f64, most: f64) -> char {
    let share = if most > 0.0 { (value / most).clamp(0.0, 1.0) } else { 0.0 };
    let height = (share * BLOCKS.len() as f64).ceil() as usize;
    BLOCKS[height.clamp(1, BLOCKS.len()) - 1]
}

/// `61.22 to 72.15 Gbit/s`.
fn range(unit: Unit, least: f64, most: f64) -> String {
    match unit {
        Unit::BitRate => rate_range(least, most),
        Unit::Duration => duration_range(least as u64, most as u64),
        _ => format!("{} to {}", count(least as u64), count(most as u64)),
    }
}

#[cfg(test)]
mod tests {
    use pathscope_core::presentation::Source;

    use super::*;
    use crate::view::{Charset, Color};

    fn of(unit: Unit, values: &[Option<f64>]) -> Series {
        let points = (0..).zip(values).map(|(at, value)| SeriesPoint::at(at, *value)).collect();
        let better = if unit == Unit::BitRate { Better::Higher } else { Better::Lower };
        Series { source: Source { unit, better, ..Source::default() }, points }
    }

    #[test]
    fn heights_are_shares_of_the_greatest_and_gaps_stay_gaps() {
        let series = of(Unit::BitRate, &[Some(8.0), Some(4.0), None, Some(0.0), Some(f64::NAN)]);
        assert_eq!(blocks(&series, 8.0, 80), "█▄ ▁");
    }

    #[test]
    fn what_goes_wrong_for_a_moment_is_seen_when_points_share_a_block() {
        let values = [10.0, 10.0, 10.0, 1.0, 10.0, 10.0].map(Some);
        assert_eq!(blocks(&of(Unit::BitRate, &values), 10.0, 3), "█▁█");
        let values = [1.0, 1.0, 1.0, 10.0, 1.0, 1.0].map(Some);
        assert_eq!(blocks(&of(Unit::Duration, &values), 10.0, 3), "▁█▁");
    }

    #[test]
    fn a_course_too_short_to_be_drawn_leaves_no_range_behind() {
        let shown = |points: &[Option<f64>]| {
            let mut page = Page::new(80, Color::Never, Charset::Unicode);
            series(&mut page, &[of(Unit::BitRate, points)]);
            let mut out = Vec::new();
            page.write_to(&mut out).expect("a vector takes every byte");
            String::from_utf8(out).expect("text is UTF-8")
        };
        assert_eq!(shown(&[Some(1e9); 3]), "");
        assert_eq!(shown(&[Some(1e9), Some(1e9), None, Some(0.0)]), "", "a gap is no value");
        assert!(shown(&[Some(1e9); 4]).contains("████"));
    }

    #[test]
    fn one_value_has_no_course() {
        assert_eq!(extremes(&of(Unit::Count, &[None, Some(1.0), Some(f64::INFINITY)])), None);
        assert_eq!(extremes(&of(Unit::Count, &[Some(2.0), Some(1.0)])), Some((1.0, 2.0)));
    }

    #[test]
    fn a_range_is_of_what_the_values_are() {
        assert_eq!(range(Unit::BitRate, 61.22e9, 72.15e9), "61.22 to 72.15 Gbit/s");
        assert_eq!(range(Unit::Duration, 7e3, 10e6), "7.000 to 10,000 µs");
        assert_eq!(range(Unit::Count, 0.0, 1_234.0), "0 to 1,234");
    }
}
