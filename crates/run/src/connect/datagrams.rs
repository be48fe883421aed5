//! A datagram flow, or a lane of one, before it is one: the exchange by which the server gives it its seat, on the socket that
//! it will use. The exchange itself is `peers`'.

use std::io::{self, ErrorKind};
use std::net::UdpSocket;
use std::time::Duration;

use pathscope_core::id::Token;
use pathscope_os::{clock, random};
use pathscope_peers::native::{AttachError, Attaching, Seat};

use crate::error::RunError;

/// What a receive ends with that brings nothing.
const NO_ANSWER: [ErrorKind; 6] = [
    ErrorKind::ConnectionRefused,
    ErrorKind::WouldBlock,
    ErrorKind::TimedOut,
    ErrorKind::Interrupted,
    ErrorKind::HostUnreachable,
    ErrorKind::NetworkUnreachable,
];

/// Has the server give a connected socket its seat. `within`: how long that may take; none: as long as the exchange goes on.
pub(crate) fn attach(
    socket: UdpSocket,
    (seat, session): (Seat, Option<Token>),
    within: Option<Duration>,
) -> Result<UdpSocket, RunError> {
    let unanswered = |error: &AttachError| RunError::DatagramsUnanswered {
        flow: seat.flow.0,
        why: error.to_string(),
    };
    let nonce = u64::from_ne_bytes(random::bytes()?);
    let give_up = within.map(|within| clock::now() + within);
    let mut attaching = Attaching::new(seat, session, nonce, clock::now());
    let mut buffer = [0; 256];
    while let Some(deadline) = attaching.deadline() {
        let now = clock::now();
        if give_up.is_some_and(|give_up| now >= give_up) {
            let seconds = within.unwrap_or_default().as_secs();
            return Err(unanswered(&AttachError::Unanswered { seconds }));
        }
        if let Some(datagram) = attaching.datagram(now) {
            // A refusal of an earlier datagram may come up here; the exchange says when to give up.
            let _ = socket.send(&datagram);
        }
        let until = give_up.map_or(deadline, |give_up| deadline.min(give_up));
        let wait = until.since(clock::now()).max(Duration::from_millis(1));
        if let Some(count) = receive(&socket, &mut buffer, wait)? {
            attaching.received(&buffer[..count], clock::now());
        }
    }
    match attaching.outcome() {
        Some(Err(error @ AttachError::Unanswered { .. })) => Err(unanswered(error)),
        Some(Err(why)) => Err(RunError::Refused { flow: seat.flow.0, why: why.clone() }),
        Some(Ok(())) | None => {
            socket.set_read_timeout(None).map_err(system("cannot set up a socket"))?;
            Ok(socket)
        }
    }
}

/// A datagram that comes within `wait`.
fn receive(
    socket: &UdpSocket,
    buffer: &mut [u8],
    wait: Duration,
) -> Result<Option<usize>, RunError> {
    socket.set_read_timeout(Some(wait)).map_err(system("cannot wait for a datagram"))?;
    match socket.recv(buffer) {
        Ok(count) => Ok(Some(count)),
        // Nobody listens there yet, or a router says so: as good as no answer.
        Err(error) if NO_ANSWER.contains(&error.kind()) => Ok(None),
        Err(error) => Err(system("cannot wait for a datagram")(error)),
    }
}

pub(crate) fn system(what: &'static str) -> impl FnOnce(io::Error) -> RunError {
    move |source| RunError::System { what, source }
}
