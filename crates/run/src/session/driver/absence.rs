//! The control connection is lost and the session goes on: what is done until there is another.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::id::Role;
use pathscope_flow::{Event, Input};
use pathscope_os::clock;

use super::control::Control;
use super::{Driver, End, Parting, Talk};
use crate::error::RunError;
use crate::paths::log::ServerIs;
use crate::session::reconnection;

impl<D: Talk> Driver<D> {
    /// The control connection is of no use, and another is to take its place.
    pub(super) fn reconnect(&mut self) {
        self.control.hang_up();
        self.journal.step(|| "the control connection is lost, and is to be made anew");
        // A server waits for its client.
        if self.role == Role::Client {
            self.ask_for_server();
        }
    }

    /// Tells this end and the flows of the test where the control connection is lost, and where it is there again.
    pub(super) fn tell_absence(&mut self, end: &mut impl End) {
        let is_away = self.dialogue.is_away();
        if std::mem::replace(&mut self.is_away, is_away) != is_away {
            end.away(is_away);
            if is_away && self.role == Role::Server {
                self.journal.step(|| "the client is away, and its place is for others");
            }
            let event = if is_away { Event::PeerAway } else { Event::PeerBack };
            self.test.iter().for_each(|test| test.tell_all_alike(event));
        }
    }

    /// Nobody knows the session any more.
    pub(super) fn session_lost(&mut self) {
        self.journal.step(|| "the server is gone; the test goes on, and it is asked for");
        self.paths().for_each(|paths| paths.note_server(ServerIs::Gone));
    }

    /// Has a thread ask for the server, unless one does.
    fn ask_for_server(&mut self) {
        let Some(server) = self.remote.filter(|_| !self.reconnects) else { return };
        let now = clock::now();
        // A path that breaks each connection, or a server that refuses, is not flooded.
        let is_first = now >= self.asked_at + reconnection::PAUSE;
        self.asked_at = now;
        let pause = if is_first { Duration::ZERO } else { reconnection::PAUSE };
        self.unasked = match reconnection::start(server, pause, self.inbox.clone()) {
            Ok(()) => {
                self.reconnects = true;
                None
            }
            Err(error) => {
                self.journal.step(|| error.to_string());
                // The end of a session; what outlives one is not ended by that.
                self.dialogue.input(Input::Unreached, now);
                Some((error, now + reconnection::PAUSE))
            }
        };
    }

    /// Where nobody asks for the server, since this machine lacked something, that is tried again when it is time.
    pub(super) fn ask_again(&mut self, now: Tick) {
        if self.unasked.take_if(|(_, at)| now >= *at).is_some() {
            self.ask_for_server();
        }
    }

    /// Why the dialogue has failed, with why nobody asked for the server.
    pub(super) fn told_with_unasked(&mut self, error: RunError) -> RunError {
        match self.unasked.take() {
            Some((why, _)) => RunError::Unsupported(format!(
                "{error}; and this machine could not ask for the server again: {why}"
            )),
            None => error,
        }
    }

    /// The connection that has come carries the session from here on.
    pub(super) fn take_over(&mut self) {
        let Some(stream) = self.candidate.take() else { return };
        self.control.hang_up();
        if self.replace_control(stream) {
            self.journal.step(|| "the client is back on another connection");
        } else {
            // The client comes again.
            self.dialogue.input(Input::ControlClosed, clock::now());
        }
    }

    /// This connection takes the place of the control connection. Whether it does: it may have broken at once, or this machine
    /// lacks something for now.
    fn replace_control(&mut self, stream: TcpStream) -> bool {
        match Control::new(stream, self.role, self.watch.clone()) {
            Ok(control) => self.control = control,
            Err(error) => {
                self.journal.step(|| error.to_string());
                return false;
            }
        }
        true
    }

    /// The connection that has come is none of this session's.
    pub(super) fn turn_away(&mut self, bytes: &[u8], end: &mut impl End) {
        if let Some(mut stream) = self.candidate.take() {
            // A few bytes on a connection that has sent nothing yet always fit.
            let _ = stream.write_all(bytes);
            end.parts_with(Parting::Told(stream));
        }
    }

    /// The control connection is there again.
    pub(super) fn reconnected(&mut self, stream: TcpStream) {
        if !std::mem::take(&mut self.reconnects) {
            return;
        }
        if self.replace_control(stream) {
            self.dialogue.input(Input::Reconnected, clock::now());
        } else {
            self.ask_for_server();
        }
    }
}
