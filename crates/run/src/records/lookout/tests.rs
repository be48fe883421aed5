//! When a program stood still, and what rows tell of it: in virtual time.

use pathscope_core::quantity::Frequency;
use pathscope_modes::latency::LatencyPlan;

use super::*;

const SECOND_NS: u64 = 1_000_000_000;

fn at(milliseconds: u64) -> Tick {
    Tick::from_nanos(milliseconds * 1_000_000)
}

fn used(milliseconds: u64) -> Account {
    Account { used_ns: Some(milliseconds * 1_000_000), waited_ns: Some(0) }
}

/// A process that is seen for the first time then, and its test, which begins then.
fn lookout(start: Tick, seen_from_ns: u64) -> (Lookout, u64) {
    let mut lookout = Lookout::new();
    lookout.woke(start, used(0));
    let test = lookout.watch(Standstill::new(start, seen_from_ns));
    (lookout, test)
}

fn plain(start: Tick) -> (Lookout, u64) {
    lookout(start, StoodStill::SEEN_FROM_NS)
}

fn still(lookout: &Lookout, test: u64) -> (u64, u64, u64) {
    let still = &lookout.tests[&test].still;
    (still.times, still.total_ns, still.longest_ns)
}

#[test]
fn a_program_that_wakes_too_late_and_used_nothing_stood_still() {
    let (mut seen, test) = plain(at(1_000));
    seen.woke(at(1_051), used(40));
    // Its threads ran, and only this one did not.
    seen.woke(at(1_501), used(400));
    // A quota kept its processors from it.
    let waited = Account { waited_ns: Some(300_000_000), ..used(410) };
    seen.woke(at(1_900), waited);
    assert_eq!(still(&seen, test), (0, 0, 0));
    seen.woke(at(2_950), Account { used_ns: Some(2 * SECOND_NS), ..waited });
    seen.woke(at(6_000), Account { used_ns: Some(2_001_000_000), ..waited });
    assert_eq!(still(&seen, test), (1, 3 * SECOND_NS, 3 * SECOND_NS));
    let stretch = Stretch { start_ns: 2 * SECOND_NS, end_ns: 5 * SECOND_NS };
    assert_eq!(seen.tests[&test].still.stretches, [stretch]);
}

#[test]
fn whoever_comes_first_after_a_stretch_sees_it_and_it_counts_once() {
    let (mut seen, test) = plain(at(0));
    seen.catch_up(at(299), || panic!("it is not late yet"));
    seen.catch_up(at(1_050), || Account { waited_ns: None, ..used(1) });
    seen.woke(at(1_060), used(2));
    assert_eq!(still(&seen, test), (1, SECOND_NS, SECOND_NS));
}

#[test]
fn a_program_that_is_stopped_in_the_midst_of_a_look_stood_still() {
    let (mut seen, test) = plain(at(0));
    seen.woke(at(50), used(1));
    seen.looked(at(50), at(51), || panic!("a look takes its time"));
    seen.woke(at(101), used(2));
    seen.looked(at(101), at(1_101), || used(3));
    seen.woke(at(1_151), used(4));
    assert_eq!(still(&seen, test), (1, SECOND_NS, SECOND_NS));
    // Its threads ran meanwhile, and only this one did not.
    seen.looked(at(1_151), at(2_151), || used(904));
    seen.woke(at(2_201), used(905));
    assert_eq!(still(&seen, test), (1, SECOND_NS, SECOND_NS));
}

#[test]
fn pings_know_of_less_where_it_is_sure_that_no_processor_was_lacking() {
    let (mut seen, pings) = lookout(at(0), StoodStill::SEEN_FROM_BY_PINGS_NS);
    let bytes = seen.watch(Standstill::new(at(0), StoodStill::SEEN_FROM_NS));
    // Less than that.
    seen.woke(at(149), used(0));
    // 150 ms, of which the thread may have waited for a processor, as far as is known.
    seen.woke(at(349), Account { waited_ns: None, ..used(0) });
    seen.woke(at(549), used(0));
    assert_eq!(still(&seen, pings), (0, 0, 0));
    // Here it did not.
    seen.woke(at(749), used(0));
    assert_eq!(still(&seen, pings), (1, 150_000_000, 150_000_000));
    assert_eq!(still(&seen, bytes), (0, 0, 0));
}

#[test]
fn a_test_knows_of_its_own_time_alone() {
    let (mut seen, first) = plain(at(0));
    // It begins after the stretch that nobody has seen yet.
    let second = seen.watch(Standstill::new(at(1_049), StoodStill::SEEN_FROM_NS));
    seen.woke(at(1_050), used(0));
    seen.woke(at(2_100), used(0));
    assert_eq!(still(&seen, first), (2, 2 * SECOND_NS, SECOND_NS));
    assert_eq!(still(&seen, second), (1, SECOND_NS, SECOND_NS));
    let [stretch] = seen.tests[&second].still.stretches[..] else { panic!("one stretch") };
    assert_eq!((stretch.start_ns, stretch.end_ns), (51_000_000, 1_051_000_000));
}

#[test]
fn intervals_that_hold_what_waited_meanwhile_are_told() {
    let (mut seen, test) = plain(at(0));
    seen.woke(at(1_950), used(1_900));
    seen.woke(at(5_400), used(1_900));
    let mut about = |start: u64, end: u64| {
        let test = seen.tests.get_mut(&test).expect("it is watched");
        test.still_about(start * 1_000_000, end * 1_000_000)
    };
    let still = Some(3_400_000_000);
    // The last before it, the one that it made long, and the one in which the buffers were emptied.
    assert_eq!(about(0, 1_000), None);
    assert_eq!(about(1_000, 5_401), still);
    assert_eq!(about(5_401, 6_000), still);
    assert_eq!(about(6_000, 7_000), None);
}

#[test]
fn every_row_tells_of_its_stretch_however_many_came_before() {
    let (mut seen, test) = plain(at(0));
    // A second in each two, and a row for each two.
    for row in 0..200 {
        let begin = row * 2_000;
        seen.woke(at(begin + 950), used(begin + 950));
        seen.woke(at(begin + 2_000), used(begin + 950));
        // What the other tests of it used meanwhile.
        seen.account = used(begin + 2_000);
        let test = seen.tests.get_mut(&test).expect("it is watched");
        let told = test.still_about((begin + 500) * 1_000_000, (begin + 2_000) * 1_000_000);
        assert_eq!(told, Some(SECOND_NS), "row {row}");
        assert!(test.recent.len() <= 2);
    }
    assert_eq!(still(&seen, test).0, 200);
    assert_eq!(seen.tests[&test].still.stretches.len(), 16);
}

#[test]
fn what_no_row_has_told_stays_bounded_and_nothing_of_it_is_lost() {
    let (mut seen, test) = plain(at(0));
    for second in 1..=1_000 {
        seen.woke(at(second * 1_050), used(0));
    }
    let test = seen.tests.get_mut(&test).expect("it is watched");
    assert_eq!(test.recent.len(), RECENT);
    assert_eq!(test.still_about(0, 1_050 * SECOND_NS), Some(1_000 * SECOND_NS));
    // The last rows still know.
    assert!(test.still_about(1_049 * SECOND_NS, 1_050 * SECOND_NS) >= Some(SECOND_NS));
    assert_eq!(test.recent.len(), 1);
}

#[test]
fn senders_of_a_test_are_looked_at_once_it_has_run_for_a_while() {
    let mut seen = Lookout::new();
    let senders = [0, 1].map(|_| Senders { ledger: Ledger::default(), workers: Vec::new() }).into();
    seen.watch(Standstill { senders, ..Standstill::new(at(1_000), 0) });
    seen.watch(Standstill::new(at(900), 0));
    assert_eq!([999, 1_049, 1_050, 2_000].map(|now| seen.senders(at(now)).count()), [0, 0, 2, 2]);
}

#[test]
fn a_test_that_is_let_go_is_forgotten() {
    let plan = Plan::Latency(LatencyPlan::probe(Frequency(100)));
    let watched = Watched::begin(clock::now(), &plan, Vec::new()).expect("a thread");
    let number = watched.0;
    assert!(lock(&PROCESS).tests.contains_key(&number) && lock(&PROCESS).has_thread);
    drop(watched);
    assert!(!lock(&PROCESS).tests.contains_key(&number));
}
