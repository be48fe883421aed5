//! In which slot each flow of a worker is. Those that begin together follow one another in number and in place: of them nothing is kept but
//! the first, since they may be very many.

use std::collections::HashMap;

use pathscope_core::id::FlowId;

/// The places of flows.
#[derive(Debug)]
pub(super) struct Places {
    /// The first of those that follow one another, and how many do.
    first: u32,
    count: u32,
    /// Those of all others.
    others: HashMap<FlowId, usize>,
}

impl Places {
    /// Of flows in this order. `stay`: none of them makes room for another.
    pub fn of(flows: impl Iterator<Item = FlowId> + Clone, stay: bool) -> Self {
        let first = flows.clone().next().map_or(0, |flow| flow.0);
        let follows = |(number, flow): (u32, FlowId)| flow.0.checked_sub(number) == Some(first);
        if stay && (0..).zip(flows.clone()).all(follows) {
            let count = u32::try_from(flows.count()).unwrap_or(u32::MAX);
            return Self { first, count, others: HashMap::new() };
        }
        let others = flows.enumerate().map(|(place, flow)| (flow, place)).collect();
        Self { first: 0, count: 0, others }
    }

    /// Where a flow is.
    pub fn get(&self, flow: FlowId) -> Option<usize> {
        let number = flow.0.wrapping_sub(self.first);
        if number < self.count { Some(number as usize) } else { self.others.get(&flow).copied() }
    }

    /// One has come.
    pub fn insert(&mut self, flow: FlowId, place: usize) {
        self.others.insert(flow, place);
    }

    /// One has gone that others follow.
    pub fn remove(&mut self, flow: FlowId) {
        self.others.remove(&flow);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_flow_is_found_in_its_place_whatever_its_number() {
        for numbers in
            [vec![], vec![7], vec![7, 8, 9], vec![9, 8, 7], vec![7, 9], vec![0, u32::MAX]]
        {
            for stay in [true, false] {
                let flows = numbers.iter().copied().map(FlowId);
                let places = Places::of(flows, stay);
                for (place, &number) in numbers.iter().enumerate() {
                    assert_eq!(places.get(FlowId(number)), Some(place), "{numbers:?} {stay}");
                }
                for other in [1, 6, 10] {
                    assert_eq!(places.get(FlowId(other)), None, "{numbers:?} {stay}");
                }
            }
        }
        let mut places = Places::of((0..1_000).map(FlowId), true);
        assert!(places.others.is_empty());
        places.insert(FlowId(5_000), 3);
        assert_eq!((places.get(FlowId(999)), places.get(FlowId(5_000))), (Some(999), Some(3)));
        let mut places = Places::of((0..2).map(FlowId), false);
        places.remove(FlowId(0));
        assert_eq!((places.get(FlowId(0)), places.get(FlowId(1))), (None, Some(1)));
    }
}
