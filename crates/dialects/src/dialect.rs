//! What another tool's command line comes to. Each has a folder that says it for itself; `registry` lists them.

use std::ffi::OsString;
use std::fmt;

use crate::screen::Screen;

/// A tool that this program stands in for at its command line. Never a value.
pub trait Dialect {
    /// What the tool is called, as a file without its ending, in any case of letters. The first is the one that help shows.
    const NAMES: &'static [&'static str];

    /// What was typed behind its name.
    fn translate(words: &[OsString]) -> Result<Said, Unclear>;
}

/// What a command line of another tool comes to.
#[derive(Debug)]
pub enum Said {
    /// It is answered at once: help, usage, a version.
    Text(Answer),
    /// It runs.
    Run(Run),
}

/// What is said at once.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Answer {
    /// The text, with the ends of its lines.
    pub text: String,
    /// On standard output, or on standard error where it is not what was asked for.
    pub is_error: bool,
    /// The tool's own exit code for it.
    pub exit_code: u8,
}

/// What is done, in words of ours.
pub struct Run {
    /// The words after `pathscope`.
    pub words: Vec<OsString>,
    /// Sentences that are said on standard error before anything is done: what has no effect here.
    pub notes: Vec<String>,
    /// What shows it, where that is not what pathscope shows.
    pub screen: Option<Box<dyn Screen>>,
}

impl Run {
    /// These words, as pathscope shows what comes of them.
    pub fn of<W: Into<OsString>>(words: impl IntoIterator<Item = W>) -> Self {
        let words = words.into_iter().map(Into::into).collect();
        Self { words, notes: Vec::new(), screen: None }
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { words, notes, screen } = self;
        let mut run = formatter.debug_struct("Run");
        run.field("words", words).field("notes", notes);
        run.field("has_screen", &screen.is_some()).finish()
    }
}

/// A command line that means nothing: what is wrong with which word, and what to do, as a sentence.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Unclear {
    /// The sentence.
    pub text: String,
}

impl Unclear {
    /// This sentence.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }
}
