//! Where a session is waited for: its control connection at a poller that knows it by a key. At a client the session has the
//! poller to itself, and its thread waits there for word from other threads as well; at a server one thread waits there for all its
//! sessions.

use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use pathscope_os::readiness::{Interest, Poller};
use pathscope_os::wake::Waker;

use crate::error::RunError;

/// The keys of a poller of one session.
const CONTROL: u64 = 0;
const WORD: u64 = 1;

/// What a session is waited for with, where a thread has many.
#[derive(Debug)]
pub(crate) struct Hosted {
    pub watch: Watch,
    /// What says that there is word.
    pub waker: Waker,
}

/// Where a session's control connection is waited for.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    poller: Arc<Poller>,
    key: u64,
}

impl Watch {
    /// At a poller of others, too, by this key.
    pub const fn among(poller: Arc<Poller>, key: u64) -> Self {
        Self { poller, key }
    }

    /// At a poller of its own, together with word that `waker` tells of.
    pub fn own(waker: &Waker) -> Result<Self, RunError> {
        let poller = Poller::new()?;
        poller.add(waker, WORD, Interest::INPUT)?;
        Ok(Self { poller: Arc::new(poller), key: CONTROL })
    }

    /// Waits for this connection, too, until something is to be heard.
    pub fn add(&self, stream: &TcpStream) -> Result<(), RunError> {
        Ok(self.poller.add(stream, self.key, Interest::INPUT)?)
    }

    /// Waits for something else of it.
    pub fn change(&self, stream: &TcpStream, interest: Interest) -> Result<(), RunError> {
        Ok(self.poller.change(stream, self.key, interest)?)
    }

    /// Waits for it no longer.
    pub fn remove(&self, stream: &TcpStream) {
        // It may have been removed before.
        let _ = self.poller.remove(stream);
    }

    /// Where it is a session's own: waits for the connection, for word, or for `timeout` (`None`: for ever). Whether there is
    /// something to hear on the connection.
    pub fn wait(&self, timeout: Option<Duration>) -> Result<bool, RunError> {
        let mut ready = Vec::new();
        self.poller.wait(&mut ready, timeout)?;
        // One that broke is ready for anything; sending finds that out.
        Ok(ready.iter().any(|ready| ready.key == self.key && ready.input))
    }
}
