//! What went wrong with a test, as far as this end knows it and its client may not: a person at the server is told, and the journal
//! keeps it.

use pathscope_core::finding::Finding as _;
use pathscope_core::quantity::{count, counted};
use pathscope_modes::registry::EndReport;
use pathscope_peers::dialogue::Renewals;

use super::ServerEnd;
use crate::findings::RunCaveat;

impl ServerEnd<'_> {
    /// Something went wrong, or came and is in no count.
    fn tell_trouble(&self, line: String) {
        self.log.on_stranger(self.admission.from, &line);
        let journal = &self.admission.sessions.settings.journal;
        journal.trouble(Some(self.admission.from.to_string()), line);
    }

    /// Its control connection did not last.
    pub(super) fn tell_renewals(&self, renewals: Renewals) {
        if renewals.made > 0 {
            let (made, damaged) =
                (count(renewals.made.into()), count(renewals.damaged_here.into()));
            let line = format!(
                "its control connection was lost and made anew (times: {made}; of its messages came damaged: {damaged})"
            );
            self.log.on_stranger(self.admission.from, &line);
        }
    }

    /// A flow came too late to be of its test.
    pub(super) fn tell_left_out(&self) {
        let line = "a UDP flow of its began when those of its test had been counted: what comes on it is not counted";
        self.tell_trouble(line.to_owned());
    }

    /// What this end lost of a test.
    pub(super) fn tell_losses(&self, report: &EndReport) {
        self.tell_drops(report);
        self.tell_failed_workers(report);
    }

    /// What this end dropped of datagrams without numbers nobody else can miss.
    fn tell_drops(&self, report: &EndReport) {
        let unnumbered = report.datagrams.as_ref().filter(|report| report.is_unnumbered);
        let drops = unnumbered.and_then(|report| report.socket_drops).unwrap_or(0);
        if drops > 0 {
            let times = counted(drops, "time");
            self.tell_trouble(format!(
                "datagrams came faster than they were taken: {times} its flows' sockets had no room, and what was dropped is in no count"
            ));
        }
    }

    /// Why workers could not go on: the flows of each have failed of it here.
    fn tell_failed_workers(&self, report: &EndReport) {
        let name = RunCaveat::WorkerFailed.name();
        for caveat in report.caveats.iter().filter(|caveat| caveat.name == name) {
            self.tell_trouble(format!("a thread of its test could not go on: {}", caveat.text));
        }
    }
}
