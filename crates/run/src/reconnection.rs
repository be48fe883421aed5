//! Asks for a server that is gone while a test goes on: one thread, which ends when the server is there again or nobody
//! waits for it any more.

use std::net::SocketAddr;
use std::time::Duration;

use pathscope_os::Waker;
use pathscope_os::readiness::Poller;

use crate::attach;
use crate::error::RunError;
use crate::mail::{Mailbox, Word};

/// Before each time that it is asked for: a server that is started anew takes as long, and one that refuses is not
/// flooded.
const PAUSE: Duration = Duration::from_millis(500);
/// A connection that is not there by then is asked for again.
const WITHIN: Duration = Duration::from_secs(3);

/// Starts to ask; the connection comes as word.
pub(crate) fn start(server: SocketAddr, mailbox: Mailbox) -> Result<(), RunError> {
    // Nobody ends a wait: each is short, and nobody waits for this thread.
    let (poller, cancel) = (Poller::new()?, Waker::new()?);
    let ask = move || {
        let mut nothing = Vec::new();
        while mailbox.is_read() && poller.wait(&mut nothing, Some(PAUSE)).is_ok() {
            if let Ok(control) = attach::open_control(server, WITHIN, &cancel) {
                return mailbox.post(Word::Reconnected(control));
            }
        }
    };
    std::thread::Builder::new()
        .name("reconnection".to_owned())
        .spawn(ask)
        .map(drop)
        .map_err(|source| RunError::System { what: "cannot start a thread", source })
}
