//! Who is to blame for frames that are not played, by the figures of each.

use super::*;

/// Frames that were not played, and where the datagrams were lost: in the network, in the socket, by their headers.
fn facts((dropped, erroneous, late): (u64, u64, u64), lost: [u64; 3]) -> Facts {
    let [in_network, in_socket, unreadable] = lost;
    let completed = 1_000 - dropped - erroneous - late;
    let missed = dropped + late;
    Facts {
        frames: FrameCounts { completed, missed, late, erroneous, ..FrameCounts::default() },
        late_by_sender: 0,
        unsent: 0,
        sent: 10_000,
        in_network,
        in_socket,
        unreadable,
        damaged: unreadable + erroneous,
        lag_p99_ns: Some(7),
        lag_most_ns: Some(9),
        depth_ns: Some(1_000),
        receiver_still_ns: 0,
    }
}

fn limit(frames: (u64, u64, u64), lost: [u64; 3]) -> Limit {
    facts(frames, lost).limit()
}

#[test]
fn each_verdict_names_two_figures_that_it_has() {
    let none = [0; 3];
    let unsent = || Facts { unsent: 5, ..facts((1, 0, 0), [1, 0, 0]) };
    let late_by_sender = || Facts { late_by_sender: 5, ..facts((0, 0, 5), none) };
    for (facts, limit) in [
        (facts((0, 0, 0), none), Limit::ConfiguredRate),
        (facts((9, 0, 0), [9, 0, 0]), Limit::NetworkLoss),
        (facts((9, 0, 0), [0, 9, 0]), Limit::ReceiverSocket),
        (facts((0, 9, 0), none), Limit::Damage),
        (facts((0, 0, 9), none), Limit::NetworkDelay),
        (unsent(), Limit::SenderLate),
        (late_by_sender(), Limit::SenderLate),
    ] {
        assert_eq!(facts.limit(), limit, "{facts:?}");
        let evidence = facts.evidence();
        for name in facts.deciding(limit) {
            assert!(evidence.iter().any(|it| it.name == name), "{limit:?} has no {name}");
        }
    }
}

#[test]
fn a_verdict_is_sure_where_it_explains_two_thirds() {
    let none = [0; 3];
    for (facts, is_sure) in [
        (facts((0, 0, 0), none), true),
        (facts((9, 0, 0), [9, 0, 0]), true),
        (facts((9, 0, 8), [9, 0, 0]), false),
        (facts((9, 0, 0), [9, 8, 0]), false),
        (facts((0, 0, 9), none), true),
        (facts((4, 0, 5), [4, 0, 0]), false),
        (facts((0, 9, 0), none), true),
        (Facts { unsent: 9, ..facts((1, 0, 0), [1, 0, 0]) }, true),
    ] {
        let doubts = facts.doubts(facts.limit());
        assert_eq!(doubts.is_empty(), is_sure, "{facts:?}: {doubts:?}");
    }
}

#[test]
fn the_figures_that_decide_are_those_that_the_rule_looked_at() {
    let none = [0; 3];
    let rested = |facts| Facts { receiver_still_ns: 1_000_000_000, ..facts };
    let table: [(Facts, Limit, [&str; 2]); 12] = [
        (
            Facts { frames: FrameCounts::default(), ..facts((0, 0, 0), none) },
            Limit::Undetermined,
            ["frames_not_played", "frames_unsent"],
        ),
        (facts((0, 0, 0), none), Limit::ConfiguredRate, ["frames_not_played", "frames_unsent"]),
        (
            Facts { unsent: 5, ..facts((1, 0, 0), [1, 0, 0]) },
            Limit::SenderLate,
            ["frames_not_played", "frames_unsent"],
        ),
        // Some never left, but most left late.
        (
            Facts { unsent: 2, late_by_sender: 5, ..facts((0, 0, 5), none) },
            Limit::SenderLate,
            ["frames_late", "send_lag_p99_ns"],
        ),
        // Of few, no percentile is known.
        (
            Facts { lag_p99_ns: None, late_by_sender: 5, ..facts((0, 0, 5), none) },
            Limit::SenderLate,
            ["frames_not_played", "frames_late"],
        ),
        (
            rested(facts((0, 0, 18), none)),
            Limit::ReceiverStopped,
            ["frames_late", "receiver_still_ns"],
        ),
        (
            rested(facts((18, 0, 3), [0, 18, 0])),
            Limit::ReceiverStopped,
            ["datagrams_lost_in_socket", "receiver_still_ns"],
        ),
        (
            facts((9, 0, 0), [9, 0, 0]),
            Limit::NetworkLoss,
            ["frames_not_played", "datagrams_lost_in_network"],
        ),
        (
            facts((9, 0, 0), [0, 9, 0]),
            Limit::ReceiverSocket,
            ["frames_not_played", "datagrams_lost_in_socket"],
        ),
        (facts((0, 9, 0), none), Limit::Damage, ["frames_not_played", "datagrams_damaged"]),
        (facts((0, 0, 9), none), Limit::NetworkDelay, ["frames_late", "needed_depth_ns"]),
        (
            Facts { depth_ns: None, ..facts((0, 0, 9), none) },
            Limit::NetworkDelay,
            ["frames_not_played", "frames_late"],
        ),
    ];
    for (facts, limit, mut expected) in table {
        assert_eq!(facts.limit(), limit, "{facts:?}");
        let deciding = facts.deciding(limit);
        let evidence = facts.evidence();
        let mut marked: Vec<&str> = evidence.iter().map(|it| it.name.as_str()).collect();
        marked.retain(|name| deciding.contains(name));
        marked.sort_unstable();
        expected.sort_unstable();
        assert_eq!(marked, expected, "{limit:?} of {facts:?}");
    }
}

#[test]
fn frames_that_never_left_are_counted_as_they_are_spelt() {
    for (unsent, words) in [
        (1, "the sender: 1 frame was due"),
        (2, "the sender: 2 frames were due"),
        (12_345, "the sender: 12,345 frames were due"),
    ] {
        let facts = Facts { unsent, ..facts((0, 0, 0), [0; 3]) };
        let said = facts.text(&super::super::tests::plan(), facts.limit());
        assert!(said.starts_with(words), "{said}");
    }
}

#[test]
fn whatever_cost_most_frames_is_to_blame() {
    assert_eq!(limit((0, 0, 0), [0, 0, 0]), Limit::ConfiguredRate);
    assert_eq!(limit((9, 0, 0), [9, 0, 0]), Limit::NetworkLoss);
    assert_eq!(limit((9, 0, 0), [4, 5, 0]), Limit::ReceiverSocket);
    assert_eq!(limit((9, 0, 0), [5, 4, 0]), Limit::NetworkLoss);
    assert_eq!(limit((3, 4, 0), [3, 0, 0]), Limit::Damage);
    assert_eq!(limit((3, 4, 5), [3, 0, 0]), Limit::NetworkDelay);
}

#[test]
fn a_damaged_header_is_damage_and_no_loss_of_the_network() {
    assert_eq!(limit((9, 0, 0), [0, 0, 9]), Limit::Damage);
    assert_eq!(limit((9, 0, 0), [4, 0, 5]), Limit::Damage);
    assert_eq!(limit((9, 0, 0), [5, 0, 4]), Limit::NetworkLoss);
    // The socket dropped more than the network, though not more than both.
    assert_eq!(limit((9, 0, 0), [3, 4, 2]), Limit::ReceiverSocket);
    assert_eq!(limit((9, 0, 0), [2, 3, 4]), Limit::Damage);
    // Frames that damage cost are summed up, however they ended.
    assert_eq!(limit((3, 3, 5), [0, 0, 3]), Limit::Damage);
    assert_eq!(limit((3, 3, 7), [0, 0, 3]), Limit::NetworkDelay);
}
