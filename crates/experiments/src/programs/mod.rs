//! The programs whose figures are known, and any other: how each is started, what it needs at the other end, and how its
//! figures are read from what it printed.

mod iperf3;
mod irtt;
mod pathscope;
mod ping;
mod sockperf;

use std::fs;
use std::path::{Path, PathBuf};

use pathscope_core::error::Failure;
use pathscope_modes::document::Document;
use pathscope_modes::figures::{FigureId, FigureIdError, Unit};

use crate::promise::Promise;
use crate::theory::Transmission;

/// What is started.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Program {
    /// This program, with any of its modes.
    Pathscope,
    /// Another one whose figures are known.
    Known(&'static Known),
    /// Any other: its output is kept, and it has no figures.
    Other,
}

/// Another program whose figures are known: a file of its own, and a place in the list of them.
#[derive(Debug)]
pub struct Known {
    /// Its name, and what its figures' ids begin with.
    pub name: &'static str,
    /// What it says.
    pub figures: &'static [Listed],
    /// What it talks with.
    pub server: Option<Server>,
    /// The port of that; 0 where there is none.
    pub port: u16,
    /// The words that it is started with besides, so that its output can be read.
    pub words: &'static [&'static str],
    /// The code with which it ends where what it says is a result all the same.
    pub result_code: Option<i32>,
    /// What it cannot be asked for here.
    pub judge: fn(&[String]) -> Result<(), String>,
    /// Reads what it printed.
    pub read: fn(&str) -> Said,
}

/// There is one of each name.
impl PartialEq for Known {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Known {}

/// All of them.
const KNOWN: [&Known; 4] = [&ping::PING, &iperf3::IPERF3, &irtt::IRTT, &sockperf::SOCKPERF];

/// A figure of one of them.
#[derive(Clone, Debug, PartialEq)]
pub enum Figure {
    /// Of pathscope.
    Ours(FigureId),
    /// Of another program: its id, and what it is a number of.
    Theirs(&'static Listed),
}

/// A figure of another program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Listed {
    /// Its id: `ping.rtt.mean`.
    pub id: &'static str,
    /// What it is a number of.
    pub unit: Unit,
    /// What links promise of it, if anything.
    pub promise: Option<Promise>,
}

impl Listed {
    /// One of which links promise nothing.
    const fn new(id: &'static str, unit: Unit) -> Self {
        Self { id, unit, promise: None }
    }

    /// One of which they promise this.
    const fn promised(id: &'static str, unit: Unit, promise: Promise) -> Self {
        Self { id, unit, promise: Some(promise) }
    }
}

/// What a program said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Said {
    /// Of pathscope: its document.
    pub document: Option<Box<Document>>,
    /// The numbers that were found.
    pub numbers: Numbers,
    /// What it put on the path, each way, and what its pings weigh.
    pub transmission: Transmission,
    /// Why nothing could be read.
    pub fault: Option<String>,
}

impl Said {
    /// A figure of another program than pathscope, by its id.
    pub fn number(&self, id: &str) -> Option<f64> {
        match &self.numbers {
            Numbers::Listed(numbers) => {
                numbers.iter().find(|(its, _)| *its == id).map(|&(_, number)| number)
            }
            Numbers::Measurement(_) | Numbers::None => None,
        }
    }
}

/// Numbers by figures' ids.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Numbers {
    /// Of a measurement of pathscope, as its document has it.
    Measurement(serde_json::Value),
    /// Of another program.
    Listed(Vec<(&'static str, f64)>),
    /// None.
    #[default]
    None,
}

impl Program {
    /// That of the system, `iputils`' or `BusyBox`'.
    pub const PING: Self = Self::Known(&ping::PING);

    /// Known by their first word; `pathscope` is this very program, whatever is installed.
    pub fn named(word: &str) -> Self {
        if word == "pathscope" {
            return Self::Pathscope;
        }
        KNOWN.into_iter().find(|known| known.name == word).map_or(Self::Other, Self::Known)
    }

    /// The port on which its server is, where that is always the same.
    pub fn port(self) -> Option<u16> {
        match self {
            Self::Known(known) if known.server.is_some() => Some(known.port),
            _ => None,
        }
    }

    /// Whether it talks with a server that has to be there.
    pub fn server(self) -> Option<Server> {
        match self {
            Self::Pathscope => Some(pathscope::SERVER),
            Self::Known(known) => known.server,
            Self::Other => None,
        }
    }

    /// The words that it is started with, so that its output can be read.
    pub fn words(self, words: &[String]) -> Vec<String> {
        let further: &[&str] = match self {
            Self::Pathscope => pathscope::WORDS,
            Self::Known(known) => known.words,
            Self::Other => &[],
        };
        words.iter().cloned().chain(further.iter().map(|&word| word.to_owned())).collect()
    }

    /// What is wrong with its words, as far as that is known without starting it.
    pub fn judge(self, words: &[String]) -> Result<(), String> {
        match self {
            Self::Pathscope => pathscope::judge(words),
            Self::Known(known) => (known.judge)(words),
            Self::Other => Ok(()),
        }
    }

    /// Whether it is no fault that it ended with this code, where what it said could be read: ping has other codes for pings
    /// that were lost, and pathscope for checks that failed, both of which are results.
    pub fn is_fine_with(self, code: Option<i32>) -> bool {
        let of_results = match self {
            Self::Pathscope => Some(i32::from(Failure::Check.exit_code())),
            Self::Known(known) => known.result_code,
            Self::Other => None,
        };
        code.is_some() && code == of_results
    }

    /// What it said.
    pub fn read(self, output: &str) -> Said {
        match self {
            Self::Pathscope => pathscope::read(output),
            Self::Known(known) => (known.read)(output),
            Self::Other => Said::default(),
        }
    }
}

/// Whether this machine has a program: by its path, or in one of the folders of `PATH`.
pub fn is_installed(program: &str) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    let is_file = |path: &Path| {
        fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        return is_file(Path::new(program));
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder: PathBuf| is_file(&folder.join(program)))
}

/// What a program said that could not be read.
fn failed(fault: String) -> Said {
    Said { fault: Some(fault), ..Said::default() }
}

/// That none of these options is among the words, since they are said of this program by the runner.
fn judge_taken(program: &str, words: &[String], taken: &[&str]) -> Result<(), String> {
    let is_taken = |word: &&String| {
        let (name, _) = word.split_once('=').unwrap_or((word, ""));
        let is_short = |it: &&&str| !it.starts_with("--") && !name.starts_with("--");
        taken.contains(&name) || taken.iter().filter(is_short).any(|it| name.starts_with(it))
    };
    match words.iter().find(is_taken) {
        Some(word) => Err(format!("{word} is said of {program} by 'lab run' itself; leave it out")),
        None => Ok(()),
    }
}

/// A server that a program needs on the other node.
#[derive(Clone, Copy, Debug)]
pub struct Server {
    /// Its words.
    pub words: &'static [&'static str],
    /// What it prints, on either of its outputs, when it is ready.
    pub ready: &'static str,
    /// Whether one serves all programs of a step, or ends with the first.
    pub serves_many: bool,
}

impl Figure {
    /// The figure of this id.
    pub fn find(typed: &str) -> Result<Self, FigureIdError> {
        let mut theirs = KNOWN.into_iter().flat_map(|known| known.figures);
        match theirs.find(|listed| listed.id == typed) {
            Some(listed) => Ok(Self::Theirs(listed)),
            None => FigureId::find(typed).map(Self::Ours),
        }
    }

    /// As it is written.
    pub fn id(&self) -> &str {
        match self {
            Self::Ours(figure) => figure.text(),
            Self::Theirs(listed) => listed.id,
        }
    }

    /// What it is a number of.
    pub fn unit(&self) -> Unit {
        match self {
            Self::Ours(figure) => figure.unit(),
            Self::Theirs(listed) => listed.unit,
        }
    }

    /// Of a rate, the figure that says how evenly a run's connections shared it; of others, none.
    pub fn fairness(&self) -> Option<Self> {
        let Self::Ours(figure) = self else { return None };
        let rate = format!("{}.rate", figure.group().name);
        let rest = figure.text().strip_prefix(&rate)?;
        FigureId::find(&format!("{}.fairness{rest}", figure.group().name)).ok().map(Self::Ours)
    }

    /// Whether a program that is started with these words can have it.
    pub fn is_had_by(&self, program: Program, words: &[String]) -> bool {
        match (self, program) {
            (Self::Ours(figure), Program::Pathscope) => pathscope::has(words, figure.group().name),
            (Self::Theirs(listed), Program::Known(known)) => {
                known.figures.iter().any(|its| its.id == listed.id)
            }
            _ => false,
        }
    }

    /// The number, if it was measured.
    pub fn number(&self, numbers: &Numbers) -> Option<f64> {
        match (self, numbers) {
            (Self::Ours(figure), Numbers::Measurement(measurement)) => figure.number(measurement),
            (Self::Theirs(listed), Numbers::Listed(numbers)) => {
                numbers.iter().find(|(id, _)| *id == listed.id).map(|&(_, number)| number)
            }
            _ => None,
        }
    }
}
