//! A test under way, as either end keeps it: what is known of it, and what its flows are told.

use std::collections::VecDeque;

use pathscope_core::Tick;
use pathscope_flow::{Dialogue, Event, Output};
use pathscope_modes::groups::{MAIN, Test};
use pathscope_modes::registry::{EndInterval, EndReport};

use super::deadlines::QUIET;
use super::parameters::Parameters;
use super::sent::Sent;

/// A test under way.
#[derive(Debug)]
pub(super) struct Course {
    pub test: Test,
    /// Seconds that results leave out.
    pub omit: u64,
    /// Whether datagrams bear numbers of 64 bits.
    pub is_wide: bool,
    /// So many flows have no socket yet.
    pub missing: u64,
    /// What this end sent, interval by interval.
    pub sent: Sent,
    /// What all flows of this end came to, once they are over.
    pub report: Option<Box<EndReport>>,
    /// Somebody wants this end to stop.
    pub is_stopped: bool,
    /// When nothing has moved for too long.
    pub quiet_at: Tick,
}

impl Course {
    /// Of which nothing is known yet.
    pub fn new(test: Test, Parameters { omit, wide, .. }: &Parameters) -> Self {
        let missing = test.groups().iter().map(|group| u64::from(group.flows)).sum();
        let (sent, report) = (Sent::default(), None);
        Self {
            test,
            omit: *omit,
            is_wide: *wide,
            missing,
            sent,
            report,
            is_stopped: false,
            quiet_at: Tick::NEVER,
        }
    }

    /// Something moves, or might.
    pub const fn moved(&mut self, now: Tick) {
        let report = self.test.report_every_ns.0.saturating_mul(2);
        self.quiet_at = now.plus_nanos(QUIET.0.saturating_add(report));
    }

    /// An interval has passed here. Whether anything moved in it.
    pub fn interval(&mut self, interval: &EndInterval, now: Tick) -> bool {
        self.sent.add(self.omit, interval);
        let has_moved = self.test.plan.has_moved_in(interval);
        if has_moved {
            self.moved(now);
        }
        has_moved
    }
}

/// Tells all flows this.
pub(super) fn tell_all<D: Dialogue>(outputs: &mut VecDeque<Output<D>>, events: &[Event]) {
    let all = events.iter().map(|&event| Output::Tell { group: MAIN, flow: None, event });
    outputs.extend(all);
}
