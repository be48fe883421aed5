//! What a server does from when it is told to end until the last session is over. Not here: what a session does then.

use pathscope_core::Tick;
use pathscope_core::quantity::counted;
use pathscope_os::clock;
use pathscope_os::readiness::Ready;
use pathscope_peers::dialogue::STOP_TAKES;

use super::Serving;
use crate::error::RunError;

impl Serving<'_> {
    /// Whoever runs it wants it to end: sessions are told and end, each within its own time.
    pub(super) fn end(&mut self, ready: &mut Vec<Ready>) -> Result<(), RunError> {
        let Self { stop, log, .. } = *self;
        let reason = stop.reason().unwrap_or("stopped");
        log.own(&match self.sessions.count() {
            0 => format!("{reason}: no session is there; ending"),
            sessions => format!(
                "{reason}: ending {}: flows that run finish and clients' reports are awaited, for {} at most; a second \
                 Ctrl-C (or signal) waits for nobody",
                counted(sessions as u64, "session"),
                STOP_TAKES
            ),
        });
        // Those that it does not listen to for a moment are removed already.
        self.full_until = self.full_until.map(|_| Tick::ZERO);
        self.listen_again(clock::now());
        self.is_ending = true;
        for (_, listener) in self.own_listeners() {
            // Where listeners are left alone for a moment, it is removed already, and is not listened to again.
            let _ = self.poller.remove(listener);
        }
        // Sessions hear the same wish and end by themselves, each within its own deadlines; the scope waits for the threads that
        // hold them.
        // Until then nobody's connection is closed from here: a word that was told could be lost. Connections that a client makes
        // before it has heard are answered: it would wait for each.
        // Each that leaves wakes this thread.
        while self.sessions.count() > 0 {
            self.turn(ready)?;
        }
        self.part_with_all();
        self.tell_totals_if_asked();
        Ok(())
    }
}
