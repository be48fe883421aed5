//! What a run has of one server: its session, and the tests one after the other, with what they came to in a document. Not how a run
//! begins and ends (`client`), nor what one test hears (`test`).

use std::net::SocketAddr;

use pathscope_core::id::Role;
use pathscope_core::record::{Caveat, PeerFacts, Tells};
use pathscope_modes::assemble;
use pathscope_modes::document::Outcome;
use pathscope_modes::follow_up::{Step, Tests};
use pathscope_modes::groups::Test;
use pathscope_os::{clock, random};
use pathscope_peers::attach::AttachError;
use pathscope_peers::dialogue::ClientDialogue;
use pathscope_peers::peer::{self, Control, KnownBy, Peer};
use pathscope_peers::registry::PeerVisitor;

use super::company::{Company, Verdict};
use super::probes;
use super::test::ClientEnd;
use super::{ClientRun, Told};
use crate::connect::attach;
use crate::connect::destinations::{self, Destinations, Silent};
use crate::error::RunError;
use crate::findings::RunCaveat;
use crate::messages::inbox::Inbox;
use crate::records::journal::Journal;
use crate::session::driver::{Carrier, Driver, End, Left};
use crate::session::renewed;
use crate::session::running::RunningTest;
use crate::stop::Stage;

/// Between tests that follow one another it is written again after so many times as long as it took to write: that is a ninth of the time at
/// most, and what a kill costs.
const KEEPING_SHARE: u32 = 8;

impl ClientRun<'_> {
    /// All tests, from the first connection to the server to taking leave of it.
    pub fn measure(&mut self) -> Result<(), RunError> {
        loop {
            match self.session() {
                Err(error @ RunError::Refused { why: AttachError::Unanswered { .. }, .. }) => {
                    self.go_without_datagrams(error)?;
                    self.session()?;
                }
                result => result?,
            }
            if self.tests.list.is_empty() || !self.peer.visit(HasOneTest) {
                return Ok(());
            }
        }
    }

    /// All tests that are known: those that are next, and those that a follow-up has ahead.
    pub fn known(&mut self) -> impl Iterator<Item = &mut Test> {
        let Tests { list, follow_up, .. } = &mut self.tests;
        let ahead = follow_up.iter_mut().flat_map(|follow_up| follow_up.known());
        list.iter_mut().map(|(_, test)| test).chain(ahead)
    }

    /// What is done from now on. Of several servers, each of which has one test, the last says when no more is; probes beside a load
    /// say nothing.
    pub fn at(&self, stage: Stage) {
        if self.joint_start.is_none() && (self.company.is_none() || stage != Stage::Before) {
            self.stop.at(stage);
        }
    }

    /// All tests that are left, or the next, in one session.
    fn session(&mut self) -> Result<(), RunError> {
        self.peer.visit(Session { run: self })
    }

    /// The same, with a peer of this kind.
    fn session_with<P: Peer>(&mut self) -> Result<(), RunError> {
        let (carrier, server, silent) = match P::CONTROL {
            Control::Connection => {
                self.check_names::<P>()?;
                let (control, server, silent) = attach::first_control(
                    &self.targets,
                    &self.control_from(),
                    (self.connect_within, self.stop),
                )?;
                (Carrier::Control(control, server), server, silent)
            }
            Control::PortBefore => {
                let server = self.of_each_name()?;
                let before = server.port().checked_sub(1).filter(|port| *port > 0);
                let before = before.ok_or_else(|| {
                    let text = format!("{server}: there is no port before that one; name another");
                    RunError::Usage(text)
                })?;
                let target = vec![SocketAddr::new(server.ip(), before)];
                let from = self.control_from();
                let within = (self.connect_within, self.stop);
                let (control, words, _) = attach::first_control(&[target], &from, within)
                    .map_err(|error| error.unheard(P::UNHEARD))?;
                (Carrier::Control(control, words), server, Vec::new())
            }
            Control::InBand => {
                let server = self.of_each_name()?;
                (Carrier::flows(attach::local_towards(server), server)?, server, Vec::new())
            }
        };
        let silent = if self.company.is_some() {
            silent
        } else {
            self.find_destinations(server, silent)?;
            Vec::new()
        };
        self.document.hosts.client.network.interface = attach::interface_of(carrier.local());
        let mut driver = self.driver::<P>(carrier, &self.journal)?;
        driver.samples.clone_from(&self.samples);
        let _hearing = self.stop.tell(&driver.inbox);
        if let Some(start) = self.joint_start {
            start.comes(&driver.inbox);
            driver.dialogue.start_with_others();
            driver.dialogue.await_greeting(probes::GREETED_WITHIN, clock::now());
        }
        if let Some((company, host)) = self.company {
            if !self.join((company, host), &mut driver)? {
                return Ok(());
            }
            self.find_destinations(server, silent)?;
        }
        let result = self.tests(&mut driver, server, P::ONE_TEST);
        if result.is_ok() {
            take_leave(&mut driver);
        }
        let renewals = driver.dialogue.renewals();
        self.mind(renewed::caveat(renewals, result.is_ok()));
        result
    }

    /// Flows go to one address of each name, in turns, the first of which this is. No address is tried: a connection that only tries one
    /// would be a flow's to the server.
    fn of_each_name(&mut self) -> Result<SocketAddr, RunError> {
        let mut plans = self.known().map(|test| &test.plan);
        let local = plans.find_map(|plan| Some(plan.asks().sockets?.bind.clone()));
        drop(plans);
        let all = Destinations::each(&self.targets, &local.unwrap_or_default());
        let all = all.ok_or(RunError::Interrupted)?;
        let server = all.of(0);
        self.destinations = Some(all);
        Ok(server)
    }

    /// The client's end of a session that is held over this, of which that journal hears.
    pub(super) fn driver<P: Peer>(
        &self,
        carrier: Carrier,
        journal: &Journal,
    ) -> Result<Driver<P::Client>, RunError> {
        let end = peer::ClientEnd {
            host: self.document.hosts.client.clone(),
            wants_ends: journal.is_kept(),
            remarks: self.tests.remarks.clone(),
            entropy: random::bytes()?,
        };
        let dialogue = P::client(end, clock::now());
        let ends = (Role::Client, P::CONVENTIONS);
        let mut driver = Driver::new(dialogue, ends, (carrier, None), journal)?;
        driver.is_untold = !P::TELLS.intervals;
        driver.hears_of_ends &= P::TELLS != Tells::NOTHING;
        Ok(driver)
    }

    /// Greets the server under this name, and hears whether it is one of its own. Whether there is a test to run with it.
    fn join(
        &mut self,
        (company, host): (&Company, usize),
        driver: &mut Driver<impl ClientDialogue>,
    ) -> Result<bool, RunError> {
        let is_first = company.begins(host, &driver.inbox)?;
        if is_first {
            let left = driver.drive_until(&mut Leaving, |it| it.peer_facts().is_some());
            if let Some(Left::Ended(result)) = left {
                return result.and(Err(RunError::LeftEarly));
            }
            company.met(host, driver.dialogue.server_identity());
            let left = driver.drive_until(&mut Leaving, |_| company.is_decided());
            if let Some(Left::Ended(result)) = left {
                return result.and(Err(RunError::LeftEarly));
            }
        }
        match company.verdict(host) {
            Verdict::Server { target, targets, caveats } => {
                self.targets = targets;
                if company.is_of_several() {
                    self.document.target = Some(target);
                }
                if is_first {
                    self.mind(caveats);
                }
            }
            Verdict::Address => {
                take_leave(driver);
                return Ok(false);
            }
            Verdict::NoRun => {
                take_leave(driver);
                return Err(RunError::Interrupted);
            }
        }
        if company.is_of_several() {
            driver.dialogue.start_with_others();
        }
        Ok(true)
    }

    /// Says what there is to mind, and puts it down.
    fn mind(&mut self, caveats: impl IntoIterator<Item = Caveat>) {
        for caveat in caveats {
            (self.sink)(Told::Note(&caveat));
            self.document.caveats.push(caveat);
        }
    }

    /// Connections of a goodput test go to all addresses of the server that answer. Tests that are compared with each other,
    /// as the steps of a survey, keep to one.
    fn find_destinations(
        &mut self,
        server: SocketAddr,
        silent: Vec<Silent>,
    ) -> Result<(), RunError> {
        // Where connections say for which seat they are, one that only tries an address is no flow's.
        let may_try = self.peer.known_by() == KnownBy::Seat;
        let spreads = may_try && self.known().any(|test| test.plan.spreads());
        if self.destinations.is_some() || self.tests.are_compared || !spreads {
            return Ok(());
        }
        let within = (self.connect_within, self.stop);
        let (found, caveats) = destinations::find(&self.targets, server, silent, within)?;
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
        is_one: bool,
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
            let (test, probes) = self.apart(test, &driver.inbox)?;
            driver.dialogue.propose(test.clone(), clock::now());
            let to = (server, driver.dialogue.cookie());
            let mut end = ClientEnd::new(name, test, (to, probes), self);
            let mut left = driver.drive(&mut end);
            if matches!(left, Left::Ended(_)) {
                driver.salvage(&mut end);
            }
            let closing = end.take_closing();
            let findings = end.into_findings();
            if let Some(closing) = closing {
                // The server wants to hear of this end meanwhile.
                let ended = driver.drive_until(&mut Leaving, |_| closing.is_over());
                left = ended.unwrap_or(left);
            }
            let trouble = if matches!(left, Left::TestOver) { driver.take_trouble() } else { None };
            let is_whole = findings.is_some()
                && matches!(left, Left::TestOver)
                && trouble.is_none()
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
            let is_last = matches!(left, Left::Ended(_))
                || trouble.is_some()
                || (next.is_none() && self.tests.list.len() == 1);
            self.save_between(is_last);
            if let Left::Ended(result) = left {
                return result.and(Err(RunError::LeftEarly));
            }
            if let Some(error) = trouble {
                // The server would wait for its client to come back.
                take_leave(driver);
                return Err(error);
            }
            self.tests.list.remove(0);
            self.tests.list.extend(next);
            if let (Some(reason), None) = (driver.dialogue.stopped_by_server(), stop.reason()) {
                return Err(RunError::Peer(format!(
                    "the server cut the test short: {reason}; what was measured until then is kept"
                )));
            }
            if is_one {
                break;
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
        (self.sink)(Told::Checkpoint(&self.document));
        let done = clock::now();
        self.kept_until = done + done.since(now) * KEEPING_SHARE;
    }

    /// What follows from the measurement that has just come to its planned end: word of it, and the next test.
    fn follow(&mut self) -> Option<(String, Test)> {
        let Step { row, record, next } = self.tests.follow_up.as_mut()?.follow(&mut self.document);
        (self.sink)(Told::Trial { row: &row, record: &*record });
        next
    }
}

/// Takes leave in good order. What goes wrong now costs nothing.
pub(super) fn take_leave(driver: &mut Driver<impl ClientDialogue>) {
    driver.dialogue.finish(clock::now());
    let _ = driver.drive(&mut Leaving);
}

/// All tests that are left, before it is known in which dialogue.
struct Session<'run, 'all> {
    run: &'run mut ClientRun<'all>,
}

impl PeerVisitor for Session<'_, '_> {
    type Output = Result<(), RunError>;

    fn visit<P: Peer>(self) -> Result<(), RunError> {
        self.run.session_with::<P>()
    }
}

/// Whether each test has a session of its own.
struct HasOneTest;

impl PeerVisitor for HasOneTest {
    type Output = bool;

    fn visit<P: Peer>(self) -> bool {
        P::ONE_TEST
    }
}

/// Before the first test, and between two, nothing comes that matters.
pub(super) struct Leaving;

impl End for Leaving {
    fn provide(&mut self, _: &mut RunningTest, _: &Inbox) -> Result<(), RunError> {
        Err(RunError::LeftEarly)
    }
}
