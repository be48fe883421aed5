//! Searches over paths that are formulas: what is found is what they carry.
//!
//! In one file: each test searches a path that is one formula, and is read beside its neighbours.

use pathscope_core::presentation::Value;
use pathscope_core::record::Limit;
use proptest::prelude::*;

use super::*;
use crate::datagrams::tests::plan;
use crate::load::Pattern;

const SIZE: u64 = 1_400;

fn test_of(rate: Option<u64>, duration: Period) -> Test {
    let extent = Extent::DurationNs(duration);
    let rate_bps = rate.map(BitRate);
    let plan = DatagramsPlan { extent, rate_bps, ..plan(Pattern::Push) };
    Test::new(plan.into(), None, Period::from_secs(1))
}

/// A path in formulas: what it carries, what waits before it, what it loses at random, how fast its sender is.
#[derive(Clone, Copy, Debug)]
struct Path {
    capacity_bps: f64,
    queue_bytes: f64,
    loss: f64,
    sender_bps: f64,
    /// Shares of trials that lose for no reason of the rate.
    hiccups: f64,
    drops_in_socket: bool,
    seed: u64,
}

const IDEAL: Path = Path {
    capacity_bps: f64::INFINITY,
    queue_bytes: 0.0,
    loss: 0.0,
    sender_bps: 50e9,
    hiccups: 0.0,
    drops_in_socket: false,
    seed: 1,
};

impl Path {
    /// Uniform, from 0 to 1 (`SplitMix64`).
    fn draw(&mut self) -> f64 {
        self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.seed;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// What this path makes of a trial.
    fn carry(&mut self, test: &Test) -> (RateTrial, u64) {
        let Plan::Datagrams(plan) = &test.plan else { panic!("not of datagrams") };
        let Extent::DurationNs(duration) = plan.extent else { panic!("of no duration") };
        let seconds = duration.0 as f64 / 1e9;
        let bits = (plan.datagram_bytes.0 * 8) as f64;
        let flows = f64::from(plan.connections);
        let asked = plan.rate_bps.map(|rate| rate.0 as f64 * flows);
        let rate = asked.unwrap_or(f64::INFINITY).min(self.sender_bps);
        let sent = (rate * seconds / bits).ceil();
        let due = asked.map_or(sent, |asked| (asked * seconds / bits).ceil());
        let room = self.capacity_bps * seconds / bits + self.queue_bytes * 8.0 / bits;
        let mut lost = (sent - room).ceil().max(0.0).min(sent);
        if self.draw() < 1.0 - (1.0 - self.loss).powf(sent - lost) {
            lost = (lost + (self.loss * sent).ceil()).min(sent);
        }
        let hiccup = self.draw() < self.hiccups;
        if hiccup {
            lost = (lost + 5.0).min(sent);
        }
        let received = sent - lost;
        let counted = RateTrial {
            duration_ns: duration.0,
            sent: sent as u64,
            unsent: (due - sent) as u64,
            received: Some(received as u64),
            // The receiver's window is not the sender's time.
            received_bps: Some((received * bits / seconds * 1.03).min(self.capacity_bps)),
            lost: Some(lost as u64),
            send_lag_max_ns: Some(if hiccup { 20_000_000 } else { 60_000 }),
            socket_drops: Some(if self.drops_in_socket { lost as u64 } else { 0 }),
            ..RateTrial::default()
        };
        (counted, 0)
    }

    /// The whole search.
    fn search(mut self, rate: Option<u64>) -> RateSearch {
        let test = test_of(rate, Period::from_secs(10));
        let (mut search, first) = Search::begin(&test).expect("a plan");
        let mut next = Some(first);
        let mut trials = 0;
        while let Some((_, test)) = next {
            assert_eq!(test.validate(), Ok(()));
            search.judge(Some(self.carry(&test)));
            next = search.next();
            trials += 1;
            assert!(trials <= MOST_TRIALS, "{:?}", search.trials);
            assert_eq!(search.record().ended == SearchEnd::Unfinished, next.is_some());
        }
        search.record()
    }
}

/// What holds for every search that came to its end, whatever the path.
fn assert_sound(search: &RateSearch, rate: Option<u64>) {
    assert_eq!(search.found.is_none(), search.limit.is_none());
    if let Some(ceiling) = rate {
        let asked = search.trials.iter().filter_map(|trial| trial.asked_bps);
        assert!(asked.max() <= Some(ceiling), "{search:?}");
    }
    assert_told_is_what_the_trials_show(search);
    let Some(found) = search.found else {
        let mut passed = search.trials.iter().filter(|trial| trial.has_passed());
        assert!(passed.all(|trial| Some(trial.sent_bps) >= search.failed_bps), "{search:?}");
        return;
    };
    let shown = search.trials[found.trial as usize - 1];
    assert!(shown.has_passed() && shown.sent_bps == found.rate_bps, "{search:?}");
    let failed = |trial: &&RateTrial| trial.verdict == TrialVerdict::Lost;
    let mut failed = search.trials.iter().filter(failed);
    assert!(failed.all(|trial| trial.sent_bps > found.rate_bps), "{search:?}");
    if search.ended == SearchEnd::Found {
        assert!(shown.whole && found.confirmations > 0, "{search:?}");
    }
}

/// No figure that is told has a trial beside it that says otherwise.
fn assert_told_is_what_the_trials_show(search: &RateSearch) {
    let lost = || search.trials.iter().filter(|trial| trial.received < Some(trial.sent));
    assert_eq!(search.failed_bps, lost().map(|trial| trial.sent_bps).min(), "{search:?}");
    for trial in &search.trials {
        assert!(trial.received_bps <= Some(trial.sent_bps as f64), "{trial:?}");
    }
    let section = presentation::section(search);
    let figure = |label: &str| section.figures.iter().find(|it| it.label == label);
    let is_told = |name: &str| section.caveats.iter().any(|caveat| caveat.name == name);
    let Some(found) = search.found else {
        assert!(figure("lost there").is_none() && !is_told("trials_disturbed"));
        return;
    };
    let within = (1.0 - search.resolution) * found.rate_bps as f64..=found.rate_bps as f64;
    let there = || search.trials.iter().filter(|trial| within.contains(&(trial.sent_bps as f64)));
    let sum: u64 = there().map(|trial| trial.sent - trial.received.unwrap_or(trial.sent)).sum();
    let held = there().filter(|trial| trial.whole && trial.has_passed()).count() as u64;
    assert_eq!((found.not_received, found.confirmations), (sum, held), "{search:?}");
    assert_eq!(found.trials, there().count() as u64, "{search:?}");
    assert_eq!(figure("lost there").map(|it| it.value.clone()), Some(Value::Count(sum)));
    let told = figure("lost at").map(|it| it.value.clone());
    assert_eq!(told, search.failed_bps.map(|bps| Value::BitRate(bps as f64)), "{search:?}");
    // Whatever was lost at this rate or below it is told in words.
    let below = lost().any(|trial| trial.sent_bps <= found.rate_bps);
    assert_eq!(is_told("trials_disturbed"), below, "{search:?}");
}

proptest! {
    #[test]
    fn a_path_of_known_capacity_is_found_within_one_percent(
        capacity in 1e6..40e9_f64,
        queue in 0.0..0.05_f64,
        sender in prop_oneof![Just(50e9), 41e9..100e9_f64],
        ceiling in prop::option::of(1.1..1_000.0_f64),
        drops_in_socket: bool,
    ) {
        // A queue of up to 50 ms.
        let queue_bytes = queue * capacity / 8.0;
        let path = Path { capacity_bps: capacity, queue_bytes, sender_bps: sender, drops_in_socket, ..IDEAL };
        let rate = ceiling.map(|times| (capacity * times) as u64).filter(|&rate| rate < 1_000_000_000_000);
        let search = path.search(rate);
        assert_sound(&search, rate);
        prop_assert_eq!(search.ended, SearchEnd::Found);
        let found = search.found.expect("found").rate_bps as f64;
        // The queue hides what it takes in the whole duration.
        let most = capacity * (1.0 + queue / 10.0) + (SIZE * 8) as f64;
        prop_assert!(found <= most, "{found} of {capacity}: {search:?}");
        prop_assert!(found >= capacity * 0.985, "{found} of {capacity}: {search:?}");
        let place = if drops_in_socket { Limit::ReceiverSocket } else { Limit::Network };
        prop_assert_eq!(search.limit, Some(place));
    }

    #[test]
    fn a_sender_that_is_the_limit_is_found_and_named(sender in 1e6..40e9_f64, ceiling in prop::option::of(1.1..100.0_f64)) {
        let path = Path { sender_bps: sender, ..IDEAL };
        let rate = ceiling.map(|times| (sender * times) as u64);
        let search = path.search(rate);
        assert_sound(&search, rate);
        prop_assert_eq!((search.ended, search.limit), (SearchEnd::Found, Some(Limit::Sender)));
        let found = search.found.expect("found").rate_bps as f64;
        prop_assert!((found / sender - 1.0).abs() < 0.02, "{found} of {sender}: {search:?}");
    }

    #[test]
    fn a_ceiling_that_passes_is_the_answer(ceiling in 1_000_000..10_000_000_000_u64) {
        let search = IDEAL.search(Some(ceiling));
        assert_sound(&search, Some(ceiling));
        prop_assert_eq!((search.ended, search.limit), (SearchEnd::Found, Some(Limit::ConfiguredRate)));
        prop_assert_eq!(search.found.map(|found| found.rate_bps), Some(ceiling));
        prop_assert_eq!(search.trials.len(), 2);
    }

    #[test]
    fn every_search_ends_and_says_what_it_saw(
        capacity in 1e5..1e10_f64,
        loss in prop_oneof![Just(0.0), 0.0..1e-4, 0.0..1.0_f64],
        hiccups in 0.0..1.0_f64,
        sender in 1e5..1e11_f64,
        seed: u64,
    ) {
        let path = Path { capacity_bps: capacity, loss, hiccups, sender_bps: sender, seed, ..IDEAL };
        assert_sound(&path.search(None), None);
        assert_sound(&path.search(Some(25_000_000)), Some(25_000_000));
    }
}

#[test]
fn a_path_that_loses_at_random_has_no_rate_without_loss() {
    for seed in 0..100 {
        let path = Path { capacity_bps: 100e6, loss: 0.2, seed, ..IDEAL };
        let search = path.search(None);
        assert_sound(&search, None);
        // 1 of 86 trials of 20 datagrams has luck; one of the whole duration, of 100, none.
        let confirmed = search.found.map_or(0, |found| found.confirmations);
        assert_eq!(confirmed, 0, "{search:?}");
        assert!(search.failed_bps < Some(1_000_000), "{search:?}");
    }
    let search = Path { loss: 1.0, ..IDEAL }.search(None);
    assert_eq!((search.ended, search.found), (SearchEnd::EveryRateLost, None));
}

#[test]
fn a_rate_that_holds_for_a_moment_and_not_for_the_whole_duration_is_given_up() {
    // 40 ms of queue: 2 % above the capacity in a trial of 2 s, and less than half a percent in 10 s.
    let path = Path { capacity_bps: 100e6, queue_bytes: 500e3, ..IDEAL };
    let search = path.search(None);
    let found = search.found.expect("found").rate_bps as f64;
    assert!((99e6..=100.5e6).contains(&found), "{search:?}");
    let given_up = search.trials.iter().any(|trial| trial.whole && !trial.has_passed());
    assert!(given_up, "{search:?}");
}

#[test]
fn what_was_lost_while_a_program_stood_still_is_tried_once_more_and_no_more_than_once() {
    let test = test_of(Some(20_000_000), Period::from_secs(10));
    let (mut search, first) = Search::begin(&test).expect("a plan");
    // The sender is in time: it was the receiver that rested, and its socket overflowed.
    let rested = |test| {
        let carried = Path { loss: 0.1, ..IDEAL }.carry(test);
        let counted =
            RateTrial { stood_still_ns: 1_000_000_000, send_lag_max_ns: Some(1_000), ..carried.0 };
        Some((counted, carried.1))
    };
    search.judge(rested(&first.1));
    assert_eq!(search.trials[0].verdict, TrialVerdict::Disturbed);
    let again = search.next().expect("once more");
    let mut passed = search.clone();
    passed.judge(Some({ IDEAL }.carry(&again.1)));
    let section = presentation::section(&passed.record());
    let caveat = section.caveats.iter().find(|caveat| caveat.name == "trials_disturbed");
    let text = &caveat.expect("it is told").text;
    assert!(text.contains("while the program of an end stood still for 1 s: later"), "{text}");
    search.judge(rested(&again.1));
    assert_eq!(search.trials[1].verdict, TrialVerdict::Lost);
}

#[test]
fn what_was_lost_while_the_sender_was_late_is_tried_once_more_and_no_more_than_once() {
    let test = test_of(Some(20_000_000), Period::from_secs(10));
    let (mut search, first) = Search::begin(&test).expect("a plan");
    let asked = |(_, test): &(String, Test)| match &test.plan {
        Plan::Datagrams(plan) => (plan.rate_bps, plan.extent),
        _ => panic!("not of datagrams"),
    };
    search.judge(Some(Path { hiccups: 1.0, ..IDEAL }.carry(&first.1)));
    let again = search.next().expect("once more");
    assert_eq!(asked(&again), asked(&first));
    assert_eq!(search.trials[0].verdict, TrialVerdict::Disturbed);
    // It is told all the same.
    assert_eq!(search.record().failed_bps, Some(20_000_000));
    let mut passed = search.clone();
    passed.judge(Some({ IDEAL }.carry(&again.1)));
    let record = passed.record();
    let found = record.found.expect("it passed the second time");
    assert_eq!((found.rate_bps, found.trials, found.not_received), (20_000_000, 2, 5));
    assert_told_is_what_the_trials_show(&record);
    let section = presentation::section(&record);
    let caveat = section.caveats.iter().find(|caveat| caveat.name == "trials_disturbed");
    assert_eq!(
        caveat.expect("it is told").text,
        "trial 1 lost 5 of 3,572 at 20.00 Mbit/s, not above the rate that was found while its sender was up to \
         20 ms behind its schedule: later trials there lost nothing"
    );
    search.judge(Some(Path { hiccups: 1.0, ..IDEAL }.carry(&again.1)));
    assert_eq!(search.record().failed_bps, Some(20_000_000));
    assert_ne!(search.next().map(|next| asked(&next)), Some(asked(&first)));
}

#[test]
fn few_trials_are_enough_where_the_first_shows_the_capacity() {
    let search = Path { capacity_bps: 94e6, ..IDEAL }.search(None);
    assert!(search.trials.len() <= 8, "{search:?}");
}

#[test]
fn a_trial_without_a_report_ends_the_search_with_what_is_known() {
    let test = test_of(None, Period::from_secs(10));
    let (mut search, _) = Search::begin(&test).expect("a plan");
    let mut path = Path { capacity_bps: 10e6, ..IDEAL };
    search.judge(Some(path.carry(&test)));
    let (_, second) = search.next().expect("it lost");
    let outcome = path.carry(&second);
    let counted = RateTrial { received: None, ..outcome.0 };
    search.judge(Some((counted, outcome.1)));
    assert!(search.next().is_none());
    assert_eq!(search.record().ended, SearchEnd::Unjudged);
    assert_eq!(search.record().trials.len(), 2);
}

#[test]
fn what_came_late_or_damaged_was_not_received() {
    let trying = Trying { asked_bps: Some(1_000_000), whole: false };
    let of = |received, corrupt, late| {
        let counted = RateTrial {
            duration_ns: 1_000_000_000,
            sent: 90,
            received: Some(received),
            lost: Some(0),
            corrupt,
            late,
            socket_drops: Some(0),
            ..RateTrial::default()
        };
        trial(1, trying, (counted, 0), Bytes(SIZE))
    };
    assert!(of(90, 0, 0).has_passed());
    assert_eq!((of(89, 1, 0).verdict, of(89, 1, 0).limit()), (TrialVerdict::Lost, Limit::Damage));
    assert_eq!(of(89, 0, 1).verdict, TrialVerdict::Lost);
}

#[test]
fn a_trial_is_lost_where_the_larger_part_of_it_was() {
    let limit = |lost, socket_drops, lost_on_the_way| {
        RateTrial { lost: Some(lost), socket_drops, lost_on_the_way, ..RateTrial::default() }
            .limit()
    };
    assert_eq!(limit(100, Some(1), Some(99)), Limit::Network);
    assert_eq!(limit(100, Some(50), Some(50)), Limit::ReceiverSocket);
    // A buffer of up to 64.
    assert_eq!(limit(100, Some(1), Some(36)), Limit::ReceiverSocket);
    assert_eq!(limit(200, Some(1), Some(136)), Limit::Network);
    // A document of a version that did not say.
    assert_eq!(limit(100, Some(1), None), Limit::ReceiverSocket);
    assert_eq!(limit(100, None, None), Limit::Undetermined);
}

#[test]
fn no_more_is_received_than_came_of_what_was_sent() {
    // All was received in less time than it was sent in, as where the warm-up was slow or a queue emptied.
    let of = |received, received_bps| {
        let counted = RateTrial {
            duration_ns: 1_000_000_000,
            sent: 1_000,
            received: Some(received),
            received_bps: Some(received_bps),
            ..RateTrial::default()
        };
        let trying = Trying { asked_bps: Some(10_000_000), whole: true };
        trial(1, trying, (counted, 0), Bytes(1_250)).received_bps
    };
    assert_eq!(of(1_000, 10_700_000.0), Some(10_000_000.0));
    assert_eq!(of(900, 10_700_000.0), Some(9_000_000.0));
    assert_eq!(of(900, 8_000_000.0), Some(8_000_000.0));
}

#[test]
fn trials_are_parts_of_the_duration_and_share_the_rate_out() {
    let lengths = |text: &str| trial_length(text.parse().expect("a time")).to_string();
    assert_eq!(lengths("10s"), "2 s");
    assert_eq!(lengths("1s"), "500 ms");
    assert_eq!(lengths("200ms"), "200 ms");
    let mut test = test_of(Some(10_000_001), Period::from_secs(5));
    if let Plan::Datagrams(plan) = &mut test.plan {
        plan.connections = 3;
        plan.warm_up_ns = Period::from_millis(500);
    }
    let (search, (name, first)) = Search::begin(&test).expect("a plan");
    assert_eq!(name, "trial 1, 30.00 Mbit/s");
    assert_eq!(search.bounds.ceiling_bps, Some(30_000_003));
    let Plan::Datagrams(plan) = first.plan else { panic!("not of datagrams") };
    assert_eq!(plan.rate_bps, Some(BitRate(10_000_001)));
    assert_eq!(
        (plan.extent, plan.warm_up_ns),
        (Extent::DurationNs(Period::from_secs(1)), Period::from_millis(100))
    );
}

#[test]
fn what_cannot_be_searched_is_refused_with_the_reason() {
    let with = |change: fn(&mut DatagramsPlan)| {
        let mut test = test_of(None, Period::from_secs(10));
        if let Plan::Datagrams(plan) = &mut test.plan {
            change(plan);
        }
        Search::begin(&test).map(drop).expect_err("refused").to_string()
    };
    let text = with(|plan| plan.pattern = Pattern::Duplex);
    assert_eq!(
        text,
        "--find-rate and --pattern duplex exclude each other; a rate is found in one direction at a time: choose push or pull"
    );
    let text = with(|plan| plan.pattern = Pattern::Bidir);
    assert!(text.starts_with("--find-rate and --pattern bidir exclude each other; "), "{text}");
    let text = with(|plan| plan.extent = Extent::TransferBytes(Bytes(1 << 20)));
    assert!(
        text.contains("--find-rate and --transfer exclude each other; say with --duration"),
        "{text}"
    );
    let text = with(|plan| plan.rate_bps = Some(BitRate(100_000)));
    assert!(
        text.contains(
            "100.0 kbit/s is out of range: 112.0 kbit/s (20 datagrams in a trial of 2 s) to"
        ),
        "{text}"
    );
}
