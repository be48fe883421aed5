//! The other end is gone and the test goes on: what the session does until it is back.

use std::net::TcpStream;

use pathscope_flow::{Dialogue, Input};
use pathscope_modes::registry::{EndInterval, EndReport, Test};
use pathscope_os::clock;

use super::Driver;
use super::control::Control;
use crate::error::RunError;
use crate::reconnection;
use crate::test::RunningTest;

impl<D> Driver<D>
where
    D: Dialogue<Plan = Test, Interval = EndInterval, Report = EndReport>,
    RunError: From<D::Error>,
{
    /// Another control connection is wanted.
    pub(super) fn reconnect(&mut self) {
        self.control.hang_up();
        self.test.iter().for_each(RunningTest::server_gone);
        self.ask_for_server();
    }

    /// Has a thread ask for the server, unless one does.
    fn ask_for_server(&mut self) {
        let Some(server) = self.remote.filter(|_| !self.reconnects) else { return };
        self.journal
            .step(|| "the server is gone; the test goes on, and it is asked for".to_owned());
        match reconnection::start(server, self.mailbox.clone()) {
            Ok(()) => self.reconnects = true,
            // Nobody asks then, and that it was lost is what is told.
            Err(error) => self.journal.step(|| error.to_string()),
        }
    }

    /// The control connection is there again.
    pub(super) fn reconnected(&mut self, stream: TcpStream) {
        if !std::mem::take(&mut self.reconnects) {
            return;
        }
        match Control::new(stream, self.mailbox.waker().clone()) {
            Ok(control) => {
                self.control = control;
                self.dialogue.input(Input::Reconnected, clock::now());
            }
            // It broke at once, or this machine lacks something for now.
            Err(error) => {
                self.journal.step(|| error.to_string());
                self.ask_for_server();
            }
        }
    }
}
