//! Several senders in one test (reference/ntttcp.md, section 2.3), in time that is passed in.

use pathscope_flow::Participant;

use super::super::super::hearing::WAIT;
use super::*;

/// One whose operator has stated 5 s for all senders.
fn assembling() -> NtttcpServer {
    let words = NtttcpWords::of_several(Period::from_secs(5));
    let stated = words.tests().expect("it makes sense").pop();
    let settings = ServerSettings { stated, is_of_several: true, ..settings() };
    NtttcpServer::new(settings, true, at(0))
}

/// What is asked for now: words to a sender with its number.
fn asked_of(server: &mut NtttcpServer) -> Vec<String> {
    let word = |output: Asked| match output {
        Output::SendTo(Participant(name), bytes) => {
            let word = i32::from_be_bytes(bytes.try_into().expect("four bytes"));
            format!("{name}: {word}")
        }
        Output::Dismiss(Participant(name)) => format!("{name}: closed"),
        Output::Recount => "recount".to_owned(),
        Output::Prepare { plan, .. } => match plan.plan {
            Plan::Goodput(plan) => format!("prepare {}", plan.connections),
            Plan::Datagrams(plan) => {
                format!("prepare {} of {}", plan.connections, plan.datagram_bytes)
            }
            _ => panic!("it is a load"),
        },
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

fn says(server: &mut NtttcpServer, name: u32, word: i32, ms: u64) -> Vec<String> {
    server.input(Input::ParticipantReceived(Participant(name), &word.to_be_bytes()), at(ms));
    asked_of(server)
}

fn closes(server: &mut NtttcpServer, name: u32, ms: u64) -> Vec<String> {
    server.input(Input::ParticipantClosed(Participant(name)), at(ms));
    asked_of(server)
}

/// One more sender comes, and makes so many connections.
fn comes(server: &mut NtttcpServer, name: u32, connections: u32) {
    server.input(Input::ParticipantCame(Participant(name)), at(0));
    assert_eq!(says(server, name, QUERY, 0), [format!("{name}: 11")]);
    // Whatever it asks for.
    assert_eq!(says(server, name, 99, 0), [format!("{name}: 5")]);
    (0..connections).for_each(|_| server.input(Input::Came, at(0)));
}

/// The same of one that says that it begins, and waits.
fn waits(server: &mut NtttcpServer, name: u32, connections: u32) {
    comes(server, name, connections);
    assert_eq!(says(server, name, START, 0), [format!("{name}: {WAIT}")]);
}

/// When it has waited for what it waits for.
fn late(server: &mut NtttcpServer) -> Vec<String> {
    let deadline = server.deadline().expect("it waits");
    server.input(Input::Deadline, deadline);
    asked_of(server)
}

/// All connections get their places.
fn begins(server: &mut NtttcpServer, connections: u32) -> Vec<String> {
    server.input(Input::Prepared(Vec::new()), at(100));
    for flow in (0..connections).map(FlowId) {
        assert!(asked_of(server).is_empty(), "not all are there");
        server.input(Input::Attached { group: GroupId(0), flow }, at(100));
    }
    asked_of(server)
}

/// One whose test of three senders, each with two connections, runs.
fn running_of_three() -> NtttcpServer {
    let mut server = assembling();
    (0..2).for_each(|name| waits(&mut server, name, 2));
    comes(&mut server, 2, 2);
    assert!(server.counts_connections());
    assert!(says(&mut server, 2, LAST, 0).is_empty(), "connections may be on their way");
    assert_eq!(late(&mut server), ["prepare 6"]);
    assert_eq!(begins(&mut server, 6), ["start", "0: 82", "1: 82", "2: 82"]);
    server
}

fn ends(server: &mut NtttcpServer, ms: u64) -> Vec<String> {
    server.input(Input::Over(Box::<EndReport>::default()), at(ms));
    asked_of(server)
}

#[test]
fn all_begin_when_the_last_has_said_so_and_the_test_is_of_all_connections() {
    let mut server = running_of_three();
    for name in 0..3 {
        assert_eq!(says(&mut server, name, END, 5_100), [format!("{name}: 13")]);
    }
    assert_eq!(ends(&mut server, 5_200), ["test over", "end: well"]);
    assert_eq!(server.deadline(), None);
    // Words behind the end of their connections are heard, too, each.
    let mut server = running_of_three();
    assert!(ends(&mut server, 3_000).is_empty());
    assert_eq!(says(&mut server, 0, END, 3_000), ["0: 13"]);
    assert_eq!(says(&mut server, 1, END, 3_000), ["1: 13"]);
    assert_eq!(says(&mut server, 2, END, 3_000), ["2: 13", "test over", "end: well"]);
    // None says anything when the time is over that was agreed on.
    let mut server = running_of_three();
    assert!(ends(&mut server, 5_110).is_empty());
    assert!(closes(&mut server, 1, 5_111).is_empty() && closes(&mut server, 0, 5_112).is_empty());
    assert_eq!(closes(&mut server, 2, 5_113), ["test over", "end: well"]);
}

#[test]
fn one_that_is_gone_amid_the_test_is_told_of_and_the_others_go_on() {
    let gone = "end: the client closed the connection while the test ran";
    let mut server = running_of_three();
    assert!(closes(&mut server, 1, 1_000).is_empty());
    assert_eq!(says(&mut server, 0, END, 5_100), ["0: 13"]);
    assert_eq!(says(&mut server, 2, END, 5_100), ["2: 13"]);
    assert_eq!(ends(&mut server, 5_200), ["test over", gone]);
}

#[test]
fn seven_wait_and_one_is_the_last_and_each_other_is_told_that_it_has_no_place() {
    let mut server = assembling();
    (0..7).for_each(|name| waits(&mut server, name, 1));
    comes(&mut server, 7, 1);
    assert_eq!(says(&mut server, 7, START, 0), ["7: 69", "recount"]);
    comes(&mut server, 8, 1);
    comes(&mut server, 9, 1);
    assert!(says(&mut server, 8, LAST, 0).is_empty());
    // One has not said in time that it begins, and another comes too late.
    assert_eq!(says(&mut server, 9, LAST, 0), ["9: 69"]);
    server.input(Input::ParticipantCame(Participant(10)), at(0));
    assert_eq!(says(&mut server, 10, QUERY, 0), ["10: 12"]);
    // Connections of those that have no place are gone, or end with nothing.
    assert_eq!(late(&mut server), ["recount"]);
    server.input(Input::Recounted(8), at(100));
    assert_eq!(asked_of(&mut server), ["prepare 8"]);
    let told = begins(&mut server, 8);
    assert_eq!(told.len(), 9, "{told:?}");
    assert!([7, 9, 10].iter().all(|name| !told.contains(&format!("{name}: 82"))), "{told:?}");
    assert!(closes(&mut server, 7, 200).is_empty());
}

#[test]
fn one_that_waits_and_goes_is_forgotten_with_its_connections() {
    let mut server = assembling();
    (0..2).for_each(|name| waits(&mut server, name, 2));
    // At once, so that what it had takes no room from others.
    assert_eq!(closes(&mut server, 0, 10), ["recount"], "the other waits");
    server.input(Input::Recounted(3), at(10));
    comes(&mut server, 2, 2);
    assert!(says(&mut server, 2, LAST, 20).is_empty());
    assert_eq!(late(&mut server), ["recount"]);
    server.input(Input::Recounted(4), at(120));
    assert_eq!(asked_of(&mut server), ["prepare 4"]);
    assert_eq!(begins(&mut server, 4), ["start", "1: 82", "2: 82"]);
    // Where none is left that waits, nothing is waited for.
    let mut server = assembling();
    waits(&mut server, 0, 1);
    let told = closes(&mut server, 0, 10);
    assert!(told[0] == "recount" && told[1].starts_with("end: the client closed"), "{told:?}");
}

#[test]
fn what_had_no_room_beside_connections_of_one_that_is_gone_costs_the_others_nothing() {
    let unkept = || Input::Unable { code: "unable", sentence: "there is no room" };
    let mut server = assembling();
    (0..2).for_each(|name| waits(&mut server, name, 2));
    server.input(unkept(), at(5));
    assert_eq!(closes(&mut server, 0, 10), ["recount"]);
    server.input(Input::Recounted(2), at(10));
    comes(&mut server, 2, 2);
    assert!(says(&mut server, 2, LAST, 20).is_empty());
    assert_eq!(late(&mut server), ["recount"]);
    server.input(Input::Recounted(4), at(120));
    assert_eq!(asked_of(&mut server), ["prepare 4"]);
}

#[test]
fn one_that_is_gone_or_ends_between_the_count_and_the_begin_is_told_of() {
    let counted = || {
        let mut server = assembling();
        waits(&mut server, 0, 1);
        comes(&mut server, 1, 1);
        assert!(says(&mut server, 1, LAST, 0).is_empty());
        assert_eq!(late(&mut server), ["prepare 2"]);
        server
    };
    let mut server = counted();
    assert!(closes(&mut server, 0, 90).is_empty());
    assert_eq!(begins(&mut server, 2), ["start", "1: 82"]);
    assert_eq!(says(&mut server, 1, END, 5_100), ["1: 13"]);
    let told = ends(&mut server, 5_200);
    assert_eq!(told, ["test over", "end: the client closed the connection while the test ran"]);
    // Where all say that they send nothing there is no test.
    let mut server = counted();
    assert_eq!(says(&mut server, 0, END, 90), ["0: 13"]);
    let told = says(&mut server, 1, END, 91);
    assert!(told[0] == "1: 13" && told[1].starts_with("end: the client closed"), "{told:?}");
}

#[test]
fn one_that_takes_part_is_asked_nothing_and_told_nothing_more() {
    let mut server = running_of_three();
    for _ in 0..100 {
        assert!(says(&mut server, 0, QUERY, 1_000).is_empty());
    }
}

#[test]
fn one_that_says_nothing_or_nonsense_costs_the_others_nothing() {
    let mut server = assembling();
    waits(&mut server, 0, 1);
    server.input(Input::ParticipantCame(Participant(1)), at(0));
    assert_eq!(says(&mut server, 1, i32::from_be_bytes(*b"GET "), 0), ["1: closed"]);
    server.input(Input::ParticipantReceived(Participant(1), b"more"), at(0));
    server.input(Input::ParticipantCame(Participant(2)), at(0));
    assert_eq!(server.deadline(), Some(at(15_000)));
    assert_eq!(late(&mut server), ["2: closed"]);
    comes(&mut server, 3, 1);
    assert!(says(&mut server, 3, LAST, 15_000).is_empty());
    assert_eq!(late(&mut server), ["prepare 2"]);
    // Nobody is the last of them for very long.
    let mut server = assembling();
    waits(&mut server, 0, 1);
    let told = late(&mut server);
    assert_eq!(told[..3], ["0: 69", "0: closed", "recount"]);
    assert!(told[3].contains("say that it is the last of the senders (-L) within"), "{told:?}");
    // Nobody comes at all: the system has lost who did.
    assert!(late(&mut assembling())[0].contains("did not ask whether this end is busy"));
}

#[test]
fn several_may_send_datagrams() {
    let mut server = assembling();
    waits(&mut server, 0, 0);
    comes(&mut server, 1, 0);
    assert!(says(&mut server, 1, LAST, 0).is_empty());
    assert_eq!(late(&mut server), ["0: 82", "1: 82"]);
    assert!(server.counts_datagrams());
    (0..2).for_each(|_| server.input(Input::Began { bytes: 1_024 }, at(200)));
    assert_eq!(late(&mut server), ["prepare 2 of 1 KiB"]);
    assert_eq!(begins(&mut server, 2), ["start"]);
    assert_eq!(says(&mut server, 0, END, 5_000), ["0: 13"], "the other goes on");
    assert_eq!(says(&mut server, 1, END, 5_000), ["1: 13", "tell Stop"]);
    assert_eq!(ends(&mut server, 5_500), ["test over", "end: well"]);
}

#[test]
fn more_than_may_be_heard_at_once_are_told_so_and_let_go() {
    let mut server = assembling();
    for name in 0..64 {
        server.input(Input::ParticipantCame(Participant(name)), at(0));
    }
    assert!(asked_of(&mut server).is_empty());
    server.input(Input::ParticipantCame(Participant(64)), at(0));
    assert_eq!(asked_of(&mut server), ["64: 12", "64: closed"]);
}
