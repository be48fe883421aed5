//! What the goodput flows of one worker have in common, be they whole or halves.

use pathscope_core::Tick;
use pathscope_core::id::Role;
use pathscope_flow::Shared;

use super::counted_window::Planned;
use super::joining::Joining;
use super::segments::Segments;
use super::{BufferRange, FlowCorruption, GoodputInterval, GoodputPlan, Pace};
use crate::conventions::{Conventions, StreamEnd};
use crate::kernel_sending::KernelSending;
use crate::load::{JointTransfer, ReceiveWindow, Together, Verify};
use crate::mode::Mode;

/// What the goodput flows of one worker have in common.
#[derive(Clone, Debug)]
pub struct GoodputShared {
    /// Each send and receive moves at most what is drawn from it.
    pub(super) buffers: BufferRange,
    /// Which writes that follow one another at once share segments.
    pub(super) joining: Joining,
    /// What each end sends at a time where they take turns.
    pub(super) segments: Segments,
    /// What each sender keeps to.
    pub(super) pace: Pace,
    /// All senders stop so long after the first flow has started.
    pub(super) duration_ns: Option<u64>,
    /// Whether a sender closes its direction when it has sent all, though that is not what tells where a stream ends.
    pub(super) closes: bool,
    pub(super) verify: Verify,
    /// What holds on the connections.
    pub(super) conventions: Conventions,
    /// What all flows of this end are to receive, where that is said of them together.
    pub(super) joint: Option<JointTransfer>,
    /// What comes before and after is checked, but stands outside the window that counts.
    pub(super) planned: Planned,
    /// When the first flow started.
    pub(super) started: Option<Tick>,
    /// What came after flows had said what they received, if they did.
    pub(super) late_bytes: Option<u64>,
    /// Since the last report.
    pub(super) interval: GoodputInterval,
    /// Of all flows: how long the plan's own pauses between bursts kept them from sending.
    pub(super) paused_ns: u64,
    /// What all flows received in the window that counts.
    pub(super) window: ReceiveWindow,
    /// The first corruptions.
    pub(super) corruptions: Vec<FlowCorruption>,
}

impl GoodputShared {
    /// For flows of `plan`.
    pub fn new(plan: &GoodputPlan) -> Self {
        // One that replaces another has its own time.
        let closes = plan.duration_ns().filter(|_| !plan.replaces());
        Self {
            buffers: plan.buffers(),
            joining: Joining::default(),
            segments: Segments::of(plan),
            pace: plan.pace,
            duration_ns: plan.duration_ns().map(|duration| duration.0),
            closes: false,
            verify: plan.verify,
            conventions: Conventions::default(),
            joint: None,
            planned: Planned {
                opens_ns: plan.warm_up_ns.0,
                closes_ns: closes.map_or(u64::MAX, |duration| duration.0),
            },
            started: None,
            late_bytes: None,
            interval: GoodputInterval::default(),
            paused_ns: 0,
            window: ReceiveWindow::default(),
            corruptions: Vec::new(),
        }
    }

    /// The same at an end with a peer of such conventions.
    pub fn at(plan: &GoodputPlan, role: Role, conventions: Conventions) -> Self {
        let shared = Self { conventions, ..Self::new(plan) };
        match (conventions.end, role) {
            // What a client has when it has enough is all that it says, while more is on its way.
            (StreamEnd::Stopped, Role::Client) if plan.is_down() => {
                Self { late_bytes: Some(0), ..shared }
            }
            // It goes on until the client has had its time, which may read on to the end of what was sent.
            (StreamEnd::Stopped, Role::Server) => {
                Self { duration_ns: None, closes: true, ..shared }
            }
            _ => shared,
        }
    }

    /// The same where the flows of this end have received this together.
    #[must_use]
    pub fn together(self, plan: &GoodputPlan, role: Role, together: Option<&Together>) -> Self {
        let streams = (plan.pattern, plan.connections);
        let end = (role, self.conventions.end);
        Self { joint: JointTransfer::of(plan.extent, streams, end, together), ..self }
    }

    /// The same on connections on which the kernel sends so.
    #[must_use]
    pub fn sending(self, plan: &GoodputPlan, sending: KernelSending) -> Self {
        Self { joining: Joining::on(plan.pattern, sending), ..self }
    }

    /// Time since the first flow of this worker started.
    pub(super) fn since_start(&self, now: Tick) -> u64 {
        now.nanos_since(self.started.unwrap_or(now))
    }
}

impl Shared for GoodputShared {
    type Report = GoodputInterval;

    fn report(&mut self, _now: Tick) -> GoodputInterval {
        std::mem::take(&mut self.interval)
    }
}
