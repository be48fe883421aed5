//! Streams whose other end is gone, is away for a while, or asks for them no more.

use super::*;

/// A stream of two seconds, at the client of which these happen at these milliseconds.
fn told(plan: &MediaPlan, events: &[(Event, u64)]) -> Media {
    let mut sim = sim(plan);
    for &(event, at_ms) in events {
        let tell = Action::Tell { flow: FLOW, role: Role::Client, event };
        sim.at(Tick::from_nanos(at_ms * 1_000_000), tell);
    }
    sim
}

#[test]
fn what_a_sender_that_is_lost_never_sent_is_not_lost() {
    // It is known to be lost before the stream's end, and long after it.
    for lost_ms in [1_500, 16_000] {
        for direction in [Direction::Down, Direction::Both] {
            let events = [(Event::PeerAway, 1_010), (Event::PeerLost, lost_ms)];
            let plan = MediaPlan { direction, ..plan() };
            let mut sim = told(&plan, &events);
            let at = Tick::from_nanos(1_000_000_000);
            sim.at(at, Action::Kill { flow: FLOW, role: Role::Server });
            sim.datagrams(|passing| if passing.position == 9 { Fate::Lose } else { Fate::Deliver });
            let outcome = sim.run(LATE);
            assert_eq!(outcome.ended, Ended::Over, "{outcome}");
            let client = sim.client_shared().report(Tick::ZERO).told();
            let FrameCounts { missed, unsent, completed, .. } = client.frames;
            let lost = if direction == Direction::Down { 1 } else { client.lost_datagrams };
            assert!((1..=2).contains(&lost), "{client:?}");
            assert_eq!((client.lost_datagrams, missed - unsent), (lost, lost), "{client:?}");
            assert!((47..=51).contains(&completed), "{client:?}");
            let flow = sim.client(FLOW);
            assert_eq!(flow.phase(), Phase::Failed);
            assert!(flow.error().is_some_and(|error| error.text.contains("was lost")));
            // What this end went on to send has taken its time.
            let origin = link().clock_origins.client;
            let ended = flow.ended_at().expect("it was lost").nanos_since(origin) / 1_000_000;
            let most = if direction == Direction::Down { 1_010 } else { lost_ms.min(2_050) };
            assert!(ended >= 1_010 && ended <= most, "{ended} {direction:?}");
        }
    }
}

#[test]
fn a_stream_waits_for_an_end_that_is_away_and_is_whole_when_that_is_back() {
    for direction in [Direction::Down, Direction::Up] {
        let plan = MediaPlan { direction, ..plan() };
        let events = [(Event::PeerAway, 1_000), (Event::PeerBack, 4_000)];
        let (client, server, outcome) = run(told(&plan, &events));
        assert!(outcome.at >= Tick::from_nanos(4_000_000_000), "{outcome}");
        let (sender, receiver) = match direction {
            Direction::Down => (&server, &client),
            _ => (&client, &server),
        };
        assert_eq!(counts(receiver), (100, 0, 0, 0, 0), "{direction:?}");
        conserved(sender, receiver);
        // One that never comes back has not seen the end of what this one sent.
        let events = [(Event::PeerAway, 1_000), (Event::PeerLost, 4_000)];
        let mut sim = told(&plan, &events);
        assert_eq!(sim.run(LATE).ended, Ended::Over);
        let flow = sim.client(FLOW);
        assert_eq!(flow.phase(), Phase::Failed, "{direction:?}");
    }
}

#[test]
fn frames_that_are_late_are_late_though_the_control_connection_is_lost() {
    let counted = |events: &[(Event, u64)]| {
        let mut sim = told(&plan(), events);
        // For longer than the buffer.
        let stall = Action::Stall { flow: FLOW, from: Role::Server, for_ns: 300_000_000 };
        sim.at(Tick::from_nanos(1_000_000_000), stall);
        let (client, server, _) = run(sim);
        conserved(&server, &client);
        (counts(&client), client.longest_freeze_ns)
    };
    assert_eq!(counted(&[(Event::PeerAway, 900), (Event::PeerBack, 5_000)]), counted(&[]));
}

/// Twenty seconds between ends that know of consent.
fn long_with_consent(direction: Direction) -> Media {
    let plan = MediaPlan { direction, duration_ns: Period::from_secs(20), ..plan() };
    let session = SessionKey::from(Token([3; 16]));
    let shared = |role| MediaShared::new(&plan, role);
    let mut sim = Sim::new(link(), shared(Role::Client), shared(Role::Server));
    let flow = |role| MediaFlow::new(&plan, role, session, FLOW).with_consent(true);
    sim.connect(flow(Role::Client), flow(Role::Server), Transport::Datagram);
    sim.tell_totals(ONE_WAY_NS);
    sim
}

#[test]
fn a_stream_whose_receiver_asks_no_more_stops_and_says_who_asked_no_more() {
    for (direction, sender, who) in
        [(Direction::Up, Role::Client, "server"), (Direction::Down, Role::Server, "client")]
    {
        let mut sim = long_with_consent(direction);
        sim.at(Tick::from_nanos(2_100_000_000), Action::Cut { flow: FLOW, from: sender.peer() });
        sim.run(Tick::from_nanos(19_000_000_000));
        let flow = if sender == Role::Client { sim.client(FLOW) } else { sim.server(FLOW) };
        let facts = flow.facts();
        let error = facts.error.expect("it failed").text;
        assert!(error.starts_with(&format!("the {who} has not asked for")), "{error}");
        // Frames of 20 ms, for five seconds after the last word, which came soon before the path was cut.
        assert!((342..=356).contains(&facts.frames_sent), "{}", facts.frames_sent);
    }
}

#[test]
fn a_stream_goes_on_while_one_word_of_ten_comes_or_frames_come_the_other_way() {
    for direction in [Direction::Up, Direction::Down, Direction::Both] {
        let mut words = 0;
        let mut sim = long_with_consent(direction);
        sim.datagrams(move |passing| {
            let is_word = passing.bytes.starts_with(b"PSCN");
            words += u64::from(is_word);
            let is_lost = is_word && (direction == Direction::Both || words % 10 != 1);
            if is_lost { Fate::Lose } else { Fate::Deliver }
        });
        let (client, server, _) = run(sim);
        for (sends, sender, receiver) in [
            (direction != Direction::Up, &server, &client),
            (direction != Direction::Down, &client, &server),
        ] {
            let sent = if sends { 4_000 } else { 0 };
            assert_eq!((sender.sent_datagrams, receiver.received_datagrams), (sent, sent));
            assert_eq!((receiver.damaged_datagrams, receiver.foreign), (0, 0), "{direction:?}");
        }
    }
}

#[test]
fn a_refusal_ends_a_stream_within_a_second() {
    let mut sim = long_with_consent(Direction::Down);
    let at = Tick::from_nanos(2_100_000_000);
    let event =
        Event::Unreachable { lane: Lane::ONLY, errno: 111, is_answer: true, is_refusal: true };
    sim.at(at, Action::Cut { flow: FLOW, from: Role::Client });
    sim.at(at, Action::Tell { flow: FLOW, role: Role::Server, event });
    sim.run(at.plus_nanos(1_000_000_000));
    let error = sim.server(FLOW).facts().error.expect("it failed").text;
    assert!(error.starts_with("the client's machine refuses"), "{error}");
}
