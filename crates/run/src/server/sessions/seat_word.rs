//! What becomes of a connection that asks for its seat, and how it is told that it has it: its worker says so with the first bytes of
//! the flow.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

use pathscope_core::Tick;
use pathscope_engines::{Preface, Unheard};
use pathscope_os::errno::is_no_room;
use pathscope_os::sockets::{self, Socket};
use pathscope_peers::attach::{ClaimSeat, Seat};

use super::{Claimed, SeatRequest};
use crate::error::RunError;
use crate::messages::attendance::Arrival;
use crate::messages::handing::Handing;
use crate::messages::inbox::{FlowSocket, SessionMessage};
use crate::threads::lock;
use crate::workers::entrances::WayIn;

/// What becomes of a connection that asks for its seat.
#[derive(Debug)]
pub(in crate::server) enum Attached {
    /// It has it, or is gone. Where it was left on its way, that way.
    Over(Option<OnItsWay>),
    /// There is no room for it yet.
    Waits(SeatRequest),
    /// It has none, and is to be told this: whoever closes it reads first what it has sent ahead, or the system would reset
    /// it, and the word could be lost.
    Refused { stream: TcpStream, word: Vec<u8> },
}

/// Where connections were left that others may follow at once: they go on together.
#[derive(Debug)]
pub(in crate::server) enum OnItsWay {
    /// For a worker that is still to be woken.
    In(WayIn),
    /// To those who hold them.
    ToHolders(Arc<Mutex<Handing>>),
}

impl OnItsWay {
    /// Whether both are of one test.
    pub fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::In(way_in), Self::In(other)) => way_in.is(other),
            (Self::ToHolders(handing), Self::ToHolders(other)) => Arc::ptr_eq(handing, other),
            _ => false,
        }
    }

    /// Whether they may wait a moment for others.
    pub const fn gathers(&self) -> bool {
        matches!(self, Self::ToHolders(_))
    }

    /// They go on.
    pub fn go(self) {
        match self {
            Self::In(way_in) => way_in.wake(),
            Self::ToHolders(handing) => lock(&handing).go(),
        }
    }
}

/// A connection has its seat, and is told so: where a worker has it at once, with what that says first.
/// Where it was left on its way, that way.
pub(super) fn take_seat(
    SeatRequest { stream, claim, from, unread }: SeatRequest,
    claimed: Claimed,
) -> Option<OnItsWay> {
    let Claimed { inbox, settings, attended, way_in, handing } = claimed;
    let (Seat { group, flow, .. }, socket) = (claim.seat(), Socket::from(stream));
    // Without it there is no test.
    let is_awaited = attended.is_none();
    let arrival = Arrival { attended, ..Arrival::default() };
    // As it was accepted it is set so as is usual.
    let is_usual = settings == sockets::Settings::default();
    let set = if is_usual { Ok(()) } else { socket.apply(&settings) };
    if let Err(error) = set {
        inbox.post(SessionMessage::AttachFailed(error.into()));
        return None;
    }
    let reply = claim.reply(Ok(()));
    let word = || SeatWord { word: reply.clone(), unread };
    let untold = || Box::new(word()) as Box<dyn Preface>;
    let Err((socket, arrival)) = way_in.admit_untold((flow, from), socket, arrival, untold) else {
        return Some(OnItsWay::In(way_in));
    };
    // A few bytes on a connection that has sent nothing yet always fit; blocking comes after.
    let mut stream = socket.into_tcp_stream();
    let mut said = vec![0; unread];
    // It was seen to be there.
    let answered = stream
        .read_exact(&mut said)
        .and_then(|()| stream.write_all(&reply))
        .and_then(|()| stream.set_nonblocking(false));
    if let Err(error) = answered {
        let errno = error.raw_os_error().filter(|&errno| is_awaited && is_no_room(errno));
        // One that is gone is made again by its client, or counted as failed.
        errno?;
        let why = format!("the server could not answer its connection: {error}");
        let error = RunError::Attach { flow: flow.0, why, errno };
        inbox.post(SessionMessage::AttachFailed(error));
        // It is kept until its client has heard that: where it were closed, it would be made again, and be told that its seat is taken.
    }
    let Err((socket, arrival)) = way_in.admit(flow, stream.into(), arrival) else {
        return None;
    };
    if let Some(handing) = handing {
        let ends = [socket.local_addr().ok(), Some(from)];
        lock(&handing).add(flow, socket, ends, arrival);
        return Some(OnItsWay::ToHolders(handing));
    }
    let socket = FlowSocket::Open(socket);
    inbox.post(SessionMessage::Attached { group, flow, socket, arrival });
    None
}

/// The word for one connection; it awaits nothing.
struct SeatWord {
    word: Vec<u8>,
    /// How much of what it has said is still to be received.
    unread: usize,
}

impl Preface for SeatWord {
    fn says(&self) -> &[u8] {
        &self.word
    }

    fn unread_bytes(&self) -> usize {
        self.unread
    }

    fn missing_bytes(&self) -> usize {
        0
    }

    fn until(&self) -> Tick {
        Tick::NEVER
    }

    fn connected(&mut self, _at: Tick) {}

    fn heard(&mut self, _bytes: &[u8]) -> bool {
        true
    }

    fn turned_away(self: Box<Self>, _why: Unheard, _at: Tick) {}
}
