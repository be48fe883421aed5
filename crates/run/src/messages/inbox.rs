//! Messages for a session's thread from the threads that work for it: an inbox that also wakes.

use std::any::Any;
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane};
use pathscope_core::journal::KernelView;
use pathscope_core::record::{FlowError, FlowFacts, SocketFacts};
use pathscope_flow::{GroupId, Phase, Totals};
use pathscope_modes::paths::Transition;
use pathscope_modes::registry::{EndInterval, Tally};
use pathscope_os::sockets::{Settings, Socket};
use pathscope_os::wake::Waker;

use crate::error::RunError;
use crate::holders::Holders;
use crate::messages::attendance::Arrival;
use crate::messages::outcome::{FlowProgress, LastSeen, WorkerOutcome, addresses};
use crate::messages::pages::Pages;
use crate::promised::Promised;
use crate::readying::Room;
use crate::threads::lock;

/// What a session's thread is told.
#[derive(Debug)]
pub(crate) enum SessionMessage {
    /// A flow has its socket, or will have it when the test starts.
    Attached { group: GroupId, flow: FlowId, socket: FlowSocket, arrival: Arrival },
    /// The same of several, which others hold.
    AttachedTogether { group: GroupId, all: Vec<(FlowId, HeldSocket, Arrival)> },
    /// Server: the sockets of flows are open whose holders were to open them.
    Opened,
    /// A flow will not get its socket, and so the test cannot go on.
    AttachFailed(RunError),
    /// Server: a connection has come that is the session's by being of its client; what it is told when it has its place.
    Joined { stream: TcpStream, answer: Vec<u8> },
    /// Server: one more client takes part, which is heard on this connection; its place at the server, given back with it.
    Participates { stream: TcpStream, place: Box<dyn Any + Send> },
    /// Server: a datagram flow has called from there, that is the session's by where it comes from.
    Called(Promised),
    /// Server: a flow of datagrams begins by itself, that is the session's by where it comes from.
    Begins(Beginning),
    /// Server: the flows of the test that was asked for may come now: they are known by where they come from, and those of
    /// another test of the same address were awaited.
    MayAttach,
    /// A lane of a flow that roams has its socket, or has lost it.
    Lane { group: GroupId, flow: FlowId, lane: Lane, socket: Option<FlowSocket> },
    /// Client: all lanes of such a flow have come that need be waited for.
    LanesReady { group: GroupId, flow: FlowId },
    /// A flow that was to follow another will not get its socket. `tried`: from when, before the SYN, until when.
    ConnectFailed {
        group: GroupId,
        flow: FlowId,
        address: SocketAddr,
        error: RunError,
        tried: [Tick; 2],
    },
    /// Something happened to a path.
    PathChanged { change: Box<Transition>, at: Tick },
    /// No flow of this group will come any more.
    NoMoreFlows { group: GroupId },
    /// A flow changed its phase.
    Phase {
        group: GroupId,
        flow: FlowId,
        phase: Phase,
        totals: Totals,
        at: Tick,
        error: Option<Box<FlowError>>,
        /// What the kernel said of its connection then, where somebody wants to hear it.
        tcp: Option<Box<LastSeen>>,
    },
    /// A flow of those that are replaced has ended, and came to this. Told where somebody wants to hear it.
    Departed { group: GroupId, facts: Box<FlowFacts>, at: Tick },
    /// What went through each flow of a worker until an interval passed.
    Progress { start: Tick, end: Tick, flows: Vec<FlowProgress> },
    /// A worker's report of one interval.
    Interval {
        group: GroupId,
        worker: usize,
        index: u64,
        start: Tick,
        end: Tick,
        tally: Tally,
        /// How the kernel saw the first of its connections that are open then, where somebody wants to hear it.
        views: Box<[(FlowId, KernelView)]>,
    },
    /// Client: latency probes at another server were so in an interval of theirs.
    Probed(Box<EndInterval>),
    /// A worker has ended.
    WorkerOver { group: GroupId, worker: usize, outcome: Box<Result<WorkerOutcome, RunError>> },
    /// Client: the control connection that takes the place of one that was lost.
    Reconnected(TcpStream),
    /// Client: nobody listens where the server was.
    Unreached,
    /// Server: a connection that is to take the place of this session's, and what its client says of itself.
    Returned { stream: TcpStream, attempt: u32, received: u64 },
    /// Client: all that its test starts with are ready.
    MayStart,
    /// The user, a signal or the server's own end ends the run.
    Stop(&'static str),
}

/// What comes of a flow of datagrams that begins by itself.
#[derive(Debug)]
pub(crate) enum Beginning {
    /// Its first, of so many bytes: it has a socket from now on.
    First { socket: Socket, bytes: u64 },
    /// So many more, before that was there, of the one that was so many-th to begin.
    More { place: u32, datagrams: u64, bytes: u64 },
}

/// The socket of a flow.
#[derive(Debug)]
pub(crate) enum FlowSocket {
    /// It is open.
    Open(Socket),
    /// A server's datagram socket, opened when the test starts.
    Promised(Promised),
    /// It is open in a table of descriptors of its worker's.
    Held(HeldSocket),
}

/// What is known of a socket that is open elsewhere.
#[derive(Debug)]
pub(crate) struct HeldSocket {
    /// Its own address and the other end's.
    pub addresses: [Option<SocketAddr>; 2],
    /// Of the first of a group. Apart, since those that have none are very many.
    pub first: Option<Box<HeldFirst>>,
}

/// What is known of the first of a group beside that.
#[derive(Debug)]
pub(crate) struct HeldFirst {
    /// How it is set.
    pub facts: SocketFacts,
    /// What it has for datagrams that wait, where that is told.
    pub room: Option<Room>,
}

impl FlowSocket {
    /// The socket of a flow, which is open here, or is handed to whoever holds those of its group.
    pub fn of(flow: FlowId, socket: Socket, holders: Option<&Holders>) -> Result<Self, RunError> {
        let Some(holders) = holders else { return Ok(Self::Open(socket)) };
        let facts = (flow == holders.first()).then(|| socket.facts());
        let addresses = addresses(&socket);
        let room = holders.give(vec![(flow.0, socket)])?;
        let first = facts.map(|facts| Box::new(HeldFirst { facts, room }));
        Ok(Self::Held(HeldSocket { addresses, first }))
    }

    /// Its own address and the other end's, once it is open.
    pub fn addresses(&self) -> Option<[Option<SocketAddr>; 2]> {
        match self {
            Self::Open(socket) => Some(addresses(socket)),
            Self::Held(held) => Some(held.addresses),
            Self::Promised(_) => None,
        }
    }

    /// The socket, opened and set where it was promised; none where another thread has it.
    pub fn open(self, settings: &Settings) -> Result<Option<Socket>, RunError> {
        match self {
            Self::Open(socket) => Ok(Some(socket)),
            Self::Held(_) => Ok(None),
            Self::Promised(promised) => Ok(Some(promised.open(settings)?)),
        }
    }
}

/// Where word is left. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Inbox {
    pile: Arc<Pile>,
    /// What wakes the reader.
    pub waker: Waker,
}

/// Leaves word that sockets are open, once it is let go by all who open some.
#[derive(Debug)]
pub(crate) struct TellsOpened(pub Inbox);

impl Drop for TellsOpened {
    fn drop(&mut self) {
        self.0.post(SessionMessage::Opened);
    }
}

/// The end that reads.
#[derive(Debug)]
pub(crate) struct InboxReader(Arc<Pile>);

/// What was left and not taken. Not a channel: those of the standard library have room for 31 messages each as long as they are there, 5 KB that
/// a server would have for each of its sessions.
#[derive(Debug, Default)]
struct Pile {
    words: Mutex<Words>,
    more: Condvar,
}

#[derive(Debug, Default)]
struct Words {
    left: Pages<SessionMessage>,
    /// Nobody reads any more.
    is_closed: bool,
}

impl Inbox {
    /// An inbox, and the end that reads it when `waker` wakes.
    pub fn new(waker: Waker) -> (Self, InboxReader) {
        let pile = Arc::new(Pile::default());
        (Self { pile: Arc::clone(&pile), waker }, InboxReader(pile))
    }

    /// Whether somebody still reads.
    pub fn is_read(&self) -> bool {
        !lock(&self.pile.words).is_closed
    }

    /// Whether both are of one reader.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.pile, &other.pile)
    }

    /// Leaves word. A session that is gone needs none.
    pub fn post(&self, word: SessionMessage) {
        drop(self.hand(word));
    }

    /// The same of what must not be lost: it comes back where nobody reads any more.
    pub fn hand(&self, word: SessionMessage) -> Option<SessionMessage> {
        let mut words = lock(&self.pile.words);
        if words.is_closed {
            return Some(word);
        }
        words.left.push(word);
        drop(words);
        self.pile.more.notify_one();
        self.waker.wake();
        None
    }
}

impl InboxReader {
    /// The next word, if there is one.
    pub fn take(&self) -> Option<SessionMessage> {
        lock(&self.0.words).left.pop()
    }

    /// The next word, if one comes in time.
    pub fn take_within(&self, time: Duration) -> Option<SessionMessage> {
        let words = lock(&self.0.words);
        let more = self.0.more.wait_timeout_while(words, time, |words| words.left.is_empty());
        more.unwrap_or_else(PoisonError::into_inner).0.left.pop()
    }

    /// Nobody reads from now on. What was left, and not taken.
    pub fn close(&self) -> impl Iterator<Item = SessionMessage> {
        let mut words = lock(&self.0.words);
        words.is_closed = true;
        let mut left = std::mem::take(&mut words.left);
        std::iter::from_fn(move || left.pop())
    }

    /// All that there is by now.
    #[cfg(test)]
    pub fn take_all(&self) -> impl Iterator<Item = SessionMessage> {
        std::iter::from_fn(|| self.take())
    }
}

/// Sockets that were left are closed here: whoever leaves word may have other descriptors.
impl Drop for InboxReader {
    fn drop(&mut self) {
        drop(self.close());
    }
}
