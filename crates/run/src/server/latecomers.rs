//! Connections for words that have come while their client has a session: the one before may be about to end, and word of that on its way.
//! They are bounded in number and in time.

use std::collections::VecDeque;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_peers::joining::Joining;
use pathscope_peers::registry::Greeting;

/// At once, of all addresses.
const MOST: usize = 64;

/// Who has a session for longer is busy.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);

/// One that waits.
#[derive(Debug)]
pub(super) struct Latecomer {
    pub joining: Joining<Greeting>,
    pub stream: TcpStream,
    pub from: SocketAddr,
    /// It is told then that there is no session for it.
    pub until: Tick,
}

/// Those that wait, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Latecomers(VecDeque<Latecomer>);

impl Latecomers {
    /// One more waits. It comes back where it has waited for as long as it may, and where there are too many.
    pub fn wait(&mut self, latecomer: Latecomer, now: Tick) -> Option<Latecomer> {
        if now >= latecomer.until || self.0.len() >= MOST {
            return Some(latecomer);
        }
        self.0.push_back(latecomer);
        None
    }

    /// All of them, who are to be heard again.
    pub fn take(&mut self) -> VecDeque<Latecomer> {
        std::mem::take(&mut self.0)
    }

    /// When one has waited for as long as it may.
    pub fn next_deadline(&self) -> Option<Tick> {
        self.0.iter().map(|latecomer| latecomer.until).min()
    }
}
