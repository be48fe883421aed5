//! The server: one thread that listens and hands every connection to the session it belongs to, and a few that
//! hold all sessions. No operation on one connection delays another.
//!
//! In one file: one server from its sockets to its end.

mod answering;
mod calling;
mod datagram_flows;
mod datagram_seats;
mod embedded;
mod ending;
mod farewell;
mod followers;
mod gathering;
mod hosts;
mod joining;
mod latecomers;
mod listening;
mod log_limit;
mod near;
mod needs;
mod parted;
mod pending;
mod session;
mod sessions;
mod settings;
mod shares;
#[cfg(test)]
mod tests;
mod totals;

use std::fmt::Display;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::thread::Scope;
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::id::Token;
use pathscope_modes::groups::Test;
use pathscope_os::readiness::{Interest, Poller, Ready};
use pathscope_os::sockets::{self, Socket};
use pathscope_os::wake::Waker;
use pathscope_os::{OsError, clock, cpus, limits, random};
use pathscope_peers::Refusal;
use pathscope_peers::joining::Joining;
use pathscope_peers::peer;
use pathscope_peers::registry::{Challenger, Greeting, PeerKind, Purpose};

pub use embedded::Embedded;
pub use log_limit::LogLimit;
pub use settings::{Settings, Stated};
pub use shares::{Descriptors, Threads};
pub use totals::Totals;

use crate::error::RunError;
use crate::queue::Queue;
use crate::session::driver::Carrier;
use crate::stop::{Hearing, Stage, Stop};
use crate::workers::placement::{FILES_KEPT, files_of_tests};
use answering::Ending;
use calling::Calls;
use datagram_flows::Beginnings;
use farewell::Leaving;
use followers::Followers;
use gathering::Gathering;
use hosts::{Beginning, Hosts, Place};
use latecomers::Latecomers;
use listening::{Listening, OwnListening};
use log_limit::ServerLog;
use pending::{Arrival, Guest};
use sessions::{Admission, SeatRequest, Sessions, Stay};
use shares::Waiting;

/// Connections and datagrams taken in one turn from one socket, so that no flood starves the others.
const TURN: usize = 64;

/// A server that listens, and does not answer yet.
#[derive(Debug)]
pub struct Server {
    listening: Vec<Listening>,
    own: Vec<OwnListening>,
    /// What it may open.
    files: u64,
    settings: Settings,
}

impl Server {
    /// Listens on every address, on TCP and UDP, or on none.
    pub fn bind(mut settings: Settings) -> Result<Self, RunError> {
        // Fewer files than wished for is no reason not to serve.
        let files = limits::raise_open_files().unwrap_or(FILES_KEPT);
        let mut listening = if settings.own_listeners_alone {
            Vec::new()
        } else {
            listening::bind_all(&settings.listen, settings.port)?
        };
        let mut own = Vec::new();
        for Stated { peer, port, ports, .. } in &settings.stated {
            let (names, port) = (settings.listen.as_slice(), port.unwrap_or(peer.port()));
            match peer.listener() {
                peer::Listener::Shared => {}
                peer::Listener::Own => {
                    own.extend(listening::bind_all_own((names, port, *ports), *peer)?);
                }
                // Where it is the port of all kinds, they are there already.
                peer::Listener::Either if !listening.is_empty() && port == settings.port => {}
                peer::Listener::Either => {
                    let bound = listening::bind_all(names, port);
                    listening.extend(bound.map_err(|error| error.at_port_of(*peer))?);
                }
            }
        }
        let limits = settings.descriptors.among(settings.limits, files);
        settings.limits = settings.threads.among(limits, cpus::allowed().len().max(1));
        Ok(Self { listening, own, files, settings })
    }

    /// The addresses it listens on.
    pub fn addresses(&self) -> impl Iterator<Item = SocketAddr> {
        self.listening.iter().map(|listening| listening.address)
    }

    /// Those on which it listens for the flows of clients of this kind alone.
    pub fn addresses_of(&self, peer: PeerKind) -> impl Iterator<Item = SocketAddr> {
        let own = self.own.iter().filter(move |own| own.peer == peer && !own.is_for_words);
        own.map(|own| own.address)
    }

    /// Serves until `stop`, then ends every session in good order. `say` hears what a person at the
    /// server wants to know.
    pub fn serve(self, stop: &Stop, say: &(dyn Fn(&str) + Sync)) -> Result<(), RunError> {
        let warn = self.settings.warn.as_ref().map(|warn| warn as &(dyn Fn(&str) + Sync));
        let log = ServerLog { say, warn, log_limit: &self.settings.log_limit };
        let ending = Ending::default();
        std::thread::scope(|scope| {
            let _ends = ending.with_this();
            let mut serving = Serving::new(&self, scope, stop, log)?;
            answering::start(scope, &self.own, &self.settings, (log, &ending))?;
            self.tell_of_itself(log);
            serving.until_stopped()
        })?;
        // Every session has said how it ended.
        self.settings.totals.lines().iter().for_each(|line| log.own(line));
        Ok(())
    }

    fn tell_of_itself(&self, log: ServerLog<'_>) {
        let addresses: Vec<String> = self.addresses().map(|address| address.to_string()).collect();
        if !addresses.is_empty() {
            log.own(&format!("listening on {} (TCP and UDP)", addresses.join(", ")));
        }
        for (addresses, of) in listening::in_words(&self.own) {
            log.own(&format!("listening on {addresses}, for {of} clients alone"));
        }
        log.own(&format!("limits: {}", self.settings.limits));
    }
}

/// Keys of the poller: word, then listeners, from [`FIRST_OWN`] on those of one kind of client, from [`FIRST_CALLED`] on UDP sockets
/// of such, from [`FIRST_DATAGRAMS`] on their UDP sockets, from [`FIRST_GUEST`] on connections
/// that have not said what they are for, and from [`FIRST_REFUSED`] on those of clients that are refused.
const WORD: u64 = 0;
const FIRST_LISTENER: u64 = 1;
const FIRST_OWN: u64 = 1 << 30;
const FIRST_CALLED: u64 = 3 << 29;
const FIRST_DATAGRAMS: u64 = 1 << 31;
const FIRST_GUEST: u64 = 1 << 32;
const FIRST_REFUSED: u64 = 1 << 62;

/// For how long nothing is accepted when there are no files.
const FULL: Duration = Duration::from_millis(50);

/// How long listeners are left alone at the least where guests have all places and their words on the way.
const CROWDED: Duration = Duration::from_millis(1);

/// A server that answers.
struct Serving<'scope> {
    /// What sessions hear and where they say it.
    stop: &'scope Stop,
    log: ServerLog<'scope>,
    poller: Poller,
    waker: Waker,
    listening: &'scope [Listening],
    own: &'scope [OwnListening],
    guests: Queue<Guest>,
    farewells: Queue<Leaving>,
    followers: Followers,
    latecomers: Latecomers,
    calls: Calls,
    beginnings: Beginnings,
    gathering: Gathering,
    sessions: Arc<Sessions>,
    hosts: Hosts<'scope>,
    challenger: Challenger,
    /// Until when listeners are left alone, since there are no files or places for their connections.
    full_until: Option<Tick>,
    /// Whether it is places that are missing: they may be had sooner.
    is_crowded: bool,
    /// It was told to end, and takes no new sessions.
    is_ending: bool,
    /// Wakes this thread at the end.
    _hearing: Hearing,
}

impl<'scope> Serving<'scope> {
    fn new(
        Server { listening, own, files, settings }: &'scope Server,
        scope: &'scope Scope<'scope, '_>,
        stop: &'scope Stop,
        log: ServerLog<'scope>,
    ) -> Result<Self, RunError> {
        let (poller, waker) = (Poller::new()?, Waker::new()?);
        poller.add(&waker, WORD, Interest::INPUT)?;
        let hearing = stop.wake(&waker);
        log.log_limit.wake(waker.clone());
        settings.totals.begin(&waker);
        for (key, listening) in (FIRST_DATAGRAMS..).zip(listening) {
            // Clients here speak first: one that is accepted with its words is a guest for no time. Where the kernel knows no such
            // thing, those that come at once wait for places.
            let _ = listening.connections.await_first_words();
            poller.add(&listening.datagrams, key, Interest::INPUT)?;
        }
        for (key, own) in
            (FIRST_CALLED..).zip(own).filter(|(_, own)| own.is_called() || own.is_of_flows())
        {
            own.datagrams.iter().try_for_each(|it| poller.add(it, key, Interest::INPUT))?;
        }
        let waiting = Waiting::of(*files);
        let files_of_tests = files_of_tests(*files);
        let identity = Token(random::bytes()?);
        let serving = Self {
            stop,
            log,
            poller,
            listening,
            own,
            guests: Queue::new(pending::PATIENCE).numbered(FIRST_GUEST, waiting.guests),
            farewells: Queue::new(farewell::PATIENCE).numbered(FIRST_REFUSED, waiting.refused),
            followers: Followers::new(waiting.followers),
            latecomers: Latecomers::default(),
            calls: Calls::new(&settings.allow),
            beginnings: Beginnings::default(),
            gathering: Gathering::default(),
            sessions: Arc::new(Sessions::new(
                settings.clone(),
                identity,
                files_of_tests,
                waker.clone(),
            )),
            hosts: Hosts::start(scope, log, &settings.journal)?,
            challenger: Challenger::new(random::bytes()?),
            waker,
            full_until: None,
            is_crowded: false,
            is_ending: false,
            _hearing: hearing,
        };
        // A server that cannot listen at all does not begin.
        serving.watch_listeners()?;
        Ok(serving)
    }

    fn until_stopped(&mut self) -> Result<(), RunError> {
        let Self { stop, log, .. } = *self;
        let mut ready: Vec<Ready> = Vec::new();
        stop.at(Stage::Serving);
        while stop.reason().is_none() {
            self.turn(&mut ready)?;
            if let Some(why) = self.sessions.done(clock::now()) {
                self.part_with_all();
                log.own(&why);
                return Ok(());
            }
        }
        self.end(&mut ready)
    }

    /// Waits until there is something to hear or to do, and does that.
    fn turn(&mut self, ready: &mut Vec<Ready>) -> Result<(), RunError> {
        let Self { log, listening, own, .. } = *self;
        let now = clock::now();
        let left = |until: Tick| until.since(now);
        let waits = [
            log.keep_up(now),
            self.guests.next_deadline().map(left),
            self.farewells.next_deadline().map(left),
            self.full_until.map(left),
            self.followers.next_look(now),
            self.latecomers.next_deadline().map(left),
            self.sessions.keep_turns(now).map(left),
            self.sessions.idle_until().map(left),
        ];
        let timeout = waits.into_iter().flatten().min();
        self.poller.wait(ready, timeout)?;
        self.listen_again(clock::now());
        // Guests are heard before others come in, who may take their places.
        for &Ready { key, .. } in ready.iter().filter(|ready| ready.key >= FIRST_GUEST) {
            if key >= FIRST_REFUSED {
                self.farewells.hear(key);
            } else {
                self.hear_guest(key);
            }
        }
        if self.is_crowded && self.guests.next_place().is_none() {
            self.full_until = self.full_until.map(|_| Tick::ZERO);
            self.listen_again(clock::now());
        }
        for key in ready.iter().map(|ready| ready.key) {
            match key {
                WORD => self.waker.drain(),
                FIRST_LISTENER..FIRST_OWN => {
                    let place = (key - FIRST_LISTENER) as usize;
                    self.accept(&listening[place].connections, None);
                }
                FIRST_CALLED..FIRST_DATAGRAMS => {
                    let own = &own[(key - FIRST_CALLED) as usize];
                    if own.is_of_flows() {
                        self.hear_flows(own);
                    } else {
                        self.hear_callers(own);
                    }
                }
                FIRST_OWN..FIRST_CALLED => {
                    let own = &own[(key - FIRST_OWN) as usize];
                    if let Some(connections) = &own.connections {
                        self.accept(connections, Some(own));
                    }
                }
                FIRST_DATAGRAMS..FIRST_GUEST => {
                    let place = (key - FIRST_DATAGRAMS) as usize;
                    self.attach_datagrams(&listening[place]);
                }
                // They were heard.
                FIRST_GUEST.. => {}
            }
        }
        self.guests.dismiss_late(clock::now());
        self.farewells.dismiss_late(clock::now());
        for (stream, word) in self.followers.try_again(&self.sessions, clock::now()) {
            self.take_leave(stream, &word);
        }
        self.followers.go_on(clock::now());
        self.receive_parted();
        self.lead_latecomers();
        self.tell_totals_if_asked();
        Ok(())
    }

    /// Somebody who asks by a signal is told, also where nothing else is said.
    fn tell_totals_if_asked(&self) {
        let Settings { totals, .. } = &self.sessions.settings;
        if totals.take_asked() {
            let tell = self.log.warn.unwrap_or(self.log.say);
            totals.lines().iter().for_each(|line| tell(line));
        }
    }

    /// Takes new connections. Of those that have waited, what they are for has come already, and is heard at once: where
    /// very many come, each keeps its place for a moment only. Where the listener is one kind's alone, nothing has to be heard.
    fn accept(&mut self, listener: &Socket, of: Option<&OwnListening>) {
        for _ in 0..TURN {
            let place = if of.is_none() { self.guests.next_place() } else { None };
            if let Some(until) = place.filter(|&place| place > clock::now()) {
                self.is_crowded = true;
                self.stop_listening(until.max(clock::now() + CROWDED));
                return;
            }
            match sockets::accept_tcp(listener) {
                Ok(Some((socket, from))) => {
                    let stream = socket.into_tcp_stream();
                    match of {
                        Some(own) => self.accept_own(own, stream, from),
                        None => self.receive_guest(stream, from),
                    }
                }
                Ok(None) => break,
                // No files left: those who have been told why they have no session make room, and those who have said
                // nothing for longest.
                Err(_) => {
                    let has_room = self.farewells.leave_first().is_some()
                        || self.guests.leave_first().is_some();
                    if !has_room {
                        self.stop_listening(clock::now() + FULL);
                    }
                    break;
                }
            }
        }
    }

    /// Nothing can be accepted for now, and listeners that have something to accept would be ready for ever.
    fn stop_listening(&mut self, until: Tick) {
        if self.full_until.replace(until).is_none() {
            self.leave_listeners();
        }
    }

    fn leave_listeners(&self) {
        for (_, listener) in self.listeners() {
            // One that is not left, or was not watched, costs turns until the time is over, and nothing else.
            let _ = self.poller.remove(listener);
        }
    }

    fn watch_listeners(&self) -> Result<(), OsError> {
        self.listeners()
            .try_for_each(|(key, listener)| self.poller.add(listener, key, Interest::INPUT))
    }

    fn listen_again(&mut self, now: Tick) {
        if self.full_until.take_if(|until| *until <= now).is_some() {
            self.is_crowded = false;
            // The system may have no memory for that now: a server goes on with the clients that it has, and tries again.
            if self.watch_listeners().is_err() {
                self.leave_listeners();
                self.full_until = Some(now + FULL);
            }
        }
    }

    /// All of them, with their keys.
    fn listeners(&self) -> impl Iterator<Item = (u64, &'scope Socket)> + use<'scope> {
        let shared = self.listening.iter().map(|listening| &listening.connections);
        let own = Some(self.own_listeners()).filter(|_| !self.is_ending);
        (FIRST_LISTENER..).zip(shared).chain(own.into_iter().flatten())
    }

    /// Those of kinds that have some of their own.
    fn own_listeners(&self) -> impl Iterator<Item = (u64, &'scope Socket)> + use<'scope> {
        let own = (FIRST_OWN..).zip(self.own);
        own.filter_map(|(key, own)| Some((key, own.connections.as_ref()?)))
    }

    fn receive_guest(&mut self, stream: TcpStream, from: SocketAddr) {
        let guest = match Guest::receive(stream, from) {
            Ok(None) => return,
            Ok(Some(arrival)) => return self.serve(arrival),
            Err(guest) => guest,
        };
        let key = self.guests.admit(guest, clock::now());
        if let Some(guest) = self.guests.get(key)
            && self.poller.add(&guest.stream, key, Interest::INPUT).is_err()
        {
            self.guests.leave(key);
        }
    }

    /// A connection that was waited for says what it is for.
    fn hear_guest(&mut self, key: u64) {
        if let Some(arrival) = self.guests.hear(key) {
            // What is handed on is no longer waited for here.
            let _ = self.poller.remove(&arrival.stream);
            self.serve(arrival);
        }
    }

    /// Does what a connection is for.
    fn serve(&mut self, Arrival { stream, from, said, unread }: Arrival) {
        let asks = match &said {
            Ok(Purpose::Session(greeting) | Purpose::Join(Joining { greeting, .. })) => {
                Some(*greeting)
            }
            _ => None,
        };
        if let Some(greeting) = asks.filter(|greeting| !self.serves(greeting.kind())) {
            return self.refuse(&joining::not_served(greeting.kind()), greeting, stream, from);
        }
        if let Some(greeting) = asks.filter(|_| self.is_ending) {
            return self.refuse(&parted::stopping(), greeting, stream, from);
        }
        match said {
            // Admitted before anything is spent on it: strangers who are refused are many.
            Ok(Purpose::Session(greeting)) => match Sessions::admit(&self.sessions, from) {
                Ok(admission) => {
                    let place = self.hosts.place();
                    self.begin(admission, greeting, (Carrier::Control(stream, from), None), place);
                }
                Err(refusal) => self.refuse(&refusal, greeting, stream, from),
            },
            Ok(Purpose::Return(back)) => {
                if let Some((stream, word)) = self.sessions.take_back(back, stream) {
                    self.take_leave(stream, &word);
                }
            }
            Ok(Purpose::Seat(claim)) => {
                let request = SeatRequest { stream, claim, from, unread };
                let refused = self.followers.attach(&self.sessions, request, clock::now());
                if let Some((stream, word)) = refused {
                    self.take_leave(stream, &word);
                }
            }
            Ok(Purpose::Join(joining)) => self.join(joining, stream, from),
            Err(who) => {
                self.log.on_stranger(from, &format!("turned away, since it is {who}"));
                farewell::turn_away(stream);
            }
        }
    }

    /// A session begins, on a thread that holds others, too.
    fn begin(
        &self,
        admission: Admission,
        greeting: Greeting,
        over: (Carrier, Option<Test>),
        place: Place,
    ) {
        let (from, stop, log) = (admission.from, self.stop, self.log);
        let begin = move |hosted| session::begin(admission, greeting, over, hosted, (stop, log));
        let stay = Stay::begin(&self.sessions);
        self.hosts.begin(place, Beginning { from, begin: Box::new(begin), stay });
    }

    /// People at the server are told of a client that has no session.
    fn tell_refused(&self, why: &dyn Display, from: SocketAddr) {
        let line = format!("refused, since {why}");
        self.sessions.settings.totals.refuse();
        self.log.on_stranger(from, &line);
        self.sessions.settings.journal.trouble(Some(from.to_string()), line);
    }

    /// A client is told that it has no session, and why. Nobody waits for it.
    fn refuse(
        &mut self,
        refusal: &Refusal,
        greeting: Greeting,
        stream: TcpStream,
        from: SocketAddr,
    ) {
        self.tell_refused(refusal, from);
        self.take_leave(stream, &greeting.refused(refusal));
    }

    /// One is told this, and closes; or is let go in time.
    fn take_leave(&mut self, stream: TcpStream, word: &[u8]) {
        await_close(&self.poller, self.farewells.tell(stream, word, clock::now()));
    }

    /// One that has been told all closes, or is let go in time.
    fn let_go(&mut self, stream: TcpStream) {
        await_close(&self.poller, self.farewells.let_go(stream, clock::now()));
    }
}

/// One is waited for until it closes. One that cannot be is let go in time.
fn await_close(poller: &Poller, leaving: Option<(u64, &Leaving)>) {
    let _ = leaving.map(|(key, leaving)| poller.add(&leaving.stream, key, Interest::INPUT));
}
