//! Connections that come past the session's thread where somebody writes each of them down: what their rows need, until that thread
//! reads it. Bounded: where it reads too slowly, some are left out, and counted. Not the rows, which are `journal`'s.

use std::net::SocketAddr;

use pathscope_core::Tick;
use pathscope_core::id::FlowId;
use pathscope_core::journal::Ended;
use pathscope_core::quantity::{count, counted};
use pathscope_core::record::{Caveat, FlowError};

use crate::findings::RunCaveat;

/// So many whose rows are still to be written may there be beside those that run.
const BEHIND: u32 = 10_000;

/// A connection that has come.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Newcomer {
    pub flow: FlowId,
    /// This end's address and the other's.
    pub ends: [Option<SocketAddr>; 2],
    /// When its data could begin.
    pub since: Tick,
}

/// Those of one end.
#[derive(Debug)]
pub(super) struct Newcomers {
    came: Vec<Newcomer>,
    /// Those whose rows are not written yet.
    unwritten: u32,
    most: u32,
    /// How those ended that are left out.
    left_out: Ended,
}

impl Newcomers {
    /// None yet, of which so many run at once.
    pub fn new(at_once: u32) -> Self {
        let most = at_once.saturating_add(BEHIND);
        Self { came: Vec::new(), unwritten: 0, most, left_out: Ended::default() }
    }

    /// One has come. Whether there is room for it.
    pub fn add(&mut self, newcomer: Newcomer) -> bool {
        let is_told = self.unwritten < self.most;
        if is_told {
            self.unwritten += 1;
            self.came.push(newcomer);
        }
        is_told
    }

    /// One of those for which there was no room has ended.
    pub fn leave_out(&mut self, error: Option<&FlowError>) {
        self.left_out.count(error);
    }

    /// Those that have come since the last time, and how those ended so far that are left out; of those before, so many rows were written.
    pub fn take(&mut self, written: u32) -> (Vec<Newcomer>, Ended) {
        self.unwritten = self.unwritten.saturating_sub(written);
        (std::mem::take(&mut self.came), self.left_out)
    }

    /// That some are left out.
    pub fn caveat(&self) -> Option<Caveat> {
        let Ended { completed, network_errors, data_errors, protocol_errors } = self.left_out;
        let failed = network_errors + data_errors + protocol_errors;
        let all = completed + failed;
        (all > 0).then(|| {
            let text = format!(
                "{} had no row in any file and on no screen, of which {} failed: they came faster than they were written down",
                counted(all, "connection"),
                count(failed)
            );
            Caveat::new(RunCaveat::FileIncomplete, text)
        })
    }
}

/// How these and others ended.
pub(super) fn both(one: Ended, other: Ended) -> Ended {
    Ended {
        completed: one.completed.saturating_add(other.completed),
        network_errors: one.network_errors.saturating_add(other.network_errors),
        data_errors: one.data_errors.saturating_add(other.data_errors),
        protocol_errors: one.protocol_errors.saturating_add(other.protocol_errors),
    }
}

#[cfg(test)]
mod tests {
    use pathscope_core::record::FlowErrorKind;

    use super::*;

    #[test]
    fn who_is_not_written_down_in_time_is_left_out_and_counted() {
        let mut newcomers = Newcomers::new(5);
        let one = |flow| Newcomer { flow: FlowId(flow), ends: [None; 2], since: Tick::ZERO };
        let told = (0..20_000).filter(|&flow| newcomers.add(one(flow))).count();
        assert_eq!(told, 5 + BEHIND as usize);
        let (came, left_out) = newcomers.take(0);
        assert_eq!((came.len(), left_out), (told, Ended::default()));
        assert!(!newcomers.add(one(20_000)), "no row was written");
        assert!(newcomers.caveat().is_none(), "none of them has ended");
        let error = FlowError { kind: FlowErrorKind::Network, text: String::new(), errno: None };
        newcomers.leave_out(None);
        newcomers.leave_out(Some(&error));
        let (came, left_out) = newcomers.take(1);
        assert_eq!((came.len(), left_out.completed, left_out.network_errors), (0, 1, 1));
        assert!(newcomers.add(one(20_001)));
        assert!(!newcomers.add(one(20_002)));
        let text = newcomers.caveat().expect("two").text;
        assert!(
            text.starts_with("2 connections had no row") && text.contains("1 failed"),
            "{text}"
        );
    }
}
