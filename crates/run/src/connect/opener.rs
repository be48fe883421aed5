//! The client's TCP connections in the making: one thread opens them all, so many at once, and those that
//! follow others as these end. Not their data, and not the control connection.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane, Role};
use pathscope_flow::{Credentials, Group};
use pathscope_modes::registry::Test;
use pathscope_os::readiness::{Interest, Poller, Ready};
use pathscope_os::sockets::{Settings, Socket};
use pathscope_os::{Waker, clock};
use pathscope_peers::native::{AttachCode, AttachError, Seat};

use crate::connect::destinations::Destinations;
use crate::connect::handshake::{ATTACH_WITHIN, Handshake, Progress};
use crate::connect::origins::Origins;
use crate::connect::settings;
use crate::error::RunError;
use crate::messages::inbox::{FlowSocket, Inbox, SessionMessage};
use crate::messages::replacements::{OpenerRemote, Told};

/// Key of the waker; connections have their numbers.
const WORD: u64 = u64::MAX;

/// What is to be opened.
#[derive(Clone, Debug)]
pub(crate) struct Orders {
    /// Where the session's control connection goes.
    pub session: SocketAddr,
    /// Where connections go.
    pub destinations: Destinations,
    pub credentials: Credentials,
    pub group: Group,
    pub settings: Settings,
    /// The test that says at which rate each goes, if at one.
    pub paced: Option<Test>,
    /// Where connections come from.
    pub origins: Origins,
    /// Connections in the making at once.
    pub limit: u32,
    /// No connection is begun after this much time from the start.
    pub time_limit: Option<Duration>,
    /// Whether a server that takes no more ends it: there would be no end otherwise.
    pub is_endless: bool,
}

/// Starts the thread that opens the connections of a group; each arrives as word, or else why not.
pub(crate) fn start(orders: Orders, inbox: &Inbox) -> Result<OpenerRemote, RunError> {
    let waker = Waker::new()?;
    let (remote, told) = OpenerRemote::new(waker.clone());
    let poller = Poller::new()?;
    poller.add(&waker, WORD, Interest::INPUT)?;
    let opener = Opener {
        vacancies: orders.group.flows,
        next: 0,
        orders,
        inbox: inbox.clone(),
        poller,
        waker,
        told,
        making: HashMap::new(),
        deadlines: VecDeque::new(),
        begin_until: Tick::NEVER,
        pause_until: Tick::ZERO,
        is_stopped: false,
        made_again: HashMap::new(),
    };
    std::thread::Builder::new()
        .name("opener".to_owned())
        .spawn(move || opener.run())
        .map_err(|source| RunError::System { what: "cannot start a thread", source })?;
    Ok(remote)
}

/// After a connection that could not be begun: so long until the next is.
const PAUSE_NS: u64 = 1_000_000;

/// A connection that is damaged in the making is made again so often: on a path that damages one segment in a hundred, one
/// in some millions fails four times.
const AGAIN_MOST: u32 = 3;

/// Connections in the making.
struct Opener {
    orders: Orders,
    inbox: Inbox,
    poller: Poller,
    waker: Waker,
    told: Receiver<Told>,
    /// Connections that there is room for.
    vacancies: u32,
    /// The number of the next, in its group.
    next: u32,
    making: HashMap<u32, Handshake>,
    /// In the order they were begun; may name connections that are made.
    deadlines: VecDeque<(Tick, u32)>,
    begin_until: Tick,
    /// After one that could not even be begun, nothing is begun until then.
    pause_until: Tick,
    is_stopped: bool,
    /// Connections that the path has damaged in the making, and how often.
    made_again: HashMap<u32, u32>,
}

impl Opener {
    fn run(mut self) {
        let mut ready = Vec::new();
        // A session that is gone wants no sockets.
        while self.inbox.is_read() {
            self.begin_all();
            if self.is_finished() {
                if self.orders.group.replaces() {
                    self.inbox.post(SessionMessage::NoMoreFlows { group: self.orders.group.id });
                }
                return;
            }
            if let Err(error) = self.wait(&mut ready) {
                return self.inbox.post(SessionMessage::AttachFailed(error));
            }
            if !self.hear() {
                return;
            }
            for &Ready { key, .. } in &ready {
                if let Ok(number) = u32::try_from(key) {
                    self.go_on(number);
                }
            }
            self.expire();
        }
    }

    fn numbers(&self) -> u32 {
        if self.orders.group.replaces() {
            self.orders.group.numbers
        } else {
            self.orders.group.flows
        }
    }

    fn is_finished(&self) -> bool {
        self.making.is_empty() && (self.next >= self.numbers() || self.begins_no_more())
    }

    fn begins_no_more(&self) -> bool {
        self.is_stopped || clock::now() >= self.begin_until
    }

    /// Begins as many connections as there is room for.
    fn begin_all(&mut self) {
        while self.vacancies > 0
            && self.next < self.numbers()
            && (self.making.len() as u64) < u64::from(self.orders.limit)
            && !self.begins_no_more()
            && clock::now() >= self.pause_until
        {
            let number = self.next;
            self.next += 1;
            self.vacancies -= 1;
            if let Err(error) = self.begin(number) {
                self.failed(number, error);
                // What failed at once fails again at once: in between, word is heard.
                self.pause_until = clock::now().plus_nanos(PAUSE_NS);
            }
        }
    }

    fn begin(&mut self, number: u32) -> Result<(), RunError> {
        let seat = seat(&self.orders, number);
        let Orders { destinations, origins, settings, paced, credentials, .. } = &mut self.orders;
        settings.pacing_bytes_per_second =
            paced.as_ref().and_then(|test| settings::pacing(test, Role::Client, seat.flow));
        let server = destinations.of(number);
        settings.local = origins.take(number, server)?;
        let making = Handshake::begin((seat, credentials.session), server, settings)?;
        self.poller.add(making.stream(), u64::from(number), Interest::BOTH)?;
        self.making.insert(number, making);
        self.deadlines.push_back((clock::now() + ATTACH_WITHIN, number));
        Ok(())
    }

    fn wait(&mut self, ready: &mut Vec<Ready>) -> Result<(), RunError> {
        while let Some((_, number)) = self.deadlines.front() {
            if self.making.contains_key(number) {
                break;
            }
            self.deadlines.pop_front();
        }
        let first = self.deadlines.front().map_or(Tick::NEVER, |&(deadline, _)| deadline);
        let end = if self.is_stopped { Tick::NEVER } else { self.begin_until };
        let pause = Some(self.pause_until).filter(|&until| until > clock::now());
        let until = first.min(end).min(pause.unwrap_or(Tick::NEVER));
        let timeout = (until != Tick::NEVER).then(|| until.since(clock::now()));
        Ok(self.poller.wait(ready, timeout)?)
    }

    /// Takes all word. Whether there is anybody left who could tell more.
    fn hear(&mut self) -> bool {
        self.waker.drain();
        loop {
            match self.told.try_recv() {
                Ok(Told::Vacancy(flow)) => {
                    self.orders.origins.give_back(flow.0 - self.orders.group.first.0);
                    self.vacancies += 1;
                }
                Ok(Told::Started(at)) => {
                    let limit = self.orders.time_limit;
                    self.begin_until = limit.map_or(Tick::NEVER, |limit| at + limit);
                }
                Ok(Told::Stop) => self.is_stopped = true,
                Err(TryRecvError::Empty) => return true,
                // Without a session nothing follows what is in the making.
                Err(TryRecvError::Disconnected) => return !self.making.is_empty(),
            }
        }
    }

    fn go_on(&mut self, number: u32) {
        let Some(making) = self.making.get_mut(&number) else { return };
        match making.go_on() {
            Ok(Progress::Waiting) => {
                if making.is_connected() {
                    let source = making.stream();
                    // Failing to cut an interest down costs wake-ups and nothing else.
                    let _ = self.poller.change(source, u64::from(number), Interest::INPUT);
                }
            }
            Ok(Progress::Made) => self.made(number, seat(&self.orders, number)),
            Ok(Progress::Damaged) => self.make_again(number),
            Err(error) => {
                self.making.remove(&number);
                self.failed(number, error);
            }
        }
    }

    /// A connection whose opening or answer was damaged is made once more, within the time of the first.
    fn make_again(&mut self, number: u32) {
        let Some(making) = self.making.remove(&number) else { return };
        let times = self.made_again.entry(number).or_default();
        *times += 1;
        let result = if *times > AGAIN_MOST {
            Err(making.damaged())
        } else {
            drop(making);
            self.orders.origins.give_back(number);
            self.begin(number)
        };
        if let Err(error) = result {
            self.failed(number, error);
        }
    }

    fn made(&mut self, number: u32, seat: Seat) {
        let Some(making) = self.making.remove(&number) else { return };
        self.made_again.remove(&number);
        let connect_ns = making.connect_ns();
        let stream = making.into_stream();
        let _ = self.poller.remove(&stream);
        if let Err(source) = stream.set_nonblocking(false) {
            let what = "cannot set up a connection";
            return self.failed(number, RunError::System { what, source });
        }
        let socket = FlowSocket::Open(Arc::new(Socket::from(stream)));
        let Seat { group, flow, .. } = seat;
        self.inbox.post(SessionMessage::Attached {
            group,
            flow,
            socket,
            connect_ns,
            attended: None,
        });
    }

    /// A connection was not made. One of the first ends the test before it begins; one that was to follow
    /// another is counted, and followed by the next.
    fn failed(&mut self, number: u32, error: RunError) {
        self.made_again.remove(&number);
        let address = self.orders.destinations.of(number);
        let error = self.orders.foreign(address, error);
        let is_another = matches!(error, RunError::OtherServer { .. });
        if number < self.orders.group.flows || is_another {
            self.is_stopped = true;
            self.making.clear();
            return self.inbox.post(SessionMessage::AttachFailed(error));
        }
        let is_final = matches!(
            &error,
            RunError::Refused { why: AttachError::Refused(AttachCode::SERVED), .. }
        );
        self.is_stopped |= is_final && self.orders.is_endless;
        self.vacancies += 1;
        self.orders.origins.give_back(number);
        let flow = seat(&self.orders, number).flow;
        let group = self.orders.group.id;
        self.inbox.post(SessionMessage::ConnectFailed { group, flow, address, error });
    }

    fn expire(&mut self) {
        let now = clock::now();
        while let Some(&(deadline, number)) = self.deadlines.front() {
            if deadline > now {
                return;
            }
            self.deadlines.pop_front();
            if let Some(making) = self.making.remove(&number) {
                self.failed(number, making.late());
            }
        }
    }
}

impl Orders {
    /// A token that is known where the session is, and not at another address, tells of another server there.
    fn foreign(&self, address: SocketAddr, error: RunError) -> RunError {
        let is_unknown = matches!(
            &error,
            RunError::Refused { why: AttachError::Refused(AttachCode::UNKNOWN_SESSION), .. }
        );
        if is_unknown && address != self.session {
            return RunError::OtherServer { address, session: self.session };
        }
        error
    }
}

fn seat(orders: &Orders, number: u32) -> Seat {
    let flow = FlowId(orders.group.first.0 + number);
    Seat { token: orders.credentials.token, group: orders.group.id, flow, lane: Lane::ONLY }
}
