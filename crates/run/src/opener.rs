//! The client's TCP connections in the making: one thread opens them all, so many at once, and those that
//! follow others as these end. Not their data, and not the control connection.

use std::collections::{HashMap, VecDeque};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane, Token};
use pathscope_flow::Group;
use pathscope_os::readiness::{Interest, Poller, Ready};
use pathscope_os::sockets::{self, Settings, Socket};
use pathscope_os::{OsError, Waker, clock};
use pathscope_peers::native::{ACK_BYTES, AttachCode, AttachError, Opening, Seat, decode_ack};

use crate::error::RunError;
use crate::mail::{FlowSocket, Mailbox, Word};
use crate::origins::Origins;

/// A connection that is not there and taken by then will not be.
const ATTACH_WITHIN: Duration = Duration::from_secs(10);

/// Key of the waker; connections have their numbers.
const WORD: u64 = u64::MAX;

/// What is to be opened.
#[derive(Clone, Debug)]
pub(crate) struct Orders {
    pub server: SocketAddr,
    pub token: Token,
    pub group: Group,
    pub settings: Settings,
    /// Where connections come from.
    pub origins: Origins,
    /// Connections in the making at once.
    pub limit: u32,
    /// No connection is begun after this much time from the start.
    pub time_limit: Option<Duration>,
    /// Whether a server that takes no more ends it: there would be no end otherwise.
    pub is_endless: bool,
}

/// How an opener is told. Cheap to clone; when all are gone, it ends.
#[derive(Clone, Debug)]
pub(crate) struct OpenerRemote {
    /// Taken in `drop`, so that it is gone before the opener is woken.
    sender: Option<Sender<Told>>,
    waker: Waker,
}

impl Drop for OpenerRemote {
    fn drop(&mut self) {
        drop(self.sender.take());
        self.waker.wake();
    }
}

#[derive(Clone, Copy, Debug)]
enum Told {
    /// This connection has ended: there is room for the next.
    Vacancy(FlowId),
    /// The flows run since then.
    Started(Tick),
    /// Begin no more.
    Stop,
}

impl OpenerRemote {
    /// A connection has ended, and is closed: the next may be opened.
    pub fn vacancy(&self, flow: FlowId) {
        self.tell(Told::Vacancy(flow));
    }

    /// The flows run.
    pub fn started(&self, at: Tick) {
        self.tell(Told::Started(at));
    }

    /// No further connection is begun.
    pub fn stop(&self) {
        self.tell(Told::Stop);
    }

    fn tell(&self, told: Told) {
        if let Some(sender) = &self.sender {
            // It fails only where the opener has ended.
            let _ = sender.send(told);
        }
        self.waker.wake();
    }
}

/// Starts the thread that opens the connections of a group; each arrives as word, or else why not.
pub(crate) fn start(orders: Orders, mailbox: &Mailbox) -> Result<OpenerRemote, RunError> {
    let (sender, told) = channel();
    let waker = Waker::new()?;
    let poller = Poller::new()?;
    poller.add(&waker, WORD, Interest::INPUT)?;
    let opener = Opener {
        vacancies: orders.group.flows,
        next: 0,
        orders,
        mailbox: mailbox.clone(),
        poller,
        waker: waker.clone(),
        told,
        making: HashMap::new(),
        deadlines: VecDeque::new(),
        begin_until: Tick::NEVER,
        is_stopped: false,
    };
    std::thread::Builder::new()
        .name("opener".to_owned())
        .spawn(move || opener.run())
        .map_err(|source| RunError::System { what: "cannot start a thread", source })?;
    Ok(OpenerRemote { sender: Some(sender), waker })
}

/// Connections in the making.
struct Opener {
    orders: Orders,
    mailbox: Mailbox,
    poller: Poller,
    waker: Waker,
    told: Receiver<Told>,
    /// Connections that there is room for.
    vacancies: u32,
    /// The number of the next, in its group.
    next: u32,
    making: HashMap<u32, Making>,
    /// In the order they were begun; may name connections that are made.
    deadlines: VecDeque<(Tick, u32)>,
    begin_until: Tick,
    is_stopped: bool,
}

/// One connection in the making.
struct Making {
    stream: TcpStream,
    is_connected: bool,
    ack: [u8; ACK_BYTES],
    came: usize,
}

/// How far a connection is.
enum Progress {
    Waiting,
    Made,
}

impl Opener {
    fn run(mut self) {
        let mut ready = Vec::new();
        // A session that is gone wants no sockets.
        while self.mailbox.is_read() {
            self.begin_all();
            if self.is_finished() {
                if self.orders.group.replaces() {
                    self.mailbox.post(Word::NoMoreFlows { group: self.orders.group.id });
                }
                return;
            }
            if let Err(error) = self.wait(&mut ready) {
                return self.mailbox.post(Word::AttachFailed(error));
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
        {
            let number = self.next;
            self.next += 1;
            self.vacancies -= 1;
            if let Err(error) = self.begin(number) {
                self.failed(number, error);
            }
        }
    }

    fn begin(&mut self, number: u32) -> Result<(), RunError> {
        let Orders { server, origins, settings, .. } = &mut self.orders;
        settings.local = origins.take(number, *server)?;
        let socket = sockets::begin_connect_tcp(*server, settings)?;
        let stream = socket.into_tcp_stream();
        self.poller.add(&stream, u64::from(number), Interest::BOTH)?;
        let making = Making { stream, is_connected: false, ack: [0; ACK_BYTES], came: 0 };
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
        let until = first.min(end);
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
        let seat = seat(&self.orders, number);
        match making.go_on(&self.orders, seat) {
            Ok(Progress::Waiting) => {
                let source = &making.stream;
                if making.is_connected {
                    // Failing to cut an interest down costs wake-ups and nothing else.
                    let _ = self.poller.change(source, u64::from(number), Interest::INPUT);
                }
            }
            Ok(Progress::Made) => self.made(number, seat),
            Err(error) => {
                self.making.remove(&number);
                self.failed(number, error);
            }
        }
    }

    fn made(&mut self, number: u32, seat: Seat) {
        let Some(Making { stream, .. }) = self.making.remove(&number) else { return };
        let _ = self.poller.remove(&stream);
        if let Err(source) = stream.set_nonblocking(false) {
            let what = "cannot set up a connection";
            return self.failed(number, RunError::System { what, source });
        }
        let socket = FlowSocket::Open(Arc::new(Socket::from(stream)));
        self.mailbox.post(Word::Attached { group: seat.group, flow: seat.flow, socket });
    }

    /// A connection was not made. One of the first ends the test before it begins; one that was to follow
    /// another is counted, and followed by the next.
    fn failed(&mut self, number: u32, error: RunError) {
        if number < self.orders.group.flows {
            self.is_stopped = true;
            self.making.clear();
            return self.mailbox.post(Word::AttachFailed(error));
        }
        let is_final = matches!(
            &error,
            RunError::Refused { why: AttachError::Refused(AttachCode::SERVED), .. }
        );
        self.is_stopped |= is_final && self.orders.is_endless;
        self.vacancies += 1;
        self.orders.origins.give_back(number);
        let flow = seat(&self.orders, number).flow;
        self.mailbox.post(Word::ConnectFailed { group: self.orders.group.id, flow, error });
    }

    fn expire(&mut self) {
        let now = clock::now();
        while let Some(&(deadline, number)) = self.deadlines.front() {
            if deadline > now {
                return;
            }
            self.deadlines.pop_front();
            if let Some(making) = self.making.remove(&number) {
                self.failed(number, making.late(&self.orders, seat(&self.orders, number)));
            }
        }
    }
}

impl Making {
    /// Does what can be done now.
    fn go_on(&mut self, orders: &Orders, seat: Seat) -> Result<Progress, RunError> {
        if !self.is_connected {
            if let Some(source) = self.stream.take_error().map_err(|error| broken(seat, &error))? {
                let address = orders.server;
                return Err(OsError::Connect { protocol: "TCP", address, source }.into());
            }
            // Empty send buffers have room for an opening.
            match self.stream.write(&Opening::Data(seat).encode()) {
                Ok(_) => self.is_connected = true,
                // Woken for nothing: it is not connected yet.
                Err(error) if error.kind() == ErrorKind::NotConnected => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(broken(seat, &error)),
            }
            return Ok(Progress::Waiting);
        }
        match self.stream.read(&mut self.ack[self.came..]) {
            Ok(0) => {
                let why = "the server closed the connection without an answer".to_owned();
                Err(RunError::Attach { flow: seat.flow.0, why })
            }
            Ok(count) if self.came + count < ACK_BYTES => {
                self.came += count;
                Ok(Progress::Waiting)
            }
            Ok(_) => match decode_ack(self.ack) {
                Ok(()) => Ok(Progress::Made),
                Err(why) => Err(RunError::Refused { flow: seat.flow.0, why }),
            },
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) =>
            {
                Ok(Progress::Waiting)
            }
            Err(error) => Err(broken(seat, &error)),
        }
    }

    fn late(&self, orders: &Orders, seat: Seat) -> RunError {
        if self.is_connected {
            let why = format!("no answer within {} s", ATTACH_WITHIN.as_secs());
            return RunError::Attach { flow: seat.flow.0, why };
        }
        OsError::ConnectTimeout { address: orders.server, waited: ATTACH_WITHIN }.into()
    }
}

fn seat(orders: &Orders, number: u32) -> Seat {
    let flow = FlowId(orders.group.first.0 + number);
    Seat { token: orders.token, group: orders.group.id, flow, lane: Lane::ONLY }
}

fn broken(seat: Seat, error: &std::io::Error) -> RunError {
    RunError::Attach { flow: seat.flow.0, why: error.to_string() }
}
