//! Each limit is named by its figures.
//!
//! In one file: each test changes one figure of the same run, and is read beside its neighbours.

use pathscope_core::id::FlowId;
use pathscope_core::quantity::Period;
use pathscope_core::record::{FlowFacts, Limit, StoodStill, Stretch, TcpFacts};
use pathscope_core::sending::SendSamples;

use super::facts::{Facts, Seen};
use super::verdict;
use crate::end::EndFacts;
use crate::goodput::{Burst, DirectionSummary, GoodputPlan, GoodputReport, GoodputSummary};
use crate::results::End;

fn idle() -> Facts {
    Facts { sender_cpu: Some(0.2), receiver_cpu: Some(0.2), ..Facts::default() }
}

fn named(facts: &Facts, limit: Limit) {
    assert_eq!(facts.limit(), limit, "{facts:?}");
    assert!(!facts.text(limit).is_empty());
    let evidence = facts.evidence();
    let has = |name: &&str| evidence.iter().any(|it| it.name == *name);
    let deciding = facts.deciding(limit);
    assert!(evidence.is_empty() || deciding.iter().any(has), "{limit:?}: none of {deciding:?}");
}

#[test]
fn each_limit_is_named_by_its_evidence() {
    for (facts, limit) in [
        (Facts { rate: Some(0.99), ..idle() }, Limit::ConfiguredRate),
        (Facts { sender_cpu: Some(0.97), ..idle() }, Limit::SenderCpu),
        (
            Facts { receiver_cpu: Some(0.97), receive_window: Some(0.9), ..idle() },
            Limit::ReceiverCpu,
        ),
        (
            Facts {
                shared_host_cpu: Some(0.99),
                own_cpu: Some(0.9),
                sender_uses_more: true,
                ..idle()
            },
            Limit::SenderCpu,
        ),
        (Facts { shared_host_cpu: Some(0.99), own_cpu: Some(0.1), ..idle() }, Limit::Undetermined),
        (Facts { sender_wait: Some(0.7), ..idle() }, Limit::SenderCpu),
        (Facts { receiver_wait: Some(0.7), ..idle() }, Limit::ReceiverCpu),
        (Facts { shared_host_cpu: Some(0.99), busy: Some(0.99), ..idle() }, Limit::Undetermined),
        (
            Facts {
                shared_host_cpu: Some(0.99),
                busy: Some(0.99),
                sender_wait: Some(0.02),
                receiver_wait: Some(0.05),
                ..idle()
            },
            Limit::Network,
        ),
        (
            Facts {
                shared_host_cpu: Some(0.99),
                busy: Some(0.99),
                sender_wait: Some(0.02),
                receiver_wait: Some(0.3),
                ..idle()
            },
            Limit::Undetermined,
        ),
        (Facts { spins: true, busy: Some(0.99), ..idle() }, Limit::Undetermined),
        (Facts { receive_window: Some(0.5), ..idle() }, Limit::ReceiveWindow),
        (
            Facts { receive_window: Some(0.5), receiver_cpu: Some(0.8), ..idle() },
            Limit::ReceiverCpu,
        ),
        (Facts { send_buffer: Some(0.5), ..idle() }, Limit::SendBuffer),
        (Facts { busy: Some(0.99), retransmits: Some(7), ..idle() }, Limit::Network),
        (idle(), Limit::Undetermined),
        (Facts::default(), Limit::Undetermined),
    ] {
        named(&facts, limit);
    }
}

#[test]
fn what_was_seen_at_the_sockets_goes_before_what_the_kernel_sums_up() {
    let seen = |program, send_buffer, receive_window, path| Facts {
        seen: Some(Seen { program, send_buffer, receive_window, path, queued: 0.0 }),
        ..idle()
    };
    // As cubic has it: always in flight, and never limited by its buffer as the kernel counts that.
    let busy = |facts: Facts| Facts { busy: Some(1.0), send_buffer: Some(0.01), ..facts };
    named(&busy(seen(0.0, 0.97, 0.0, 0.03)), Limit::SendBuffer);
    named(&busy(seen(0.0, 0.04, 0.0, 0.96)), Limit::Network);
    named(&busy(seen(0.0, 0.0, 0.9, 0.1)), Limit::ReceiveWindow);
    named(&Facts { receiver_cpu: Some(0.8), ..seen(0.0, 0.0, 0.9, 0.1) }, Limit::ReceiverCpu);
    // Unsent for its pacing, whose rate is what the buffer lets through: the kernel knows that.
    named(&Facts { send_buffer: Some(0.6), ..seen(0.0, 0.4, 0.0, 0.6) }, Limit::SendBuffer);
    // A window or a buffer that stops senders whose data fills the queue anyway.
    let queued = |facts: Facts, queued| Facts {
        seen: facts.seen.map(|seen| Seen { queued, ..seen }),
        ..facts
    };
    named(&queued(busy(seen(0.0, 0.97, 0.0, 0.03)), 0.9), Limit::Network);
    named(&queued(busy(seen(0.0, 0.97, 0.0, 0.03)), 0.7), Limit::SendBuffer);
    // Somewhat less than half of the looks, while the path had room in a quarter of them; and in a tenth.
    named(&queued(busy(seen(0.0, 0.47, 0.0, 0.51)), 0.2), Limit::SendBuffer);
    named(&queued(busy(seen(0.0, 0.47, 0.0, 0.51)), 0.37), Limit::Network);
    // A buffer that is full more often than the window.
    named(&busy(seen(0.04, 0.55, 0.41, 0.0)), Limit::SendBuffer);
    let window = Facts { receive_window: Some(0.9), ..seen(0.0, 0.0, 0.3, 0.7) };
    named(&queued(window, 0.3), Limit::Network);
    named(&busy(seen(0.3, 0.3, 0.0, 0.4)), Limit::Undetermined);
    // The kernel's sum alone is no verdict where hardly any look saw the like.
    named(&Facts { receive_window: Some(0.301), ..seen(0.78, 0.0, 0.1, 0.12) }, Limit::Sender);
    named(&seen(0.8, 0.0, 0.0, 0.2), Limit::Sender);
    named(&Facts { in_turns: true, ..seen(0.8, 0.0, 0.0, 0.2) }, Limit::Turns);
    named(&Facts { in_turns: true, ..seen(0.2, 0.0, 0.0, 0.8) }, Limit::Network);
}

/// A verdict, of what, and the names of the figures that decide it.
type Decided<'row> = (Facts, Limit, &'row [&'row str]);

fn decided_so(table: &[Decided<'_>]) {
    for (facts, limit, expected) in table {
        assert_eq!(facts.limit(), *limit, "{facts:?}");
        let deciding = facts.deciding(*limit);
        let evidence = facts.evidence();
        let mut marked: Vec<&str> = evidence.iter().map(|it| it.name.as_str()).collect();
        marked.retain(|name| deciding.contains(name));
        let mut expected = expected.to_vec();
        marked.sort_unstable();
        expected.sort_unstable();
        assert_eq!(marked, expected, "{limit:?} of {facts:?}");
    }
}

fn seen(seen: Seen) -> Facts {
    Facts { seen: Some(seen), ..idle() }
}

/// The program had something to send in most looks.
const HELD: Seen =
    Seen { program: 0.1, send_buffer: 0.0, receive_window: 0.0, path: 0.0, queued: 0.0 };

#[test]
fn the_figures_that_decide_are_those_of_the_ends_that_the_rule_looked_at() {
    let still = |seconds: u64| Some((seconds * 1_000_000_000, 0.3));
    let full = || Facts {
        shared_host_cpu: Some(0.99),
        own_cpu: Some(0.9),
        sender_uses_more: true,
        ..idle()
    };
    let disturbed = || Facts { own_cpu: Some(0.1), ..full() };
    decided_so(&[
        (
            Facts { rate: Some(0.99), ..seen(HELD) },
            Limit::ConfiguredRate,
            &["configured_rate_share", "seen_held_by_path_share"],
        ),
        (
            Facts { paused: Some(0.9), ..seen(Seen { program: 0.9, ..HELD }) },
            Limit::ConfiguredPauses,
            &["paused_share", "seen_held_by_program_share"],
        ),
        (
            Facts { in_turns: true, ..seen(Seen { program: 0.9, ..HELD }) },
            Limit::Turns,
            &["seen_held_by_program_share", "sender_cpu_share"],
        ),
        // Nobody looked.
        (
            Facts { in_turns: true, busy: Some(0.5), ..idle() },
            Limit::Turns,
            &["sender_cpu_share", "sender_busy_share"],
        ),
        (Facts { sender_still: still(1), ..idle() }, Limit::SenderStopped, &["sender_still_share"]),
        (
            Facts { receiver_still: still(1), ..idle() },
            Limit::ReceiverStopped,
            &["receiver_still_share"],
        ),
        (
            Facts { sender_cpu: Some(0.97), ..idle() },
            Limit::SenderCpu,
            &["sender_cpu_share", "receiver_cpu_share"],
        ),
        (
            Facts { sender_wait: Some(0.7), ..idle() },
            Limit::SenderCpu,
            &["sender_cpu_share", "sender_cpu_wait_share"],
        ),
        (full(), Limit::SenderCpu, &["shared_host_cpu_share", "own_cpu_share"]),
        (
            Facts { receiver_cpu: Some(0.97), ..idle() },
            Limit::ReceiverCpu,
            &["sender_cpu_share", "receiver_cpu_share"],
        ),
        (
            Facts { receiver_wait: Some(0.7), ..idle() },
            Limit::ReceiverCpu,
            &["receiver_cpu_share", "receiver_cpu_wait_share"],
        ),
        (
            Facts { sender_uses_more: false, ..full() },
            Limit::ReceiverCpu,
            &["shared_host_cpu_share", "own_cpu_share"],
        ),
        (
            Facts { receiver_cpu: Some(0.8), receive_window: Some(0.5), ..idle() },
            Limit::ReceiverCpu,
            &["receiver_cpu_share", "receive_window_limited_share"],
        ),
        (disturbed(), Limit::Undetermined, &["shared_host_cpu_share", "own_cpu_share"]),
    ]);
}

#[test]
fn the_figures_that_decide_are_those_of_the_sockets_that_the_rule_looked_at() {
    decided_so(&[
        (
            seen(Seen { receive_window: 0.9, ..HELD }),
            Limit::ReceiveWindow,
            &["receiver_cpu_share", "seen_held_by_receive_window_share"],
        ),
        (
            Facts { receive_window: Some(0.5), ..idle() },
            Limit::ReceiveWindow,
            &["receiver_cpu_share", "receive_window_limited_share"],
        ),
        (
            seen(Seen { send_buffer: 0.9, ..HELD }),
            Limit::SendBuffer,
            &["seen_held_by_send_buffer_share", "seen_in_queue_share"],
        ),
        (
            Facts { send_buffer: Some(0.5), receive_window: Some(0.1), ..idle() },
            Limit::SendBuffer,
            &["receive_window_limited_share", "send_buffer_limited_share"],
        ),
        (
            Facts { retransmits: Some(3), ..seen(Seen { path: 0.9, ..HELD }) },
            Limit::Network,
            &["seen_held_by_path_share", "retransmits"],
        ),
        // A buffer was full, and its data was in the path's queue.
        (
            seen(Seen { send_buffer: 0.9, queued: 0.9, ..HELD }),
            Limit::Network,
            &["seen_held_by_path_share", "seen_in_queue_share"],
        ),
        (
            Facts { busy: Some(0.99), retransmits: Some(3), ..idle() },
            Limit::Network,
            &["sender_busy_share", "retransmits"],
        ),
        (
            seen(Seen { program: 0.9, ..HELD }),
            Limit::Sender,
            &["seen_held_by_program_share", "sender_cpu_share"],
        ),
        (
            Facts { spins: true, busy: Some(0.99), ..idle() },
            Limit::Undetermined,
            &["sender_cpu_share", "sender_busy_share"],
        ),
        (
            seen(Seen { path: 0.4, ..HELD }),
            Limit::Undetermined,
            &["sender_cpu_share", "seen_held_by_path_share"],
        ),
    ]);
}

#[test]
fn what_was_sent_again_is_counted_as_it_is_spelt() {
    let of = |retransmits| Facts { busy: Some(0.99), retransmits, ..idle() };
    for (segments, words) in [
        (Some(0), "congestion control held the sender; nothing was lost"),
        (Some(1), "held the sender, and 1 segment was sent again"),
        (Some(2), "held the sender, and 2 segments were sent again"),
        (Some(12_345), "held the sender, and 12,345 segments were sent again"),
        // Unknown is not none.
        (None, "the path: congestion control held the sender"),
    ] {
        let said = of(segments).text(Limit::Network);
        assert!(said.ends_with(words), "{said}");
        let evidence = of(segments).evidence();
        let told = evidence.iter().find(|it| it.name == "retransmits").map(|it| it.text.clone());
        let expected = match segments {
            Some(1) => Some("1 segment sent again".to_owned()),
            Some(12_345) => Some("12,345 segments sent again".to_owned()),
            Some(few) => Some(format!("{few} segments sent again")),
            None => None,
        };
        assert_eq!(told, expected);
    }
}

#[test]
fn in_turns_what_either_end_sent_again_counts() {
    let end = |again: &[Option<u64>]| {
        let flow = |&retransmits: &Option<u64>| FlowFacts {
            tcp: Some(TcpFacts { retransmits, ..TcpFacts::default() }),
            ..FlowFacts::default()
        };
        let flows = again.iter().map(flow).collect();
        GoodputReport { flows, ..GoodputReport::default() }
    };
    let facts = EndFacts { elapsed_ns: 10_000_000_000, ..EndFacts::default() };
    let counted = |words: &str, client: &[Option<u64>], server: &[Option<u64>]| {
        let plan: GoodputPlan = crate::goodput::args::tests::plan(words).expect("a plan");
        let summary = GoodputSummary::default();
        let (client, server) = (end(client), end(server));
        let ends = [&client, &server].map(|own| End { own, facts });
        let said = verdict(&plan, &summary, (&ends[0], &ends[1]), None);
        let figure = said.evidence.iter().find(|it| it.name == "retransmits");
        figure.map(|it| it.value)
    };
    let turns = "-c 2 -t 10s --pattern pushpull";
    assert_eq!(counted(turns, &[Some(2_900), Some(16)], &[Some(2_718)]), Some(5_634.0));
    assert_eq!(counted(turns, &[None], &[Some(3)]), Some(3.0));
    assert_eq!(counted(turns, &[None], &[None]), None);
    // Of one that sends alone, the other's is none of it.
    assert_eq!(counted("-c 2 -t 10s", &[Some(5)], &[Some(3)]), Some(5.0));
}

#[test]
fn pauses_hold_a_sender_only_where_its_sockets_run_empty() {
    let paused = |program, path| Facts {
        paused: Some(0.9),
        seen: Some(Seen { program, path, ..Seen::default() }),
        ..idle()
    };
    named(&paused(0.8, 0.2), Limit::ConfiguredPauses);
    named(&paused(0.1, 0.9), Limit::Network);
    named(&Facts { paused: Some(0.9), busy: Some(0.3), ..idle() }, Limit::ConfiguredPauses);
    let said = paused(0.8, 0.2).text(Limit::ConfiguredPauses);
    assert!(said.contains("90.0 % of the time"), "{said}");
}

#[test]
fn an_end_that_stood_still_is_named_before_what_came_of_it() {
    let second = |seconds: f64| Some(((seconds * 1e9) as u64, seconds / 8.0));
    let stopped = Facts { receiver_still: second(3.0), receive_window: Some(0.9), ..idle() };
    named(&stopped, Limit::ReceiverStopped);
    let said = stopped.text(Limit::ReceiverStopped);
    assert!(said.contains("receiver's program: it stood still for 3 s"), "{said}");
    named(&Facts { sender_still: second(2.0), ..idle() }, Limit::SenderStopped);
    let both = Facts { sender_still: second(3.1), receiver_still: second(3.0), ..idle() };
    named(&both, Limit::SenderStopped);
    assert!(
        both.text(Limit::SenderStopped).ends_with("other end's program stood still for 3 s, too")
    );
    // A moment is a caveat, and no verdict.
    named(
        &Facts { receiver_still: second(0.3), send_buffer: Some(0.9), ..idle() },
        Limit::SendBuffer,
    );
}

#[test]
fn reports_of_both_ends_make_the_figures() {
    let mut plan: GoodputPlan = crate::goodput::args::tests::plan("-c 2 -t 10s").expect("a plan");
    plan.pace.burst = Some(Burst { sends: 2, pause_ns: Period::from_millis(150) });
    let sending = SendSamples { program: 180, path: 20, ..SendSamples::default() };
    let goodput = GoodputReport {
        sending: Some(sending),
        paused_ns: 19_000_000_000,
        ..GoodputReport::default()
    };
    let facts = EndFacts { elapsed_ns: 10_000_000_000, ..EndFacts::default() };
    let client = End { own: &goodput, facts };
    let nothing = GoodputReport::default();
    let server = End { own: &nothing, facts };
    let up = DirectionSummary { goodput_bps: Some(1e6), ..DirectionSummary::default() };
    let summary = GoodputSummary { up: Some(up), ..GoodputSummary::default() };
    let said = verdict(&plan, &summary, (&client, &server), None);
    assert_eq!(said.limit, Limit::ConfiguredPauses);
    let figure = |name: &str| said.evidence.iter().find(|it| it.name == name).map(|it| it.value);
    assert_eq!(figure("paused_share"), Some(0.95));
    assert_eq!(figure("seen_held_by_program_share"), Some(0.9));

    let mut still = StoodStill::default();
    still.add(Stretch { start_ns: 2_000_000_000, end_ns: 5_000_000_000 });
    let server = End { facts: EndFacts { stood_still: Some(&still), ..facts }, ..server };
    let said = verdict(&plan, &summary, (&client, &server), None);
    assert_eq!(said.limit, Limit::ReceiverStopped);
    assert!(said.text.contains("30.0 % of the time"), "{}", said.text);
}

/// What speaks against what the rules say.
#[test]
fn where_each_way_has_connections_of_its_own_the_others_say_nothing_of_it() {
    let words = "-c 1 -t 10s --pattern bidir --rate [10Mbit,90Mbit] --seed 3";
    let plan: GoodputPlan = crate::goodput::args::tests::plan(words).expect("a plan");
    let rates = [0, 1].map(|flow| plan.rate_of(FlowId(flow)).expect("a rate").0);
    assert_ne!(rates[0], rates[1]);
    let rates = rates.map(|rate| rate as f64);
    let way = |goodput_bps| Some(DirectionSummary { goodput_bps, ..DirectionSummary::default() });
    let summary = GoodputSummary {
        up: way(Some(rates[0] / 2.0)),
        down: way(Some(rates[1])),
        ..GoodputSummary::default()
    };
    let flow = |sent_bytes, busy_ns| FlowFacts {
        sent_bytes,
        tcp: Some(TcpFacts { busy_ns: Some(busy_ns), ..TcpFacts::default() }),
        ..FlowFacts::default()
    };
    let own = GoodputReport {
        flows: vec![flow(9, 9_000_000_000), flow(0, 0)],
        ..GoodputReport::default()
    };
    let facts = EndFacts { elapsed_ns: 10_000_000_000, ..EndFacts::default() };
    let end = End { own: &own, facts };
    let told = Facts::of(&plan, &summary, (&end, &end), None);
    assert_eq!((told.rate, told.busy), (Some(0.5), Some(0.9)));
}

fn doubts(facts: &Facts) -> String {
    facts.doubts(facts.limit()).join("; ")
}

#[test]
fn a_verdict_far_from_all_thresholds_is_sure() {
    for facts in [
        Facts { rate: Some(0.99), ..idle() },
        Facts { sender_cpu: Some(0.97), ..idle() },
        Facts { sender_wait: Some(0.7), ..idle() },
        Facts { looks: Some(40), ..seen(Seen { path: 0.9, ..HELD }) },
        Facts { looks: Some(40), ..seen(Seen { send_buffer: 0.9, ..HELD }) },
        Facts { looks: Some(40), ..seen(Seen { receive_window: 0.9, ..HELD }) },
        // A buffer that was full while its data was in the path's queue.
        seen(Seen { send_buffer: 0.9, queued: 0.9, ..HELD }),
        Facts { sender_still: Some((3_000_000_000, 0.3)), sender_wait: Some(0.2), ..idle() },
        // What was reached was reached, whoever waited.
        Facts { rate: Some(0.99), sender_wait: Some(0.3), stolen: Some(0.3), ..idle() },
    ] {
        assert_eq!(doubts(&facts), "", "{facts:?}");
    }
}

#[test]
fn a_verdict_that_another_threshold_would_change_is_not_sure() {
    for (facts, doubt) in [
        (Facts { rate: Some(0.955), ..idle() }, "its figures are near their thresholds"),
        (
            Facts { rate: Some(0.93), ..seen(Seen { path: 0.9, ..HELD }) },
            "the configured rate was nearly reached",
        ),
        (
            Facts { receiver_cpu: Some(0.85), ..seen(Seen { path: 0.9, ..HELD }) },
            "the receiver's CPU was nearly used up",
        ),
        (
            seen(Seen { send_buffer: 0.39, queued: 0.1, path: 0.61, ..Seen::default() }),
            "the send buffer held it at times; its figures are near their thresholds",
        ),
        // 200 Mbit/s, 4 ms, cubic: a larger buffer brought a third more.
        (
            seen(Seen { send_buffer: 0.47, queued: 0.2, path: 0.51, ..Seen::default() }),
            "its figures are near their thresholds",
        ),
        // 20 Mbit/s, 4 ms: a larger buffer brought 8 %.
        (
            seen(Seen { send_buffer: 0.63, queued: 0.39, path: 0.37, ..Seen::default() }),
            "its figures are near their thresholds",
        ),
        // A queue that ran empty now and then, or not.
        (
            seen(Seen { send_buffer: 0.9, queued: 0.8, ..HELD }),
            "the path held it at times; its figures are near their thresholds",
        ),
        (
            seen(Seen { send_buffer: 0.9, queued: 0.84, ..HELD }),
            "its figures are near their thresholds",
        ),
    ] {
        assert_eq!(doubts(&facts), doubt, "{:?} of {facts:?}", facts.limit());
    }
}

#[test]
fn a_verdict_on_a_machine_that_others_use_is_not_sure() {
    let path = |facts| Facts { seen: Some(Seen { path: 0.9, ..HELD }), ..facts };
    for (facts, doubt) in [
        (
            path(Facts { receiver_wait: Some(0.2), ..idle() }),
            "a thread waited for a processor for 20.0 % of the time",
        ),
        (path(Facts { stolen: Some(0.12), ..idle() }), "the hypervisor took 12.0 % of a processor"),
        (path(Facts { looks: Some(11), ..idle() }), "11 looks at the sockets is little"),
        (
            Facts { sender_cpu: Some(0.97), stolen: Some(0.12), ..idle() },
            "the hypervisor took 12.0 % of a processor",
        ),
    ] {
        assert_eq!(doubts(&facts), doubt, "{facts:?}");
    }
}

/// The grid's cells (`cargo xtask verdicts`) in which something else was true than was said.
#[test]
fn a_rest_that_buffers_bridge_holds_nothing_back() {
    let still = |share: f64| Some(((share * 4.5e9) as u64, share));
    let looks = |path, program| seen(Seen { program, path, ..Seen::default() });
    // A quota's pauses at the sender, 60 Mbit/s: its sockets had enough, and goodput was 5 % less.
    let bridged = Facts { sender_still: still(0.136), busy: Some(0.92), ..looks(0.961, 0.039) };
    named(&bridged, Limit::Network);
    // Stopped for three fifths of the time, and its sockets ran empty.
    named(&Facts { busy: Some(0.49), sender_still: still(0.58), ..bridged }, Limit::SenderStopped);
    // A receiver stopped for half of the time, whose buffers take in what comes: 20 Mbit/s, 8 connections.
    let bridged = Facts {
        receiver_still: still(0.525),
        busy: Some(1.0),
        stalled: Some(0.0),
        ..seen(Seen { path: 0.934, receive_window: 0.066, ..Seen::default() })
    };
    named(&bridged, Limit::Network);
    named(&Facts { stalled: Some(0.42), ..bridged.clone() }, Limit::ReceiverStopped);
    // 200 Mbit/s, 8 connections: half of it was lost, and most looks saw some of it acknowledged.
    let trickles = Facts { stalled: Some(0.045), ..bridged.clone() };
    named(&trickles, Limit::ReceiverStopped);
    assert_eq!(doubts(&trickles), "what came meanwhile may have been taken in all the same");
    // Where nobody counted, standing still is what is known.
    named(&Facts { stalled: None, ..bridged }, Limit::ReceiverStopped);
}

#[test]
fn a_sender_that_waits_for_its_processor_while_its_sockets_are_full_loses_nothing() {
    let waits =
        Facts { sender_wait: Some(0.7), busy: Some(0.99), ..seen(Seen { path: 0.9, ..HELD }) };
    named(&waits, Limit::Network);
    named(&Facts { busy: Some(0.4), ..waits }, Limit::SenderCpu);
    // 200 Mbit/s: its last segments were always on their way, and nothing was left to send.
    let empty = Seen { program: 0.837, path: 0.14, ..Seen::default() };
    let waits = Facts { sender_wait: Some(0.76), busy: Some(1.0), ..seen(empty) };
    named(&waits, Limit::SenderCpu);
}

#[test]
fn pauses_are_named_where_data_is_on_its_way_for_half_of_each() {
    // 20 Mbit/s and 40 ms: each burst takes 30 ms to leave and 40 ms more to be acknowledged, of 100 ms.
    let paused = Facts {
        paused: Some(0.998),
        busy: Some(0.74),
        ..seen(Seen { program: 0.49, path: 0.51, ..Seen::default() })
    };
    named(&paused, Limit::ConfiguredPauses);
}

#[test]
fn a_receiver_that_waits_for_its_processor_is_sure_where_it_is_seen_to_cost() {
    // 200 Mbit/s, one connection, the path in all looks: with a quota it lost three fifths, beside other programs nothing.
    let path = seen(Seen { path: 1.0, ..Seen::default() });
    let waits = Facts { busy: Some(1.0), receiver_wait: Some(0.7), stalled: Some(0.04), ..path };
    named(&waits, Limit::ReceiverCpu);
    assert_eq!(doubts(&waits), "what came meanwhile may have been taken in all the same");
    assert_eq!(doubts(&Facts { stalled: Some(0.16), ..waits }), "");
}

#[test]
fn a_path_that_all_data_waits_for_is_named_on_a_machine_that_is_full() {
    let full = Facts {
        shared_host_cpu: Some(0.98),
        own_cpu: Some(0.2),
        sender_wait: Some(0.01),
        receiver_wait: Some(0.22),
        busy: Some(1.0),
        ..seen(Seen { path: 0.99, ..Seen::default() })
    };
    named(&full, Limit::Network);
    assert!(doubts(&full).contains("a thread waited for a processor for 22.0 %"), "{full:?}");
    let other = Seen { path: 0.7, send_buffer: 0.3, ..Seen::default() };
    named(&Facts { seen: Some(other), ..full }, Limit::Undetermined);
}
