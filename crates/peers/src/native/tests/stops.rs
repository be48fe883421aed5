//! A stop from either end at each moment: what runs is wound up and reported.

use pathscope_core::error::Failure;
use pathscope_core::quantity::{Bytes, Period};
use pathscope_flow::{Dialogue as _, Input};
use pathscope_modes::groups::Test;
use pathscope_modes::load::Extent;
use pathscope_modes::registry::Plan;

use super::pair::{Pair, Seen};
use crate::limits::Limits;
use crate::native::fixtures;

/// Steps that a conversation of one test takes.
fn steps() -> usize {
    let mut pair = Pair::new(&[fixtures::load(2)]);
    let mut steps = 0;
    while pair.step() {
        steps += 1;
    }
    steps
}

fn stopped_after(steps: usize, by_client: bool) -> Pair {
    let mut pair = Pair::new(&[fixtures::load(2)]);
    for _ in 0..steps {
        pair.step();
    }
    if by_client {
        pair.client.dialogue.input(Input::Stop("interrupted by the user"), pair.now);
    } else {
        pair.server.dialogue.input(Input::Stop("terminated by a signal"), pair.now);
    }
    pair.run();
    pair
}

#[test]
fn a_stop_at_any_moment_loses_nothing_that_was_measured() {
    for by_client in [true, false] {
        let mut reported = 0;
        for after in 0..steps() {
            let pair = stopped_after(after, by_client);
            let case = format!("by client: {by_client}, after {after}");
            let started = pair.client.count(&Seen::Start);
            for seen in [&pair.client.seen, &pair.server.seen] {
                let reports = seen.iter().filter(|seen| matches!(seen, Seen::Report(_))).count();
                assert!(reports >= started, "{case}: {seen:?}");
                assert_eq!(
                    reports,
                    seen.iter().filter(|it| **it == Seen::TestOver).count(),
                    "{case}"
                );
            }
            reported += started;
        }
        assert!(reported > 0, "no stop came while the test ran");
    }
}

#[test]
fn a_stop_before_the_test_runs_is_an_interruption_here_and_a_reason_there() {
    let mut pair = Pair::new(&[fixtures::load(2)]);
    pair.run_until(|pair| pair.server.seen.len() == 1);
    pair.client.dialogue.input(Input::Stop("interrupted by the user"), pair.now);
    pair.run();
    let error = pair.client.outcome().clone().expect_err("nothing was measured");
    assert_eq!(error.failure(), Failure::Interrupted);
    assert_eq!(
        pair.server.sentence(),
        "the client stopped while the test's flows were being set up: interrupted by the user"
    );
}

#[test]
fn a_running_test_is_wound_up_and_no_other_follows() {
    let mut pair = Pair::new(&[fixtures::load(2), fixtures::load(2)]);
    pair.run_until(|pair| pair.client.count(&Seen::Start) == 1);
    pair.client.dialogue.input(Input::Stop("interrupted by the user"), pair.now);
    pair.run();
    assert_eq!((pair.client.outcome(), pair.server.outcome()), (&Ok(()), &Ok(())));
    for seen in [&pair.client.seen, &pair.server.seen] {
        assert_eq!(seen.iter().filter(|it| **it == Seen::Stop).count(), 2, "one for each group");
        assert_eq!(seen.iter().filter(|it| **it == Seen::TestOver).count(), 1);
    }
}

#[test]
fn a_second_stop_waits_for_nobody() {
    let mut pair = Pair::new(&[fixtures::load(2)]);
    pair.run_until(|pair| pair.client.count(&Seen::Start) == 1);
    pair.server.flows_end = false;
    pair.client.dialogue.input(Input::Stop("interrupted by the user"), pair.now);
    let asked = pair.now;
    pair.run_until(|pair| pair.server.count(&Seen::Stop) == 2);
    pair.client.dialogue.input(Input::Stop("interrupted by the user"), pair.now);
    pair.run();
    let (at, outcome) = pair.client.ended.clone().expect("it ended");
    assert_eq!(outcome.map_err(|error| error.failure()), Err(Failure::Interrupted));
    assert!(at.nanos_since(asked) < 1_000_000_000);
}

#[test]
fn a_server_that_stops_amid_a_test_tells_why_before_the_next() {
    let mut pair = Pair::new(&[fixtures::load(2), fixtures::load(2)]);
    pair.run_until(|pair| pair.client.count(&Seen::Start) == 1);
    pair.server.dialogue.input(Input::Stop("terminated by a signal"), pair.now);
    pair.run();
    assert_eq!(pair.server.outcome(), &Ok(()));
    assert_eq!(pair.client.count(&Seen::TestOver), 1);
    assert_eq!(
        pair.client.sentence(),
        "the server stopped while a test was being agreed on: terminated by a signal"
    );
}

#[test]
fn a_server_that_stops_waits_for_no_client_that_has_left() {
    let mut pair = Pair::new(&[fixtures::load(2)]);
    pair.run_until(|pair| pair.server.count(&Seen::Start) == 1);
    for input in [Input::Stop("terminated by a signal"), Input::ControlClosed] {
        pair.server.dialogue.input(input, pair.now);
    }
    pair.server.settle(pair.now);
    assert_eq!(pair.server.ended.as_ref().map(|(at, _)| *at), Some(pair.now));
    assert_eq!(pair.server.sentence(), "the client closed the connection while the test ran");
    assert_eq!(pair.server.count(&Seen::Reconnect), 0);
}

#[test]
fn a_flow_that_cannot_be_set_up_ends_the_wait_at_both_ends() {
    let mut pair = Pair::new(&[fixtures::load(2)]);
    pair.run_until(|pair| pair.server.seen.len() == 1);
    pair.server.dialogue.input(Input::Stop("no more file descriptors"), pair.now);
    pair.run();
    assert!(
        pair.client.sentence().ends_with("no more file descriptors"),
        "{}",
        pair.client.sentence()
    );
}

/// A test without a stated duration.
fn endless() -> Test {
    let mut test = fixtures::load(1);
    let Plan::Goodput(plan) = &mut test.plan else { panic!("the fixture is goodput") };
    plan.extent = Extent::TransferBytes(Bytes(1 << 50));
    test
}

#[test]
fn a_test_without_a_duration_is_stopped_at_the_servers_limit() {
    let limits = Limits { duration_ns: Some(Period::from_secs(30)), ..Limits::default() };
    let mut pair = Pair::with_limits(&[endless()], limits);
    pair.run_until(|pair| pair.server.count(&Seen::Prepare(token(pair))) == 1);
    (pair.client.flows_end, pair.server.flows_end) = (false, false);
    pair.run_until(|pair| pair.server.count(&Seen::Start) == 1);
    let started = pair.now;
    pair.run_until(|pair| pair.server.count(&Seen::Stop) > 0);
    assert_eq!(pair.now.nanos_since(started), 30_000_000_000);
    pair.run_until(|pair| pair.client.count(&Seen::Stop) > 0);
    pair.run();
    assert!(pair.client.outcome().is_err() && pair.server.outcome().is_err());
}

fn token(pair: &Pair) -> pathscope_core::id::Token {
    let prepared = pair.server.seen.iter().find_map(|seen| match seen {
        Seen::Prepare(token) => Some(*token),
        _ => None,
    });
    prepared.unwrap_or(pathscope_core::id::Token([0; 16]))
}

#[test]
fn a_test_that_outlasts_its_duration_is_stopped_by_the_client() {
    let mut pair = Pair::new(&[fixtures::load(1)]);
    pair.run_until(|pair| pair.server.seen.len() == 1);
    (pair.client.flows_end, pair.server.flows_end) = (false, false);
    pair.run_until(|pair| pair.client.count(&Seen::Start) == 1);
    let started = pair.now;
    pair.run_until(|pair| pair.client.count(&Seen::Stop) > 0);
    assert!(pair.now.nanos_since(started) <= 70_000_000_000);
}
