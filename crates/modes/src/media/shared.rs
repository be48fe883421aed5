//! What the streams of one worker have in common.

use pathscope_core::Tick;
use pathscope_core::id::Role;
use pathscope_flow::Shared;

use super::{FrameRow, HEADER_BYTES, Layout, MediaPlan, MediaTally};
use crate::conventions::Conventions;
use crate::pattern::StreamImage;
use crate::samples::SampleBuffer;
use crate::streams::Streams;

/// Layout, counts and histograms of one worker.
#[derive(Debug)]
pub struct MediaShared {
    pub(super) layout: Layout,
    pub(super) image: StreamImage<HEADER_BYTES>,
    pub(super) conventions: Conventions,
    pub(super) streams: u32,
    /// Streams under way.
    pub(super) open: u64,
    pub(super) tally: MediaTally,
    pub(super) rows: Option<SampleBuffer<FrameRow>>,
}

impl MediaShared {
    /// For streams of `plan` at this end.
    pub fn new(plan: &MediaPlan, role: Role) -> Self {
        let layout = Layout::of(plan);
        Self {
            layout,
            image: StreamImage::for_end(plan.sends(role)),
            conventions: Conventions::OWN,
            streams: plan.streams,
            open: 0,
            tally: MediaTally::default(),
            rows: None,
        }
    }

    /// The same with a peer of such conventions.
    pub fn by(conventions: Conventions, plan: &MediaPlan, role: Role) -> Self {
        let layout = Layout::framed(plan, conventions.framing);
        Self { layout, conventions, ..Self::new(plan, role) }
    }
}

impl Shared for MediaShared {
    type Report = MediaTally;

    fn report(&mut self, _now: Tick) -> MediaTally {
        if let Some(rows) = &mut self.rows {
            rows.hand_over();
        }
        self.tally.streams = self.open;
        // Fresh histograms are untouched zero pages: a few microseconds once a report.
        std::mem::take(&mut self.tally)
    }
}

impl Streams for MediaShared {
    const NEEDS_SESSION: bool = true;

    fn under_way(&mut self, begins: bool) {
        self.open = if begins { self.open + 1 } else { self.open - 1 };
    }

    fn broken(&self, errno: i32) -> String {
        format!("its socket failed (error {errno})")
    }
}
