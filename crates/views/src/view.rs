//! What a view is, and what whoever makes one says of its output. Which there are stands in the registry.

use std::io;

use pathscope_core::event::Event;

/// Shows a run as it happens. Fails only where its output does.
pub trait View {
    /// Something happened. Events come in the order they happened; nothing follows `Finished`.
    fn event(&mut self, event: Event<'_>) -> io::Result<()>;
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
