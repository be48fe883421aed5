//! A test that outlives its session: cut at every byte, back in time, too late or never, and turned away.

use pathscope_core::Tick;
use pathscope_core::error::Failure;
use pathscope_core::id::Token;
use pathscope_core::quantity::Period;
use pathscope_core::record::Host;
use pathscope_flow::{Dialogue as _, Input, Output, Resumed};
use pathscope_modes::groups::Test;

use super::pair::{Fault, Pair, Seen};
use crate::dialogue::ServerSettings;
use crate::limits::Limits;
use crate::native::message::{Hello, Message, Propose};
use crate::native::{Greeting, Server, VERSIONS, VersionRange, fixtures};

const SECOND: u64 = 1_000_000_000;

/// A client that speaks version 1 alone: its server forgets what it knew as its connection is lost.
fn pair(test: Test) -> Pair {
    let versions = VersionRange { least: 1, most: 1 };
    Pair::speaking(versions, &[test], Limits::default())
}

/// The server's words are cut after so many bytes; another server is there after so long.
fn cut(after: usize, back_after_ns: Option<u64>) -> Pair {
    let mut pair = pair(fixtures::paths());
    pair.server.fault = Some((after, Fault::Cut));
    pair.back_after_ns = back_after_ns;
    pair
}

/// How much the server has said when the client's flows run, and in all.
fn words() -> (usize, usize) {
    let mut pair = pair(fixtures::paths());
    pair.run_until(|pair| pair.client.count(&Seen::Start) == 1);
    let running = pair.server.said;
    pair.run();
    (running, pair.server.said)
}

/// A client so many steps after it has lost its server, which is there again; none once it goes on.
fn on_the_way_back(steps: usize) -> Option<Pair> {
    let (running, _) = words();
    let mut pair = cut(running, Some(SECOND / 10));
    pair.run_until(|pair| pair.client.count(&Seen::Reconnect) == 1);
    for _ in 0..steps {
        pair.step();
    }
    (pair.client.count(&Seen::Resumed) == 0).then_some(pair)
}

fn reports(seen: &[Seen]) -> usize {
    seen.iter().filter(|seen| matches!(seen, Seen::Report(_))).count()
}

#[test]
fn a_session_that_is_cut_while_the_test_runs_is_made_anew_and_ends_well() {
    let (running, all) = words();
    let mut resumed = 0;
    for after in 0..all {
        let mut pair = cut(after, Some(SECOND / 2));
        pair.run();
        let seen = &pair.client.seen;
        let case = format!("after {after}: {seen:?}");
        assert!(pair.client.count(&Seen::Start) <= 1, "{case}");
        if after < running {
            assert_eq!(pair.client.count(&Seen::Reconnect), 0, "{case}");
            assert!(pair.client.outcome().is_err(), "{case}");
            continue;
        }
        // From its own totals on the test does not outlive its session.
        match pair.client.count(&Seen::Reconnect) {
            0 => assert!(pair.client.outcome().is_err(), "{case}"),
            times => {
                assert_eq!((times, pair.client.outcome()), (1, &Ok(())), "{case}");
                let back = (pair.client.rejoins().len(), pair.client.count(&Seen::Resumed));
                assert_eq!(back, (1, 1), "{case}");
                assert_eq!((reports(seen), reports(&pair.server.seen)), (1, 1), "{case}");
                assert_eq!(pair.client.count(&Seen::TestOver), 1, "{case}");
                resumed += 1;
            }
        }
    }
    assert!(resumed > 100, "{resumed} of {all}");
}

#[test]
fn the_token_stays_and_intervals_are_numbered_as_this_end_numbers_them() {
    let (running, _) = words();
    let mut pair = cut(running, Some(SECOND / 2));
    pair.run();
    let Some(Seen::Open(token, _)) =
        pair.client.seen.iter().find(|it| matches!(it, Seen::Open(..)))
    else {
        panic!("{:?}", pair.client.seen)
    };
    assert_eq!(pair.server.count(&Seen::Prepare(*token)), 1, "{:?}", pair.server.seen);
    let resumed = Seen::Resumes(Resumed { token: *token, session: None });
    assert_eq!(pair.server.count(&resumed), 1, "{:?}", pair.server.seen);
    // It was lost as soon as it ran: the first of the new server's is the second of this end's.
    let intervals: Vec<_> =
        pair.client.seen.iter().filter(|seen| matches!(seen, Seen::Interval(_))).collect();
    assert_eq!(intervals.first(), Some(&&Seen::Interval(1)), "{:?}", pair.client.seen);
}

#[test]
fn what_goes_wrong_on_the_way_back_is_tried_again() {
    let (running, _) = words();
    let said = {
        let mut pair = cut(running, Some(SECOND / 10));
        pair.run_until(|pair| pair.client.count(&Seen::Resumed) == 1);
        pair.server.said
    };
    // Another service has the port.
    let garbage = (0, Fault::Garbage(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()));
    for (after, fault) in (0..said).map(|after| (after, Fault::Cut)).chain([garbage]) {
        let mut pair = cut(running, Some(SECOND / 10));
        pair.chunks = vec![7];
        pair.next_faults[1] = Some((after, fault));
        pair.run();
        let case = format!("after {after}: {:?}", pair.client.seen);
        assert_eq!(pair.client.outcome(), &Ok(()), "{case}");
        assert_eq!(pair.client.count(&Seen::Reconnect), 2, "{case}");
        assert_eq!(pair.client.count(&Seen::Resumed), 1, "{case}");
    }
}

#[test]
fn a_server_that_is_not_back_when_the_test_ends_is_what_went_wrong() {
    let (running, _) = words();
    let mut pair = cut(running, None);
    pair.run();
    assert_eq!(pair.client.sentence(), "the server closed the connection while the test ran");
    // The flows ran to their end, and nobody told them to.
    assert_eq!((pair.client.count(&Seen::Reconnect), pair.client.count(&Seen::Stop)), (1, 0));
    let (at, _) = pair.client.ended.as_ref().expect("it is over");
    assert!(at.as_nanos() > super::pair::RUN_NS);
}

#[test]
fn flows_that_end_at_any_moment_of_it_end_the_run_with_what_was_lost() {
    let mut ended = 0;
    while let Some(mut pair) = on_the_way_back(ended) {
        pair.client.dialogue.input(Input::Over(Box::default()), pair.now);
        pair.client.is_running = false;
        pair.run();
        let said = pair.client.sentence();
        assert_eq!(said, "the server closed the connection while the test ran", "{ended} steps");
        ended += 1;
    }
    assert!(ended > 5, "it takes some steps");
}

#[test]
fn a_server_that_does_not_take_it_back_is_told_with_its_reason() {
    let (running, _) = words();
    let mut pair = cut(running, Some(SECOND / 10));
    pair.limits = Limits { duration_ns: Some(Period::from_secs(1)), ..Limits::default() };
    pair.run();
    let said = pair.client.sentence();
    let words = [
        "the server closed the connection while the test ran; it was asked for again, and refused by the server",
        "longer than its limit",
    ];
    assert!(words.iter().all(|it| said.contains(it)), "{said}");
}

#[test]
fn silence_is_a_loss_as_well() {
    let (running, _) = words();
    let mut pair = pair(fixtures::paths());
    (pair.client.flows_end, pair.server.flows_end) = (false, false);
    pair.server.fault = Some((running, Fault::Mute));
    pair.back_after_ns = Some(SECOND);
    pair.run_until(|pair| pair.client.count(&Seen::Resumed) == 1);
    assert!((60..70).contains(&(pair.now.as_nanos() / SECOND)), "{:?}", pair.now);
}

#[test]
fn one_that_is_not_back_in_a_minute_is_given_up_though_flows_run() {
    let (running, _) = words();
    let mut pair = cut(running, None);
    pair.client.flows_end = false;
    pair.run_until(|pair| pair.client.ended.is_some());
    assert_eq!(pair.client.sentence(), "the server closed the connection while the test ran");
    let (at, _) = pair.client.ended.as_ref().expect("it is over");
    assert!((60 * SECOND..62 * SECOND).contains(&at.as_nanos()), "{at:?}");
}

#[test]
fn a_user_who_stops_is_heard_at_any_moment_of_it() {
    let mut steps = 0;
    while let Some(mut pair) = on_the_way_back(steps) {
        pair.client.dialogue.input(Input::Stop("interrupted by the user"), pair.now);
        pair.run();
        let error = pair.client.outcome().clone().expect_err("it was cut short");
        assert_eq!(error.failure(), Failure::Interrupted, "after {steps} steps");
        assert_eq!(pair.client.count(&Seen::Stop), 1, "after {steps} steps");
        steps += 1;
    }
    assert!(steps > 5, "it takes some steps");
}

#[test]
fn other_tests_end_with_their_session() {
    let mut pair = pair(fixtures::load(2));
    pair.back_after_ns = Some(1);
    pair.run_until(|pair| pair.client.count(&Seen::Start) == 1);
    pair.server.fault = Some((pair.server.said, Fault::Cut));
    pair.run();
    assert_eq!(pair.client.count(&Seen::Reconnect), 0);
    assert_eq!(pair.client.sentence(), "the server closed the connection while the test ran");

    // And a server takes none up.
    let settings = ServerSettings {
        rate: None,
        is_of_several: false,
        identity: None,
        host: Host::default(),
        limits: Limits::default(),
        congestion_controls: Vec::new(),
        wants_ends: false,
        stated: None,
    };
    let greeting = Greeting { versions: VERSIONS, hello: None };
    let mut server = Server::new(settings, greeting, Ok(()), [5; 16], Tick::ZERO);
    let hello = Hello { security: vec!["none".to_owned()], ..Hello::default() };
    let hello = Message::Hello(Box::new(hello));
    let resumed = Resumed { token: Token([7; 16]), session: None };
    let propose = Message::Propose(Propose::again(&fixtures::load(1), resumed));
    for message in [hello, propose] {
        let bytes = message.encode().expect("it is short");
        server.input(Input::Received(&bytes), Tick::ZERO);
    }
    let said = std::iter::from_fn(|| server.output());
    let said: Vec<Vec<u8>> = said
        .filter_map(|output| match output {
            Output::Send(bytes) => Some(bytes),
            Output::Prepare { .. } => panic!("it takes it up"),
            _ => None,
        })
        .collect();
    let refusal = String::from_utf8_lossy(said.last().expect("it refuses")).into_owned();
    assert!(refusal.contains("only a multipath test outlives its server"), "{refusal}");
}
