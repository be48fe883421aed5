//! The client's side of a run: finds the server, runs the tests one after the other, and makes the
//! document, whatever happens.
//!
//! In one file: one run from its first step to its last.

use std::collections::VecDeque;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::error::Failure;
use pathscope_core::event::Event;
use pathscope_core::id::{FlowId, Role};
use pathscope_core::presentation::Row;
use pathscope_core::record::{Caveat, FlowError, Host, Substitution};
use pathscope_flow::{Credentials, Resumed};
use pathscope_modes::assemble::{self, Findings};
use pathscope_modes::document::{Document, Interval, Outcome, OutcomeState};
use pathscope_modes::follow_up::{FollowUp, Step};
use pathscope_modes::presentation;
use pathscope_modes::registry::{EndInterval, EndReport, Test};
use pathscope_modes::still::StillRows;
use pathscope_os::sockets::Socket;
use pathscope_os::{Waker, clock, limits};
use pathscope_peers::native;

use crate::connect::destinations::{Destinations, Silent};
use crate::connect::{attach, destinations};
use crate::error::RunError;
use crate::findings::RunCaveat;
use crate::messages::inbox::Inbox;
use crate::records::journal::Journal;
use crate::records::samples::SampleFile;
use crate::server::Embedded;
use crate::session::driver::{Driver, End, Left, stopping_takes};
use crate::session::intervals::Pairs;
use crate::session::{renewed, running};
use crate::stop::{Stage, Stop};
use crate::target;
use crate::workers::placement::GroupWorkers;

/// A connection that is not there by then is not there.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// The document so far is offered for saving about so often.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(1);

/// Connections that failed at the server and are remembered one by one: no more are told so.
const FAILURES_HEARD: usize = 2_000;

/// What is to be measured, and against whom.
pub struct Request {
    /// `survey`, `goodput`, `latency`.
    pub kind: String,
    /// The command line, word by word.
    pub command: Vec<String>,
    /// This end, as results describe it.
    pub here: Host,
    /// The server as it was named, by one name or several; none: a server inside this process.
    pub hosts: Vec<String>,
    /// Its port, where a name has none.
    pub port: u16,
    /// The tests with their names, in order, as far as they are known when it begins.
    pub tests: Vec<(String, Test)>,
    /// Asked after each of them what follows from it; none: nothing does.
    pub follow_up: Option<Box<dyn FollowUp>>,
    /// Asked once everything was measured: what else there is to mind.
    pub afterwards: Box<dyn FnOnce() -> Vec<Caveat>>,
    /// What is written down while it runs.
    pub journal: Journal,
    /// Where what each test measures is written one by one.
    pub samples: Option<SampleFile>,
    /// What time people have, in nanoseconds since 1970. It may step: nothing is measured by it.
    pub wall_unix_ns: fn() -> u64,
}

/// Runs everything that was asked for, and tells `sink` of it as it happens.
///
/// Always comes back with a document: of everything, or of what there was until it ended. The second
/// value says what went wrong, if anything did.
pub fn run(
    request: Request,
    stop: &Stop,
    sink: &mut dyn FnMut(Event<'_>),
) -> (Document, Option<(Failure, String)>) {
    let began = clock::now();
    let document = Document {
        tool: request.here.tool.clone(),
        command: request.command,
        kind: request.kind,
        target: (!request.hosts.is_empty()).then(|| request.hosts.join(", ")),
        started_at: crate::timestamp::rfc3339((request.wall_unix_ns)()),
        // Only a run that comes to an end says another.
        outcome: Outcome::cut_off_after(None),
        ..Document::default()
    };
    let Request { follow_up, journal, samples, .. } = request;
    let tests = request.tests.into();
    let destinations = None;
    let mut run =
        ClientRun { document, began, sink, tests, follow_up, journal, samples, destinations };
    run.document.hosts.client = request.here;
    stop.at(Stage::Before);
    let result = run.everything(&request.hosts, request.port, stop);
    stop.at(Stage::Saving);
    run.document.caveats.extend((request.afterwards)());
    run.finish(result, stop)
}

/// A run in progress.
struct ClientRun<'sink> {
    document: Document,
    began: Tick,
    sink: &'sink mut dyn FnMut(Event<'_>),
    /// Those that are left, in order.
    tests: VecDeque<(String, Test)>,
    follow_up: Option<Box<dyn FollowUp>>,
    journal: Journal,
    samples: Option<SampleFile>,
    /// Where data connections go, once that is known.
    destinations: Option<Destinations>,
}

impl ClientRun<'_> {
    /// All tests, from finding the server to taking leave of it.
    fn everything(&mut self, hosts: &[String], port: u16, stop: &Stop) -> Result<(), RunError> {
        let title = pathscope_core::presentation::Presentation {
            title: presentation::title(&self.document.kind, self.document.target.as_deref()),
            ..pathscope_core::presentation::Presentation::default()
        };
        (self.sink)(Event::Started { presentation: &title, record: &self.document });
        self.tests.iter().try_for_each(|(_, test)| running::check(test))?;
        // Fewer files than there could be are enough for most tests; those that lack say so.
        let _ = limits::raise_open_files();
        let embedded = if hosts.is_empty() {
            Some(Embedded::start(self.document.hosts.client.clone())?)
        } else {
            None
        };
        let targets: Vec<Vec<SocketAddr>> = if let Some(embedded) = &embedded {
            vec![vec![embedded.address()]]
        } else {
            let resolved = hosts.iter().map(|host| target::resolve(host, port, stop));
            resolved.collect::<Result<_, _>>()?
        };
        match self.session(&targets, stop) {
            Err(error @ RunError::DatagramsUnanswered { .. }) => {
                self.go_without_datagrams(error)?;
                self.session(&targets, stop)
            }
            result => result,
        }
    }

    /// All tests that are left, over one control connection.
    fn session(&mut self, targets: &[Vec<SocketAddr>], stop: &Stop) -> Result<(), RunError> {
        let Connected { control, server, silent } = connect(targets, stop)?;
        self.find_destinations(targets, server, silent, stop)?;
        self.document.hosts.client.network.interface = attach::interface_of(&control);
        let host = self.document.hosts.client.clone();
        let dialogue = native::Client::asking(host, self.journal.is_kept(), clock::now());
        let mut driver = Driver::new(dialogue, Role::Client, control)?;
        driver.keep(&self.journal);
        driver.samples.clone_from(&self.samples);
        let _hearing = stop.tell(driver.inbox());
        let result = self.tests(&mut driver, server, stop);
        if result.is_ok() {
            self.take_leave(&mut driver, server);
        }
        let renewals = driver.dialogue.renewals();
        let caveat = renewed::caveat(renewals, result.is_ok());
        caveat.iter().for_each(|caveat| (self.sink)(Event::Note(caveat)));
        self.document.caveats.extend(caveat);
        result
    }

    /// Connections of a goodput test go to all addresses of the server that answer. The steps of a survey are
    /// compared with each other, so they keep to one.
    fn find_destinations(
        &mut self,
        targets: &[Vec<SocketAddr>],
        server: SocketAddr,
        silent: Vec<Silent>,
        stop: &Stop,
    ) -> Result<(), RunError> {
        let spreads = |(_, test): &(String, Test)| test.plan.spreads();
        if self.destinations.is_some()
            || self.document.kind == "survey"
            || !self.tests.iter().any(spreads)
        {
            return Ok(());
        }
        let within = (CONNECT_WITHIN, stop);
        let (found, caveats) = destinations::find(targets, server, silent, within)?;
        self.destinations = Some(found);
        caveats.iter().for_each(|caveat| (self.sink)(Event::Note(caveat)));
        self.document.caveats.extend(caveats);
        Ok(())
    }

    /// A path that lets no UDP through is no reason not to measure the rest: what was left to us, probes
    /// and a survey's idle latency, goes over TCP. What was asked for by name is refused.
    fn go_without_datagrams(&mut self, error: RunError) -> Result<(), RunError> {
        let is_survey = self.document.kind == "survey";
        if !self.tests.iter_mut().all(|(_, test)| test.go_without_datagrams(is_survey)) {
            return Err(error);
        }
        let caveat = Caveat::new(
            RunCaveat::UdpUnanswered,
            format!("the latency probes ran over TCP, since {error}"),
        );
        (self.sink)(Event::Note(&caveat));
        self.document.caveats.push(caveat);
        Ok(())
    }

    fn tests(
        &mut self,
        driver: &mut Driver<native::Client>,
        server: SocketAddr,
        stop: &Stop,
    ) -> Result<(), RunError> {
        while let Some((name, test)) = self.tests.front().cloned() {
            if stop.reason().is_some() {
                return Err(RunError::Interrupted);
            }
            driver.dialogue.propose(test.clone(), clock::now());
            let mut end = ClientEnd::new(name, test, server, (self, stop));
            let left = driver.drive(&mut end);
            if matches!(left, Left::Ended(_)) {
                driver.salvage(&mut end);
            }
            stop.at(Stage::Before);
            let findings = end.into_findings();
            let is_whole = findings.is_some()
                && matches!(left, Left::TestOver)
                && driver.dialogue.stopped_by_server().is_none()
                && stop.reason().is_none();
            findings.iter().for_each(|findings| self.tell_disagreements(findings, server));
            self.document.hosts.server = driver.dialogue.server().map(|server| server.host.clone());
            self.document.measurements.extend(
                findings.map(|findings| assemble::measurement(findings, &self.document.hosts)),
            );
            let next = if is_whole { self.follow() } else { None };
            self.save_between();
            if let Left::Ended(result) = left {
                return result.and(Err(RunError::LeftEarly));
            }
            self.tests.pop_front();
            self.tests.extend(next);
            if let (Some(reason), None) = (driver.dialogue.stopped_by_server(), stop.reason()) {
                return Err(RunError::CutShort { reason: reason.to_owned() });
            }
        }
        Ok(())
    }

    /// The document as it stands between two measurements, where there is anything in it.
    fn save_between(&mut self) {
        let Some(last) = self.document.measurements.last() else { return };
        self.document.outcome = Outcome::cut_off_after(Some(&last.name));
        self.document.duration_ns = clock::now().nanos_since(self.began);
        (self.sink)(Event::Checkpoint { record: &self.document });
    }

    /// What follows from the measurement that has just come to its planned end: word of it, and the next test.
    fn follow(&mut self) -> Option<(String, Test)> {
        let Step { row, record, next } = self.follow_up.as_mut()?.follow(&mut self.document);
        (self.sink)(Event::Trial { row: &row, record: &*record });
        next
    }

    /// A connection whose ends do not count the same is an error that only both reports together show.
    fn tell_disagreements(&self, findings: &Findings, server: SocketAddr) {
        for disagreement in findings.disagreements() {
            self.journal.trouble(Some(server.to_string()), disagreement);
        }
    }

    /// Closes the control connection in good order. What goes wrong now costs nothing.
    fn take_leave(&mut self, driver: &mut Driver<native::Client>, server: SocketAddr) {
        driver.dialogue.finish(clock::now());
        let _ = driver.drive(&mut ClientEnd::idle(server, (self, &Stop::default())));
    }

    /// The document as it stands, what it comes to, and word of it.
    fn finish(
        mut self,
        result: Result<(), RunError>,
        stop: &Stop,
    ) -> (Document, Option<(Failure, String)>) {
        self.document.duration_ns = clock::now().nanos_since(self.began);
        let failure = self.failure(result, stop);
        if let Some((_, text)) = &failure {
            self.journal.trouble(None, text);
        }
        self.document.caveats.extend(self.journal.settle());
        self.document.outcome = match &failure {
            None | Some((Failure::Check, _)) => Outcome::default(),
            Some((Failure::Interrupted, reason)) => {
                Outcome::ended(OutcomeState::Interrupted, reason)
            }
            Some((_, reason)) => Outcome::ended(OutcomeState::Failed, reason),
        };
        let told = failure.as_ref().map(|(failure, text)| (*failure, text.as_str()));
        let presentation = presentation::presentation(&self.document);
        (self.sink)(Event::Finished {
            presentation: &presentation,
            record: &self.document,
            failure: told,
        });
        (self.document, failure)
    }

    /// The gravest of what went wrong.
    fn failure(&self, result: Result<(), RunError>, stop: &Stop) -> Option<(Failure, String)> {
        let interrupted = stop.reason().map(|reason| (Failure::Interrupted, reason.to_owned()));
        let ended = result.err().map(|error| (error.failure(), error.to_string()));
        let checks =
            self.document.failed_checks().next().map(|check| (Failure::Check, check.text.clone()));
        let all: Vec<_> = [interrupted, ended, checks].into_iter().flatten().collect();
        let gravest = Failure::gravest(all.iter().map(|&(failure, _)| failure))?;
        all.into_iter().find(|&(failure, _)| failure == gravest)
    }
}

/// The control connection to the first of the server's addresses that answers, and those that did not.
struct Connected {
    control: TcpStream,
    server: SocketAddr,
    silent: Vec<Silent>,
}

fn connect(targets: &[Vec<SocketAddr>], stop: &Stop) -> Result<Connected, RunError> {
    let mut silent: Vec<Silent> = Vec::new();
    let cancel = Waker::new()?;
    let _hearing = stop.wake(&cancel);
    for &address in targets.iter().flatten() {
        if stop.reason().is_some() {
            return Err(RunError::Interrupted);
        }
        match attach::open_control(address, CONNECT_WITHIN, &cancel) {
            Ok(control) => return Ok(Connected { control, server: address, silent }),
            Err(error) => silent.push((address, error)),
        }
    }
    Err(silent.pop().map_or(RunError::Interrupted, |(_, error)| error.into()))
}

/// One test as the client's end sees it.
struct ClientEnd<'run, 'sink> {
    name: String,
    test: Option<Test>,
    server: SocketAddr,
    run: &'run mut ClientRun<'sink>,
    stop: Stop,
    started: Option<Tick>,
    chosen: Vec<Substitution>,
    pairs: Pairs,
    still: StillRows,
    client: Option<Box<EndReport>>,
    peer: Option<Box<EndReport>>,
    /// Connections of which the server says that they failed there.
    failed_there: Vec<(FlowId, FlowError)>,
    checkpoint: Tick,
}

impl<'run, 'sink> ClientEnd<'run, 'sink> {
    fn new(
        name: String,
        test: Test,
        server: SocketAddr,
        of: (&'run mut ClientRun<'sink>, &Stop),
    ) -> Self {
        Self { name, test: Some(test), ..Self::idle(server, of) }
    }

    /// Between tests.
    fn idle(server: SocketAddr, (run, stop): (&'run mut ClientRun<'sink>, &Stop)) -> Self {
        Self {
            name: String::new(),
            test: None,
            server,
            run,
            stop: stop.clone(),
            started: None,
            chosen: Vec::new(),
            pairs: Pairs::default(),
            still: StillRows::default(),
            client: None,
            peer: None,
            failed_there: Vec::new(),
            checkpoint: Tick::ZERO,
        }
    }

    /// What is known of the test; nothing of one that never started.
    fn into_findings(mut self) -> Option<Findings> {
        self.show_rest();
        let (test, started) = (self.test?, self.started?);
        Some(Findings {
            name: self.name,
            test,
            substitutions: self.chosen,
            start_ns: started.nanos_since(self.run.began),
            duration_ns: clock::now().nanos_since(started),
            intervals: self.pairs.intervals,
            client: self.client.map(|report| *report).unwrap_or_default(),
            server: self.peer.map(|report| *report),
            failed_there: self.failed_there,
        })
    }

    fn show_due(&mut self) {
        let Some(test) = &self.test else { return };
        let told = Told::by(self.run);
        while let Some(interval) = self.pairs.take_shown() {
            show(self.run.sink, &self.name, test, interval, told);
            let notes = self.still.note(&test.plan, interval);
            notes.iter().for_each(|note| (self.run.sink)(Event::Note(note)));
        }
    }

    fn show_rest(&mut self) {
        let Some(test) = &self.test else { return };
        let told = Told::by(self.run);
        for interval in self.pairs.rest() {
            show(self.run.sink, &self.name, test, interval, told);
            let notes = self.still.note(&test.plan, interval);
            notes.iter().for_each(|note| (self.run.sink)(Event::Note(note)));
        }
    }

    /// The document with what is known of this test, about once a second.
    fn checkpoint(&mut self) {
        let now = clock::now();
        let (Some(test), Some(started)) = (&self.test, self.started) else { return };
        if now < self.checkpoint {
            return;
        }
        let mut document = self.run.document.clone();
        document.outcome = Outcome::cut_off_in(&self.name, now.nanos_since(started));
        document.duration_ns = now.nanos_since(self.run.began);
        document.measurements.push(assemble::unfinished(
            Findings {
                name: self.name.clone(),
                test: test.clone(),
                substitutions: self.chosen.clone(),
                start_ns: started.nanos_since(self.run.began),
                duration_ns: now.nanos_since(started),
                intervals: self.pairs.intervals.clone(),
                client: EndReport::default(),
                server: None,
                failed_there: self.failed_there.clone(),
            },
            &document.hosts,
        ));
        (self.run.sink)(Event::Checkpoint { record: &document });
        // A long run at short intervals makes a long document: keeping it safe takes a hundredth of the
        // time at most.
        let cost = clock::now().since(now);
        self.checkpoint = now + CHECKPOINT_EVERY.max(cost * 100);
    }
}

/// What has a row of its own.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Told {
    Intervals,
    /// Of a run with a follow-up.
    Measurements,
}

impl Told {
    fn by(run: &ClientRun<'_>) -> Self {
        if run.follow_up.is_some() { Self::Measurements } else { Self::Intervals }
    }
}

/// Tells of an interval. The last one, cut short by the end, has no row where it is a splinter: its rates
/// say little.
fn show(sink: &mut dyn FnMut(Event<'_>), name: &str, test: &Test, interval: &Interval, told: Told) {
    let end = interval.client.as_ref().or(interval.server.as_ref());
    let length_ns = end.map_or(0, |end| end.end_ns.saturating_sub(end.start_ns));
    let is_splinter = interval.index > 0 && length_ns < test.report_every_ns.0 / 10;
    let has_row = told == Told::Intervals && !is_splinter;
    let row = if has_row { presentation::row(name, test, interval) } else { Row::default() };
    sink(Event::Interval { measurement: name, row: &row, record: interval });
}

impl End for ClientEnd<'_, '_> {
    fn provide(
        &mut self,
        (credentials, _): (Credentials, Option<Resumed>),
        (test, _): (&Test, &[GroupWorkers]),
        inbox: &Inbox,
    ) -> Result<(), RunError> {
        // The plan as the server accepted it is the one that runs.
        self.test = Some(test.clone());
        let one = Destinations::one(self.server);
        let destinations = self.run.destinations.as_ref().unwrap_or(&one);
        attach::open_flows((self.server, destinations), credentials, test, inbox);
        Ok(())
    }

    fn started(&mut self, at: Tick, chosen: Vec<Substitution>) {
        self.started = Some(at);
        let most = stopping_takes(self.test.as_ref().is_some_and(Test::roams));
        self.stop.at(Stage::Running { most });
        self.checkpoint = at + CHECKPOINT_EVERY;
        self.chosen = chosen;
    }

    fn interval(&mut self, whose: Role, interval: Box<EndInterval>) {
        self.pairs.add(whose, *interval);
        self.show_due();
        self.checkpoint();
    }

    fn peer_failed(&mut self, flow: FlowId, error: FlowError) {
        if self.failed_there.len() < FAILURES_HEARD {
            self.failed_there.push((flow, error));
        }
    }

    fn report(&mut self, whose: Role, report: Box<EndReport>) {
        match whose {
            Role::Client => self.client = Some(report),
            Role::Server => self.peer = Some(report),
        }
    }

    fn test_over(&mut self, sockets: Vec<Arc<Socket>>) {
        // The client closes first, so that nothing gathers in TIME_WAIT at the server.
        drop(sockets);
    }
}
