//! Version 2: a connection cut, and a byte changed or said twice, at each byte of a session: the run comes to its end, and
//! both ends have heard exactly what was said.

use pathscope_core::error::Failure;
use pathscope_core::id::{Role, Token};
use pathscope_core::quantity::Period;
use pathscope_flow::{Dialogue as _, Input, Output};
use pathscope_modes::groups::Test;

use super::pair::{AnyDialogue, End, Fault, Pair, RUN_NS, Seen};
use crate::dialogue::ClientDialogue as _;
use crate::limits::Limits;
use crate::native::{VersionRange, fixtures};
use crate::{Moment, PeerError};

const SECOND: u64 = 1_000_000_000;

/// A session of these tests, whose client is back a tenth of a second after each loss.
fn pair(tests: &[Test]) -> Pair {
    let mut pair = Pair::new(tests);
    pair.back_after_ns = Some(SECOND / 10);
    pair.is_same_server = true;
    pair
}

/// What an end has seen, but for what it did about its connection.
fn heard<D: AnyDialogue>(end: &End<D>) -> Vec<Seen> {
    end.seen.iter().filter(|seen| **seen != Seen::Reconnect).cloned().collect()
}

/// The same, where a session that was begun anew has another token.
fn heard_of_tests<D: AnyDialogue>(end: &End<D>) -> Vec<Seen> {
    let without_token = |seen: Seen| match seen {
        Seen::Open(_, substitutions) => Seen::Open(Token([0; 16]), substitutions),
        Seen::Prepare(_) => Seen::Prepare(Token([0; 16])),
        other => other,
    };
    heard(end).into_iter().map(without_token).collect()
}

/// One fault at each byte of each direction, in steps: the client always comes to the end that it comes to without one.
fn each_byte(tests: &[Test], fault: impl Fn(usize) -> Fault, (first, step): (usize, usize)) {
    let mut whole = pair(tests);
    whole.run();
    assert_eq!((whole.client.outcome(), whole.server.outcome()), (&Ok(()), &Ok(())));
    let said = [whole.client.said, whole.server.said];
    let mut renewed = 0;
    for (from, said) in said.into_iter().enumerate() {
        for after in (first..said).step_by(step) {
            let mut spoilt = pair(tests);
            let slot = [&mut spoilt.client.fault, &mut spoilt.server.fault];
            *slot.into_iter().nth(from).expect("two ends") = Some((after, fault(after)));
            spoilt.run();
            let case = format!("from {from}, byte {after}: {:?}", spoilt.client.seen);
            assert_eq!(spoilt.client.outcome(), &Ok(()), "{case}");
            assert_eq!(heard_of_tests(&spoilt.client), heard_of_tests(&whole.client), "{case}");
            assert_eq!(spoilt.server.outcome(), &Ok(()), "{case}");
            assert_eq!(heard_of_tests(&spoilt.server), heard_of_tests(&whole.server), "{case}");
            let renewals = spoilt.client.dialogue.renewals();
            let reconnects = spoilt.client.count(&Seen::Reconnect);
            assert!(renewals.made as usize <= reconnects && reconnects <= 2, "{case}");
            renewed += renewals.made;
        }
    }
    assert!(renewed as usize > said.iter().sum::<usize>() / step / 2, "{renewed} of {said:?}");
}

#[test]
fn a_byte_that_is_changed_anywhere_costs_nothing() {
    let flip = |after: usize| Fault::Flip(1 << (after % 8));
    each_byte(&[fixtures::load(2)], flip, (0, 1));
    each_byte(&[fixtures::paths()], |_| Fault::Flip(0xff), (0, 1));
    each_byte(&[fixtures::load(1), fixtures::load(2)], flip, (1, 11));
}

#[test]
fn a_connection_that_is_cut_anywhere_costs_nothing() {
    each_byte(&[fixtures::load(2)], |_| Fault::Cut, (0, 1));
    each_byte(&[fixtures::paths()], |_| Fault::Cut, (0, 3));
    each_byte(&[fixtures::load(1), fixtures::load(2)], |_| Fault::Cut, (2, 11));
}

#[test]
fn bytes_that_come_twice_are_heard_once() {
    each_byte(&[fixtures::load(2)], |after| Fault::Twice(1 + after % 400), (0, 7));
}

#[test]
fn what_goes_wrong_on_the_way_back_is_tried_again() {
    let lost = |pair: &mut Pair| {
        pair.run_until(|pair| pair.client.count(&Seen::Start) == 1);
        pair.server.fault = Some((0, Fault::Cut));
    };
    let mut whole = pair(&[fixtures::load(2)]);
    lost(&mut whole);
    whole.run_until(|pair| pair.connections == 2);
    let before = [whole.client.said, whole.server.said];
    whole.run();
    let said = [whole.client.said - before[0], whole.server.said - before[1]];
    assert_eq!((whole.client.outcome(), whole.connections), (&Ok(()), 2));
    for fault in [Fault::Flip(4), Fault::Cut] {
        for (from, said) in said.into_iter().enumerate() {
            for after in (0..said).step_by(3) {
                let mut spoilt = pair(&[fixtures::load(2)]);
                spoilt.next_faults[from] = Some((after, fault.clone()));
                lost(&mut spoilt);
                spoilt.run();
                let case = format!("from {from}, byte {after}: {:?}", spoilt.client.seen);
                let outcomes = (spoilt.client.outcome(), spoilt.server.outcome());
                assert_eq!(outcomes, (&Ok(()), &Ok(())), "{case}");
                assert_eq!(heard(&spoilt.client), heard(&whole.client), "{case}");
                assert_eq!(heard(&spoilt.server), heard(&whole.server), "{case}");
            }
        }
    }
}

#[test]
fn damage_is_counted_at_the_end_that_finds_it_and_told_to_the_client() {
    for (from_client, counts) in [(true, (0, 1)), (false, (1, 0))] {
        let mut spoilt = pair(&[fixtures::load(2)]);
        spoilt.run_until(|pair| pair.client.count(&Seen::Interval(0)) == 1);
        let end = if from_client { &mut spoilt.client.fault } else { &mut spoilt.server.fault };
        *end = Some((0, Fault::Flip(1)));
        spoilt.run();
        let renewals = spoilt.client.dialogue.renewals();
        let told = (renewals.damaged_here, renewals.damaged_there);
        assert_eq!((renewals.made, told), (1, counts), "{:?}", spoilt.client.seen);
        assert_eq!(renewals.damaged(), 1);
    }
}

/// A running test whose connection is cut now.
fn cut_amid(mut pair: Pair) -> Pair {
    pair.run_until(|pair| pair.client.count(&Seen::Start) == 1);
    pair.server.fault = Some((0, Fault::Cut));
    pair
}

#[test]
fn a_server_that_is_gone_is_told_at_once_and_what_was_measured_remains() {
    // Nobody listens any more.
    let mut refused = cut_amid(pair(&[fixtures::load(2)]));
    (refused.back_after_ns, refused.refuses) = (None, true);
    refused.run_until(|pair| pair.client.ended.is_some());
    let lost = "the server closed the connection while the test ran";
    assert_eq!(refused.client.sentence(), lost);
    // Another one does, which knows no such session.
    let mut other = cut_amid(pair(&[fixtures::load(2)]));
    other.is_same_server = false;
    other.run();
    let said = other.client.sentence();
    assert!(said.starts_with(lost) && said.contains("it does not know this session"), "{said}");
    for pair in [&refused, &other] {
        assert_eq!(pair.client.outcome().as_ref().map_err(PeerError::failure), Err(Failure::Peer));
        assert_eq!(pair.client.count(&Seen::Stop), 2, "{:?}", pair.client.seen);
    }
}

#[test]
fn a_test_of_lanes_is_proposed_anew_where_its_session_is_gone() {
    for refuses in [true, false] {
        let mut pair = cut_amid(pair(&[fixtures::paths()]));
        (pair.is_same_server, pair.refuses) = (false, refuses);
        pair.run();
        assert_eq!(pair.client.outcome(), &Ok(()), "{:?}", pair.client.seen);
        let of = |seen| pair.client.count(&seen);
        let rejoins = pair.client.rejoins().len();
        assert_eq!((rejoins, of(Seen::Resumed), of(Seen::TestOver)), (1, 1, 1));
    }
    // And is not where the session lives.
    let mut same = cut_amid(pair(&[fixtures::paths()]));
    same.run();
    assert_eq!((same.client.outcome(), same.client.rejoins().len()), (&Ok(()), 0));
}

#[test]
fn a_client_that_does_not_come_back_holds_its_session_for_a_bounded_time() {
    let mut killed = cut_amid(pair(&[fixtures::load(2)]));
    killed.server.flows_end = false;
    killed.run_until(|pair| pair.client.count(&Seen::Reconnect) == 1);
    let lost_at = killed.now;
    killed.client.kill(lost_at);
    killed.run();
    let (at, _) = killed.server.ended.as_ref().expect("it ended");
    assert_eq!(at.nanos_since(lost_at), 15 * SECOND);
    assert_eq!(killed.server.sentence(), "the client closed the connection while the test ran");
    assert!(!killed.server.is_running || killed.server.count(&Seen::Stop) == 2);
}

#[test]
fn a_server_that_does_not_answer_is_given_up_within_a_minute_of_silence() {
    let mut silent = pair(&[fixtures::load(2)]);
    silent.back_after_ns = None;
    (silent.client.flows_end, silent.server.flows_end) = (false, false);
    silent.run_until(|pair| pair.client.count(&Seen::Start) == 1);
    let started = silent.now;
    silent.server.fault = Some((0, Fault::Mute));
    silent.run_until(|pair| pair.client.ended.is_some());
    let said = silent.client.sentence();
    assert_eq!(said, "the server was lost while the test ran: nothing heard from it for 10 s");
    assert!(silent.now.nanos_since(started) <= 61 * SECOND);
}

#[test]
fn a_path_that_lets_nothing_through_is_not_asked_for_ever() {
    let mut spoilt = cut_amid(pair(&[fixtures::load(2)]));
    spoilt.back_after_ns = Some(1_000_000);
    while spoilt.client.ended.is_none() {
        spoilt.next_faults[1] = Some((0, Fault::Flip(1)));
        spoilt.step();
    }
    let said = spoilt.client.sentence();
    assert!(
        said.contains("it was asked for again") && said.contains("damaged on the way"),
        "{said}"
    );
    assert!((10..20).contains(&spoilt.connections), "{}", spoilt.connections);
}

#[test]
fn a_greeting_that_is_said_anew_is_a_connection_made_anew() {
    // What the client says first, and what the server answers; only of the second can the client know that it was damaged.
    for (from_client, damaged) in [(true, 0), (false, 1)] {
        let mut spoilt = pair(&[fixtures::load(2)]);
        let end = if from_client { &mut spoilt.client.fault } else { &mut spoilt.server.fault };
        *end = Some((60, Fault::Flip(1)));
        spoilt.run();
        assert_eq!(spoilt.client.outcome(), &Ok(()), "{:?}", spoilt.client.seen);
        let renewals = spoilt.client.dialogue.renewals();
        assert_eq!((renewals.made, renewals.damaged()), (1, damaged), "{:?}", spoilt.client.seen);
    }
}

#[test]
fn a_last_try_that_failed_as_the_first_loss_is_told_once() {
    let closed = |reason: Option<&str>| {
        let reason = reason.map(str::to_owned);
        Box::new(PeerError::Closed { who: Role::Server, moment: Moment::Running, reason })
    };
    let told = |last| PeerError::NotResumed { lost: closed(None), last }.to_string();
    let lost = "the server closed the connection while the test ran";
    assert_eq!(told(closed(None)), format!("{lost}; it was asked for again, in vain"));
    let silence = Period::from_secs(5);
    let silent = PeerError::Silent { who: Role::Server, moment: Moment::Running, silence };
    let last = silent.to_string();
    assert_eq!(told(Box::new(silent)), format!("{lost}; it was asked for again, and {last}"));
}

#[test]
fn flows_are_told_that_the_other_end_is_lost_and_not_that_somebody_stopped() {
    let mut gone = cut_amid(pair(&[fixtures::load(2)]));
    gone.back_after_ns = None;
    gone.run_until(|pair| pair.client.ended.is_some() && pair.server.ended.is_some());
    // Before they are told to stop, so that a flow that stops at once has failed all the same.
    for seen in [&gone.client.seen, &gone.server.seen] {
        let at = |wanted: &Seen| seen.iter().position(|it| it == wanted).expect("it was told");
        assert!(at(&Seen::PeerLost) < at(&Seen::Stop), "{seen:?}");
    }
    let mut stopped = pair(&[fixtures::load(2)]);
    stopped.run_until(|pair| pair.client.count(&Seen::Start) == 1);
    for _ in 0..2 {
        stopped.client.dialogue.input(Input::Stop("the user"), stopped.now);
        stopped.client.settle(stopped.now);
    }
    assert!(stopped.client.ended.is_some(), "the second stop waits for nobody");
    assert_eq!(stopped.client.count(&Seen::PeerLost), 0);
}

#[test]
fn who_knows_the_name_and_not_the_number_changes_nothing() {
    let mut pair = pair(&[fixtures::load(2)]);
    pair.run_until(|pair| pair.client.count(&Seen::Interval(1)) == 1);
    pair.server.settle(pair.now);
    for (attempt, received) in [(1, 10_000), (1, 0), (0, 4), (u32::MAX, 4)] {
        pair.server.dialogue.input(Input::Returned { attempt, received }, pair.now);
        let mut outputs = std::iter::from_fn(|| pair.server.dialogue.output());
        assert!(matches!(outputs.next(), Some(Output::TurnAway(_))), "{attempt}, {received}");
        assert!(outputs.next().is_none());
    }
    pair.run();
    assert_eq!((pair.client.outcome(), pair.server.outcome()), (&Ok(()), &Ok(())));
    assert_eq!((pair.connections, pair.client.count(&Seen::Report(RUN_NS))), (1, 1));
}

#[test]
fn the_same_return_is_taken_once() {
    let mut pair = cut_amid(pair(&[fixtures::load(2)]));
    pair.run_until(|pair| pair.connections == 2 && pair.client.count(&Seen::Interval(0)) == 1);
    pair.server.settle(pair.now);
    for received in 0..20 {
        pair.server.dialogue.input(Input::Returned { attempt: 1, received }, pair.now);
        assert!(matches!(pair.server.dialogue.output(), Some(Output::TurnAway(_))), "{received}");
    }
    pair.run();
    assert_eq!((pair.client.outcome(), pair.server.outcome()), (&Ok(()), &Ok(())));
}

#[test]
fn version_1_is_spoken_with_an_older_end_of_either_kind() {
    let one = VersionRange { least: 1, most: 1 };
    let mut old_client = Pair::speaking(one, &[fixtures::load(2)], Limits::default());
    let mut old_server = Pair::new(&[fixtures::load(2)]);
    old_server.make_server_old();
    for pair in [&mut old_client, &mut old_server] {
        pair.run();
        assert_eq!((pair.client.outcome(), pair.server.outcome()), (&Ok(()), &Ok(())));
        assert_eq!(pair.client.dialogue.server().map(|server| server.version), Some(1));
        let facts = pair.client.dialogue.peer_facts().expect("it has answered");
        assert_eq!(
            (facts.name.as_str(), facts.protocol_version.as_deref()),
            ("pathscope", Some("1"))
        );
        assert_eq!(pair.server.dialogue.client().map(|client| client.version), Some(1));
        assert_eq!(pair.client.count(&Seen::Report(RUN_NS)), 1);
    }
}

#[test]
fn an_old_server_that_is_lost_is_lost() {
    let mut pair = pair(&[fixtures::load(2)]);
    pair.make_server_old();
    let mut pair = cut_amid(pair);
    pair.run();
    assert_eq!(pair.client.sentence(), "the server closed the connection while the test ran");
    assert_eq!(pair.connections, 1);
}

#[test]
fn a_stop_is_heard_while_the_connection_is_lost() {
    let mut pair = cut_amid(pair(&[fixtures::load(2)]));
    pair.back_after_ns = Some(2 * SECOND);
    pair.run_until(|pair| pair.client.count(&Seen::Reconnect) == 1);
    pair.client.dialogue.input(Input::Stop("interrupted by the user"), pair.now);
    pair.run();
    assert_eq!((pair.client.outcome(), pair.server.outcome()), (&Ok(()), &Ok(())));
    assert_eq!(pair.server.count(&Seen::Stop), 2);
    assert_eq!(pair.client.count(&Seen::Report(RUN_NS)), 1);
}
