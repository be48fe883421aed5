//! Streams that end by the word of the client, which stops both ends, and says then what it has sent.

use super::*;
use crate::conventions::{Conventions, StreamEnd};
use crate::load::Together;
use crate::pattern::Payload;

const STOP_AT: Tick = Tick::from_nanos(1_000_000_000);

/// Ends of which the client says when it is over; of what is sent nobody is told unless the test says so.
fn stopped(plan: &GoodputPlan, there: &GoodputPlan) -> Goodput {
    let conventions = Conventions { end: StreamEnd::Stopped, ..Conventions::OWN };
    let of = |role| if role == Role::Client { plan } else { there };
    let shared = |role| GoodputShared::at(of(role), role, conventions);
    let mut sim = Sim::new(gigabit(), shared(Role::Client), shared(Role::Server));
    let end =
        |role| GoodputFlow::new(plan, role, session(), FLOW).ending(plan, role, conventions.end);
    sim.connect(end(Role::Client), end(Role::Server), Transport::Stream);
    sim
}

#[test]
fn a_server_sends_until_it_is_stopped_whatever_time_was_stated() {
    let plan = plan(Pattern::Pull, Extent::DurationNs(Period::from_millis(300)));
    let mut sim = stopped(&plan, &plan);
    sim.run(STOP_AT);
    assert_eq!(sim.server(FLOW).phase(), Phase::Running);
    sim.at(STOP_AT, Action::Tell { flow: FLOW, role: Role::Client, event: Event::Settle });
    sim.at(STOP_AT, Action::Stop { role: Role::Client });
    sim.at(STOP_AT.plus_nanos(ONE_WAY_NS), Action::Stop { role: Role::Server });
    sim.run(LATE);
    let (client, server) = (sim.client(FLOW), sim.server(FLOW));
    assert_eq!((client.error(), server.error()), (None, None));
    assert_eq!((client.phase(), server.phase()), (Phase::Done, Phase::Done));
    assert!(
        client.totals().received > 100_000_000 && client.totals().received < server.totals().sent
    );
}

#[test]
fn a_client_that_is_to_have_so_much_has_that_and_leaves_the_rest() {
    // Its server was told of no amount.
    let there = plan(Pattern::Pull, Extent::DurationNs(Period::from_secs(60)));
    let mut sim = stopped(&plan(Pattern::Pull, transfer(1_000_001)), &there);
    sim.run(STOP_AT);
    assert_eq!(sim.client(FLOW).phase(), Phase::Done);
    assert_eq!(sim.client(FLOW).totals().received, 1_000_001);
    assert_eq!(sim.client(FLOW).error(), None);
    assert!(sim.client_shared().late_bytes.is_some());
}

#[test]
fn connections_that_receive_together_end_where_their_sum_is_reached_however_unequal() {
    // What is left out of it is compared with nothing.
    let payload = Payload::Opaque;
    let conventions = Conventions { end: StreamEnd::Stopped, payload, ..Conventions::OWN };
    let here = GoodputPlan { connections: 2, ..plan(Pattern::Pull, transfer(500_001)) };
    let forever = Extent::DurationNs(Period::from_secs(60));
    let there = GoodputPlan { connections: 2, ..plan(Pattern::Pull, forever) };
    let together = Together::default();
    let client = GoodputShared::at(&here, Role::Client, conventions);
    let client = client.together(&here, Role::Client, Some(&together));
    let server = GoodputShared::at(&there, Role::Server, conventions);
    let mut sim = Sim::new(gigabit(), client, server);
    for flow in [FlowId(0), FlowId(1)] {
        let end = |role| {
            let plan = if role == Role::Client { &here } else { &there };
            GoodputFlow::new(plan, role, session(), flow).ending(plan, role, conventions.end)
        };
        sim.connect(end(Role::Client), end(Role::Server), Transport::Stream);
    }
    sim.run(STOP_AT);
    let flows = [FlowId(0), FlowId(1)];
    assert_eq!(flows.map(|flow| sim.client(flow).phase()), [Phase::Settled; 2]);
    let received = flows.map(|flow| sim.client(flow).totals().received);
    assert_eq!(received.iter().sum::<u64>(), 1_000_002);
    assert!(sim.client_shared().late_bytes > Some(0), "it goes on to be read");
    sim.at(STOP_AT, Action::Stop { role: Role::Client });
    sim.run(STOP_AT.plus_nanos(1));
    for (flow, before) in flows.into_iter().zip(received) {
        let client = sim.client(flow);
        assert_eq!((client.phase(), client.error()), (Phase::Done, None));
        assert_eq!((client.totals().received, client.is_cut()), (before, false));
    }
}

#[test]
fn more_than_a_client_knows_that_it_sent_is_no_failure() {
    let plan = plan(Pattern::Push, Extent::DurationNs(Period::from_millis(300)));
    let mut sim = stopped(&plan, &plan);
    for (total, at) in [(1_000, STOP_AT), (2_000, STOP_AT.plus_nanos(1))] {
        sim.at(at, Action::Tell { flow: FLOW, role: Role::Server, event: Event::PeerTotal(total) });
    }
    sim.run(LATE);
    let (sent, server) = (sim.client(FLOW).totals().sent, sim.server(FLOW));
    assert_eq!((server.error(), server.phase()), (None, Phase::Done));
    assert_eq!(server.totals().received, sent);
}
