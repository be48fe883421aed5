//! The client's side of a run: finds the server, runs the tests one after the other, and makes the
//! document, whatever happens.
//!
//! In one file: one run from its first step to its last.

use std::net::SocketAddr;
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::error::Failure;
use pathscope_core::event::Event;
use pathscope_core::id::{FlowId, Role};
use pathscope_core::presentation::{Presentation, Row};
use pathscope_core::record::{Caveat, FlowError, Host, PeerFacts, Substitution};
use pathscope_modes::assemble::{self, Findings};
use pathscope_modes::assertion::{self, Assertion};
use pathscope_modes::comparison;
use pathscope_modes::document::{Document, Interval, Outcome, OutcomeState};
use pathscope_modes::follow_up::{Step, Tests};
use pathscope_modes::groups::Test;
use pathscope_modes::presentation;
use pathscope_modes::registry::{EndInterval, EndReport};
use pathscope_modes::still::StillRows;
use pathscope_os::{clock, limits, random};
use pathscope_peers::attach::AttachError;
use pathscope_peers::dialogue::ClientDialogue;
use pathscope_peers::joining::Cookie;
use pathscope_peers::peer::{self, Control, Peer};
use pathscope_peers::registry::{PeerKind, PeerVisitor};

use crate::connect::destinations::{Destinations, Silent};
use crate::connect::{Orders, attach, destinations};
use crate::error::RunError;
use crate::findings::RunCaveat;
use crate::messages::inbox::Inbox;
use crate::records::journal::Journal;
use crate::records::samples::SampleFile;
use crate::server::Embedded;
use crate::session::driver::{Carrier, Driver, End, Left, stopping_takes};
use crate::session::intervals::Pairs;
use crate::session::renewed;
use crate::session::running::{self, RunningTest};
use crate::stop::{Stage, Stop};
use crate::target;

/// A connection that is not there by then is not there.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// The document so far is offered for saving about so often.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(1);

/// Between tests that follow one another it is written again after so many times as long as it took to write: that is a ninth of the time at
/// most, and what a kill costs.
const KEEPING_SHARE: u32 = 8;

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
    /// What kind of server it is.
    pub peer: PeerKind,
    /// The server as it was named, by one name or several; none: a server inside this process.
    pub hosts: Vec<String>,
    /// Its port, where a name has none.
    pub port: u16,
    /// What is measured.
    pub tests: Tests,
    /// What has to hold of its figures.
    pub assertions: Vec<Assertion>,
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
    let Request { peer, tests, journal, samples, .. } = request;
    let (destinations, kept_until) = (None, Tick::ZERO);
    let mut run = ClientRun {
        document,
        began,
        stop,
        sink,
        peer,
        tests,
        journal,
        samples,
        destinations,
        kept_until,
    };
    run.document.hosts.client = request.here;
    stop.at(Stage::Before);
    let result = run.everything(&request.hosts, request.port);
    stop.at(Stage::Saving);
    let unwritten = run.samples.take().and_then(SampleFile::end);
    run.mind(unwritten);
    run.document.caveats.extend((request.afterwards)());
    assertion::judge(&request.assertions, &mut run.document);
    run.finish(result)
}

/// A run in progress.
struct ClientRun<'sink> {
    document: Document,
    began: Tick,
    stop: &'sink Stop,
    sink: &'sink mut dyn FnMut(Event<'_>),
    peer: PeerKind,
    /// Those that are left, in order, and what follows from them.
    tests: Tests,
    journal: Journal,
    samples: Option<SampleFile>,
    /// Where data connections go, once that is known.
    destinations: Option<Destinations>,
    /// Until then what was kept between two tests is new enough.
    kept_until: Tick,
}

impl ClientRun<'_> {
    /// All tests, from finding the server to taking leave of it.
    fn everything(&mut self, hosts: &[String], port: u16) -> Result<(), RunError> {
        let title = Presentation {
            title: presentation::title(&self.document.kind, self.document.target.as_deref()),
            ..Presentation::default()
        };
        (self.sink)(Event::Started { presentation: &title, record: &self.document });
        let peer = self.peer;
        self.known().try_for_each(|test| {
            peer.carries(test)?;
            running::check(test)
        })?;
        // Fewer files than there could be are enough for most tests; those that lack say so.
        let _ = limits::raise_open_files();
        let here = || Embedded::start(self.document.hosts.client.clone());
        let embedded = hosts.is_empty().then(here).transpose()?;
        let targets = if let Some(embedded) = &embedded {
            vec![vec![embedded.address]]
        } else {
            let resolved = hosts.iter().map(|host| target::resolve(host, port, self.stop));
            resolved.collect::<Result<_, _>>()?
        };
        match self.session(&targets) {
            Err(error @ RunError::Refused { why: AttachError::Unanswered { .. }, .. }) => {
                self.go_without_datagrams(error)?;
                self.session(&targets)
            }
            result => result,
        }
    }

    /// All tests that are known: those that are next, and those that a follow-up has ahead.
    fn known(&mut self) -> impl Iterator<Item = &mut Test> {
        let Tests { list, follow_up, .. } = &mut self.tests;
        let ahead = follow_up.iter_mut().flat_map(|follow_up| follow_up.known());
        list.iter_mut().map(|(_, test)| test).chain(ahead)
    }

    /// All tests that are left, in one session.
    fn session(&mut self, targets: &[Vec<SocketAddr>]) -> Result<(), RunError> {
        self.peer.visit(Session { run: self, targets })
    }

    /// The same, with a peer of this kind.
    fn session_with<P: Peer>(&mut self, targets: &[Vec<SocketAddr>]) -> Result<(), RunError> {
        let (carrier, server) = match P::CONTROL {
            Control::Connection => {
                let (control, server, silent) =
                    attach::first_control(targets, CONNECT_WITHIN, self.stop)?;
                self.find_destinations(targets, server, silent)?;
                (Carrier::Control(control), server)
            }
            // A connection that only tries an address would be a flow's to the server.
            Control::InBand => {
                let server = targets.iter().flatten().next().copied();
                let server = server.ok_or(RunError::Interrupted)?;
                (Carrier::flows(attach::local_towards(server), server)?, server)
            }
        };
        self.document.hosts.client.network.interface = attach::interface_of(carrier.local());
        let end = peer::ClientEnd {
            host: self.document.hosts.client.clone(),
            wants_ends: self.journal.is_kept(),
            entropy: random::bytes()?,
        };
        let dialogue = P::client(end, clock::now());
        let ends = (Role::Client, P::CONVENTIONS);
        let mut driver = Driver::new(dialogue, ends, (carrier, None), &self.journal)?;
        driver.samples.clone_from(&self.samples);
        let _hearing = self.stop.tell(&driver.inbox);
        let result = self.tests(&mut driver, server);
        if result.is_ok() {
            // In good order. What goes wrong now costs nothing.
            driver.dialogue.finish(clock::now());
            let _ = driver.drive(&mut Leaving);
        }
        let renewals = driver.dialogue.renewals();
        self.mind(renewed::caveat(renewals, result.is_ok()));
        result
    }

    /// Says what there is to mind, and puts it down.
    fn mind(&mut self, caveats: impl IntoIterator<Item = Caveat>) {
        for caveat in caveats {
            (self.sink)(Event::Note(&caveat));
            self.document.caveats.push(caveat);
        }
    }

    /// Connections of a goodput test go to all addresses of the server that answer. Tests that are compared with each other,
    /// as the steps of a survey, keep to one.
    fn find_destinations(
        &mut self,
        targets: &[Vec<SocketAddr>],
        server: SocketAddr,
        silent: Vec<Silent>,
    ) -> Result<(), RunError> {
        let spreads = self.known().any(|test| test.plan.spreads());
        if self.destinations.is_some() || self.tests.are_compared || !spreads {
            return Ok(());
        }
        let within = (CONNECT_WITHIN, self.stop);
        let (found, caveats) = destinations::find(targets, server, silent, within)?;
        self.destinations = Some(found);
        self.mind(caveats);
        Ok(())
    }

    /// A path that lets no UDP through is no reason not to measure the rest: what was left to us, probes
    /// and a survey's idle latency, goes over TCP. What was asked for by name is refused.
    fn go_without_datagrams(&mut self, error: RunError) -> Result<(), RunError> {
        let are_compared = self.tests.are_compared;
        if !self.known().all(|test| test.go_without_datagrams(are_compared)) {
            return Err(error);
        }
        let text = format!("the latency probes ran over TCP, since {error}");
        self.mind([Caveat::new(RunCaveat::UdpUnanswered, text)]);
        Ok(())
    }

    fn tests(
        &mut self,
        driver: &mut Driver<impl ClientDialogue>,
        server: SocketAddr,
    ) -> Result<(), RunError> {
        let stop = self.stop;
        while let Some((name, test)) = self.tests.list.first().cloned() {
            if stop.reason().is_some() {
                return Err(RunError::Interrupted);
            }
            test.told()?;
            if self.tests.follow_up.is_some() {
                let measurement = self.document.measurements.len() as u64;
                driver.samples = self.samples.clone().map(|file| file.of_measurement(measurement));
            }
            driver.dialogue.propose(test.clone(), clock::now());
            let to = (server, driver.dialogue.cookie());
            let mut end = ClientEnd::new(name, test, to, self);
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
            self.document.hosts.server = driver.dialogue.server_host().cloned();
            let tells = self.peer.tells();
            let facts = driver.dialogue.peer_facts();
            self.document.hosts.peer = facts.map(|facts| PeerFacts { tells, ..facts });
            if let Some(findings) = findings {
                // A connection whose ends do not count the same is an error that only both reports together show.
                for disagreement in findings.disagreements() {
                    self.journal.trouble(Some(server.to_string()), disagreement);
                }
                let measurement = assemble::measurement(findings, &self.document.hosts);
                self.document.measurements.push(measurement);
            }
            let next = if is_whole { self.follow() } else { None };
            let is_last =
                matches!(left, Left::Ended(_)) || (next.is_none() && self.tests.list.len() == 1);
            self.save_between(is_last);
            if let Left::Ended(result) = left {
                return result.and(Err(RunError::LeftEarly));
            }
            self.tests.list.remove(0);
            self.tests.list.extend(next);
            if let (Some(reason), None) = (driver.dialogue.stopped_by_server(), stop.reason()) {
                return Err(RunError::Peer(format!(
                    "the server cut the test short: {reason}; what was measured until then is kept"
                )));
            }
        }
        Ok(())
    }

    /// The document as it stands between two measurements, where there is anything in it. Of hundreds that follow one another not after each, since
    /// all of them are written each time.
    fn save_between(&mut self, is_last: bool) {
        let Some(last) = self.document.measurements.last() else { return };
        let now = clock::now();
        if now < self.kept_until && !is_last && self.tests.follow_up.is_some() {
            return;
        }
        self.document.outcome = Outcome::cut_off_after(Some(&last.name));
        self.document.duration_ns = now.nanos_since(self.began);
        (self.sink)(Event::Checkpoint { record: &self.document });
        let done = clock::now();
        self.kept_until = done + done.since(now) * KEEPING_SHARE;
    }

    /// What follows from the measurement that has just come to its planned end: word of it, and the next test.
    fn follow(&mut self) -> Option<(String, Test)> {
        let Step { row, record, next } = self.tests.follow_up.as_mut()?.follow(&mut self.document);
        (self.sink)(Event::Trial { row: &row, record: &*record });
        next
    }

    /// The document as it stands, what it comes to, and word of it.
    fn finish(mut self, result: Result<(), RunError>) -> (Document, Option<(Failure, String)>) {
        self.document.duration_ns = clock::now().nanos_since(self.began);
        let failure = self.failure(result);
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
        self.document.comparison = comparison::of_run(&self.document);
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
    fn failure(&self, result: Result<(), RunError>) -> Option<(Failure, String)> {
        let interrupted =
            self.stop.reason().map(|reason| (Failure::Interrupted, reason.to_owned()));
        let ended = result.err().map(|error| (error.failure(), error.to_string()));
        let checks =
            self.document.failed_checks().next().map(|check| (Failure::Check, check.text.clone()));
        let all = [interrupted, ended, checks];
        let gravest = Failure::gravest(all.iter().flatten().map(|&(failure, _)| failure))?;
        all.into_iter().flatten().find(|&(failure, _)| failure == gravest)
    }
}

/// All tests that are left, at one of these addresses, before it is known in which dialogue.
struct Session<'a, 'sink> {
    run: &'a mut ClientRun<'sink>,
    targets: &'a [Vec<SocketAddr>],
}

impl PeerVisitor for Session<'_, '_> {
    type Output = Result<(), RunError>;

    fn visit<P: Peer>(self) -> Result<(), RunError> {
        self.run.session_with::<P>(self.targets)
    }
}

/// Between tests nothing comes that matters.
struct Leaving;

impl End for Leaving {
    fn provide(&mut self, _: &mut RunningTest, _: &Inbox) -> Result<(), RunError> {
        Err(RunError::LeftEarly)
    }
}

/// One test as the client's end sees it.
struct ClientEnd<'run, 'sink> {
    run: &'run mut ClientRun<'sink>,
    server: SocketAddr,
    /// What all its connections say, where they are known by that.
    cookie: Option<Cookie>,
    /// What is known of it. Its intervals are apart until it is over.
    findings: Findings,
    started: Option<Tick>,
    pairs: Pairs,
    still: StillRows,
    checkpoint: Tick,
}

impl<'run, 'sink> ClientEnd<'run, 'sink> {
    fn new(
        name: String,
        test: Test,
        (server, cookie): (SocketAddr, Option<Cookie>),
        run: &'run mut ClientRun<'sink>,
    ) -> Self {
        let findings = Findings {
            name,
            test,
            substitutions: Vec::new(),
            start_ns: 0,
            duration_ns: 0,
            intervals: Vec::new(),
            client: EndReport::default(),
            server: None,
            failed_there: Vec::new(),
        };
        let pairs = Pairs::new(run.peer.tells().intervals);
        Self {
            run,
            server,
            cookie,
            findings,
            started: None,
            pairs,
            still: StillRows::default(),
            checkpoint: Tick::ZERO,
        }
    }

    /// What is known of the test; nothing of one that never started.
    fn into_findings(mut self) -> Option<Findings> {
        self.show(true);
        let duration_ns = clock::now().nanos_since(self.started?);
        Some(Findings { duration_ns, intervals: self.pairs.intervals, ..self.findings })
    }

    /// Tells of the intervals that are due, and at the end of all others.
    fn show(&mut self, is_over: bool) {
        let Self { findings: Findings { name, test, .. }, run, pairs, still, .. } = self;
        // A run with a follow-up has a row for each measurement in place of these.
        let has_rows = run.tests.follow_up.is_none();
        while let Some(interval) = pairs.take_shown(is_over) {
            let row = if has_rows && !is_splinter(interval, test) {
                presentation::row(name, test, interval)
            } else {
                Row::default()
            };
            (run.sink)(Event::Interval { measurement: name, row: &row, record: interval });
            let notes = still.note(&test.plan, interval);
            notes.iter().for_each(|note| (run.sink)(Event::Note(note)));
        }
    }

    /// The document with what is known of this test, about once a second.
    fn checkpoint(&mut self) {
        let now = clock::now();
        let Some(started) = self.started.filter(|_| now >= self.checkpoint) else { return };
        let duration_ns = now.nanos_since(started);
        let mut document = self.run.document.clone();
        document.outcome = Outcome::cut_off_in(&self.findings.name, duration_ns);
        document.duration_ns = now.nanos_since(self.run.began);
        let findings = Findings {
            duration_ns,
            intervals: self.pairs.intervals.clone(),
            client: EndReport::default(),
            server: None,
            ..self.findings.clone()
        };
        document.measurements.push(assemble::unfinished(findings, &document.hosts));
        (self.run.sink)(Event::Checkpoint { record: &document });
        // A long run at short intervals makes a long document: keeping it safe takes a hundredth of the
        // time at most.
        let cost = clock::now().since(now);
        self.checkpoint = now + CHECKPOINT_EVERY.max(cost * 100);
    }
}

/// Whether an interval is the last one, cut short by the end to a splinter, whose rates say little.
fn is_splinter(interval: &Interval, test: &Test) -> bool {
    let end = interval.client.as_ref().or(interval.server.as_ref());
    let length_ns = end.map_or(0, |end| end.end_ns.saturating_sub(end.start_ns));
    interval.index > 0 && length_ns < test.report_every_ns.0 / 10
}

impl End for ClientEnd<'_, '_> {
    fn provide(&mut self, running: &mut RunningTest, inbox: &Inbox) -> Result<(), RunError> {
        let RunningTest { test, sockets: (credentials, _), groups, .. } = running;
        // The plan as the server accepted it is the one that runs.
        self.findings.test = test.clone();
        let (server, credentials, cookie) = (self.server, *credentials, self.cookie);
        let one = Destinations::one(server);
        let destinations = self.run.destinations.as_ref().unwrap_or(&one);
        for state in groups {
            let (peer, group, inbox) = (self.run.peer, state.group, inbox.clone());
            let orders = Orders { peer, server, credentials, cookie, group, inbox };
            (state.opener, state.paths) = attach::open_group(orders, test, destinations)?;
        }
        Ok(())
    }

    fn started(&mut self, at: Tick, chosen: Vec<Substitution>) {
        self.started = Some(at);
        self.run.stop.at(Stage::Running { most: stopping_takes(self.findings.test.roams()) });
        self.checkpoint = at + CHECKPOINT_EVERY;
        self.findings.start_ns = at.nanos_since(self.run.began);
        self.findings.substitutions = chosen;
    }

    fn interval(&mut self, whose: Role, interval: Box<EndInterval>) {
        self.pairs.add(whose, *interval);
        self.show(false);
        self.checkpoint();
    }

    fn peer_failed(&mut self, flow: FlowId, error: FlowError) {
        if self.findings.failed_there.len() < FAILURES_HEARD {
            self.findings.failed_there.push((flow, error));
        }
    }

    fn report(&mut self, whose: Role, report: Box<EndReport>) {
        match whose {
            Role::Client => self.findings.client = *report,
            Role::Server => self.findings.server = Some(*report),
        }
    }
}

#[cfg(test)]
mod tests {
    use pathscope_core::quantity::{Frequency, Period};
    use pathscope_modes::registry::Plan;
    use pathscope_modes::survey::{self, SurveyOptions};

    use super::*;

    #[test]
    fn a_test_whose_sockets_cannot_be_opened_ends_with_the_reason() {
        let mut tests = survey::tests(
            &SurveyOptions {
                connections: 2,
                duration: Period::from_millis(300),
                probe_rate: Frequency(100),
                congestion_control: None,
            },
            Period::from_millis(100),
        );
        let mut load = tests.swap_remove(1);
        let Plan::Goodput(plan) = &mut load.1.plan else { panic!("it is a load") };
        // The server inside this process listens on IPv4 alone.
        plan.sockets.bind = vec!["::1".parse().expect("an address")];
        let request = Request {
            kind: "goodput".to_owned(),
            command: Vec::new(),
            here: Host::default(),
            peer: PeerKind::OWN,
            hosts: Vec::new(),
            port: 5210,
            tests: vec![load].into(),
            assertions: Vec::new(),
            afterwards: Box::new(Vec::new),
            journal: Journal::default(),
            samples: None,
            wall_unix_ns: clock::wall_unix_ns,
        };
        let (document, failure) = run(request, &Stop::default(), &mut |_| {});
        let (kind, text) = failure.expect("no address goes with the server's");
        assert_eq!(kind, Failure::Usage, "{text}");
        assert!(text.starts_with("none of the --bind addresses is of the family"), "{text}");
        assert!(document.measurements.is_empty());
    }
}
