//! What one session adds to its server's totals, from its begin to its end, however that comes.

use std::collections::BTreeMap;
use std::sync::Arc;

use pathscope_core::id::Role;
use pathscope_modes::amounts::Amounts;
use pathscope_modes::registry::{EndInterval, EndReport};
use pathscope_peers::registry::PeerKind;

use super::{Running, Totals};
use crate::threads::lock;

/// One session's part.
#[derive(Debug)]
pub(in crate::server) struct Account {
    totals: Arc<Totals>,
    peer: PeerKind,
    number: u64,
    /// Whether it has run a test.
    has_run: bool,
    /// What the test that runs is called, and what each end said of it.
    test: Option<Test>,
    ended: Ended,
}

/// How a session ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::server) enum Ended {
    Well,
    /// By a fault of ours, as long as nothing else is known.
    Badly,
    /// By the end of the server.
    Cut,
}

#[derive(Debug)]
struct Test {
    mode: &'static str,
    /// Whether its connections have ended well only once the other end has said so.
    is_confirmed: bool,
    here: Option<BTreeMap<&'static str, Amounts>>,
    there: BTreeMap<&'static str, Amounts>,
}

impl Account {
    /// A session with a client of this kind begins.
    pub fn begin(totals: &Arc<Totals>, peer: PeerKind) -> Self {
        let mut state = lock(&totals.state);
        let number = state.sessions.begun;
        state.sessions.begun += 1;
        drop(state);
        let totals = Arc::clone(totals);
        Self { totals, peer, number, has_run: false, test: None, ended: Ended::Badly }
    }

    /// Its test begins, which is one of this mode; `is_confirmed`: its connections have ended well only once the other end has said
    /// so.
    pub fn test_begins(&mut self, mode: &'static str, is_confirmed: bool) {
        self.test_over();
        self.has_run = true;
        self.test = Some(Test { mode, is_confirmed, here: None, there: BTreeMap::new() });
        let so_far = BTreeMap::from([(mode, Amounts::default())]);
        let running = Running { peer: self.peer, mode, so_far };
        lock(&self.totals.state).running.insert(self.number, running);
    }

    /// An interval of it has passed at this end.
    pub fn interval(&self, interval: &EndInterval) {
        if let Some(running) = lock(&self.totals.state).running.get_mut(&self.number) {
            for (mode, amounts) in interval.amounts() {
                running.so_far.entry(mode).or_default().add(&amounts);
            }
        }
    }

    /// One end says what it came to.
    pub fn report(&mut self, whose: Role, report: &EndReport) {
        let Some(test) = &mut self.test else { return };
        let amounts = report.amounts().collect();
        match whose {
            Role::Server => test.here = Some(amounts),
            Role::Client => test.there = amounts,
        }
    }

    /// It is over: what reports say takes the place of what intervals said.
    pub fn test_over(&mut self) {
        self.settle(false);
    }

    /// Where the session was lost, what was to be confirmed and never was has failed, as its rows say.
    fn settle(&mut self, is_lost: bool) {
        let Some(Test { mode, is_confirmed, here, there }) = self.test.take() else { return };
        let is_unconfirmed = is_lost && is_confirmed && there.is_empty();
        let mut state = lock(&self.totals.state);
        let running = state.running.remove(&self.number);
        let came_to = here.or(running.map(|running| running.so_far)).unwrap_or_default();
        state.kinds.entry((self.peer, mode)).or_default().tests += 1;
        for (mode, own) in came_to {
            let own = there.get(mode).map_or(own, |there| own.judged_with(there));
            let own = if is_unconfirmed { own.unconfirmed() } else { own };
            state.kinds.entry((self.peer, mode)).or_default().amounts.add(&own);
        }
    }

    /// A test of its client was refused.
    pub fn refuse(&self) {
        self.totals.refuse();
    }

    /// The session has ended.
    pub const fn close(&mut self, ended: Ended) {
        self.ended = ended;
    }
}

/// However it ends, by a fault of ours too.
impl Drop for Account {
    fn drop(&mut self) {
        self.settle(self.ended == Ended::Badly);
        let mut state = lock(&self.totals.state);
        let sessions = &mut state.sessions;
        *match self.ended {
            _ if !self.has_run => &mut sessions.idle,
            Ended::Well => &mut sessions.served,
            Ended::Badly => &mut sessions.failed,
            Ended::Cut => &mut sessions.cut,
        } += 1;
    }
}
