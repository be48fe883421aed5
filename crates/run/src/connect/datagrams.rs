//! A datagram flow, or a lane of one, before it is one: the exchange by which the server gives it its seat, on the socket that
//! it will use. The exchange itself is `peers`'.

use std::io::ErrorKind;
use std::net::UdpSocket;
use std::time::Duration;

use pathscope_os::{clock, random};
use pathscope_peers::attach::{AttachDatagrams, AttachError, Seat};

use crate::connect::Orders;
use crate::error::RunError;

/// What a receive ends with that brings nothing.
pub(super) const NO_ANSWER: [ErrorKind; 6] = [
    ErrorKind::ConnectionRefused,
    ErrorKind::WouldBlock,
    ErrorKind::TimedOut,
    ErrorKind::Interrupted,
    ErrorKind::HostUnreachable,
    ErrorKind::NetworkUnreachable,
];

/// Has the server give a connected socket its seat, `within` so much time, and no longer than the exchange goes on.
pub(crate) fn attach(
    socket: UdpSocket,
    (orders, seat): (&Orders, Seat),
    within: Duration,
) -> Result<UdpSocket, RunError> {
    let refused = |why| RunError::Refused { flow: seat.flow.0, why };
    let nonce = u64::from_ne_bytes(random::bytes()?);
    let give_up = clock::now() + within;
    let session = orders.credentials.session;
    let attaching = orders.peer.attach_datagrams(seat, session, nonce, clock::now());
    let mut attaching = attaching.ok_or_else(|| refused(AttachError::NoDatagrams))?;
    let mut buffer = [0; 256];
    while let Some(deadline) = attaching.deadline() {
        let now = clock::now();
        if now >= give_up {
            return Err(refused(AttachError::Unanswered { seconds: within.as_secs() }));
        }
        if let Some(datagram) = attaching.datagram(now) {
            // A refusal of an earlier datagram may come up here; the exchange says when to give up.
            let _ = socket.send(&datagram);
        }
        let wait = deadline.min(give_up).since(clock::now()).max(Duration::from_millis(1));
        if let Some(count) = receive(&socket, &mut buffer, wait)? {
            attaching.received(&buffer[..count], clock::now());
        }
    }
    if let Some(Err(why)) = attaching.outcome() {
        return Err(refused(why.clone()));
    }
    socket.set_read_timeout(None).map_err(RunError::system("cannot set up a socket"))?;
    Ok(socket)
}

/// A datagram that comes within `wait`.
fn receive(
    socket: &UdpSocket,
    buffer: &mut [u8],
    wait: Duration,
) -> Result<Option<usize>, RunError> {
    match socket.set_read_timeout(Some(wait)).and_then(|()| socket.recv(buffer)) {
        Ok(count) => Ok(Some(count)),
        // Nobody listens there yet, or a router says so: as good as no answer.
        Err(error) if NO_ANSWER.contains(&error.kind()) => Ok(None),
        Err(error) => Err(RunError::system("cannot wait for a datagram")(error)),
    }
}
