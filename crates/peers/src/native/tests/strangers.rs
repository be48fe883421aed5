//! One end against what another version, a fool or an enemy says.
//!
//! In one file: one list of what strangers say, and what is answered.

mod intervals;
mod proposals;

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Token};
use pathscope_core::record::{FlowError, FlowErrorKind, Host};
use pathscope_flow::{Dialogue, Event, GroupId, Input, Output, Phase, Totals};
use pathscope_modes::groups::Test;
use pathscope_modes::registry::EndReport;
use proptest::prelude::*;

use crate::dialogue::{ClientDialogue as _, ServerSettings};
use crate::limits::Limits;
use crate::native::frame::{BODY_MOST, Decoder, Frame, MessageType};
use crate::native::message::{
    Accept, Beat, FlowEnd, FlowTotal, Hello, Message, Propose, Stop, Welcome,
};
use crate::native::{Client, Greeting, Server, VERSIONS, VersionRange, fixtures};
use crate::{PeerError, Refusal};

const NOW: Tick = Tick::from_nanos(1);

fn server(versions: VersionRange, admission: Result<(), Refusal>) -> Server {
    let settings = ServerSettings {
        rate: None,
        is_of_several: false,
        identity: None,
        host: Host::default(),
        limits: Limits::default(),
        congestion_controls: Vec::new(),
        wants_ends: true,
        stated: None,
    };
    // In frames of version 1, as a client speaks whose opening bears no checksum.
    Server::new(settings, Greeting { versions, hello: None }, admission, [1; 16], NOW)
}

fn hello() -> Message {
    let security = vec!["noise-psk".to_owned(), "none".to_owned()];
    Message::Hello(Box::new(Hello { security, ..Hello::default() }))
}

fn welcome(version: u16, security: &str) -> Message {
    Message::Welcome(Box::new(Welcome {
        version,
        capabilities: Vec::new(),
        security: security.to_owned(),
        limits: Limits::NONE,
        host: Host::default(),
        session: None,
        server: None,
    }))
}

fn say<D: Dialogue>(to: &mut D, message: &Message) {
    to.input(Input::Received(&message.encode().expect("short")), NOW);
}

/// All that a dialogue asks for: the messages it says, and how it ended.
fn outputs<D: Dialogue>(of: &mut D) -> (Vec<Message>, Option<Result<(), D::Error>>) {
    let (mut said, mut ended) = (Vec::new(), None);
    while let Some(output) = of.output() {
        match output {
            Output::Send(bytes) if !bytes.starts_with(&crate::native::MAGIC) => {
                let frame = Decoder::default()
                    .next(&mut &bytes[..], BODY_MOST)
                    .expect("good")
                    .expect("whole");
                said.push(Message::decode(&frame).expect("good").expect("known"));
            }
            Output::End(outcome) => ended = Some(outcome),
            _ => {}
        }
    }
    (said, ended)
}

fn refusal(server: &mut Server) -> Refusal {
    match &outputs(server).0[..] {
        [Message::Refuse(refusal)] => refusal.clone(),
        other => panic!("one refusal, not {other:?}"),
    }
}

#[test]
fn versions_without_a_common_one_are_both_named_with_the_end_to_upgrade() {
    let mut newer = server(VersionRange { least: 7, most: 9 }, Ok(()));
    assert_eq!(
        refusal(&mut newer).to_string(),
        "the client speaks protocol version 7 to 9, the server 1 to 2: none in common; upgrade the server"
    );
    let mut older = server(VersionRange { least: 0, most: 0 }, Ok(()));
    assert!(refusal(&mut older).to_string().ends_with("upgrade the client"));
    let mut wider = server(VersionRange { least: 0, most: 9 }, Ok(()));
    say(&mut wider, &hello());
    assert!(
        matches!(&outputs(&mut wider).0[..], [Message::Welcome(welcome)] if welcome.version == 1)
    );
}

#[test]
fn a_refused_client_is_given_time_to_close_and_no_more() {
    let full = Refusal::new("sessions", "it is full");
    let mut server = server(VERSIONS, Err(full.clone()));
    assert_eq!(refusal(&mut server), full);
    say(&mut server, &hello());
    server.input(Input::Received(b"\xff\xff\xff\xff\xff\xff"), NOW);
    assert_eq!(outputs(&mut server), (Vec::new(), None));
    let deadline = server.deadline().expect("it does not wait for ever");
    server.input(Input::Deadline, deadline);
    assert_eq!(outputs(&mut server), (Vec::new(), Some(Err(PeerError::Refused(full.clone())))));
    assert_eq!(server.deadline(), None);
    // Told by who keeps no session for it, it hears the same.
    let greeting = Greeting { versions: VERSIONS, hello: None };
    let said = crate::native::refused(greeting, &full);
    let frame = Decoder::default().next(&mut said.as_slice(), BODY_MOST).expect("a frame");
    let message = Message::decode(&frame.expect("it is whole")).expect("it is read");
    assert!(matches!(message, Some(Message::Refuse(refusal)) if refusal == full));
}

#[test]
fn a_client_holds_a_server_to_what_was_offered() {
    for (message, words) in [
        (welcome(3, "none"), "chose version 3"),
        (welcome(2, "none"), "frames are of another version than it chose"),
        (welcome(1, "rot13"), "chose 'rot13'"),
        (Message::Started, "'started' has no place there"),
        (hello(), "'hello' has no place there"),
        (Message::Ping(Beat::default()), "'ping' has no place there"),
    ] {
        let mut client = Client::new(Host::default(), NOW);
        say(&mut client, &message);
        let (_, ended) = outputs(&mut client);
        let error = ended.expect("at once").expect_err("a breach").to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn a_server_knows_what_has_no_place_at_its_start() {
    for message in [
        Message::Propose(Propose::new(&fixtures::load(1))),
        Message::Start,
        Message::End,
        Message::Stop(Stop::default()),
        Message::Report(Box::default()),
    ] {
        let mut server = server(VERSIONS, Ok(()));
        say(&mut server, &message);
        let (said, ended) = outputs(&mut server);
        assert!(matches!(ended, Some(Err(PeerError::Breach { .. }))), "{message:?}: {ended:?}");
        assert!(matches!(said[..], [Message::Stop(_)]), "{message:?}: {said:?}");
    }
}

#[test]
fn security_that_nobody_knows_is_refused() {
    let mut server = server(VERSIONS, Ok(()));
    let hello = Hello { security: vec!["noise-psk".to_owned()], ..Hello::default() };
    say(&mut server, &Message::Hello(Box::new(hello)));
    assert!(refusal(&mut server).sentence.ends_with("(noise-psk)"));
}

/// A server that waits for a proposal.
fn idle_server() -> Server {
    let mut server = server(VERSIONS, Ok(()));
    say(&mut server, &hello());
    assert!(matches!(outputs(&mut server), (said, None) if said.len() == 1));
    server
}

#[test]
fn a_flood_of_pings_has_one_answer() {
    let mut server = idle_server();
    let pings: Vec<u8> =
        (0..1_000).flat_map(|id| Message::Ping(Beat { id }).encode().expect("short")).collect();
    server.input(Input::Received(&pings), NOW);
    assert_eq!(outputs(&mut server), (vec![Message::Pong(Beat { id: 999 })], None));
}

#[test]
fn an_idle_client_is_not_kept_for_ever() {
    let mut server = idle_server();
    let mut now = NOW;
    for _ in 0..70 {
        now = server.deadline().map_or(now, |deadline| deadline.max(now));
        server.input(Input::Deadline, now);
        server
            .input(Input::Received(&Message::Pong(Beat::default()).encode().expect("short")), now);
    }
    let error = outputs(&mut server).1.expect("it ended").expect_err("late").to_string();
    assert_eq!(error, "the client did not propose a test within 60 s");
}

/// A server whose client has been granted a test of so many connections and a probe.
fn preparing_server(connections: u32) -> Server {
    let mut server = idle_server();
    say(&mut server, &Message::Propose(Propose::new(&fixtures::load(connections))));
    server.input(Input::Prepared(Vec::new()), NOW);
    outputs(&mut server);
    server
}

/// The time and the sentence of a server that hears no more of its client than pongs, and of a flow
/// that attaches every ten seconds.
fn slow_client(mut server: Server, flows: u32) -> (Tick, String) {
    let (mut now, mut flow) = (NOW, 0);
    while let Some(deadline) = server.deadline() {
        now = deadline.max(now);
        server.input(Input::Deadline, now);
        server
            .input(Input::Received(&Message::Pong(Beat::default()).encode().expect("short")), now);
        if flow < flows && now.as_nanos() / 10_000_000_000 > u64::from(flow) {
            server.input(Input::Attached { group: GroupId(0), flow: FlowId(flow) }, now);
            flow += 1;
        }
    }
    let error = outputs(&mut server).1.expect("it ended").expect_err("late");
    (now, error.to_string())
}

#[test]
fn flows_that_stay_away_end_the_test_whether_or_not_the_client_says_start() {
    let sentence = "the client did not set up the next of the test's flows within 15 s";
    let (at, said) = slow_client(preparing_server(2), 0);
    assert_eq!((at, said.as_str()), (NOW.plus_nanos(15_000_000_000), sentence));
    let mut started = preparing_server(2);
    say(&mut started, &Message::Start);
    let (at, said) = slow_client(started, 0);
    assert_eq!((at, said.as_str()), (NOW.plus_nanos(15_000_000_000), sentence));
}

#[test]
fn flows_that_trickle_in_do_not_hold_a_session_for_ever() {
    // With the probe these have ten seconds each, and keep their pace.
    let (at, _) = slow_client(preparing_server(50), 50);
    assert_eq!(at, NOW.plus_nanos(500_000_000_000));
}

#[test]
fn a_flow_now_and_then_does_not_hold_the_places_of_many() {
    let (at, said) = slow_client(preparing_server(1_000), 1_000);
    // One came, and the second had to be there in its thousandth of the time.
    assert_eq!(at, NOW.plus_nanos(15_000_000_000 + 500_000_000_000 * 2 / 1_001), "{said}");
    let sentence = "the client did not set up the test's flows at a pace that has all of them there within 500 s";
    assert_eq!(said, sentence);
}

/// Another program speaks there: a later connection that it resets or refuses is not what a user has to hear of.
#[test]
fn what_could_not_be_read_is_told_whatever_becomes_of_later_connections() {
    type Ending = fn(&mut Client);
    let refused: Ending = |client| client.input(Input::Unreached, NOW);
    let closed_each_time: Ending = |client| {
        for _ in 0..8 {
            client.input(Input::Reconnected, NOW);
            client.input(Input::ControlClosed, NOW);
        }
    };
    let closed_once: Ending = |client| {
        client.input(Input::Reconnected, NOW);
        client.input(Input::ControlClosed, NOW);
        client.input(Input::Unreached, NOW);
    };
    for end in [refused, closed_each_time, closed_once] {
        let mut client = Client::new(Host::default(), NOW);
        client.input(Input::Received(b"HTTP/1.1 400 Bad Request\r\n\r\n"), NOW);
        end(&mut client);
        let (_, ended) = outputs(&mut client);
        let error = ended.expect("it gives up").expect_err("nobody answered").to_string();
        assert!(error.contains("cannot be read") && error.contains("HTTP/1.1 400"), "{error}");
    }
}

/// A client whose proposal was accepted as `accepted`.
fn accepted_client(proposed: Test, accepted: Test) -> Client {
    let mut client = Client::new(Host::default(), NOW);
    client.propose(proposed, NOW);
    say(&mut client, &welcome(1, "none"));
    let accept = Accept { token: Token([3; 16]), test: accepted, substitutions: Vec::new() };
    say(&mut client, &Message::Accept(Box::new(accept)));
    client
}

#[test]
fn a_test_that_was_not_asked_for_is_not_run() {
    let mut client = accepted_client(fixtures::load(2), fixtures::load(3));
    let (_, ended) = outputs(&mut client);
    assert_eq!(ended, Some(Err(PeerError::OtherTest)));
}

/// A client that runs a test of two connections and a probe.
fn running_client() -> Client {
    running_client_of(&[])
}

/// At a server with these capabilities.
fn running_client_of(asked: &[&str]) -> Client {
    running_client_with(asked, &fixtures::load(2))
}

/// The same with this test, of two connections and a probe.
fn running_client_with(asked: &[&str], test: &Test) -> Client {
    let mut client = Client::new(Host::default(), NOW);
    client.propose(test.clone(), NOW);
    let Message::Welcome(mut greeting) = welcome(1, "none") else { panic!("it is a welcome") };
    greeting.capabilities.extend(asked.iter().map(|name| (*name).to_owned()));
    say(&mut client, &Message::Welcome(greeting));
    let test = test.clone();
    let accept = Accept { token: Token([3; 16]), test, substitutions: Vec::new() };
    say(&mut client, &Message::Accept(Box::new(accept)));
    for (group, flow) in [(0, 0), (0, 1), (1, 2)] {
        client.input(Input::Attached { group: GroupId(group), flow: FlowId(flow) }, NOW);
    }
    say(&mut client, &Message::Started);
    let (said, ended) = outputs(&mut client);
    assert!(said.last() == Some(&Message::Start) && ended.is_none());
    client
}

#[test]
fn a_total_of_no_flow_or_told_twice_is_a_breach() {
    let other_group = FlowTotal { group: GroupId(1), ..total(0) };
    for wrong in
        [vec![total(2)], vec![other_group], vec![total(u32::MAX)], vec![total(1), total(1)]]
    {
        for said in [Message::Totals(wrong.clone()), Message::PackedTotals(wrong)] {
            let mut client = running_client();
            say(&mut client, &said);
            let (_, ended) = outputs(&mut client);
            assert!(matches!(ended, Some(Err(PeerError::Breach { .. }))), "{said:?}: {ended:?}");
        }
    }
}

#[test]
fn totals_are_packed_for_who_can_read_them_and_both_are_heard_alike() {
    for (asked, said) in [
        (&[][..], Message::Totals(vec![total(1)])),
        (&["packed_totals"], Message::PackedTotals(vec![total(1)])),
    ] {
        let mut client = running_client_of(asked);
        sending_done(&mut client, 1);
        client.input(Input::Deadline, NOW.plus_nanos(5_000_000));
        assert_eq!(outputs(&mut client).0, [said]);
        // What comes is read either way, whoever can read what.
        for (flow, heard) in
            [(0, Message::PackedTotals(vec![total(0)])), (1, Message::Totals(vec![total(1)]))]
        {
            say(&mut client, &heard);
            let told = std::iter::from_fn(|| client.output());
            let told = told.filter_map(|output| match output {
                Output::Tell { flow, event: Event::PeerTotal(total), .. } => Some((flow, total)),
                _ => None,
            });
            assert_eq!(told.collect::<Vec<_>>(), [(Some(FlowId(flow)), 9)]);
        }
    }
}

fn damage() -> FlowError {
    let text = "wrong data at byte 4, 1 byte long: 1 bit flipped".to_owned();
    FlowError { kind: FlowErrorKind::Data, text, errno: None }
}

#[test]
fn ends_are_told_to_who_asked_and_come_before_the_report() {
    let failure = |flow| (flow == 1).then(damage);
    let end = |flow| FlowEnd {
        group: GroupId(0),
        flow: FlowId(flow),
        sent: 9,
        received: 4,
        failed: flow == 1,
        failure: failure(flow),
    };
    let ended = |client: &mut Client, flow| {
        let totals = Totals { sent: 9, received: 4 };
        let (group, failure) = (GroupId(0), failure(flow));
        client.input(Input::Ended { group, flow: FlowId(flow), totals, failure }, NOW);
    };
    for (asked, told) in [
        (&[][..], None),
        (&["failures"], Some(vec![end(1)])),
        (&["ended", "failures"], Some(vec![end(1), end(0)])),
    ] {
        let mut client = running_client_of(asked);
        ended(&mut client, 1);
        assert_eq!(outputs(&mut client).0, []);
        ended(&mut client, 0);
        client.input(Input::Over(Box::default()), NOW);
        let (said, _) = outputs(&mut client);
        let told = told.map(Message::Ended);
        let expected: Vec<Message> =
            told.into_iter().chain([Message::Report(Box::default())]).collect();
        assert_eq!(said, expected, "{asked:?}");
    }
    // Heard whether asked or not, any number of times: who takes it knows what it waits for. A flow that failed there
    // is told so.
    let mut client = running_client();
    say(&mut client, &Message::Ended(vec![end(0), end(7), end(0), end(1)]));
    let (mut heard, mut told) = (0, Vec::new());
    while let Some(output) = client.output() {
        match output {
            Output::PeerEnded {
                totals: Totals { sent: 9, received: 4 },
                flow,
                failure: why,
                ..
            } => {
                assert_eq!(why, failure(flow.0));
                heard += 1;
            }
            Output::Tell { flow, event: Event::PeerFailed, .. } => told.push(flow),
            Output::End(_) => panic!("it goes on"),
            _ => {}
        }
    }
    assert_eq!((heard, told), (4, vec![Some(FlowId(1))]));
}

#[test]
fn ends_with_long_reasons_are_told_in_messages_that_can_be_sent() {
    let mut client = running_client_of(&["failures"]);
    let failure = || FlowError { text: "\u{1}".repeat(10_000), ..damage() };
    for flow in 0..300 {
        let (group, flow, totals) = (GroupId(0), FlowId(flow), Totals::default());
        client.input(Input::Ended { group, flow, totals, failure: Some(failure()) }, NOW);
    }
    client.input(Input::Over(Box::default()), NOW);
    let (said, ended) = outputs(&mut client);
    assert_eq!(ended, None);
    let told = said.iter().map(|message| match message {
        Message::Ended(ends) => ends.len(),
        _ => 0,
    });
    assert_eq!(told.sum::<usize>(), 300);
}

#[test]
fn nothing_is_said_of_a_test_after_its_report() {
    let mut client = running_client();
    say(&mut client, &Message::Report(Box::default()));
    assert_eq!(outputs(&mut client), (Vec::new(), None));
    say(&mut client, &Message::Report(Box::default()));
    assert!(matches!(outputs(&mut client).1, Some(Err(PeerError::Breach { .. }))));
}

fn sending_done<D: Dialogue>(dialogue: &mut D, flow: u32) {
    let totals = Totals { sent: 9, received: 0 };
    let (group, flow) = (GroupId(0), FlowId(flow));
    dialogue.input(Input::Phase { group, flow, phase: Phase::SendingDone, totals }, NOW);
}

fn total(flow: u32) -> FlowTotal {
    FlowTotal { group: GroupId(0), flow: FlowId(flow), total: 9 }
}

#[test]
fn totals_are_gathered_for_a_moment_and_told_before_the_report() {
    let mut client = running_client();
    sending_done(&mut client, 1);
    assert_eq!(outputs(&mut client).0, []);
    let soon = NOW.plus_nanos(5_000_000);
    assert_eq!(client.deadline(), Some(soon));
    client.input(Input::Deadline, soon);
    assert_eq!(outputs(&mut client).0, [Message::Totals(vec![total(1)])]);

    sending_done(&mut client, 1);
    sending_done(&mut client, 0);
    client.input(Input::Over(Box::default()), NOW);
    let (said, _) = outputs(&mut client);
    assert_eq!(said, [Message::Totals(vec![total(0)]), Message::Report(Box::default())]);
}

#[test]
fn the_total_of_a_flow_that_fails_before_the_start_is_told_after_it() {
    let mut server = preparing_server(1);
    sending_done(&mut server, 0);
    for (group, flow) in [(0, 0), (1, 1)] {
        server.input(Input::Attached { group: GroupId(group), flow: FlowId(flow) }, NOW);
    }
    let later = NOW.plus_nanos(500_000_000);
    server.input(Input::Deadline, later);
    assert_eq!(outputs(&mut server).0, []);
    server.input(Input::Received(&Message::Start.encode().expect("short")), later);
    assert_eq!(server.deadline(), Some(NOW.plus_nanos(5_000_000)));
    server.input(Input::Deadline, later);
    let (said, _) = outputs(&mut server);
    assert_eq!(said, [Message::Started, Message::Totals(vec![total(0)])]);
}

#[test]
fn the_sockets_of_a_test_are_closed_before_its_end_is_told() {
    let mut client = running_client();
    say(&mut client, &Message::Report(Box::default()));
    client.input(Input::Over(Box::default()), NOW);
    let end = Message::End.encode().expect("short");
    let mut order = Vec::new();
    while let Some(output) = client.output() {
        match output {
            Output::TestOver => order.push("close"),
            Output::Send(bytes) if bytes == end => order.push("tell"),
            _ => {}
        }
    }
    assert_eq!(order, ["close", "tell"]);
}

#[test]
fn an_end_that_was_suspended_asks_before_it_judges() {
    let mut client = running_client();
    let much_later = NOW.plus_nanos(60_000_000_000);
    client.input(Input::Deadline, much_later);
    assert_eq!(outputs(&mut client), (vec![Message::Ping(Beat { id: 1 })], None));
    assert_eq!(client.deadline(), Some(much_later.plus_nanos(9_000_000_000)));
}

proptest! {
    #[test]
    fn neither_end_panics_whatever_comes_whenever(
        words in prop::collection::vec((0_usize..18, any::<u32>(), 0_u64..20_000_000_000), 0..25),
        as_client in any::<bool>(),
    ) {
        if as_client {
            let mut client = Client::new(Host::default(), NOW);
            client.propose(fixtures::load(2), NOW);
            babble(client, &words);
        } else {
            babble(server(VERSIONS, Ok(())), &words);
        }
    }

    #[test]
    fn noise_ends_a_greeting_or_waits_for_more(noise in prop::collection::vec(any::<u8>(), 0..500)) {
        let mut server = server(VERSIONS, Ok(()));
        server.input(Input::Received(&noise), NOW);
        prop_assert!(server.deadline().is_some() || matches!(outputs(&mut server).1, Some(Err(_))));
    }
}

/// Says these things to a dialogue, in whatever order.
fn babble<D>(mut dialogue: D, words: &[(usize, u32, u64)])
where
    D: Dialogue<Report = EndReport, Error = PeerError>,
{
    let mut now = NOW;
    for &(word, number, later) in words {
        let (group, flow) = (GroupId((number % 2) as u8), FlowId(number % 4));
        match word {
            14 => dialogue.input(Input::Attached { group, flow }, now),
            15 => dialogue.input(Input::Over(Box::default()), now),
            16 => {
                now = now.plus_nanos(later);
                dialogue.input(Input::Deadline, now);
            }
            _ => dialogue.input(Input::Received(&one_of_all(word, number)), now),
        }
        while let Some(output) = dialogue.output() {
            if let Output::Prepare { .. } = output {
                dialogue.input(Input::Prepared(Vec::new()), now);
            }
        }
    }
}

fn one_of_all(word: usize, number: u32) -> Vec<u8> {
    let flow = FlowTotal { group: GroupId(0), flow: FlowId(number % 3), total: number.into() };
    let test = fixtures::load(2);
    let token = Token([number as u8; 16]);
    let message = match word {
        0 => hello(),
        1 => welcome(1, "none"),
        2 => Message::Refuse(Refusal::new("no", "no")),
        3 => Message::Propose(Propose::new(&test)),
        4 => Message::Accept(Box::new(Accept { token, test, substitutions: Vec::new() })),
        5 => Message::Start,
        6 => Message::Started,
        7 => Message::Interval(Box::default()),
        8 => Message::Totals(vec![flow]),
        9 => Message::Report(Box::default()),
        10 => Message::Stop(Stop::default()),
        11 => Message::End,
        12 => Message::Ping(Beat::default()),
        17 => Message::Ended(vec![FlowEnd {
            group: GroupId(0),
            flow: FlowId(number % 3),
            sent: number.into(),
            received: 0,
            failed: number.is_multiple_of(2),
            failure: None,
        }]),
        _ => Message::Pong(Beat::default()),
    };
    message.encode().expect("short")
}
