//! Tests of `limits`.

use pathscope_modes::goodput;
use pathscope_modes::latency;
use pathscope_modes::registry::Plan;

use super::*;
use crate::native::fixtures;

fn address(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

fn refused(limits: &Limits, test: &Test) -> (String, String) {
    let refusal = limits.check(test).expect_err("beyond the limits");
    (refusal.code.clone(), refusal.to_string())
}

#[test]
fn the_defaults_are_told_with_their_options() {
    assert_eq!(
        Limits::default().to_string(),
        "32 sessions (--limit-sessions), 16 from one address (--limit-sessions-per-address), \
         7200 s a run (--limit-duration), 65,536 connections a session (--limit-connections), unlimited \
         descriptors a session (--limit-descriptors), unlimited from one address \
         (--limit-descriptors-per-address), 768 MiB of memory for all (--limit-memory), 384 MiB from one \
         address (--limit-memory-per-address), unlimited threads for other machines (--limit-threads), \
         unlimited from one address (--limit-threads-per-address), 1.000 Gbit/s of datagrams for a test of another machine \
         whose client cannot go on asking for them (--limit-datagram-rate); spinning for loopback alone (--allow-spin), pinning for \
         loopback alone (--allow-pinning), any congestion control for loopback alone \
         (--allow-congestion); bytes and rate unlimited but for those"
    );
    assert!(Limits::NONE.to_string().starts_with("unlimited sessions"));
}

#[test]
fn a_refusal_names_limit_and_option() {
    let limits = Limits { connections: Some(8), ..Limits::default() };
    let (code, sentence) = refused(&limits, &fixtures::load(8));
    assert_eq!(code, "connections");
    assert!(sentence.contains("9 connections") && sentence.contains("limit of 8"), "{sentence}");
    assert!(sentence.contains("--limit-connections"), "{sentence}");
    assert_eq!(limits.check(&fixtures::load(7)), Ok(()));

    let limits = Limits { duration_ns: Some(Period::from_secs(10)), ..Limits::default() };
    assert_eq!(limits.check(&fixtures::load(1)), Ok(()));
    let limits = Limits { duration_ns: Some(Period(9_999_999_999)), ..Limits::default() };
    let (code, sentence) = refused(&limits, &fixtures::load(1));
    assert_eq!(code, "duration");
    assert!(
        sentence.contains("10 s is longer") && sentence.contains("--limit-duration"),
        "{sentence}"
    );
}

#[test]
fn what_is_sent_unasked_is_capped_for_other_machines_alone() {
    let limits = Limits::default();
    let rate = |bits| Some(BitRate(bits));
    assert_eq!(limits.check_datagram_rate(rate(1_000_000_000)), Ok(()));
    for (wanted, told) in [
        (rate(1_200_000_000), "at 1.200 Gbit/s in all"),
        (None, "datagrams as fast as it can is more"),
    ] {
        let refusal = limits.check_datagram_rate(wanted).expect_err("it is beyond");
        assert_eq!(refusal.code, "rate");
        let sentence = refusal.to_string();
        for words in [told, "its limit of 1.000 Gbit/s for a test", "--limit-datagram-rate"] {
            assert!(sentence.contains(words), "{words}: {sentence}");
        }
    }
    for here in ["127.0.0.1", "::1", "::ffff:127.0.0.1"] {
        assert_eq!(limits.for_caller(address(here)).check_datagram_rate(None), Ok(()), "{here}");
    }
    assert_eq!(limits.for_caller(address("192.0.2.1")), limits);
}

#[test]
fn probes_are_held_to_the_same_duration() {
    let limits = Limits { duration_ns: Some(Period::from_secs(20)), ..Limits::default() };
    let mut test = fixtures::load(1);
    assert_eq!(limits.check(&test), Ok(()));
    let probe = test.probe_mut().expect("the fixture has probes");
    probe.extent = latency::Extent::DurationNs(Period::from_secs(21));
    assert_eq!(refused(&limits, &test).0, "duration");
}

#[test]
fn what_cannot_be_run_is_refused_even_without_limits() {
    let mut test = fixtures::load(1);
    let Plan::Goodput(plan) = &mut test.plan else { panic!("the fixture is goodput") };
    plan.buffer_bytes = Bytes(u64::MAX);
    assert_eq!(refused(&Limits::NONE, &test).0, "invalid");
    plan_of(&mut test).buffer_bytes = Bytes(1);
    plan_of(&mut test).connections = 0;
    assert_eq!(refused(&Limits::NONE, &test).0, "invalid");
}

fn plan_of(test: &mut Test) -> &mut goodput::GoodputPlan {
    let Plan::Goodput(plan) = &mut test.plan else { panic!("the fixture is goodput") };
    plan
}

#[test]
fn what_costs_others_too_much_is_refused_by_name_unless_it_is_allowed() {
    type Ask = fn(&mut Test);
    let usual = ["reno", "cubic"].map(str::to_owned);
    let spins: Ask = |test| plan_of(test).wait = Wait::Spin;
    let spins_before_it_sleeps: Ask = |test| plan_of(test).wait = Wait::Hybrid;
    let probe_spins: Ask =
        |test| test.probe_mut().into_iter().for_each(|probe| probe.wait = Wait::Spin);
    let pins: Ask = |test| plan_of(test).server_cpus = vec![0];
    let chooses: Ask = |test| plan_of(test).congestion_control = Some("vegas".to_owned());
    let probe_chooses: Ask = |test| {
        let probe = test.probe_mut().expect("the fixture has probes");
        probe.congestion_control = Some("vegas".to_owned());
    };
    let cases = [
        (probe_chooses, "congestion", "--allow-congestion"),
        (spins, "spinning", "--allow-spin"),
        (spins_before_it_sleeps, "spinning", "--allow-spin"),
        (probe_spins, "spinning", "--allow-spin"),
        (pins, "pinning", "--allow-pinning"),
        (chooses, "congestion", "--allow-congestion"),
    ];
    let limits = Limits::default();
    for (asks, code, option) in cases {
        let mut test = fixtures::load(1);
        asks(&mut test);
        let refusal = limits.withheld.check(&test, &usual).expect_err("it is withheld");
        assert_eq!(refusal.code, code);
        assert!(refusal.to_string().ends_with(option), "{refusal}");
        assert_eq!(Withheld::NONE.check(&test, &usual), Ok(()));
        for (from, allowed) in [("127.0.0.9", true), ("::1", true), ("::ffff:127.0.0.1", true)] {
            let withheld = limits.for_caller(address(from)).withheld;
            assert_eq!(withheld.check(&test, &usual).is_ok(), allowed, "{from}");
        }
        let withheld = limits.for_caller(address("192.0.2.1")).withheld;
        assert!(withheld.check(&test, &usual).is_err());
    }
    // One that every user may choose is no stranger's affair to be refused.
    let mut test = fixtures::load(1);
    plan_of(&mut test).congestion_control = Some("reno".to_owned());
    plan_of(&mut test).client_cpus = vec![0];
    assert_eq!(limits.withheld.check(&test, &usual), Ok(()));
    let refusal = limits.withheld.check(&test, &[]).expect_err("none is known to be");
    assert_eq!(refusal.code, "congestion");
}

#[test]
fn who_gets_no_thread_is_told_the_limit_its_value_and_the_option() {
    let origin = Origin::of(address("192.0.2.1"));
    let refusal = Limits::no_threads(3, origin, Excess::All { free: 1, most: 56 });
    assert_eq!(refusal.code, "threads");
    let said = refusal.to_string();
    assert!(said.starts_with("3 threads") && said.contains("the 1 that"), "{said}");
    assert!(said.contains("limit of 56") && said.ends_with("--limit-threads"), "{said}");
    let said = Limits::no_threads(1, origin, Excess::Origin { taken: 28, most: 28 }).to_string();
    assert!(said.starts_with("1 thread for") && said.contains("beside 28 of other"), "{said}");
    assert!(said.contains("limit of 28 from one address"), "{said}");
    assert!(said.ends_with("--limit-threads-per-address"), "{said}");
    let limits = Limits { threads: Some(56), threads_per_address: Some(28), ..Limits::default() };
    assert_eq!(limits.for_caller(address("127.0.0.2")).threads(), Bounds::default());
    assert_eq!(limits.for_caller(address("192.0.2.1")).threads().origin, Some(28));
}

#[test]
fn who_has_no_memory_is_told_the_limit_its_value_and_the_option() {
    let origin = Origin::of(address("192.0.2.1"));
    let all = Excess::All { free: 1 << 20, most: 3 << 20 };
    let refusal = Limits::no_memory(2 << 20, origin, all);
    assert_eq!(refusal.code, "memory");
    let said = refusal.to_string();
    assert!(said.starts_with("2 MiB of memory") && said.contains("the 1 MiB"), "{said}");
    assert!(said.contains("limit of 3 MiB") && said.ends_with("--limit-memory"), "{said}");
    let one = Excess::Origin { taken: 1 << 20, most: 2 << 20 };
    let said = Limits::no_memory(2 << 20, origin, one).to_string();
    assert!(said.contains("beside 1 MiB of other sessions from 192.0.2.1"), "{said}");
    assert!(said.contains("limit of 2 MiB from one address"), "{said}");
    assert!(said.ends_with("--limit-memory-per-address"), "{said}");
    let limits = Limits::default();
    assert_eq!(limits.for_caller(address("::1")).memory().origin, None);
    assert_eq!(limits.for_caller(address("192.0.2.1")), limits);
}

#[test]
fn a_welcome_without_a_limit_means_none() {
    let limits: Limits = serde_json::from_str("{\"sessions\":4}").expect("others are absent");
    assert_eq!(limits, Limits { sessions: Some(4), ..Limits::NONE });
}
