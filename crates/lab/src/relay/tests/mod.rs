//! The relay alone, on real packet sockets: what is put in at one end comes out at the other, and the
//! account says so.

mod course;
mod orders;

use pathscope_os::clock;
use pathscope_os::readiness::{Interest, Poller};

use self::course::{Course, FRAME_BYTES, course, frames};
use super::*;
use crate::link::{Counts, Tally};

fn tally(frames: &[Vec<u8>]) -> Tally {
    Tally { frames: frames.len() as u64, bytes: frames.iter().map(|it| it.len() as u64).sum() }
}

/// What was lost; how late frames were is the machine's affair.
fn lost(account: &RelayAccount) -> Vec<Shortcoming> {
    let is_lost = |it: &Shortcoming| matches!(it, Shortcoming::Lost { .. });
    account.shortcomings().into_iter().filter(is_lost).collect()
}

fn lost_forward(frames: u64) -> Vec<Shortcoming> {
    vec![Shortcoming::Lost { direction: ["a", "b"].map(str::to_owned), frames }]
}

/// The account with what the interfaces count, as a keeper puts it together.
fn with_interfaces(course: &mut Course, mut account: RelayAccount) -> RelayAccount {
    let wires = &mut course.wires;
    account.see(0, ["p0", "p1"].map(|name| wires.link(name).expect("it is there").statistics));
    account
}

#[test]
fn frames_come_out_as_they_were_put_in() {
    let Some(mut course) = course(["delay=1ms", "delay=0ms"], FRAME_BYTES) else { return };
    let forth = frames((0..500).map(|number| 60 + number * 2));
    let back = frames((0..300).map(|number| FRAME_BYTES - number));
    course.offer(0, &forth);
    course.offer(1, &back);
    course.expect(1, &forth);
    course.expect(0, &back);
    let account = course.settled([500, 300]);
    let account = with_interfaces(&mut course, account);
    let link = account.link("a:b").expect("it has that name");
    for (direction, frames) in [(&link.forward, &forth), (&link.backward, &back)] {
        let (offered, delivered) = (tally(frames), tally(frames));
        assert_eq!(direction.truth.total, Counts { offered, delivered, ..Counts::default() });
        assert_eq!(direction.truth.lateness.count, frames.len() as u64);
        assert_eq!((direction.missed, direction.refused, direction.too_long), (0, 0, 0));
    }
    assert_eq!((link.forward.from.as_str(), link.forward.to.as_str()), ("a", "b"));
    assert_eq!((link.backward.from.as_str(), link.backward.to.as_str()), ("b", "a"));
    assert_eq!(lost(&account), []);
}

#[test]
fn an_account_tells_what_happened_since_another() {
    let Some(mut course) = course(["delay=0ms", "delay=0ms"], FRAME_BYTES) else { return };
    course.offer(0, &frames([100; 30]));
    let earlier = course.settled([30, 0]);
    let earlier = with_interfaces(&mut course, earlier);
    let later = frames([200; 50]);
    course.offer(0, &later);
    let account = course.settled([80, 0]);
    let step = with_interfaces(&mut course, account).since(&earlier);
    let truth = &step.links[0].forward.truth;
    let (offered, delivered) = (tally(&later), tally(&later));
    assert_eq!(truth.total, Counts { offered, delivered, ..Counts::default() });
    assert_eq!(truth.lateness.count, 50);
    assert_eq!(lost(&step), []);
    assert_eq!(earlier.since(&earlier).links[0].forward.truth.total, Counts::default());
}

#[test]
fn each_way_has_conditions_of_its_own() {
    const DELAY_NS: u64 = 3_000_000;
    let Some(course) = course(["loss=100%", "delay=3ms"], FRAME_BYTES) else { return };
    let sent = frames([80; 100]);
    let before = clock::now();
    course.offer(0, &sent);
    course.offer(1, &sent);
    // The stamps are of the wall clock, which may drift against ours, a little.
    let taken = course.take(0, 100);
    assert!(taken.iter().all(|(at, _)| at.nanos_since(before) >= DELAY_NS - 100_000), "{taken:?}");
    let account = course.settled([100, 100]);
    let link = &account.links[0];
    assert_eq!(link.forward.truth.total.lost, tally(&sent));
    assert_eq!(link.backward.truth.total.delivered, tally(&sent));
    assert_eq!(lost(&account), []);
}

#[test]
fn a_frame_that_is_too_long_is_counted_and_not_carried() {
    let Some(course) = course(["delay=0ms", "delay=0ms"], 100) else { return };
    let sent = frames([60, 101, 100, 1_514, 60]);
    course.offer(0, &sent);
    course.expect(1, &[sent[0].clone(), sent[2].clone(), sent[4].clone()]);
    let account = course.settled([3, 0]);
    assert_eq!(account.links[0].forward.too_long, 2);
    assert_eq!(lost(&account), lost_forward(2));
}

#[test]
fn an_exit_that_is_down_is_the_labs_fault() {
    let Some(mut course) = course(["delay=0ms", "delay=0ms"], FRAME_BYTES) else { return };
    course.wires.set_up("p1", false).expect("it is there");
    let sent = frames([80; 100]);
    course.offer(0, &sent);
    let account = course.settled([100, 0]);
    assert_eq!(account.links[0].forward.truth.total.overrun, tally(&sent));
    assert_eq!(lost(&account), lost_forward(100));
    course.wires.set_up("p1", true).expect("it is there");
    course.offer(0, &sent);
    course.expect(1, &sent);
    assert_eq!(lost(&course.settled([200, 0]).since(&account)), []);
}

#[test]
fn all_frames_are_accounted_for_whatever_is_done_to_them() {
    let words =
        "rate=400Mbit queue=50p delay=2ms jitter=1ms loss=5% dup=5% corrupt=5% reorder=5%x3";
    let Some(mut course) = course([words, words], FRAME_BYTES) else { return };
    let sent = frames((0..400).map(|number| 60 + number * 3));
    course.offer(0, &sent);
    course.offer(1, &sent);
    let account = course.settled([400; 2]);
    let account = with_interfaces(&mut course, account);
    for (end, direction) in [(1, &account.links[0].forward), (0, &account.links[0].backward)] {
        let Counts { offered, duplicated, delivered, dropped, lost, .. } = direction.truth.total;
        assert_eq!(offered, tally(&sent));
        let gone = delivered.frames + dropped.frames + lost.frames;
        assert_eq!(gone, offered.frames + duplicated.frames);
        assert_eq!(course.take(end, delivered.frames as usize).len() as u64, delivered.frames);
    }
    assert_eq!(lost(&account), []);
}

#[test]
fn a_relay_that_has_nothing_to_do_sleeps() {
    const QUESTIONS: u64 = 200;
    let Some(course) = course(["delay=2ms", "delay=2ms"], FRAME_BYTES) else { return };
    course.offer(0, &frames([80]));
    // The alarm has gone off for the last frame there was.
    let before = course.settled([1, 0]);
    for _ in 1..QUESTIONS {
        course.relay.account().expect("it runs");
    }
    let turns = course.relay.account().expect("it runs").since(&before).turns;
    // A question may be heard a turn before its bell.
    assert!(turns <= 2 * QUESTIONS, "{turns} turns for {QUESTIONS} questions");
}

#[test]
fn a_relay_that_is_dropped_carries_nothing_more() {
    let Some(course) = course(["delay=0ms", "delay=0ms"], FRAME_BYTES) else { return };
    let sent = frames([80; 10]);
    course.offer(0, &sent);
    course.expect(1, &sent);
    let Course { relay, ends, .. } = course;
    drop(relay);
    ends[0].send(&[&sent[0]]).expect("the cable is still there");
    let mut batch = pathscope_os::packets::Batch::new(1, FRAME_BYTES);
    assert_eq!(ends[1].receive(&mut batch).expect("it is up"), 0);
}

#[test]
fn a_relay_whose_thread_is_gone_says_so() {
    let Some(course) = course(["delay=0ms", "delay=0ms"], FRAME_BYTES) else { return };
    course.relay.tell(Command::End).expect("it still runs");
    let later = TimedOrder { wire: 0, way: None, order: Order::Cut, at: clock::now() };
    for _ in 0..2 {
        assert!(matches!(course.relay.account(), Err(RelayError::Ended)));
        assert!(matches!(course.relay.obey(vec![later.clone()]), Err(RelayError::Ended)));
    }
    // Its keeper waits for this; where it never rings, so does the test.
    let poller = Poller::new().expect("a poller");
    poller.add(course.relay.ended(), 0, Interest::INPUT).expect("it can be waited for");
    let mut ready = Vec::new();
    poller.wait(&mut ready, None).expect("it rings");
    assert!(course.relay.ended().is_raised());
}
