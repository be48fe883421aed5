//! What lagscope's wire carries, and what a server of it is like.

use std::net::Ipv4Addr;

use pathscope_core::id::FlowId;
use pathscope_core::record::Host;
use pathscope_flow::{Dialogue, GroupId, Input, Output};
use pathscope_modes::latency::Timestamps;

use super::*;
use crate::attach::AttachStream;
use crate::limits::Limits;

fn pings(change: impl FnOnce(&mut LatencyPlan)) -> Test {
    let mut plan = LatencyPlan {
        protocol: Protocol::Tcp,
        load_model: LoadModel::Closed,
        extent: Extent::Iterations(10),
        size_bytes: Bytes(4),
        ..LatencyPlan::probe(Frequency(1))
    };
    change(&mut plan);
    Test::new(plan.into(), None, Period::from_millis(100))
}

/// Why a test cannot be asked for.
fn refused(change: impl FnOnce(&mut LatencyPlan)) -> Option<String> {
    Lagscope::carries(&pings(change)).err().map(|refusal| refusal.to_string())
}

#[test]
fn it_carries_pings_over_tcp_from_four_bytes_on() {
    assert_eq!(refused(|_| {}), None);
    assert_eq!(refused(|plan| plan.size_bytes = Bytes(1 << 20)), None);
    assert_eq!(refused(|plan| plan.connections = 3), None);
    assert_eq!(refused(|plan| plan.outstanding = 8), None);
}

#[test]
fn what_it_cannot_carry_is_refused_by_the_option_that_asks_for_it() {
    let size = refused(|plan| plan.size_bytes = Bytes(3)).expect("a number has four bytes");
    assert!(size.contains("4 B or longer: --size"), "{size}");
    let reply = refused(|plan| plan.reply_bytes = Some(Bytes(9))).expect("it sends back the same");
    assert!(reply.contains("--reply-size"), "{reply}");
    let pinned = refused(|plan| plan.server_cpus = vec![1]).expect("it is told nothing");
    assert!(pinned.contains("--server-cpu"), "{pinned}");
    for timestamps in [Timestamps::User, Timestamps::Kernel] {
        let datagrams = refused(|plan| {
            (plan.protocol, plan.timestamps) = (Protocol::Udp, timestamps);
        });
        assert!(datagrams.expect("TCP alone").contains("--protocol tcp"));
    }
    let mut beside = pings(|_| {});
    beside = Test::new(beside.plan, Some(LatencyPlan::probe(Frequency(1))), Period::from_secs(1));
    assert!(Lagscope::carries(&beside).is_err(), "nobody says which connection is a probe");
}

#[test]
fn a_connection_says_nothing_for_its_seat_and_hears_nothing() {
    let (flow, lane) = (FlowId(0), pathscope_core::id::Lane::ONLY);
    let seat = Seat { token: TOKEN, group: GroupId(0), flow, lane };
    let connection = Lagscope::attach_stream(seat, None, None);
    assert_eq!((connection.opening(), connection.missing_bytes()), (Vec::new(), 0));
    let joining = Lagscope::accepted((Ipv4Addr::LOCALHOST, 25_001).into()).expect("it has its own");
    assert_eq!(joining.answer, Vec::<u8>::new());
}

#[test]
fn a_server_waits_as_long_as_a_client_may_rest_between_two_pings() {
    let settings = ServerSettings {
        identity: None,
        host: Host::default(),
        limits: Limits::default(),
        congestion_controls: Vec::new(),
        wants_ends: false,
        stated: Some(echo(|_| {})),
        rate: None,
        is_of_several: false,
    };
    let mut server = Lagscope::server(settings, (), [0; 16], Tick::ZERO);
    assert!(matches!(server.output(), Some(Output::Prepare { .. })), "strangers may ask for it");
    server.input(Input::Prepared(Vec::new()), Tick::ZERO);
    server.input(Input::Attached { group: GroupId(0), flow: FlowId(0) }, Tick::ZERO);
    let deadline = server.deadline().expect("it does not wait for ever");
    assert!(deadline >= Tick::from_nanos(SILENCE.0));
    server.input(Input::Deadline, deadline);
    let ended = std::iter::from_fn(|| server.output()).find_map(|output| match output {
        Output::End(Err(error)) => Some(error.to_string()),
        _ => None,
    });
    let text = ended.expect("nothing has moved");
    assert!(text.contains(&SILENCE.to_string()) && text.contains("client"), "{text}");
}
