//! Where flows come in that follow others. Whoever makes or accepts a connection hands it to a worker here, without the session's
//! thread in between, unless that has to tell what it is called; where somebody writes each down, that thread reads of it afterwards.
//! Not here: who may come, and how many at a time.

#[cfg(test)]
#[cfg(not(pathscope_other))]
mod tests;

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Weak};

use pathscope_core::id::FlowId;
use pathscope_core::stats::LatencyHistogram;
use pathscope_engines::{Command, Preface, Remote};
use pathscope_flow::Event;
use pathscope_os::clock;
use pathscope_os::sockets::Socket;

use crate::messages::asking::Asking;
use crate::messages::attendance::Arrival;
use crate::messages::outcome::addresses;
use crate::messages::replacements::OpenerRemote;
use crate::records::ledger::Ledger;
use crate::threads::lock;

/// Flows to come of which the other end may have said that they failed there; of more that is not remembered.
const FAILED_AHEAD: usize = 1_024;

/// Makes a flow on this socket, and hands it over. A dynamic call: it is made once a connection.
pub(crate) type TakeIn = Box<dyn Fn(FlowId, Socket, Option<Box<dyn Preface>>) + Send>;

/// That of one worker.
pub(crate) struct Entrance {
    pub take_in: TakeIn,
    /// Whether with something to say and to hear first.
    pub speaks_prefaces: bool,
    /// Whether flows were left there since it was woken.
    pub has_left: bool,
    /// Flows that came and have not gone.
    pub present: Arc<AtomicU32>,
    /// How the worker is told.
    pub remote: Remote,
}

impl Entrance {
    fn present(&self) -> u32 {
        self.present.load(Ordering::Relaxed)
    }
}

/// Those of a group. They are its session's: when that is gone, nobody gets in. Each call locks, once a connection.
pub(crate) struct Entrances(Arc<Mutex<Hall>>);

/// The way to them for who makes or accepts connections. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct WayIn(Weak<Mutex<Hall>>);

/// How far a connection is that comes in, with what is to be said and heard on it first.
enum Comes {
    /// It is its flow's, and the session's thread has heard of it.
    Told,
    /// It is its flow's, and who writes each down is still to hear of it.
    Untold(Option<Box<dyn Preface>>),
    /// It is not its flow's before it is answered.
    Unanswered(Box<dyn Preface>),
}

struct Hall {
    /// Where flows are written down.
    ledger: Ledger,
    /// Whether this end sends on them, and what it sends is looked at.
    watches: bool,
    open: Vec<Entrance>,
    /// Whether they come past the session's thread, as they do once all workers have started.
    is_direct: bool,
    /// Whether it reads of each afterwards.
    tells_newcomers: bool,
    /// At the client: who opens them.
    opener: Option<OpenerRemote>,
    /// How long connections took to be made, of those that did.
    connects: Option<Box<LatencyHistogram>>,
    ahead: Ahead,
}

/// What flows that are still to come have to be told: word of them may come before their connections.
#[derive(Default)]
struct Ahead {
    /// Of those that the other end stopped before their time.
    totals: HashMap<FlowId, u64>,
    /// Those that failed at the other end before their time.
    failed_there: HashSet<FlowId>,
    /// The last that came.
    newest: Option<FlowId>,
    is_stopped: bool,
}

impl Entrances {
    /// None yet. Flows are written down in `ledger`; `watches`: this end sends on them.
    pub fn new(ledger: Ledger, watches: bool) -> Self {
        let hall = Hall {
            ledger,
            watches,
            open: Vec::new(),
            is_direct: false,
            tells_newcomers: false,
            opener: None,
            connects: None,
            ahead: Ahead::default(),
        };
        Self(Arc::new(Mutex::new(hall)))
    }

    /// The way to them.
    pub fn way_in(&self) -> WayIn {
        WayIn(Arc::downgrade(&self.0))
    }

    /// A worker has started.
    pub fn add(&self, entrance: Entrance) {
        lock(&self.0).open.push(entrance);
    }

    /// All workers have: flows come past the session's thread from now on, which reads of each afterwards if it `tells_newcomers`. At the
    /// client `opener` makes them.
    pub fn open(&self, tells_newcomers: bool, opener: Option<&OpenerRemote>) {
        let mut hall = lock(&self.0);
        (hall.is_direct, hall.tells_newcomers) = (true, tells_newcomers);
        hall.opener = opener.cloned();
    }

    /// No flow comes in any more.
    pub fn close(&self) {
        let mut hall = lock(&self.0);
        let (open, opener) = (std::mem::take(&mut hall.open), hall.opener.take());
        drop(hall);
        drop(opener);
        for Entrance { take_in, remote, .. } in open {
            drop(take_in);
            remote.send(Command::Admit);
        }
    }

    /// How many flows are there.
    pub fn present(&self) -> u32 {
        lock(&self.0).open.iter().map(Entrance::present).sum()
    }

    /// Takes a flow in. One that comes when no flow does any more is closed.
    pub fn admit(&self, flow: FlowId, socket: Socket, arrival: Arrival) {
        let ends = addresses(&socket);
        lock(&self.0).admit((flow, ends), socket, arrival, Comes::Told);
    }

    /// Remembers what flows that are still to come have to be told. Who tells those that are there does so afterwards: one that comes
    /// meanwhile may hear it twice.
    pub fn note(&self, flow: Option<FlowId>, event: Event) {
        lock(&self.0).ahead.note(flow, event);
    }

    /// How long connections took to be made that came past the session's thread; once.
    pub fn take_connects(&self) -> Option<Box<LatencyHistogram>> {
        lock(&self.0).connects.take()
    }
}

impl WayIn {
    /// Takes a flow in. It is given back where the session's thread has to hear of it, and take it in.
    pub fn admit(
        &self,
        flow: FlowId,
        socket: Socket,
        arrival: Arrival,
    ) -> Result<(), (Socket, Arrival)> {
        let Some(hall) = self.0.upgrade() else { return Err((socket, arrival)) };
        let mut hall = lock(&hall);
        // What the other end calls it is told.
        if !hall.is_open() || arrival.called.is_some() {
            return Err((socket, arrival));
        }
        if let Some(took_ns) = arrival.connect_ns {
            hall.connects.get_or_insert_default().record(took_ns);
        }
        let ends = addresses(&socket);
        hall.admit((flow, ends), socket, arrival, Comes::Untold(None));
        Ok(())
    }

    /// At the server: takes a flow in whose connection is still to be told that it has its seat; or gives it back. Its worker has to
    /// be woken afterwards: many come at once, and one that wakes for the first would find no other.
    pub fn admit_untold(
        &self,
        (flow, remote): (FlowId, SocketAddr),
        socket: Socket,
        arrival: Arrival,
        preface: impl FnOnce() -> Box<dyn Preface>,
    ) -> Result<(), (Socket, Arrival)> {
        let Some(hall) = self.0.upgrade() else { return Err((socket, arrival)) };
        let mut hall = lock(&hall);
        if !hall.is_open() || !hall.speaks_prefaces() {
            return Err((socket, arrival));
        }
        // This end's is asked for where it is told: a call less for each of very many.
        let ends = [None, Some(remote)];
        let comes = Comes::Untold(Some(preface()));
        if let Some(entrance) = hall.place((flow, ends), socket, arrival, comes) {
            entrance.has_left = true;
        }
        Ok(())
    }

    /// Wakes the workers for which flows were left that are still to be told.
    pub fn wake(&self) {
        let Some(hall) = self.0.upgrade() else { return };
        let mut hall = lock(&hall);
        for Entrance { remote, .. } in hall.open.iter_mut().filter(|it| it.has_left) {
            remote.wake();
        }
        hall.open.iter_mut().for_each(|entrance| entrance.has_left = false);
    }

    /// Whether it leads to the same.
    pub fn is(&self, other: &Self) -> bool {
        self.0.ptr_eq(&other.0)
    }

    /// At the client: takes a flow in whose connection is in the making, which the worker carries through with what comes of
    /// `asking` and the way to the opener; or gives it back.
    pub fn admit_ahead<A, P: Preface + 'static>(
        &self,
        ends: (FlowId, [Option<SocketAddr>; 2]),
        socket: Socket,
        arrival: Arrival,
        (asking, preface): (A, impl FnOnce(A, OpenerRemote) -> P),
    ) -> Result<(), (Socket, A)> {
        let Some(hall) = self.0.upgrade() else { return Err((socket, asking)) };
        let mut hall = lock(&hall);
        let opener = hall.opener.clone().filter(|_| hall.is_open() && hall.speaks_prefaces());
        let Some(opener) = opener else { return Err((socket, asking)) };
        let preface = Box::new(preface(asking, opener));
        hall.admit(ends, socket, arrival, Comes::Unanswered(preface));
        Ok(())
    }

    /// A connection that was in the making when it was handed over is its flow's: what is known of it now.
    pub fn answered(&self, asking: &Asking, socket: &Socket) {
        let Some(hall) = self.0.upgrade() else { return };
        let (connect_ns, opened_fast) = (asking.connect_ns(), asking.opened_fast(socket));
        let mut hall = lock(&hall);
        if let Some(took_ns) = connect_ns {
            hall.connects.get_or_insert_default().record(took_ns);
        }
        let ends = || whole([None, Some(asking.server)], socket);
        let since = asking.connected.unwrap_or(asking.begun);
        let came = hall.tells_newcomers.then_some((ends, since));
        hall.ledger.answered(asking.flow, opened_fast, came);
    }
}

impl Hall {
    /// Whether flows come past the session's thread now.
    fn is_open(&self) -> bool {
        self.is_direct && !self.open.is_empty()
    }

    fn speaks_prefaces(&self) -> bool {
        self.open.iter().all(|entrance| entrance.speaks_prefaces)
    }

    /// At the worker that has the fewest.
    fn admit(
        &mut self,
        (flow, ends): (FlowId, [Option<SocketAddr>; 2]),
        socket: Socket,
        arrival: Arrival,
        comes: Comes,
    ) {
        if let Some(entrance) = self.place((flow, ends), socket, arrival, comes) {
            entrance.remote.wake();
        }
    }

    /// The same, without waking it.
    fn place(
        &mut self,
        (flow, ends): (FlowId, [Option<SocketAddr>; 2]),
        socket: Socket,
        arrival: Arrival,
        comes: Comes,
    ) -> Option<&mut Entrance> {
        let entrance = self.open.iter_mut().min_by_key(|entrance| entrance.present())?;
        let is_newcomer = self.tells_newcomers && matches!(comes, Comes::Untold(_));
        let came = is_newcomer.then(|| (|| whole(ends, &socket), clock::now()));
        self.ledger.begin_next((flow, ends), arrival, self.watches, came);
        let preface = match comes {
            Comes::Told => None,
            Comes::Unanswered(preface) => Some(preface),
            Comes::Untold(preface) => preface,
        };
        entrance.present.fetch_add(1, Ordering::Relaxed);
        (entrance.take_in)(flow, socket, preface);
        entrance.remote.leave(Command::Admit);
        for event in self.ahead.came(flow) {
            entrance.remote.leave(Command::Tell { flow: Some(flow), event });
        }
        Some(entrance)
    }
}

/// Both ends' addresses: its own is asked for where it is not known.
fn whole([local, remote]: [Option<SocketAddr>; 2], socket: &Socket) -> [Option<SocketAddr>; 2] {
    [local.or_else(|| socket.local_addr().ok()), remote]
}

impl Ahead {
    fn note(&mut self, flow: Option<FlowId>, event: Event) {
        match (flow, event) {
            (Some(flow), Event::PeerTotal(total)) => drop(self.totals.insert(flow, total)),
            (Some(flow), Event::PeerFailed) => {
                let is_to_come = self.newest.is_none_or(|newest| flow > newest);
                if is_to_come && self.failed_there.len() < FAILED_AHEAD {
                    self.failed_there.insert(flow);
                }
            }
            (None, Event::Stop) => self.is_stopped = true,
            _ => {}
        }
    }

    /// One has come: what was said to all of them, or of this one, before it was here.
    fn came(&mut self, flow: FlowId) -> impl Iterator<Item = Event> + use<> {
        self.newest = self.newest.max(Some(flow));
        let stop = self.is_stopped.then_some(Event::Stop);
        let total = self.totals.get(&flow).map(|&total| Event::PeerTotal(total));
        let failed = self.failed_there.remove(&flow).then_some(Event::PeerFailed);
        [stop, total, failed].into_iter().flatten()
    }
}
