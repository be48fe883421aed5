//! A test under way, as either end keeps it: what is known of it, and what its flows are told.

use std::collections::VecDeque;

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Role};
use pathscope_core::record::Remarks;
use pathscope_flow::{Dialogue, Event, Output};
use pathscope_modes::groups::{MAIN, Test};
use pathscope_modes::registry::{EndInterval, EndReport};

use super::deadlines::QUIET;
use super::parameters::Parameters;
use super::plans;
use super::sent::{Sent, moved};
use crate::limits::{Average, RateLimit};

/// A test under way.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is so or not, whatever the others are")]
pub(super) struct Course {
    pub test: Test,
    /// Seconds that results leave out.
    pub omit: u64,
    /// Whether the client takes its own time for this end's.
    pub reads_no_time: bool,
    /// What datagrams bear.
    pub headers: Headers,
    /// So many flows have no socket yet.
    pub missing: u64,
    /// Bytes after which the test is over, of all streams of one direction together; 0: by its time.
    pub num: u64,
    /// On so many flows the client has not sent all yet.
    pub sending: u64,
    /// Whether it is over as soon as none does.
    pub ends_with_senders: bool,
    /// What the client is to receive has come.
    pub has_all: bool,
    /// What this end sent, interval by interval.
    pub sent: Sent,
    /// What moved of late, where that has a limit.
    average: Average,
    /// What all flows of this end came to, once they are over.
    pub report: Option<Box<EndReport>>,
    /// What the client says beside what the test is.
    pub remarks: Remarks,
    /// Somebody wants this end to stop.
    pub is_stopped: bool,
    /// When nothing has moved for too long.
    pub quiet_at: Tick,
    /// When this end's flows began.
    began: Tick,
    /// From then on until the word of the test's end.
    pub lasted_ns: Option<u64>,
}

/// What the datagrams of a test bear, as its client has it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Headers {
    /// Whether their numbers have 64 bits.
    pub is_wide: bool,
    /// Whether they are stamped with the time of day, as receivers up to 3.6 expect. Later ones do with any clock, but for two versions
    /// that want their own.
    pub is_of_day: bool,
}

impl Course {
    /// Of which nothing is known yet.
    pub fn new(test: Test, parameters: &Parameters) -> Self {
        let Parameters { omit, wide, num, .. } = parameters;
        let flows = test.groups().iter().map(|group| group.flows).sum();
        let from_client = |flow: &u32| plans::sender(&test, FlowId(*flow)) == Role::Client;
        let (missing, sending) = (u64::from(flows), (0..flows).filter(from_client).count() as u64);
        let (sent, report) = (Sent::default(), None);
        Self {
            test,
            omit: *omit,
            reads_no_time: parameters.reads_no_time(),
            headers: Headers { is_wide: *wide, is_of_day: !parameters.is_of_uptime() },
            missing,
            num: *num,
            sending,
            ends_with_senders: false,
            has_all: false,
            sent,
            average: Average::default(),
            report,
            remarks: parameters.remarks(),
            is_stopped: false,
            quiet_at: Tick::NEVER,
            began: Tick::ZERO,
            lasted_ns: None,
        }
    }

    /// Its flows begin.
    pub const fn begins(&mut self, now: Tick) {
        self.began = now;
        self.moved(now);
    }

    /// The word of its end is said, or has come.
    pub const fn ends(&mut self, now: Tick) {
        self.lasted_ns = Some(now.nanos_since(self.began));
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

    /// Why it is over after this interval, where it moved more on average than this.
    pub fn beyond(&mut self, limit: RateLimit, interval: &EndInterval) -> Option<String> {
        let length_ns = interval.end_ns.saturating_sub(interval.start_ns);
        let average = self.average.beyond(limit, length_ns, moved(interval));
        average.map(|average| limit.reached(average))
    }
}

/// Tells all flows this.
pub(super) fn tell_all<D: Dialogue>(outputs: &mut VecDeque<Output<D>>, events: &[Event]) {
    let all = events.iter().map(|&event| Output::Tell { group: MAIN, flow: None, event });
    outputs.extend(all);
}
