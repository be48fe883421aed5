//! A session that is to end before its sender says so: somebody wants it to, or its flows go on for too long.

use pathscope_core::Tick;
use pathscope_core::id::Role;
use pathscope_flow::{Event, Output};
use pathscope_modes::groups::MAIN;

use super::super::run;
use super::super::stage::Stage;
use super::NtttcpServer;
use crate::PeerError;
use crate::dialogue::STOP_TAKES;

impl NtttcpServer {
    /// What runs is to end now: connections are broken that have not ended. Whether it was to already.
    pub(super) fn stop_flows(&mut self, fault: Option<PeerError>, now: Tick) -> bool {
        let Stage::Running(run) = &mut self.stage else { return true };
        if run.is_stopped {
            return true;
        }
        run.stop(fault, now);
        self.outputs.push_back(Output::Tell { group: MAIN, flow: None, event: Event::Stop });
        false
    }

    /// Somebody wants this end to stop. Asked twice, no flow is waited for.
    pub(super) fn stop(&mut self, reason: &str, now: Tick) {
        if matches!(self.stage, Stage::Over) || !self.stop_flows(None, now) {
            return;
        }
        if let Stage::Leaving { .. } = self.stage {
            return self.leave();
        }
        let (moment, reason) = (self.stage.moment(), reason.to_owned());
        self.end(Err(PeerError::Stopped { who: Role::Server, by_this_end: true, moment, reason }));
    }

    /// The flows were to be over by now.
    pub(super) fn overdue(&mut self, now: Tick) {
        let Stage::Running(run) = &self.stage else { return };
        let goes_on = !run.has_ended && (self.is_heard() || !self.has_words);
        let limit = self.settings.limits.duration_ns.filter(|_| self.cycle.is_none());
        // Else its connections ended with it, and word of that was lost.
        let fault = goes_on.then(|| run::overdue(limit));
        if self.stop_flows(fault, now) {
            self.end(Err(PeerError::Unfinished { limit: STOP_TAKES, since: "of the stop" }));
        }
    }
}
