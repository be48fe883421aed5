//! Each limit of datagram goodput is named by its figures.

use super::*;

#[test]
fn each_limit_is_named_by_its_evidence() {
    let lost = || Facts { lost: 7, lost_ratio: Some(0.01), per_buffer: 1, ..Facts::default() };
    for (facts, limit) in [
        (Facts { socket_drops: Some(7), ..lost() }, Limit::ReceiverSocket),
        (Facts { socket_drops: Some(7), receiver_cpu: Some(0.95), ..lost() }, Limit::ReceiverCpu),
        (Facts { socket_drops: Some(0), on_the_way: 7, ..lost() }, Limit::Network),
        (Facts { rate_share: Some(1.0), ..lost() }, Limit::Network),
        (Facts { rate_share: Some(1.0), ..Facts::default() }, Limit::ConfiguredRate),
        (Facts { rate_share: Some(0.5), ..Facts::default() }, Limit::SenderCpu),
        (Facts { sender_cpu: Some(0.98), ..Facts::default() }, Limit::SenderCpu),
        (Facts { sender_cpu: Some(0.4), ..Facts::default() }, Limit::Undetermined),
        (Facts { socket_drops: Some(7), receiver_still_ns: 1, ..lost() }, Limit::ReceiverStopped),
        (
            Facts { socket_drops: Some(0), on_the_way: 7, receiver_still_ns: 1, ..lost() },
            Limit::Network,
        ),
        (
            Facts { rate_share: Some(0.5), sender_still_ns: 1, ..Facts::default() },
            Limit::SenderStopped,
        ),
    ] {
        assert_eq!(facts.ruling().limit, limit, "{facts:?}");
    }
}

#[test]
fn the_figures_that_decide_are_those_that_the_rule_looked_at() {
    let lost = || Facts {
        lost: 7,
        lost_ratio: Some(0.01),
        socket_drops: Some(7),
        per_buffer: 1,
        sender_cpu: Some(0.2),
        receiver_cpu: Some(0.2),
        ..Facts::default()
    };
    let none = || Facts { lost: 0, lost_ratio: Some(0.0), ..lost() };
    let rested = 1_000_000_000;
    let table: [(Facts, Limit, &[&str]); 11] = [
        (lost(), Limit::ReceiverSocket, &["lost_ratio", "receiver_socket_drops"]),
        (
            Facts { receiver_cpu: Some(0.95), ..lost() },
            Limit::ReceiverCpu,
            &["receiver_cpu_share", "receiver_socket_drops"],
        ),
        (
            Facts { receiver_still_ns: rested, ..lost() },
            Limit::ReceiverStopped,
            &["receiver_socket_drops", "receiver_still_ns"],
        ),
        (
            Facts { socket_drops: Some(0), on_the_way: 7, ..lost() },
            Limit::Network,
            &["lost_ratio", "receiver_socket_drops"],
        ),
        (
            Facts { socket_drops: Some(2), on_the_way: 5, ..lost() },
            Limit::Network,
            &["lost_on_the_way", "receiver_socket_drops"],
        ),
        (Facts { socket_drops: None, ..lost() }, Limit::Network, &["lost_ratio"]),
        (
            Facts { rate_share: Some(1.0), ..none() },
            Limit::ConfiguredRate,
            &["configured_rate_share", "lost_ratio"],
        ),
        (
            Facts { rate_share: Some(0.5), ..none() },
            Limit::SenderCpu,
            &["configured_rate_share", "sender_cpu_share"],
        ),
        (
            Facts { rate_share: Some(0.5), sender_still_ns: rested, ..none() },
            Limit::SenderStopped,
            &["configured_rate_share", "sender_still_ns"],
        ),
        (
            Facts { sender_cpu: Some(0.98), ..none() },
            Limit::SenderCpu,
            &["lost_ratio", "sender_cpu_share"],
        ),
        (none(), Limit::Undetermined, &["lost_ratio", "sender_cpu_share"]),
    ];
    for (facts, limit, expected) in table {
        let Ruling { limit: said, deciding, .. } = facts.ruling();
        assert_eq!(said, limit, "{facts:?}");
        let evidence = facts.evidence();
        let mut marked: Vec<&str> = evidence.iter().map(|it| it.name.as_str()).collect();
        marked.retain(|name| deciding.contains(name));
        marked.sort_unstable();
        assert_eq!(marked, expected, "{limit:?} of {facts:?}");
    }
}

#[test]
fn a_verdict_is_sure_where_most_is_known_to_have_been_lost_there() {
    let lost = |socket_drops, on_the_way, per_buffer| Facts {
        lost: 100,
        socket_drops,
        on_the_way,
        per_buffer,
        ..Facts::default()
    };
    let slow = |cpu| Facts { rate_share: Some(0.5), sender_cpu: Some(cpu), ..Facts::default() };
    for (facts, is_sure) in [
        (lost(Some(0), 100, 1), true),
        (lost(Some(10), 90, 1), true),
        (lost(Some(40), 60, 1), false),
        (lost(None, 0, 1), false),
        (lost(Some(90), 10, 1), true),
        // Two buffers of up to 64 may be all of it, or next to nothing.
        (lost(Some(2), 0, 64), false),
        (slow(0.99), true),
        (slow(0.4), false),
        (Facts { stolen: Some(0.2), ..slow(0.99) }, false),
        (Facts { stolen: Some(0.2), ..lost(Some(0), 100, 1) }, true),
        (Facts { rate_share: Some(1.0), stolen: Some(0.2), ..Facts::default() }, true),
    ] {
        let Ruling { limit, doubts, .. } = facts.ruling();
        assert_eq!(doubts.is_empty(), is_sure, "{limit:?} {facts:?}: {doubts:?}");
    }
}

#[test]
fn what_was_lost_is_counted_as_it_is_spelt() {
    for (lost, words) in [
        (1, "the path: 1 datagram was lost, and"),
        (2, "the path: 2 datagrams were lost, and"),
        (12_345, "the path: 12,345 datagrams were lost, and"),
    ] {
        let facts = Facts { lost, on_the_way: lost, socket_drops: Some(0), ..Facts::default() };
        let said = facts.ruling().text;
        assert!(said.starts_with(words), "{said}");
    }
}

#[test]
fn what_came_damaged_is_told_beside_that_nothing_was_lost() {
    let of = |corrupt| Facts { corrupt, rate_share: Some(1.0), ..Facts::default() }.ruling().text;
    assert_eq!(of(0), "the configured rate was reached, and nothing was lost");
    assert_eq!(
        of(1),
        "the configured rate was reached, and nothing was lost, but 1 datagram came damaged"
    );
    for facts in [
        Facts { corrupt: 9, sender_cpu: Some(1.0), ..Facts::default() },
        Facts { corrupt: 9, ..Facts::default() },
    ] {
        assert!(facts.ruling().text.ends_with("nothing was lost, but 9 datagrams came damaged"));
    }
}

#[test]
fn of_two_that_lost_the_one_that_lost_more_is_to_blame() {
    let judged = |lost, drops: u64, per_buffer| {
        let on_the_way = drops.saturating_mul(per_buffer);
        let facts = Facts {
            lost,
            socket_drops: Some(drops),
            on_the_way: lost - on_the_way.min(lost),
            per_buffer,
            receiver_cpu: Some(1.0),
            ..Facts::default()
        };
        let Ruling { limit, text, .. } = facts.ruling();
        (limit, text)
    };
    // One by one, the count is exact.
    let (limit, text) = judged(1_000, 1, 1);
    assert_eq!(limit, Limit::Network);
    assert_eq!(
        text,
        "the path: 1,000 datagrams were lost, 999 of them on the way; the receiver's socket dropped 1 buffer"
    );
    assert_eq!(judged(1_000, 499, 1).0, Limit::Network);
    let (limit, text) = judged(1_000, 500, 1);
    assert_eq!(limit, Limit::ReceiverCpu);
    assert!(text.ends_with("its socket dropped 500 buffers; 500 of them on the way"), "{text}");
    // Joined, a buffer may hold many, and what is sure is what they cannot hold.
    assert_eq!(judged(1_000, 7, 64).0, Limit::Network);
    let (limit, text) = judged(1_000, 8, 64);
    assert_eq!(limit, Limit::ReceiverCpu);
    assert!(
        text.ends_with("of up to 64 datagrams each; at least 488 of them on the way"),
        "{text}"
    );
    assert!(judged(1_000, 16, 64).1.ends_with("16 buffers of up to 64 datagrams each"));
}
