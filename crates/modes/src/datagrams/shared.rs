//! What the datagram flows of one worker have in common.

use pathscope_core::Tick;
use pathscope_core::id::Role;
use pathscope_core::quantity::count;
use pathscope_flow::Shared;

use super::schedule::Schedule;
use super::window::{CommonWindow, Opening};
use super::{DatagramCorruption, DatagramTally, DatagramsPlan, HEADER_BYTES};
use crate::conventions::{Conventions, Framing, StreamEnd};
use crate::load::{Extent, JointTransfer, Together, Verify};
use crate::pattern::StreamImage;
use crate::streams::Streams;

/// Schedule, counts, histograms and what of them is told one by one.
#[derive(Debug)]
pub struct DatagramShared {
    pub(super) schedule: Schedule,
    pub(super) image: StreamImage<HEADER_BYTES>,
    pub(super) verify: Verify,
    /// How datagrams are laid out.
    pub(super) framing: Framing,
    /// What all flows of this end are to receive, where that is said of them together.
    pub(super) joint: Option<JointTransfer>,
    /// How long those send that are received, where that is stated.
    pub(super) lasts_ns: Option<u64>,
    /// When the first flow started.
    pub(super) started: Option<Tick>,
    pub(super) opening: Opening,
    /// What all of them received in the window that counts.
    pub(super) window: CommonWindow,
    /// The first corrupt datagrams.
    pub(super) corruptions: Vec<DatagramCorruption>,
    pub(super) tally: DatagramTally,
}

impl DatagramShared {
    /// For flows of `plan` at this end.
    pub fn new(plan: &DatagramsPlan, role: Role) -> Self {
        Self {
            schedule: Schedule::of(plan, role),
            image: StreamImage::for_end(plan.pattern.sends(role)),
            verify: plan.verify,
            framing: Framing::Own,
            joint: None,
            lasts_ns: match plan.extent {
                Extent::DurationNs(duration) => Some(duration.0),
                Extent::TransferBytes(_) => None,
            },
            started: None,
            opening: Opening::new(plan.warm_up_ns.0, plan.shortest_ns()),
            window: CommonWindow::default(),
            corruptions: Vec::new(),
            tally: DatagramTally::default(),
        }
    }

    /// The same at an end with a peer of such conventions, where the flows of this end have received this together.
    #[must_use]
    pub fn at(
        plan: &DatagramsPlan,
        role: Role,
        conventions: Conventions,
        together: Option<&Together>,
    ) -> Self {
        let mut shared = Self::new(plan, role).framed(conventions.framing);
        let streams = (plan.pattern, plan.connections);
        shared.joint = JointTransfer::of(plan.extent, streams, (role, conventions.end), together);
        // Of what it has sent some may be lost: it goes on until its client has as much.
        let is_timed = shared.schedule.end_ns.is_some();
        if conventions.end == StreamEnd::Stopped && role == Role::Server && !is_timed {
            shared.schedule.total = None;
        }
        shared
    }

    /// The same with a peer that lays datagrams out so.
    #[must_use]
    pub fn framed(mut self, framing: Framing) -> Self {
        if matches!(framing, Framing::Sequenced(_) | Framing::Unnumbered) {
            // There is nothing to compare with, and each is as long as the others.
            self.verify = Verify::Off;
            self.schedule.make_whole();
        }
        self.framing = framing;
        self.mark();
        self
    }

    /// Counts say themselves whether they are of datagrams without numbers.
    fn mark(&mut self) {
        self.tally.counts.is_unnumbered = self.framing == Framing::Unnumbered;
    }
}

impl Shared for DatagramShared {
    type Report = DatagramTally;

    fn report(&mut self, _now: Tick) -> DatagramTally {
        // Fresh histograms are untouched zero pages: a few microseconds once a report.
        let tally = std::mem::take(&mut self.tally);
        self.mark();
        tally
    }
}

impl Streams for DatagramShared {
    const NEEDS_SESSION: bool = false;

    fn broken(&self, errno: i32) -> String {
        let size = count(self.schedule.size);
        format!("the system took no more datagrams of {size} bytes (error {errno})")
    }
}
