//! Which flows of a test have reached a point: one bit each, so that a million cost 128 KiB. Flows that
//! replace others are kept by number, and only so many of them.

use std::collections::HashSet;

use pathscope_core::id::FlowId;
use pathscope_flow::{Group, GroupId};

/// Flows beyond the first ones of their group that a set holds, and twice as many as there are of these at once: of those,
/// only the few that are stopped before their time are ever told of.
const LATER_LEAST: usize = 1 << 16;

/// A set of the flows of a test.
#[derive(Debug)]
pub(crate) struct FlowSet {
    words: Vec<u64>,
    flows: u32,
    missing: u32,
    later: HashSet<FlowId>,
}

/// What came of adding a flow.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Added {
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
        let words = vec![0; (flows as usize).div_ceil(64)];
        Self { words, flows, missing: flows, later: HashSet::new() }
    }

    /// Adds a flow.
    pub fn add(&mut self, groups: &[Group], group: GroupId, flow: FlowId) -> Added {
        // Those that there are from the start have their places one group after the other.
        let mut place = 0;
        for known in groups {
            let index = flow.0.wrapping_sub(known.first.0);
            if known.id == group && known.holds(flow) {
                return if index < known.flows { self.set(place + index) } else { self.keep(flow) };
            }
            place += known.flows;
        }
        Added::Unknown
    }

    fn set(&mut self, place: u32) -> Added {
        let (index, bit) = (place as usize / 64, 1 << (place % 64));
        match self.words.get_mut(index) {
            Some(word) if *word & bit == 0 => {
                *word |= bit;
                self.missing = self.missing.saturating_sub(1);
                Added::New
            }
            Some(_) => Added::Again,
            None => Added::Unknown,
        }
    }

    fn keep(&mut self, flow: FlowId) -> Added {
        match self.later.insert(flow) {
            _ if self.later.len() > LATER_LEAST.max(2 * self.flows as usize) => Added::Unknown,
            true => Added::New,
            false => Added::Again,
        }
    }

    /// How many of those that there are from the start are in it, and how many there are.
    pub const fn progress(&self) -> (u32, u32) {
        (self.flows - self.missing, self.flows)
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
    fn flows_that_replace_others_are_known_by_number() {
        let mut test = fixtures::load(2);
        let pathscope_modes::registry::Plan::Goodput(plan) = &mut test.plan else { return };
        plan.shape.iterations = pathscope_modes::goodput::Iterations::Times(3);
        let groups = test.groups();
        let mut set = FlowSet::new(&groups);
        for flow in 0..6 {
            assert_eq!(set.add(&groups, GroupId(0), FlowId(flow)), Added::New);
            assert_eq!(set.add(&groups, GroupId(0), FlowId(flow)), Added::Again);
        }
        assert_eq!(set.add(&groups, GroupId(0), FlowId(6)), Added::Unknown);
        assert!(!set.is_full(), "the probe is missing");
        assert_eq!(set.add(&groups, GroupId(1), FlowId(6)), Added::New);
        assert!(set.is_full());
    }

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
