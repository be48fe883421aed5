//! Threads that have a table of descriptors to themselves: what a process may have open is counted for each table, and a table
//! that nobody else has needs no lock. Sockets are handed to such a thread, and are then open nowhere else.
//!
//! What a thread brings along that is known by a descriptor is of the table that it has left: but for the wakers that it keeps, it must use
//! nothing that was opened outside.

#[cfg(all(target_os = "linux", not(pathscope_other)))]
mod linux;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
use linux as imp;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
mod other;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
use other as imp;
#[cfg(test)]
#[cfg(not(pathscope_other))]
mod tests;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use crate::{OsError, Socket, Waker};

/// A thread with a table of its own, as others see it. It is told that nothing comes any more when this is dropped.
#[derive(Debug)]
pub struct Table {
    /// Taken when it is dropped.
    link: Option<imp::Link>,
    thread: Option<JoinHandle<()>>,
    /// What it uses of what was opened outside.
    kept: Vec<Waker>,
}

/// The end of such a thread itself.
#[derive(Debug)]
pub struct Inside {
    link: imp::Link,
    /// What came with the last message and was not taken yet.
    more: RefCell<VecDeque<Handed>>,
}

/// So many sockets are handed over with one call at the most: the system takes some more.
const AT_ONCE: usize = 64;

/// What such a thread is handed or told.
#[derive(Debug)]
pub enum Handed {
    /// A socket, by its number. It is this thread's.
    Socket(u32, Socket),
    /// The socket of this number, for which its table had no room: it is closed.
    Lost(u32),
    /// Somebody calls.
    Call,
    /// Nothing more will come.
    Over,
}

/// A thread that has been told to end, and what it used. Whoever drops the last waker closes it in his own table alone: so what is
/// opened outside is held until it has ended.
type Ending = (JoinHandle<()>, Vec<Waker>);

/// Those of them for which no other thread could be started that waits for them.
static ENDING: Mutex<Vec<Ending>> = Mutex::new(Vec::new());

impl Table {
    /// Starts a thread that leaves the table of this one, and keeps of what is open these wakers alone. Fails where the system does not
    /// allow that.
    pub fn start(
        name: &str,
        kept: Vec<Waker>,
        work: impl FnOnce(&Inside) + Send + 'static,
    ) -> Result<Self, OsError> {
        forget_those_that_have_ended();
        let (outside, inside) = imp::pair()?;
        let (tell, told) = channel();
        let wakers = kept.clone();
        let place = inside.place();
        let thread = Builder::new().name(name.to_owned()).spawn(move || {
            let left = imp::leave(&inside, &wakers);
            let has_left = left.is_ok();
            let _ = tell.send(left);
            if has_left {
                work(&Inside { link: inside, more: RefCell::default() });
            } else {
                // Nobody has left the table that it is of: it is closed there once.
                inside.forget();
            }
        });
        let thread = thread.map_err(|source| OsError::Call { what: "start a thread", source })?;
        let left = told.recv().map_err(|_| OsError::Call {
            what: "leave a table of descriptors",
            source: io::ErrorKind::Other.into(),
        })?;
        // What the thread has of it is in its own table.
        place.close();
        left?;
        Ok(Self { link: Some(outside), thread: Some(thread), kept })
    }

    /// Hands a socket over. It is closed here.
    pub fn give(&self, number: u32, socket: Socket) -> io::Result<()> {
        self.give_all(vec![(number, socket)])
    }

    /// Hands these over, in their order and as few calls as may be. They are closed here.
    pub fn give_all(&self, sockets: Vec<(u32, Socket)>) -> io::Result<()> {
        let give = |link: &imp::Link| sockets.chunks(AT_ONCE).try_for_each(|them| link.give(them));
        let given = self.link.as_ref().map_or(Ok(()), give);
        drop(sockets);
        given
    }

    /// Ends such threads, all at the same time: all that they have open is closed when this returns.
    pub fn end_all(mut tables: Vec<Self>) {
        tables.iter_mut().for_each(|table| table.link = None);
        for mut table in tables {
            // Where it has panicked all is closed as well.
            let _ = table.thread.take().map(JoinHandle::join);
        }
    }

    /// Calls the thread.
    pub fn call(&self) -> io::Result<()> {
        self.link.as_ref().map_or(Ok(()), imp::Link::call)
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        self.link = None;
        let Some(thread) = self.thread.take() else { return };
        let ending = (thread, std::mem::take(&mut self.kept));
        // Nobody waits for it here, where it may have work yet.
        let (give, given) = channel::<Ending>();
        let wait = move || {
            let Ok((thread, kept)) = given.recv() else { return };
            // Where it has panicked it has ended as well.
            let _ = thread.join();
            drop(kept);
        };
        if Builder::new().name("table-end".to_owned()).spawn(wait).is_ok() {
            // Whoever was started receives it.
            let _ = give.send(ending);
        } else {
            ENDING.lock().unwrap_or_else(PoisonError::into_inner).push(ending);
        }
    }
}

impl Inside {
    /// Waits for what comes next.
    pub fn next(&self) -> Handed {
        // Where it may wait there is something, or nothing comes any more.
        self.take(true).unwrap_or(Handed::Over)
    }

    /// What has come already. Never waits; of what there is to wait for tells the descriptor, once nothing is left of what came before.
    pub fn next_if_there(&self) -> Option<Handed> {
        self.take(false)
    }

    fn take(&self, may_wait: bool) -> Option<Handed> {
        let mut more = self.more.borrow_mut();
        if more.is_empty() {
            self.link.receive(may_wait, &mut more);
        }
        more.pop_front()
    }
}

fn forget_those_that_have_ended() {
    let mut ending = ENDING.lock().unwrap_or_else(PoisonError::into_inner);
    ending.retain(|(thread, _)| !thread.is_finished());
}
