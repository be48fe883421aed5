//! A receiver that has to say what it received before the other end says what it sent.

use pathscope_core::record::Check;

use super::*;
use crate::results::{Ends, Results};

const ASKED_AT: Tick = Tick::from_nanos(300_000_000);

/// A pull of stated duration, which is told to say its totals in the middle, and the other end to stop a while after.
fn settled(pattern: Pattern) -> (GoodputPlan, Goodput) {
    let plan = plan(pattern, Extent::DurationNs(Period::from_secs(1)));
    let mut sim = sim(&plan, gigabit());
    sim.at(ASKED_AT, Action::Tell { flow: FLOW, role: Role::Client, event: Event::Settle });
    (plan, sim)
}

#[test]
fn totals_are_said_at_once_and_what_comes_afterwards_is_late() {
    let (_, mut sim) = settled(Pattern::Pull);
    sim.run(ASKED_AT.plus_nanos(1));
    let (phase, said) = (sim.client(FLOW).phase(), sim.client(FLOW).totals().received);
    assert_eq!(phase, Phase::Settled, "nothing was waited for");
    assert!(said > 30_000_000, "{said}");
    let outcome = sim.run(LATE);
    assert_eq!(outcome.ended, Ended::Over, "{outcome}");
    let client = sim.client(FLOW);
    assert_eq!((client.error(), client.phase()), (None, Phase::Done));
    assert_eq!(client.totals().received, said, "and never changed");
    let window = client.receiver.counted.window();
    assert!(window.last_ns <= Some(ASKED_AT.as_nanos()), "{window:?}");
    assert!(window.bytes <= said);
    let sent = sim.server(FLOW).totals().sent;
    let late = sim.client_shared().late_bytes;
    assert_eq!(late, Some(sent - said), "all that came is right, and counted once");
    assert_eq!(sim.client_shared().report(Tick::ZERO).received_bytes, said);
}

#[test]
fn one_that_is_closed_or_stopped_afterwards_has_not_failed() {
    let at = ASKED_AT.plus_nanos(5_000_000);
    for last in [
        Action::Stop { role: Role::Client },
        Action::Kill { flow: FLOW, role: Role::Server },
        Action::Reset { flow: FLOW, errno: 104 },
        Action::Tell { flow: FLOW, role: Role::Client, event: Event::PeerFailed },
    ] {
        let (_, mut sim) = settled(Pattern::Pull);
        sim.at(at, last);
        sim.run(LATE);
        assert_eq!((sim.client(FLOW).error(), sim.client(FLOW).phase()), (None, Phase::Done));
    }
}

#[test]
fn both_ways_the_sender_goes_on_as_it_was() {
    let (_, mut sim) = settled(Pattern::Duplex);
    sim.run(ASKED_AT.plus_nanos(1));
    assert_eq!(sim.client(FLOW).phase(), Phase::Running, "it still sends");
    sim.run(LATE);
    let (client, server) = (sim.client(FLOW), sim.server(FLOW));
    assert_eq!((client.error(), server.error()), (None, None));
    assert_eq!(client.totals().sent, server.totals().received);
    assert!(client.totals().received < server.totals().sent);
}

#[test]
fn wrong_bytes_that_come_late_are_still_wrong() {
    let (_, mut sim) = settled(Pattern::Pull);
    sim.edit(FLOW, Role::Server, Edit::Xor { offset: 60_000_000, mask: 1 });
    sim.run(LATE);
    let error = sim.client(FLOW).error().expect("a byte is wrong");
    assert_eq!(error.kind, FlowErrorKind::Data);
}

#[test]
fn no_check_passes_on_what_was_on_its_way() {
    let plan = plan(Pattern::Pull, Extent::DurationNs(Period::from_secs(1)));
    let end = |sent_bytes, received_bytes, late_bytes| GoodputReport {
        sent_bytes,
        received_bytes,
        late_bytes,
        completed: 1,
        ..GoodputReport::default()
    };
    let agree = |client: &GoodputReport, server: &GoodputReport| {
        let checks = plan.checks(&Ends::of_reports(client, Some(server)));
        let agree = |check: &Check| check.name == "counts_agree";
        checks.into_iter().find(agree).expect("both ends have said").passed
    };
    let server = end(900, 0, None);
    for (received, late, passed) in [
        (900, None, Some(true)),
        (800, None, Some(false)),
        (800, Some(100), None),
        (800, Some(0), None),
        (900, Some(0), Some(true)),
        (901, Some(0), Some(false)),
    ] {
        assert_eq!(agree(&end(0, received, late), &server), passed, "{received} {late:?}");
    }
    // What the sender lacks is no matter of what its receiver says early.
    assert_eq!(agree(&end(9, 900, Some(0)), &end(900, 8, None)), Some(false));
}

#[test]
fn what_came_late_is_in_the_report_of_an_end_that_was_asked_and_of_no_other() {
    for (asks, late) in [(false, false), (true, true)] {
        let (plan, mut sim) = settled(Pattern::Pull);
        if !asks {
            sim = super::sim(&plan, gigabit());
        }
        sim.run(LATE);
        let report = GoodputReport {
            late_bytes: sim.client_shared().late_bytes,
            ..GoodputReport::default()
        };
        let json = serde_json::to_value(&report).expect("a report is JSON");
        assert_eq!(json.get("late_bytes").is_some(), late, "{json}");
    }
}
