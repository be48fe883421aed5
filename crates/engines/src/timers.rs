//! At most one timer for each flow, in a heap that knows where each is: setting one again moves it, so
//! nothing stale gathers and nothing is allocated after the start.

use pathscope_core::Tick;

const NOWHERE: u32 = u32::MAX;

/// The timers of a worker's flows, by the flow's place.
#[derive(Debug)]
pub struct Timers {
    /// A binary heap, earliest first.
    heap: Vec<(Tick, u32)>,
    /// Where each flow's timer is in the heap.
    places: Vec<u32>,
}

impl Timers {
    /// For so many flows, none set.
    pub fn new(flows: usize) -> Self {
        Self { heap: Vec::with_capacity(flows), places: vec![NOWHERE; flows] }
    }

    /// Makes place for one more flow.
    pub fn grow(&mut self) {
        self.places.push(NOWHERE);
    }

    /// When the earliest is due.
    pub fn next(&self) -> Tick {
        self.heap.first().map_or(Tick::NEVER, |&(due, _)| due)
    }

    /// Sets or moves a flow's timer; [`Tick::NEVER`] removes it.
    pub fn set(&mut self, flow: usize, due: Tick) {
        match (self.places[flow], due) {
            (NOWHERE, Tick::NEVER) => {}
            (NOWHERE, due) => {
                self.heap.push((due, flow as u32));
                self.places[flow] = (self.heap.len() - 1) as u32;
                self.rise(self.heap.len() - 1);
            }
            (place, Tick::NEVER) => self.remove(place as usize),
            (place, due) => {
                self.heap[place as usize].0 = due;
                self.settle(place as usize);
            }
        }
    }

    /// A flow whose timer is due by `now`; its timer is gone.
    pub fn pop_due(&mut self, now: Tick) -> Option<usize> {
        let &(due, flow) = self.heap.first()?;
        if due > now {
            return None;
        }
        self.remove(0);
        Some(flow as usize)
    }

    fn remove(&mut self, place: usize) {
        let (_, flow) = self.heap.swap_remove(place);
        self.places[flow as usize] = NOWHERE;
        if place < self.heap.len() {
            self.places[self.heap[place].1 as usize] = place as u32;
            self.settle(place);
        }
    }

    fn settle(&mut self, place: usize) {
        let risen = self.rise(place);
        self.sink(risen);
    }

    fn rise(&mut self, mut place: usize) -> usize {
        while place > 0 && self.heap[place] < self.heap[(place - 1) / 2] {
            self.swap(place, (place - 1) / 2);
            place = (place - 1) / 2;
        }
        place
    }

    fn sink(&mut self, mut place: usize) {
        loop {
            let children = (2 * place + 1)..self.heap.len().min(2 * place + 3);
            let Some(least) = children.min_by_key(|&child| self.heap[child]) else { return };
            if self.heap[place] <= self.heap[least] {
                return;
            }
            self.swap(place, least);
            place = least;
        }
    }

    fn swap(&mut self, one: usize, other: usize) {
        self.heap.swap(one, other);
        self.places[self.heap[one].1 as usize] = one as u32;
        self.places[self.heap[other].1 as usize] = other as u32;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_timer_set_again_fires_once() {
        let mut timers = Timers::new(2);
        timers.set(0, Tick::from_nanos(5));
        timers.set(0, Tick::from_nanos(9));
        timers.set(1, Tick::NEVER);
        assert_eq!(timers.next(), Tick::from_nanos(9));
        assert_eq!(timers.pop_due(Tick::from_nanos(8)), None);
        assert_eq!(timers.pop_due(Tick::from_nanos(9)), Some(0));
        assert_eq!((timers.pop_due(Tick::NEVER), timers.next()), (None, Tick::NEVER));
    }

    proptest! {
        #[test]
        fn timers_fire_in_order_whatever_was_set(
            steps in proptest::collection::vec((0_usize..8, proptest::option::of(0_u64..50)), 0..200),
        ) {
            let mut timers = Timers::new(8);
            let mut expected = BTreeMap::new();
            for (flow, due) in steps {
                timers.set(flow, due.map_or(Tick::NEVER, Tick::from_nanos));
                expected.remove(&flow);
                expected.extend(due.map(|due| (flow, due)));
                let next = expected.values().min().copied().map_or(Tick::NEVER, Tick::from_nanos);
                prop_assert_eq!(timers.next(), next);
            }
            let mut last = Tick::ZERO;
            while let Some(flow) = timers.pop_due(Tick::NEVER) {
                let due = Tick::from_nanos(expected.remove(&flow).expect("it was set"));
                prop_assert!(due >= last);
                last = due;
            }
            prop_assert!(expected.is_empty());
        }
    }
}
