//! A connection that breaks, falls silent or brings garbage at each byte of a conversation: both ends
//! end with an error, in time, and flows that run are told to stop.

use pathscope_core::Tick;
use pathscope_core::error::Failure;
use pathscope_core::quantity::Period;
use pathscope_flow::{Dialogue as _, Input};
use pathscope_modes::goodput::GoodputInterval;
use pathscope_modes::registry::EndInterval;

use super::pair::{AnyDialogue, End, Fault, Pair, RUN_NS, Seen};
use crate::PeerError;
use crate::dialogue::ClientDialogue as _;
use crate::limits::Limits;
use crate::native::{VersionRange, fixtures};

/// A client that speaks version 1 alone, which finds no damage and outlives no connection.
fn pair() -> Pair {
    let versions = VersionRange { least: 1, most: 1 };
    Pair::speaking(versions, &[fixtures::load(2)], Limits::default())
}

/// Bytes that each end says in a whole conversation: client, server.
fn lengths() -> [usize; 2] {
    let mut pair = pair();
    pair.run();
    [pair.client.said, pair.server.said]
}

fn run_with(from_client: bool, after: usize, fault: Fault) -> Pair {
    let mut pair = pair();
    let slot = if from_client { &mut pair.client.fault } else { &mut pair.server.fault };
    *slot = Some((after, fault));
    pair.run();
    pair
}

/// No flow runs on when its end has given up: these flows end when they are told to stop.
fn assert_flows_are_over<D: AnyDialogue>(end: &End<D>, case: &str) {
    assert!(!end.is_running, "{case}: {:?}", end.seen);
}

/// Every byte of a direction, as ranges of offsets to test.
fn offsets(from_client: bool) -> std::ops::Range<usize> {
    0..lengths()[usize::from(!from_client)]
}

#[test]
fn a_connection_cut_at_any_byte_is_an_error_at_both_ends() {
    for from_client in [true, false] {
        for after in offsets(from_client) {
            let pair = run_with(from_client, after, Fault::Cut);
            let case = format!("from client: {from_client}, after {after}");
            // A client that has the server's report lacks nothing, even if its last word is lost.
            if pair.client.outcome().is_ok() {
                assert_eq!(pair.client.seen.last(), Some(&Seen::TestOver), "{case}");
            } else {
                assert_failed(pair.client.outcome(), &case);
            }
            // A connection closed between messages while no test is on is a good end for a server.
            if pair.client.seen.is_empty() {
                continue;
            }
            assert_failed(pair.server.outcome(), &case);
            assert_flows_are_over(&pair.client, &case);
            assert_flows_are_over(&pair.server, &case);
        }
    }
}

#[test]
fn an_end_that_falls_silent_at_any_byte_is_lost() {
    for from_client in [true, false] {
        for after in offsets(from_client).step_by(3) {
            let pair = run_with(from_client, after, Fault::Mute);
            let case = format!("from client: {from_client}, after {after}");
            let deaf = if from_client { pair.server.outcome() } else { pair.client.outcome() };
            assert_failed(deaf, &case);
            assert_flows_are_over(&pair.client, &case);
            assert_flows_are_over(&pair.server, &case);
        }
    }
}

#[test]
fn garbage_at_any_byte_ends_both() {
    let begins = [&b"\xff\xff\xff\xff\xff\xff"[..], b"GET / HTTP/1.1\r\n\r\n", &[0; 64]];
    for from_client in [true, false] {
        for after in offsets(from_client).step_by(7) {
            let garbage = begins[after % begins.len()].to_vec();
            let pair = run_with(from_client, after, Fault::Garbage(garbage));
            let case = format!("from client: {from_client}, after {after}");
            let hearer = if from_client { pair.server.outcome() } else { pair.client.outcome() };
            assert_failed(hearer, &case);
            assert_flows_are_over(&pair.client, &case);
            assert_flows_are_over(&pair.server, &case);
        }
    }
}

fn assert_failed(outcome: &Result<(), PeerError>, case: &str) {
    let error = outcome.as_ref().expect_err(case);
    assert_eq!(error.failure(), Failure::Peer, "{case}: {error}");
}

#[test]
fn a_server_lost_amid_a_test_is_named_and_the_flows_are_stopped() {
    let mut pair = pair();
    pair.run_until(|pair| pair.client.count(&Seen::Start) == 1);
    let lost_at = pair.now;
    pair.client.flows_end = false;
    pair.server.fault = Some((0, Fault::Mute));
    pair.run();
    assert_eq!(
        pair.client.sentence(),
        "the server was lost while the test ran: nothing heard from it for 10 s"
    );
    let (at, _) = pair.client.ended.as_ref().expect("it ended");
    assert!(at.nanos_since(lost_at) <= 11_000_000_000);
    assert_eq!(pair.client.count(&Seen::Stop), 2);
}

#[test]
fn what_is_no_pathscope_server_is_shown_by_its_first_bytes() {
    let pair = run_with(false, 0, Fault::Garbage(b"SSH-2.0-OpenSSH_9.2\r\n".to_vec()));
    assert_eq!(
        pair.client.sentence(),
        "what the server said before the two had greeted each other cannot be read: expected a message of at \
         most 65536 bytes, got the text 'SSH-2.0-OpenSSH_9.2\\r\\n', as no pathscope writes it; another \
         program speaks there"
    );
}

#[test]
fn each_silent_step_has_its_sentence() {
    let pair = run_with(true, 0, Fault::Mute);
    assert_eq!(pair.server.sentence(), "the client did not say hello within 10 s");
    assert_eq!(
        pair.client.sentence(),
        "the server did not answer the greeting of a pathscope client within 10 s; a simpleperf server would not \
         either (--peer simpleperf)"
    );
}

#[test]
fn a_greeting_that_others_wait_for_is_awaited_for_as_long_as_was_said() {
    let mut pair = pair();
    pair.client.dialogue.await_greeting(Period::from_secs(3), Tick::ZERO);
    pair.client.fault = Some((0, Fault::Mute));
    pair.run();
    assert!(pair.client.sentence().contains("within 3 s"), "{}", pair.client.sentence());
}

#[test]
fn flows_that_do_not_end_are_not_waited_for_for_ever() {
    let mut pair = pair();
    pair.server.flows_end = false;
    pair.run();
    // One report interval beyond the deadline, since that would have told whether data still moves.
    assert_eq!(pair.client.sentence(), "the server did not send its final report within 16 s");
    assert_eq!(
        pair.server.sentence(),
        "the client closed the connection while the test ran, having said: the server did not send its \
         final report within 16 s"
    );
    assert_eq!(pair.server.count(&Seen::Stop), 2);
}

#[test]
fn flows_that_do_not_heed_a_stop_are_not_waited_for_either() {
    let mut pair = pair();
    pair.client.flows_end = false;
    pair.run_until(|pair| pair.client.count(&Seen::Start) == 1);
    pair.client.dialogue.input(Input::Stop("interrupted by the user"), pair.now);
    pair.run();
    assert_eq!(pair.client.sentence(), "the flows of this end did not end within 15 s of the stop");
    assert_eq!(pair.client.count(&Seen::Report(RUN_NS)), 1);
}

#[test]
fn a_slow_path_that_still_moves_data_is_waited_for() {
    let mut pair = pair();
    pair.server.flows_end = false;
    pair.run_until(|pair| {
        pair.client.ended.is_some() || pair.server.count(&Seen::Report(RUN_NS)) == 1
    });
    for index in 2..40 {
        let until = pair.now.plus_nanos(1_000_000_000);
        pair.run_until(|pair| pair.now >= until);
        let goodput = Some(GoodputInterval { received_bytes: 1, ..GoodputInterval::default() });
        let interval = Box::new(EndInterval { index, goodput, ..EndInterval::default() });
        pair.server.dialogue.input(Input::Interval(interval), pair.now);
    }
    assert!(pair.client.ended.is_none() && pair.server.ended.is_none());
    pair.server.dialogue.input(Input::Over(Box::default()), pair.now);
    pair.run();
    assert_eq!((pair.client.outcome(), pair.server.outcome()), (&Ok(()), &Ok(())));
}
