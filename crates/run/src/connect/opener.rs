//! The client's TCP connections in the making: one thread opens them all, so many at once, and those that
//! follow others as these end. Not their data, and not the control connection.

mod near;
mod pauses;
mod turns;

use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::sync::{Arc, Mutex};

use pathscope_core::Tick;
use pathscope_core::id::Role;
use pathscope_modes::groups::Test;
use pathscope_os::readiness::{Interest, Poller};
use pathscope_os::sockets::{Settings, Socket};
use pathscope_os::{Waker, clock};
use pathscope_peers::attach::{AttachError, AttachStream, Seat, SeatRefusal, StreamProgress};
use pathscope_peers::peer::KnownBy;

use crate::connect::ahead::Undecided;
use crate::connect::destinations::Destinations;
use crate::connect::handshake::Handshake;
use crate::connect::origins::Origins;
use crate::connect::{Orders, settings};
use crate::error::RunError;
use crate::messages::asking::{ATTACH_WITHIN, Asking};
use crate::messages::attendance::Arrival;
use crate::messages::handing::Handing;
use crate::messages::inbox::SessionMessage;
use crate::messages::replacements::{OpenerRemote, Told};
use crate::queue::Queue;
use crate::threads;
use crate::workers::placement;

/// Key of the waker; connections have their numbers.
const WORD: u64 = u64::MAX;

/// Starts the thread that opens the connections of a group of `test`, between these addresses; each arrives as word, or else
/// why not.
pub(crate) fn start(
    orders: Orders,
    destinations: Destinations,
    test: Test,
    origins: Origins,
) -> Result<OpenerRemote, RunError> {
    let waker = Waker::new()?;
    let poller = Arc::new(Poller::new()?);
    poller.add(&waker, WORD, Interest::INPUT)?;
    let mut own = None;
    let most = most_at_once(&orders, &test);
    let holders = orders.holders.clone();
    let handing = holders.map(|it| Handing::new(orders.group.id, it, orders.inbox.clone()));
    let opener = |told| Opener {
        vacancies: orders.group.flows,
        next: 0,
        most,
        orders,
        destinations,
        test,
        origins,
        poller,
        waker: waker.clone(),
        told,
        making: Queue::new(ATTACH_WITHIN),
        fresh: Vec::new(),
        handing,
        undecided: Undecided::default(),
        begin_until: Tick::NEVER,
        pause_until: Tick::ZERO,
        failures: 0,
        answers: None,
        is_stopped: false,
    };
    let remote = OpenerRemote::new(waker.clone(), |told| {
        let opener = Arc::new(Mutex::new(opener(told)));
        let near = Arc::downgrade(&opener);
        own = Some(opener);
        near
    });
    threads::spawn("opener", move || own.iter().for_each(|opener| turns::run(opener)))?;
    Ok(remote)
}

/// A connection that is damaged in the making is made again so often: on a path that damages one segment in a hundred, one
/// in some millions fails four times.
const AGAIN_MOST: u32 = 3;

/// So many connections are begun at the most before word is heard.
const TURN: usize = 64;

/// Connections in the making.
struct Opener {
    orders: Orders,
    /// Where connections go.
    destinations: Destinations,
    /// What says how each is set, how many are in the making at once, and until when they are begun.
    test: Test,
    /// Where connections come from.
    origins: Origins,
    poller: Arc<Poller>,
    waker: Waker,
    told: Receiver<Told>,
    /// Connections that there is room for.
    vacancies: u32,
    /// The number of the next, in its group.
    next: u32,
    /// So many may be in the making at once.
    most: u64,
    /// By their numbers.
    making: Queue<Handshake>,
    /// Those that have said what they are for in this turn, and for whose answers nobody has looked.
    fresh: Vec<(u32, Handshake)>,
    /// Those that are made, where others hold them.
    handing: Option<Handing>,
    /// Those that went ahead: their workers have them.
    undecided: Undecided,
    begin_until: Tick,
    /// After one that could not even be begun, nothing is begun until then.
    pause_until: Tick,
    /// Connections that were not made since the last that was.
    failures: u32,
    /// Where the first was made.
    answers: Option<SocketAddr>,
    is_stopped: bool,
}

impl Opener {
    fn numbers(&self) -> u32 {
        self.orders.group.numbers.max(self.orders.group.flows)
    }

    fn is_finished(&self) -> bool {
        self.making.len() == 0
            && self.undecided.is_none()
            && (self.next >= self.numbers() || self.begins_no_more())
    }

    fn begins_no_more(&self) -> bool {
        self.is_stopped || clock::now() >= self.begin_until
    }

    /// Whether there is room for another, and it is time for it.
    fn may_begin(&self) -> bool {
        self.vacancies > 0
            && self.next < self.numbers()
            && ((self.making.len() + self.fresh.len()) as u64) < self.most
            && !self.begins_no_more()
            && clock::now() >= self.pause_until
    }

    /// Begins as many connections as there is room for, not too many in one turn.
    fn begin_all(&mut self) {
        // What comes of one at once is not waited for, and word is to be heard in between.
        for _ in 0..TURN {
            if !self.may_begin() {
                break;
            }
            let number = self.next;
            self.next += 1;
            self.vacancies -= 1;
            let begun = clock::now();
            if let Err(error) = self.begin(number, 0) {
                self.failed(number, begun, error);
                // What failed at once fails again at once: in between, word is heard.
                self.pause_until = clock::now().plus_nanos(pauses::SHORTEST_NS);
            }
        }
        self.look_after_fresh();
        self.hand_over();
    }

    fn begin(&mut self, number: u32, times_damaged: u32) -> Result<(), RunError> {
        let seat = self.orders.seat(number);
        let server = self.destinations.of(number);
        let local = self.origins.take(number, server)?;
        let settings = Settings { local, ..settings::settings_at(seat, Role::Client, &self.test) };
        let may_differ = self.origins.may_differ();
        // Those that there are from the beginning have nothing to say but what they are for.
        let is_fast = number >= self.orders.group.flows && self.test.plan.asks().fast_open;
        let begin = |settings: &Settings| {
            let asks = (seat.flow, self.orders.attach_stream(seat));
            Handshake::begin(Asking::new(asks, server, times_damaged), settings, is_fast)
        };
        let making = match begin(&settings) {
            Err(_) if may_differ => {
                let elsewhere = local.map(|local| SocketAddr::new(local.ip(), 0));
                begin(&Settings { local: elsewhere, ..settings })
            }
            made => made,
        }?;
        let Some(mut making) = self.send_ahead(number, making) else { return Ok(()) };
        // Where the other end is this machine, it is connected by now.
        match making.go_on() {
            Ok(StreamProgress::Waiting) if making.is_connected() => {
                self.fresh.push((number, making));
                Ok(())
            }
            Ok(StreamProgress::Waiting) => self.await_more(number, making),
            progress => {
                self.settle(number, making, progress);
                Ok(())
            }
        }
    }

    /// Takes all word. Whether there is anybody left who could tell more.
    fn hear(&mut self) -> bool {
        loop {
            match self.told.try_recv() {
                Ok(told) => self.take(told),
                Err(TryRecvError::Empty) => return true,
                // Without anybody who could tell more nothing follows what is in the making, and the first, which may be made at once.
                Err(TryRecvError::Disconnected) => {
                    return self.making.len() > 0 || self.next < self.orders.group.flows;
                }
            }
        }
    }

    fn take(&mut self, told: Told) {
        match told {
            Told::Vacancy(flow) => {
                self.failures = 0;
                self.origins.give_back(flow.0 - self.orders.group.first.0);
                self.vacancies += 1;
            }
            Told::Started(at) => {
                let limit = self.test.duration_ns();
                self.begin_until = limit.map_or(Tick::NEVER, |limit| at + limit.duration());
            }
            Told::NotMade(not_made) => self.not_made(*not_made),
            Told::Stop => self.is_stopped = true,
        }
    }

    fn go_on(&mut self, number: u32) {
        let Some(making) = self.making.get_mut(number.into()) else { return };
        let progress = making.go_on();
        if matches!(progress, Ok(StreamProgress::Waiting)) {
            if making.is_connected() {
                // Failing to cut an interest down costs wake-ups and nothing else.
                let _ = self.poller.change(&making.stream, number.into(), Interest::INPUT);
            }
            return;
        }
        if let Some(making) = self.making.leave(number.into()) {
            let _ = self.poller.remove(&making.stream);
            self.settle(number, making, progress);
        }
    }

    /// A connection is made, or is not.
    fn settle(
        &mut self,
        number: u32,
        making: Handshake,
        progress: Result<StreamProgress, RunError>,
    ) {
        let begun = making.asking.begun;
        let result = match progress {
            Ok(StreamProgress::Damaged) => {
                let Handshake { stream, asking } = making;
                // Closed before its port is another's.
                drop(stream);
                self.make_again(number, &asking)
            }
            Ok(_) => {
                self.failures = 0;
                self.made(number, making)
            }
            Err(error) => Err(error),
        };
        if let Err(error) = result {
            self.failed(number, begun, error);
        }
    }

    /// A connection whose opening or answer was damaged is made once more, within the time of the first.
    fn make_again(&mut self, number: u32, asking: &Asking) -> Result<(), RunError> {
        let times_damaged = asking.times_damaged + 1;
        if times_damaged > AGAIN_MOST {
            return Err(asking.damaged());
        }
        self.origins.give_back(number);
        self.begin(number, times_damaged)
    }

    fn made(&mut self, number: u32, making: Handshake) -> Result<(), RunError> {
        let Handshake { stream, asking } = making;
        let (begun, connect_ns) = (Some(asking.begun), asking.connect_ns());
        let called = asking.attaching.called();
        self.answers = self.answers.or(Some(asking.server));
        stream.set_nonblocking(false).map_err(RunError::system("cannot set up a connection"))?;
        let socket = Socket::from(stream);
        let opened_fast = asking.opened_fast(&socket);
        let arrival = Arrival { begun, connect_ns, opened_fast, called, ..Arrival::default() };
        let flow = self.orders.seat(number).flow;
        match &mut self.handing {
            Some(handing) => {
                let ends = [socket.local_addr().ok(), Some(asking.server)];
                handing.add(flow, socket, ends, arrival);
            }
            None => self.orders.attached(flow, socket, arrival),
        }
        Ok(())
    }

    /// A connection was not made. One of the first ends the test before it begins; one that was to follow
    /// another is counted, and followed by the next.
    fn failed(&mut self, number: u32, begun: Tick, error: RunError) {
        let (address, session) = (self.destinations.of(number), self.orders.server);
        let refused = match &error {
            RunError::Refused { why: AttachError::Refused(why), .. } => Some(*why),
            _ => None,
        };
        // A token that is known where the session is, and not at another address, tells of another server there.
        let is_foreign = refused == Some(SeatRefusal::UnknownSession) && address != session;
        if number < self.orders.group.flows || is_foreign {
            self.is_stopped = true;
            self.making.clear();
            self.fresh.clear();
            let foreign = || {
                RunError::Peer(format!(
                    "{address} leads to another server than {session}, where the session is: the targets of a run are \
                     addresses of one server; leave it out, or measure it in a run of its own"
                ))
            };
            let explained = |error| self.orders.explained(error, address, self.answers);
            let error = if is_foreign { foreign() } else { explained(error) };
            return self.orders.inbox.post(SessionMessage::AttachFailed(error));
        }
        let is_final = refused == Some(SeatRefusal::Served);
        // There would be no end otherwise.
        self.is_stopped |= is_final && self.test.plan.is_endless();
        self.failures = self.failures.saturating_add(1);
        if self.test.plan.is_endless() {
            let pause_ns = pauses::after_ns(self.failures);
            self.pause_until = self.pause_until.max(clock::now().plus_nanos(pause_ns));
        }
        self.vacancies += 1;
        self.origins.give_back(number);
        let Seat { group, flow, .. } = self.orders.seat(number);
        let tried = [begun, clock::now()];
        self.orders.inbox.post(SessionMessage::ConnectFailed {
            group,
            flow,
            address,
            error,
            tried,
        });
    }

    fn expire(&mut self) {
        let now = clock::now();
        while let Some((number, making)) = self.making.leave_late(now) {
            let (number, asking) = (number as u32, making.asking);
            // Those that a test begins with come together.
            let first = self.orders.group.flows;
            let at_once = if number < first { self.most.min(first.into()) } else { 0 };
            self.failed(number, asking.begun, asking.late_of(at_once));
        }
    }
}

/// How many connections may be in the making at once.
fn most_at_once(orders: &Orders, test: &Test) -> u64 {
    let most = match orders.peer.known_by() {
        KnownBy::Seat | KnownBy::Nothing => u64::from(test.plan.connect_limit()),
        KnownBy::Arrival => 1,
    };
    orders.holders.as_ref().map_or(most, |_| most.min(placement::made_at_once()))
}
