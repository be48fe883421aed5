//! What becomes of a connection that asks for its seat, and how it is told that it has it: its worker says so with the first bytes of
//! the flow.

use std::io::{Read, Write};
use std::net::TcpStream;

use pathscope_core::Tick;
use pathscope_engines::{Preface, Unheard};
use pathscope_os::sockets::{self, Socket};
use pathscope_peers::attach::{ClaimSeat, Seat};

use super::{Claimed, SeatRequest};
use crate::messages::attendance::Arrival;
use crate::messages::inbox::{FlowSocket, SessionMessage};
use crate::workers::entrances::WayIn;

/// What becomes of a connection that asks for its seat.
#[derive(Debug)]
pub(in crate::server) enum Attached {
    /// It has it, or is gone. Where its flow was left for a worker that is still to be woken, that way.
    Over(Option<WayIn>),
    /// There is no room for it yet.
    Waits(SeatRequest),
    /// It has none, and is to be told this: whoever closes it reads first what it has sent ahead, or the system would reset
    /// it, and the word could be lost.
    Refused { stream: TcpStream, word: Vec<u8> },
}

/// A connection has its seat, and is told so: where a worker has it at once, with what that says first.
/// Where it was left for a worker which is still to be woken, that way.
pub(super) fn take_seat(
    SeatRequest { stream, claim, from, unread }: SeatRequest,
    claimed: Claimed,
) -> Option<WayIn> {
    let Claimed { inbox, settings, attended, way_in, holders } = claimed;
    let (Seat { group, flow, .. }, socket) = (claim.seat(), Socket::from(stream));
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
        return Some(way_in);
    };
    // A few bytes on a connection that has sent nothing yet always fit; blocking comes after.
    let mut stream = socket.into_tcp_stream();
    let mut said = vec![0; unread];
    // It was seen to be there.
    if stream
        .read_exact(&mut said)
        .and_then(|()| stream.write_all(&reply))
        .and_then(|()| stream.set_nonblocking(false))
        .is_err()
    {
        return None;
    }
    let Err((socket, arrival)) = way_in.admit(flow, stream.into(), arrival) else {
        return None;
    };
    inbox.post(match FlowSocket::of(flow, socket, holders.as_ref()) {
        Ok(socket) => SessionMessage::Attached { group, flow, socket, arrival },
        Err(error) => SessionMessage::AttachFailed(error),
    });
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
