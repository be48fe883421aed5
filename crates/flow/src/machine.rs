//! The trait between what is measured and how bytes move.

use std::num::NonZeroUsize;

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane};
use pathscope_core::record::FlowError;

use crate::{Batch, Gather, Want};

/// One flow: a small state that says what it wants and judges what came.
///
/// An engine calls, in a loop and from one thread: [`want`](Self::want) after each event; then, as the
/// want says and the kernel allows, [`gather`](Self::gather) or [`fill`](Self::fill) followed by
/// [`sent`](Self::sent) or [`refused`](Self::refused), and [`received`](Self::received); and [`event`](Self::event) when something
/// happens to a socket, a timer is due or the other end sends word.
///
/// The kernel may have an offer for a while. From [`gather`](Self::gather) or [`fill`](Self::fill) until it is told what became of it, a
/// machine is shown what comes by its last want, and nothing else happens to it: no `want`, no event, no second offer. So it may
/// decide anything about its sending in `want` or in an event, by time as well: nothing is on its way then that it was not told
/// of. An offer of which nothing is told before the next `want` is void.
///
/// A flow stays small (some 250 bytes, so that a million fit); what is large lives in [`Shared`],
/// one a worker. No method blocks or fails: trouble is a state, told by [`phase`](Self::phase). None allocates
/// while all is well.
pub trait Machine: Send + Sized {
    /// What the flows of one worker have in common.
    type Shared: Shared;

    /// How fresh the ticks must be that are passed in.
    const CLOCK: ClockNeed;

    /// Which flow of the session this is.
    fn id(&self) -> FlowId;

    /// What the flow wants now.
    fn want(&mut self, shared: &mut Self::Shared, now: Tick) -> Want;

    /// Of a stream: its next bytes on this lane, as many as fit. What of them the kernel took is told
    /// by [`sent`](Self::sent); the rest is gathered again.
    fn gather<'data>(
        &'data self,
        _shared: &'data Self::Shared,
        _lane: Lane,
        _gather: &mut Gather<'data>,
    ) {
        debug_assert!(false, "a flow of datagrams was asked for bytes of a stream");
    }

    /// Of datagrams: the next on this lane, written to the batch or lent to it. `now` is the last clock reading before the
    /// system call.
    fn fill<'data>(
        &'data mut self,
        _shared: &'data mut Self::Shared,
        _lane: Lane,
        _batch: &mut Batch<'data>,
        _now: Tick,
    ) {
        debug_assert!(false, "a flow of a stream was asked for datagrams");
    }

    /// The kernel took `amount` bytes of a stream, or as many datagrams, of those asked for last.
    /// `at` is the clock reading before the system call.
    fn sent(&mut self, shared: &mut Self::Shared, lane: Lane, amount: usize, at: Tick);

    /// The kernel was asked at `at`, the clock reading before the system call, and took nothing of what was offered:
    /// back-pressure. The want holds, and the offer is made again once there is room. Told of each such call, and not
    /// again while the engine waits for room.
    #[inline]
    fn refused(&mut self, shared: &mut Self::Shared, lane: Lane, at: Tick) {
        let _ = (shared, lane, at);
    }

    /// These bytes came. What is not consumed is presented again, with what follows it, after the
    /// next `want` that takes it.
    fn received(
        &mut self,
        shared: &mut Self::Shared,
        lane: Lane,
        bytes: &[u8],
        meta: RecvMeta,
        now: Tick,
    ) -> Consumed;

    /// Something happened.
    fn event(&mut self, shared: &mut Self::Shared, event: Event, now: Tick);

    /// How far the flow is. The engine tells the session of each change.
    fn phase(&self) -> Phase;

    /// What went through so far.
    fn totals(&self) -> Totals;

    /// Of a flow of datagrams: what became of those that came so far.
    fn datagrams(&self) -> Option<FlowDatagrams> {
        None
    }

    /// What ended the flow before its time.
    fn error(&self) -> Option<FlowError> {
        None
    }

    /// When what ended the flow happened, where that was found out later than it happened: nothing that came after counts
    /// for its time. `None`: when its last phase was told.
    fn ended_at(&self) -> Option<Tick> {
        None
    }
}

/// What the flows of one worker have in common: plan, tables, histograms, counters.
pub trait Shared: Send {
    /// What happened since the last report, for live views and intervals.
    type Report: Send + 'static;

    /// Takes what happened since the last report.
    fn report(&mut self, now: Tick) -> Self::Report;
}

/// How fresh the ticks must be that an engine passes to a machine. A reading costs some 20 ns, two of
/// them more than the rest of the seam.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ClockNeed {
    /// Read right before each send and right after each receive: the ticks are the measurement.
    EveryOperation,
    /// Read once a turn of the engine's loop, and at least every few large operations.
    EveryTurn,
}

/// What the kernel told about received bytes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct RecvMeta {
    /// For datagrams: the length of each in the batch, but for a shorter last one. `None`: a stream.
    pub stride: Option<NonZeroUsize>,
    /// When the kernel received them, if it was asked.
    pub stamp: Option<Tick>,
    /// Datagrams that this socket has dropped for want of room, ever.
    pub drops: u64,
}

/// How many of the bytes presented were taken.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use = "what is not consumed has to be presented again"]
pub struct Consumed(pub usize);

/// Something that happened to a flow other than bytes moving.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Event {
    /// The flow may begin. The first event of every flow.
    Start,
    /// The tick that was asked for has come.
    Wake,
    /// A socket joined the flow.
    LaneUp(Lane),
    /// A socket left the flow.
    LaneDown(Lane),
    /// The other end will send no more on this lane.
    PeerClosed(Lane),
    /// The lane is dead; the number is the system's.
    Reset {
        /// Which lane.
        lane: Lane,
        /// The system's error number.
        errno: i32,
    },
    /// The kernel handed a datagram of this flow to the device, by its own stamp. Comes where stamps were asked for
    /// and the kernel gives them, in any order and not for each.
    HandedOver {
        /// Which lane.
        lane: Lane,
        /// Datagrams that were sent on this lane before it.
        number: u64,
        /// When, by this end's clock, as exactly as the stamp can be turned into it.
        at: Tick,
    },
    /// A datagram was answered by an error from the network, or refused by this machine; the lane lives.
    Unreachable {
        /// Which lane.
        lane: Lane,
        /// The system's error number.
        errno: i32,
        /// Whether it is the answer to a datagram that has left: what was offered meanwhile may be offered again.
        is_answer: bool,
        /// Whether the other end's machine says that nobody is there to take datagrams.
        is_refusal: bool,
    },
    /// What has come on all lanes and was not received yet, what waits in the kernel for bytes before it
    /// included: no more than so many bytes. The answer to a want that asks for it; 0 where the system does not say.
    Held {
        /// How many.
        bytes: u64,
        /// So many of them wait for nothing but this end: a receive brings them.
        ready_bytes: u64,
    },
    /// Another flow of the same worker asks what all hold ([`Weigh::All`](crate::Weigh::All)): who has to know what it holds at that moment
    /// asks now.
    Weighing,
    /// The other end has sent all it will send on this flow: so many bytes or datagrams in total.
    PeerTotal(u64),
    /// So much of this flow of datagrams came before it had its socket, or to another, and whoever took it has counted it.
    CameBefore {
        /// Whole datagrams.
        datagrams: u64,
        /// Their payload.
        bytes: u64,
    },
    /// This end is to say at once what it has received: the other end says what it sent only then. What still comes is taken, and is
    /// late.
    Settle,
    /// The other end says that this flow has failed there: nothing more of it may come, and not even a reset. What is on
    /// its way may still tell this end why.
    PeerFailed,
    /// The control connection is lost. It may be made anew: until then no word of the other end comes.
    PeerAway,
    /// The control connection is there again.
    PeerBack,
    /// The session is lost: no word of the other end comes any more. What it sent after what came is not known.
    PeerLost,
    /// Send nothing new; finish what was begun. Comes when the user or the time limit ends the run.
    Stop,
}

/// How far a flow is. Phases only ever advance, in the order given here.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Phase {
    /// It may yet send.
    Running,
    /// It has sent all it will; it may yet receive. The other end is told the total.
    SendingDone,
    /// It has, and what it received is said for good: its totals change no more, whatever still comes.
    Settled,
    /// It wants nothing any more, and nothing failed.
    Done,
    /// It wants nothing any more: it failed.
    Failed,
}

impl Phase {
    /// Whether the flow wants nothing any more.
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Failed)
    }
}

/// What became of the datagrams that came of a flow, since it began.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct FlowDatagrams {
    /// Those that were sent up to the highest number that came. Absent where they have no numbers: what else is told of their order is then
    /// not known either.
    pub expected: Option<u64>,
    /// Copies beyond the first.
    pub duplicates: u64,
    /// Those that came after one of a higher number.
    pub reordered: u64,
    /// How much transit times varied of late.
    pub jitter_ns: u64,
    /// When the last of them came, since the start of the test.
    pub last_ns: Option<u64>,
}

/// What went through a flow.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Totals {
    /// Bytes (of datagrams: their number) the kernel took.
    pub sent: u64,
    /// Bytes (of datagrams: their number) received and checked.
    pub received: u64,
}
