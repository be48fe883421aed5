//! One step, done once: its servers and programs started, waited for, and ended where they hang.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_lab::harness::Lab;
use pathscope_os::clock;

use super::process::{Heard, Process};
use crate::document::{Attempt, RunResult};
use crate::plan::{Run, Step};
use crate::programs::{Program, Said, Server};

/// How long a program may take to be held back on its node, and a server to say that it is ready.
const STARTING: Duration = Duration::from_secs(20);
/// How often it is looked whether somebody wants all this to end.
const LOOK: Duration = Duration::from_millis(100);
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
        processes: BTreeMap::new(),
        servers: BTreeMap::new(),
        ended: BTreeMap::new(),
        began: None,
    };
    let halt = running.through().err();
    let (failure, stopped) = match halt {
        None => (None, None),
        Some(Halt::Failed(failure)) => (Some(failure), None),
        Some(Halt::Stopped(reason)) => (None, Some(reason)),
    };
    let (runs, said) = running.results(stopped);
    let begin = running.began;
    let ends = running.ended.values().map(|end| end.at);
    let duration_ns = begin.zip(ends.max()).map_or(0, |(begin, end)| end.nanos_since(begin));
    let attempt = Attempt { duration_ns, failure, runs, ..Attempt::default() };
    Done { attempt, said, stopped }
}

/// A step on its way.
struct Running<'run> {
    ground: &'run Ground<'run>,
    step: &'run Step,
    sender: Sender<Heard>,
    heard: Receiver<Heard>,
    processes: BTreeMap<usize, Process>,
    /// By node and first words: those that serve several programs.
    servers: BTreeMap<(String, &'static str), Process>,
    ended: BTreeMap<usize, End>,
    /// The instant at which the first programs were let go.
    began: Option<Tick>,
}

/// How a program ended.
struct End {
    at: Tick,
    output: Vec<u8>,
    complaint: String,
    exit_code: Option<i32>,
    signal: Option<i32>,
    began: Option<Tick>,
}

impl Running<'_> {
    fn through(&mut self) -> Result<(), Halt> {
        let first: Vec<usize> = self.ready_after(None);
        self.begin(&first)?;
        let limit = clock::now().plus_nanos(self.step.limit.0);
        while self.ended.keys().filter(|&&number| number < FIRST_SERVER).count()
            < self.step.runs.len()
        {
            let left = limit.since(clock::now());
            if left.is_zero() {
                return Err(Halt::Failed(self.what_hangs()));
            }
            let Some(number) = self.listen(left)? else { continue };
            let next = self.ready_after(Some(number));
            self.begin(&next)?;
        }
        Ok(())
    }

    /// The runs that wait for the end of another, or for none.
    fn ready_after(&self, ended: Option<usize>) -> Vec<usize> {
        (0..self.step.runs.len()).filter(|&at| self.step.runs[at].after == ended).collect()
    }

    /// Starts runs with what they need, and lets them go at the same instant.
    fn begin(&mut self, numbers: &[usize]) -> Result<(), Halt> {
        for &number in numbers {
            self.serve(number)?;
        }
        for &number in numbers {
            let run = &self.step.runs[number];
            let words = self.words(run);
            let process = Process::hold(self.ground.lab, &run.from, &words, number, &self.sender);
            let failed = |error| Halt::Failed(format!("cannot start {}: {error}", run.name));
            self.processes.insert(number, process.map_err(failed)?);
        }
        self.await_all(numbers)?;
        self.began.get_or_insert_with(clock::now);
        for number in numbers {
            if let Some(process) = self.processes.get_mut(number) {
                // One that has gone meanwhile is heard of.
                let _ = process.release();
            }
        }
        Ok(())
    }

    /// Waits until these are held back, or serve.
    fn await_all(&mut self, numbers: &[usize]) -> Result<(), Halt> {
        let until = clock::now() + STARTING;
        let mut waiting: Vec<usize> = numbers.to_vec();
        while !waiting.is_empty() {
            let left = until.since(clock::now());
            if left.is_zero() {
                return Err(Halt::Failed(format!(
                    "{} did not start within {} s",
                    self.name(waiting[0]),
                    STARTING.as_secs()
                )));
            }
            match self.next(left)? {
                Some(Heard::Ready(number) | Heard::Serves(number)) => {
                    waiting.retain(|&it| it != number);
                }
                Some(Heard::Ended { number, at, output, complaint }) => {
                    self.note_end(number, at, output, complaint);
                    if waiting.contains(&number) {
                        return Err(Halt::Failed(self.why_it_ended(number)));
                    }
                }
                None => {}
            }
        }
        Ok(())
    }

    /// The server that a run needs, unless it is there.
    fn serve(&mut self, number: usize) -> Result<(), Halt> {
        let run = &self.step.runs[number];
        let (Some(server), Some(node)) = (run.program.server(), &run.to) else { return Ok(()) };
        let key = (node.clone(), server.words[0]);
        if server.serves_many && self.servers.contains_key(&key) {
            return Ok(());
        }
        let place = FIRST_SERVER + number;
        let words = self.server_words(server);
        let process =
            Process::serve(self.ground.lab, node, &words, (place, server.ready), &self.sender);
        let failed = |error| {
            Halt::Failed(format!("cannot start the server of {} on {node}: {error}", run.name))
        };
        let process = process.map_err(failed)?;
        if server.serves_many {
            self.servers.insert(key, process);
        } else {
            self.processes.insert(place, process);
        }
        self.await_all(&[place])
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

    /// Waits for a program's end; which it was.
    fn listen(&mut self, left: Duration) -> Result<Option<usize>, Halt> {
        let Some(Heard::Ended { number, at, output, complaint }) = self.next(left)? else {
            return Ok(None);
        };
        self.note_end(number, at, output, complaint);
        match number.checked_sub(FIRST_SERVER) {
            None => Ok(Some(number)),
            // One that serves a single run ends with it.
            Some(_) if self.processes.contains_key(&number) => Ok(None),
            Some(_) => Err(Halt::Failed(self.why_it_ended(number))),
        }
    }

    fn next(&mut self, left: Duration) -> Result<Option<Heard>, Halt> {
        if let Some(reason) = (self.ground.stop)() {
            return Err(Halt::Stopped(reason));
        }
        match self.heard.recv_timeout(left.min(LOOK)) {
            Ok(heard) => Ok(Some(heard)),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Ok(None),
        }
    }

    fn note_end(&mut self, number: usize, at: Tick, output: Vec<u8>, complaint: String) {
        let process = self.processes.get_mut(&number);
        let began = process.as_ref().and_then(|process| process.began());
        let status = process.and_then(|process| process.wait().ok());
        let end = End {
            at,
            output,
            complaint,
            exit_code: status.and_then(|status| status.code()),
            signal: status.and_then(|status| status.signal()),
            began,
        };
        self.ended.insert(number, end);
    }

    fn name(&self, number: usize) -> String {
        match number.checked_sub(FIRST_SERVER) {
            Some(run) => format!("the server of {}", self.step.runs[run].name),
            None => self.step.runs[number].name.clone(),
        }
    }

    fn why_it_ended(&self, number: usize) -> String {
        let said = self.ended.get(&number).map_or("", |end| {
            if end.complaint.is_empty() {
                std::str::from_utf8(&end.output).unwrap_or_default()
            } else {
                &end.complaint
            }
        });
        let last = said.lines().rev().find(|line| !line.trim().is_empty());
        format!(
            "{} ended before it could begin: {}",
            self.name(number),
            last.unwrap_or("it said nothing")
        )
    }

    fn what_hangs(&self) -> String {
        let hanging = (0..self.step.runs.len()).filter(|number| !self.ended.contains_key(number));
        let names: Vec<&str> = hanging.map(|number| self.step.runs[number].name.as_str()).collect();
        format!(
            "still ran after the step's limit of {}, and was ended: {}",
            self.step.limit,
            names.join(", ")
        )
    }

    /// What each run came to. What still runs is ended first.
    fn results(&mut self, stopped: Option<&'static str>) -> (Vec<RunResult>, Vec<Said>) {
        let hanging: Vec<usize> = self
            .processes
            .keys()
            .copied()
            .filter(|number| !self.ended.contains_key(number))
            .collect();
        for number in &hanging {
            if let Some(process) = self.processes.get_mut(number) {
                process.end();
            }
        }
        self.servers.values_mut().for_each(Process::end);
        let ran = (0..self.step.runs.len()).map(|number| {
            let end = self.ended.get(&number);
            self.result(number, end, stopped)
        });
        ran.collect::<Vec<_>>().into_iter().unzip()
    }

    fn result(
        &self,
        number: usize,
        end: Option<&End>,
        stopped: Option<&'static str>,
    ) -> (RunResult, Said) {
        let run = &self.step.runs[number];
        let mut result = RunResult {
            name: run.name.clone(),
            from: run.from.clone(),
            to: run.to.clone(),
            command: self.words(run),
            ..RunResult::default()
        };
        let began = end.and_then(|end| end.began).or_else(|| self.processes.get(&number)?.began());
        result.start_ns = began.zip(self.began).map(|(began, first)| began.nanos_since(first));
        let Some(end) = end else {
            let why = match (stopped, began) {
                (Some(reason), _) => format!("not ended: {reason}"),
                (None, Some(_)) => "it was ended, since it hung".to_owned(),
                (None, None) => "it never began".to_owned(),
            };
            result.fault = Some(why);
            return (result, Said::default());
        };
        result.duration_ns = began.map(|began| end.at.nanos_since(began));
        result.exit_code = end.exit_code;
        result.complaint = Some(end.complaint.clone()).filter(|text| !text.is_empty());
        let output = String::from_utf8_lossy(&end.output);
        let mut said = run.program.read(&output);
        result.fault = fault(end, said.fault.take());
        result.document = said.document.take();
        if result.document.is_none() {
            result.output = Some(output.into_owned());
        }
        (result, said)
    }
}

/// Why what a program said is missing or not to be believed.
fn fault(end: &End, read: Option<String>) -> Option<String> {
    if end.exit_code == Some(0) {
        return read;
    }
    let how = match (end.exit_code, end.signal) {
        (Some(code), _) => format!("it ended with code {code}"),
        (None, Some(signal)) => format!("it was ended by signal {signal}"),
        (None, None) => "it is not known how it ended".to_owned(),
    };
    let last = end.complaint.lines().rev().find(|line| !line.trim().is_empty());
    Some(match read.or_else(|| last.map(str::to_owned)) {
        Some(why) => format!("{how}: {why}"),
        None => how,
    })
}
