//! What a kind of peer does not tell is not known, whatever is measured and whichever way: it is absent, no check passes on it, and
//! none fails on it either. What it should have told and has not does fail.

use pathscope_core::record::{Check, PeerFacts, Tells};

use super::*;
use crate::datagrams::{DatagramsPlan, DatagramsReport};
use crate::document::Measurement;
use crate::goodput::{GoodputPlan, GoodputReport, Shape};
use crate::latency::{LatencyPlan, LatencyReport};
use crate::load::{Pattern, Verify};
use crate::media::{Direction, MediaPlan, MediaReport};
use crate::registry::Plan;

const FLOWS: u32 = 3;
const UP: u64 = 900;
const DOWN: u64 = 700;

/// A test whose ends say the same, and whether its client, and its server, sends a load.
struct Case {
    plan: Plan,
    ways: [bool; 2],
    client: EndReport,
    server: EndReport,
}

/// What an end says that has sent and received so much.
fn case(plan: Plan, ways: [bool; 2], end: impl Fn(u64, u64) -> EndReport) -> Case {
    let [up, down] =
        [ways[0].then_some(UP), ways[1].then_some(DOWN)].map(Option::unwrap_or_default);
    Case { plan, ways, client: end(up, down), server: end(down, up) }
}

/// Every mode whose ends count, in every direction.
fn cases() -> Vec<Case> {
    let patterns = [
        (Pattern::Push, [true, false]),
        (Pattern::Pull, [false, true]),
        (Pattern::Duplex, [true, true]),
    ];
    let mut cases = Vec::new();
    for (pattern, ways) in patterns {
        let shape = Shape::default();
        let (connections, verify) = (FLOWS, Verify::Full);
        let plan = GoodputPlan { pattern, connections, verify, shape, ..filled(8, 0) };
        cases.push(case(plan.into(), ways, |sent_bytes, received_bytes| EndReport {
            goodput: Some(GoodputReport {
                sent_bytes,
                received_bytes,
                completed: FLOWS.into(),
                ..GoodputReport::default()
            }),
            ..EndReport::default()
        }));
        let plan = DatagramsPlan { pattern, connections, verify, ..filled(8, 0) };
        cases.push(case(plan.into(), ways, |sent, received| EndReport {
            datagrams: Some(DatagramsReport {
                sent,
                received,
                expected: Some(received),
                ..DatagramsReport::default()
            }),
            ..EndReport::default()
        }));
    }
    for (direction, ways) in [
        (Direction::Up, [true, false]),
        (Direction::Down, [false, true]),
        (Direction::Both, [true, true]),
    ] {
        let plan = MediaPlan { direction, streams: FLOWS, ..filled(8, 0) };
        cases.push(case(plan.into(), ways, |sent, received| EndReport {
            media: Some(MediaReport {
                sent_datagrams: sent,
                received_datagrams: received,
                ..MediaReport::default()
            }),
            ..EndReport::default()
        }));
    }
    // Its client knows of itself all that it checks.
    let plan = LatencyPlan { connections: FLOWS, ..filled(8, 0) };
    cases.push(case(plan.into(), [false, false], |_, _| EndReport {
        latency: Some(LatencyReport { received: 5, ..LatencyReport::default() }),
        ..EndReport::default()
    }));
    cases
}

fn measured(case: &Case, tells: Tells, has_reported: bool) -> Measurement {
    let findings = Findings {
        name: "all".to_owned(),
        test: Test::new(case.plan.clone(), None, filled(1_000_000_000, 0)),
        substitutions: Vec::new(),
        start_ns: 0,
        duration_ns: 1,
        intervals: Vec::new(),
        client: case.client.clone(),
        server: has_reported.then(|| case.server.clone()),
        failed_there: Vec::new(),
    };
    let peer = Some(PeerFacts { name: "toy".to_owned(), tells, ..PeerFacts::default() });
    measurement(findings, &Hosts { peer, ..Hosts::default() })
}

/// Every kind of peer, as far as it tells something, and whether its report came.
fn kinds() -> impl Iterator<Item = (Tells, bool)> {
    let all = (0..32_u8).map(|bits| Tells {
        intervals: bits & 1 > 0,
        report: bits & 2 > 0,
        verification: bits & 4 > 0,
        endings: bits & 8 > 0,
        payload: bits & 16 > 0,
    });
    all.flat_map(|tells| [(tells, false), (tells, true)])
        .filter(|(tells, has_reported)| tells.report || !has_reported)
}

#[test]
fn what_a_peer_does_not_tell_neither_passes_nor_fails_whatever_is_measured() {
    for (case, (tells, has_reported)) in
        cases().iter().flat_map(|case| kinds().map(move |kind| (case, kind)))
    {
        let measurement = measured(case, tells, has_reported);
        let at = || format!("{:?} {:?} {tells:?} {has_reported}", case.plan, measurement.checks);
        let is_missing = tells.report && !has_reported;
        // By what one that is told when a test is over says, or should have said.
        let of_report = if has_reported { Some(true) } else { is_missing.then_some(false) };
        let is_load = case.ways != [false, false];
        for check in &measurement.checks {
            let is_goodput = matches!(case.plan, Plan::Goodput(_));
            let expected = match check.name.as_str() {
                "completed" if is_goodput && !tells.report && tells.endings => Some(true),
                "completed" | "counts_agree" | "accounted" => of_report,
                // One that compares and does not report has failed the connection where it had to.
                "verified" if case.ways[0] && tells.verification && is_missing => Some(false),
                "verified" if case.ways[0] && !tells.verification => None,
                "verified" if case.ways[1] && !tells.payload => None,
                "verified" | "echoes_verified" => Some(true),
                other => panic!("{other}"),
            };
            assert_eq!(check.passed, expected, "{} {}", check.name, at());
        }
        let names: Vec<&str> = measurement.checks.iter().map(|check| &*check.name).collect();
        let has_counts = names.iter().any(|name| ["counts_agree", "accounted"].contains(name));
        assert_eq!(has_counts, is_load && !is_missing, "{}", at());
        assert_eq!(names.contains(&"completed"), is_load, "{}", at());
        let told = |name: &str| measurement.caveats.iter().find(|caveat| caveat.name == name);
        assert_eq!(told("server_report_missing").is_some(), is_missing, "{}", at());
        let unknown: Vec<&str> = measurement
            .checks
            .iter()
            .filter(|check| check.is_unknown())
            .map(|it| &*it.name)
            .collect();
        let less = told("peer_tells_less");
        let is_told = !is_missing && (!tells.report || !unknown.is_empty());
        assert_eq!(less.is_some(), is_told, "{}", at());
        if let Some(caveat) = less {
            assert!(caveat.text.contains("of the kind toy"), "{}", caveat.text);
            assert!(unknown.iter().all(|name| caveat.text.contains(name)), "{}", caveat.text);
        }
    }
}

#[test]
fn what_nobody_has_counted_is_absent_and_what_nobody_has_compared_is_not_verified() {
    let nothing_compared = Tells { payload: false, ..Tells::NOTHING };
    for (case, tells) in
        cases().iter().flat_map(|case| [Tells::NOTHING, nothing_compared].map(|it| (case, it)))
    {
        let json = serde_json::to_value(measured(case, tells, false).summary);
        let json = json.expect("a summary is JSON");
        for (mode, received) in [
            ("goodput", "received_bytes"),
            ("datagrams", "received"),
            ("media", "received_datagrams"),
        ] {
            let (up, down) = (&json[mode]["up"], &json[mode]["down"]);
            assert!(up[received].is_null() && up["goodput_bps"].is_null(), "{mode}: {up}");
            assert!(up.is_null() || mode == "media" || up["verify"] == "off", "{mode}: {up}");
            assert_ne!(up["verified"], true, "{mode}: {up}");
            let is_compared = down.is_null() || mode == "media" || down["verify"] == "full";
            assert_eq!(is_compared, tells.payload || down.is_null() || mode == "media", "{down}");
            assert!(mode != "goodput" || down.is_null() || down["verified"] == tells.payload);
            assert!(down["sent_bytes"].is_null() && down["sent"].is_null(), "{mode}: {down}");
        }
    }
}

#[test]
fn wrong_data_fails_whatever_a_peer_tells() {
    for (tells, has_reported) in kinds() {
        for mut case in cases().into_iter().filter(|case| case.ways[1]) {
            if let Some(goodput) = &mut case.client.goodput {
                (goodput.failures.data, goodput.failed, goodput.completed) = (1, 1, 2);
            }
            case.client.datagrams.iter_mut().for_each(|own| own.corrupt = 1);
            case.client.media.iter_mut().for_each(|own| own.damaged_datagrams = 1);
            let measurement = measured(&case, tells, has_reported);
            let verified = measurement.checks.iter().find(|check| check.name == "verified");
            assert!(verified.is_some_and(Check::has_failed), "{:?}", measurement.checks);
        }
    }
}
