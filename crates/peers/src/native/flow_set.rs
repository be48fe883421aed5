//! Which flows of a test have reached a point: one bit each, so that a million cost 128 KiB.

use pathscope_core::id::FlowId;
use pathscope_flow::{Group, GroupId};

use super::seats::holds;

/// A set of the flows of a test.
#[derive(Debug)]
pub(super) struct FlowSet {
    words: Vec<u64>,
    missing: u32,
}

/// What came of adding a flow.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Added {
    /// It was not there.
    New,
    /// It was there.
    Again,
    /// The test has no such flow.
    Unknown,
}

impl FlowSet {
    /// None of the flows of these groups.
    pub fn new(groups: &[Group]) -> Self {
        let flows = groups.iter().map(|group| group.flows).fold(0, u32::saturating_add);
        Self { words: vec![0; (flows as usize).div_ceil(64)], missing: flows }
    }

    /// Adds a flow.
    pub fn add(&mut self, groups: &[Group], group: GroupId, flow: FlowId) -> Added {
        let known = groups.iter().any(|known| known.id == group && holds(known, flow));
        let (index, bit) = (flow.0 as usize / 64, 1 << (flow.0 % 64));
        match self.words.get_mut(index) {
            Some(word) if known && *word & bit == 0 => {
                *word |= bit;
                self.missing = self.missing.saturating_sub(1);
                Added::New
            }
            Some(_) if known => Added::Again,
            _ => Added::Unknown,
        }
    }

    /// Whether all flows are in it.
    pub const fn is_full(&self) -> bool {
        self.missing == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::fixtures;

    #[test]
    fn each_flow_counts_once_and_only_in_its_group() {
        let groups = fixtures::load(64).groups();
        let mut set = FlowSet::new(&groups);
        for flow in 0..64 {
            assert_eq!(set.add(&groups, GroupId(0), FlowId(flow)), Added::New);
            assert_eq!(set.add(&groups, GroupId(0), FlowId(flow)), Added::Again);
        }
        assert_eq!(set.add(&groups, GroupId(0), FlowId(64)), Added::Unknown);
        assert_eq!(set.add(&groups, GroupId(1), FlowId(0)), Added::Unknown);
        assert_eq!(set.add(&groups, GroupId(1), FlowId(u32::MAX)), Added::Unknown);
        assert!(!set.is_full());
        assert_eq!(set.add(&groups, GroupId(1), FlowId(64)), Added::New);
        assert!(set.is_full());
    }
}
