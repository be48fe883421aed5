//! The views, listed once: their names and how one is made.

use std::fmt;
use std::io::Write;
use std::path::Path;
use std::str::FromStr;

use pathscope_core::error::Failure;
use pathscope_core::presentation::Presentation;
use thiserror::Error;

use crate::at_end::AtEnd;
use crate::html;
use crate::json::{Document, Stream};
use crate::markdown;
use crate::plot;
use crate::text::Text;
use crate::view::{Options, View};

macro_rules! views {
    ($($(#[$meaning:meta])* $name:ident = $typed:literal by $make:expr;)*) => {
        /// The ways to show a run.
        #[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
        pub enum Format {
            $($(#[$meaning])* $name,)*
        }

        impl Format {
            /// The formats with their names as typed.
            pub const ALL: [(&'static str, Self); [$($typed),*].len()] = [$(($typed, Self::$name)),*];

            /// As it is typed.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $typed,)*
                }
            }

            /// A view of this format that writes to `out`. Only the text has options.
            pub fn view<'out>(
                self,
                options: Options,
                out: &'out mut dyn Write,
            ) -> Box<dyn View + 'out> {
                let make: fn(Options, &'out mut dyn Write) -> Box<dyn View + 'out> = match self {
                    $(Self::$name => $make,)*
                };
                make(options, out)
            }
        }
    };
}

views! {
    /// For people, on a terminal or in a file.
    #[default]
    Text = "text" by |options, out| Box::new(Text::new(options, out));
    /// The document, indented, when the run has ended; nothing else.
    Json = "json" by |_, out| Box::new(Document::new(out));
    /// One JSON object a line, as things happen.
    JsonStream = "json-stream" by |_, out| Box::new(Stream::new(out));
    /// For documents: tables in Markdown, when the run has ended.
    Markdown = "md" by |_, out| Box::new(AtEnd::new(out, markdown::page));
    /// For a browser: one file with charts that opens without a network, when the run has ended.
    Html = "html" by |_, out| Box::new(AtEnd::new(out, html::page));
}

impl Format {
    /// What a report is unless something else is asked for.
    pub const REPORT: Self = Self::Html;

    /// Whether several results can be laid out together. JSON is of one.
    pub const fn holds_several(self) -> bool {
        matches!(self, Self::Text | Self::Markdown | Self::Html)
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
#[error("'{typed}' is no output format; choose {}", alternatives())]
pub struct UnknownFormat {
    /// What was typed.
    pub typed: String,
}

/// The names of all formats: `text, json or md`.
fn alternatives() -> String {
    let [others @ .., last] = Format::ALL.map(|(name, _)| name);
    format!("{} or {last}", others.join(", "))
}

/// Draws the main chart of a result, and what went wrong, if anything; none where there is nothing to draw.
type Draw = fn(&Presentation, Option<(Failure, &str)>) -> Option<Vec<u8>>;

/// Which picture a file of a chart holds.
#[derive(Clone, Copy, Debug)]
pub struct Picture {
    draw: Draw,
}

/// The pictures, each by the end of its files' names.
const PICTURES: [(&str, Draw); 2] = [("svg", plot::svg), ("png", plot::png)];

impl Picture {
    /// That of a file of this name.
    pub fn of(path: &Path) -> Result<Self, UnknownPicture> {
        let ending = path.extension().map(|it| it.to_string_lossy().to_ascii_lowercase());
        let ending = ending.unwrap_or_default();
        let found = PICTURES.into_iter().find(|(name, _)| *name == ending);
        found.map(|(_, draw)| Self { draw }).ok_or(UnknownPicture)
    }

    /// The main chart of a result; none where nothing was measured that a chart shows.
    pub fn drawn(
        self,
        presentation: &Presentation,
        failure: Option<(Failure, &str)>,
    ) -> Option<Vec<u8>> {
        (self.draw)(presentation, failure)
    }
}

/// A file's name does not say which picture it is.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[error("a plot is SVG or PNG, as its file's name ends: give one that ends with .svg or .png")]
pub struct UnknownPicture;

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
        assert!(error.ends_with("choose text, json, json-stream, md or html"), "{error}");
    }
}
