//! What is said byte by byte, beside what real ends say: as reference/iperf3 and programs of it have it.

use pathscope_core::id::FlowId;
use pathscope_core::quantity::{BitRate, Bytes};
use pathscope_core::record::FlowFacts;
use pathscope_flow::{GroupId, Input, Phase, Totals};
use pathscope_modes::load::{GoodputReport, period_of_whole_blocks};

use super::*;
use crate::dialogue::ClientDialogue as _;
use crate::iperf3::framing::document;

/// What a client of 3.12 says of `-t 10`, `-t 10 -R -P 2`, `-n 1M` and `-t 8 -O 1`.
const FORWARD: &str = r#"{"tcp":true,"omit":0,"time":10,"num":0,"blockcount":0,"parallel":1,"len":131072,"pacing_timer":1000,"client_version":"3.12"}"#;
const REVERSE: &str = r#"{"tcp":true,"omit":0,"time":10,"num":0,"blockcount":0,"parallel":2,"reverse":true,"len":131072,"pacing_timer":1000,"client_version":"3.12"}"#;
const OMITTING: &str = r#"{"tcp":true,"omit":1,"time":9,"num":0,"blockcount":0,"parallel":1,"len":131072,"client_version":"3.12"}"#;
/// What an end says of one stream of so many bytes.
fn results(ids: &[u64], bytes: u64) -> Vec<u8> {
    let stream = |id| {
        format!(
            r#"{{"id":{id},"bytes":{bytes},"retransmits":-1,"jitter":0,"errors":0,"packets":0,"start_time":0,"end_time":10.0}}"#
        )
    };
    let streams: Vec<_> = ids.iter().map(stream).collect();
    let all = format!(
        r#"{{"cpu_util_total":1,"cpu_util_user":0,"cpu_util_system":1,"sender_has_retransmits":-1,"congestion_used":"reno","streams":[{}]}}"#,
        streams.join(",")
    );
    document(all.as_bytes())
}

/// What this end counted on each of so many flows.
fn report(flows: u32, sent_bytes: u64, received_bytes: u64) -> Box<EndReport> {
    let facts =
        |flow| FlowFacts { flow: FlowId(flow), sent_bytes, received_bytes, ..FlowFacts::default() };
    let goodput =
        GoodputReport { flows: (0..flows).map(facts).collect(), ..GoodputReport::default() };
    Box::new(EndReport {
        goodput: Some(goodput),
        elapsed_ns: 10 * SECOND_NS,
        ..EndReport::default()
    })
}

fn attach<D>(end: &mut D, flow: u32)
where
    D: Dialogue<Plan = Test, Interval = EndInterval, Report = EndReport, Error = PeerError>,
{
    end.input(Input::Attached { group: GroupId(0), flow: FlowId(flow) }, NOW);
}

#[test]
fn a_client_that_sends_says_what_real_ones_do() {
    let mut client = client();
    client.propose(load(Pattern::Push, 2), NOW);
    assert_eq!(asked(&mut client), ["37 bytes"]);
    assert!(client.peer_facts().is_none());
    client.input(Input::Received(&[0x09]), NOW);
    assert_eq!(client.peer_facts().expect("it has met it").name, "iperf3");
    let said = client.output();
    let Some(Output::Send(said)) = said else { panic!("parameters are said") };
    let parameters = r#"{"blockcount":0,"client_version":"pathscope","len":65536,"nodelay":true,"num":0,"omit":0,"parallel":2,"tcp":true,"time":10}"#;
    assert_eq!(String::from_utf8_lossy(&said[4..]), parameters);
    client.input(Input::Received(&[0x0a]), NOW);
    assert_eq!(asked(&mut client), ["open"]);
    attach(&mut client, 0);
    // In one segment, before this end knows of its last stream.
    client.input(Input::Received(&[0x01, 0x02]), NOW);
    assert!(asked(&mut client).is_empty());
    attach(&mut client, 1);
    assert_eq!(asked(&mut client), ["start"]);
    client.input(Input::Over(report(2, 500, 0)), at(10_000));
    assert_eq!(asked(&mut client), ["04"]);
    client.input(Input::Received(&[0x0d]), at(10_000));
    assert_eq!(asked(&mut client).len(), 2, "a stop that nobody needs, and results");
    let theirs = [results(&[1, 3], 500), vec![0x0e]].concat();
    for byte in &theirs {
        client.input(Input::Received(&[*byte]), at(10_001));
    }
    let Some(Output::PeerReport(heard)) = client.output() else { panic!("it has reported") };
    let control = heard.sockets.as_ref().and_then(|sockets| sockets.congestion_control.as_deref());
    assert_eq!(control, Some("reno"));
    let heard = heard.goodput.expect("of its streams");
    assert_eq!((heard.received_bytes, heard.window.bytes, heard.flows.len()), (1_000, 1_000, 2));
    assert_eq!(asked(&mut client), ["10", "test over"]);
    client.finish(at(10_001));
    assert!(client.output().is_none(), "the server is to close, so that it takes the next");
    client.input(Input::ControlClosed, at(10_002));
    assert_eq!((asked(&mut client), client.deadline()), (vec!["end".to_owned()], None));
}

#[test]
fn a_client_that_receives_ends_the_test_when_its_time_is_over() {
    let mut client = client();
    client.propose(load(Pattern::Pull, 1), NOW);
    client.input(Input::Received(&[0x09, 0x0a]), NOW);
    attach(&mut client, 0);
    client.input(Input::Received(&[0x01]), NOW);
    client.input(Input::Received(&[0x02]), NOW);
    asked(&mut client);
    assert_eq!(client.deadline(), Some(at(10_000)));
    client.input(Input::Deadline, at(10_000));
    assert_eq!(asked(&mut client), ["all Settle", "all Stop"]);
    client.input(Input::Over(report(1, 0, 700)), at(10_000));
    assert_eq!(asked(&mut client), ["04"]);
    client.input(Input::Received(&[0x0d]), at(10_000));
    client.input(Input::Received(&results(&[1], 900)), at(10_000));
    asked(&mut client);
    client.input(Input::Received(&[0x0e]), at(10_000));
    assert_eq!(asked(&mut client), ["10", "test over"]);
}

/// A client that is to have 700 bytes each way on a stream of each, which are there.
fn transferring() -> Client {
    let mut test = load(Pattern::Bidir, 1);
    if let Plan::Goodput(plan) = &mut test.plan {
        plan.extent = Extent::TransferBytes(Bytes(700));
    }
    let mut client = client();
    client.propose(test, NOW);
    asked(&mut client);
    client.input(Input::Received(&[0x09]), NOW);
    let Some(Output::Send(said)) = client.output() else { panic!("parameters are said") };
    assert!(String::from_utf8_lossy(&said[4..]).contains(r#""num":700,"#));
    client.input(Input::Received(&[0x0a]), NOW);
    (0..2).for_each(|flow| attach(&mut client, flow));
    client.input(Input::Received(&[0x01, 0x02]), NOW);
    asked(&mut client);
    client
}

#[test]
fn a_client_that_is_to_receive_so_much_ends_the_test_when_all_has_come_and_left() {
    let so_far = |client: &mut Client, flow, phase| {
        let (group, flow, totals) = (GroupId(0), FlowId(flow), Totals::default());
        client.input(Input::Phase { group, flow, phase, totals }, at(5));
        asked(client)
    };
    for (first, second) in [(1, 0), (0, 1)] {
        let mut client = transferring();
        let phase = |flow| if flow == 0 { Phase::Done } else { Phase::Settled };
        let before = so_far(&mut client, first, phase(first));
        assert!(!before.contains(&"04".to_owned()), "{before:?}");
        let words = [before, so_far(&mut client, second, phase(second))].concat();
        assert_eq!(words, ["all Settle", "04"]);
        // What it sends meanwhile is taken, so that it hears that.
        client.input(Input::Received(&[0x0d]), at(6));
        assert_eq!(asked(&mut client), ["all Stop"]);
        client.input(Input::Over(report(2, 700, 700)), at(6));
        assert_eq!(asked(&mut client).len(), 1, "results");
    }
}

#[test]
fn a_server_whose_streams_end_before_all_has_come_is_told_of() {
    let mut client = transferring();
    client.input(Input::Over(report(2, 700, 0)), at(5));
    let words = asked(&mut client);
    let told = "while the test ran: its streams ended after 0 of 700 bytes";
    assert!(words.last().is_some_and(|last| last.ends_with(told)), "{words:?}");
}

/// A server whose streams are there, of this test.
fn running(parameters: &str, streams: u32) -> Server {
    let mut server = server(Limits::NONE);
    assert_eq!(asked(&mut server), ["09"]);
    server.input(Input::Received(&document(parameters.as_bytes())), NOW);
    assert_eq!(asked(&mut server), ["prepare"]);
    server.input(Input::Prepared(Vec::new()), NOW);
    assert_eq!(asked(&mut server), ["0a"]);
    (0..streams).for_each(|flow| attach(&mut server, flow));
    assert_eq!(asked(&mut server), ["01 02", "start"]);
    server
}

#[test]
fn a_server_that_receives_has_all_that_was_sent_before_it_says_its_results() {
    let mut server = running(FORWARD, 1);
    server.input(Input::Received(&[0x04]), at(10_000));
    assert_eq!(asked(&mut server), ["0d", "all Stop"]);
    server.input(Input::Received(&results(&[1], 500)), at(10_001));
    assert_eq!(asked(&mut server), ["report", "0 PeerTotal(500)"]);
    server.input(Input::Over(report(1, 0, 500)), at(10_002));
    let said = server.output();
    let Some(Output::Send(said)) = said else { panic!("results are said") };
    let said = String::from_utf8_lossy(&said[4..]).into_owned();
    assert!(said.contains(r#""bytes":500"#) && said.contains(r#""id":1"#), "{said}");
    assert!(said.contains(r#""sender_has_retransmits":-1"#), "{said}");
    assert_eq!(asked(&mut server), ["0e"]);
    server.input(Input::Received(&[0x10]), at(10_003));
    assert_eq!(asked(&mut server), ["test over", "end"]);
}

#[test]
fn who_takes_its_own_time_for_the_servers_is_told_what_came_in_that_time() {
    for (version, last_ms, bytes) in
        [("3.12", 20_000, 500), ("3.1.3", 20_000, 250), ("3.1.3", 10_400, 500), ("3.1.3", 0, 500)]
    {
        let parameters = FORWARD.replace("3.12", version);
        let mut server = running(&parameters, 1);
        server.input(Input::Received(&[0x04]), at(10_000));
        server.input(Input::Received(&results(&[1], 500)), at(10_001));
        asked(&mut server);
        let mut report = report(1, 0, 500);
        report.elapsed_ns = 20 * SECOND_NS;
        let goodput = report.goodput.as_mut().expect("it is one");
        goodput.window.last_ns = Some(last_ms * 1_000_000);
        server.input(Input::Over(report), at(20_000));
        let Some(Output::Send(said)) = server.output() else { panic!("results are said") };
        let said = String::from_utf8_lossy(&said[4..]).into_owned();
        assert!(said.contains(&format!(r#""bytes":{bytes},"#)), "{version}: {said}");
    }
}

#[test]
fn a_server_does_not_wait_for_ever_for_what_was_sent() {
    let mut server = running(FORWARD, 1);
    server.input(Input::Received(&[0x04]), at(10_000));
    server.input(Input::Received(&results(&[1], 500)), at(10_000));
    asked(&mut server);
    server.input(Input::Deadline, at(13_000));
    assert_eq!(asked(&mut server), ["all Settle", "all Stop"]);
    server.input(Input::Over(report(1, 0, 300)), at(13_001));
    assert_eq!(asked(&mut server).len(), 2, "results, and that all is said");
    // Older ones just close.
    server.input(Input::ControlClosed, at(13_002));
    assert_eq!(asked(&mut server), ["test over", "end"]);
}

#[test]
fn a_server_that_sends_reports_when_it_has_stopped_and_the_client_has_reported() {
    let mut server = running(REVERSE, 2);
    server.input(Input::Received(&[0x04]), at(10_000));
    assert_eq!(asked(&mut server), ["0d", "all Stop"]);
    server.input(Input::Over(report(2, 900, 0)), at(10_001));
    assert!(server.output().is_none());
    server.input(Input::Received(&results(&[1, 3], 800)), at(10_002));
    let said = asked(&mut server);
    assert_eq!((said.len(), said[0].as_str(), said[2].as_str()), (3, "report", "0e"));
}

#[test]
fn what_was_sent_in_a_warm_up_is_not_told_so_that_the_rest_is_settled() {
    let mut server = running(OMITTING, 1);
    server.input(Input::Received(&[0x04]), at(10_000));
    asked(&mut server);
    server.input(Input::Received(&results(&[1], 500)), at(10_001));
    assert_eq!(asked(&mut server), ["report", "all Settle", "all Stop"]);
}

#[test]
fn what_cannot_be_granted_is_declined_by_its_number() {
    let short = Limits { duration_ns: Some(Period::from_secs(5)), ..Limits::NONE };
    let few = Limits { connections: Some(1), ..Limits::NONE };
    let slow = Limits { datagram_rate_bps: Some(BitRate(1_000_000)), ..Limits::NONE };
    for (limits, said, number, told) in [
        (short, FORWARD, 37, "10 s is longer than its limit of 5 s"),
        (few, REVERSE, 6, "more than its limit of 1 a session"),
        // Of all streams that it would send on together; no rate is the highest there is.
        (
            slow,
            r#"{"udp":true,"reverse":true,"time":9,"parallel":3,"bandwidth":400000}"#,
            27,
            "1.200 Mbit/s in all",
        ),
        (slow, r#"{"udp":true,"bidirectional":true,"time":9}"#, 27, "as fast as it can is more"),
        (Limits::NONE, r#"{"parallel":129}"#, 6, "'parallel' is out of range: 1 to 128"),
        (Limits::NONE, r#"{"sctp":true}"#, 18, "no SCTP"),
        (Limits::NONE, "[]", 114, "cannot be read"),
    ] {
        let mut server = server(limits);
        asked(&mut server);
        server.input(Input::Received(&document(said.as_bytes())), NOW);
        let words = asked(&mut server);
        assert_eq!(words[0], format!("fe 00 00 00 {number:02x} 00 00 00 00"), "{said}");
        assert!(words[1].contains(told), "{said}: {}", words[1]);
        assert_eq!(words.len(), 2);
    }
}

#[test]
fn what_its_client_sends_and_what_gives_way_to_others_has_no_cap() {
    let limits = Limits { datagram_rate_bps: Some(BitRate(1_000_000)), ..Limits::NONE };
    for said in [
        r#"{"udp":true,"time":9,"bandwidth":9000000}"#,
        r#"{"udp":true,"reverse":true,"time":9,"parallel":2,"bandwidth":500000}"#,
        r#"{"tcp":true,"reverse":true,"time":9}"#,
    ] {
        let mut server = server(limits);
        asked(&mut server);
        server.input(Input::Received(&document(said.as_bytes())), NOW);
        assert!(matches!(server.output(), Some(Output::Prepare { .. })), "{said}");
    }
}

#[test]
fn a_test_that_its_client_ends_lasts_as_long_as_any_may() {
    let limits = Limits { duration_ns: Some(Period::from_secs(60)), ..Limits::NONE };
    let seconds = Extent::DurationNs(Period::from_secs(60));
    let each = |bytes| Extent::TransferBytes(Bytes(bytes));
    for (said, extent) in [
        (r#"{"time":0}"#, seconds),
        (r#"{"time":0,"num":1048576,"omit":1}"#, seconds),
        // Of all streams together, and no block is cut.
        (r#"{"time":0,"num":1000001,"parallel":4}"#, each(250_001)),
        (r#"{"time":0,"blockcount":9,"parallel":2,"bidirectional":true}"#, each(5 << 17)),
        (r#"{"time":0,"blockcount":9,"parallel":2,"len":1000,"reverse":true}"#, each(5_000)),
    ] {
        let mut server = server(limits);
        asked(&mut server);
        server.input(Input::Received(&document(said.as_bytes())), NOW);
        let Some(Output::Prepare { plan, .. }) = server.output() else { panic!("{said}") };
        let flows = plan.groups()[0].flows;
        let Plan::Goodput(plan) = plan.plan else { panic!("a load") };
        assert_eq!(plan.extent, extent, "{said}");
        server.input(Input::Prepared(Vec::new()), NOW);
        (0..flows).for_each(|flow| attach(&mut server, flow));
        assert_eq!(server.deadline(), Some(at(100_000)), "{said}");
    }
}

#[test]
fn what_is_typed_is_what_a_server_of_ours_understands() {
    let mut test = load(Pattern::Pull, 3);
    if let Plan::Goodput(plan) = &mut test.plan {
        plan.rate_bps = Some(BitRate(5_000_000));
        plan.sockets.send_buffer_bytes = Some(Bytes(1 << 20));
        plan.sockets.receive_buffer_bytes = Some(Bytes(1 << 20));
        plan.sockets.dscp = Some(46);
        plan.sockets.segment_bytes = Some(Bytes(1_000));
        plan.congestion_control = Some("reno".to_owned());
    }
    let mut client = client();
    client.propose(test.clone(), NOW);
    asked(&mut client);
    client.input(Input::Received(&[0x09]), NOW);
    let Some(Output::Send(said)) = client.output() else { panic!("parameters are said") };
    let mut server = server(Limits::NONE);
    asked(&mut server);
    server.input(Input::Received(&said), NOW);
    let Some(Output::Prepare { plan, .. }) = server.output() else { panic!("it is granted") };
    let (Plan::Goodput(asked), Plan::Goodput(granted)) = (&test.plan, &plan.plan) else {
        panic!("loads")
    };
    let of = |plan: &pathscope_modes::goodput::GoodputPlan| {
        (
            plan.pattern,
            plan.connections,
            plan.extent,
            plan.buffer_bytes,
            plan.rate_bps,
            plan.sockets.clone(),
            plan.congestion_control.clone(),
        )
    };
    assert_eq!(of(asked), of(granted));
    // What this server sends at a rate it sends in whole blocks: clients since 3.16 count no part of one.
    let rate = granted.rate_bps.expect("a rate");
    let period = period_of_whole_blocks(rate, granted.buffer_bytes.0, 1);
    assert!(period.is_some());
    assert_eq!(granted.pace.period_ns, period);
}
