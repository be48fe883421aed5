//! What went through flows of datagrams in an interval, of which nobody tells all together: each in its turn.

use std::collections::BTreeSet;

use pathscope_core::id::FlowId;
use pathscope_core::journal::ConnectionProgress;

/// An interval, as far as its flows have been told of.
#[derive(Debug, Default)]
pub(super) struct Row {
    flows: BTreeSet<FlowId>,
    /// When it ended, since the start of the test.
    pub end_ns: u64,
    pub length_ns: u64,
    pub bytes: u64,
}

impl Row {
    /// One more is told of; it is none of this row that is in it already. The row before, and this, where either is whole.
    pub fn hear(&mut self, progress: &ConnectionProgress, all: u32) -> [Option<Self>; 2] {
        let is_next = self.flows.contains(&progress.flow);
        let before = is_next.then(|| std::mem::take(self));
        self.flows.insert(progress.flow);
        self.end_ns = self.end_ns.max(progress.end_ns);
        self.length_ns = self.length_ns.max(progress.end_ns.saturating_sub(progress.start_ns));
        let bytes = progress.sent_bytes.saturating_add(progress.received_bytes);
        self.bytes = self.bytes.saturating_add(bytes);
        [before, (self.flows.len() >= all as usize).then(|| std::mem::take(self))]
    }

    /// Whether nothing was told of it, or nothing went through in no time.
    pub const fn is_empty(&self) -> bool {
        self.length_ns == 0 && self.bytes == 0
    }
}
