//! Which pings of a flow are on their way, when each left, and what became of it: a window of fixed size over all
//! sequence numbers, and behind it the last ones that left the window without an answer.

use std::collections::VecDeque;

use pathscope_core::Tick;

use super::Outcome;
use crate::arrivals::Order;

/// Pings remembered of those that left the window without an answer.
const OVERDUE: usize = 256;

/// The last pings of a flow. Each is answered, or is settled once: when it is remembered no more, or when nothing is
/// awaited any more.
#[derive(Debug)]
pub(super) struct Window {
    slots: Box<[Slot]>,
    /// Those that left the slots without an answer, by number. What is answered after all stays until it is the first.
    overdue: VecDeque<Slot>,
    /// Pings below it that had no answer are settled.
    forgotten: u64,
    /// In which order they came back.
    order: Order,
    /// Pings that an answer is awaited of.
    awaited: u64,
    /// Of the pings below it none is awaited.
    oldest: u64,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    departure: Departure,
    state: State,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    Outstanding,
    /// Nobody waits for it any more; it may still be answered.
    GivenUp,
    /// Something damaged came and nobody waits for more; it may still be answered.
    Damaged,
    Answered,
}

/// When a ping was to leave, and when it did.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Departure {
    pub sequence: u64,
    pub due: Tick,
    /// From when its round trip counts.
    pub from: Tick,
    pub sent: Tick,
}

/// A ping that has no answer and is to get none: lost, or corrupt where something of it came.
pub(super) type Unanswered = (Departure, Outcome);

/// What the arrival of an echo means.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Arrival {
    /// The first intact echo of this ping. Where it came after one of a later ping: the number of arrivals since
    /// the first such one, itself included (RFC 4737, section 4.2.1: the reordering extent).
    First {
        departure: Departure,
        extent: Option<u64>,
        /// A damaged one came before.
        is_mended: bool,
    },
    Duplicate,
    /// Its ping is not remembered any more, be it answered or settled.
    Late,
    /// No such ping was sent.
    Unknown,
}

impl Window {
    /// A window over the last `size` pings, rounded up to a power of two.
    pub fn new(size: usize) -> Self {
        let (due, from, sent) = (Tick::ZERO, Tick::ZERO, Tick::ZERO);
        let departure = Departure { sequence: u64::MAX, due, from, sent };
        let empty = Slot { departure, state: State::Answered };
        let slots = vec![empty; size.next_power_of_two()].into_boxed_slice();
        Self {
            overdue: VecDeque::with_capacity(slots.len().min(OVERDUE)),
            order: Order::with_room(slots.len()),
            slots,
            forgotten: 0,
            awaited: 0,
            oldest: 0,
        }
    }

    /// A ping left. Returns the one that is forgotten for it without an answer, if there is one.
    pub fn sent(&mut self, departure: Departure) -> Option<Unanswered> {
        let index = self.index(departure.sequence);
        let slot = Slot { departure, state: State::Outstanding };
        let before = std::mem::replace(&mut self.slots[index], slot);
        self.awaited += 1;
        self.awaited -= u64::from(before.state == State::Outstanding);
        before.unanswered().and_then(|_| self.keep_overdue(before))
    }

    fn keep_overdue(&mut self, slot: Slot) -> Option<Unanswered> {
        let is_answered = |slot: &Slot| slot.state == State::Answered;
        while self.overdue.front().is_some_and(is_answered) {
            self.overdue.pop_front();
        }
        let is_full = self.overdue.len() >= self.slots.len().min(OVERDUE);
        let forgotten = is_full.then(|| self.overdue.pop_front()).flatten();
        self.overdue.push_back(slot);
        let unanswered = forgotten?.unanswered()?;
        self.forgotten = unanswered.0.sequence + 1;
        Some(unanswered)
    }

    /// When this ping left, if that is still remembered.
    pub fn sent_at(&mut self, sequence: u64) -> Option<Tick> {
        self.slot(sequence).map(|slot| slot.departure.sent)
    }

    /// How many pings were answered.
    pub fn answered(&self) -> u64 {
        self.order.arrived()
    }

    /// How many pings an answer is awaited of.
    pub fn awaited(&self) -> u64 {
        self.awaited
    }

    /// Gives up, of the pings below `next`, those that left before `before`. Returns when the oldest one
    /// left that is still awaited.
    pub fn give_up(&mut self, next: u64, before: Tick) -> Option<Tick> {
        self.oldest = self.oldest.max(next.saturating_sub(self.slots.len() as u64));
        while self.oldest < next {
            let index = self.index(self.oldest);
            let slot = &mut self.slots[index];
            if slot.state == State::Outstanding {
                if slot.departure.sent >= before {
                    return Some(slot.departure.sent);
                }
                slot.state = State::GivenUp;
                self.awaited -= 1;
            }
            self.oldest += 1;
        }
        None
    }

    /// Something damaged came of this ping: nobody waits for more. Returns whether that is news.
    pub fn damaged(&mut self, sequence: u64) -> bool {
        let Some(slot) = self.slot(sequence) else { return false };
        let before = slot.state;
        if matches!(before, State::Answered | State::Damaged) {
            return false;
        }
        slot.state = State::Damaged;
        self.awaited -= u64::from(before == State::Outstanding);
        true
    }

    /// An intact echo of `sequence` came, of the pings below `next`.
    pub fn arrived(&mut self, sequence: u64, next: u64) -> Arrival {
        if sequence >= next {
            return Arrival::Unknown;
        }
        let is_forgotten = sequence < self.forgotten;
        let Some(slot) = self.slot(sequence) else {
            // Whatever left the slots without an answer is overdue, and this one is not.
            return if is_forgotten { Arrival::Late } else { Arrival::Duplicate };
        };
        let Slot { departure, state } = *slot;
        if state == State::Answered {
            return Arrival::Duplicate;
        }
        slot.state = State::Answered;
        self.awaited -= u64::from(state == State::Outstanding);
        let extent = self.order.saw(sequence);
        Arrival::First { departure, extent, is_mended: state == State::Damaged }
    }

    /// The pings below `next` that are remembered and have no answer.
    pub fn unanswered(&self, next: u64) -> impl Iterator<Item = Unanswered> {
        let first = next.saturating_sub(self.slots.len() as u64);
        let slots = (first..next).filter_map(|sequence| {
            let slot = &self.slots[self.index(sequence)];
            slot.unanswered().filter(|_| slot.departure.sequence == sequence)
        });
        self.overdue.iter().filter_map(Slot::unanswered).chain(slots)
    }

    fn slot(&mut self, sequence: u64) -> Option<&mut Slot> {
        let index = self.index(sequence);
        if self.slots[index].departure.sequence == sequence {
            return Some(&mut self.slots[index]);
        }
        let number = |slot: &Slot| slot.departure.sequence;
        let place = self.overdue.binary_search_by_key(&sequence, number).ok()?;
        self.overdue.get_mut(place)
    }

    fn index(&self, sequence: u64) -> usize {
        sequence as usize & (self.slots.len() - 1)
    }
}

impl Slot {
    fn unanswered(&self) -> Option<Unanswered> {
        match self.state {
            State::Answered => None,
            State::Damaged => Some((self.departure, Outcome::Corrupt)),
            State::Outstanding | State::GivenUp => Some((self.departure, Outcome::Lost)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn departure(sequence: u64) -> Departure {
        let sent = Tick::from_nanos(sequence * 10);
        Departure { sequence, due: sent, from: sent, sent }
    }

    fn first(sequence: u64, extent: Option<u64>) -> Arrival {
        Arrival::First { departure: departure(sequence), extent, is_mended: false }
    }

    fn lost(sequence: u64) -> Unanswered {
        (departure(sequence), Outcome::Lost)
    }

    #[test]
    fn each_arrival_is_what_it_is() {
        let mut window = Window::new(4);
        (0..6).for_each(|it| assert_eq!(window.sent(departure(it)), None));
        assert_eq!(window.arrived(3, 6), first(3, None));
        assert_eq!(window.arrived(2, 6), first(2, Some(1)));
        assert_eq!(window.arrived(3, 6), Arrival::Duplicate);
        assert_eq!(window.arrived(5, 6), first(5, None));
        // Behind the window, and remembered since it had no answer.
        assert_eq!(window.arrived(1, 6), first(1, Some(3)));
        assert_eq!(window.arrived(1, 6), Arrival::Duplicate);
        assert_eq!(window.arrived(6, 6), Arrival::Unknown);
        assert_eq!(window.unanswered(6).collect::<Vec<_>>(), [lost(0), lost(4)]);
    }

    #[test]
    fn who_has_no_answer_is_settled_once_when_the_last_room_is_needed() {
        let mut window = Window::new(4);
        (0..8).for_each(|it| assert_eq!(window.sent(departure(it)), None));
        assert!(window.damaged(1));
        assert!(!window.damaged(1));
        assert_eq!(window.arrived(2, 8), first(2, None));
        assert_eq!(window.sent(departure(8)), Some(lost(0)));
        assert_eq!(window.sent(departure(9)), Some((departure(1), Outcome::Corrupt)));
        // The answered one leaves its room to the next.
        assert_eq!(window.sent(departure(10)), None);
        assert_eq!(window.sent(departure(11)), Some(lost(3)));
        for sequence in 0..4 {
            assert_eq!(window.arrived(sequence, 12), Arrival::Late, "{sequence}");
            assert!(!window.damaged(sequence));
        }
        let rest: Vec<_> = window.unanswered(12).collect();
        assert_eq!(rest, (4..12).map(lost).collect::<Vec<_>>());
    }

    #[test]
    fn copies_of_what_was_answered_are_told_from_what_is_forgotten() {
        let mut window = Window::new(4);
        for sequence in 0..12 {
            assert_eq!(window.sent(departure(sequence)), None);
            assert_eq!(window.arrived(sequence, 12), first(sequence, None));
        }
        (0..12).for_each(|it| assert_eq!(window.arrived(it, 12), Arrival::Duplicate, "{it}"));
    }

    #[test]
    fn an_intact_echo_mends_a_damaged_one() {
        let mut window = Window::new(4);
        (0..3).for_each(|it| assert_eq!(window.sent(departure(it)), None));
        assert!(window.damaged(1));
        assert_eq!(window.awaited(), 2);
        let mended = Arrival::First { departure: departure(1), extent: None, is_mended: true };
        assert_eq!(window.arrived(1, 3), mended);
        assert!(!window.damaged(1));
        assert!(!window.damaged(3));
        assert_eq!((window.awaited(), window.arrived(1, 3)), (2, Arrival::Duplicate));
    }

    #[test]
    fn the_extent_of_reordering_counts_from_the_first_that_overtook() {
        let mut window = Window::new(16);
        (0..10).for_each(|it| assert_eq!(window.sent(departure(it)), None));
        // Three pings are overtaken by four: 3 by 6 to 9, and each after it by one more arrival.
        let arrivals = [0, 1, 2, 6, 7, 8, 9, 3, 4, 5].map(|it| window.arrived(it, 10));
        let extents = arrivals.map(|arrival| match arrival {
            Arrival::First { extent, .. } => extent,
            _ => None,
        });
        assert_eq!(extents[..7], [None; 7]);
        assert_eq!(extents[7..], [Some(4), Some(5), Some(6)]);
    }

    #[test]
    fn who_is_given_up_may_still_be_answered() {
        let mut window = Window::new(8);
        (0..4).for_each(|it| assert_eq!(window.sent(departure(it)), None));
        assert_eq!(window.arrived(1, 4), first(1, None));
        assert_eq!(window.awaited(), 3);
        assert_eq!(window.give_up(4, Tick::from_nanos(25)), Some(Tick::from_nanos(30)));
        assert_eq!(window.awaited(), 1);
        assert_eq!(window.arrived(2, 4), first(2, None));
        assert!(window.damaged(3));
        assert_eq!((window.awaited(), window.give_up(4, Tick::ZERO)), (0, None));
        assert_eq!(window.arrived(0, 4), first(0, Some(2)));
    }

    proptest! {
        #[test]
        fn extents_are_those_of_the_definition(order in Just((0..60_u64).collect::<Vec<_>>()).prop_shuffle()) {
            let mut window = Window::new(64);
            (0..60).for_each(|it| assert_eq!(window.sent(departure(it)), None));
            for (place, &sequence) in order.iter().enumerate() {
                let first = order[..place].iter().position(|&earlier| earlier > sequence);
                let expected = first.map(|first| (place - first) as u64);
                let Arrival::First { extent, .. } = window.arrived(sequence, 60) else {
                    panic!("each comes once");
                };
                prop_assert_eq!(extent, expected);
            }
            prop_assert_eq!((window.awaited(), window.answered()), (0, 60));
        }

        /// One ping a second for 100 s, as one of few flows remembers them and as one of a million does: whatever comes
        /// within 10 s is the same to both, and so is what has no answer at the end.
        #[test]
        fn what_comes_within_ten_seconds_is_the_same_to_few_flows_and_to_many(
            echoes in prop::collection::vec((0_u64..100, 0_u64..10_000, any::<bool>()), 0..250),
        ) {
            let mut events: Vec<_> = (0..100).map(|it| (it * 1_000, it, None)).collect();
            let echo = |(of, after, is_damaged)| (of * 1_000 + after, of, Some(is_damaged));
            events.extend(echoes.into_iter().map(echo));
            events.sort_unstable();
            let mut windows = [1_024, 11].map(Window::new);
            let mut without: [Vec<Unanswered>; 2] = Default::default();
            let mut next = 0;
            for (at, sequence, echo) in events {
                let before = Tick::from_nanos((next * 10_u64).saturating_sub(15));
                let [few, many] = windows.each_mut().map(|window| match echo {
                    None => {
                        let forgotten = window.sent(departure(sequence));
                        (forgotten, None, None)
                    }
                    Some(true) => (None, Some(window.damaged(sequence)), None),
                    Some(false) => (None, None, Some(window.arrived(sequence, next))),
                });
                prop_assert_eq!((few.1, few.2), (many.1, many.2), "at {}", at);
                for (without, (forgotten, ..)) in without.iter_mut().zip([few, many]) {
                    without.extend(forgotten);
                }
                next += u64::from(echo.is_none());
                let [few, many] = windows.each_mut().map(|window| {
                    (window.give_up(next, before), window.awaited(), window.answered())
                });
                prop_assert_eq!(few, many, "at {}", at);
            }
            for (window, without) in windows.iter().zip(&mut without) {
                without.extend(window.unanswered(next));
            }
            let [few, many] = without;
            prop_assert_eq!(few, many);
        }
    }
}
