//! Threads that answer datagrams of clients who ask for nothing else: each by itself, with no session. Who is answered, how much of it,
//! and what a person at the server is told of each client. Not here: what an answer is, which is each kind of peer's (`Peer::answer`).

mod clients;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{Builder, Scope};

use pathscope_core::Tick;
use pathscope_os::clock;
use pathscope_os::datagrams::{self, Datagram};
use pathscope_os::readiness::{Interest, Poller};
use pathscope_os::sockets::Socket;
use pathscope_os::wake::Waker;
use pathscope_peers::peer::{OwnDatagrams, Peer};
use pathscope_peers::registry::{PeerKind, PeerVisitor};

use self::clients::{Clients, Verdict};
use super::Settings;
use super::listening::OwnListening;
use super::log_limit::ServerLog;
use super::near::Near;
use super::totals::Echoes;
use crate::error::RunError;
use crate::threads::lock;

/// Datagrams taken before it is looked whether the server ends.
const TURN: usize = 256;

/// More than any datagram that is answered.
const BUFFER_BYTES: usize = 2_048;

/// What waits for a thread that does something else: a burst of some hundred datagrams.
const RECEIVE_BUFFER_BYTES: usize = 1 << 20;

/// Keys of a poller.
const WORD: u64 = 0;
const DATAGRAMS: u64 = 1;

/// The end of a server's threads that answer.
#[derive(Debug, Default)]
pub(super) struct Ending {
    is_there: AtomicBool,
    wakers: Mutex<Vec<Waker>>,
}

/// Brings the end with its own.
pub(super) struct Ends<'ending>(&'ending Ending);

impl Ending {
    /// The end comes with that of this value.
    pub const fn with_this(&self) -> Ends<'_> {
        Ends(self)
    }

    fn wakers(&self) -> MutexGuard<'_, Vec<Waker>> {
        lock(&self.wakers)
    }
}

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.is_there.store(true, Ordering::Release);
        self.0.wakers().iter().for_each(Waker::wake);
    }
}

/// Starts a thread for each listener whose datagrams are answered by themselves.
pub(super) fn start<'scope>(
    scope: &'scope Scope<'scope, '_>,
    listening: &'scope [OwnListening],
    settings: &Settings,
    (log, ending): (ServerLog<'scope>, &'scope Ending),
) -> Result<(), RunError> {
    for OwnListening { peer, datagrams, .. } in listening {
        let Some(socket) = datagrams.as_ref().filter(|_| peer.visit(IsAnswered)) else { continue };
        let (poller, waker) = (Poller::new()?, Waker::new()?);
        poller.add(&waker, WORD, Interest::INPUT)?;
        poller.add(socket, DATAGRAMS, Interest::INPUT)?;
        socket.enlarge_receive_buffer(RECEIVE_BUFFER_BYTES)?;
        ending.wakers().push(waker.clone());
        let answering = Answering {
            peer: *peer,
            socket,
            poller,
            waker,
            ending,
            log,
            near: Near::new(&settings.allow),
            echoes: settings.totals.answers(*peer),
            clients: Clients::default(),
        };
        let thread = Builder::new().name("answers".to_owned());
        let thread = thread.spawn_scoped(scope, move || peer.visit(answering));
        thread.map_err(RunError::system("cannot start a thread"))?;
    }
    Ok(())
}

/// Whether datagrams of clients of a kind are answered by themselves.
struct IsAnswered;

impl PeerVisitor for IsAnswered {
    type Output = bool;

    fn visit<P: Peer>(self) -> bool {
        P::DATAGRAMS == OwnDatagrams::Answered
    }
}

/// One thread.
struct Answering<'server> {
    peer: PeerKind,
    socket: &'server Socket,
    poller: Poller,
    waker: Waker,
    ending: &'server Ending,
    log: ServerLog<'server>,
    near: Near,
    clients: Clients,
    /// What the server's totals have of them.
    echoes: Arc<Echoes>,
}

impl PeerVisitor for Answering<'_> {
    type Output = ();

    fn visit<P: Peer>(mut self) {
        if let Err(error) = self.until_the_end::<P>() {
            self.log.own(&format!("{} clients are answered no more: {error}", self.peer));
        }
        for line in self.clients.leave_all() {
            self.log.own(&line);
        }
    }
}

impl Answering<'_> {
    fn until_the_end<P: Peer>(&mut self) -> Result<(), RunError> {
        let mut ready = Vec::new();
        let mut buffer = [0; BUFFER_BYTES];
        while !self.ending.is_there.load(Ordering::Acquire) {
            let now = clock::now();
            let timeout = self.clients.next_look().map(|at| at.since(now));
            self.poller.wait(&mut ready, timeout)?;
            if ready.iter().any(|ready| ready.key == WORD) {
                self.waker.drain();
            }
            for _ in 0..TURN {
                let received = datagrams::receive(self.socket, &mut buffer);
                let Some(datagram) =
                    received.map_err(RunError::system("cannot receive a datagram"))?
                else {
                    break;
                };
                self.hear::<P>(&datagram, &mut buffer, clock::now());
            }
            for (client, line) in self.clients.leave_silent(clock::now()) {
                self.log.on_stranger(client, &line);
            }
        }
        Ok(())
    }

    /// Answers one datagram, or does not.
    fn hear<P: Peer>(&mut self, datagram: &Datagram, buffer: &mut [u8], now: Tick) {
        let Datagram { len, truncated, remote, local } = *datagram;
        let Some(bytes) = buffer.get_mut(..len).filter(|_| !truncated) else { return };
        if !self.near.holds(remote.ip(), now) {
            return self.near.tell_how(remote, now, self.log);
        }
        if !P::answer(bytes, now) {
            return;
        }
        match self.clients.heard(remote, now) {
            Verdict::Answer => {}
            Verdict::Begins => {
                Echoes::count(&self.echoes.clients);
                self.log.on_stranger(remote, "its datagrams are echoed");
            }
            Verdict::TooMany | Verdict::Full { is_told: true } => {
                return Echoes::count(&self.echoes.left_out);
            }
            Verdict::Full { is_told: false } => {
                Echoes::count(&self.echoes.left_out);
                let line =
                    "not answered, since as many clients are there as this server echoes for";
                return self.log.on_stranger(remote, line);
            }
        }
        // What the system does not take now is lost, as on any path.
        let is_sent = datagrams::send(self.socket, bytes, remote, local).is_ok();
        self.clients.answered(remote, is_sent);
        Echoes::count(if is_sent { &self.echoes.sent } else { &self.echoes.left_out });
    }
}
