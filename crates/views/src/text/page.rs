//! Lines on their way to the output: how wide they may be, and where an empty one belongs.

use std::io::{self, Write};

use super::line::{Line, Style};
use crate::view::{Charset, Color};
use crate::words;

/// Narrower than this nothing can be laid out; lines are then wider than the output.
const LEAST_COLUMNS: usize = 24;
/// Sentences longer than this are hard to read, however wide the output is.
const MOST_COLUMNS: usize = 110;
/// A sentence that would have to squeeze into less begins on a line of its own.
const LEAST_SENTENCE: usize = 24;

/// Lines on their way to the output.
pub struct Page {
    columns: usize,
    color: Color,
    charset: Charset,
    pending: String,
    separation: Separation,
}

/// What stands above the next line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Separation {
    /// The begin of the output, or an empty line.
    Open,
    /// A line with something in it.
    Text,
}

impl Page {
    /// An empty page for an output this wide.
    pub fn new(columns: usize, color: Color, charset: Charset) -> Self {
        let columns = columns.clamp(LEAST_COLUMNS, MOST_COLUMNS);
        Self { columns, color, charset, pending: String::new(), separation: Separation::Open }
    }

    /// The characters that the output can show.
    pub const fn charset(&self) -> Charset {
        self.charset
    }

    /// Columns that a line may take.
    pub const fn columns(&self) -> usize {
        self.columns
    }

    /// Adds a line. One with nothing in it is a gap, and gaps do not add up.
    pub fn line(&mut self, line: &Line) {
        let rendered = line.render(self.color);
        if rendered.is_empty() {
            return self.gap();
        }
        self.separation = Separation::Text;
        match self.charset {
            Charset::Unicode => self.pending.push_str(&rendered),
            Charset::Ascii => self.pending.push_str(&words::ascii(&rendered)),
        }
        self.pending.push('\n');
    }

    /// Sets the next line apart from the last one, once.
    pub fn gap(&mut self) {
        if self.separation == Separation::Text {
            self.pending.push('\n');
            self.separation = Separation::Open;
        }
    }

    /// Adds a line that ends in a sentence; what does not fit goes on below, in the column where the
    /// sentence began.
    pub fn sentence(&mut self, line: Line, style: Style, text: &str) {
        let start = line.width();
        let room = self.columns.saturating_sub(start);
        if room < LEAST_SENTENCE && words::width(text) > room && start > 6 {
            self.line(&line);
            return self.sentence(Line::indented(6), style, text);
        }
        let mut lines = words::wrap(text, room, room).into_iter();
        self.line(&line.with(style, &lines.next().unwrap_or_default()));
        for rest in lines {
            self.line(&Line::indented(start).with(style, &rest));
        }
    }

    /// Writes what was added since the last time, at once.
    pub fn write_to(&mut self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(self.pending.as_bytes())?;
        self.pending.clear();
        out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(draw: impl FnOnce(&mut Page)) -> String {
        let mut page = Page::new(30, Color::Never, Charset::Unicode);
        draw(&mut page);
        let mut out = Vec::new();
        page.write_to(&mut out).expect("a vector takes every byte");
        String::from_utf8(out).expect("text is UTF-8")
    }

    #[test]
    fn a_sentence_goes_on_where_it_began() {
        let text = shown(|page| {
            page.sentence(
                Line::default().with(Style::Plain, "  ! "),
                Style::Plain,
                "no network was crossed at all",
            );
        });
        assert_eq!(text, "  ! no network was crossed at\n    all\n");
    }

    #[test]
    fn gaps_do_not_add_up() {
        let text = shown(|page| {
            page.gap();
            page.line(&Line::indented(1).with(Style::Plain, "a"));
            page.gap();
            page.gap();
            page.line(&Line::indented(1).with(Style::Plain, "b"));
        });
        assert_eq!(text, " a\n\n b\n");
    }
}
