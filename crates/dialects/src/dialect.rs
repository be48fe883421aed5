//! What another tool's command line comes to. Each has a folder that says it for itself; `registry` lists them.

use std::ffi::OsString;
use std::fmt;

use pathscope_core::error::Failure;

use crate::screen::{Screen, ScribeMaker};
use crate::spelling::Spellings;

/// What servers of ours limit and those tools do not: their command lines could not say otherwise. What memory and descriptors
/// allow holds all the same, and of memory each thread has its part.
const NO_LIMITS: [&str; 8] = [
    "--limit-sessions",
    "0",
    "--limit-sessions-per-address",
    "0",
    "--limit-threads",
    "0",
    "--limit-threads-per-address",
    "0",
];

/// A tool that this program stands in for at its command line. Never a value.
pub trait Dialect {
    /// What the tool is called, as a file without its ending, in any case of letters. The first is the one that help shows.
    const NAMES: &'static [&'static str];
    /// What its users call what sentences of ours name.
    const SPELLINGS: Spellings = &[];
    /// What stands before a sentence that says what went wrong, as its scripts look for it.
    const COMPLAINT: &'static str = Manners::OURS.complaint;
    /// Its exit code for a command line that cannot mean anything.
    const USAGE_CODE: u8 = Manners::OURS.usage_code;

    /// Who makes what its clients are told that a server prints, where that server is another than this tool's; none where they ask
    /// for nothing of the kind.
    fn scribes() -> Option<ScribeMaker> {
        None
    }

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
                run.manners = Manners::of::<D>();
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
    /// How sentences about it are told.
    pub manners: Manners,
}

impl Run {
    /// These words, as pathscope shows what comes of them.
    pub fn of<W: Into<OsString>>(words: impl IntoIterator<Item = W>) -> Self {
        let words = words.into_iter().map(Into::into).collect();
        Self { words, notes: Vec::new(), screen: None, manners: Manners::OURS }
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { words, notes, screen, manners } = self;
        let mut run = formatter.debug_struct("Run");
        run.field("words", words).field("notes", notes).field("manners", manners);
        run.field("has_screen", &screen.is_some()).finish()
    }
}

/// A command line that means nothing: what is wrong with which word, and what to do, as a sentence.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Unclear {
    /// The sentence.
    pub text: String,
    /// How it is told.
    pub manners: Manners,
}

impl Unclear {
    /// This sentence.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), manners: Manners::OURS }
    }

    /// The same as it is told to users of this tool, whose words it has already.
    #[must_use]
    pub fn of<D: Dialect>(self) -> Self {
        Self { manners: Manners { spellings: &[], ..Manners::of::<D>() }, ..self }
    }
}

/// How sentences on standard error are told to the users of a tool, as scripts look for them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Manners {
    /// What its users call what sentences of ours name.
    pub spellings: Spellings,
    /// What stands before a sentence that says what went wrong.
    pub complaint: &'static str,
    /// The exit code of a command line that cannot mean anything.
    pub usage_code: u8,
}

impl Manners {
    /// pathscope's own.
    pub const OURS: Self =
        Self { spellings: &[], complaint: "pathscope: ", usage_code: Failure::Usage.exit_code() };

    const fn of<D: Dialect>() -> Self {
        Self { spellings: D::SPELLINGS, complaint: D::COMPLAINT, usage_code: D::USAGE_CODE }
    }
}
