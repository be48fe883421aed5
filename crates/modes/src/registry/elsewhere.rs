//! Probes that ran in a test of their own, at another server than the load that they were beside: what they came to becomes that load's.
//! Not how the two are run side by side, which is `run`'s.

use super::{EndInterval, EndReport, InDocuments, ProbePlan};

impl EndInterval {
    /// Has what pings did as probes, of an interval of theirs.
    pub fn take_probes(&mut self, of_probes: &Self) {
        *ProbePlan::interval_mut(self) = ProbePlan::interval(of_probes).cloned();
    }

    /// Whether it says something of pings.
    pub fn has_probes(&self) -> bool {
        ProbePlan::interval(self).is_some()
    }
}

impl EndReport {
    /// Has what pings came to as probes, of the report on a test that was theirs alone.
    pub fn take_probes_of_test(&mut self, mut of_probes: Self) {
        self.probe_workers.append(&mut of_probes.workers);
        self.caveats.append(&mut of_probes.caveats);
        self.take_probes(of_probes);
    }
}
