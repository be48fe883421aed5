//! A test begins at this end: what is told of it, when its flows are ended by force, and what was chosen.

use pathscope_core::id::Role;
use pathscope_core::record::Substitution;
use pathscope_flow::{Input, Phase, Totals};
use pathscope_os::clock;

use super::substitutions::both_ends;
use super::{Driver, End, STALLED, Talk};
use crate::error::RunError;
use crate::workers::worker::Tells;

impl<D: Talk> Driver<D> {
    /// The flows of a test are to run. Where very many sockets are opened for that, others do so, and it starts, and whatever is to be said
    /// then is said, when they have: what the other end sends from then on would find no flow before.
    pub(super) fn begin(&mut self, end: &mut impl End) {
        let Some(test) = &mut self.test else { return };
        match test.open_elsewhere(&self.inbox) {
            Ok(is_opening) => self.is_opening = is_opening,
            Err(error) => return self.not_started(error, end),
        }
        if !self.is_opening {
            self.start(end);
        }
    }

    /// All are open.
    pub(super) fn opened(&mut self, end: &mut impl End) {
        if std::mem::take(&mut self.is_opening) {
            self.start(end);
        }
    }

    /// Nobody says of flows that do not run how much was sent on them: the other end would wait for that.
    fn not_started(&mut self, error: RunError, end: &mut impl End) {
        self.give_up(error);
        let now = clock::now();
        let unrun = self.test.as_mut().map(|test| test.give_up_unrun(now)).unwrap_or_default();
        for (group, flow) in unrun {
            let (phase, totals) = (Phase::Failed, Totals::default());
            self.dialogue.input(Input::Phase { group, flow, phase, totals }, now);
        }
        // Where nothing runs, nothing will say that it is over.
        self.check_over(end);
    }

    fn start(&mut self, end: &mut impl End) {
        let now = clock::now();
        // What the kernel has kept till now came in that time, and not in the first moment of the test.
        let since = self.dialogue.comes_since().map_or(now, |since| since.min(now));
        let Some(test) = &mut self.test else { return };
        let (consents, is_kept) = (self.dialogue.peer_consents(), self.journal.is_kept());
        let tells = Tells {
            departures: is_kept || self.role == Role::Client && self.dialogue.peer_hears_ends(),
            rows: is_kept,
            status: self.journal.tells_status(),
            acknowledged: self.is_untold,
        };
        // Read once: stamps have to be steady, and what sets the clock amid a test is none of its datagrams'.
        let ahead_ns = if self.dialogue.stamps_time_of_day() {
            clock::wall_unix_ns().saturating_sub(now.as_nanos())
        } else {
            0
        };
        let conventions = self.conventions.numbered(self.dialogue.has_wide_numbers(), ahead_ns);
        let terms = (consents, conventions, tells);
        match test.start(&self.inbox, self.samples.as_ref(), terms, since) {
            Ok(told) => {
                let chosen = both_ends(self.role, &test.substitutions(), &self.there);
                if let Some(duration) = test.test.duration_ns() {
                    self.abandon_at = now + duration.duration() + STALLED;
                }
                self.journal.started(&told, test.test.plan.told_as(self.role), since);
                if self.journal.wants_progress() {
                    test.tell_flows();
                }
                self.journal.step(|| "all connections are attached; the test begins");
                for Substitution { what, asked, ran, why } in &chosen {
                    self.journal.step(|| format!("{what}: {asked} asked for, {ran} runs: {why}"));
                }
                self.tell_came_before();
                end.started(since, chosen);
            }
            Err(error) => self.not_started(error, end),
        }
    }
}
