//! One test as the client's end of a session hears of it: what is known so far, told as it comes and kept safe. Not what it comes to,
//! which is `modes`'.

use std::net::SocketAddr;
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Role};
use pathscope_core::presentation::Row;
use pathscope_core::record::{FlowError, Substitution};
use pathscope_modes::assemble::{self, Findings};
use pathscope_modes::document::{Interval, Outcome};
use pathscope_modes::groups::Test;
use pathscope_modes::presentation;
use pathscope_modes::registry::{EndInterval, EndReport};
use pathscope_modes::still::StillRows;
use pathscope_os::{Waker, clock};
use pathscope_peers::joining::Cookie;

use super::probes::Probes;
use super::{ClientRun, Told};
use crate::connect::attach::{self, Opening};
use crate::connect::destinations::Destinations;
use crate::connect::{Orders, room};
use crate::error::RunError;
use crate::messages::inbox::Inbox;
use crate::session::driver::{End, stopping_takes};
use crate::session::intervals::Pairs;
use crate::session::running::{Closing, Leftover, RunningTest};
use crate::stop::Stage;

/// The document so far is offered for saving about so often.
pub(super) const CHECKPOINT_EVERY: Duration = Duration::from_secs(1);

/// Connections that failed at the server and are remembered one by one: no more are told so.
const FAILURES_HEARD: usize = 2_000;

/// One test as the client's end sees it.
pub(super) struct ClientEnd<'run, 'all> {
    run: &'run mut ClientRun<'all>,
    server: SocketAddr,
    /// What all its connections say, where they are known by that.
    cookie: Option<Cookie>,
    /// What is known of it. Its intervals are apart until it is over.
    findings: Findings,
    started: Option<Tick>,
    /// Those of its probes that run at another server.
    probes: Option<Probes>,
    pairs: Pairs,
    still: StillRows,
    checkpoint: Tick,
    /// What wakes its session.
    waker: Option<Waker>,
    /// Its sockets, where they are not closed at once.
    closing: Option<Closing>,
}

impl<'run, 'all> ClientEnd<'run, 'all> {
    /// A test of this name, at this server; with probes at another, or none.
    pub fn new(
        name: String,
        test: Test,
        ((server, cookie), probes): ((SocketAddr, Option<Cookie>), Option<Probes>),
        run: &'run mut ClientRun<'all>,
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
        let pairs = Pairs::new(run.peer.tells().intervals, probes.is_some());
        Self {
            run,
            server,
            cookie,
            findings,
            started: None,
            probes,
            pairs,
            still: StillRows::default(),
            checkpoint: Tick::ZERO,
            waker: None,
            closing: None,
        }
    }

    /// Its sockets are closed first, and no other word is said before that. Of very many it takes long: they are being closed.
    pub fn take_closing(&mut self) -> Option<Closing> {
        self.closing.take()
    }

    /// What is known of the test, which is over; nothing of one that never started.
    pub fn into_findings(mut self) -> Option<Findings> {
        self.run.at(Stage::Before);
        if let (Some(probes), Some(_)) = (self.probes.take(), self.started) {
            let caveat = probes.end(&mut self.pairs, &mut self.findings);
            self.findings.client.caveats.push(caveat);
        }
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
            (run.sink)(Told::Interval { measurement: name, row: &row, interval });
            let notes = still.note(&test.plan, interval);
            notes.iter().for_each(|note| (run.sink)(Told::Note(note)));
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
        (self.run.sink)(Told::Checkpoint(&document));
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
        let connections = running.test.groups().iter().map(|group| u64::from(group.flows)).sum();
        room::check(connections, if attach::is_here(self.server) { 2 } else { 1 })?;
        running.hold(inbox)?;
        self.waker = Some(inbox.waker.clone());
        let RunningTest { test, sockets: (credentials, _), groups, .. } = running;
        // The plan as the server accepted it is the one that runs.
        self.findings.test = test.clone();
        self.probes.iter().for_each(|probes| self.findings.test.take_probes(probes.test.clone()));
        let (server, credentials, cookie) = (self.server, *credentials, self.cookie);
        let one = Destinations::one(server);
        let destinations = self.run.destinations.as_ref().unwrap_or(&one);
        for state in groups {
            let (peer, group, inbox) = (self.run.peer, state.group, inbox.clone());
            let (way_in, holders) = (state.entrances.way_in(), state.holders.clone());
            let orders =
                Orders { peer, server, credentials, cookie, group, way_in, holders, inbox };
            let Opening { opener, paths, chosen } = attach::open_group(orders, test, destinations)?;
            (state.opener, state.paths) = (opener, paths);
            state.placement.substitutions.extend(chosen);
        }
        Ok(())
    }

    fn ready(&mut self) {
        if let Some((company, host)) = self.run.company {
            company.ready(host);
        }
        self.run.joint_start.iter().for_each(|start| start.ready());
    }

    fn started(&mut self, at: Tick, chosen: Vec<Substitution>) {
        self.started = Some(at);
        self.probes.iter().for_each(Probes::start);
        self.run.at(Stage::Running { most: stopping_takes(self.findings.test.roams()) });
        self.checkpoint = at + CHECKPOINT_EVERY;
        self.findings.start_ns = at.nanos_since(self.run.began);
        self.findings.substitutions = chosen;
    }

    fn interval(&mut self, whose: Role, interval: Box<EndInterval>) {
        self.pairs.add(whose, *interval);
        self.show(false);
        self.checkpoint();
    }

    fn probed(&mut self, interval: Box<EndInterval>) {
        self.pairs.add_probes(&interval);
        self.show(false);
    }

    fn test_over(&mut self, leftover: Leftover) {
        match &self.waker {
            Some(waker) => self.closing = leftover.close_beside(waker),
            None => leftover.close(),
        }
    }

    fn peer_failed(&mut self, flow: FlowId, error: FlowError) {
        if self.findings.failed_there.len() < FAILURES_HEARD {
            self.findings.failed_there.push((flow, error));
        }
    }

    fn report(&mut self, whose: Role, report: Box<EndReport>) {
        match whose {
            Role::Client => {
                // What is pinged from now on would be pinged without it.
                self.probes.iter().for_each(Probes::stop);
                self.findings.client = *report;
            }
            Role::Server => self.findings.server = Some(*report),
        }
    }
}
