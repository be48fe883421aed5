//! Numbers with their intervals at places beside one another: what is drawn of them, and where it stands.

use pathscope_core::presentation::{EstimateLine, Estimates, Section};

use super::axis;
use super::drawing::{Anchor, Color};
use super::font;
use super::page::{
    DASHES, FAINT, GRID, INK, LEFT, LINES, MARGIN, MOST_LINES, MOST_PANELS, Page, ROW, WIDTH,
    WORDS, panel_height,
};
use crate::places::{place_of, places, points, range};
use crate::value::axis_unit;
use crate::words::clean;

/// Half of the short line at an end of an interval.
const END: f64 = 5.0;
/// Between the points of two lines at one place.
const APART: f64 = 11.0;

/// A chart of numbers in one unit.
pub struct Spans {
    title: String,
    axis: String,
    unit: String,
    multiple: f64,
    /// The least and the most that is shown, zero between them.
    range: (f64, f64),
    /// Each with how far it is from the left: 0 to 1.
    places: Vec<(String, f64)>,
    lines: Vec<SpanLine>,
}

struct SpanLine {
    label: String,
    is_joined: bool,
    points: Vec<Point>,
}

/// The place, the number and its interval.
type Point = (usize, f64, Option<(f64, f64)>);

/// The charts of these sections, as many as there is room for.
pub fn spans(sections: &[&Section]) -> Vec<Spans> {
    let all = sections.iter().flat_map(|section| &section.estimates);
    all.filter(|it| points(it).next().is_some()).take(MOST_PANELS).map(span).collect()
}

fn span(estimates: &Estimates) -> Spans {
    let places = places(estimates);
    let range = range(estimates);
    let (unit, multiple) = axis_unit(estimates.unit, [range.0, range.1].into_iter());
    let line = |line: &EstimateLine| {
        let points = line.points.iter().filter(|it| it.value.is_finite());
        let points = points.filter_map(|it| Some((place_of(&places, it)?, it.value, it.interval)));
        SpanLine { label: clean(&line.label), is_joined: line.is_joined, points: points.collect() }
    };
    Spans {
        title: clean(&estimates.title),
        axis: clean(&estimates.axis),
        unit: unit.to_owned(),
        multiple,
        range,
        lines: estimates.lines.iter().take(MOST_LINES).map(line).collect(),
        places,
    }
}

impl Page {
    /// Charts below each other, each over its own places.
    pub fn estimates(&mut self, panels: &[Spans]) {
        let height = panel_height(panels.len());
        for panel in panels {
            self.top += ROW + 10.0;
            let title = font::clipped(&panel.title, WORDS, WIDTH - LEFT - MARGIN);
            self.words((LEFT, self.top), title, Anchor::Start, INK);
            self.legend(panel);
            let (top, right) = (self.top + 24.0, WIDTH - MARGIN - 8.0);
            self.panel(panel, (top, top + height), right);
            self.top = top + height + 20.0;
            if !panel.axis.is_empty() {
                self.top += ROW;
                let at = (f64::midpoint(LEFT, right), self.top);
                self.words(at, panel.axis.clone(), Anchor::Middle, FAINT);
            }
        }
    }

    /// What each line is, where there are several.
    fn legend(&mut self, panel: &Spans) {
        if panel.lines.len() < 2 {
            return;
        }
        self.top += ROW;
        let mut left = LEFT;
        for (at, line) in panel.lines.iter().enumerate() {
            let name = font::clipped(&line.label, WORDS, 160.0);
            let width = 24.0 + font::width(&name, WORDS) + 14.0;
            if left + width > WIDTH - MARGIN && left > LEFT {
                (left, self.top) = (LEFT, self.top + ROW);
            }
            let y = self.top - 4.0;
            self.line(vec![(left, y), (left + 18.0, y)], color(at), 2.0, DASHES[at % 4]);
            self.words((left + 24.0, self.top), name, Anchor::Start, color(at));
            left += width;
        }
    }

    fn panel(&mut self, panel: &Spans, (top, bottom): (f64, f64), right: f64) {
        let (least, most) = (panel.range.0 / panel.multiple, panel.range.1 / panel.multiple);
        let most = if most > least { most } else { least + 1.0 };
        let wanted = if bottom - top > 150.0 { 5 } else { 3 };
        let (_, step) = axis::round_numbers(least, most, wanted);
        let (first, last) =
            ((least / step + 1e-9).floor() * step, (most / step - 1e-9).ceil() * step);
        let y = |number: f64| bottom - (number - first) / (last - first) * (bottom - top);
        let rows = ((last - first) / step).round() as usize;
        for row in 0..=rows {
            let number = first + row as f64 * step;
            let is_zero = number.abs() < step * 1e-6;
            let line = if is_zero { FAINT } else { GRID };
            self.line(vec![(LEFT, y(number)), (right, y(number))], line, 1.0, DASHES[0]);
            let sign = if number < 0.0 && !is_zero { "-" } else { "" };
            let name = format!("{sign}{}", axis::told(number.abs(), step));
            self.words((LEFT - 8.0, y(number) + 4.0), name, Anchor::End, INK);
        }
        self.words((LEFT - 8.0, top - 12.0), panel.unit.clone(), Anchor::End, FAINT);
        let x = |share: f64| LEFT + share * (right - LEFT);
        let mut free = 0.0;
        for (at, (name, share)) in panel.places.iter().enumerate() {
            self.line(vec![(x(*share), bottom), (x(*share), bottom + 4.0)], FAINT, 1.0, DASHES[0]);
            let next = panel.places.get(at + 1).map_or(right, |next| x(next.1));
            let name = font::clipped(name, WORDS, (2.0 * (next - x(*share))).clamp(40.0, 170.0));
            let half = font::width(&name, WORDS) / 2.0;
            if x(*share) - half > free {
                free = x(*share) + half + 4.0;
                self.words((x(*share), bottom + 16.0), name, Anchor::Middle, INK);
            }
        }
        let lines = panel.lines.len() as f64;
        for (at, line) in panel.lines.iter().enumerate() {
            let aside = (at as f64 - (lines - 1.0) / 2.0) * APART.min(120.0 / lines);
            let aside = if panel.places.len() > 12 { 0.0 } else { aside };
            let stands = |place: usize, number: f64| {
                (x(panel.places[place].1) + aside, y(number / panel.multiple))
            };
            if line.is_joined && line.points.len() > 1 {
                let through = line.points.iter().map(|(place, number, _)| stands(*place, *number));
                self.line(through.collect(), color(at), 2.0, DASHES[at % 4]);
            }
            for (place, number, interval) in &line.points {
                for (low, high) in
                    interval.iter().map(|&(low, high)| (stands(*place, low), stands(*place, high)))
                {
                    self.line(vec![low, high], color(at), 1.5, DASHES[0]);
                    for end in [low, high] {
                        let across = vec![(end.0 - END, end.1), (end.0 + END, end.1)];
                        self.line(across, color(at), 1.5, DASHES[0]);
                    }
                }
                self.dot(stands(*place, *number), color(at));
            }
        }
    }
}

fn color(line: usize) -> Color {
    LINES[line % LINES.len()]
}
