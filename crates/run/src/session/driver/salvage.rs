//! After a dialogue has ended before its time: flows that run end, by themselves or by force, and what they came to is told at this
//! end alone.

use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::id::Role;
use pathscope_flow::Event;
use pathscope_os::clock;

use super::{Driver, End, Talk};
use crate::RunError;
use crate::messages::inbox::SessionMessage;

/// After the end of the dialogue, flows have so long to end by themselves.
const BY_THEMSELVES: Duration = Duration::from_secs(1);

/// And where answers are awaited: more than a machine awaits them.
const ANSWERS: Duration = Duration::from_secs(6);

/// Flows that are ended by force are waited for as long as something comes within this time.
const BY_FORCE: Duration = Duration::from_millis(500);

/// How long flows have to end by themselves once the dialogue has.
pub(super) const fn within(awaits_answers: bool) -> Duration {
    if awaits_answers { ANSWERS } else { BY_THEMSELVES }
}

/// Flows that are being ended.
#[derive(Debug)]
pub(super) struct Salvage {
    /// Until when they are waited for as they are ended now.
    until: Tick,
    by_force: bool,
}

impl<D: Talk> Driver<D> {
    /// Ends the flows, and takes what they came to, on a thread of its own.
    pub fn salvage(&mut self, end: &mut impl End) {
        self.begin_salvage(end);
        while let Some(until) = self.go_on_salvaging(end) {
            if let Some(word) = self.messages.take_within(until.since(clock::now())) {
                self.salvage_from(word, end);
            }
        }
    }

    /// The session has failed so: its test, if any runs, is told as one that has.
    pub fn tell_failure(&mut self, error: &RunError) {
        self.journal.failed(error);
    }

    /// The flows of a test, if any run, are to end. Nothing is heard or said any more.
    pub fn begin_salvage(&mut self, end: &mut impl End) {
        self.is_opening = false;
        self.control.ignore();
        self.part_with_those_heard(end);
        let Some(test) = &mut self.test else { return };
        self.journal.stops(clock::now());
        test.tell_all(Event::Stop);
        test.close_entrances(None);
        // A client's whose paths come and go awaits the answers that may still come, and only then knows what was lost.
        let awaits_answers = self.role == Role::Client && test.test.roams();
        let until = clock::now() + within(awaits_answers);
        self.salvage = Some(Salvage { until, by_force: false });
    }

    /// Takes word, and does what it is time for. When to come back at the latest; nothing where all has ended, and what it came
    /// to has been told.
    pub fn go_on_salvaging(&mut self, end: &mut impl End) -> Option<Tick> {
        self.inbox.waker.drain();
        while let Some(word) = self.messages.take() {
            self.salvage_from(word, end);
        }
        let now = clock::now();
        if self.is_running()
            && let Some(salvage) = &mut self.salvage
        {
            if now < salvage.until {
                return Some(salvage.until);
            }
            if !std::mem::replace(&mut salvage.by_force, true) {
                salvage.until = now + BY_FORCE;
                self.test.iter().for_each(|test| test.abandon());
                return Some(now + BY_FORCE);
            }
        }
        if self.salvage.take().is_some() {
            self.tell_alone(end);
        }
        None
    }

    fn salvage_from(&mut self, word: SessionMessage, end: &mut impl End) {
        let now = clock::now();
        let stops = matches!(word, SessionMessage::Stop(_));
        if let Some(salvage) = &mut self.salvage {
            match (salvage.by_force, stops) {
                // The user waits no longer.
                (false, true) => salvage.until = now,
                (true, _) => salvage.until = now + BY_FORCE,
                (false, false) => {}
            }
        }
        if !stops {
            self.take(word, end);
        }
    }

    /// What flows came to, of which the other end does not hear.
    fn tell_alone(&mut self, end: &mut impl End) {
        // Rows that waited for the other end say what the report says.
        let report = self
            .test
            .as_mut()
            .and_then(|test| test.take_report(&self.journal.names::<D>(test.token)));
        if let Some(report) = report {
            self.journal.reported(&report);
            end.report(self.role, report);
        }
        self.journal.alone(self.stopping);
        self.test = None;
    }
}
