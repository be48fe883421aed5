//! A client's place at the server, and all that is taken for it: given back, whatever ends it.

use std::net::SocketAddr;
use std::sync::Arc;

use pathscope_core::quantity::count;
use pathscope_peers::Refusal;
use pathscope_peers::limits::{Bounds, Excess, Limits, Origin};

use super::Sessions;
use crate::error::RunError;
use crate::server::needs::{FILES_OF_SESSION, SESSION_BYTES, in_steps};

/// A client's place at the server, left when it is dropped.
#[derive(Debug)]
pub(in crate::server) struct Admission {
    sessions: Arc<Sessions>,
    pub from: SocketAddr,
    files: u64,
    memory: u64,
    threads: u64,
    /// Whether it takes no place for now, since its client is away.
    is_absent: bool,
}

impl Sessions {
    /// A client asks for a session: it gets one, or is told why not.
    pub fn admit(sessions: &Arc<Self>, from: SocketAddr) -> Result<Admission, Refusal> {
        let mut state = sessions.state();
        state.census.enter(from.ip(), &sessions.limits)?;
        if state.files_free() < FILES_OF_SESSION {
            state.census.leave(from.ip());
            let sentence = "it has no descriptors left for another session";
            let hint =
                "try again when a test has ended, or raise its limit of open files (ulimit -n)";
            return Err(Refusal::new("descriptors", sentence).with_hint(hint));
        }
        state.present += 1;
        drop(state);
        let sessions = Arc::clone(sessions);
        let mut admission =
            Admission { sessions, from, files: 0, memory: 0, threads: 0, is_absent: false };
        // What was taken is given back with it.
        admission.take_threads(0).and_then(|()| admission.take_memory(0))?;
        Ok(admission)
    }
}

impl Admission {
    /// All sessions, this one among them.
    pub fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// The same, for longer than this place.
    pub fn share(&self) -> Arc<Sessions> {
        Arc::clone(&self.sessions)
    }

    /// What it may have.
    pub fn limits(&self) -> Limits {
        self.sessions.limits.for_caller(self.from.ip())
    }

    /// The client is away, and may come back: its session goes on, and its place is for others meanwhile. Of so many at a
    /// time as there are places, so that clients that come and go leave no more than that behind.
    pub fn step_out(&mut self) {
        let mut state = self.sessions.state();
        let most = self.sessions.limits.sessions.unwrap_or(u32::MAX);
        if self.is_absent || state.absent >= most {
            return;
        }
        self.is_absent = true;
        state.absent += 1;
        state.census.leave(self.from.ip());
    }

    /// The client is back.
    pub fn step_in(&mut self) {
        let mut state = self.sessions.state();
        if std::mem::take(&mut self.is_absent) {
            state.absent -= 1;
            state.census.come_back(self.from.ip());
        }
    }

    /// Takes so much memory for a test and for messages beyond what every session has, in place of what was taken before.
    pub fn take_memory(&mut self, wanted: u64) -> Result<(), Refusal> {
        let wanted = in_steps(wanted.saturating_add(SESSION_BYTES));
        if wanted == self.memory {
            return Ok(());
        }
        let origin = Origin::of(self.from.ip());
        let bounds = self.limits().memory();
        let taken = self.sessions.state().memory.exchange(origin, (self.memory, wanted), bounds);
        taken.map_err(|excess| Limits::no_memory(wanted, origin, excess))?;
        self.memory = wanted;
        Ok(())
    }

    /// Takes so many threads for a test beside its own, in place of those taken before. They are counted where they are
    /// limited.
    pub fn take_threads(&mut self, wanted: u64) -> Result<(), Refusal> {
        let bounds = self.limits().threads();
        if bounds == Bounds::default() {
            return Ok(());
        }
        let wanted = wanted.saturating_add(1);
        let origin = Origin::of(self.from.ip());
        let taken = self.sessions.state().threads.exchange(origin, (self.threads, wanted), bounds);
        taken.map_err(|excess| Limits::no_threads(wanted, origin, excess))?;
        self.threads = wanted;
        Ok(())
    }

    /// Takes files for the sockets of a test, in place of those taken before.
    pub fn take_files(&mut self, wanted: u64) -> Result<(), RunError> {
        let limits = &self.sessions.limits;
        if let Some(most) = limits.descriptors.filter(|&most| wanted > most) {
            let [wanted, most] = [wanted, most].map(count);
            return Err(RunError::DescriptorsOfSession { wanted, most });
        }
        let origin = Origin::of(self.from.ip());
        let mut state = self.sessions.state();
        let bounds =
            Bounds { all: Some(state.files_for_tests()), origin: limits.descriptors_per_address };
        let taken = state.files_taken.exchange(origin, (self.files, wanted), bounds);
        taken.map_err(|excess| match excess {
            Excess::All { free, .. } => RunError::NoFiles { wanted, free },
            Excess::Origin { taken, most } => {
                let [wanted, taken, most] = [wanted, taken, most].map(count);
                RunError::DescriptorsOfAddress { wanted, taken, origin, most }
            }
        })?;
        self.files = wanted;
        Ok(())
    }

    /// Gives back what was taken.
    pub fn give_files_back(&mut self) {
        // Nothing is always given.
        let _ = self.take_files(0);
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        self.give_files_back();
        let origin = Origin::of(self.from.ip());
        let mut state = self.sessions.state();
        // Nothing is always given.
        let _ = state.memory.exchange(origin, (self.memory, 0), Bounds::default());
        let _ = state.threads.exchange(origin, (self.threads, 0), Bounds::default());
        if self.is_absent {
            state.absent -= 1;
        } else {
            state.census.leave(self.from.ip());
        }
        state.present -= 1;
        self.sessions.left.notify_all();
        self.sessions.listener.wake();
    }
}
