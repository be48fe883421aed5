//! When there is something to do in a session whatever comes, and what is done then.

use pathscope_core::Tick;
use pathscope_core::id::Role;
use pathscope_flow::{Event, Input};
use pathscope_modes::conventions::StreamEnd;
use pathscope_os::clock;

use super::{DESERTED, Driver, STALLED, Talk, UNDELIVERED, UNDELIVERED_STOPPING};
use crate::session::running::{Patience, RunningTest};

impl<D: Talk> Driver<D> {
    /// The other end has reported: all its flows are over. What it sent may still be on its way; what has not come when
    /// nothing moves any more has been lost.
    pub(super) fn end_with_peer(&mut self) {
        let Some(test) = &mut self.test else { return };
        let report_every = test.test.report_every_ns.duration();
        // When something last moved is known that exactly.
        self.stalled = STALLED + report_every;
        // Nothing follows what the client has reported: its echoes need not be awaited, and no flow of it comes.
        if self.role == Role::Server {
            test.tell_all(Event::Stop);
            if test.replaces() {
                test.close_entrances(None);
                self.stalled = DESERTED.max(report_every);
            }
        }
        let at = clock::now() + self.stalled;
        self.stop_by(at);
    }

    pub(super) fn stop_by(&mut self, at: Tick) {
        self.abandon_at = self.abandon_at.min(at);
    }

    /// When there is something to do whatever comes.
    pub(super) fn next_deadline(&self) -> Tick {
        let dialogue = self.dialogue.deadline().unwrap_or(Tick::NEVER);
        let until = if self.is_running() { dialogue.min(self.abandon_at) } else { dialogue };
        let asks = self.unasked.as_ref().map_or(Tick::NEVER, |&(_, at)| at);
        let until = until.min(self.deserted_at).min(asks);
        until.min(self.test.as_deref().map_or(Tick::NEVER, RunningTest::next_look))
    }

    /// How long what was sent has to be acknowledged.
    pub(super) fn patience(&self) -> Patience {
        let without_progress = if self.stopping || self.trouble.is_some() {
            UNDELIVERED_STOPPING
        } else {
            UNDELIVERED
        };
        // Nobody reads what is on its way to a client that has stopped its server.
        let is_wanted = self.role == Role::Client || self.conventions.end != StreamEnd::Stopped;
        let until = if is_wanted { self.awaited } else { Tick::ZERO };
        Patience { without_progress, until }
    }

    pub(super) fn keep_time(&mut self) {
        let now = clock::now();
        let is_late = self.dialogue.deadline().is_some_and(|deadline| now >= deadline);
        // What has come and waits for its turn is as good as heard: where this end is slow, or one of very many sessions of a thread that has no
        // processor for a while, or listens to nobody who is slow to listen.
        if is_late {
            self.listen();
            self.hear_participants();
        }
        if self.dialogue.deadline().is_some_and(|deadline| now >= deadline) {
            self.dialogue.input(Input::Deadline, now);
        }
        self.ask_again(now);
        if now < self.abandon_at {
            return;
        }
        // What the other end has to say is awaited while it is away, within the bounds of the dialogue.
        let last = if self.is_away { now } else { self.moved_at };
        self.abandon_at = last + self.stalled;
        if self.stopping || self.trouble.is_some() || now >= self.abandon_at {
            self.abandon_at = Tick::NEVER;
            self.test.iter().for_each(|test| test.abandon());
        }
    }
}
