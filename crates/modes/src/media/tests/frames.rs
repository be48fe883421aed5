//! Streams as ctsTraffic lays them out: datagrams that do not say which of their frame they are, asked for by `START`, and without a word
//! on their end.

use std::cell::RefCell;
use std::rc::Rc;

use pathscope_core::record::FlowErrorKind;

use super::*;
use crate::conventions::{Conventions, Framing, frames};
use crate::pattern::{Block, Payload};

static PATTERN: [u8; 6] = *b"\0\0\x01\0\x02\0";
const CONVENTIONS: Conventions = Conventions {
    payload: Payload::Block(Block::new(&PATTERN)),
    framing: Framing::Frames,
    ..Conventions::OWN
};

/// Both ends, which are told nothing of each other.
fn untold(plan: &MediaPlan, conditions: Conditions) -> Media {
    let session = SessionKey::from(Token([3; 16]));
    let shared = |role| MediaShared::by(CONVENTIONS, plan, role);
    let mut sim = Sim::new(conditions, shared(Role::Client), shared(Role::Server));
    let flow = |role| MediaFlow::by(CONVENTIONS, plan, (role, session, FLOW));
    sim.connect(flow(Role::Client), flow(Role::Server), Transport::Datagram);
    sim
}

/// When a client said what.
type Said = (u64, Vec<u8>);

/// What the server's datagrams are changed to, and what becomes of them; what the client says is kept.
fn on_the_way(
    sim: &mut Media,
    mut fate: impl FnMut(&mut Passing<'_>) -> Fate + 'static,
) -> Rc<RefCell<Vec<Said>>> {
    let said: Rc<RefCell<Vec<_>>> = Rc::default();
    let heard = Rc::clone(&said);
    sim.datagrams(move |passing| {
        if passing.from == Role::Client {
            heard.borrow_mut().push((passing.at.as_nanos(), passing.bytes.clone()));
            return Fate::Deliver;
        }
        fate(passing)
    });
    said
}

#[test]
fn every_frame_is_played_and_the_first_datagram_ends_the_asking() {
    for rest in [0, 1, 26, 283] {
        let plan = MediaPlan { rate_bps: BitRate((3_000 + rest) * 8 * 50), ..plan() };
        let mut simulator = untold(&plan, link());
        let said = on_the_way(&mut simulator, |_| Fate::Deliver);
        let (client, server, _) = run(simulator);
        assert_eq!(counts(&client), (100, 0, 0, 0, 0), "{rest}");
        assert_eq!(client.received_bytes, 100 * (3_000 + rest));
        conserved(&server, &client);
        // The client starts with word of the server's start, and asks once.
        assert_eq!(*said.borrow(), [(ONE_WAY_NS, frames::START.to_vec())]);
        assert_eq!(server.foreign, 0);
    }
}

/// Section 3.3 of the reference, of a stream of frames of 1,060 bytes, which begins a frame's time after it was asked for.
#[test]
fn the_first_datagrams_are_these_bytes() {
    let plan = MediaPlan { rate_bps: BitRate(1_060 * 8 * 50), ..plan() };
    let mut simulator = untold(&plan, link());
    let came: Rc<RefCell<Vec<Vec<u8>>>> = Rc::default();
    let seen = Rc::clone(&came);
    on_the_way(&mut simulator, move |passing| {
        seen.borrow_mut().push(passing.bytes.clone());
        Fate::Deliver
    });
    run(simulator);
    let came = came.borrow();
    assert_eq!(came.iter().take(4).map(Vec::len).collect::<Vec<_>>(), [1_000, 60, 1_000, 60]);
    // Frame 1, at 20 ms of a clock of 10 MHz: 200,000 ticks.
    let first =
        b"\0\0\x01\0\0\0\0\0\0\0\x40\x0d\x03\0\0\0\0\0\x80\x96\x98\0\0\0\0\0\0\0\x01\0\x02\0\0\0";
    assert!(came[0].starts_with(first), "{:?}", &came[0][..34]);
    assert!(came[1].starts_with(first), "the pattern begins anew: {:?}", &came[1][..34]);
    assert_eq!(came[2][2..10], 2_u64.to_le_bytes());
    assert_eq!(came.last().map(|last| last[2..10].to_vec()), Some(100_u64.to_le_bytes().to_vec()));
}

#[test]
fn losses_copies_and_damage_are_known_by_frames() {
    let mut simulator = untold(&plan(), link());
    on_the_way(&mut simulator, |passing| match passing.position {
        4 | 5 => Fate::Lose,
        12 => Fate::Duplicate { after_ns: 1 },
        20 => {
            passing.bytes[500] ^= 1;
            Fate::Deliver
        }
        // Of frame 7, what was cut short.
        28 => {
            passing.bytes.truncate(40);
            Fate::Deliver
        }
        _ => Fate::Deliver,
    });
    let (client, server, _) = run(simulator);
    // By bytes, as with ctsTraffic: what was cut short is missing from its frame, and is not wrong.
    assert_eq!(counts(&client), (96, 2, 1, 0, 1));
    assert_eq!((client.lost_datagrams, client.damaged_datagrams), (2, 1));
    assert_eq!(client.unlike_datagrams, 1);
    conserved(&server, &client);
}

/// Section 3.5 of the reference: fewer bytes than a frame has are a dropped one, more a repeated one, whichever datagrams they are of.
#[test]
fn a_frame_is_judged_by_its_bytes() {
    let mut simulator = untold(&plan(), link());
    on_the_way(&mut simulator, |passing| match passing.position {
        // Of one frame, the one half lost and the other twice: of as many bytes, and so whole.
        0 => Fate::Lose,
        1 => Fate::Duplicate { after_ns: 1 },
        _ => Fate::Deliver,
    });
    let (client, _, _) = run(simulator);
    assert_eq!(counts(&client), (100, 0, 0, 0, 0));
    // The server was told half the rate, or twice as much.
    for (factor, expected) in [((1, 2), (0, 100, 0, 0, 0)), ((2, 1), (0, 0, 100, 0, 0))] {
        let (times, of) = factor;
        let own = plan();
        let theirs =
            MediaPlan { rate_bps: BitRate(own.rate_bps.0 * times / of + 8_000), ..own.clone() };
        let session = SessionKey::from(Token([3; 16]));
        let shared = |role: Role, plan: &MediaPlan| MediaShared::by(CONVENTIONS, plan, role);
        let ends = (shared(Role::Client, &own), shared(Role::Server, &theirs));
        let mut sim = Sim::new(link(), ends.0, ends.1);
        let flow = |role, plan: &MediaPlan| MediaFlow::by(CONVENTIONS, plan, (role, session, FLOW));
        let flows = (flow(Role::Client, &own), flow(Role::Server, &theirs));
        sim.connect(flows.0, flows.1, Transport::Datagram);
        let (client, _, _) = run(sim);
        assert_eq!((counts(&client), client.damaged_datagrams), (expected, 0), "{factor:?}");
        assert!(client.unlike_datagrams > 0 && client.silent_frames == 0, "{factor:?}");
    }
}

#[test]
fn frames_behind_the_last_that_came_are_told_apart() {
    let mut simulator = untold(&plan(), link());
    on_the_way(&mut simulator, |passing| match passing.position {
        // One amid the others, and the last ten.
        80..84 | 360.. => Fate::Lose,
        _ => Fate::Deliver,
    });
    let (client, _, _) = run(simulator);
    assert_eq!((counts(&client), client.silent_frames), ((89, 11, 0, 0, 0), 10));
}

#[test]
fn the_name_of_a_connection_is_no_datagram_of_its_stream() {
    let mut simulator = untold(&plan(), link());
    on_the_way(&mut simulator, |passing| {
        if passing.position == 8 {
            *passing.bytes = frames::name(&[b'7'; 37]).to_vec();
        }
        Fate::Deliver
    });
    let (client, _, _) = run(simulator);
    assert_eq!((client.foreign, client.damaged_datagrams, client.lost_datagrams), (0, 0, 1));
}

#[test]
fn what_is_asked_for_in_vain_fails_and_says_so() {
    let mut simulator = untold(&plan(), link());
    let said = on_the_way(&mut simulator, |_| Fate::Lose);
    simulator.run(LATE);
    let error = simulator.client(FLOW).error().expect("it failed");
    assert!(error.text.starts_with("nothing came within 5 s of the stream"), "{}", error.text);
    // Every 20 + 500 ms for 5 s.
    let times: Vec<u64> = said.borrow().iter().map(|(at, _)| at / 1_000_000).collect();
    assert_eq!(times, (0..10).map(|time| 10 + 520 * time).collect::<Vec<_>>());
    // As with ctsTraffic: a breach of protocol, and every frame is dropped, not only those that were due by then.
    assert_eq!(error.kind, FlowErrorKind::Protocol);
    let client = simulator.client_shared().report(Tick::ZERO).told();
    assert_eq!(counts(&client), (0, 100, 0, 0, 0));
}

#[test]
fn a_question_that_was_lost_is_asked_again_and_the_stream_counts_from_its_first_datagram() {
    let plan = plan();
    let mut conditions = link();
    conditions.starts_ns.server = 600_000_000;
    let mut simulator = untold(&plan, conditions);
    let said = on_the_way(&mut simulator, |_| Fate::Deliver);
    let (client, server, _) = run(simulator);
    assert_eq!(counts(&client), (100, 0, 0, 0, 0));
    conserved(&server, &client);
    assert_eq!(said.borrow().len(), 2);
}
