//! How many connections a test has: those that have come when no more do. What it is then is stated by this end's operator (`plan`).

use pathscope_core::Tick;
use pathscope_core::quantity::Period;
use pathscope_flow::{Credentials, Output};

use super::super::TOKEN;
use super::super::plan::planned;
use super::super::stage::Stage;
use super::{MANY, NEXT, NO_MORE, NO_MORE_OF_MANY, NtttcpServer};

impl NtttcpServer {
    pub(super) const fn no_more(&self) -> Period {
        match self.came {
            // Without words they wait for this end already: who comes later begins another test.
            MANY.. if self.has_words => NO_MORE_OF_MANY,
            _ => NO_MORE,
        }
    }

    /// One more connection is there.
    pub(super) fn came(&mut self, now: Tick) {
        self.came = self.came.saturating_add(1);
        let no_more = self.no_more();
        match &mut self.stage {
            Stage::Gathering(deadline) => *deadline = now.plus_nanos(NEXT.0),
            Stage::Assembling => self.senders.iter_mut().for_each(|all| all.connected(now)),
            Stage::Counting(deadline) => *deadline = now.plus_nanos(no_more.0),
            _ => {}
        }
    }

    /// All connections are there that a test has, or all flows.
    pub(super) fn counted(&mut self, now: Tick) {
        let is_of_connections = matches!(self.stage, Stage::Counting(_));
        let lost = self.senders.as_mut().filter(|_| is_of_connections);
        if lost.is_some_and(|senders| senders.take_lost()) {
            return self.outputs.push_back(Output::Recount);
        }
        if let Some(unkept) = self.unkept.take() {
            return self.refuse(unkept);
        }
        if self.came == 0 {
            return self.await_datagrams(now);
        }
        let datagram_bytes = self.datagrams.map(|(bytes, _)| bytes);
        match planned(&self.settings, (self.came, datagram_bytes), self.cycle) {
            Ok(test) => {
                let (plan, credentials) = (
                    Box::new(test),
                    Credentials { token: TOKEN, session: None, goes_ahead: false },
                );
                self.stage = Stage::Preparing(plan.clone());
                self.outputs.push_back(Output::Prepare { credentials, resumed: None, plan });
            }
            Err(refusal) => self.refuse(refusal),
        }
    }

    /// Of those that had come so many are left.
    pub(super) fn recounted(&mut self, left: u32, now: Tick) {
        if !matches!(self.stage, Stage::Assembling | Stage::Counting(_)) {
            return;
        }
        if left < self.came {
            // What had no room was beside those that are gone.
            self.unkept = None;
        }
        self.came = left;
        if let Stage::Counting(_) = self.stage {
            self.counted(now);
        }
    }
}
