//! One line in the making: pieces of text with their styles, and how wide they are together.

use crate::view::Color;
use crate::words;

/// How a piece of text stands out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Style {
    /// Not at all.
    Plain,
    /// What is to be read first.
    Strong,
    /// What is there for those who look for it.
    Faint,
    /// What holds.
    Good,
    /// What to mind.
    Warning,
    /// What must not be missed.
    Bad,
}

impl Style {
    /// Parameters of Select Graphic Rendition (ECMA-48, 8.3.117).
    const fn parameters(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Strong => Some("1"),
            Self::Faint => Some("2"),
            Self::Good => Some("32"),
            Self::Warning => Some("33"),
            Self::Bad => Some("1;31"),
        }
    }
}

/// One line in the making.
#[derive(Clone, Debug, Default)]
pub struct Line {
    pieces: Vec<(Style, String)>,
    width: usize,
}

impl Line {
    /// A line that begins with so many spaces.
    pub fn indented(columns: usize) -> Self {
        Self::default().padded_to(columns)
    }

    /// The line with a piece of text at its end.
    pub fn with(mut self, style: Style, text: &str) -> Self {
        self.width += words::width(text);
        self.pieces.push((style, text.to_owned()));
        self
    }

    /// The line with spaces up to this column; unchanged if it is already as wide.
    pub fn padded_to(self, column: usize) -> Self {
        let missing = column.saturating_sub(self.width);
        self.with(Style::Plain, &" ".repeat(missing))
    }

    /// The line with the text right-aligned in the next `width` columns.
    pub fn with_right(self, style: Style, text: &str, width: usize) -> Self {
        let start = self.width + width.saturating_sub(words::width(text));
        self.padded_to(start).with(style, text)
    }

    /// Columns so far.
    pub const fn width(&self) -> usize {
        self.width
    }

    /// The line as it is written, clean, without spaces at its end.
    pub fn render(&self, color: Color) -> String {
        let mut pieces: Vec<_> =
            self.pieces.iter().map(|(style, text)| (*style, words::clean(text))).collect();
        while let Some((_, last)) = pieces.last_mut() {
            last.truncate(last.trim_end().len());
            if !last.is_empty() {
                break;
            }
            pieces.pop();
        }
        pieces.iter().map(|(style, text)| paint(*style, text, color)).collect()
    }
}

fn paint(style: Style, text: &str, color: Color) -> String {
    match (color, style.parameters()) {
        (Color::Always, Some(parameters)) if !text.is_empty() => {
            format!("\u{1b}[{parameters}m{text}\u{1b}[0m")
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn color_takes_no_columns() {
        let line = Line::indented(2).with(Style::Bad, "FAILED").padded_to(12).with_right(
            Style::Plain,
            "7",
            3,
        );
        assert_eq!(line.width(), 15);
        assert_eq!(line.render(Color::Never), "  FAILED      7");
        assert_eq!(line.render(Color::Always), "  \u{1b}[1;31mFAILED\u{1b}[0m      7");
    }

    #[test]
    fn no_line_ends_in_spaces() {
        let line = Line::default().with(Style::Strong, "a ").padded_to(20);
        assert_eq!(line.render(Color::Never), "a");
        assert_eq!(Line::indented(4).render(Color::Always), "");
    }

    #[test]
    fn text_is_cleaned_on_its_way_out() {
        let line = Line::default().with(Style::Plain, "host\u{1b}[2J");
        assert_eq!(line.render(Color::Always), "host\u{fffd}[2J");
    }
}
