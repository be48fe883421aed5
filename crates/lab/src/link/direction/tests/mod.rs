//! The machine in virtual time: exact schedules, exact counts, exact seeds.

mod changes;
mod conservation;
mod impairments;
mod schedule;

use super::*;
use crate::link::packet::samples::{self, Version};
use crate::link::random::Way;
use crate::link::{Change, Counts};

/// The seed of all tests whose figures are recorded.
const SEED: Seed = Seed { lab: 42, link: 0, way: Way::Forth };

/// A direction under these words.
fn under(words: &str) -> Direction {
    under_seed(words, SEED)
}

fn under_seed(words: &str, seed: Seed) -> Direction {
    Direction::new(Conditions::default().after(&change(words)).expect(words), seed)
}

fn change(words: &str) -> Change {
    match words.parse() {
        Ok(Order::Change(change)) => change,
        other => panic!("{words}: {other:?}"),
    }
}

/// Offers a datagram of `length` bytes as a frame that carries a number.
fn offer_numbered(direction: &mut Direction, at_ns: u64, number: u32, length: usize) {
    let mut payload = number.to_be_bytes().to_vec();
    payload.resize(length - 42, 0);
    let mut frame = direction.blank();
    frame.fill(&samples::udp(Version::Four, &payload));
    assert_eq!(frame.len(), length);
    direction.offer(Tick::from_nanos(at_ns), frame);
}

/// All that arrives until `now`, as (due, number), given back as handed over in time.
fn arrivals(direction: &mut Direction, now: Tick) -> Vec<(u64, u32)> {
    let mut arrived = Vec::new();
    while let Some(delivery) = direction.take_due(now) {
        let number = delivery.bytes()[42..46].try_into().expect("four bytes");
        let due = delivery.due();
        arrived.push((due.as_nanos(), u32::from_be_bytes(number)));
        direction.sent(delivery, due);
    }
    arrived
}

/// All that ever arrives, asked for whenever something is said to be due.
fn all_arrivals(direction: &mut Direction) -> Vec<(u64, u32)> {
    let mut arrived = Vec::new();
    let mut before = None;
    while let Some(next) = direction.next_due() {
        assert!(before < Some(next), "time stands still at {next:?}");
        before = Some(next);
        let now = arrivals(direction, next);
        assert!(now.iter().all(|(due, _)| *due == next.as_nanos()), "something was overslept");
        arrived.extend(now);
    }
    assert_eq!(direction.truth().total.in_flight().frames, 0);
    arrived
}

fn total(direction: &Direction) -> Counts {
    direction.truth().total
}
