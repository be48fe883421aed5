//! Moves real frames through links: one thread, and a packet socket at each end of each link.
//!
//! What happens to a frame is decided by [`link::Direction`](crate::link::Direction) from the kernel's
//! stamp of its arrival; what is here only carries that out, as punctually as the machine allows, and
//! measures how far it fell behind. Not here: making the interfaces (`keeper`).

mod account;
mod counters;
#[cfg(test)]
mod tests;
mod thread;

use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;

use pathscope_core::Tick;
use pathscope_os::packets::PacketSocket;
use pathscope_os::{OsError, Waker};

use crate::link::{Conditions, ConditionsError, Counts, Order, Seed, Way};

pub use account::{DirectionAccount, LinkAccount, MOST_LATENESS_NS, RelayAccount, Shortcoming};
pub use counters::{Counters, LinkCounters};

/// A link that is relayed: where its frames are taken and put, and what it does to them.
#[derive(Debug)]
pub struct Wire {
    /// Its name.
    pub name: String,
    /// The nodes at its ends.
    pub nodes: [String; 2],
    /// What is in front of each of its ends.
    pub ports: [PacketSocket; 2],
    /// From the first end to the second, and back.
    pub conditions: [Conditions; 2],
    /// What the chances of its two directions are drawn from.
    pub seeds: [Seed; 2],
    /// The longest frame that it carries, in bytes.
    pub frame_bytes: usize,
}

/// Relayed links at work. Dropping it ends the thread.
#[derive(Debug)]
pub struct Relay {
    commands: Sender<Command>,
    waker: Waker,
    ended: Waker,
    thread: Option<JoinHandle<()>>,
}

/// What a relay did not do.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// The link cannot be like that.
    #[error("cannot {0}")]
    Conditions(#[from] ConditionsError),
    /// Its thread has ended, which it only does when it is told to.
    #[error("the lab's relay has ended; take the lab down and up again")]
    Ended,
    /// The system would not give what it needs.
    #[error(transparent)]
    Os(#[from] OsError),
}

/// What the thread is told.
#[derive(Debug)]
enum Command {
    Obey { orders: Vec<TimedOrder>, answer: Sender<Result<(), ConditionsError>> },
    Account { answer: Sender<RelayAccount> },
    Totals { answer: Sender<Vec<[Counts; 2]>> },
    End,
}

/// What a link is told, and when.
#[derive(Clone, Debug)]
pub struct TimedOrder {
    /// Its place in the list of relayed links.
    pub wire: usize,
    /// One direction, or both.
    pub way: Option<Way>,
    /// What it is to do.
    pub order: Order,
    /// From when on.
    pub at: Tick,
}

impl Relay {
    /// Starts to carry frames. Once it returns, frames are carried.
    pub fn start(wires: Vec<Wire>) -> Result<Self, RelayError> {
        let waker = Waker::new()?;
        let (commands, inbox) = mpsc::channel();
        let (started, answer) = mpsc::channel();
        let woken = waker.clone();
        let ended = Waker::new()?;
        let last = Last(ended.clone());
        let work = move || match thread::Carrier::new(wires, inbox, woken) {
            Ok(carrier) => {
                let _last = last;
                // Nobody listens any more where the relay was dropped meanwhile.
                let _ = started.send(Ok(()));
                carrier.run();
            }
            Err(error) => drop(started.send(Err(error))),
        };
        let thread = std::thread::Builder::new()
            .name("relay".to_owned())
            .spawn(work)
            .map_err(|source| OsError::Call { what: "start a thread", source })?;
        let relay = Self { commands, waker, ended, thread: Some(thread) };
        receive(&answer)??;
        Ok(relay)
    }

    /// Raised when frames are not carried any more, whatever the reason.
    pub fn ended(&self) -> &Waker {
        &self.ended
    }

    /// Has links do something at once or later. All orders are checked first: where a link cannot be
    /// like that, none is obeyed.
    pub fn obey(&self, orders: Vec<TimedOrder>) -> Result<(), RelayError> {
        let (answer, answered) = mpsc::channel();
        self.tell(Command::Obey { orders, answer })?;
        Ok(receive(&answered)??)
    }

    /// What became of every frame so far, and how punctual the relay was.
    pub fn account(&self) -> Result<RelayAccount, RelayError> {
        let (answer, answered) = mpsc::channel();
        self.tell(Command::Account { answer })?;
        receive(&answered)
    }

    /// Of all frames together what became of them so far, of each link both ways: known sooner than a whole account.
    pub fn totals(&self) -> Result<Vec<[Counts; 2]>, RelayError> {
        let (answer, answered) = mpsc::channel();
        self.tell(Command::Totals { answer })?;
        receive(&answered)
    }

    fn tell(&self, command: Command) -> Result<(), RelayError> {
        self.commands.send(command).map_err(|_| RelayError::Ended)?;
        self.waker.wake();
        Ok(())
    }
}

/// Tells when the thread ends, also by a panic.
struct Last(Waker);

impl Drop for Last {
    fn drop(&mut self) {
        self.0.wake();
    }
}

fn receive<T>(answer: &Receiver<T>) -> Result<T, RelayError> {
    answer.recv().map_err(|_| RelayError::Ended)
}

impl Drop for Relay {
    fn drop(&mut self) {
        // A thread that has ended already needs no word.
        let _ = self.tell(Command::End);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
