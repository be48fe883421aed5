//! The server: one thread that listens and hands every connection to the session it belongs to, and one
//! thread a session. No operation on one connection delays another.
//!
//! In one file: one server from its sockets to its end.

mod embedded;
mod farewell;
mod followers;
mod listening;
mod log_limit;
mod needs;
mod pending;
mod session;
mod sessions;
mod shares;

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr, SocketAddrV6, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::quantity::counted;
use pathscope_core::record::Host;
use pathscope_os::readiness::{Interest, Poller, Ready};
use pathscope_os::sockets::{self, Socket};
use pathscope_os::wake::Waker;
use pathscope_os::{OsError, clock, cpus, datagrams, limits, random};
use pathscope_peers::Refusal;
use pathscope_peers::limits::Limits;
use pathscope_peers::native::{self, AttachCode, Challenger, Greeting, Heard};

pub use embedded::Embedded;
pub use log_limit::LogLimit;
pub use shares::{Descriptors, Threads};

use crate::error::RunError;
use crate::records::journal::Journal;
use crate::stop::{Hearing, Stage, Stop};
use farewell::Farewells;
use followers::Followers;
use listening::Listening;
use log_limit::ServerLog;
use pending::{Arrival, PendingConnections};
use sessions::{Admission, Sessions, Stay};
use shares::{FILES_KEPT, Waiting, files_of_tests};

/// Connections and datagrams taken in one turn from one socket, so that no flood starves the others.
const TURN: usize = 64;

/// How long sessions get to tell their clients and hand in their reports when the server ends.
const FAREWELL: Duration = Duration::from_secs(10);

/// What a server can be told.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Addresses to listen on; none: every address of this machine.
    pub listen: Vec<String>,
    /// TCP and UDP port.
    pub port: u16,
    /// What clients may ask for.
    pub limits: Limits,
    /// Those of descriptors, of which the system has a say.
    pub descriptors: Descriptors,
    /// Those of threads, of which its processors have a say.
    pub threads: Threads,
    /// This end, as results describe it.
    pub here: Host,
    /// What is written down while it serves.
    pub journal: Journal,
    /// Data connections to serve before it ends; absent: any number.
    pub exit_after: Option<u64>,
    /// Shared with whoever else writes lines that strangers cause.
    pub log_limit: Arc<LogLimit>,
}

/// A server that listens, and does not answer yet.
#[derive(Debug)]
pub struct Server {
    listening: Vec<Listening>,
    limits: Limits,
    exit_after: Option<u64>,
    host: Host,
    files: u64,
    journal: Journal,
    log_limit: Arc<LogLimit>,
}

impl Server {
    /// Listens on every address, on TCP and UDP, or on none.
    pub fn bind(settings: Settings) -> Result<Self, RunError> {
        // Fewer files than wished for is no reason not to serve.
        let files = limits::raise_open_files().unwrap_or(FILES_KEPT);
        let listening = listening::bind_all(&settings.listen, settings.port)?;
        let Settings { limits, descriptors, threads, here: host, .. } = settings;
        let Settings { journal, exit_after, log_limit, .. } = settings;
        let limits = threads.among(descriptors.among(limits, files), cpus::allowed().len().max(1));
        Ok(Self { listening, limits, exit_after, host, files, journal, log_limit })
    }

    /// The addresses it listens on.
    pub fn addresses(&self) -> impl Iterator<Item = SocketAddr> {
        self.listening.iter().map(|listening| listening.address)
    }

    /// Serves until `stop`, then ends every session in good order. `say` hears what a person at the
    /// server wants to know.
    pub fn serve(self, stop: &Stop, say: &(dyn Fn(&str) + Sync)) -> Result<(), RunError> {
        let addresses: Vec<String> = self.addresses().map(|address| address.to_string()).collect();
        let log_limit = Arc::clone(&self.log_limit);
        let log = ServerLog { say, log_limit: &log_limit };
        log.own(&format!("listening on {} (TCP and UDP)", addresses.join(", ")));
        log.own(&format!("limits: {}", self.limits));
        let mut serving = Serving::new(self, stop)?;
        std::thread::scope(|scope| serving.until_stopped(scope, stop, log))
    }
}

/// Keys of the poller: word, then listeners, their UDP sockets, from [`FIRST_GUEST`] on connections that have not said what
/// they are for, and from [`FIRST_REFUSED`] on those of clients that are refused.
const WORD: u64 = 0;
const FIRST_LISTENER: u64 = 1;
const FIRST_GUEST: u64 = 1 << 32;
const FIRST_REFUSED: u64 = 1 << 62;

/// For how long nothing is accepted when there are no files.
const FULL: Duration = Duration::from_millis(50);

/// How long listeners are left alone at the least where guests have all places and their words on the way.
const CROWDED: Duration = Duration::from_millis(1);

/// A server that answers.
struct Serving {
    poller: Poller,
    waker: Waker,
    sockets: HashMap<u64, Source>,
    pending: PendingConnections,
    farewells: Farewells,
    followers: Followers,
    sessions: Arc<Sessions>,
    challenger: Challenger,
    /// Until when listeners are left alone, since there are no files or places for their connections.
    full_until: Option<Tick>,
    /// Whether it is places that are missing: they may be had sooner.
    is_crowded: bool,
    /// Wakes this thread at the end.
    _hearing: Hearing,
}

/// What is listened to.
#[derive(Clone)]
enum Source {
    Connections(Arc<Socket>),
    Datagrams(Arc<Socket>),
}

impl Serving {
    fn new(server: Server, stop: &Stop) -> Result<Self, RunError> {
        let (poller, waker) = (Poller::new()?, Waker::new()?);
        poller.add(&waker, WORD, Interest::INPUT)?;
        let hearing = stop.wake(&waker);
        server.log_limit.wake(waker.clone());
        let mut sockets = HashMap::new();
        for Listening { connections, datagrams, .. } in server.listening {
            for source in
                [Source::Connections(Arc::new(connections)), Source::Datagrams(Arc::new(datagrams))]
            {
                let key = FIRST_LISTENER + sockets.len() as u64;
                poller.add(source.socket(), key, Interest::INPUT)?;
                sockets.insert(key, source);
            }
        }
        let waiting = Waiting::of(server.files);
        Ok(Self {
            poller,
            waker: waker.clone(),
            sockets,
            pending: PendingConnections::new(FIRST_GUEST, waiting.guests),
            farewells: Farewells::new(FIRST_REFUSED, waiting.refused),
            followers: Followers::new(waiting.followers),
            sessions: Arc::new(Sessions::new(
                server.limits,
                server.host,
                server.journal,
                (files_of_tests(server.files), server.exit_after),
                waker.clone(),
            )),
            challenger: Challenger::new(random::bytes()?),
            full_until: None,
            is_crowded: false,
            _hearing: hearing,
        })
    }

    fn until_stopped<'scope>(
        &mut self,
        scope: &'scope std::thread::Scope<'scope, '_>,
        stop: &'scope Stop,
        log: ServerLog<'scope>,
    ) -> Result<(), RunError> {
        let mut ready: Vec<Ready> = Vec::new();
        stop.at(Stage::Serving);
        while stop.reason().is_none() {
            let now = clock::now();
            let left = |until: Tick| until.since(now);
            let waits = [
                log.keep_up(now),
                self.pending.next_deadline().map(left),
                self.farewells.next_deadline().map(left),
                self.full_until.map(left),
                self.followers.next_look(),
            ];
            let timeout = waits.into_iter().flatten().min();
            self.poller.wait(&mut ready, timeout)?;
            self.listen_again(clock::now())?;
            // Guests are heard before others come in, who may take their places.
            for &Ready { key, .. } in ready.iter().filter(|ready| ready.key >= FIRST_GUEST) {
                if key >= FIRST_REFUSED {
                    self.farewells.hear(key);
                } else {
                    self.hear_guest(key, scope, stop, log);
                }
            }
            if self.is_crowded && self.pending.next_place().is_none() {
                self.full_until = self.full_until.map(|_| Tick::ZERO);
                self.listen_again(clock::now())?;
            }
            for &Ready { key, .. } in ready.iter().filter(|ready| ready.key < FIRST_GUEST) {
                match self.sockets.get(&key).cloned() {
                    Some(Source::Connections(listener)) => {
                        self.accept(&listener, scope, stop, log)?;
                    }
                    Some(Source::Datagrams(socket)) => self.attach_datagrams(&socket),
                    None => self.waker.drain(),
                }
            }
            self.pending.dismiss_silent(clock::now());
            self.farewells.dismiss_late(clock::now());
            self.followers.try_again(&self.sessions, clock::now());
            if self.sessions.is_done() {
                log.own("all connections that were to be served are served (--exit-after): ending");
                return Ok(());
            }
        }
        let reason = stop.reason().unwrap_or("stopped");
        log.own(&match self.sessions.count() {
            0 => format!("{reason}: no session is there; ending"),
            sessions => format!(
                "{reason}: ending {}: flows that run finish and clients' reports are awaited, for {} at most; a second \
                 Ctrl-C (or signal) waits for nobody",
                counted(sessions as u64, "session"),
                native::STOP_TAKES
            ),
        });
        // Sessions hear the same wish and end by themselves, each within its own deadlines; the scope
        // waits for their threads.
        self.sessions.await_all(FAREWELL);
        Ok(())
    }

    /// Takes new connections. Of those that have waited, what they are for has come already, and is heard at once: where
    /// very many come, each keeps its place for a moment only.
    fn accept<'scope>(
        &mut self,
        listener: &Socket,
        scope: &'scope std::thread::Scope<'scope, '_>,
        stop: &'scope Stop,
        log: ServerLog<'scope>,
    ) -> Result<(), RunError> {
        for _ in 0..TURN {
            let place = self.pending.next_place();
            if let Some(until) = place.filter(|&place| place > clock::now()) {
                self.is_crowded = true;
                return self.stop_listening(until.max(clock::now() + CROWDED));
            }
            match sockets::accept_tcp(listener) {
                Ok(Some((socket, from))) => {
                    self.receive_guest(socket.into_tcp_stream(), from, scope, (stop, log));
                }
                Ok(None) => break,
                // No files left: those who have been told why they have no session make room, and those who have said
                // nothing for longest.
                Err(_) => {
                    if !self.farewells.dismiss_oldest() && !self.pending.dismiss_oldest() {
                        self.stop_listening(clock::now() + FULL)?;
                    }
                    break;
                }
            }
        }
        Ok(())
    }

    /// Nothing can be accepted for now, and listeners that have something to accept would be ready for ever.
    fn stop_listening(&mut self, until: Tick) -> Result<(), RunError> {
        if self.full_until.replace(until).is_none() {
            for source in self.sockets.values().filter(|source| source.accepts()) {
                self.poller.remove(source.socket())?;
            }
        }
        Ok(())
    }

    fn listen_again(&mut self, now: Tick) -> Result<(), RunError> {
        if self.full_until.take_if(|until| *until <= now).is_some() {
            self.is_crowded = false;
            for (&key, source) in self.sockets.iter().filter(|(_, source)| source.accepts()) {
                self.poller.add(source.socket(), key, Interest::INPUT)?;
            }
        }
        Ok(())
    }

    fn receive_guest<'scope>(
        &mut self,
        stream: TcpStream,
        from: SocketAddr,
        scope: &'scope std::thread::Scope<'scope, '_>,
        (stop, log): (&'scope Stop, ServerLog<'scope>),
    ) {
        let key = self.pending.enter(stream, from, clock::now());
        let arrival = self.pending.hear(key);
        if !matches!(arrival, Arrival::Unfinished) {
            return self.serve(key, arrival, scope, (stop, log));
        }
        let added =
            self.pending.stream(key).map(|stream| self.poller.add(stream, key, Interest::INPUT));
        if !matches!(added, Some(Ok(()))) {
            self.pending.leave(key);
        }
    }

    /// A connection that was waited for says what it is for.
    fn hear_guest<'scope>(
        &mut self,
        key: u64,
        scope: &'scope std::thread::Scope<'scope, '_>,
        stop: &'scope Stop,
        log: ServerLog<'scope>,
    ) {
        let arrival = self.pending.hear(key);
        if !matches!(arrival, Arrival::Unfinished)
            && let Some(stream) = self.pending.stream(key)
        {
            // What is closed or handed on is no longer waited for here.
            let _ = self.poller.remove(stream);
        }
        self.serve(key, arrival, scope, (stop, log));
    }

    /// Does what a connection is for.
    fn serve<'scope>(
        &mut self,
        key: u64,
        arrival: Arrival,
        scope: &'scope std::thread::Scope<'scope, '_>,
        (stop, log): (&'scope Stop, ServerLog<'scope>),
    ) {
        match arrival {
            Arrival::Unfinished => {}
            Arrival::Gone => drop(self.pending.leave(key)),
            Arrival::Stranger(who) => {
                if let Some((_, from)) = self.pending.leave(key) {
                    log.on_stranger(&format!("{from}: turned away, since it is {who}"));
                }
            }
            Arrival::Data(request) => {
                if let Some((stream, _)) = self.pending.leave(key) {
                    self.followers.attach(&self.sessions, request, stream, clock::now());
                }
            }
            Arrival::Return(back) => {
                if let Some((stream, _)) = self.pending.leave(key) {
                    self.sessions.take_back(back, stream);
                }
            }
            Arrival::Control(greeting) => {
                let Some((stream, from)) = self.pending.leave(key) else { return };
                // Admitted before anything is spent on it: strangers who are refused are many.
                match Sessions::admit(&self.sessions, from) {
                    Ok(admission) => self.begin(admission, (greeting, stream), scope, (stop, log)),
                    Err(refusal) => self.refuse(&refusal, (greeting, stream), from, log),
                }
            }
        }
    }

    /// A session begins, on a thread of its own.
    fn begin<'scope>(
        &mut self,
        admission: Admission,
        (greeting, stream): (Greeting, TcpStream),
        scope: &'scope std::thread::Scope<'scope, '_>,
        (stop, log): (&'scope Stop, ServerLog<'scope>),
    ) {
        let from = admission.from;
        let spare = stream.try_clone();
        let stay = Stay::begin(&self.sessions);
        let session = move || {
            // Ends when all else is freed.
            let _stay = stay;
            let run = || session::run(admission, greeting, stream, stop, log);
            // A bug of ours in one session must not be the end of all.
            if catch_unwind(AssertUnwindSafe(run)).is_err() {
                let line = format!("{from}: its session broke off by a fault of pathscope");
                log.on_stranger(&line);
            }
        };
        let thread = std::thread::Builder::new().name("session".to_owned());
        let Err(error) = thread.spawn_scoped(scope, session) else { return };
        let sentence = format!("its system has no thread for another session: {error}");
        let refusal = Refusal::new("threads", sentence).with_hint("try again later");
        match spare {
            Ok(stream) => self.refuse(&refusal, (greeting, stream), from, log),
            Err(_) => log.on_stranger(&format!("{from}: refused, since {refusal}")),
        }
    }

    /// A client is told that it has no session, and why. Nobody waits for it.
    fn refuse(
        &mut self,
        refusal: &Refusal,
        (greeting, stream): (Greeting, TcpStream),
        from: SocketAddr,
        log: ServerLog<'_>,
    ) {
        let line = format!("refused, since {refusal}");
        log.on_stranger(&format!("{from}: {line}"));
        self.sessions.journal.trouble(Some(from.to_string()), line);
        let now = clock::now();
        let Some(key) = self.farewells.tell(stream, &native::refused(greeting, refusal), now)
        else {
            return;
        };
        let stream = self.farewells.stream(key);
        // One that is not waited for is let go in time.
        let _ = stream.map(|stream| self.poller.add(stream, key, Interest::INPUT));
    }

    /// Datagrams that ask for a seat. Whoever asks must echo a value that only its address was told.
    fn attach_datagrams(&self, socket: &Socket) {
        let mut buffer = [0; 256];
        for _ in 0..TURN {
            let Ok(Some(datagram)) = datagrams::receive(socket, &mut buffer) else { return };
            let said = &buffer[..datagram.len];
            let answer = match self.challenger.received(datagram.remote, said, clock::now()) {
                Heard::Nothing => continue,
                Heard::Challenge(answer) => answer,
                Heard::Confirmed(claim) => {
                    let local = datagram
                        .local
                        .zip(socket.local_addr().ok())
                        .map(|(ip, address)| called(ip, address.port(), datagram.remote));
                    let code = local.map_or(AttachCode::NO_ROOM, |local| {
                        self.sessions.attach_datagrams(&claim, local, datagram.remote)
                    });
                    claim.answer(code)
                }
            };
            // A lost answer is asked for again.
            let _ = datagrams::send(socket, &answer, datagram.remote, datagram.local);
        }
    }
}

impl Source {
    fn accepts(&self) -> bool {
        matches!(self, Self::Connections(_))
    }

    fn socket(&self) -> &Socket {
        match self {
            Self::Connections(socket) | Self::Datagrams(socket) => socket,
        }
    }
}

/// Whether an error says that a family of addresses is not there.
fn is_missing_family(error: &OsError) -> bool {
    use std::io::ErrorKind;
    // EAFNOSUPPORT has no kind of its own.
    const NO_SUCH_FAMILY: i32 = 97;
    match error {
        OsError::Listen { source, .. } => {
            source.kind() == ErrorKind::AddrNotAvailable
                || source.raw_os_error() == Some(NO_SUCH_FAMILY)
        }
        _ => false,
    }
}

/// The address that a datagram was sent to. A link-local one means nothing without its interface, which
/// is the one that its sender is reached by.
fn called(ip: IpAddr, port: u16, remote: SocketAddr) -> SocketAddr {
    match (ip, remote) {
        (IpAddr::V6(ip), SocketAddr::V6(remote)) if ip.is_unicast_link_local() => {
            SocketAddr::V6(SocketAddrV6::new(ip, port, 0, remote.scope_id()))
        }
        _ => SocketAddr::new(ip, port),
    }
}
