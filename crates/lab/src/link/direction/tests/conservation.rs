//! Whatever is offered, changed, cut and taken when: every frame ends in one place, in order of
//! time.

use proptest::prelude::*;

use super::*;
use crate::link::Tally;

#[derive(Clone, Debug)]
enum Step {
    Offer {
        length: usize,
        flow: u8,
    },
    Wait(u64),
    /// Back in time by so much, as a driver that reads late.
    OfferPast {
        ago: u64,
    },
    Take,
    TakeAndFail,
    Order(String),
}

fn step() -> impl Strategy<Value = Step> {
    let words = prop::sample::select(vec![
        "rate=40Mbit queue=5p",
        "rate=999983bit queue=3000B",
        "rate=none",
        "delay=2ms jitter=2ms",
        "jitter=0s delay=0s",
        "delay=100us jitter=10us",
        "loss=30%",
        "loss=burst:20%,30%,1%,90%",
        "loss=none",
        "dup=50%",
        "dup=0%",
        "corrupt=50%",
        "reorder=30%x3,1ms",
        "reorder=60%x1,20us",
        "reorder=none",
        "queue=1p",
        "cut",
        "restore",
        "restore",
    ]);
    prop_oneof![
        6 => (0_usize..3_000, 0_u8..4).prop_map(|(length, flow)| Step::Offer { length, flow }),
        3 => (0_u64..3_000_000).prop_map(Step::Wait),
        1 => (0_u64..1_000_000).prop_map(|ago| Step::OfferPast { ago }),
        2 => Just(Step::Take),
        1 => Just(Step::TakeAndFail),
        2 => words.prop_map(|words| Step::Order(words.to_owned())),
    ]
}

fn frame(length: usize, flow: u8) -> Frame {
    let payload = vec![flow; length];
    Frame::from(
        match flow {
            0 => samples::tcp(Version::Four, &payload),
            1 => samples::udp(Version::Six, &payload),
            2 => samples::echo(Version::Four, &payload),
            _ => payload,
        }
        .as_slice(),
    )
}

/// What must hold after each step: of all and of each flow, in frames and in bytes.
fn assert_conserved(direction: &Direction, taken: Tally) {
    let truth = direction.truth();
    let balance = |pick: fn(&Tally) -> u64, counts: &Counts| {
        let ends = [counts.delivered, counts.dropped, counts.lost, counts.cut, counts.overrun];
        let came = pick(&counts.offered) + pick(&counts.duplicated);
        came.checked_sub(ends.iter().map(pick).sum::<u64>()).expect("nothing ends that never came")
    };
    for counts in truth.flows.iter().map(|row| &row.counts).chain([&truth.total]) {
        assert_eq!(balance(|it| it.frames, counts), counts.in_flight().frames);
        assert_eq!(balance(|it| it.bytes, counts), counts.in_flight().bytes);
    }
    let sum = truth.flows.iter().fold(Counts::default(), |sum, row| sum.add(&row.counts));
    assert_eq!(sum, truth.total);
    assert_eq!(truth.total.in_flight().frames, direction.load.frames + taken.frames);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_frame_ends_in_one_place(steps in prop::collection::vec(step(), 1..120), lab: u64) {
        let mut direction = under_seed("delay=1ms", Seed { lab, ..SEED });
        let (mut now, mut last) = (Tick::ZERO, Tick::ZERO);
        for step in steps {
            match step {
                Step::Offer { length, flow } => direction.offer(now, frame(length, flow)),
                Step::OfferPast { ago } => {
                    let arrived = Tick::from_nanos(now.as_nanos().saturating_sub(ago));
                    direction.offer(arrived, frame(100, 0));
                }
                Step::Wait(nanoseconds) => now = now.plus_nanos(nanoseconds),
                Step::Take | Step::TakeAndFail => {
                    let is_due = direction.next_due().is_some_and(|due| due <= now);
                    while let Some(delivery) = direction.take_due(now) {
                        prop_assert!(is_due, "it was said that nothing is due");
                        prop_assert!(last <= delivery.due() && delivery.due() <= now);
                        last = delivery.due();
                        assert_conserved(&direction, Tally { frames: 1, bytes: 0 });
                        match step {
                            Step::Take => direction.sent(delivery, now),
                            _ => direction.not_sent(delivery),
                        }
                    }
                }
                Step::Order(words) => {
                    let order = words.parse().expect("the words of the list are right");
                    // Some of them do not go with the jitter there is, and are refused.
                    let _ = direction.obey(now, &order);
                }
            }
            assert_conserved(&direction, Tally::default());
        }
        direction.obey(now, &Order::Restore).expect("always possible");
        all_by_and_by(&mut direction);
        prop_assert_eq!(direction.truth().total.in_flight(), Tally::default());
        prop_assert_eq!((direction.load.frames, direction.load.bytes), (0, 0));
    }
}

/// Takes whatever is left, only when it is said to be due.
fn all_by_and_by(direction: &mut Direction) {
    while let Some(next) = direction.next_due() {
        while let Some(delivery) = direction.take_due(next) {
            let due = delivery.due();
            direction.sent(delivery, due);
        }
        assert!(direction.next_due().is_none_or(|after| after > next), "time stands still");
    }
}
