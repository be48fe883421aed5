//! The programs whose figures are known, and any other: how each is started, what it needs at the other end, and how its
//! figures are read from what it printed.

mod iperf3;
mod pathscope;
mod ping;

use pathscope_core::error::Failure;
use pathscope_modes::document::Document;
use pathscope_modes::figures::{FigureId, FigureIdError, Unit};

use crate::theory::Transmission;

/// What is started.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Program {
    /// This program, with any of its modes.
    Pathscope,
    /// That of `iputils` or of `BusyBox`.
    Ping,
    /// iperf3 in its client's role.
    Iperf3,
    /// Any other: its output is kept, and it has no figures.
    Other,
}

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
    /// Known by their first word; `pathscope` is this very program, whatever is installed.
    pub fn named(word: &str) -> Self {
        match word {
            "pathscope" => Self::Pathscope,
            "ping" => Self::Ping,
            "iperf3" => Self::Iperf3,
            _ => Self::Other,
        }
    }

    /// Whether it talks with a server that has to be there.
    pub fn server(self) -> Option<Server> {
        match self {
            Self::Pathscope => Some(pathscope::SERVER),
            Self::Iperf3 => Some(iperf3::SERVER),
            Self::Ping | Self::Other => None,
        }
    }

    /// The words that it is started with, so that its output can be read.
    pub fn words(self, words: &[String]) -> Vec<String> {
        let further: &[&str] = match self {
            Self::Pathscope => pathscope::WORDS,
            Self::Iperf3 => iperf3::WORDS,
            Self::Ping | Self::Other => &[],
        };
        words.iter().cloned().chain(further.iter().map(|&word| word.to_owned())).collect()
    }

    /// What is wrong with its words, as far as that is known without starting it.
    pub fn judge(self, words: &[String]) -> Result<(), String> {
        match self {
            Self::Pathscope => pathscope::judge(words),
            Self::Iperf3 => iperf3::judge(words),
            Self::Ping | Self::Other => Ok(()),
        }
    }

    /// Whether it is no fault that it ended with this code, where what it said could be read: ping has other codes for pings
    /// that were lost, and pathscope for checks that failed, both of which are results.
    pub fn is_fine_with(self, code: Option<i32>) -> bool {
        let of_results = match self {
            Self::Pathscope => Some(i32::from(Failure::Check.exit_code())),
            Self::Ping => Some(1),
            Self::Iperf3 | Self::Other => None,
        };
        code.is_some() && code == of_results
    }

    /// What it said.
    pub fn read(self, output: &str) -> Said {
        match self {
            Self::Pathscope => pathscope::read(output),
            Self::Ping => ping::read(output),
            Self::Iperf3 => iperf3::read(output),
            Self::Other => Said::default(),
        }
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
        let theirs = ping::FIGURES.iter().chain(iperf3::FIGURES);
        match theirs.into_iter().find(|listed| listed.id == typed) {
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
            (Self::Theirs(listed), Program::Ping | Program::Iperf3) => {
                program == Program::named(listed.id.split('.').next().unwrap_or_default())
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
