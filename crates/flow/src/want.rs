//! What a flow wants next. Several things at once: duplex, echo and probes need that.

use pathscope_core::Tick;
use pathscope_core::id::Lane;

/// What a flow wants until its next event.
///
/// Asked for only after an event, and valid until it is asked for again: while the kernel has what was offered, that is not
/// before it is told what became of it. A flow that wants nothing, has no
/// timer and is not done waits for word from the other end of its session.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Want {
    /// What to send.
    pub send: SendWant,
    /// More than that is there to be sent, and nothing but room is waited for: the kernel may keep the end of what is sent, where that fills no
    /// segment, until the next send, or until a want that sends nothing.
    pub more_follows: bool,
    /// The lane that sends; a flow that sends on several lanes names them one after the other.
    pub send_lane: Lane,
    /// What to take, from every lane.
    pub recv: RecvWant,
    /// When to be woken, if nothing else happens before.
    pub wake: Option<Tick>,
    /// How to close, once: after it the flow sends nothing.
    pub close: Option<Close>,
    /// To be told at once what has come and waits to be received.
    pub weigh: Weigh,
    /// What is awaited may be heard late, by some milliseconds: nothing is done about it but to close. An engine need not have the
    /// system tell it of each then.
    pub is_patient: bool,
}

impl Want {
    /// Nothing at all.
    pub const NOTHING: Self = Self {
        send: SendWant::Nothing,
        more_follows: false,
        send_lane: Lane::ONLY,
        recv: RecvWant::Nothing,
        wake: None,
        close: None,
        weigh: Weigh::Nothing,
        is_patient: false,
    };
}

/// Of which flows it is to be told what has come and was not received yet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Weigh {
    /// Of none.
    Nothing,
    /// Of this one, by [`Event::Held`](crate::Event::Held).
    This,
    /// Of this one, and every other flow of the worker hears [`Event::Weighing`](crate::Event::Weighing), so that it can ask at the
    /// same time.
    All,
}

/// What a flow wants to send.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SendWant {
    /// Nothing now.
    Nothing,
    /// Up to this many bytes of a stream; the engine asks for them with `gather`.
    Stream {
        /// The most that may be sent before the next `want`.
        max: usize,
    },
    /// Up to this many datagrams; the engine asks for them with `fill`.
    Datagrams {
        /// Length of each, but for a shorter last one.
        stride: usize,
        /// The most that may be sent before the next `want`.
        max: usize,
    },
}

/// What a flow wants to take.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RecvWant {
    /// Nothing: back-pressure. Stops a multishot receive too.
    Nothing,
    /// To be shown at most this many bytes of a stream. An engine may have received more than that, as multishot receives
    /// do, and then keeps them.
    UpTo(usize),
    /// Whatever comes.
    Any,
}

/// How to end a connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Close {
    /// Send no more; the other end may go on (`shutdown(SHUT_WR)`).
    HalfWrite,
    /// Send no more, take what still comes until the other end closes, then close.
    Graceful,
    /// Send no more, and await nothing: both ends have said all, and the socket is closed as its flow departs.
    Complete,
    /// At once, without a farewell (RST): nothing gathers in `TIME_WAIT`.
    Reset,
}
