//! Asks for a server whose control connection was lost: one thread, which ends when the server is there again or nobody
//! waits for it any more.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use pathscope_os::readiness::Poller;
use pathscope_os::{OsError, Waker};

use crate::connect::attach::{self, ControlFrom};
use crate::error::RunError;
use crate::messages::inbox::{Inbox, SessionMessage};
use crate::threads;

/// Before each time that it is asked for again: a server that is started anew takes as long, and one that refuses is not
/// flooded.
pub(crate) const PAUSE: Duration = Duration::from_millis(500);
/// A connection that is not there by then is asked for again.
const WITHIN: Duration = Duration::from_secs(3);

/// Starts to ask, for the first time after `pause`; the connection comes as word.
pub(crate) fn start(server: SocketAddr, pause: Duration, inbox: Inbox) -> Result<(), RunError> {
    // Nobody ends a wait: each is short, and nobody waits for this thread.
    let (poller, cancel) = (Poller::new()?, Waker::new()?);
    let ask = move || {
        let mut nothing = Vec::new();
        let mut pause = pause;
        while inbox.is_read() && poller.wait(&mut nothing, Some(pause)).is_ok() {
            pause = PAUSE;
            match attach::open_control(server, &ControlFrom::default(), WITHIN, &cancel) {
                Ok(control) => return inbox.post(SessionMessage::Reconnected(control)),
                Err(error) if is_refused(&error) => inbox.post(SessionMessage::Unreached),
                Err(_) => {}
            }
        }
    };
    threads::spawn("reconnection", ask).map(drop)
}

/// Whether a machine says that nobody listens there: what listened is gone, and its sessions with it.
fn is_refused(error: &OsError) -> bool {
    matches!(error, OsError::Connect { source, .. } if source.kind() == ErrorKind::ConnectionRefused)
}
