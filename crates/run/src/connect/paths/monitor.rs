//! The thread that keeps the paths: looks at interfaces and routes whenever they change, opens and drops lanes.
//!
//! In one file: one thread that keeps paths, and all that can happen to them.

use std::io::{Error, ErrorKind};
use std::net::IpAddr;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::id::Lane;
use pathscope_flow::Credentials;
use pathscope_modes::paths::PathFacts;
use pathscope_os::readiness::{Interest, Poller};
use pathscope_os::routes::{self, Asked, Disturbed, Interface, Monitor};
use pathscope_os::{OsError, Waker, clock};
use pathscope_peers::attach::Seat;

use super::open::{self, Candidate, Hold, Opened};
use crate::connect::Orders;
use crate::error::RunError;
use crate::messages::inbox::{FlowSocket, SessionMessage};
use crate::paths::log::{Log, PathsRemote};
use crate::paths::radio::Radios;
use crate::threads::{self, lock};

/// A path that takes longer to come up is not waited for by the start of the test.
const START_WITHIN: Duration = Duration::from_secs(4);
/// Where no path has come up by then, and each was tried, none will: less than a dialogue waits for the first, so that the better sentence
/// is told.
const NONE_WITHIN: Duration = Duration::from_secs(10);
/// From one try of a path that the server does not answer on to the next.
const RETRY_AFTER: Duration = Duration::from_secs(2);
/// Interfaces are looked at so often even if nobody tells of a change.
const LOOK_EVERY: Duration = Duration::from_secs(1);

const CHANGES: u64 = 0;
const WORD: u64 = 1;

/// Starts to keep the paths of a flow over the interfaces that were named, the primary first; none: over those that there are.
pub(crate) fn start(orders: Orders, names: Vec<String>) -> Result<PathsRemote, RunError> {
    let (poller, waker, monitor) = (Poller::new()?, Waker::new()?, Monitor::open()?);
    poller.add(&monitor, CHANGES, Interest::INPUT)?;
    poller.add(&waker, WORD, Interest::INPUT)?;
    let log = Log::new(orders.inbox.clone());
    let remote = PathsRemote { log: Arc::new(Mutex::new(log)), waker };
    let (sender, arrivals) = channel();
    let monitor = PathMonitor {
        orders,
        names,
        monitor,
        poller,
        remote: remote.clone(),
        radios: Radios::open(),
        paths: Vec::new(),
        sender,
        arrivals,
        primary: None,
        begun: clock::now(),
        is_ready: false,
        rejoins: false,
        servers: 0,
        blind: None,
        turned_away: Vec::new(),
    };
    threads::spawn("paths", move || monitor.run())?;
    Ok(remote)
}

struct PathMonitor {
    orders: Orders,
    /// Interfaces as they were named.
    names: Vec<String>,
    monitor: Monitor,
    poller: Poller,
    /// What its session has of it, too.
    remote: PathsRemote,
    radios: Radios,
    /// By lane.
    paths: Vec<Path>,
    sender: Sender<Arrival>,
    arrivals: Receiver<Arrival>,
    /// The interface that the system's own route leads over.
    primary: Option<u32>,
    begun: Tick,
    /// Whether the test may start, as far as paths go.
    is_ready: bool,
    /// Whether a server that is there again waits for the first of its lanes.
    rejoins: bool,
    /// How often it was: what was asked of one server does not count with the next.
    servers: u32,
    /// Why nothing could be seen, as last told.
    blind: Option<String>,
    /// Interfaces that there was no room for, as told.
    turned_away: Vec<String>,
}

/// One path.
struct Path {
    name: String,
    state: State,
    /// Not tried again before.
    retry_at: Tick,
    /// Why it is not up, as last told.
    trouble: Option<String>,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum State {
    Down,
    /// A thread of its own asks the server.
    Attaching,
    Up(Hold),
}

/// What came of a try.
struct Arrival {
    lane: Lane,
    server: u32,
    outcome: Result<Opened, RunError>,
}

impl PathMonitor {
    fn run(mut self) {
        if let Err(error) = self.keep() {
            self.orders.inbox.post(SessionMessage::AttachFailed(error));
        }
    }

    /// Until nobody wants them any more; or why paths cannot be kept at all.
    fn keep(&mut self) -> Result<(), RunError> {
        self.begin()?;
        let mut ready = Vec::new();
        let mut disturbed = Disturbed::default();
        while self.orders.inbox.is_read() && !lock(&self.remote.log).is_stopped {
            let rejoins = lock(&self.remote.log).rejoins.take();
            if let Some(credentials) = rejoins {
                self.rejoin(credentials);
            }
            if let Err(error) = self.look(&disturbed) {
                if !self.is_ready {
                    return Err(error);
                }
                // Paths that work go on, and the next look may see again. Why this one does not is told once.
                let why = error.to_string();
                if self.blind.replace(why.clone()).as_ref() != Some(&why) {
                    self.note(None, String::new(), "failed", why);
                }
            }
            let wait = self.radios.wait().map_or(LOOK_EVERY, |wait| wait.min(LOOK_EVERY));
            self.poller.wait(&mut ready, Some(wait))?;
            self.remote.waker.drain();
            disturbed = self.monitor.drain();
            while let Ok(arrival) = self.arrivals.try_recv() {
                self.arrived(arrival);
            }
        }
        Ok(())
    }

    /// Which paths there are to begin with.
    fn begin(&mut self) -> Result<(), RunError> {
        let interfaces = routes::interfaces()?;
        let is_missing = |name: &&String| !interfaces.iter().any(|it| it.name == **name);
        if let Some(name) = self.names.iter().find(is_missing) {
            let source = Error::new(ErrorKind::NotFound, "there is no interface of this name");
            return Err(OsError::Interface { name: name.clone(), source }.into());
        }
        self.primary = self.primary_now()?;
        let names = self.names.clone();
        names.into_iter().for_each(|name| self.add(name));
        if self.paths.is_empty() {
            let primary = interfaces.into_iter().find(|it| Some(it.index) == self.primary);
            let none = || self.no_path("no route leads there");
            self.add(primary.ok_or_else(none)?.name);
        }
        Ok(())
    }

    fn add(&mut self, name: String) {
        let lane = Lane(self.paths.len() as u8);
        lock(&self.remote.log).facts_of(lane).interface.clone_from(&name);
        self.paths.push(Path { name, state: State::Down, retry_at: Tick::ZERO, trouble: None });
    }

    fn primary_now(&self) -> Result<Option<u32>, OsError> {
        let route = routes::route(self.orders.server.ip(), Asked::default())?;
        Ok(route.map(|route| route.interface))
    }

    /// Looks at everything, and has paths come and go accordingly.
    fn look(&mut self, disturbed: &Disturbed) -> Result<(), RunError> {
        let interfaces = routes::interfaces()?;
        self.note_primary(&interfaces)?;
        self.find_more(&interfaces);
        for lane in (0..self.paths.len() as u8).map(Lane) {
            let judged = self.judge(&self.paths[lane.index()].name, &interfaces);
            self.apply(lane, judged, disturbed);
        }
        self.tell_when_ready();
        self.read_radios(&interfaces);
        Ok(())
    }

    fn read_radios(&mut self, interfaces: &[Interface]) {
        let index = |path: &Path| {
            interfaces.iter().find(|it| it.name == path.name && it.is_up).map(|it| it.index)
        };
        let of_paths = (0..).map(Lane).zip(self.paths.iter().map(index));
        let read = self.radios.read(of_paths);
        let now = clock::now();
        read.into_iter()
            .for_each(|(lane, facts)| lock(&self.remote.log).radio_says(lane, facts, now));
    }

    /// The system's own route may move. Paths stay as they are: each is an interface.
    fn note_primary(&mut self, interfaces: &[Interface]) -> Result<(), RunError> {
        let now = self.primary_now()?;
        if now == self.primary {
            return Ok(());
        }
        self.primary = now;
        let name = interfaces.iter().find(|it| Some(it.index) == now).map(|it| it.name.clone());
        let name = name.unwrap_or_default();
        let why = if name.is_empty() {
            "the system has no route to the server any more".to_owned()
        } else {
            format!("the system's route to the server leads over {name} now")
        };
        self.note(None, name, "route", why);
        Ok(())
    }

    /// Where none was named, each interface that reaches the server is a path.
    fn find_more(&mut self, interfaces: &[Interface]) {
        if !self.names.is_empty() {
            return;
        }
        let lanes = self.orders.group.lanes;
        for Interface { name, is_loopback, .. } in interfaces {
            let is_known =
                self.paths.iter().any(|path| path.name == *name) || self.turned_away.contains(name);
            let has_room = self.paths.len() < usize::from(lanes);
            // One path: the primary alone was asked for.
            let is_asked_for = has_room || lanes > 1;
            if is_known || *is_loopback || !is_asked_for || self.judge(name, interfaces).is_err() {
                continue;
            }
            if has_room {
                self.add(name.clone());
                continue;
            }
            // How many there can be is fixed before the start, since each takes its part of the memory and time of every
            // number, used or not.
            self.turned_away.push(name.clone());
            let why = format!("no room: this run has room for {lanes} paths, fixed when it began");
            self.note(None, name.clone(), "failed", why);
        }
    }

    /// Whether an interface could be a path; why not.
    fn judge(&self, name: &str, interfaces: &[Interface]) -> Result<Candidate, String> {
        let server = self.orders.server.ip();
        let found = interfaces.iter().find(|interface| interface.name == name);
        let interface = found.ok_or_else(|| "there is no such interface any more".to_owned())?;
        if !interface.is_up {
            return Err("it is down: set it up (ip link set NAME up)".to_owned());
        }
        if !interface.has_link {
            return Err(
                "it has no link: no cable, or no network that it is associated with".to_owned()
            );
        }
        let is_alike = |address: &&IpAddr| address.is_ipv4() == server.is_ipv4();
        let addresses: Vec<IpAddr> = interface.addresses.iter().filter(is_alike).copied().collect();
        if addresses.is_empty() {
            let family = if server.is_ipv4() { "IPv4" } else { "IPv6" };
            return Err(format!("it has no {family} address"));
        }
        let asked = Asked { interface: Some(interface.index), source: None };
        let route = routes::route(server, asked).map_err(|error| error.to_string())?;
        route.ok_or_else(|| format!("no route leads to {server} by it"))?;
        Ok(Candidate { index: interface.index, name: name.to_owned(), addresses })
    }

    /// Has a path come up or go down as its interface does.
    fn apply(&mut self, lane: Lane, judged: Result<Candidate, String>, disturbed: &Disturbed) {
        let &Path { state, retry_at, .. } = &self.paths[lane.index()];
        match (state, judged) {
            (State::Up(hold), Ok(candidate)) => {
                if let Some(why) = hold.lost(&candidate, self.orders.server.ip(), disturbed) {
                    self.drop_lane(lane, why);
                }
            }
            (State::Up(_), Err(why)) => self.drop_lane(lane, why),
            (State::Down, Ok(candidate)) if clock::now() >= retry_at => {
                self.attach(lane, candidate);
            }
            (State::Down, Err(why)) => self.note_trouble(lane, why),
            (State::Down | State::Attaching, _) => {}
        }
    }

    fn attach(&mut self, lane: Lane, candidate: Candidate) {
        let (orders, sender, waker) =
            (self.orders.clone(), self.sender.clone(), self.remote.waker.clone());
        let server = self.servers;
        let asking = move || {
            let seat = Seat { lane, ..orders.seat(0) };
            let outcome = open::open(&orders, &candidate, seat);
            // A monitor that has ended needs no path.
            let _ = sender.send(Arrival { lane, server, outcome });
            waker.wake();
        };
        let path = &mut self.paths[lane.index()];
        path.retry_at = clock::now() + RETRY_AFTER;
        match threads::spawn("path", asking) {
            Ok(_) => path.state = State::Attaching,
            Err(error) => self.note_trouble(lane, error.to_string()),
        }
    }

    fn arrived(&mut self, Arrival { lane, server, outcome }: Arrival) {
        let path = &mut self.paths[lane.index()];
        if path.state != State::Attaching {
            return;
        }
        path.state = State::Down;
        if server != self.servers {
            // The server that answered is not the one that is there now, or cannot tell.
            path.retry_at = Tick::ZERO;
            return self.remote.waker.wake();
        }
        match outcome {
            Ok(Opened { socket, hold, facts }) => {
                (path.state, path.trouble) = (State::Up(hold), None);
                let mut log = lock(&self.remote.log);
                let known = log.facts_of(lane);
                *known = PathFacts { ups: known.ups + 1, ..facts };
                drop(log);
                self.note_of(lane, "up", format!("bound by {}", hold.binding.name()));
                self.post(lane, Some(FlowSocket::Open(socket)));
            }
            Err(error) => self.note_trouble(lane, error.to_string()),
        }
    }

    fn drop_lane(&mut self, lane: Lane, why: String) {
        let path = &mut self.paths[lane.index()];
        (path.state, path.retry_at) = (State::Down, Tick::ZERO);
        path.trouble = Some(why.clone());
        self.post(lane, None);
        self.note_of(lane, "down", why);
        // What replaces it may be there already.
        self.remote.waker.wake();
    }

    fn note_trouble(&mut self, lane: Lane, why: String) {
        let path = &mut self.paths[lane.index()];
        if path.trouble.as_ref() != Some(&why) {
            path.trouble = Some(why.clone());
            lock(&self.remote.log).facts_of(lane).trouble = Some(why.clone());
            self.note_of(lane, "failed", why);
        }
    }

    fn note_of(&self, lane: Lane, what: &'static str, why: String) {
        self.note(Some(lane), self.paths[lane.index()].name.clone(), what, why);
    }

    fn note(&self, lane: Option<Lane>, interface: String, what: &'static str, why: String) {
        lock(&self.remote.log).add(clock::now(), lane, interface, (what, why));
    }

    fn post(&self, lane: Lane, socket: Option<FlowSocket>) {
        let (group, flow) = (self.orders.group.id, self.orders.group.first);
        self.orders.inbox.post(SessionMessage::Lane { group, flow, lane, socket });
    }

    fn post_ready(&self) {
        let (group, flow) = (self.orders.group.id, self.orders.group.first);
        self.orders.inbox.post(SessionMessage::LanesReady { group, flow });
    }

    /// The server that is there now has none of the lanes.
    fn rejoin(&mut self, credentials: Credentials) {
        self.orders.credentials = credentials;
        self.servers += 1;
        self.rejoins = true;
        for lane in (0..self.paths.len() as u8).map(Lane) {
            let path = &mut self.paths[lane.index()];
            match path.state {
                State::Up(_) => self.drop_lane(lane, "the server has a new session".to_owned()),
                State::Down => path.retry_at = Tick::ZERO,
                // Whoever asks goes on to its end: two that asked at once would take the lane from each other at the
                // server.
                State::Attaching => {}
            }
        }
    }

    /// The test may start when every path is up, or has been tried; not for ever. One that runs goes on at a server that is
    /// there again as soon as one path is.
    fn tell_when_ready(&mut self) {
        let is_one_up = self.paths.iter().any(|path| matches!(path.state, State::Up(_)));
        let is_one_tried = self.paths.iter().any(|path| path.state == State::Attaching);
        if is_one_up && std::mem::take(&mut self.rejoins) {
            self.post_ready();
        }
        if self.is_ready {
            return;
        }
        if is_one_up {
            let waits = is_one_tried && clock::now().since(self.begun) < START_WITHIN;
            if !waits {
                self.is_ready = true;
                self.post_ready();
            }
        } else if !is_one_tried || self.has_none(clock::now()) {
            let why = |path: &Path| path.trouble.clone().unwrap_or_else(|| "not tried".to_owned());
            let reasons = self.paths.iter().map(|path| format!("{}: {}", path.name, why(path)));
            let error = self.no_path(&reasons.collect::<Vec<_>>().join("; "));
            self.is_ready = true;
            self.orders.inbox.post(SessionMessage::AttachFailed(error));
        }
    }

    /// Whether every path was tried in vain, for long enough.
    fn has_none(&self, now: Tick) -> bool {
        now.since(self.begun) >= NONE_WITHIN && self.paths.iter().all(|path| path.trouble.is_some())
    }

    fn no_path(&self, why: &str) -> RunError {
        RunError::Unsupported(format!("there is no path to {}: {why}", self.orders.server))
    }
}
