//! The dialogue without a control connection, step by step, in time that is passed in.

use pathscope_core::id::FlowId;
use pathscope_core::quantity::{Bytes, Frequency};
use pathscope_core::record::Host;
use pathscope_flow::{GroupId, Phase, Totals};
use pathscope_modes::goodput::{GoodputPlan, Iterations, Shape};
use pathscope_modes::latency::{Extent, LatencyPlan, Protocol};
use pathscope_modes::survey::{self, SurveyOptions};

use super::*;
use crate::limits::Limits;

const NOW: Tick = Tick::from_nanos(1_000);
const TOKEN: Token = Token([3; 16]);

/// Pings over TCP, so many on each of these connections.
fn pings(connections: u32, pings: u64) -> Test {
    let plan = LatencyPlan {
        protocol: Protocol::Tcp,
        extent: Extent::Iterations(pings),
        connections,
        size_bytes: Bytes(64),
        ..LatencyPlan::probe(Frequency(100))
    };
    Test::new(plan.into(), None, Period::from_millis(100))
}

fn server(stated: Option<Test>, limits: Limits) -> InBand {
    let settings = ServerSettings {
        rate: None,
        is_of_several: false,
        identity: None,
        host: Host::default(),
        limits,
        congestion_controls: Vec::new(),
        wants_ends: false,
        stated,
    };
    InBand::server("toy", TOKEN, &settings)
}

/// What is asked for now, a word each.
fn asked(end: &mut InBand) -> Vec<String> {
    let word = |output| match output {
        Output::Open { credentials, .. } => format!("open {}", credentials.token == TOKEN),
        Output::Prepare { credentials, .. } => format!("prepare {}", credentials.token == TOKEN),
        Output::Start => "start".to_owned(),
        Output::Tell { group, flow, event } => format!("tell {} {flow:?} {event:?}", group.0),
        Output::TestOver => "test over".to_owned(),
        Output::End(result) => {
            format!(
                "end: {}",
                result.map_or_else(|it: PeerError| it.to_string(), |()| "well".to_owned())
            )
        }
        _ => "what nobody hears".to_owned(),
    };
    std::iter::from_fn(|| end.output()).map(word).collect()
}

fn attach(end: &mut InBand, flow: u32) {
    end.input(Input::Attached { group: GroupId(0), flow: FlowId(flow) }, NOW);
}

/// A server whose flows run.
fn running() -> InBand {
    let mut server = server(Some(pings(1, 5)), Limits::NONE);
    server.input(Input::Prepared(Vec::new()), NOW);
    attach(&mut server, 0);
    asked(&mut server);
    server
}

#[test]
fn a_client_runs_one_test_after_the_other_and_leaves() {
    let mut client = InBand::client("toy", TOKEN, None);
    client.propose(pings(2, 5), NOW);
    client.propose(pings(1, 5), NOW);
    assert_eq!(asked(&mut client), ["open true"]);
    attach(&mut client, 0);
    assert!(client.output().is_none() && client.peer_facts().is_none());
    attach(&mut client, 1);
    assert_eq!(asked(&mut client), ["start"]);
    assert_eq!(client.peer_facts().expect("it has met it").name, "toy");
    client.input(Input::Over(Box::default()), NOW);
    assert_eq!(asked(&mut client), ["test over", "open true"]);
    attach(&mut client, 0);
    client.input(Input::Over(Box::default()), NOW);
    client.finish(NOW);
    assert_eq!(asked(&mut client), ["start", "test over", "end: well"]);
    assert_eq!(client.deadline(), None);
}

#[test]
fn a_server_runs_what_was_stated_and_tells_nobody_of_its_flows() {
    let mut server = server(Some(pings(2, 5)), Limits::NONE);
    assert_eq!(asked(&mut server), ["prepare true"]);
    server.input(Input::Prepared(Vec::new()), NOW);
    attach(&mut server, 0);
    attach(&mut server, 1);
    assert_eq!(asked(&mut server), ["start"], "where they end is on the flows themselves");
    let (group, flow, totals) = (GroupId(0), FlowId(0), Totals::default());
    server.input(Input::Phase { group, flow, phase: Phase::Done, totals }, NOW);
    assert!(server.output().is_none(), "there is nobody to be told");
    server.input(Input::Over(Box::default()), NOW);
    assert_eq!(asked(&mut server), ["test over", "end: well"]);
}

#[test]
fn a_server_refuses_what_was_not_stated_what_it_does_not_grant_and_what_it_cannot_carry() {
    let limits = Limits { connections: Some(2), ..Limits::NONE };
    let udp = Test::new(LatencyPlan::probe(Frequency(9)).into(), None, Period::from_millis(100));
    for (stated, told) in [
        (None, "it was not told which test such clients run"),
        (Some(pings(3, 5)), "more than its limit of 2 a session"),
        (Some(udp), "no datagrams can be sent"),
    ] {
        let end = asked(&mut server(stated, limits));
        assert!(end.len() == 1 && end[0].contains(told), "{end:?}");
    }
    let mut server = server(Some(pings(1, 5)), limits);
    server.input(Input::Unable { code: "threads", sentence: "it has no thread" }, NOW);
    assert_eq!(
        asked(&mut server),
        ["prepare true", "end: refused by the server: it has no thread"]
    );
}

#[test]
fn loads_and_pings_of_any_extent_are_carried_and_nothing_that_has_to_be_told_of() {
    let options = SurveyOptions {
        connections: 1,
        duration: Period::from_secs(1),
        probe_rate: Frequency(100),
        congestion_control: None,
    };
    for (name, test) in survey::tests(&options, Period::from_millis(100)) {
        let mut over_tcp = test.clone();
        assert!(over_tcp.go_without_datagrams(true), "{name}");
        if let Plan::Goodput(load) = &test.plan {
            let alone = |load: GoodputPlan| Test::new(load.into(), None, test.report_every_ns);
            assert_eq!(carries(&alone(load.clone())), Ok(()), "{name}");
            assert!(carries(&over_tcp).is_err(), "{name}: probes");
            let shape = Shape { iterations: Iterations::Times(2), ..load.shape };
            let replaced = alone(GoodputPlan { shape, ..load.clone() });
            assert!(carries(&replaced).is_err(), "{name}: replaced");
            assert_eq!(carries_to(&replaced, ALONE), Ok(()), "{name}: each ends by itself");
        } else {
            assert_eq!(carries(&over_tcp), Ok(()), "{name}");
        }
        assert!(carries(&test).is_err(), "{name}: datagrams");
    }
    assert_eq!(carries(&pings(9, 5)), Ok(()));
}

#[test]
fn who_leaves_some_connections_out_is_not_waited_for_without_end() {
    let mut server = server(Some(pings(2, 5)), Limits::NONE);
    server.input(Input::Prepared(Vec::new()), NOW);
    asked(&mut server);
    let later = NOW.plus_nanos(ATTACH.0 - 1);
    server.input(Input::Attached { group: GroupId(0), flow: FlowId(0) }, later);
    assert_eq!(server.deadline(), Some(later.plus_nanos(ATTACH.0)), "it was there in time");
    server.input(Input::Deadline, later.plus_nanos(ATTACH.0));
    let end = asked(&mut server);
    assert!(end.len() == 1 && end[0].contains("make the next of its connections"), "{end:?}");
}

#[test]
fn a_test_in_which_nothing_moves_is_given_up() {
    let mut server = running();
    // From one of its pings to the next are 10 ms, and two intervals more are given.
    let quiet = QUIET.0 + 10_000_000 + 200_000_000;
    assert_eq!(server.deadline(), Some(NOW.plus_nanos(quiet)));
    server.input(Input::Interval(Box::default()), NOW.plus_nanos(1));
    assert_eq!(server.deadline(), Some(NOW.plus_nanos(quiet)), "nothing has moved in it");
    server.input(Input::Deadline, NOW.plus_nanos(quiet));
    let end = asked(&mut server);
    assert!(end.len() == 1 && end[0].contains("the client was lost while the test ran"), "{end:?}");
}

#[test]
fn a_stop_has_flows_end_and_a_second_one_waits_for_none() {
    let mut server = running();
    server.input(Input::Stop("it is to end"), NOW);
    assert_eq!(asked(&mut server), ["tell 0 None Stop"]);
    assert_eq!(server.deadline(), Some(NOW.plus_nanos(STOP_TAKES.0)));
    server.input(Input::Stop("it is to end"), NOW);
    let end = asked(&mut server);
    assert_eq!(end, ["end: the server stopped while the test ran: it is to end"]);
    let mut server = running();
    server.input(Input::Stop("it is to end"), NOW);
    server.input(Input::Deadline, NOW.plus_nanos(STOP_TAKES.0));
    let end = asked(&mut server);
    assert!(end.len() == 2 && end[1].contains("did not end within"), "{end:?}");
    assert_eq!(server.deadline(), None);
}

/// Each connection says for itself that it is over.
const ALONE: StreamEnd = StreamEnd::Word(&pathscope_modes::conventions::Parting {
    said: b"end",
    answer: b"it ended",
    message_bytes: 1,
});

/// A load whose connections follow one another.
fn replaced(times: Iterations) -> Test {
    let words = pathscope_modes::load::LoadArgs::usual();
    let mut load = GoodputPlan::of(words).expect("it can be run");
    load.extent = pathscope_modes::load::Extent::TransferBytes(Bytes(9));
    load.warm_up_ns = Period(0);
    load.connections = 3;
    load.shape.iterations = times;
    Test::new(load.into(), None, Period::from_millis(100))
}

#[test]
fn connections_that_follow_one_another_are_awaited_at_the_client_and_taken_as_they_come_at_the_server()
 {
    let mut client = InBand::client("toy", TOKEN, None);
    client.propose(replaced(Iterations::Times(5)), NOW);
    assert_eq!(asked(&mut client), ["open true"]);
    (0..2).for_each(|flow| attach(&mut client, flow));
    assert!(client.output().is_none(), "one of those that are there at once is still to come");
    attach(&mut client, 2);
    assert_eq!(asked(&mut client), ["start"]);

    let test = replaced(Iterations::Forever);
    assert_eq!(further_connections(&test), u64::MAX);
    assert_eq!(further_connections(&pings(4, 5)), 3);
    let settings = ServerSettings {
        rate: None,
        is_of_several: false,
        identity: None,
        host: Host::default(),
        limits: Limits::NONE,
        congestion_controls: Vec::new(),
        wants_ends: false,
        stated: Some(test),
    };
    let mut server = InBand::server_of(("toy", ALONE), TOKEN, &settings);
    server.input(Input::Prepared(Vec::new()), NOW);
    assert_eq!(asked(&mut server), ["prepare true", "start"], "nobody is waited for");
    server.input(Input::Over(Box::default()), NOW);
    assert_eq!(asked(&mut server), ["test over", "end: well"]);
    let mut server = InBand::server("toy", TOKEN, &settings);
    let end = asked(&mut server);
    assert!(end.len() == 1 && end[0].contains("no connection can be replaced"), "{end:?}");
}
