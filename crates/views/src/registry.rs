//! The views, listed once: their names, what can be chosen about them, and how one is made.

use std::fmt;
use std::io::{self, Write};
use std::str::FromStr;

use pathscope_core::event::Event;
use thiserror::Error;

use crate::json::{Document, Stream};
use crate::markdown::Markdown;
use crate::text::Text;

/// Shows a run as it happens. Fails only where its output does.
pub trait View {
    /// Something happened. Events come in the order they happened; nothing follows `Finished`.
    fn event(&mut self, event: Event<'_>) -> io::Result<()>;
}

/// The ways to show a run.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Format {
    /// For people, on a terminal or in a file.
    #[default]
    Text,
    /// The document, indented, when the run has ended; nothing else.
    Json,
    /// One JSON object a line, as things happen.
    JsonStream,
    /// For documents: tables in Markdown, when the run has ended.
    Markdown,
}

impl Format {
    /// The formats with their names as typed.
    pub const ALL: [(&'static str, Self); 4] = [
        ("text", Self::Text),
        ("json", Self::Json),
        ("json-stream", Self::JsonStream),
        ("md", Self::Markdown),
    ];

    /// As it is typed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::JsonStream => "json-stream",
            Self::Markdown => "md",
        }
    }

    /// A view of this format that writes to `out`. Only the text has options.
    pub fn view<'out>(self, options: Options, out: &'out mut dyn Write) -> Box<dyn View + 'out> {
        match self {
            Self::Text => Box::new(Text::new(options, out)),
            Self::Json => Box::new(Document::new(out)),
            Self::JsonStream => Box::new(Stream::new(out)),
            Self::Markdown => Box::new(Markdown::new(out)),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(typed: &str) -> Result<Self, UnknownFormat> {
        Self::ALL
            .into_iter()
            .find_map(|(name, format)| (name == typed).then_some(format))
            .ok_or_else(|| UnknownFormat { typed: typed.to_owned() })
    }
}

/// A format was asked for that there is not.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("'{typed}' is no output format; choose text, json, json-stream or md")]
pub struct UnknownFormat {
    /// What was typed.
    pub typed: String,
}

/// What whoever makes a view knows of its output and its reader.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Options {
    /// Width of a line in columns. What is too narrow to lay anything out is taken as wider.
    pub columns: usize,
    /// Whether escape sequences for color may be written.
    pub color: Color,
    /// Which characters the output can show.
    pub charset: Charset,
    /// Whether intervals are shown as they pass.
    pub live: Live,
    /// How much of a result is shown.
    pub detail: Detail,
}

impl Default for Options {
    /// What suits a file: 80 columns, no color, everything that happened.
    fn default() -> Self {
        Self {
            columns: 80,
            color: Color::Never,
            charset: Charset::Unicode,
            live: Live::Shown,
            detail: Detail::Usual,
        }
    }
}

/// Whether escape sequences for color may be written.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Color {
    /// Nothing but text.
    #[default]
    Never,
    /// SGR sequences around what is to stand out.
    Always,
}

/// Which characters an output can show.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Charset {
    /// All of them, as UTF-8.
    #[default]
    Unicode,
    /// Those of ASCII: for all others the view writes what comes nearest.
    Ascii,
}

/// Whether intervals are shown as they pass.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Live {
    /// Only the result.
    Hidden,
    /// What begins, each interval, each note, then the result.
    #[default]
    Shown,
}

/// How much of a result is shown.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Detail {
    /// All but the shapes of distributions, whose percentiles are among the figures, and of a verdict's evidence
    /// what decided it.
    #[default]
    Usual,
    /// Distributions as histograms, and all evidence.
    Full,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_found_by_its_name() {
        for (name, format) in Format::ALL {
            assert_eq!(name.parse(), Ok(format));
            assert_eq!(format.to_string(), name);
        }
    }

    #[test]
    fn an_unknown_format_names_those_that_exist() {
        let error = "yaml".parse::<Format>().expect_err("there is no such format").to_string();
        for (name, _) in Format::ALL {
            assert!(error.contains(name), "{error}");
        }
    }
}
