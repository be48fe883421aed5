//! One client's session at the server: its dialogue carried out, its flows awaited, its end.

use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use pathscope_core::Tick;
use pathscope_core::id::{Role, Token};
use pathscope_core::record::Substitution;
use pathscope_modes::registry::{EndInterval, EndReport, Test};
use pathscope_modes::sheet;
use pathscope_os::sockets::Socket;
use pathscope_os::{clock, random};
use pathscope_peers::native::{Server, ServerSettings, VersionRange};

use super::sessions::Sessions;
use crate::attach::interface_of;
use crate::driver::{Driver, End, Left};
use crate::error::RunError;
use crate::mail::Mailbox;
use crate::stop::Stop;

/// Runs a session to its end.
pub(super) fn run(
    sessions: &Sessions,
    versions: VersionRange,
    control: TcpStream,
    from: SocketAddr,
    stop: &Stop,
    say: &(dyn Fn(&str) + Sync),
) {
    let admission = sessions.enter(from.ip());
    let entered = admission.is_ok();
    if let Err(refusal) = &admission {
        say(&format!("{from}: refused, since {refusal}"));
    }
    let mut host = sessions.host.clone();
    host.network.interface = interface_of(&control);
    let settings = ServerSettings { host, limits: sessions.limits };
    let ended = random::bytes().map_err(RunError::from).and_then(|entropy| {
        let dialogue = Server::new(settings, versions, admission, entropy, clock::now());
        let mut driver = Driver::new(dialogue, Role::Server, control)?;
        stop.tell(driver.mailbox());
        let mut end = ServerEnd { sessions, from, say, token: None, lingering: Vec::new() };
        let result = loop {
            if let Left::Ended(result) = driver.drive(&mut end) {
                break result;
            }
        };
        driver.salvage(&mut end);
        end.forget();
        result
    });
    if entered {
        sessions.leave(from.ip());
        match ended {
            Ok(()) => say(&format!("{from}: session over")),
            Err(error) => say(&format!("{from}: session over: {error}")),
        }
    }
}

/// The server's end of one session.
struct ServerEnd<'server> {
    sessions: &'server Sessions,
    from: SocketAddr,
    say: &'server (dyn Fn(&str) + Sync),
    token: Option<Token>,
    /// Sockets of the last test: the client closes first, and its word that the test is over may come
    /// ahead of its last FIN.
    lingering: Vec<Arc<Socket>>,
}

impl ServerEnd<'_> {
    fn forget(&mut self) {
        if let Some(token) = self.token.take() {
            self.sessions.forget(token);
        }
    }
}

impl End for ServerEnd<'_> {
    fn provide(&mut self, token: Token, test: &Test, mailbox: &Mailbox) {
        (self.say)(&format!("{}: {}", self.from, sheet::subtitle(test)));
        self.token = Some(token);
        self.sessions.expect(token, test, mailbox.clone());
    }

    fn started(&mut self, _: Tick, _: Vec<Substitution>) {
        // Whoever presents the token from now on comes too late.
        self.forget();
    }

    fn interval(&mut self, _: Role, _: EndInterval) {}

    fn report(&mut self, _: Role, _: EndReport) {}

    fn test_over(&mut self, sockets: Vec<Arc<Socket>>) {
        self.forget();
        self.lingering = sockets;
    }
}
