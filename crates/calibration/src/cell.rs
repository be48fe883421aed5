//! One cell: what is measured, where, under which conditions, and what was asked for.

use std::fmt;

use pathscope_core::quantity::Period;
use pathscope_experiments::plan::{Run, Step};
use pathscope_experiments::programs::Program;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::place::{Family, NEAR, Place};
use crate::way::Way;

/// One setting of a cell: an axis and its value.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Setting {
    /// Of what: `wait`.
    pub axis: String,
    /// Which: `spin`.
    pub value: String,
}

/// What is measured at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Unique among all: `latency 7`.
    pub name: String,
    /// How it is set.
    pub settings: Vec<Setting>,
    /// Where.
    pub place: Place,
    /// Over which addresses.
    pub family: Family,
    /// Conditions of its links, in words: those of the first, then those of the second.
    pub conditions: Vec<Conditions>,
    /// What becomes of them in mid-run.
    pub later: Vec<Later>,
    /// The words behind `pathscope`, or those of another program with its name, with `{to}` for the other host.
    pub words: Vec<String>,
    /// How long it lasts.
    pub duration: Period,
    /// Bytes of the kernel's pings beside it, where there are any.
    pub ping_bytes: Option<u64>,
    /// Whether each ping, frame or datagram is written down.
    pub has_samples: bool,
    /// What was asked for.
    pub asked: Asked,
}

/// What becomes of a link while it is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Later {
    /// How long after the programs were let go.
    pub after: Period,
    /// Which link, by its place among those of the cell.
    pub link: usize,
    /// In which direction.
    pub way: Way,
    /// In the words of `lab set`.
    pub words: &'static str,
}

/// As it is told: `first link, there, after 300 ms: cut`.
impl fmt::Display for Later {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let link = if self.link == 0 { "first" } else { "second" };
        let way = if self.way == Way::Up { "there" } else { "back" };
        write!(formatter, "{link} link, {way}, after {}: {}", self.after, self.words)
    }
}

/// What a link is like in a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conditions {
    /// Towards the other host, in the words of `lab set`.
    pub up: &'static str,
    /// From it.
    pub down: &'static str,
    /// One way, without what it takes to send.
    pub delay_ns: u64,
    /// Bits of frames a second, where they are limited.
    pub rate_bps: Option<f64>,
    /// Frames that may wait, where they are limited.
    pub queue_packets: Option<u64>,
}

impl Conditions {
    /// A delay and nothing else.
    pub const fn plain() -> Self {
        Self { up: "", down: "", delay_ns: 2_000_000, rate_bps: None, queue_packets: None }
    }
}

/// What was asked for, as numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Asked {
    /// Connections, flows or streams.
    pub flows: u64,
    /// Pings, datagrams or frames of all flows together, each way that has any.
    pub number: Option<u64>,
    /// Payload of each of them.
    pub bytes: Option<u64>,
    /// Payload of all flows together a second, each way that has any.
    pub rate_bps: Option<f64>,
    /// Payload of all flows together, each way that has any.
    pub transfer_bytes: Option<u64>,
}

/// Of the header of UDP.
pub const UDP_BYTES: u64 = 8;
/// Where the samples of a cell are written to.
pub const SAMPLES: &str = "{samples}";

impl Cell {
    /// As a step of an experiment; samples go to this file.
    pub fn step(&self, samples: &str) -> Step {
        let to = self.place.host(self.family).to_owned();
        let target = self.place.target(self.family);
        let mut runs = Vec::new();
        if let Some(bytes) = self.ping_bytes {
            // Its payload begins behind a header as long as UDP's.
            // A link on a shared processor carries some 4 MB/s.
            let interval = if bytes > 10_000 { 0.05 } else { 0.005 };
            let words = format!("ping -q -c 30 -i {interval} -s {bytes} {target}");
            runs.push(run("ping", &to, Program::PING, words.split(' ').map(str::to_owned)));
        }
        let own = ["pathscope".to_owned()].into_iter().filter(|_| !self.is_of_another());
        let words = self.words.iter().map(|word| word.replace(SAMPLES, samples));
        let name = if self.is_of_another() { &self.words[0] } else { "pathscope" };
        runs.push(run(name, &to, self.program(), own.chain(words)));
        if let [_, measuring] = &mut runs[..] {
            measuring.after = Some(0);
        }
        Step {
            name: self.name.clone(),
            repeat: 1,
            duration: self.duration,
            stated_limit: None,
            runs,
            expectations: Vec::new(),
        }
    }

    /// What measures: pathscope, with its words alone, or a program that is named by the first of them.
    pub fn program(&self) -> Program {
        match self.words.first().map(|word| Program::named(word)) {
            Some(known @ Program::Known(_)) => known,
            _ => Program::Pathscope,
        }
    }

    /// Whether another program than pathscope measures.
    pub fn is_of_another(&self) -> bool {
        self.program() != Program::Pathscope
    }

    /// Whether a datagram with so much payload travels in one packet.
    pub const fn is_whole(&self, bytes: u64) -> bool {
        bytes + self.family.header_bytes() + UDP_BYTES <= self.place.mtu()
    }

    /// Whether its links do anything but take their time.
    pub fn is_impaired(&self) -> bool {
        let does = |it: &Conditions| !it.up.is_empty() || !it.down.is_empty();
        !self.later.is_empty() || self.conditions.iter().any(does)
    }

    /// Whether its links damage datagrams, which a run tells as a check that failed.
    pub fn is_damaged(&self) -> bool {
        let words = self.conditions.iter().flat_map(|it| [it.up, it.down]);
        words.chain(self.later.iter().map(|it| it.words)).any(|words| words.contains("corrupt="))
    }

    /// The congestion control that it asks for.
    pub fn congestion(&self) -> Option<&str> {
        let mut words = self.words.iter().skip_while(|word| *word != "--congestion");
        words.nth(1).map(String::as_str)
    }

    /// The value of an axis.
    pub fn setting(&self, axis: &str) -> Option<&str> {
        self.settings.iter().find(|it| it.axis == axis).map(|it| it.value.as_str())
    }
}

fn run(name: &str, to: &str, program: Program, words: impl Iterator<Item = String>) -> Run {
    Run {
        name: name.to_owned(),
        from: NEAR.to_owned(),
        to: Some(to.to_owned()),
        after: None,
        program,
        words: words.collect(),
    }
}
