//! A run under several names: a thread greets the server under each, and those that turn out to be servers of their own run the test,
//! from one start on. What they tell is told in order, and their parts become one document. Not here: who is whose (`company`), and
//! what each does (`one`).

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, Scope, ScopedJoinHandle};
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::error::Failure;
use pathscope_core::event::Event;
use pathscope_core::presentation::Row;
use pathscope_core::record::{Caveat, Remarks};
use pathscope_modes::document::servers;
use pathscope_modes::document::{Document, Interval, Outcome};
use pathscope_modes::follow_up::Tests;
use pathscope_modes::groups::Test;
use pathscope_os::clock;
use pathscope_peers::registry::PeerKind;

use super::company::Company;
use super::test::CHECKPOINT_EVERY;
use super::{ClientRun, Ended, Told, conclude};
use crate::error::RunError;
use crate::records::journal::Journal;
use crate::stop::Stop;

/// Intervals in which the rows of all are waited for.
const ROWS_KEPT: u64 = 16;

/// What all of them have in common.
pub(super) struct Several<'run> {
    pub company: Company,
    /// As it stands before anything is known of a server.
    pub document: Document,
    pub began: Tick,
    pub stop: &'run Stop,
    pub peer: PeerKind,
    pub connect_within: Duration,
    /// With what each server is told beside.
    pub tests: (Vec<(String, Test)>, Remarks),
    pub journal: Journal,
}

/// What one of them tells.
enum Word {
    Interval { measurement: String, row: Row, interval: Box<Interval> },
    Note(Caveat),
    Checkpoint(Box<Document>),
}

impl Word {
    /// Nothing of what no run of several names has: trials.
    fn of(told: &Told<'_>) -> Option<Self> {
        Some(match *told {
            Told::Interval { measurement, row, interval } => Self::Interval {
                measurement: measurement.to_owned(),
                row: row.clone(),
                interval: Box::new(interval.clone()),
            },
            Told::Note(caveat) => Self::Note(caveat.clone()),
            Told::Checkpoint(document) => Self::Checkpoint(Box::new(document.clone())),
            Told::Trial { .. } => return None,
        })
    }
}

/// What the thread of a name leaves.
struct Part {
    document: Document,
    result: Result<(), RunError>,
}

impl Several<'_> {
    /// Measures, tells of it, and says what came of it: the document of one server, where all names are of one, or of several.
    pub fn run(self, sink: &mut dyn FnMut(Event<'_>)) -> (Document, Ended) {
        let parts = std::thread::scope(|scope| {
            let (sender, words) = channel();
            let threads: Vec<_> =
                self.names().map(|name| self.start(scope, name, &sender)).collect();
            drop(sender);
            self.tell(&words, sink);
            threads.into_iter().map(join).collect::<Vec<_>>()
        });
        self.together(parts)
    }

    fn names(&self) -> std::ops::Range<usize> {
        0..self.company.names().len()
    }

    /// Starts the thread of a name.
    fn start<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        name: usize,
        sender: &Sender<(usize, Word)>,
    ) -> Result<ScopedJoinHandle<'scope, Part>, RunError> {
        let sender = sender.clone();
        let thread = Builder::new().name(format!("client-{name}"));
        let started = thread.spawn_scoped(scope, move || self.attend(name, &sender));
        let started = started.map_err(RunError::system("cannot start a thread"));
        if started.is_err() {
            self.company.leaves(name, &Err(RunError::Interrupted));
        }
        started
    }

    /// All that is done under a name.
    fn attend(&self, name: usize, sender: &Sender<(usize, Word)>) -> Part {
        let mut sink = |told: Told<'_>| {
            // Whoever relays it is there until all have ended.
            let _ = Word::of(&told).map(|word| sender.send((name, word)));
        };
        let mut run = ClientRun {
            document: self.document.clone(),
            began: self.began,
            stop: self.stop,
            sink: &mut sink,
            peer: self.peer,
            connect_within: self.connect_within,
            tests: Tests { remarks: self.tests.1.clone(), ..Tests::from(self.tests.0.clone()) },
            journal: self.journal.clone(),
            samples: None,
            targets: vec![self.company.targets_of(name)],
            company: Some((&self.company, name)),
            joint_start: None,
            probe_server: None,
            destinations: None,
            kept_until: Tick::ZERO,
        };
        let result = run.measure();
        self.company.leaves(name, &result);
        Part { document: run.document, result }
    }

    /// Tells all that they tell, until they have ended.
    fn tell(&self, words: &Receiver<(usize, Word)>, sink: &mut dyn FnMut(Event<'_>)) {
        let mut parts: Vec<Option<Document>> = self.names().map(|_| None).collect();
        let mut next_checkpoint = Tick::ZERO;
        let mut rows: BTreeMap<u64, Vec<Row>> = BTreeMap::new();
        for (name, word) in words {
            let is_of_several = self.company.is_of_several();
            match word {
                Word::Interval { measurement, mut row, interval } => {
                    let server = self.company.names()[name].as_str();
                    if is_of_several {
                        servers::name_row(&mut row, server);
                    }
                    let server = Some(server).filter(|_| is_of_several);
                    let record = interval.as_ref();
                    sink(Event::Interval { measurement: &measurement, server, row: &row, record });
                    let all = rows.entry(interval.index).or_default();
                    all.push(row);
                    if is_of_several && all.len() == self.company.leaders().len() {
                        let sum = servers::sum_of_rows(all);
                        sum.iter().for_each(|row| sink(Event::AllServers { row }));
                    }
                    // What one that is lost never says is waited for no longer.
                    rows.retain(|&index, _| index.saturating_add(ROWS_KEPT) > interval.index);
                }
                Word::Note(caveat) => sink(Event::Note(&caveat)),
                Word::Checkpoint(document) if !is_of_several => {
                    sink(Event::Checkpoint { record: &*document });
                }
                Word::Checkpoint(document) => {
                    let is_over = document.outcome.measurement.is_none();
                    parts[name] = Some(*document);
                    let now = clock::now();
                    if now < next_checkpoint && !is_over {
                        continue;
                    }
                    let known = parts.iter().flatten().cloned().collect();
                    let document = self.so_far(known);
                    sink(Event::Checkpoint { record: &document });
                    let cost: Duration = clock::now().since(now);
                    next_checkpoint = now + CHECKPOINT_EVERY.max(cost * 100);
                }
            }
        }
    }

    /// The document while servers measure.
    fn so_far(&self, parts: Vec<Document>) -> Document {
        let outcomes = parts.iter().map(|part| &part.outcome);
        let outcome = outcomes.max_by_key(|it| it.measurement.is_some()).cloned();
        let document = Document {
            outcome: outcome.unwrap_or_else(|| Outcome::cut_off_after(None)),
            duration_ns: clock::now().nanos_since(self.began),
            ..self.document.clone()
        };
        document.with_servers(parts)
    }

    /// What all of it comes to.
    fn together(self, mut parts: Vec<Result<Part, RunError>>) -> (Document, Ended) {
        let leaders = self.company.leaders();
        if leaders.is_empty() {
            let unreached = self.company.unreached().filter(|_| self.stop.reason().is_none());
            let result = unreached.map_or(Err(RunError::Interrupted), |name| {
                parts.swap_remove(name).and_then(|part| part.result)
            });
            return (self.document, ended(result));
        }
        let mut parts: Vec<(usize, Part)> =
            (0..).zip(parts).filter_map(|(name, part)| Some((name, part.ok()?))).collect();
        parts.retain(|(name, _)| leaders.contains(name));
        if let ([_], Some((_, part))) = (leaders.as_slice(), parts.first_mut()) {
            let result = std::mem::replace(&mut part.result, Ok(()));
            return (std::mem::take(&mut part.document), ended(result));
        }
        let missing = self.company.missing();
        let names = |all: &[usize]| {
            let all = all.iter().map(|&name| self.company.names()[name].as_str());
            all.collect::<Vec<_>>().join(" and ")
        };
        let mut failures: Vec<(Failure, String)> = Vec::new();
        let mut documents = Vec::new();
        for (name, Part { mut document, result }) in parts {
            let own = self.company.names()[name].clone();
            let is_stopped = result.as_ref().is_err_and(RunError::is_own_stop);
            let result = match (missing.is_empty(), missing.contains(&name)) {
                _ if self.stop.reason().is_some() => ended(result),
                (false, true) if is_stopped => Err((
                    Failure::Peer,
                    "it was not ready to start when the others had waited for it, and so none started".to_owned(),
                )),
                (false, false) => Err((
                    Failure::Peer,
                    format!("it was not started, since {} was not ready", names(&missing)),
                )),
                _ => ended(result),
            };
            // What its checks say stands beside them.
            let _ = conclude(&mut document, self.stop, result.clone());
            let is_own = missing.is_empty() || missing.contains(&name);
            failures.extend(
                result
                    .err()
                    .filter(|_| is_own)
                    .map(|(failure, text)| (failure, format!("{own}: {text}"))),
            );
            documents.push(document);
        }
        let gravest = Failure::gravest(failures.iter().map(|&(failure, _)| failure));
        let first = failures.into_iter().find(|&(failure, _)| Some(failure) == gravest);
        (self.document.with_servers(documents), first.map_or(Ok(()), Err))
    }
}

/// What a thread has left; one that panicked takes the others with it, as everywhere.
fn join(thread: Result<ScopedJoinHandle<'_, Part>, RunError>) -> Result<Part, RunError> {
    thread.map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
}

/// How it ended, as results tell it.
pub(super) fn ended(result: Result<(), RunError>) -> Ended {
    result.map_err(|error| (error.failure(), error.to_string()))
}
