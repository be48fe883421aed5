//! A page that marks are put on: its measures, and what every panel has, axes and words.

use super::axis;
use super::drawing::{Anchor, Color, Dash, Mark, Place};

pub const WIDTH: f64 = 800.0;
pub const MARGIN: f64 = 16.0;
/// Where the plots begin: numbers stand before that.
pub const LEFT: f64 = 72.0;
pub const WORDS: f64 = 12.0;
/// From one line of words to the next.
pub const ROW: f64 = 17.0;

/// Panels below each other.
pub const MOST_PANELS: usize = 4;
/// Lines in one panel that can still be told apart.
pub const MOST_LINES: usize = 8;

pub const PAPER: Color = Color(255, 255, 255);
pub const INK: Color = Color(28, 33, 38);
pub const FAINT: Color = Color(90, 99, 108);
pub const GRID: Color = Color(213, 219, 225);
pub const BAD: Color = Color(176, 26, 26);
pub const LINES: [Color; 4] =
    [Color(23, 99, 166), Color(179, 71, 11), Color(61, 122, 34), Color(138, 58, 148)];
pub const DASHES: [Dash; 4] = [&[], &[8.0, 3.0], &[2.0, 3.0], &[10.0, 3.0, 2.0, 3.0]];
pub const MARKED: Dash = &[3.0, 3.0];

/// What was laid out so far.
pub struct Page {
    pub marks: Vec<Mark>,
    /// Where the next thing begins.
    pub top: f64,
}

/// Where a panel draws, and what its edges stand for.
#[derive(Clone, Copy)]
pub struct Field {
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
    pub first: f64,
    pub last: f64,
    pub is_logarithmic: bool,
    pub most: f64,
}

impl Field {
    pub fn x(&self, value: f64) -> f64 {
        let share = if self.is_logarithmic {
            (value / self.first).ln() / (self.last / self.first).ln()
        } else {
            (value - self.first) / (self.last - self.first)
        };
        LEFT + share.clamp(0.0, 1.0) * (self.right - LEFT)
    }

    pub fn y(&self, value: f64) -> f64 {
        self.bottom - (value / self.most).clamp(0.0, 1.0) * (self.bottom - self.top)
    }
}

/// How high a panel is of so many.
pub const fn panel_height(panels: usize) -> f64 {
    match panels {
        1 => 260.0,
        2 => 180.0,
        3 => 140.0,
        _ => 110.0,
    }
}

impl Page {
    /// The axis at the left, and lines at its numbers. It ends with the number above the largest value.
    pub fn heights(&mut self, field: Field, unit: &str) -> Field {
        let most = if field.most > 0.0 { field.most } else { 1.0 };
        let wanted = if field.bottom - field.top > 150.0 { 5 } else { 3 };
        let (_, step) = axis::round_numbers(0.0, most, wanted);
        let field = Field { most: (most / step - 1e-9).ceil() * step, ..field };
        for number in axis::round_numbers(0.0, field.most, (field.most / step).round() as usize).0 {
            let y = field.y(number);
            self.line(vec![(LEFT, y), (field.right, y)], GRID, 1.0, DASHES[0]);
            self.words((LEFT - 8.0, y + 4.0), axis::told(number, step), Anchor::End, INK);
        }
        self.words((LEFT - 8.0, field.top - 12.0), unit.to_owned(), Anchor::End, FAINT);
        field
    }

    pub fn seconds(&mut self, field: &Field, is_told: bool) {
        let (numbers, step) = axis::round_numbers(field.first, field.last, 7);
        for number in numbers {
            let name = is_told.then(|| format!("{} s", axis::told(number, step)));
            self.upright(field, field.x(number), name);
        }
    }

    /// An upright line at a place of the axis below, and its name.
    pub fn upright(&mut self, field: &Field, x: f64, name: Option<String>) {
        self.line(vec![(x, field.top), (x, field.bottom)], GRID, 1.0, DASHES[0]);
        if let Some(name) = name {
            self.words((x, field.bottom + 16.0), name, Anchor::Middle, INK);
        }
    }

    pub fn dot(&mut self, (x, y): Place, color: Color) {
        let side = 2.5;
        let within = vec![
            (x - side, y - side),
            (x + side, y - side),
            (x + side, y + side),
            (x - side, y + side),
        ];
        self.marks.push(Mark::Area { within, color, opacity: 1.0 });
    }

    pub fn line(&mut self, through: Vec<Place>, color: Color, width: f64, dash: Dash) {
        self.marks.push(Mark::Line { through, color, width, dash });
    }

    pub fn words(&mut self, at: Place, text: String, anchor: Anchor, color: Color) {
        self.text(at, text, WORDS, anchor, color);
    }

    pub fn text(&mut self, at: Place, text: String, size: f64, anchor: Anchor, color: Color) {
        if !text.is_empty() {
            self.marks.push(Mark::Text { at, text, size, anchor, color, is_bold: false });
        }
    }
}
