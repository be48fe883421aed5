//! What another tool's command line comes to. Each has a folder that says it for itself; `registry` lists them.

use std::ffi::OsString;
use std::fmt;

use crate::screen::Screen;
use crate::spelling::Spellings;

/// What servers of ours limit and those tools do not: their command lines could not say otherwise. What memory, descriptors and threads
/// allow holds all the same.
const NO_LIMITS: [&str; 4] = ["--limit-sessions", "0", "--limit-sessions-per-address", "0"];

/// A tool that this program stands in for at its command line. Never a value.
pub trait Dialect {
    /// What the tool is called, as a file without its ending, in any case of letters. The first is the one that help shows.
    const NAMES: &'static [&'static str];
    /// What its users call what sentences of ours name.
    const SPELLINGS: Spellings = &[];

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

impl Said {
    /// The same as it is done and told for users of this tool.
    #[must_use]
    pub fn of<D: Dialect>(self) -> Self {
        match self {
            Self::Run(mut run) => {
                run.spellings = D::SPELLINGS;
                if run.words.first().is_some_and(|word| word == "server") {
                    run.words.extend(NO_LIMITS.map(OsString::from));
                }
                Self::Run(run)
            }
            Self::Text(answer) => Self::Text(answer),
        }
    }
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
    /// How sentences about it are spelled.
    pub spellings: Spellings,
}

impl Run {
    /// These words, as pathscope shows what comes of them.
    pub fn of<W: Into<OsString>>(words: impl IntoIterator<Item = W>) -> Self {
        let words = words.into_iter().map(Into::into).collect();
        Self { words, notes: Vec::new(), screen: None, spellings: &[] }
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { words, notes, screen, spellings } = self;
        let mut run = formatter.debug_struct("Run");
        run.field("words", words).field("notes", notes).field("spellings", spellings);
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
