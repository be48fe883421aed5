//! What is said to ntttcp's senders, word by word (reference/ntttcp.md, section 2), in time that is passed in.

mod several;

use pathscope_core::id::FlowId;
use pathscope_core::record::Host;
use pathscope_flow::{Dialogue as _, GroupId};
use pathscope_modes::goodput::GoodputInterval;
use pathscope_modes::load::Extent;
use pathscope_modes::registry::Plan;

use super::super::words::NtttcpWords;
use super::*;
use crate::limits::Limits;
use crate::operator::OperatorWords as _;

const START_NS: u64 = 1_000;

fn at(milliseconds: u64) -> Tick {
    Tick::from_nanos(START_NS + milliseconds * 1_000_000)
}

fn settings() -> ServerSettings {
    ServerSettings {
        identity: None,
        host: Host::default(),
        limits: Limits { duration_ns: Some(Period::from_secs(600)), ..Limits::NONE },
        congestion_controls: Vec::new(),
        wants_ends: false,
        stated: NtttcpWords::default().tests().expect("it makes sense").pop(),
        rate: None,
        is_of_several: false,
    }
}

/// What is asked for now, a word each.
fn asked(server: &mut NtttcpServer) -> Vec<String> {
    let word = |output: Asked| match output {
        Output::Send(bytes) => {
            format!("say {}", i32::from_be_bytes(bytes.try_into().expect("four bytes")))
        }
        Output::Prepare { plan, .. } => {
            let (what, connections, extent) = match plan.plan {
                Plan::Goodput(plan) => (String::new(), plan.connections, plan.extent),
                Plan::Datagrams(plan) => {
                    (format!(" of {}", plan.datagram_bytes), plan.connections, plan.extent)
                }
                _ => panic!("it is a load"),
            };
            let Extent::DurationNs(duration) = extent else { panic!("it lasts a time") };
            format!("prepare {connections}{what} for {duration}")
        }
        Output::Start => "start".to_owned(),
        Output::Tell { event, .. } => format!("tell {event:?}"),
        Output::TestOver => "test over".to_owned(),
        Output::End(result) => {
            let told = result.map_or_else(|it: PeerError| it.to_string(), |()| "well".to_owned());
            format!("end: {told}")
        }
        _ => "what nobody hears".to_owned(),
    };
    std::iter::from_fn(|| server.output()).map(word).collect()
}

fn hear(server: &mut NtttcpServer, word: i32, ms: u64) -> Vec<String> {
    server.input(Input::Received(&word.to_be_bytes()), at(ms));
    asked(server)
}

/// One that has a sender for so many seconds, of which so many connections have come.
fn gathering(seconds: i32, connections: u32) -> NtttcpServer {
    let mut server = NtttcpServer::new(settings(), true, at(0));
    assert_eq!(hear(&mut server, QUERY, 0), ["say 11"]);
    assert_eq!(hear(&mut server, seconds, 0), [format!("say {seconds}")]);
    assert!(server.counts_connections());
    (0..connections).for_each(|_| server.input(Input::Came, at(0)));
    assert!(asked(&mut server).is_empty());
    server
}

/// The same when no more come.
fn counted(server: &mut NtttcpServer) -> Vec<String> {
    let deadline = server.deadline().expect("it waits");
    server.input(Input::Deadline, deadline);
    asked(server)
}

/// The same when its test has begun, which is after a tenth of a second.
fn running(connections: u32) -> NtttcpServer {
    let mut server = gathering(10, connections);
    assert!(hear(&mut server, START, 0).is_empty());
    assert_eq!(server.deadline(), Some(at(100)));
    assert_eq!(counted(&mut server), [format!("prepare {connections} for 10 s")]);
    assert!(!server.counts_connections());
    server.input(Input::Prepared(Vec::new()), at(100));
    for flow in 0..connections {
        assert!(asked(&mut server).is_empty(), "not all are there");
        server.input(Input::Attached { group: GroupId(0), flow: FlowId(flow) }, at(100));
    }
    assert_eq!(asked(&mut server), ["start".to_owned(), format!("say {START}")]);
    server
}

#[test]
fn data_comes_before_the_test_from_who_waits_for_no_words_and_from_nobody_else() {
    assert_eq!(NtttcpServer::new(settings(), false, at(5)).comes_since(), Some(at(5)));
    assert_eq!(NtttcpServer::new(settings(), true, at(5)).comes_since(), None);
}

fn over(server: &mut NtttcpServer, ms: u64) -> Vec<String> {
    server.input(Input::Over(Box::<EndReport>::default()), at(ms));
    asked(server)
}

#[test]
fn a_test_is_of_the_connections_that_are_there_when_its_sender_begins() {
    let mut server = running(3);
    assert_eq!(hear(&mut server, END, 9_000), ["say 13"]);
    assert_eq!(over(&mut server, 9_100), ["test over", "end: well"]);
    assert_eq!(server.deadline(), None);
}

#[test]
fn one_that_says_nothing_of_its_end_has_ended_well_when_its_time_is_over_and_else_is_gone() {
    let gone = "end: the client closed the connection while the test ran";
    for (ms, end) in [(10_090, "end: well"), (9_200, "end: well"), (9_000, gone)] {
        // Whatever comes first.
        let mut server = running(1);
        assert!(over(&mut server, ms).is_empty(), "it may still say something");
        server.input(Input::ControlClosed, at(ms + 1));
        assert_eq!(asked(&mut server), ["test over", end], "{ms}");
        let mut server = running(1);
        server.input(Input::ControlClosed, at(ms));
        assert_eq!(over(&mut server, ms), ["test over", end], "{ms}");
        let mut server = running(1);
        over(&mut server, ms);
        assert_eq!(counted(&mut server), ["test over", end], "nothing more is heard of it");
    }
    let mut server = running(1);
    over(&mut server, 5_000);
    assert_eq!(hear(&mut server, END, 5_001), ["say 13", "test over", "end: well"]);
}

#[test]
fn words_come_in_whatever_pieces_and_mean_what_their_place_says() {
    for seconds in [69, 76, 82, 88] {
        let mut server = NtttcpServer::new(settings(), true, at(0));
        let said = [QUERY.to_be_bytes(), i32::to_be_bytes(seconds)].concat();
        let heard: Vec<String> = said
            .iter()
            .flat_map(|byte| {
                server.input(Input::Received(&[*byte]), at(0));
                asked(&mut server)
            })
            .collect();
        assert_eq!(heard, ["say 11".to_owned(), format!("say {seconds}")]);
    }
}

#[test]
fn an_endless_sender_is_told_for_how_long_it_may_send_and_a_longer_one_that_it_may_not() {
    let mut server = NtttcpServer::new(settings(), true, at(0));
    hear(&mut server, QUERY, 0);
    assert_eq!(hear(&mut server, 0, 0), ["say 600"]);
    let mut server = gathering(601, 1);
    hear(&mut server, START, 0);
    let told = counted(&mut server);
    assert_eq!(told[0], "say 69");
    assert!(told[1].contains("601 s") && told[1].contains("600 s"), "{told:?}");
    let mut server = gathering(10, 1);
    server.input(Input::Unable { code: "unable", sentence: "there is no room" }, at(0));
    hear(&mut server, LAST, 0);
    assert_eq!(counted(&mut server), ["say 69", "end: refused by the server: there is no room"]);
}

#[test]
fn what_no_sender_says_is_told() {
    let mut server = NtttcpServer::new(settings(), true, at(0));
    let told = hear(&mut server, i32::from_be_bytes(*b"GET "), 0);
    assert!(told[0].contains("asks first whether this end is busy"), "{told:?}");
    let mut server = NtttcpServer::new(settings(), true, at(0));
    hear(&mut server, QUERY, 0);
    assert!(hear(&mut server, -5, 0)[0].contains("asked for -5 seconds"));
    assert!(hear(&mut gathering(10, 1), 4_711, 0)[0].contains("it said 4711"));
    let told = hear(&mut gathering(10, 1), END, 0);
    assert!(told[0] == "say 13" && told[1].contains("it said that it ends"), "{told:?}");
}

#[test]
fn one_that_is_silent_or_gone_before_it_begins_costs_its_own_session() {
    let silent = |mut server: NtttcpServer| counted(&mut server).join(", ");
    let mut asking = NtttcpServer::new(settings(), true, at(0));
    hear(&mut asking, QUERY, 0);
    assert!(silent(asking).contains("say how long its test takes"));
    assert!(silent(gathering(10, 1)).contains("make another connection"));
    assert!(silent(NtttcpServer::new(settings(), true, at(0))).contains("ask whether"));
    let mut server = gathering(10, 1);
    server.input(Input::ControlClosed, at(1));
    assert!(asked(&mut server)[0].contains("the client closed the connection"));
}

#[test]
fn one_whose_connections_stay_is_ended_and_so_is_one_that_goes_on_or_stands_still() {
    let moves = |server: &mut NtttcpServer, ms| {
        let goodput = Some(GoodputInterval { received_bytes: 1, ..GoodputInterval::default() });
        let interval = EndInterval { goodput, ..EndInterval::default() };
        server.input(Input::Interval(Box::new(interval)), at(ms));
    };
    let mut server = running(1);
    hear(&mut server, END, 9_000);
    assert_eq!(server.deadline(), Some(at(19_000)));
    assert_eq!(counted(&mut server), ["tell Stop"]);
    assert_eq!(over(&mut server, 19_001), ["test over", "end: well"]);
    let mut server = running(1);
    moves(&mut server, 20_000);
    assert_eq!(server.deadline(), Some(at(25_100)));
    assert_eq!(counted(&mut server), ["tell Stop"]);
    let told = over(&mut server, 25_200);
    assert!(told[1].contains("did not end its test after the time"), "{told:?}");
    let mut server = NtttcpServer::new(settings(), false, at(0));
    server.input(Input::Came, at(50));
    assert_eq!(server.deadline(), Some(at(150)), "others may come");
    assert_eq!(counted(&mut server), ["prepare 1 for 600 s"]);
    server.input(Input::Prepared(Vec::new()), at(150));
    server.input(Input::Attached { group: GroupId(0), flow: FlowId(0) }, at(150));
    assert_eq!(asked(&mut server), ["start"], "there is nobody to be told");
    assert!(counted(&mut server)[0].contains("nothing heard from it"));
}

#[test]
fn it_stops_its_flows_first_and_itself_the_second_time() {
    let mut server = running(1);
    server.input(Input::Stop("a test"), at(200));
    assert_eq!(asked(&mut server), ["tell Stop"]);
    assert_eq!(over(&mut server, 300), ["test over", "end: well"]);
    let mut server = running(1);
    server.input(Input::Stop("a test"), at(200));
    server.input(Input::Stop("a test"), at(201));
    assert!(asked(&mut server)[1].starts_with("end: the server stopped"));
}

/// One that has made no connection when it began, and so is to send datagrams.
fn called() -> NtttcpServer {
    let mut server = gathering(10, 0);
    assert!(hear(&mut server, START, 0).is_empty(), "a connection may be on its way");
    assert!(!server.counts_datagrams());
    assert_eq!(counted(&mut server), [format!("say {START}")]);
    assert!(server.counts_datagrams() && !server.counts_connections());
    server
}

/// The same whose flows run.
fn streaming(flows: u32) -> NtttcpServer {
    let mut server = called();
    for flow in 0..u64::from(flows) {
        server.input(Input::Began { bytes: 1_024 }, at(200 + 50 * flow));
    }
    let last_ms = 150 + 50 * u64::from(flows);
    assert_eq!(server.deadline(), Some(at(last_ms + 100)), "others may come");
    assert_eq!(counted(&mut server), [format!("prepare {flows} of 1 KiB for 10 s")]);
    assert!(!server.counts_datagrams());
    assert_eq!(server.comes_since(), Some(at(200)), "the first came then");
    server.input(Input::Prepared(Vec::new()), at(last_ms + 100));
    for flow in (0..flows).map(FlowId) {
        server.input(Input::Attached { group: GroupId(0), flow }, at(last_ms + 100));
    }
    assert_eq!(asked(&mut server), ["start"], "it has heard that it may");
    server
}

#[test]
fn who_has_no_connection_sends_datagrams_and_has_as_many_flows_as_begin() {
    let mut server = streaming(3);
    assert_eq!(hear(&mut server, END, 9_500), ["say 13", "tell Stop"]);
    server.input(Input::ControlClosed, at(9_501));
    assert!(asked(&mut server).is_empty(), "its flows hear it once");
    assert_eq!(over(&mut server, 10_050), ["test over", "end: well"]);
}

#[test]
fn one_that_sends_datagrams_has_ended_well_when_it_closes_after_its_time_and_else_is_gone() {
    let gone = "end: the client closed the connection while the test ran";
    for (ms, end) in [(10_200, "end: well"), (9_350, "end: well"), (9_200, gone)] {
        let mut server = streaming(1);
        server.input(Input::ControlClosed, at(ms));
        assert_eq!(asked(&mut server), ["tell Stop"]);
        // What is awaited of what was on its way is none of its time.
        assert_eq!(over(&mut server, ms + 2_000), ["test over", end], "{ms}");
    }
}

#[test]
fn one_of_whom_no_datagram_comes_or_flows_for_ever_costs_its_own_session() {
    let told = counted(&mut called());
    assert!(told[0].contains("did not send a datagram that came here"), "{told:?}");
    let mut server = called();
    let told = hear(&mut server, END, 2_000);
    assert!(told[0] == "say 13" && told[1].contains("it said that it ends"), "{told:?}");
    // Each comes before the time of the one before is over.
    let mut server = called();
    for place in 0..=55 {
        server.input(Input::Began { bytes: 99 }, at(200 + 90 * place));
    }
    assert_eq!(server.deadline(), Some(at(5_200)), "five seconds from the first on");
    assert_eq!(counted(&mut server), ["prepare 56 of 99 B for 10 s"]);
    let mut server = called();
    server.input(Input::Began { bytes: 99 }, at(150));
    server.input(Input::Unable { code: "unable", sentence: "there is no room" }, at(150));
    assert_eq!(asked(&mut server), ["say 69", "end: refused by the server: there is no room"]);
    // Shorter than any that is measured.
    let mut server = called();
    server.input(Input::Began { bytes: 9 }, at(150));
    let told = counted(&mut server);
    assert!(told[0] == "say 69" && told[1].contains("--datagram 9 B is out of range"), "{told:?}");
}
