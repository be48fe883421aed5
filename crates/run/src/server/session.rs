//! One client's session at the server: its dialogue carried out, its flows awaited, its end.

use std::net::TcpStream;
use std::sync::Arc;

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Role};
use pathscope_core::quantity::count;
use pathscope_core::record::{FlowError, Substitution};
use pathscope_flow::{Credentials, Group, Resumed};
use pathscope_modes::registry::{EndInterval, EndReport, Test};
use pathscope_modes::sheet;
use pathscope_os::sockets::Socket;
use pathscope_os::{clock, random};
use pathscope_peers::native::{Access, Greeting, Server, ServerSettings};

use super::restraint::Talk;
use super::sessions::{Admission, most_attached};
use crate::attach::interface_of;
use crate::driver::{Driver, End, Left, Spinning};
use crate::error::RunError;
use crate::mail::Mailbox;
use crate::stop::Stop;

/// What a worker has open beside its sockets.
const FILES_OF_WORKER: u64 = 2;

/// Runs a session to its end.
pub(super) fn run(
    admission: Admission,
    greeting: Greeting,
    control: TcpStream,
    stop: &Stop,
    words: Talk<'_>,
) {
    let from = admission.from;
    if let Err(refusal) = &admission.admitted {
        words.on_stranger(&format!("{from}: refused, since {refusal}"));
    }
    let is_session = admission.admitted.is_ok();
    let journal = admission.sessions().journal.clone();
    if let Err(refusal) = &admission.admitted {
        journal.trouble(Some(from.to_string()), format!("refused, since {refusal}"));
    }
    match talk(admission, greeting, control, stop, words) {
        Ok(()) if is_session => words.on_stranger(&format!("{from}: session over")),
        Err(error) if is_session => {
            journal.trouble(Some(from.to_string()), error.to_string());
            words.on_stranger(&format!("{from}: session over: {error}"));
        }
        _ => {}
    }
}

fn talk(
    admission: Admission,
    greeting: Greeting,
    control: TcpStream,
    stop: &Stop,
    words: Talk<'_>,
) -> Result<(), RunError> {
    let mut host = admission.sessions().host.clone();
    host.network.interface = interface_of(&control);
    let wants_ends = admission.sessions().journal.is_kept();
    let limits = admission.sessions().limits.for_caller(admission.from.ip());
    let congestion_controls = admission.sessions().congestion_controls.clone();
    let settings = ServerSettings { host, limits, congestion_controls, wants_ends };
    let admitted = admission.admitted.clone();
    let dialogue = Server::new(settings, greeting, admitted, random::bytes()?, clock::now());
    let mut driver = Driver::new(dialogue, Role::Server, control)?;
    if limits.withheld.spinning {
        driver.spinning = Spinning::Withheld;
    }
    driver.keep(&admission.sessions().journal);
    let _hearing = stop.tell(driver.mailbox());
    let sessions = admission.share();
    let name = driver.dialogue.session().filter(|_| admission.admitted.is_ok());
    name.iter().for_each(|&name| sessions.live(name, driver.mailbox().clone()));
    let mut end =
        ServerEnd { admission, words, expected: None, admits_later: false, lingering: Vec::new() };
    let result = loop {
        if let Left::Ended(result) = driver.drive(&mut end) {
            break result;
        }
    };
    name.iter().for_each(|&name| sessions.bury(name));
    let renewals = driver.dialogue.renewals();
    if renewals.made > 0 {
        let (made, damaged) = (count(renewals.made.into()), count(renewals.damaged_here.into()));
        let from = end.admission.from;
        words.on_stranger(&format!(
            "{from}: its control connection was lost and made anew (times: {made}; of its messages came damaged: {damaged})"
        ));
    }
    driver.salvage(&mut end);
    end.forget();
    result
}

/// The server's end of one session.
struct ServerEnd<'server> {
    admission: Admission,
    words: Talk<'server>,
    /// What the sockets present that are awaited.
    expected: Option<Credentials>,
    /// Whether sockets may come while the test runs.
    admits_later: bool,
    /// Sockets of the last test: the client closes first, and its word that the test is over may come
    /// ahead of its last FIN.
    lingering: Vec<Arc<Socket>>,
}

impl ServerEnd<'_> {
    fn forget(&mut self) {
        if let Some(credentials) = self.expected.take() {
            self.admission.sessions().forget(credentials);
        }
    }
}

impl End for ServerEnd<'_> {
    fn provide(
        &mut self,
        (credentials, resumed): (Credentials, Option<Resumed>),
        (test, workers): (&Test, usize),
        mailbox: &Mailbox,
    ) -> Result<(), RunError> {
        self.admission.sessions().check_served()?;
        self.admits_later = test.groups().iter().any(|group| group.replaces() || group.roams);
        let sessions = self.admission.sessions();
        let access = Access::new(credentials.session, self.admission.from, test);
        sessions.expect((credentials, resumed), (test, access), mailbox.clone())?;
        if let Err(error) = self.admission.take_files(files_for(test, workers)) {
            self.admission.sessions().forget(credentials);
            return Err(error);
        }
        self.expected = Some(credentials);
        self.words.on_stranger(&format!("{}: {}", self.admission.from, sheet::subtitle(test)));
        Ok(())
    }

    fn started(&mut self, _: Tick, _: Vec<Substitution>) {
        // Whoever presents the token from now on comes too late, unless sockets may still come.
        if !self.admits_later {
            self.forget();
        }
    }

    fn interval(&mut self, _: Role, _: Box<EndInterval>) {}

    fn peer_failed(&mut self, _: FlowId, _: FlowError) {}

    fn report(&mut self, whose: Role, _: Box<EndReport>) {
        if whose == Role::Client {
            self.forget();
        }
    }

    fn away(&mut self, is_away: bool) {
        if is_away {
            self.admission.step_out();
        } else {
            self.admission.step_in();
        }
    }

    fn test_over(&mut self, sockets: Vec<Arc<Socket>>) {
        self.forget();
        self.lingering = sockets;
    }
}

/// Files for the sockets of a test, and for its workers: each has a waker, and what it waits with.
fn files_for(test: &Test, workers: usize) -> u64 {
    let of = |group: &Group| u64::from(most_attached(test, group)) * u64::from(group.lanes);
    test.groups().iter().map(of).sum::<u64>() + FILES_OF_WORKER * workers as u64
}
