//! What happens when all goes well, however the bytes are cut.

use pathscope_core::id::{FlowId, Token};
use pathscope_core::quantity::Period;
use proptest::prelude::*;

use super::pair::{Pair, RUN_NS, Seen, substitution};
use crate::dialogue::ClientDialogue as _;
use crate::limits::Limits;
use crate::native::fixtures;

/// What each end sees of one test of two connections and a probe.
fn one_test(first: Seen, second: Seen) -> Vec<Seen> {
    vec![
        first,
        second,
        Seen::Interval(0),
        Seen::Interval(1),
        Seen::Total(FlowId(0), 1_000),
        Seen::Total(FlowId(1), 1_001),
        Seen::Total(FlowId(2), 1_002),
        Seen::Report(RUN_NS),
        Seen::TestOver,
    ]
}

fn tokens(pair: &Pair) -> Vec<Seen> {
    pair.server.seen.iter().filter(|seen| matches!(seen, Seen::Prepare(_))).cloned().collect()
}

#[test]
fn one_test_runs_at_both_ends_and_ends_well() {
    let mut pair = Pair::new(&[fixtures::load(2)]);
    pair.run();
    assert_eq!((pair.client.outcome(), pair.server.outcome()), (&Ok(()), &Ok(())));
    let [Seen::Prepare(token)] = tokens(&pair)[..] else { panic!("one test") };
    let open = Seen::Open(token, vec![substitution()]);
    assert_eq!(pair.client.seen, one_test(open, Seen::Start));
    assert_eq!(pair.server.seen, one_test(Seen::Prepare(token), Seen::Start));
}

#[test]
fn several_tests_follow_each_other_with_tokens_of_their_own() {
    let mut pair = Pair::new(&[fixtures::load(2), fixtures::load(1), fixtures::load(9)]);
    pair.run();
    assert_eq!((pair.client.outcome(), pair.server.outcome()), (&Ok(()), &Ok(())));
    for end in [&pair.client.seen, &pair.server.seen] {
        assert_eq!(end.iter().filter(|seen| **seen == Seen::TestOver).count(), 3);
        assert_eq!(end.iter().filter(|seen| matches!(seen, Seen::Total(..))).count(), 3 + 2 + 10);
    }
    let [Seen::Prepare(one), Seen::Prepare(two), Seen::Prepare(three)] = tokens(&pair)[..] else {
        panic!("three tests")
    };
    assert!(one != two && two != three && one != three);
}

#[test]
fn a_client_without_a_test_leaves_in_good_order() {
    let mut pair = Pair::new(&[]);
    pair.run();
    assert_eq!((pair.client.outcome(), pair.server.outcome()), (&Ok(()), &Ok(())));
}

#[test]
fn the_client_closes_first() {
    let mut pair = Pair::new(&[fixtures::load(1)]);
    pair.run();
    let [client, server] = [&pair.client.ended, &pair.server.ended];
    let at = |ended: &Option<(_, _)>| ended.as_ref().map(|(at, _)| *at).expect("it ended");
    assert!(at(client) < at(server));
}

#[test]
fn totals_of_many_flows_are_told_in_few_messages() {
    let mut pair = Pair::new(&[fixtures::load(10_000)]);
    pair.run();
    let totals = pair.server.seen.iter().filter(|seen| matches!(seen, Seen::Total(..))).count();
    assert_eq!(totals, 10_001);
    // Some 45 bytes for each flow: three messages, and not one for each.
    assert!(pair.client.said < 10_001 * 60, "{}", pair.client.said);
}

#[test]
fn both_ends_know_who_the_other_is() {
    let mut pair = Pair::new(&[fixtures::load(1)]);
    assert!(pair.client.dialogue.server().is_none());
    pair.run();
    let server = pair.client.dialogue.server().expect("it has answered");
    // All but that of who cannot go on asking.
    let told = Limits { datagram_rate_bps: None, ..Limits::default() };
    assert_eq!((server.version, server.limits), (2, Some(told)));
    let client = pair.server.dialogue.client().expect("it has said hello");
    assert_eq!((client.version, client.limits), (2, None));
}

#[test]
fn a_client_is_told_which_process_serves_it() {
    let identity = Token([7; 16]);
    let mut pair = Pair::new(&[]);
    assert_eq!(pair.client.dialogue.server_identity(), None);
    pair.server.dialogue.name_process(identity);
    pair.run();
    assert_eq!(pair.client.dialogue.server_identity(), Some(identity));
}

#[test]
fn a_test_that_starts_with_others_waits_for_them_and_not_for_ever() {
    let mut pair = Pair::new(&[fixtures::load(2)]);
    pair.client.dialogue.start_with_others();
    pair.client.others_after_ns = Some(11_000_000_000);
    pair.run();
    assert_eq!((pair.client.outcome(), pair.server.outcome()), (&Ok(()), &Ok(())));
    let [Seen::Prepare(token)] = tokens(&pair)[..] else { panic!("one test") };
    let open = Seen::Open(token, vec![substitution()]);
    let mut seen = one_test(open, Seen::Ready);
    seen.insert(2, Seen::Start);
    assert_eq!(pair.client.seen, seen);
    assert_eq!(pair.server.seen, one_test(Seen::Prepare(token), Seen::Start));

    let mut pair = Pair::new(&[fixtures::load(2)]);
    pair.client.dialogue.start_with_others();
    pair.run();
    let sentence = pair.client.sentence();
    assert!(sentence.contains("have every server of its run ready to start"), "{sentence}");
    assert_eq!((pair.client.count(&Seen::Start), pair.server.count(&Seen::Start)), (0, 0));
}

#[test]
fn a_refused_test_names_limit_and_option() {
    let limits = Limits { duration_ns: Some(Period::from_secs(5)), ..Limits::default() };
    let mut pair = Pair::with_limits(&[fixtures::load(1)], limits);
    pair.run();
    assert_eq!(
        pair.client.sentence(),
        "refused by the server: 10 s is longer than its limit of 5 s a run; ask for less, or start the \
         server with a higher --limit-duration"
    );
    assert_eq!(pair.server.outcome(), &Ok(()));
    assert!(pair.server.seen.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn the_cut_of_the_bytes_makes_no_difference(
        chunks in prop::collection::vec(prop_oneof![1_usize..8, 1_usize..2_000], 1..20),
    ) {
        let mut whole = Pair::new(&[fixtures::load(2), fixtures::load(1)]);
        whole.run();
        let mut cut = Pair::new(&[fixtures::load(2), fixtures::load(1)]);
        cut.chunks = chunks;
        cut.run();
        prop_assert_eq!(cut.client.outcome(), &Ok(()));
        prop_assert_eq!(cut.server.outcome(), &Ok(()));
        prop_assert_eq!(cut.client.seen, whole.client.seen);
        prop_assert_eq!(cut.server.seen, whole.server.seen);
    }
}
