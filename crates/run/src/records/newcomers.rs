//! Connections that come past the session's thread where somebody writes each of them down: what their rows need, until that thread
//! reads it. Bounded: where it reads too slowly, some are left out, and counted. Not the rows, which are `journal`'s.

use std::net::SocketAddr;

use pathscope_core::Tick;
use pathscope_core::id::FlowId;
use pathscope_core::journal::Ended;
use pathscope_core::quantity::{count, counted};
use pathscope_core::record::{Caveat, FlowError};
use pathscope_flow::Totals;

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

/// What the session's thread hears of them since the last time.
#[derive(Debug, Default)]
pub(crate) struct Passed {
    pub came: Vec<Newcomer>,
    /// Those that are left out and ended well, of which the other end may want to hear all the same.
    pub completed: Vec<(FlowId, Totals)>,
    /// How all ended so far that are left out.
    pub left_out: Ended,
}

/// Those of one end.
#[derive(Debug)]
pub(super) struct Newcomers {
    passed: Passed,
    /// Whether the other end is to hear of those that are left out.
    are_told: bool,
    /// Those whose rows are not written yet.
    unwritten: u32,
    most: u32,
}

impl Newcomers {
    /// None yet, of which so many run at once; `are_told`: the other end may want to hear of those that are left out.
    pub fn new(at_once: u32, are_told: bool) -> Self {
        let most = at_once.saturating_add(BEHIND);
        Self { passed: Passed::default(), are_told, unwritten: 0, most }
    }

    /// One has come. Whether there is room for it.
    pub fn add(&mut self, newcomer: Newcomer) -> bool {
        let is_told = self.unwritten < self.most;
        if is_told {
            self.unwritten += 1;
            self.passed.came.push(newcomer);
        }
        is_told
    }

    /// One of those for which there was no room has ended. Of those that failed it is told one by one.
    pub fn leave_out(&mut self, flow: FlowId, totals: Totals, error: Option<&FlowError>) {
        self.passed.left_out.count(error);
        if self.are_told && error.is_none() {
            self.passed.completed.push((flow, totals));
        }
    }

    /// What there is since the last time; of those before, so many rows were written.
    pub fn take(&mut self, written: u32) -> Passed {
        self.unwritten = self.unwritten.saturating_sub(written);
        let passed = std::mem::take(&mut self.passed);
        self.passed.left_out = passed.left_out;
        passed
    }

    /// That some are left out.
    pub fn caveat(&self) -> Option<Caveat> {
        let Ended { completed, network_errors, data_errors, protocol_errors } =
            self.passed.left_out;
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
        let mut newcomers = Newcomers::new(5, true);
        let one = |flow| Newcomer { flow: FlowId(flow), ends: [None; 2], since: Tick::ZERO };
        let told = (0..20_000).filter(|&flow| newcomers.add(one(flow))).count();
        assert_eq!(told, 5 + BEHIND as usize);
        let Passed { came, completed, left_out } = newcomers.take(0);
        assert_eq!((came.len(), completed, left_out), (told, Vec::new(), Ended::default()));
        assert!(!newcomers.add(one(20_000)), "no row was written");
        assert!(newcomers.caveat().is_none(), "none of them has ended");
        let error = FlowError { kind: FlowErrorKind::Network, text: String::new(), errno: None };
        let totals = Totals { sent: 64, received: 0 };
        newcomers.leave_out(FlowId(20_000), totals, None);
        newcomers.leave_out(FlowId(19_999), totals, Some(&error));
        let Passed { came, completed, left_out } = newcomers.take(1);
        assert_eq!((came.len(), left_out.completed, left_out.network_errors), (0, 1, 1));
        assert_eq!(completed, [(FlowId(20_000), totals)], "the other end waits for its word");
        let again = newcomers.take(0);
        assert_eq!((again.completed, again.left_out), (Vec::new(), left_out), "once");
        assert!(newcomers.add(one(20_001)));
        assert!(!newcomers.add(one(20_002)));
        let text = newcomers.caveat().expect("two").text;
        assert!(
            text.starts_with("2 connections had no row") && text.contains("1 failed"),
            "{text}"
        );
    }
}
