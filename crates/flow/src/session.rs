//! A session as data: groups of flows, and a dialogue that says what to open, when to start, and what
//! the other end said. Sans-IO: bytes and events in, instructions out, time passed in.

use pathscope_core::Tick;
use pathscope_core::id::{ConnectionId, FlowId, Token};
use pathscope_core::record::{FlowError, Remarks, Substitution};

use crate::{Event, Phase, Totals};

/// Flows that are alike: one machine type, one engine. Probes beside a load are one more group. All groups of a session
/// start together, when every flow is attached and both ends are ready.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Group {
    /// Its place in the session, the same at both ends.
    pub id: GroupId,
    /// What kind of socket carries each lane.
    pub transport: Transport,
    /// The number of its first flow: flows are numbered through all groups of a session.
    pub first: FlowId,
    /// How many flows at once.
    pub flows: u32,
    /// Numbers that its flows have, from its first on: one that is replaced as it ends is followed by one
    /// with the next number.
    pub numbers: u32,
    /// Sockets of each flow.
    pub lanes: u8,
    /// Whether its lanes may come late, go, and come back from another address.
    pub roams: bool,
}

impl Group {
    /// Whether a flow has a number of this group.
    pub fn holds(&self, flow: FlowId) -> bool {
        flow.0.checked_sub(self.first.0).is_some_and(|index| index < self.numbers)
    }

    /// Whether flows are replaced as they end.
    pub fn replaces(&self) -> bool {
        self.numbers > self.flows
    }
}

/// A group's place in its session.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct GroupId(pub u8);

/// What kind of socket carries a lane.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Transport {
    /// TCP.
    Stream,
    /// UDP.
    Datagram,
}

/// One of several clients of a session, each of which is heard on a control connection of its own.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Participant(pub u32);

/// The talk of one end with the other about one session.
///
/// Feed it [`Input`]s; after each, take [`Output`]s until there is none, and call
/// [`input`](Self::input) with [`Input::Deadline`] when [`deadline`](Self::deadline) has come. It never
/// blocks and never panics, whatever the other end says.
pub trait Dialogue: Sized {
    /// What is to be measured.
    type Plan;
    /// What one end says of one interval while it runs.
    type Interval;
    /// What one end says at the end.
    type Report;
    /// Why a dialogue failed, as a sentence.
    type Error;

    /// Something happened.
    fn input(&mut self, input: Input<'_, Self>, now: Tick);

    /// What to do next, in order.
    fn output(&mut self) -> Option<Output<Self>>;

    /// When to come back if nothing happens.
    fn deadline(&self) -> Option<Tick>;

    /// What identifies a flow's connection at both ends alike, in the test that `token` stands for; nothing where the other end
    /// knows of no such thing.
    fn connection_id(_token: Token, _flow: FlowId) -> Option<ConnectionId> {
        None
    }

    /// Whether the other end says of each connection that fails there that it did, and why.
    fn peer_tells_failures(&self) -> bool {
        false
    }

    /// Whether the other end wants to hear what each connection came to here, and not only of those that failed.
    fn peer_hears_ends(&self) -> bool {
        false
    }

    /// Whether the other end says on a flow's own path that it still wants its stream, and sends none that is not asked for.
    fn peer_consents(&self) -> bool {
        false
    }

    /// Whether datagrams of the test bear numbers of 64 bits, where a kind of peer leaves that to each test.
    fn has_wide_numbers(&self) -> bool {
        true
    }

    /// Whether datagrams of the test are stamped with the time of day, where a kind of peer leaves that to each test; else with the time
    /// since this machine began.
    fn stamps_time_of_day(&self) -> bool {
        true
    }

    /// Server: whether connections that come before there is a test are kept for it, each being told of ([`Input::Came`]): nobody says how
    /// many a test has.
    fn counts_connections(&self) -> bool {
        false
    }

    /// Server: whether flows of datagrams begin now by themselves, each being told of ([`Input::Began`]): nobody says how many a test has.
    fn counts_datagrams(&self) -> bool {
        false
    }

    /// Server: since when data may have come that this end's kernel kept until the test began, where that was before. What comes counts over
    /// the time from there.
    fn comes_since(&self) -> Option<Tick> {
        None
    }

    /// Server: what its client has said of the test beside what it is.
    fn remarks(&self) -> Remarks {
        Remarks::default()
    }

    /// Whether the control connection is lost, and none has taken its place yet.
    fn is_away(&self) -> bool {
        false
    }

    /// What came of messages that are not whole yet, in bytes.
    fn unread_bytes(&self) -> usize {
        0
    }

    /// What is kept of messages that were said, until the other end confirms them, in bytes.
    fn kept_bytes(&self) -> usize {
        0
    }
}

/// What a dialogue is told. What is large lies in a box: it passes through a dozen frames of a session's stack, which is
/// what a light session takes most of.
pub enum Input<'bytes, D: Dialogue> {
    /// These bytes came on the control connection.
    Received(&'bytes [u8]),
    /// The other end closed the control connection, or it broke.
    ControlClosed,
    /// Client: the new control connection that [`Output::Reconnect`] asked for is there.
    Reconnected,
    /// Client: nobody listens where the other end was. It is asked for all the same, until the dialogue ends.
    Unreached,
    /// Server: a connection has come that is to take the place of this session's. Answered by [`Output::TakeOver`] or
    /// [`Output::TurnAway`].
    Returned {
        /// How often the client has tried.
        attempt: u32,
        /// The last number that it has received.
        received: u64,
    },
    /// Server: one more connection has come, and is kept until there is a test.
    Came,
    /// Server: a flow of datagrams has begun by itself, and is kept until there is a test.
    Began {
        /// Payload of its first datagram.
        bytes: u64,
    },
    /// Server: of the connections that are kept so many are left, which [`Output::Recount`] asked for.
    Recounted(u32),
    /// Server: one more client takes part.
    ParticipantCame(Participant),
    /// Server: these bytes came on the control connection of a client that takes part.
    ParticipantReceived(Participant, &'bytes [u8]),
    /// Server: that client closed its control connection, or it broke. Nothing more is heard of it.
    ParticipantClosed(Participant),
    /// This flow has all its sockets, and the other end knows whose they are.
    Attached {
        /// Its group.
        group: GroupId,
        /// Which flow.
        flow: FlowId,
    },
    /// A flow changed its phase at this end.
    Phase {
        /// Its group.
        group: GroupId,
        /// Which flow.
        flow: FlowId,
        /// The phase it reached.
        phase: Phase,
        /// What went through so far.
        totals: Totals,
    },
    /// This connection is over at this end. Said of those whose end the other end may want to hear of.
    Ended {
        /// Its group.
        group: GroupId,
        /// Which flow.
        flow: FlowId,
        /// What went through.
        totals: Totals,
        /// Why it failed, where it did.
        failure: Option<FlowError>,
    },
    /// An interval has passed at this end.
    Interval(Box<D::Interval>),
    /// Every flow is over at this end, and this is what is to be said of them.
    Over(Box<D::Report>),
    /// Server: the flows that [`Output::Prepare`] asked for may come, and this ran otherwise than asked.
    Prepared(Vec<Substitution>),
    /// Server: what [`Output::Prepare`] asked for cannot be done here; the client is told.
    Unable {
        /// A stable name of why.
        code: &'bytes str,
        /// The same as a sentence.
        sentence: &'bytes str,
    },
    /// Client: what [`Output::Ready`] told of may start.
    MayStart,
    /// The user or a signal ends the run, or a flow could not be set up; the reason is told to the other
    /// end. Said a second time, the other end is waited for no longer.
    Stop(&'bytes str),
    /// The deadline has come.
    Deadline,
}

/// What the sockets of a test present, and by what the server knows whose they are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Credentials {
    /// Names the test. Shown on each socket, so that whoever is on its way sees it.
    pub token: Token,
    /// What the session is called: told to its client on the control connection, and shown on no socket. Absent
    /// where a session has no name.
    pub session: Option<Token>,
    /// At the client: whether a connection may send its flow's first bytes with what it presents, before it is answered.
    pub goes_ahead: bool,
}

/// A test that runs at its client already, and had a session before.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Resumed {
    /// The token under which it began: what its flows send goes on to bear it.
    pub token: Token,
    /// What the session before was called, as far as its client says.
    pub session: Option<Token>,
}

/// What a dialogue asks for. What is large lies in a box, as in [`Input`].
pub enum Output<D: Dialogue> {
    /// Send these bytes on the control connection.
    Send(Vec<u8>),
    /// Server: send these bytes on the control connection of a client that takes part.
    SendTo(Participant, Vec<u8>),
    /// Server: close that connection when what was said there has left.
    Dismiss(Participant),
    /// Server: of the connections that are kept those are to be forgotten on which nothing will come any more. Answer with
    /// [`Input::Recounted`].
    Recount,
    /// Client: open every flow of these groups and present the token on each.
    Open {
        /// What to present.
        credentials: Credentials,
        /// The plan as the other end accepted it.
        plan: Box<D::Plan>,
        /// What the other end runs otherwise than asked.
        substitutions: Vec<Substitution>,
    },
    /// Server: a client proposes this. Answer with [`Input::Prepared`] once flows can be taken that
    /// present the token (they arrive one by one), or with [`Input::Unable`].
    Prepare {
        /// What flows will present.
        credentials: Credentials,
        /// Where it runs at the client already: what is known of it.
        resumed: Option<Resumed>,
        /// The plan, already found acceptable.
        plan: Box<D::Plan>,
    },
    /// Client: every flow is attached, and this end was asked to start with others: answer with [`Input::MayStart`] when they are
    /// there, too.
    Ready,
    /// Begin now.
    Start,
    /// The control connection is of no use any more, and the session outlives it; flows go on meanwhile. Close it. A
    /// client makes another, now and then, until there is one: answer with [`Input::Reconnected`]. A server waits for it.
    Reconnect,
    /// Client: the session itself is lost, and the test outlives that, too: it is proposed anew as soon as a server is there.
    SessionLost,
    /// Server: the connection that has come takes the place of this session's.
    TakeOver,
    /// Server: the connection that has come is none of this session's: it is told so, and closed.
    TurnAway(Vec<u8>),
    /// Client: the other end expects the test that runs here. Bring its lanes in anew, each presenting this, and answer
    /// with [`Input::Attached`].
    Rejoin(Credentials),
    /// Client: the other end's flows run again.
    Resumed,
    /// Tell a flow.
    Tell {
        /// Its group.
        group: GroupId,
        /// Which flow; `None`: all of the group.
        flow: Option<FlowId>,
        /// What to tell it.
        event: Event,
    },
    /// The other end says that this connection is over, and came to this there.
    PeerEnded {
        /// Its group.
        group: GroupId,
        /// Which flow, as the other end says.
        flow: FlowId,
        /// What went through there.
        totals: Totals,
        /// Why it failed there, where it did.
        failure: Option<FlowError>,
    },
    /// The other end said this of an interval.
    PeerInterval(Box<D::Interval>),
    /// The other end said this at the end.
    PeerReport(Box<D::Report>),
    /// One test is over and the next may be proposed: close its sockets and forget its flows. The
    /// client's come first, so that nothing gathers in `TIME_WAIT` at the server.
    TestOver,
    /// The dialogue is over, in good order or not. Nothing follows. Flows that run were told to stop
    /// before; what they measured remains.
    End(Result<(), D::Error>),
}
