//! What came of a test and is in no count, as far as this end knows it: a person at the server is told, and the journal keeps it.

use pathscope_core::quantity::counted;
use pathscope_modes::registry::EndReport;

use super::ServerEnd;

impl ServerEnd<'_> {
    /// Something came that is in no count.
    pub(super) fn tell_uncounted(&self, line: String) {
        self.log.on_stranger(self.admission.from, &line);
        let journal = &self.admission.sessions.settings.journal;
        journal.trouble(Some(self.admission.from.to_string()), line);
    }

    /// What this end dropped of datagrams without numbers nobody else can miss.
    pub(super) fn tell_drops(&self, report: &EndReport) {
        let unnumbered = report.datagrams.as_ref().filter(|report| report.is_unnumbered);
        let drops = unnumbered.and_then(|report| report.socket_drops).unwrap_or(0);
        if drops > 0 {
            let times = counted(drops, "time");
            self.tell_uncounted(format!(
                "datagrams came faster than they were taken: {times} its flows' sockets had no room, and what was dropped is in no count"
            ));
        }
    }
}
