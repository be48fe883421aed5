//! Proposals that are refused: how many, and what they give.

use super::*;

const UNABLE: Input<'static, Server> =
    Input::Unable { code: "unable", sentence: "it has no engine 'uring'" };

#[test]
fn a_refused_test_leaves_the_session_as_it_was() {
    let mut server = idle_server();
    let unknown = br#"{"test":{"plan":{"wormhole":{}}}}"#.to_vec();
    let frame = Frame { kind: MessageType::PROPOSE, body: unknown };
    server.input(Input::Received(&frame.encode()), NOW);
    assert_eq!(refusal(&mut server).code, "not_understood");

    let mut beyond = fixtures::load(1);
    beyond.report_every_ns.0 = 0;
    say(&mut server, &Message::Propose(Propose::new(&beyond)));
    assert_eq!(refusal(&mut server).code, "invalid");

    say(&mut server, &Message::Propose(Propose::new(&fixtures::load(1))));
    assert!(matches!(server.output(), Some(Output::Prepare { .. })));
    server.input(UNABLE, NOW);
    assert_eq!(refusal(&mut server).code, "unable");

    say(&mut server, &Message::Propose(Propose::new(&fixtures::load(1))));
    assert!(matches!(server.output(), Some(Output::Prepare { .. })));
}

#[test]
fn a_flood_of_refused_proposals_ends_the_session_after_a_few() {
    let mut server = idle_server();
    let frame = Frame { kind: MessageType::PROPOSE, body: br#"{"test":0}"#.to_vec() };
    server.input(Input::Received(&frame.encode().repeat(1_000_000)), NOW);
    let (said, ended) = outputs(&mut server);
    let (last, refusals) = said.split_last().expect("it answers");
    assert_eq!(refusals.len(), 8);
    assert!(refusals.iter().all(|message| matches!(message, Message::Refuse(_))), "{refusals:?}");
    let Message::Stop(Stop { reason, .. }) = last else { panic!("it says why, not {last:?}") };
    assert!(reason.contains("8 tests that were refused"), "{reason}");
    assert_eq!(ended, Some(Err(PeerError::RefusedTooOften { most: 8 })));
}

#[test]
fn tests_that_cannot_be_prepared_are_refused_proposals_too() {
    let mut server = idle_server();
    let mut refusals = 0;
    let ended = loop {
        say(&mut server, &Message::Propose(Propose::new(&fixtures::load(1))));
        server.input(UNABLE, NOW);
        let (said, ended) = outputs(&mut server);
        refusals += said.iter().filter(|message| matches!(message, Message::Refuse(_))).count();
        if let Some(ended) = ended {
            break ended;
        }
    };
    assert_eq!((refusals, ended), (8, Err(PeerError::RefusedTooOften { most: 8 })));
}

#[test]
fn a_test_that_begins_makes_up_for_those_that_were_refused() {
    let mut server = idle_server();
    let bad = Frame { kind: MessageType::PROPOSE, body: br#"{"test":0}"#.to_vec() }.encode();
    for _ in 0..3 {
        server.input(Input::Received(&bad.repeat(7)), NOW);
        say(&mut server, &Message::Propose(Propose::new(&fixtures::load(1))));
        server.input(Input::Prepared(Vec::new()), NOW);
        for (group, flow) in [(0, 0), (1, 1)] {
            server.input(Input::Attached { group: GroupId(group), flow: FlowId(flow) }, NOW);
        }
        say(&mut server, &Message::Start);
        server.input(Input::Over(Box::default()), NOW);
        say(&mut server, &Message::Report(Box::default()));
        say(&mut server, &Message::End);
        let (said, ended) = outputs(&mut server);
        assert!(ended.is_none() && said.contains(&Message::Started), "{said:?}: {ended:?}");
    }
}

#[test]
fn a_refused_proposal_gives_no_more_time_for_the_next() {
    const SECOND: u64 = 1_000_000_000;
    let mut server = idle_server();
    let pong = Message::Pong(Beat::default()).encode().expect("short");
    let bad = Frame { kind: MessageType::PROPOSE, body: br#"{"test":0}"#.to_vec() }.encode();
    let good = Message::Propose(Propose::new(&fixtures::load(1))).encode().expect("short");
    for second in 1..60 {
        let now = NOW.plus_nanos(second * SECOND);
        server.input(Input::Received(&pong), now);
        if second % 20 == 0 {
            server.input(Input::Received(&bad), now);
            server.input(Input::Received(&good), now);
            server.input(UNABLE, now);
        }
        assert_eq!(outputs(&mut server).1, None);
    }
    server.input(Input::Deadline, NOW.plus_nanos(60 * SECOND));
    let error = outputs(&mut server).1.expect("it ended").expect_err("late").to_string();
    assert_eq!(error, "the client did not propose a test within 60 s");
}
