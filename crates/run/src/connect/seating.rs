//! The client's flows of datagrams in the making: one thread asks for the seats of all of them, so many at once, and each arrives as word.
//! The exchange itself is `peers`', and that of a lane that comes while others run is `datagrams`'.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::net::{SocketAddr, UdpSocket};

use pathscope_core::Tick;
use pathscope_os::readiness::{Interest, Poller, Ready};
use pathscope_os::sockets::{self, Settings, Socket};
use pathscope_os::{OsError, clock, random};
use pathscope_peers::attach::{AttachDatagrams, AttachError, Seat};
use pathscope_peers::peer::KnownBy;
use pathscope_peers::registry::DatagramAttaching;

use crate::connect::Orders;
use crate::connect::datagrams::NO_ANSWER;
use crate::error::RunError;
use crate::messages::attendance::Arrival;
use crate::messages::inbox::SessionMessage;
use crate::threads;
use crate::workers::placement;

/// So many ask at once: as many datagrams as a server's socket has room for that is as systems come (212,992 bytes, of which each of these
/// is charged some 770).
const AT_ONCE: u64 = 256;

/// So many begin at the most before answers are heard.
const TURN: usize = 32;

/// What the exchange says is no longer than this.
const ANSWER_BYTES: usize = 256;

/// The number of a flow in its group, where it goes, and from which address, or where the system says.
pub(super) type Ends = (u32, SocketAddr, Option<SocketAddr>);

/// Starts the thread that opens these flows with these settings, up to the first that fails. `spare`: ports for those whose own is
/// somebody else's.
pub(super) fn start(
    orders: Orders,
    (settings, spare): (Settings, Vec<u16>),
    flows: Vec<Ends>,
) -> Result<(), RunError> {
    let at_once = match orders.peer.known_by() {
        // Where nothing but their order says which is which, each comes when the one before has its place.
        KnownBy::Arrival => 1,
        _ if orders.holders.is_some() => AT_ONCE.min(placement::made_at_once()),
        _ => AT_ONCE,
    };
    let poller = Poller::new()?;
    let seating = Seating {
        orders,
        settings,
        spare,
        at_once: at_once as usize,
        poller,
        asking: HashMap::new(),
        deadlines: BTreeSet::new(),
    };
    threads::spawn("opener", move || seating.run(flows)).map(drop)
}

/// All that ask.
struct Seating {
    orders: Orders,
    settings: Settings,
    spare: Vec<u16>,
    at_once: usize,
    poller: Poller,
    /// By their numbers.
    asking: HashMap<u32, Asking>,
    /// When each says something again.
    deadlines: BTreeSet<(Tick, u32)>,
}

/// One that asks.
struct Asking {
    socket: UdpSocket,
    seat: Seat,
    attaching: DatagramAttaching,
    deadline: Tick,
}

impl Seating {
    fn run(mut self, flows: Vec<Ends>) {
        let mut flows = flows.into_iter();
        let mut ready = Vec::new();
        // A session that is gone wants no sockets.
        while self.orders.inbox.is_read() {
            match self.turn(&mut flows, &mut ready) {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => return self.orders.inbox.post(SessionMessage::AttachFailed(error)),
            }
        }
    }

    /// Begins those that there is room for, and goes on with those that are answered or late. Whether any is left.
    fn turn(
        &mut self,
        flows: &mut impl ExactSizeIterator<Item = Ends>,
        ready: &mut Vec<Ready>,
    ) -> Result<bool, RunError> {
        for _ in 0..TURN.min(self.at_once.saturating_sub(self.asking.len())) {
            let Some(ends) = flows.next() else { break };
            self.begin(ends)?;
        }
        if self.asking.is_empty() {
            return Ok(flows.len() > 0);
        }
        let may_begin = self.asking.len() < self.at_once && flows.len() > 0;
        let next = self.deadlines.first().map_or(Tick::NEVER, |&(due, _)| due);
        let now = clock::now();
        let until = if may_begin { now } else { next };
        self.poller.wait(ready, Some(until.since(now)))?;
        for &Ready { key, .. } in ready.iter() {
            self.hear(key as u32)?;
        }
        let now = clock::now();
        while let Some(&(due, number)) = self.deadlines.first()
            && due <= now
        {
            self.go_on(number)?;
        }
        Ok(true)
    }

    fn begin(&mut self, (number, server, local): Ends) -> Result<(), RunError> {
        let seat = self.orders.seat(number);
        let settings = Settings { local, ..self.settings.clone() };
        let socket = open(server, settings, &mut self.spare)?.into_udp_socket();
        socket.set_nonblocking(true).map_err(RunError::system("cannot set up a socket"))?;
        let (nonce, now) = (u64::from_ne_bytes(random::bytes()?), clock::now());
        let session = self.orders.credentials.session;
        let attaching = self.orders.peer.attach_datagrams(seat, session, nonce, now);
        let refused = |why| RunError::Refused { flow: seat.flow.0, why };
        let attaching = attaching.ok_or_else(|| refused(AttachError::NoDatagrams))?;
        self.poller.add(&socket, number.into(), Interest::INPUT)?;
        let asking = Asking { socket, seat, attaching, deadline: now };
        self.deadlines.insert((now, number));
        self.asking.insert(number, asking);
        self.go_on(number)
    }

    /// Takes what came.
    fn hear(&mut self, number: u32) -> Result<(), RunError> {
        let Some(Asking { socket, attaching, .. }) = self.asking.get_mut(&number) else {
            return Ok(());
        };
        let mut buffer = [0; ANSWER_BYTES];
        loop {
            match socket.recv(&mut buffer) {
                Ok(count) => attaching.received(&buffer[..count], clock::now()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // Nobody listens there yet, or a router says so: as good as no answer.
                Err(error) if NO_ANSWER.contains(&error.kind()) => {}
                Err(error) => {
                    return Err(RunError::system("cannot wait for a datagram")(error));
                }
            }
            // What it awaits has come; what comes behind that is its flow's.
            if attaching.outcome().is_some() {
                break;
            }
        }
        self.go_on(number)
    }

    /// Says what is due, and lets one go that has its seat.
    fn go_on(&mut self, number: u32) -> Result<(), RunError> {
        let Some(asking) = self.asking.get_mut(&number) else { return Ok(()) };
        if let Some(datagram) = asking.attaching.datagram(clock::now()) {
            // A refusal of an earlier datagram may come up here; the exchange says when to give up.
            let _ = asking.socket.send(&datagram);
        }
        let deadline = asking.attaching.deadline();
        self.deadlines.remove(&(asking.deadline, number));
        if let Some(deadline) = deadline {
            asking.deadline = deadline;
            self.deadlines.insert((deadline, number));
            return Ok(());
        }
        let Some(Asking { socket, seat, attaching, .. }) = self.asking.remove(&number) else {
            return Ok(());
        };
        if let Some(Err(why)) = attaching.outcome() {
            return Err(RunError::Refused { flow: seat.flow.0, why: why.clone() });
        }
        self.poller.remove(&socket)?;
        socket.set_nonblocking(false).map_err(RunError::system("cannot set up a socket"))?;
        self.orders.attached(seat.flow, socket.into(), Arrival::default());
        Ok(())
    }
}

/// Opens one. Where its port is somebody else's, as that of the same test with another server, it has one that is left.
fn open(
    server: SocketAddr,
    mut settings: Settings,
    spare: &mut Vec<u16>,
) -> Result<Socket, RunError> {
    loop {
        let error = match sockets::connect_udp(server, &settings) {
            Ok(socket) => return Ok(socket),
            Err(error) => error,
        };
        let is_taken = matches!(&error, OsError::Bind { source, .. } if source.kind() == io::ErrorKind::AddrInUse);
        let port = if is_taken { spare.pop() } else { None };
        let (Some(port), Some(local)) = (port, &mut settings.local) else {
            return Err(error.into());
        };
        local.set_port(port);
    }
}
