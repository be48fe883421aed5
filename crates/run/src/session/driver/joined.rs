//! A connection that bears no token and is the session's by being of its client: it gets the next seat of the test, in the order in
//! which they come. Whose it is was found out by the thread that listens.

use std::io::Write;
use std::net::TcpStream;

use pathscope_core::id::{FlowId, Lane, Role};
use pathscope_os::sockets::Socket;
use pathscope_peers::attach::Seat;

use super::{Driver, End, Talk};
use crate::connect::settings;
use crate::error::RunError;
use crate::messages::attendance::Arrival;
use crate::messages::inbox::{FlowSocket, SessionMessage};

impl<D: Talk> Driver<D> {
    /// One more has come. Where there is no place for it, it is closed.
    pub(super) fn join(&mut self, stream: TcpStream, answer: &[u8], end: &mut impl End) {
        let Some(seat) = self.next_seat() else { return };
        if end.joins().is_err() {
            return;
        }
        let Some(test) = &self.test else { return };
        let settings = settings::settings_at(seat, Role::Server, &test.test);
        let socket = told(stream, answer).and_then(|socket| {
            socket.apply(&settings)?;
            Ok(socket)
        });
        let word = match socket {
            Ok(socket) => SessionMessage::Attached {
                group: seat.group,
                flow: seat.flow,
                socket: FlowSocket::Open(socket.into()),
                arrival: Arrival::default(),
            },
            Err(error) => SessionMessage::AttachFailed(error),
        };
        self.joined += 1;
        self.take(word, end);
    }

    /// The seats are those of the test's flows, group by group.
    fn next_seat(&self) -> Option<Seat> {
        let test = self.test.as_ref()?;
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

/// The socket of a connection that has been told that it has its place.
fn told(mut stream: TcpStream, answer: &[u8]) -> Result<Socket, RunError> {
    // A few bytes on a connection that has sent nothing yet always fit; blocking comes after.
    let told = stream.write_all(answer).and_then(|()| stream.set_nonblocking(false));
    told.map_err(RunError::system("cannot set up a connection"))?;
    Ok(stream.into())
}
