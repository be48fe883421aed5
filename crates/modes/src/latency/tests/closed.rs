//! Pings whose end is the close of their connection: nobody says how many were sent.

use super::*;
use crate::conventions::StreamEnd;

fn untold(plan: &LatencyPlan) -> Latency {
    let shared = |role| LatencyShared { end: StreamEnd::Closed, ..LatencyShared::new(plan, role) };
    let mut sim = Sim::new(link(), shared(Role::Client), shared(Role::Server));
    let (client, server) =
        (PingFlow::new(plan, session(), FLOW), EchoFlow::new(plan, session(), FLOW));
    sim.connect(client, server, plan.protocol.transport());
    sim
}

#[test]
fn pings_are_echoed_for_as_long_as_they_come_and_the_close_ends_them() {
    let minute = open(Protocol::Tcp, 100_000_000, Period::from_secs(60));
    for (plan, pings) in [(minute, 600), (closed(Protocol::Tcp, 40_000), 40_000)] {
        let (client, server, outcome) = run(untold(&plan));
        assert_eq!((client.sent, client.received, client.lost), (pings, pings, 0), "{outcome}");
        assert_eq!((server.received, server.sent), (pings, pings));
        assert_eq!((client.error, server.error), (None, None));
    }
}

#[test]
fn a_client_that_is_stopped_ends_it_with_whole_pings() {
    let mut sim = untold(&open(Protocol::Tcp, 1_000_000, Period::from_secs(100)));
    sim.at(Tick::from_nanos(20_000_123_456), Action::Stop { role: Role::Client });
    let (client, server, outcome) = run(sim);
    assert_eq!((client.error, server.error), (None, None), "{outcome}");
    assert_eq!((client.sent, client.received), (server.received, server.sent));
    assert!(outcome.at < Tick::from_nanos(20_100_000_000), "{outcome}");
}

#[test]
fn a_connection_that_closes_within_a_ping_has_failed() {
    let mut sim = untold(&closed(Protocol::Tcp, 10));
    sim.edit(FLOW, Role::Client, Edit::Delete { offset: 10 * 64 - 4, len: 4 });
    sim.run(LATE);
    let error = sim.server(FLOW).error().expect("a ping is not whole");
    assert_eq!(error.kind, FlowErrorKind::Network, "{}", error.text);
}
