//! A client's place at the server, and all that is taken for it: given back, whatever ends it.

use std::net::SocketAddr;
use std::sync::Arc;

use pathscope_core::quantity::count;
use pathscope_os::clock;
use pathscope_peers::Refusal;
use pathscope_peers::limits::{Bounds, Excess, Limits, Origin};

use super::{Resource, Sessions};
use crate::server::needs::{FILES_OF_SESSION, SESSION_BYTES, in_steps};
use crate::threads::lock;

/// A client's place at the server, left when it is dropped.
#[derive(Debug)]
pub(in crate::server) struct Admission {
    /// All sessions, this one among them.
    pub sessions: Arc<Sessions>,
    pub from: SocketAddr,
    /// What it has of each [`Resource`].
    taken: [u64; Resource::ALL.len()],
    /// Whether it takes no place for now, since its client is away.
    is_absent: bool,
}

impl Sessions {
    /// A client asks for a session: it gets one, or is told why not.
    pub fn admit(sessions: &Arc<Self>, from: SocketAddr) -> Result<Admission, Refusal> {
        let mut state = lock(&sessions.state);
        state.census.enter(from.ip(), &sessions.settings.limits)?;
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
            Admission { sessions, from, taken: Default::default(), is_absent: false };
        // What was taken is given back with it.
        admission.take_memory(0)?;
        Ok(admission)
    }
}

impl Admission {
    /// What it may have.
    pub fn limits(&self) -> Limits {
        self.sessions.settings.limits.for_caller(self.from.ip())
    }

    /// The client is away, and may come back: its session goes on, and its place is for others meanwhile. Of so many at a
    /// time as there are places, so that clients that come and go leave no more than that behind.
    pub fn step_out(&mut self) {
        let mut state = lock(&self.sessions.state);
        let most = self.sessions.settings.limits.sessions.unwrap_or(u32::MAX);
        if self.is_absent || state.absent >= most {
            return;
        }
        self.is_absent = true;
        state.absent += 1;
        state.census.leave(self.from.ip());
    }

    /// The client is back.
    pub fn step_in(&mut self) {
        let mut state = lock(&self.sessions.state);
        if std::mem::take(&mut self.is_absent) {
            state.absent -= 1;
            state.census.come_back(self.from.ip());
        }
    }

    /// Takes so much memory for a test and for messages beyond what every session has, in place of what was taken before.
    pub fn take_memory(&mut self, wanted: u64) -> Result<(), Refusal> {
        let wanted = in_steps(wanted.saturating_add(SESSION_BYTES));
        let no = |(origin, excess)| Limits::no_memory(wanted, origin, excess);
        self.exchange(Resource::Memory, wanted).map_err(no)
    }

    /// Takes so many threads for a test, in place of those taken before.
    pub fn take_threads(&mut self, wanted: u64) -> Result<(), Refusal> {
        let no = |(origin, excess)| Limits::no_threads(wanted, origin, excess);
        self.exchange(Resource::Threads, wanted).map_err(no)
    }

    /// Takes files for the sockets of a test, in place of those taken before. `elsewhere`: those in tables of workers' own, which are held to
    /// what a session and an address may have, and take no place in the table that all threads share.
    pub fn take_files(&mut self, (wanted, elsewhere): (u64, u64)) -> Result<(), Refusal> {
        let all = wanted.saturating_add(elsewhere);
        let what = format!("{} descriptors for the test's connections and threads", count(all));
        let no = |sentence, hint| Refusal::new("unable", sentence).with_hint(hint);
        if let Some(most) = self.limits().descriptors.filter(|&most| all > most) {
            return Err(no(
                format!("{what} are more than its limit of {} a session", count(most)),
                "ask for fewer connections, or start the server with a higher --limit-descriptors",
            ));
        }
        let both = [(Resource::AllDescriptors, all), (Resource::Descriptors, wanted)];
        let mut both = both.into_iter();
        let taken = both.try_for_each(|(resource, wanted)| self.exchange(resource, wanted));
        taken.map_err(|(origin, excess)| match excess {
            Excess::All { free, .. } => no(
                format!("{wanted} connections are more than the {free} that it has files for now"),
                "ask for fewer, try again later, or raise its limit of open files (ulimit -n)",
            ),
            Excess::Origin { taken, most } => no(
                format!(
                    "{what}, beside {} of other sessions from {origin}, are more than its limit of {} from one address",
                    count(taken),
                    count(most)
                ),
                "try again when one of them has ended, ask for fewer connections, or start the server with a higher \
                 --limit-descriptors-per-address",
            ),
        })
    }

    /// Takes so much in place of what was taken before; or says who has too much. Less is always given, and what is not limited
    /// is not counted.
    fn exchange(&mut self, of: Resource, wanted: u64) -> Result<(), (Origin, Excess)> {
        let had = self.taken[of as usize];
        if wanted == had {
            return Ok(());
        }
        let limits = self.limits();
        let mut state = lock(&self.sessions.state);
        let bounds = match of {
            Resource::Descriptors => {
                Bounds { all: Some(state.files_for_tests()), ..Bounds::default() }
            }
            Resource::AllDescriptors => {
                Bounds { origin: limits.descriptors_per_address, ..Bounds::default() }
            }
            Resource::Threads => limits.threads(),
            Resource::Memory => limits.memory(),
        };
        if bounds == Bounds::default() {
            return Ok(());
        }
        let origin = Origin::of(self.from.ip());
        let taken = state.taken[of as usize].exchange(origin, (had, wanted), bounds);
        taken.map_err(|excess| (origin, excess))?;
        self.taken[of as usize] = wanted;
        Ok(())
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        for resource in Resource::ALL {
            // Nothing is always given.
            let _ = self.exchange(resource, 0);
        }
        let mut state = lock(&self.sessions.state);
        if self.is_absent {
            state.absent -= 1;
        } else {
            state.census.leave(self.from.ip());
        }
        state.present -= 1;
        state.empty_since = clock::now();
        drop(state);
        self.sessions.listener.wake();
    }
}
