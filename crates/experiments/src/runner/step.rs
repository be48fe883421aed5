//! One step, done once: its servers and programs started, waited for, and ended where they hang.
//!
//! A program has ended when its process has, and when nobody holds its outputs any more. Whoever holds them a moment longer is
//! something that it left behind, and is ended.
//!
//! In one file: one step from its programs to its figures.

use std::collections::{BTreeMap, VecDeque};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_lab::harness::Lab;
use pathscope_os::clock;

use super::process::{Heard, Process};
use crate::document::{Attempt, RunResult};
use crate::plan::{Run, Step};
use crate::programs::{Program, Said, Server};

/// How long a program may take to be held back on its node, a server to say that it is ready, and one to go.
const STARTING: Duration = Duration::from_secs(20);
/// How often it is looked who has ended, and whether somebody wants all this to end.
const LOOK: Duration = Duration::from_millis(50);
/// The same once a program has closed its outputs: its end is a moment away.
const SOON: Duration = Duration::from_millis(1);
/// How long what a program has left behind may hold its outputs.
const LEFT_BEHIND: Duration = Duration::from_secs(1);
/// How long programs that are told to end get to say what they have.
pub const LAST_WORDS: Duration = Duration::from_secs(3);
/// Servers are numbered from here on: they are no runs.
const FIRST_SERVER: usize = 1 << 16;

/// What is needed to do a step.
pub struct Ground<'run> {
    /// The network.
    pub lab: &'run Lab,
    /// This program.
    pub binary: &'run Path,
    /// Whether somebody wants it to end, and why.
    pub stop: &'run dyn Fn() -> Option<&'static str>,
    /// What else is to be done when the first programs are let go; a sentence where it cannot be.
    pub at_begin: &'run dyn Fn() -> Result<(), String>,
}

/// What came of a step.
pub struct Done {
    /// For the document; its begin and its shortcomings are not known here.
    pub attempt: Attempt,
    /// What each run said.
    pub said: Vec<Said>,
    /// That it was ended by somebody, and why.
    pub stopped: Option<&'static str>,
}

/// Why a step came to nothing.
enum Halt {
    Failed(String),
    Stopped(&'static str),
}

/// Does a step once. Whatever hangs is ended; what others found stands.
pub fn perform(ground: &Ground<'_>, step: &Step) -> Done {
    let (sender, heard) = mpsc::channel();
    let mut running = Running {
        ground,
        step,
        sender,
        heard,
        started: BTreeMap::new(),
        servers: BTreeMap::new(),
        ended: VecDeque::new(),
        began: None,
    };
    let halt = running.through().err();
    let (failure, stopped) = match halt {
        None => (None, None),
        Some(Halt::Failed(failure)) => (Some(failure), None),
        Some(Halt::Stopped(reason)) => (None, Some(reason)),
    };
    running.end_all();
    let ends = running.started.range(..FIRST_SERVER).filter_map(|(_, it)| it.ended_at);
    let duration_ns =
        running.began.zip(ends.max()).map_or(0, |(begin, end)| end.nanos_since(begin));
    let results = (0..step.runs.len()).map(|number| running.result(number, stopped));
    let (runs, said) = results.unzip();
    let attempt = Attempt { duration_ns, failure, runs, ..Attempt::default() };
    Done { attempt, said, stopped }
}

/// A step on its way.
struct Running<'run> {
    ground: &'run Ground<'run>,
    step: &'run Step,
    sender: Sender<Heard>,
    heard: Receiver<Heard>,
    /// What was started, by its number.
    started: BTreeMap<usize, Started>,
    /// The servers of a node, by their program: which of what was started it is.
    servers: BTreeMap<(String, &'static str), usize>,
    /// Runs that have ended, and whose followers have not begun.
    ended: VecDeque<usize>,
    /// The instant at which the first programs were let go.
    began: Option<Tick>,
}

/// A program that was started, and what is known of it.
struct Started {
    process: Process,
    is_ready: bool,
    status: Option<ExitStatus>,
    /// When its process ended.
    ended_at: Option<Tick>,
    /// When it closed its outputs.
    closed_at: Option<Tick>,
    /// What it said, once nobody can say more.
    said: Option<(Vec<u8>, String)>,
    /// Whether it was ended from here, since it would not by itself.
    was_ended: bool,
}

impl Started {
    fn new(process: Process) -> Self {
        Self {
            process,
            is_ready: false,
            status: None,
            ended_at: None,
            closed_at: None,
            said: None,
            was_ended: false,
        }
    }

    fn is_over(&self) -> bool {
        self.status.is_some() && self.said.is_some()
    }

    fn complaint(&self) -> &str {
        self.said.as_ref().map_or("", |(_, complaint)| complaint)
    }

    /// The last line that it said, of complaints if there are any.
    fn last_line(&self) -> Option<String> {
        let (output, complaint) = self.said.as_ref()?;
        let output = String::from_utf8_lossy(output);
        let text = if complaint.is_empty() { output.as_ref() } else { complaint };
        text.lines().rev().find(|line| !line.trim().is_empty()).map(str::to_owned)
    }
}

impl Running<'_> {
    fn through(&mut self) -> Result<(), Halt> {
        self.begin_after(None)?;
        let limit = clock::now().plus_nanos(self.step.limit().0);
        loop {
            while let Some(number) = self.ended.pop_front() {
                self.begin_after(Some(number))?;
            }
            let is_over = |number| self.started.get(&number).is_some_and(Started::is_over);
            if (0..self.step.runs.len()).all(is_over) {
                return Ok(());
            }
            let left = limit.since(clock::now());
            if left.is_zero() {
                return Err(Halt::Failed(self.what_hangs()));
            }
            self.look(left)?;
        }
    }

    /// Begins the runs that wait for the end of another, or for none: with what they need, and at the same instant.
    fn begin_after(&mut self, ended: Option<usize>) -> Result<(), Halt> {
        let runs = self.step.runs.iter().enumerate().filter(|(_, run)| run.after == ended);
        let numbers: Vec<usize> = runs.map(|(number, _)| number).collect();
        for &number in &numbers {
            self.serve(number)?;
        }
        for &number in &numbers {
            let run = &self.step.runs[number];
            let words = self.words(run);
            let process = Process::hold(self.ground.lab, &run.from, &words, number, &self.sender);
            let failed = |error| Halt::Failed(format!("cannot start {}: {error}", run.name));
            self.started.insert(number, Started::new(process.map_err(failed)?));
        }
        self.await_ready(&numbers)?;
        if self.began.is_none() {
            self.began = Some(clock::now());
            (self.ground.at_begin)().map_err(Halt::Failed)?;
        }
        for number in numbers {
            if let Some(started) = self.started.get_mut(&number) {
                // One that has gone meanwhile is heard of.
                let _ = started.process.release();
            }
        }
        Ok(())
    }

    /// Waits until these are held back, or serve.
    fn await_ready(&mut self, numbers: &[usize]) -> Result<(), Halt> {
        let until = clock::now() + STARTING;
        loop {
            let state = |&&number: &&usize| self.started.get(&number);
            let waiting = numbers.iter().find(|it| state(it).is_some_and(|it| !it.is_ready));
            let Some(&waiting) = waiting else { return Ok(()) };
            if self.started.get(&waiting).is_some_and(Started::is_over) {
                return Err(Halt::Failed(self.why_it_ended(waiting, "before it could begin")));
            }
            let left = until.since(clock::now());
            if left.is_zero() {
                let (name, seconds) = (self.name(waiting), STARTING.as_secs());
                return Err(Halt::Failed(format!("{name} did not start within {seconds} s")));
            }
            self.look(left)?;
        }
    }

    /// The server that a run needs, unless it is there.
    fn serve(&mut self, number: usize) -> Result<(), Halt> {
        let run = &self.step.runs[number];
        let (Some(server), Some(node)) = (run.program.server(), &run.to) else { return Ok(()) };
        let key = (node.clone(), server.words[0]);
        if let Some(&earlier) = self.servers.get(&key) {
            if server.serves_many {
                return Ok(());
            }
            // It goes with its client, and the next one needs its port.
            self.await_end(earlier)?;
        }
        let place = FIRST_SERVER + number;
        let words = self.server_words(server);
        let process =
            Process::serve(self.ground.lab, node, &words, (place, server.ready), &self.sender);
        let failed = |error| {
            let name = &run.name;
            Halt::Failed(format!("cannot start the server of {name} on {node}: {error}"))
        };
        self.started.insert(place, Started::new(process.map_err(failed)?));
        self.servers.insert(key, place);
        self.await_ready(&[place])
    }

    fn await_end(&mut self, number: usize) -> Result<(), Halt> {
        let until = clock::now() + STARTING;
        while !self.started.get(&number).is_none_or(Started::is_over) {
            let left = until.since(clock::now());
            if left.is_zero() {
                let name = self.name(number);
                return Err(Halt::Failed(format!("{name} did not end with its client")));
            }
            self.look(left)?;
        }
        Ok(())
    }

    fn server_words(&self, server: Server) -> Vec<String> {
        let words = server.words.iter().map(|&word| word.to_owned());
        words.enumerate().map(|(index, word)| self.own(index, word)).collect()
    }

    /// The words of a run as they are typed on its node.
    fn words(&self, run: &Run) -> Vec<String> {
        let seconds = self.step.duration.0.div_ceil(1_000_000_000).to_string();
        let filled = |word: &String| {
            let word = word.replace("{seconds}", &seconds).replace("{from}", &run.from);
            word.replace("{to}", run.to.as_deref().unwrap_or_default())
        };
        let words = run.program.words(&run.words);
        words.iter().map(filled).enumerate().map(|(index, word)| self.own(index, word)).collect()
    }

    /// `pathscope` is this very program.
    fn own(&self, index: usize, word: String) -> String {
        if index == 0 && Program::named(&word) == Program::Pathscope {
            return self.ground.binary.to_string_lossy().into_owned();
        }
        word
    }

    /// Hears what there is to be heard within a moment, and looks who has ended.
    fn look(&mut self, left: Duration) -> Result<(), Halt> {
        if let Some(reason) = (self.ground.stop)() {
            return Err(Halt::Stopped(reason));
        }
        let now = clock::now();
        let is_ending = |it: &Started| {
            let is_just_now = it.closed_at.is_some_and(|at| now.since(at) < LOOK);
            is_just_now && it.status.is_none()
        };
        let pause = if self.started.values().any(is_ending) { SOON } else { LOOK };
        self.hear(left.min(pause));
        let served_many = self.servers.iter().filter(|((_, program), _)| {
            Program::named(program).server().is_some_and(|server| server.serves_many)
        });
        let gone = served_many
            .map(|(_, &number)| number)
            .find(|number| self.started.get(number).is_some_and(|it| it.is_ready && it.is_over()));
        match gone {
            Some(number) => Err(Halt::Failed(self.why_it_ended(number, "before its clients"))),
            None => Ok(()),
        }
    }

    fn hear(&mut self, left: Duration) {
        match self.heard.recv_timeout(left) {
            Ok(Heard::Ready(number) | Heard::Serves(number)) => {
                self.started.entry(number).and_modify(|it| it.is_ready = true);
            }
            Ok(Heard::Closed { number, output, complaint }) => {
                self.started.entry(number).and_modify(|it| {
                    it.closed_at = Some(clock::now());
                    it.said = Some((output, complaint));
                });
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
        let now = clock::now();
        for (&number, started) in &mut self.started {
            if started.status.is_none() {
                started.status = started.process.ended();
            }
            if started.status.is_none() {
                continue;
            }
            let ended_at = *started.ended_at.get_or_insert(now);
            if started.said.is_some() {
                if !started.process.over() {
                    self.ended.extend((number < FIRST_SERVER).then_some(number));
                }
            } else if now.since(ended_at) > LEFT_BEHIND {
                started.process.kill();
            }
        }
    }

    fn name(&self, number: usize) -> String {
        match number.checked_sub(FIRST_SERVER) {
            Some(run) => format!("the server of {}", self.step.runs[run].name),
            None => self.step.runs[number].name.clone(),
        }
    }

    fn why_it_ended(&self, number: usize, when: &str) -> String {
        let last = self.started.get(&number).and_then(Started::last_line);
        let last = last.unwrap_or_else(|| "it said nothing".to_owned());
        format!("{} ended {when}: {last}", self.name(number))
    }

    fn what_hangs(&self) -> String {
        let is_over = |number: &usize| self.started.get(number).is_some_and(Started::is_over);
        let hanging = (0..self.step.runs.len()).filter(|number| !is_over(number));
        let names: Vec<&str> = hanging.map(|number| self.step.runs[number].name.as_str()).collect();
        format!(
            "still ran after the step's limit of {}, and was ended: {}",
            self.step.limit(),
            names.join(", ")
        )
    }

    /// Ends what still runs: asked first, so that it says what it has, then without.
    fn end_all(&mut self) {
        let runs_on = |it: &Started| !it.is_over();
        for (_, started) in self.started.range_mut(..FIRST_SERVER) {
            if runs_on(started) {
                started.was_ended = true;
                started.process.interrupt();
            }
        }
        let until = clock::now() + LAST_WORDS;
        while self.started.range(..FIRST_SERVER).any(|(_, it)| runs_on(it)) && clock::now() < until
        {
            self.hear(LOOK);
        }
        for started in self.started.values_mut().filter(|it| runs_on(it)) {
            started.process.kill();
        }
        let until = clock::now() + LAST_WORDS;
        while self.started.range(..FIRST_SERVER).any(|(_, it)| runs_on(it)) && clock::now() < until
        {
            self.hear(LOOK);
        }
    }

    fn result(&self, number: usize, stopped: Option<&'static str>) -> (RunResult, Said) {
        let run = &self.step.runs[number];
        let mut result = RunResult {
            name: run.name.clone(),
            from: run.from.clone(),
            to: run.to.clone(),
            command: self.words(run),
            ..RunResult::default()
        };
        let began = self.started.get(&number).and_then(|it| it.process.began());
        let (Some(started), Some(began)) = (self.started.get(&number), began) else {
            result.fault = Some("it never began".to_owned());
            return (result, Said::default());
        };
        result.start_ns = self.began.map(|first| began.nanos_since(first));
        result.duration_ns = started.ended_at.map(|end| end.nanos_since(began));
        result.exit_code = started.status.and_then(|status| status.code());
        let complaint = started.complaint();
        result.complaint = Some(complaint.to_owned()).filter(|text| !text.is_empty());
        let output = started.said.as_ref().map(|(output, _)| String::from_utf8_lossy(output));
        let output = output.unwrap_or_default();
        let mut said = run.program.read(&output);
        let fault = said.fault.take();
        result.fault = match (started.was_ended, stopped) {
            (true, Some(reason)) => Some(format!("it was ended: {reason}")),
            (true, None) => Some("it was ended, since it hung".to_owned()),
            (false, _) => fault_of(run.program, started, fault, said.document.is_some()),
        };
        result.document = said.document.take();
        if result.document.is_none() {
            result.output = Some(output.into_owned());
        }
        (result, said)
    }
}

/// Why what a program said is missing or not to be believed.
fn fault_of(
    program: Program,
    started: &Started,
    read: Option<String>,
    has_document: bool,
) -> Option<String> {
    let status = started.status?;
    let code = status.code();
    if code == Some(0) || read.is_none() && program.is_fine_with(code) {
        return read;
    }
    let how = match (code, status.signal()) {
        (Some(code), _) => format!("it ended with code {code}"),
        (None, Some(signal)) => format!("it was ended by signal {signal}"),
        (None, None) => "it is not known how it ended".to_owned(),
    };
    // What it complains of tells more than that nothing could be read.
    let why = if has_document { read } else { started.last_line().or(read) };
    Some(match why {
        Some(why) => format!("{how}: {why}"),
        None => how,
    })
}
