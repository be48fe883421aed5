//! One client's session at the server: its dialogue carried out, its flows awaited, its end.

mod trouble;

use pathscope_core::Tick;
use pathscope_core::id::{Role, Token};
use pathscope_core::record::{Substitution, Tells};
use pathscope_flow::{Credentials, Group, Transport};
use pathscope_modes::groups::Test;
use pathscope_modes::registry::{EndInterval, EndReport, Plan};
use pathscope_os::{clock, random};
use pathscope_peers::Refusal;
use pathscope_peers::access::Access;
use pathscope_peers::dialogue::{ServerDialogue, ServerSettings};
use pathscope_peers::limits::RateLimit;
use pathscope_peers::peer::{Control, KnownBy, Peer};
use pathscope_peers::registry::{Greeting, GreetingVisitor, PeerKind};

use super::Settings;
use super::hosts::{Session, Turn};
use super::log_limit::ServerLog;
use super::needs::Needs;
use super::parted::Parted;
use super::sessions::Admission;
use super::totals::{Account, Ended};
use crate::connect::attach::interface_of;
use crate::error::RunError;
use crate::messages::inbox::Inbox;
use crate::session::driver::{self, Carrier, Driver, End, Hosted, Left, Parting, Talk};
use crate::session::running::{Leftover, RunningTest};
use crate::stop::{Hearing, Stop};

/// Begins a session with a client that began like this.
pub(super) fn begin<'server>(
    admission: Admission,
    greeting: Greeting,
    (carrier, stated): (Carrier, Option<Test>),
    hosted: Hosted,
    (stop, log): (&Stop, ServerLog<'server>),
) -> Result<Box<dyn Session + 'server>, RunError> {
    let Settings { totals, stated: all, .. } = &admission.sessions.settings;
    let own = all.iter().find(|it| it.peer == greeting.kind());
    let granted = (own.and_then(|it| it.rate), own.is_some_and(|it| it.is_of_several));
    let kind = greeting.kind();
    let account = Account::begin(totals, kind);
    let beginning =
        Beginning { kind, account, admission, carrier, stated, granted, hosted, stop, log };
    greeting.visit(beginning)
}

/// A session before it is known in which dialogue.
struct Beginning<'stop, 'server> {
    kind: PeerKind,
    account: Account,
    admission: Admission,
    carrier: Carrier,
    /// The test that such clients run, where its operator has stated one.
    stated: Option<Test>,
    /// What a test of such clients may move, and whether it is of several of them.
    granted: (Option<RateLimit>, bool),
    hosted: Hosted,
    stop: &'stop Stop,
    log: ServerLog<'server>,
}

impl<'server> GreetingVisitor for Beginning<'_, 'server> {
    type Output = Result<Box<dyn Session + 'server>, RunError>;

    fn visit<P: Peer>(self, greeting: P::Greeting) -> Self::Output {
        let Self { kind, account, admission, carrier, stated, granted, hosted, stop, log } = self;
        let (rate, is_of_several) = granted;
        let mut host = admission.sessions.settings.here.clone();
        host.network.interface = interface_of(carrier.local());
        let journal = &admission.sessions.settings.journal;
        let wants_ends = journal.is_kept();
        let limits = admission.limits();
        let congestion_controls = admission.sessions.congestion_controls.clone();
        let settings = ServerSettings {
            identity: Some(admission.sessions.identity),
            host,
            limits,
            congestion_controls,
            wants_ends,
            stated,
            rate,
            is_of_several,
        };
        let dialogue = P::server(settings, greeting, random::bytes()?, clock::now());
        let (ends, over) = ((Role::Server, P::SERVED), (carrier, Some(hosted)));
        let mut driver = Driver::new(dialogue, ends, over, journal)?;
        driver.hears_of_ends &= P::TELLS != Tells::NOTHING;
        if limits.withheld.spinning {
            driver.spinning = 0;
        }
        driver.scribes = admission.sessions.settings.scribes_of(P::NAME).cloned();
        let hearing = stop.tell(&driver.inbox);
        let name = driver.dialogue.session();
        name.iter().for_each(|&name| admission.sessions.live(name, driver.inbox.clone()));
        let end = ServerEnd {
            kind,
            account,
            admission,
            log,
            name,
            control: P::CONTROL,
            known_by: P::KNOWN_BY,
            setup: None,
            served_as: P::served_as,
            substituted: P::substituted,
            tested: None,
            expected: None,
            needs: Needs::default(),
            runs_in_tables: false,
            held_bytes: 0,
            admits_later: false,
            lingering: Leftover::default(),
        };
        let (has_begun, ended) = (false, None);
        Ok(Box::new(Running {
            driver,
            end,
            has_begun,
            ended,
            stop: stop.clone(),
            _hearing: hearing,
        }))
    }
}

/// A session that runs.
struct Running<'server, D> {
    driver: Driver<D>,
    end: ServerEnd<'server>,
    /// Whether what its dialogue asks for at its beginning was done.
    has_begun: bool,
    /// How its dialogue ended. What flows came to that ran is awaited then.
    ended: Option<Result<(), RunError>>,
    /// Whether the server ends.
    stop: Stop,
    _hearing: Hearing,
}

impl<D: Talk + ServerDialogue> Session for Running<'_, D> {
    fn turn(&mut self, is_ready: bool) -> Turn {
        let Self { driver, end, has_begun, ended, stop, .. } = self;
        let mut has_attended = false;
        while ended.is_none() {
            // What the dialogue asks for at its beginning comes before any word: that may be of a connection which is to be its flow's.
            if *has_begun && !std::mem::replace(&mut has_attended, true) {
                driver.attend(is_ready, end);
            }
            match driver.go_on(end) {
                driver::Turn::Until(until) if has_attended => return Turn::Until(until),
                driver::Turn::Until(_) => *has_begun = true,
                driver::Turn::Left(Left::TestOver) => {}
                driver::Turn::Left(Left::Ended(result)) => {
                    end.bury();
                    end.tell_renewals(driver.dialogue.renewals());
                    driver.begin_salvage(end);
                    *ended = Some(result);
                }
            }
        }
        if let Some(until) = driver.go_on_salvaging(end) {
            return Turn::Until(until);
        }
        end.forget();
        let result = ended.take().unwrap_or(Ok(()));
        if let Err(error) = &result {
            driver.tell_failure(error);
        }
        // Whoever is cut off by the end of the server has done nothing wrong.
        let is_ending = stop.reason().is_some();
        end.account.close(match &result {
            Ok(()) => Ended::Well,
            Err(_) if is_ending => Ended::Cut,
            Err(_) => Ended::Badly,
        });
        driver.part(result.is_ok(), end);
        Turn::Over(result)
    }
}

/// The server's end of one session.
struct ServerEnd<'server> {
    /// Of which kind its client is.
    kind: PeerKind,
    /// What it adds to the server's totals: before its place is given back, by which a server that ends knows that it is over.
    account: Account,
    admission: Admission,
    log: ServerLog<'server>,
    /// By what it is found when its client comes back.
    name: Option<Token>,
    control: Control,
    /// By what it is known which flow a connection is.
    known_by: KnownBy,
    /// A test whose datagram flows are awaited by where they come from.
    setup: Option<Token>,
    /// What a person at the server is told of such a client instead of its test.
    served_as: fn(&Test) -> Option<String>,
    /// What of it runs otherwise than such a client asked for.
    substituted: fn(&Test) -> Vec<Substitution>,
    /// What is tested, where nobody but this end says how its connections ended.
    tested: Option<Plan>,
    /// What the sockets present that are awaited.
    expected: Option<Credentials>,
    /// Those of its test.
    needs: Needs,
    /// Whether the sockets of its flows are in other tables of descriptors than that of all threads, once they run.
    runs_in_tables: bool,
    /// What it has of messages.
    held_bytes: u64,
    /// Whether sockets may come while the test runs.
    admits_later: bool,
    /// Sockets of the last test: the client closes first, and its word that the test is over may come
    /// ahead of its last FIN.
    lingering: Leftover,
}

impl ServerEnd<'_> {
    /// Nobody comes back to it.
    fn bury(&mut self) {
        if let Some(name) = self.name.take() {
            self.admission.sessions.bury(name);
        }
    }

    fn forget(&mut self) {
        if let Some(token) = self.setup.take() {
            self.admission.sessions.is_set_up(self.admission.from.ip(), token);
        }
        if let Some(credentials) = self.expected.take() {
            self.admission.sessions.forget(credentials);
        }
    }

    /// Takes what its test needs.
    fn take(&mut self) -> Result<(), Refusal> {
        self.admission.take_files((self.needs.files, self.needs.files_elsewhere))?;
        self.admission.take_threads(self.needs.threads)?;
        self.admission.take_memory(self.needs.memory(self.held_bytes))
    }

    /// Has all there that a test's sockets need.
    fn prepare(&mut self, running: &mut RunningTest, inbox: &Inbox) -> Result<(), RunError> {
        let RunningTest { test, sockets, groups, .. } = &*running;
        let (credentials, _) = *sockets;
        // A stream that was called for is counted before its session begins: it may be the last that is to be served.
        let is_called = self.control == Control::InBand && test.is_over(Transport::Datagram);
        if !is_called {
            self.admission.sessions.begin_test()?;
        }
        // Whether it is his to ask for is decided before anything is taken for it. Who comes by being of its client shows no token.
        if self.known_by == KnownBy::Seat {
            let access = Access::new(credentials.session, self.admission.from, test);
            let sessions = &self.admission.sessions;
            sessions.expect(*sockets, (test, access), inbox.clone())?;
            self.expected = Some(credentials);
        }
        // Those of the last test are long closed at the client.
        self.lingering = Leftover::default();
        self.needs = Needs::of(test, groups);
        if let Err(error) = self.take() {
            self.forget();
            self.keep(Needs::default());
            return Err(error.into());
        }
        if let Err(error) = running.hold(inbox) {
            self.forget();
            self.keep(Needs::default());
            return Err(error);
        }
        self.runs_in_tables = running.is_run_in_tables();
        Ok(())
    }

    /// No more than this is needed of what was taken.
    fn keep(&mut self, needs: Needs) {
        self.needs = needs;
        // Less is always given. What is said about a test leaves by and by, and may be more than what is granted without one: it
        // was taken.
        let _ = self.take();
    }
}

/// However it ends, by a fault of ours too: nobody is awaited for it any more.
impl Drop for ServerEnd<'_> {
    fn drop(&mut self) {
        self.bury();
        self.forget();
    }
}

impl End for ServerEnd<'_> {
    fn provide(&mut self, running: &mut RunningTest, inbox: &Inbox) -> Result<(), RunError> {
        if let Err(error) = self.prepare(running, inbox) {
            self.account.refuse();
            return Err(error);
        }
        let RunningTest { test, groups, sockets: (credentials, _), .. } = &*running;
        // Of connections that are replaced the server says on each what it counts; in band nobody says anything beside.
        let is_confirmed =
            self.control == Control::Connection && !test.groups().iter().any(Group::replaces);
        self.account.test_begins(test.plan.name(), is_confirmed);
        let held = groups.iter().filter_map(|it| Some((it.group.id, it.holders.clone()?)));
        let follow = groups.iter().find(|state| state.group.replaces());
        let way_in = follow.map(|state| (state.group.id, state.entrances.way_in()));
        self.admission.sessions.hold(*credentials, held.collect(), way_in);
        self.admits_later = test.groups().iter().any(|group| group.replaces() || group.roams);
        let told = (self.served_as)(test).unwrap_or_else(|| test.plan.subtitle());
        self.log.on_stranger(self.admission.from, &told);
        for Substitution { what, asked, ran, why } in (self.substituted)(test) {
            let line = format!("{what}: {asked} asked for, {ran}: {why}");
            self.log.on_stranger(self.admission.from, &line);
        }
        self.tested = (self.known_by != KnownBy::Seat).then(|| test.plan.clone());
        Ok(())
    }

    fn may_attach(&mut self, running: &RunningTest, inbox: &Inbox) -> bool {
        let is_theirs = self.control == Control::Connection && self.known_by != KnownBy::Seat;
        let RunningTest { test, sockets: (Credentials { token, .. }, _), .. } = running;
        if !is_theirs || !test.is_over(Transport::Datagram) {
            return true;
        }
        self.setup = Some(*token);
        let flows = test.groups().iter().map(|group| group.flows).sum();
        let (sessions, from) = (&self.admission.sessions, self.admission.from.ip());
        sessions.set_up(from, *token, (inbox.clone(), flows))
    }

    fn holds(&mut self, bytes: usize) -> Result<(), RunError> {
        self.held_bytes = bytes as u64;
        Ok(self.admission.take_memory(self.needs.memory(self.held_bytes))?)
    }

    fn keeps(&mut self, connections: u64) -> Result<(), RunError> {
        Ok(self.admission.take_files((connections, 0))?)
    }

    fn joins(&mut self) -> Result<(), RunError> {
        Ok(self.admission.sessions.serve_one()?)
    }

    fn leaves_out(&mut self) {
        self.tell_left_out();
    }

    fn started(&mut self, _: Tick, _: Vec<Substitution>) {
        // Whoever presents the token from now on comes too late, unless sockets may still come.
        if !self.admits_later {
            self.forget();
        }
        if self.runs_in_tables {
            let Needs { files, files_elsewhere, .. } = self.needs;
            let files_elsewhere = files_elsewhere + files;
            self.keep(Needs { files: 0, files_elsewhere, ..self.needs });
        }
    }

    fn interval(&mut self, whose: Role, interval: Box<EndInterval>) {
        if whose == Role::Server {
            self.account.interval(&interval);
        }
    }

    fn report(&mut self, whose: Role, report: Box<EndReport>) {
        self.account.report(whose, &report);
        if whose == Role::Server {
            self.tell_losses(&report);
        }
        if whose == Role::Client {
            self.forget();
        } else if let Some(line) = self.tested.take().and_then(|plan| plan.failure_of(&report)) {
            self.log.on_stranger(self.admission.from, &line);
        }
    }

    fn away(&mut self, is_away: bool) {
        if is_away {
            self.admission.step_out();
        } else {
            self.admission.step_in();
        }
    }

    fn parts_with(&mut self, connection: Parting) {
        self.admission.sessions.part_with(Parted { kind: self.kind, connection });
    }

    fn test_over(&mut self, leftover: Leftover) {
        self.forget();
        self.account.test_over();
        self.lingering = leftover;
        let Needs { files, files_elsewhere, threads, .. } = self.needs;
        // Those that have tables of their own stay for as long as what is open there does.
        let threads = if files_elsewhere > 0 { threads } else { 0 };
        self.keep(Needs { files, files_elsewhere, threads, ..Needs::default() });
    }
}
