//! A connection that bears no token and is the session's by being of its client: it gets the next seat of the test, in the order in
//! which they come. Whose it is was found out by the thread that listens.

use std::io::Write;
use std::net::TcpStream;

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane, Role};
use pathscope_core::record::Substitution;
use pathscope_flow::{Group, Input};
use pathscope_os::clock;
use pathscope_os::sockets::Socket;
use pathscope_peers::attach::Seat;
use pathscope_peers::in_band::AHEAD;
use pathscope_peers::joining::name_in;

use super::{Driver, End, Talk};
use crate::connect::settings;
use crate::error::RunError;
use crate::messages::attendance::Arrival;
use crate::messages::inbox::{FlowSocket, SessionMessage};
use crate::promised::Promised;

/// A client whose connections follow one another is gone when it has had none for so long. One that makes the next after that
/// begins another session.
const DESERTED_NS: u64 = 1_000_000_000;

/// What came before there was a test.
pub(super) enum Early {
    /// A connection, and what it is told when it gets its place.
    Connection(TcpStream, Vec<u8>),
    /// A flow of datagrams.
    Datagrams(Socket),
}

impl<D: Talk> Driver<D> {
    /// Whether connections come to the test while it runs, by being of its client.
    pub(super) fn admits(&self) -> bool {
        let is_theirs = !self.has_control && self.role == Role::Server;
        is_theirs && self.test.as_ref().is_some_and(|test| test.replaces())
    }

    /// Where they do, nobody says that no more will: none being there for a while does.
    pub(super) fn see_who_is_there(&mut self) {
        let is_deserted = self.test.as_ref().is_some_and(|test| test.present() == 0);
        if !(is_deserted && self.admits() && self.is_running()) {
            self.deserted_at = Tick::NEVER;
            return;
        }
        let now = clock::now();
        if self.deserted_at == Tick::NEVER {
            self.deserted_at = now.plus_nanos(DESERTED_NS);
        }
        if now >= self.deserted_at && self.door.close(self.entered) {
            self.deserted_at = Tick::NEVER;
            self.test.iter_mut().for_each(|test| test.close_entrances(None));
        }
    }

    /// One more has come. Where there is no place for it, it is closed.
    pub(super) fn join(&mut self, stream: TcpStream, answer: &[u8], end: &mut impl End) {
        self.entered += 1;
        self.door.hear(self.entered);
        if self.test.is_none() && self.dialogue.counts_connections() {
            return self.keep(Early::Connection(stream, answer.to_vec()), Input::Came, end);
        }
        self.seat(stream, answer, end);
    }

    /// It is of a test of which nobody has said yet how many it has.
    pub(super) fn keep(&mut self, early: Early, word: Input<'_, D>, end: &mut impl End) {
        let Err(error) = end.keeps(self.early.len() as u64 + 1) else {
            self.early.push(early);
            return self.dialogue.input(word, clock::now());
        };
        let sentence = error.to_string();
        let unable = Input::Unable { code: error.code(), sentence: &sentence };
        self.dialogue.input(unable, clock::now());
    }

    /// It gets the next seat.
    fn seat(&mut self, stream: TcpStream, answer: &[u8], end: &mut impl End) {
        let Some(seat) = self.next_seat() else {
            self.journal
                .step(|| "a connection came for which the test has no place, and was closed");
            // Who comes later is of another.
            if self.is_counted {
                self.door.close(self.entered);
            }
            return;
        };
        if end.joins().is_err() {
            return;
        }
        let Some(test) = &self.test else { return };
        let settings = settings::settings_at(seat, Role::Server, &test.test);
        let socket = told(stream, answer).and_then(|socket| {
            socket.apply(&settings)?;
            Ok(socket)
        });
        self.give(seat, socket, name_in(answer), end);
    }

    /// It gets that one: a socket that is called so.
    pub(super) fn give(
        &mut self,
        seat: Seat,
        socket: Result<Socket, RunError>,
        called: Option<String>,
        end: &mut impl End,
    ) {
        let Some(test) = &self.test else { return };
        let holders = test.group(seat.group).and_then(|state| state.holders.as_ref());
        let socket = socket.and_then(|socket| FlowSocket::of(seat.flow, socket, holders));
        let word = match socket {
            Ok(socket) => SessionMessage::Attached {
                group: seat.group,
                flow: seat.flow,
                socket,
                arrival: Arrival { called, ..Arrival::default() },
            },
            // Others that are there go on.
            Err(error) if self.admits() => {
                self.journal.step(|| format!("a connection came and was gone again: {error}"));
                return;
            }
            Err(error) => SessionMessage::AttachFailed(error),
        };
        self.joined += 1;
        self.take(word, end);
    }

    /// A test is provided for. Its flows may come now, or when word of that does.
    pub(super) fn prepared(&mut self, chosen: Vec<Substitution>, end: &mut impl End) {
        let is_waiting = self.test.as_ref().is_some_and(|test| !end.may_attach(test, &self.inbox));
        if is_waiting {
            self.journal
                .step(|| "another test of this address awaits its UDP flows; this one waits");
            self.waiting = Some(chosen);
        } else {
            self.dialogue.input(Input::Prepared(chosen), clock::now());
        }
        let early = std::mem::take(&mut self.early);
        if !early.is_empty() {
            self.is_counted = true;
            self.door.close(self.entered);
        }
        for early in early {
            match early {
                Early::Connection(stream, answer) => self.seat(stream, &answer, end),
                Early::Datagrams(socket) => self.seat_datagrams(socket, end),
            }
        }
    }

    /// Those that were awaited have come, or are awaited no longer.
    pub(super) fn has_turn(&mut self) {
        if let Some(chosen) = self.waiting.take() {
            self.dialogue.input(Input::Prepared(chosen), clock::now());
        }
    }

    /// A datagram flow has called, and has been told that it has a place.
    pub(super) fn call(&mut self, promised: Promised, end: &mut impl End) {
        let seat = self.next_seat();
        let Some(Seat { group, flow, .. }) = seat.filter(|_| end.joins().is_ok()) else { return };
        self.joined += 1;
        let socket = FlowSocket::Promised(promised);
        let arrival = Arrival::default();
        self.take(SessionMessage::Attached { group, flow, socket, arrival }, end);
    }

    /// The seats are those of the test's flows, group by group.
    pub(super) fn next_seat(&self) -> Option<Seat> {
        let test = self.test.as_ref()?;
        let follow = test.groups.iter().map(|state| state.group).find(Group::replaces);
        if let Some(group) = follow.filter(|_| test.started().is_some()) {
            let flow = FlowId(group.first.0.checked_add(self.joined)?);
            let has_room = test.present() < most_at_once(&group);
            let seat = Seat { token: test.token, group: group.id, flow, lane: Lane::ONLY };
            return (has_room && group.holds(flow)).then_some(seat);
        }
        let mut place = self.joined;
        for group in test.groups.iter().map(|state| state.group) {
            if place < group.flows {
                let (flow, lane) = (FlowId(group.first.0 + place), Lane::ONLY);
                return Some(Seat { token: test.token, group: group.id, flow, lane });
            }
            place -= group.flows;
        }
        None
    }
}

/// So many connections of a client there are at once at the most, where they follow one another. Some come before those that they
/// follow are gone here.
fn most_at_once(group: &Group) -> u32 {
    group.flows.saturating_add(AHEAD)
}

/// The socket of a connection that has been told that it has its place.
fn told(mut stream: TcpStream, answer: &[u8]) -> Result<Socket, RunError> {
    // A few bytes on a connection that has sent nothing yet always fit; blocking comes after.
    let told = stream.write_all(answer).and_then(|()| stream.set_nonblocking(false));
    told.map_err(RunError::system("cannot set up a connection"))?;
    Ok(stream.into())
}
