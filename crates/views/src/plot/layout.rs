//! Where each line and word of a chart stands. No meaning is in colors alone: lines differ by their dashes, too, and bear their names
//! where they end.

use pathscope_core::presentation::Value;

use super::axis;
use super::chart::{Chart, Counts, Fields, Line, Lines, Panels};
use super::drawing::{Anchor, Drawing, Mark, Place};
use super::font;
use super::page::{
    BAD, DASHES, FAINT, Field, GRID, INK, LEFT, LINES, MARGIN, MARKED, PAPER, Page, ROW, WIDTH,
    WORDS, panel_height,
};
use crate::course::{Axis, Stop};
use crate::value::shown_alone;
use crate::words;

const TITLE: f64 = 18.0;
/// The widest that names beside a plot become.
const WIDEST_NAME: f64 = 200.0;
/// The line that shows how a figure is drawn, beside its name.
const SWATCH: f64 = 18.0;
/// So many lines of one remark, and no more.
const MOST_ROWS: usize = 2;
/// Columns of a line of remarks, before it is measured.
const COLUMNS: usize = 104;
/// Columns that may stay free where a word goes to the next line.
const LONGEST_WORD: usize = 20;
/// A line through so few points bears them.
const DOTTED: usize = 40;
/// What is not nothing is seen.
const LEAST_BAR: f64 = 1.5;

/// The whole picture.
pub fn laid_out(chart: &Chart) -> Drawing {
    let mut page = Page { marks: Vec::new(), top: MARGIN };
    page.top += TITLE;
    let title = font::clipped(&chart.title, TITLE, WIDTH - 2.0 * MARGIN);
    page.marks.push(Mark::Text {
        at: (MARGIN, page.top),
        text: title.clone(),
        size: TITLE,
        anchor: Anchor::Start,
        color: INK,
        is_bold: true,
    });
    page.top += 4.0;
    let rows = chart.remarks.iter().flat_map(|remark| {
        let color = if remark.is_bad { BAD } else { FAINT };
        let text = words::clip(&remark.text, MOST_ROWS * COLUMNS - LONGEST_WORD);
        let rows = words::wrap(&text, COLUMNS, COLUMNS).into_iter().take(MOST_ROWS);
        rows.map(move |row| (row, color)).collect::<Vec<_>>()
    });
    for (row, color) in rows {
        page.top += ROW;
        let row = font::clipped(&row, WORDS, WIDTH - 2.0 * MARGIN);
        page.words((MARGIN, page.top), row, Anchor::Start, color);
    }
    match &chart.panels {
        Panels::Time { axis, panels, phases } => page.time(*axis, panels, phases),
        Panels::Durations(panels) => page.durations(panels),
        Panels::Fields(panels) => page.fields(panels),
        Panels::Estimates(panels) => page.estimates(panels),
    }
    page.top += ROW + 10.0;
    let foot = font::clipped(&chart.foot, 10.0, WIDTH - 2.0 * MARGIN);
    page.text((MARGIN, page.top), foot, 10.0, Anchor::Start, FAINT);
    let height = (page.top + 12.0).ceil();
    let paper = [(0.0, 0.0), (WIDTH, 0.0), (WIDTH, height), (0.0, height)];
    page.marks.insert(0, Mark::Area { within: paper.to_vec(), color: PAPER, opacity: 1.0 });
    Drawing { width: WIDTH, height, title, marks: page.marks }
}

impl Page {
    /// Figures over one axis of time.
    fn time(&mut self, (first, last): Axis, panels: &[Lines], phases: &[(f64, String)]) {
        let names = panels
            .iter()
            .flat_map(|panel| &panel.lines)
            .flat_map(|line| line.value.iter().chain([&line.label]));
        let widest =
            names.map(|name| font::width(name, WORDS)).fold(0.0, f64::max).min(WIDEST_NAME);
        let right = WIDTH - MARGIN - widest - SWATCH - 14.0;
        let height = panel_height(panels.len());
        for (at, panel) in panels.iter().enumerate() {
            let values =
                panel.lines.iter().flat_map(|line| line.stops.iter().filter_map(|stop| stop.value));
            let most = values.fold(0.0, f64::max) / panel.multiple;
            let top = self.top + 36.0;
            let field = Field {
                right,
                top,
                bottom: top + height,
                first,
                last,
                is_logarithmic: false,
                most,
            };
            let unit = if panel.unit.is_empty() { "number" } else { &panel.unit };
            let field = self.heights(field, unit);
            self.seconds(&field, at + 1 == panels.len());
            self.phases(&field, phases, at == 0);
            self.lines(&field, panel);
            self.top = field.bottom + if at + 1 == panels.len() { 20.0 } else { 0.0 };
        }
        self.top += ROW;
        self.words(
            (f64::midpoint(LEFT, right), self.top),
            "time since the start".to_owned(),
            Anchor::Middle,
            FAINT,
        );
    }

    /// Histograms over one logarithmic axis of durations.
    fn durations(&mut self, panels: &[Counts]) {
        let ranges = || panels.iter().flat_map(|panel| &panel.ranges).map(|(range, _)| range);
        let first = ranges().map(|range| range.start).fold(f64::MAX, f64::min);
        let last = ranges().map(|range| range.end).fold(0.0, f64::max);
        let names = panels.iter().flat_map(|panel| &panel.marks).map(mark);
        let right =
            WIDTH - MARGIN - names.map(|name| font::width(&name, WORDS)).fold(0.0, f64::max) - 6.0;
        let height = panel_height(panels.len());
        for (at, panel) in panels.iter().enumerate() {
            self.top += ROW + 10.0;
            let title = font::clipped(&panel.title, WORDS, WIDTH - LEFT - MARGIN);
            self.words((LEFT, self.top), title, Anchor::Start, INK);
            let most = panel.ranges.iter().map(|(_, count)| *count).max().unwrap_or(0) as f64;
            let field =
                Field { right, top: 0.0, bottom: 0.0, first, last, is_logarithmic: true, most };
            let rows = rows(&field, &panel.marks);
            let deepest = rows.iter().max().map_or(0, |row| row + 1);
            let above = self.top + 6.0;
            let top = above + deepest as f64 * ROW + 6.0;
            let field = self.heights(Field { top, bottom: top + height, ..field }, "");
            let is_last = at + 1 == panels.len();
            for duration in axis::durations(first, last) {
                self.upright(&field, field.x(duration), is_last.then(|| axis::duration(duration)));
            }
            self.bars(&field, panel);
            for (entry, row) in panel.marks.iter().zip(rows) {
                let (x, base) = (field.x(entry.1 as f64), above + (row as f64 + 0.8) * ROW);
                self.line(vec![(x, base - 9.0), (x, field.bottom)], INK, 1.0, MARKED);
                self.words((x + 4.0, base), mark(entry), Anchor::Start, INK);
            }
            self.top = field.bottom + if is_last { 20.0 } else { 0.0 };
        }
        self.top += ROW;
        let name = "how long it took, on a logarithmic scale".to_owned();
        self.words((f64::midpoint(LEFT, right), self.top), name, Anchor::Middle, FAINT);
    }

    /// Fields of time and durations, on the same axes in each panel; that of durations is logarithmic.
    fn fields(&mut self, panels: &[Fields]) {
        let all = || panels.iter().flat_map(|panel| &panel.fields);
        let first = all().map(|it| it.0.start).fold(f64::MAX, f64::min).floor();
        let last = all().map(|it| it.0.end).fold(first + 0.001, f64::max);
        let least = all().map(|it| it.1.start).fold(f64::MAX, f64::min).max(1.0);
        let most = all().map(|it| it.1.end).fold(least * 2.0, f64::max);
        let height = panel_height(panels.len());
        for (at, panel) in panels.iter().enumerate() {
            self.top += ROW + 10.0;
            let title = font::clipped(&panel.title, WORDS, WIDTH - LEFT - MARGIN);
            self.words((LEFT, self.top), title, Anchor::Start, INK);
            let (right, top) = (WIDTH - MARGIN - 8.0, self.top + 12.0);
            let bottom = top + height;
            let is_logarithmic = false;
            let field = Field { right, top, bottom, first, last, is_logarithmic, most };
            let y = |duration: f64| {
                bottom - (duration.max(least) / least).ln() / (most / least).ln() * height
            };
            for duration in axis::durations(least, most) {
                let y = y(duration);
                self.line(vec![(LEFT, y), (right, y)], GRID, 1.0, DASHES[0]);
                self.words((LEFT - 8.0, y + 4.0), axis::duration(duration), Anchor::End, INK);
            }
            self.seconds(&field, at + 1 == panels.len());
            let darkest = (panel.most as f64 + 1.0).ln();
            for (seconds, durations, count) in &panel.fields {
                let [left, right] = [seconds.start, seconds.end].map(|it| field.x(it));
                let [low, high] = [durations.start, durations.end].map(y);
                let within = vec![(left, high), (right, high), (right, low), (left, low)];
                let opacity = 0.15 + 0.85 * (*count as f64 + 1.0).ln() / darkest;
                let opacity = (opacity * 100.0).round() / 100.0;
                self.marks.push(Mark::Area { within, color: LINES[0], opacity });
            }
            self.top = bottom + if at + 1 == panels.len() { 20.0 } else { 0.0 };
        }
        self.top += ROW;
        let name = "time since the start".to_owned();
        self.words((f64::midpoint(LEFT, WIDTH), self.top), name, Anchor::Middle, FAINT);
    }

    /// Where each measurement began, with its name above the first panel where there is room.
    fn phases(&mut self, field: &Field, phases: &[(f64, String)], is_told: bool) {
        for (at, (start, name)) in phases.iter().enumerate() {
            let x = field.x(*start);
            let end = phases.get(at + 1).map_or(WIDTH - MARGIN, |next| field.x(next.0));
            self.line(
                vec![(x, field.top - if is_told { 20.0 } else { 0.0 }), (x, field.bottom)],
                FAINT,
                1.0,
                MARKED,
            );
            if is_told && end - x > 32.0 {
                let name = font::clipped(name, WORDS, end - x - 8.0);
                self.words((x + 4.0, field.top - 9.0), name, Anchor::Start, INK);
            }
        }
    }

    /// The lines of a panel, and their names at its right.
    fn lines(&mut self, field: &Field, panel: &Lines) {
        for (at, line) in panel.lines.iter().enumerate() {
            let (color, dash) = (LINES[at % 4], DASHES[(at + at / 4) % 4]);
            let dots = line.stops.iter().filter(|stop| !stop.is_edge());
            let dots: Vec<Place> =
                dots.filter_map(|stop| place(field, panel.multiple, stop)).collect();
            if dots.len() <= DOTTED {
                dots.into_iter().for_each(|place| self.dot(place, color));
            }
            for segment in segments(field, panel.multiple, line) {
                let ends = segment
                    .first()
                    .zip(segment.last())
                    .map(|(first, last)| [(last.0, field.bottom), (first.0, field.bottom)]);
                if let Some(ends) = ends.filter(|_| line.is_area && segment.len() > 1) {
                    let within = segment.iter().copied().chain(ends).collect();
                    self.marks.push(Mark::Area { within, color, opacity: 0.13 });
                }
                match segment[..] {
                    [alone] => self.dot(alone, color),
                    _ => self.line(segment, color, 2.0, dash),
                }
            }
        }
        self.names(field, panel);
    }

    /// Each at the height of its line's last value, or as near to it as the others leave room.
    fn names(&mut self, field: &Field, panel: &Lines) {
        let last = |line: &Line| line.stops.iter().rev().find_map(|stop| stop.value);
        let mut names: Vec<(f64, usize)> = Vec::new();
        for (at, line) in panel.lines.iter().enumerate() {
            names.extend(last(line).map(|value| (field.y(value / panel.multiple), at)));
        }
        names.sort_by(|one, other| one.0.total_cmp(&other.0));
        let room = |at: usize| if panel.lines[at].value.is_some() { 2.0 * ROW } else { ROW };
        let mut lowest = field.bottom + 12.0 - names.iter().map(|(_, at)| room(*at)).sum::<f64>();
        let mut free = field.top - 8.0;
        for (y, at) in names {
            let y = y.min(lowest).max(free);
            (free, lowest) = (y + room(at), lowest + room(at));
            let (color, dash) = (LINES[at % 4], DASHES[(at + at / 4) % 4]);
            let left = field.right + 6.0;
            self.line(vec![(left, y), (left + SWATCH, y)], color, 2.0, dash);
            let line = &panel.lines[at];
            for (row, name) in
                [Some(&line.label), line.value.as_ref()].into_iter().flatten().enumerate()
            {
                let place = (left + SWATCH + 4.0, y + 4.0 + row as f64 * (ROW - 2.0));
                let name = font::clipped(name, WORDS, WIDEST_NAME);
                self.words(place, name, Anchor::Start, if row == 0 { color } else { INK });
            }
        }
    }

    fn bars(&mut self, field: &Field, panel: &Counts) {
        for (range, count) in panel.ranges.iter().filter(|(_, count)| *count > 0) {
            let (left, right) = (field.x(range.start), field.x(range.end));
            let right = if right - left > 3.0 { right - 0.6 } else { right };
            let top = field.y(*count as f64).min(field.bottom - LEAST_BAR);
            let within =
                vec![(left, top), (right, top), (right, field.bottom), (left, field.bottom)];
            self.marks.push(Mark::Area { within, color: LINES[0], opacity: 0.8 });
        }
    }
}

/// A percentile as it is told.
fn mark((name, nanoseconds): &(String, u64)) -> String {
    format!("{name} {}", shown_alone(&Value::Duration(*nanoseconds)))
}

/// Which row above a histogram each mark is told in, from the top: no line goes down through the words of another.
fn rows(field: &Field, marks: &[(String, u64)]) -> Vec<usize> {
    let mut ends: Vec<f64> = Vec::new();
    let row = |entry: &(String, u64)| {
        let x = field.x(entry.1 as f64);
        let row = ends.iter().rposition(|&end| end > x).map_or(0, |row| row + 1);
        let end = x + 10.0 + font::width(&mark(entry), WORDS);
        if row == ends.len() {
            ends.push(end);
        } else {
            ends[row] = end;
        }
        row
    };
    marks.iter().map(row).collect()
}

/// Where a value stands; none of a gap.
fn place(field: &Field, multiple: f64, stop: &Stop) -> Option<Place> {
    Some((field.x(stop.at), field.y(stop.value? / multiple)))
}

/// A line's places between its gaps. Where many share a pixel, the highest and the lowest of them are enough.
fn segments(field: &Field, multiple: f64, line: &Line) -> Vec<Vec<Place>> {
    let gaps = line.stops.split(|stop| stop.value.is_none());
    let places = gaps.filter(|stops| !stops.is_empty()).map(|stops| {
        let places = stops.iter().filter_map(|stop| place(field, multiple, stop));
        let places: Vec<Place> = places.collect();
        let pixels = places.chunk_by(|one, other| one.0 as u32 == other.0 as u32);
        pixels.flat_map(thinned).collect()
    });
    places.collect()
}

fn thinned(pixel: &[Place]) -> Vec<Place> {
    let by_height = |one: &&Place, other: &&Place| one.1.total_cmp(&other.1);
    match (
        pixel.first(),
        pixel.iter().min_by(by_height),
        pixel.iter().max_by(by_height),
        pixel.last(),
    ) {
        (Some(first), Some(highest), Some(lowest), Some(last)) if pixel.len() > 4 => {
            vec![*first, *highest, *lowest, *last]
        }
        _ => pixel.to_vec(),
    }
}
