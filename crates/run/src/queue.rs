//! What waits for so long at most, in the order in which it came, and may leave out of turn: guests, clients that are refused,
//! connections in the making. Each is found by its number. What happens to it is its owner's affair.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use pathscope_core::Tick;

/// So many places of those that have left may stay in the order, however few are there.
const PLACES_LEAST: usize = 64;

/// Those that wait.
#[derive(Debug)]
pub(crate) struct Queue<T> {
    waiting: HashMap<u64, T>,
    /// When each came; may still name those that have left.
    order: VecDeque<(Tick, u64)>,
    patience: Duration,
    /// The number that the next one is given.
    next: u64,
    /// So many may wait of those that are given numbers.
    pub most: usize,
}

impl<T> Queue<T> {
    /// Empty; each may stay for so long, however many there are.
    pub fn new(patience: Duration) -> Self {
        let (waiting, order) = (HashMap::new(), VecDeque::new());
        Self { waiting, order, patience, next: 0, most: usize::MAX }
    }

    /// Of those that are given numbers here, from this one on, at most so many wait.
    pub fn numbered(self, next: u64, most: usize) -> Self {
        Self { next, most: most.max(1), ..self }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// One comes, and is given its number. Where too many wait, the one that has waited longest goes.
    pub fn admit(&mut self, one: T, now: Tick) -> u64 {
        if self.len() >= self.most {
            self.leave_first();
        }
        let number = self.next;
        self.next += 1;
        self.enter(number, one, now);
        number
    }

    /// One comes that has a number. Who comes back, having left, keeps the place that it had.
    pub fn enter(&mut self, number: u64, one: T, now: Tick) {
        let places = 2 * self.waiting.len() + PLACES_LEAST;
        self.waiting.insert(number, one);
        // Those that leave at once do not fill the order behind one that stays.
        if self.order.len() >= places {
            self.order.retain(|(_, number)| self.waiting.contains_key(number));
        }
        self.order.push_back((now, number));
    }

    /// The one of this number.
    pub fn get(&self, number: u64) -> Option<&T> {
        self.waiting.get(&number)
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        self.waiting.get_mut(&number)
    }

    /// One leaves.
    pub fn leave(&mut self, number: u64) -> Option<T> {
        self.waiting.remove(&number)
    }

    /// All leave.
    pub fn clear(&mut self) {
        self.waiting.clear();
        self.order.clear();
    }

    /// When the one came that has waited longest.
    pub fn first_came(&mut self) -> Option<Tick> {
        while let Some(&(came, number)) = self.order.front() {
            if self.waiting.contains_key(&number) {
                return Some(came);
            }
            self.order.pop_front();
        }
        None
    }

    /// When the first has stayed for too long.
    pub fn next_deadline(&mut self) -> Option<Tick> {
        self.first_came().map(|came| came + self.patience)
    }

    /// The one that has waited longest leaves, if there is any.
    pub fn leave_first(&mut self) -> Option<(u64, T)> {
        self.first_came()?;
        let (_, number) = self.order.pop_front()?;
        self.waiting.remove(&number).map(|one| (number, one))
    }

    /// The one that has waited longest leaves, if it has stayed for too long.
    pub fn leave_late(&mut self, now: Tick) -> Option<(u64, T)> {
        self.next_deadline().filter(|&deadline| deadline <= now)?;
        self.leave_first()
    }

    /// Those leave that have stayed for too long.
    pub fn dismiss_late(&mut self, now: Tick) {
        while self.leave_late(now).is_some() {}
    }

    /// How many places the order has, those of who has left among them.
    #[cfg(test)]
    pub fn places(&self) -> usize {
        self.order.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(number: u64) -> Tick {
        Tick::from_nanos(number * 1_000_000_000)
    }

    #[test]
    fn who_comes_and_goes_is_forgotten_behind_who_stays() {
        let mut queue = Queue::new(Duration::from_secs(10));
        queue.enter(0, "stays", second(1));
        for number in 1..500 {
            queue.enter(number, "goes", second(2));
            assert_eq!(queue.leave(number), Some("goes"));
            assert!(queue.places() <= 2 + PLACES_LEAST, "{}", queue.places());
        }
        assert_eq!((queue.len(), queue.next_deadline()), (1, Some(second(11))));
    }

    #[test]
    fn who_came_first_goes_first_and_nobody_before_its_time() {
        let mut queue = Queue::new(Duration::from_secs(10));
        (0..3).for_each(|number| queue.enter(number, number, second(number)));
        assert_eq!(queue.leave_late(second(9)), None);
        assert_eq!(queue.leave_late(second(10)), Some((0, 0)));
        assert_eq!(queue.leave(1), Some(1));
        assert_eq!(queue.next_deadline(), Some(second(12)));
        assert_eq!(queue.leave_first(), Some((2, 2)));
        assert_eq!((queue.leave_first(), queue.first_came()), (None, None));
    }

    #[test]
    fn who_comes_back_is_late_when_it_was() {
        let mut queue = Queue::new(Duration::from_secs(10));
        queue.enter(7, "first", second(0));
        queue.leave(7);
        queue.enter(7, "again", second(5));
        assert_eq!(queue.leave_late(second(10)), Some((7, "again")));
        assert_eq!(queue.next_deadline(), None);
    }
}
