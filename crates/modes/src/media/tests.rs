//! Streams in virtual time: exact counts and times, whatever happens to the datagrams.
//!
//! In one file: each test drives the same two ends over the same simulated path, and differs in one condition.

use pathscope_core::id::{FlowId, Lane, Role, Token};
use pathscope_core::quantity::{BitRate, Bytes, Period};
use pathscope_core::record::{StoodStill, Stretch};
use pathscope_core::{Tick, Wait};
use pathscope_flow::sim::{Action, Conditions, Ended, Fate, Link, Outcome as Run, Passing, Sim};
use pathscope_flow::{Event, Machine, Phase, Shared, Transport};
use proptest::prelude::*;

use super::verdict::verdict;
use super::*;
use crate::end::EndFacts;
use crate::pattern::SessionKey;
use crate::samples::{SampleBuffer, SampleSink};
use crate::sockets::SocketPlan;

mod flights;
mod frames;
mod lost_ends;

const ONE_WAY_NS: u64 = 10_000_000;
const FLOW: FlowId = FlowId(0);
const LATE: Tick = Tick::from_nanos(600_000_000_000);
const FRAME_NS: u64 = 20_000_000;

type Media = Sim<MediaFlow, MediaFlow>;

/// Two seconds of fifty frames a second, four datagrams each, which wait for 100 ms.
pub(super) fn plan() -> MediaPlan {
    MediaPlan {
        profile: None,
        direction: Direction::Down,
        rate_bps: BitRate(4 * 1_000 * 8 * 50),
        frame_rate: 50,
        buffer_depth_ns: Period::from_millis(100),
        duration_ns: Period::from_secs(2),
        streams: 1,
        datagram_bytes: Bytes(1_000),
        pacing: Pacing::BackToBack,
        sockets: SocketPlan::default(),
        engine: None,
        wait: Wait::Auto,
    }
}

fn sim_over(plan: &MediaPlan, conditions: Conditions) -> Media {
    let session = SessionKey::from(Token([3; 16]));
    let shared = |role| MediaShared::new(plan, role);
    let mut sim = Sim::new(conditions, shared(Role::Client), shared(Role::Server));
    for id in (0..plan.streams).map(FlowId) {
        let flow = |role| MediaFlow::new(plan, role, session, id);
        sim.connect(flow(Role::Client), flow(Role::Server), Transport::Datagram);
    }
    sim.tell_totals(ONE_WAY_NS);
    sim
}

/// The client starts when word of the server's start has come, and so has the first frame.
fn link() -> Conditions {
    let mut conditions = Conditions::over(Link::new(ONE_WAY_NS).with_buffers(1 << 20, 1 << 20));
    conditions.starts_ns.client = ONE_WAY_NS;
    conditions
}

fn sim(plan: &MediaPlan) -> Media {
    sim_over(plan, link())
}

fn run(mut sim: Media) -> (MediaReport, MediaReport, Run) {
    let outcome = sim.run(LATE);
    assert_eq!(outcome.ended, Ended::Over, "{outcome}");
    let client = sim.client_shared().report(Tick::ZERO).told();
    let server = sim.server_shared().report(Tick::ZERO).told();
    (client, server, outcome)
}

/// Both reports agree: what was sent came, came damaged, or was lost.
fn conserved(sender: &MediaReport, receiver: &MediaReport) {
    assert_eq!(
        sender.sent_datagrams,
        receiver.received_datagrams + receiver.spoilt_datagrams + receiver.lost_datagrams,
        "{sender:?} {receiver:?}"
    );
    let FrameCounts { cut, unsent, .. } = receiver.frames;
    assert_eq!(sender.frames_sent, receiver.frames.judged() + cut - unsent);
}

fn counts(report: &MediaReport) -> (u64, u64, u64, u64, u64) {
    let FrameCounts { completed, repeated, late, erroneous, .. } = report.frames;
    (completed, report.frames.dropped(), repeated, late, erroneous)
}

#[test]
fn a_path_of_ten_milliseconds_plays_every_frame() {
    for (direction, pacing) in [
        (Direction::Down, Pacing::BackToBack),
        (Direction::Up, Pacing::BackToBack),
        (Direction::Both, Pacing::Spread),
    ] {
        let plan = MediaPlan { direction, pacing, ..plan() };
        let (client, server, outcome) = run(sim(&plan));
        for (sends, sender, receiver) in
            [(plan.is_down(), &server, &client), (plan.is_up(), &client, &server)]
        {
            if !sends {
                assert_eq!((sender.sent_datagrams, receiver.received_datagrams), (0, 0));
                continue;
            }
            assert_eq!((sender.frames_sent, sender.sent_datagrams), (100, 400));
            assert_eq!(sender.sent_bytes, 400_000);
            assert_eq!(counts(receiver), (100, 0, 0, 0, 0), "{direction:?}");
            conserved(sender, receiver);
            let lag = sender.send_lag.as_ref().expect("it sent");
            assert_eq!(lag.max_ns, Some(0), "{outcome}");
            let delay = receiver.delay.as_ref().expect("frames");
            assert_eq!((delay.count, delay.min_ns, delay.max_ns), (100, Some(0), Some(0)));
            // Frames are whole when they are due, or when the last of their datagrams is.
            let last_of_frame = if pacing == Pacing::Spread { FRAME_NS * 3 / 4 } else { 0 };
            assert_eq!(receiver.needed_depth_ns, Some(last_of_frame));
            assert_eq!(receiver.longest_freeze_ns, 0);
            let jitter = receiver.frame_jitter.expect("two frames and more");
            assert_eq!((jitter.count, jitter.max_ns), (99, 0));
        }
    }
}

#[test]
fn frames_that_end_in_a_splinter_are_played_as_others() {
    // What is left for the last datagram would hold no header: the one before it gives up some bytes.
    for splinter in [1, 30, 999] {
        let plan = MediaPlan { rate_bps: BitRate((3_000 + splinter) * 8 * 50), ..plan() };
        let (client, server, _) = run(sim(&plan));
        assert_eq!(counts(&client), (100, 0, 0, 0, 0), "{splinter}");
        assert_eq!((server.sent_datagrams, server.sent_bytes), (400, 100 * (3_000 + splinter)));
        conserved(&server, &client);
    }
}

#[test]
fn a_lost_datagram_drops_its_frame_and_no_other() {
    let mut sim = sim(&plan());
    // The second of frame 3, all of frames 10 and 11, and the last of all.
    sim.datagrams(|passing: &mut Passing<'_>| match passing.position {
        13 | 40..=47 | 399 => Fate::Lose,
        _ => Fate::Deliver,
    });
    let (client, server, _) = run(sim);
    assert_eq!(counts(&client), (96, 4, 0, 0, 0));
    assert_eq!(client.lost_datagrams, 10);
    let bursts = &client.bursts;
    assert_eq!((bursts.bursts, bursts.lost, bursts.longest), (3, 10, 8));
    assert_eq!(client.longest_freeze_ns, 2 * FRAME_NS);
    conserved(&server, &client);
}

#[test]
fn copies_are_counted_and_do_not_stand_for_what_is_lost() {
    let mut sim = sim(&plan());
    sim.datagrams(|passing: &mut Passing<'_>| match passing.position {
        // The copy of 8 has as many bytes as are missing with 9: ctsTraffic would take the frame for whole.
        0 | 5 | 8 => Fate::Duplicate { after_ns: 1_000_000 },
        9 => Fate::Lose,
        // Long after its frame was played.
        100 => Fate::Duplicate { after_ns: 900_000_000 },
        _ => Fate::Deliver,
    });
    let (client, server, _) = run(sim);
    assert_eq!(counts(&client), (97, 1, 2, 0, 0));
    assert_eq!((client.duplicates, client.lost_datagrams), (4, 1));
    conserved(&server, &client);
}

#[test]
fn what_comes_after_its_time_is_late_and_a_deeper_buffer_is_named() {
    let mut sim = sim(&plan());
    sim.datagrams(|passing: &mut Passing<'_>| match passing.position {
        // In time by a millisecond, late by a millisecond, and too late by far.
        40 => Fate::Delay { by_ns: 99_000_000 },
        80 => Fate::Delay { by_ns: 101_000_000 },
        120 => Fate::Delay { by_ns: 300_000_000 },
        _ => Fate::Deliver,
    });
    let (client, server, _) = run(sim);
    assert_eq!(counts(&client), (98, 0, 0, 2, 0));
    assert_eq!((client.late_datagrams, client.late_by_sender), (2, 0));
    assert_eq!(client.needed_depth_ns, Some(300_000_000));
    assert_eq!(client.reordered, 3);
    assert_eq!(client.delay.as_ref().and_then(|delay| delay.max_ns), Some(300_000_000));
    assert_eq!(client.longest_freeze_ns, FRAME_NS);
    conserved(&server, &client);
}

#[test]
fn a_damaged_datagram_is_located_and_ends_no_stream() {
    let mut sim = sim(&plan());
    sim.datagrams(|passing: &mut Passing<'_>| {
        match passing.position {
            // In the payload, in the header's stamp, and cut off.
            21 => passing.bytes[700] ^= 0x10,
            40 => passing.bytes[41] ^= 0x01,
            60 => passing.bytes.truncate(500),
            // A copy that is right makes its frame whole.
            80 => return Fate::Duplicate { after_ns: 1_000_000 },
            _ => {}
        }
        Fate::Deliver
    });
    let (client, server, _) = run(sim);
    assert_eq!(counts(&client), (96, 1, 1, 0, 2));
    assert_eq!((client.damaged_datagrams, client.unreadable_datagrams), (3, 1));
    assert_eq!((client.spoilt_datagrams, client.lost_datagrams), (2, 1));
    let first = client.first_damaged.expect("it is located");
    assert_eq!((first.frame, first.datagram, first.offset_bytes), (5, 1, 700));
    conserved(&server, &client);
}

#[test]
fn damaged_headers_are_blamed_on_damage_and_not_on_loss() {
    let mut sim = sim(&plan());
    sim.datagrams(|passing: &mut Passing<'_>| {
        match passing.position {
            20 => return Fate::Lose,
            40 | 60 => passing.bytes[41] ^= 0x01,
            _ => {}
        }
        Fate::Deliver
    });
    let (mut client, server, _) = run(sim);
    conserved(&server, &client);
    client.socket_drops = Some(0);
    assert_eq!((client.frames.dropped(), client.lost_datagrams), (3, 3));
    let summary = MediaSummary::of(&plan(), &client, Some(&server));
    let down = summary.down.as_ref().expect("it has that");
    assert_eq!((down.lost_in_network, down.lost_unreadable), (Some(1), Some(2)));
    let verdict = verdict(&plan(), &summary, EndFacts::default(), None).expect("both reported");
    assert_eq!(verdict.limit, pathscope_core::record::Limit::Damage, "{}", verdict.text);
    let evidence = |name: &str| verdict.evidence.iter().find(|it| it.name == name);
    assert_eq!(evidence("datagrams_lost_in_network").map(|it| it.value), Some(1.0));
    assert_eq!(evidence("datagrams_damaged").map(|it| it.value), Some(2.0));
}

#[test]
fn the_senders_own_lateness_is_told_and_blamed() {
    let mut sim = sim(&plan());
    // Frames 50 to 59 leave 200 ms to 20 ms late; those up to 54 are late for it.
    let pause = Action::Pause { role: Role::Server, for_ns: 200_000_000 };
    sim.at(Tick::from_nanos(50 * FRAME_NS - 1), pause);
    let (client, server, _) = run(sim);
    let lag = server.send_lag.as_ref().expect("it sent");
    assert!(lag.max_ns > Some(199_000_000), "{:?}", lag.max_ns);
    assert_eq!(counts(&client), (95, 0, 0, 5, 0));
    assert_eq!(client.late_by_sender, 5);
    conserved(&server, &client);
    let summary = MediaSummary::of(&plan(), &client, Some(&server));
    let verdict = verdict(&plan(), &summary, EndFacts::default(), None).expect("both reported");
    assert_eq!(verdict.limit, pathscope_core::record::Limit::SenderLate, "{}", verdict.text);
    assert!(verdict.text.contains("5 of them late since they had left late"), "{}", verdict.text);
}

#[test]
fn a_sender_that_cannot_keep_up_says_what_it_left_out() {
    // Four times what the link takes: in the two seconds and one more it takes what is due in three quarters
    // of one.
    let mut conditions = link();
    let slow = Link::new(ONE_WAY_NS).with_buffers(4_000, 1 << 20);
    conditions.links.server = slow.at_rate(BitRate(4 * 1_000 * 8 * 50 / 4));
    let (client, server, _) = run(sim_over(&plan(), conditions));
    assert_eq!(server.frames_sent + server.unsent_frames, 100);
    assert!((58..=64).contains(&server.unsent_frames), "{}", server.unsent_frames);
    conserved(&server, &client);
    let summary = MediaSummary::of(&plan(), &client, Some(&server));
    let verdict = verdict(&plan(), &summary, EndFacts::default(), None).expect("both reported");
    assert_eq!(verdict.limit, pathscope_core::record::Limit::SenderLate, "{}", verdict.text);
}

#[test]
fn a_full_socket_is_told_from_the_network() {
    let mut conditions = link();
    conditions.links.server = Link::new(ONE_WAY_NS).with_buffers(1 << 20, 2_500);
    let mut sim = sim_over(&plan(), conditions);
    // Of each frame the socket holds two datagrams, and nobody takes them for half a second.
    let pause = Action::Pause { role: Role::Client, for_ns: 500_000_000 };
    sim.at(Tick::from_nanos(505_000_000), pause);
    let outcome = sim.run(LATE);
    assert_eq!(outcome.ended, Ended::Over, "{outcome}");
    let overflowed = sim.traffic(FLOW, Lane::ONLY, Role::Server).overflowed;
    assert!(overflowed > 90, "{overflowed}");
    let mut client = sim.client_shared().report(Tick::ZERO).told();
    let server = sim.server_shared().report(Tick::ZERO).told();
    conserved(&server, &client);
    assert_eq!(client.lost_datagrams, overflowed);
    client.socket_drops = Some(overflowed);
    let summary = MediaSummary::of(&plan(), &client, Some(&server));
    let down = summary.down.as_ref().expect("it has that");
    assert_eq!((down.lost_in_socket, down.lost_in_network), (Some(overflowed), Some(0)));
    let verdict = verdict(&plan(), &summary, EndFacts::default(), None).expect("both reported");
    assert_eq!(verdict.limit, pathscope_core::record::Limit::ReceiverSocket, "{}", verdict.text);
}

#[test]
fn what_a_receiver_at_rest_makes_late_is_not_the_network_s() {
    let mut sim = sim(&plan());
    // Nobody takes anything for half a second, and the socket has room for all of it.
    let pause = Action::Pause { role: Role::Client, for_ns: 500_000_000 };
    sim.at(Tick::from_nanos(505_000_000), pause);
    let (client, server, _) = run(sim);
    assert!(client.frames.late > 10, "{:?}", client.frames);
    let summary = MediaSummary::of(&plan(), &client, Some(&server));
    let said = verdict(&plan(), &summary, EndFacts::default(), None).expect("both reported");
    assert_eq!(said.limit, pathscope_core::record::Limit::NetworkDelay, "{}", said.text);
    let mut still = StoodStill::default();
    still.add(Stretch { start_ns: 505_000_000, end_ns: 1_005_000_000 });
    let end = EndFacts { stood_still: Some(&still), ..EndFacts::default() };
    let said = verdict(&plan(), &summary, end, None).expect("both reported");
    assert_eq!(said.limit, pathscope_core::record::Limit::ReceiverStopped, "{}", said.text);
    assert!(said.text.contains("it stood still for 500 ms"), "{}", said.text);
}

#[test]
fn a_stop_in_the_middle_accounts_for_every_frame_that_left() {
    for role in [Role::Client, Role::Server] {
        let plan = MediaPlan { buffer_depth_ns: Period::from_secs(10), ..plan() };
        let mut sim = sim(&plan);
        // Both ends are told, as the dialogue does; the other one a moment later.
        sim.at(Tick::from_nanos(1_000_000_000), Action::Stop { role });
        let other = Action::Stop { role: role.peer() };
        sim.at(Tick::from_nanos(1_010_000_000), other);
        sim.datagrams(|passing| if passing.position == 9 { Fate::Lose } else { Fate::Deliver });
        let (client, server, outcome) = run(sim);
        assert!(outcome.at < Tick::from_nanos(3_000_000_000), "{outcome}");
        assert!((50..=52).contains(&server.frames_sent), "{}", server.frames_sent);
        conserved(&server, &client);
        let FrameCounts { completed, cut, .. } = client.frames;
        assert_eq!((completed, cut), (server.frames_sent - 1, 1), "{role:?}");
    }
}

#[test]
fn a_sender_that_is_gone_leaves_what_was_judged() {
    let mut sim = sim(&plan());
    let at = Tick::from_nanos(1_000_000_000);
    sim.at(at, Action::Kill { flow: FLOW, role: Role::Server });
    sim.at(at.plus_nanos(300_000_000), Action::Stop { role: Role::Client });
    let outcome = sim.run(LATE);
    assert_eq!(outcome.ended, Ended::Over, "{outcome}");
    let client = sim.client_shared().report(Tick::ZERO).told();
    assert!(client.frames.completed >= 49, "{:?}", client.frames);
    // What was due and never came before the end of the stop is missed.
    assert!(client.frames.missed > 5, "{:?}", client.frames);
}

#[test]
fn a_path_that_carries_nothing_drops_everything_as_time_passes() {
    let mut sim = sim(&plan());
    sim.datagrams(|_| Fate::Lose);
    let (client, server, _) = run(sim);
    assert_eq!(counts(&client), (0, 100, 0, 0, 0));
    assert_eq!((client.lost_datagrams, client.longest_freeze_ns), (400, 100 * FRAME_NS));
    assert_eq!(client.needed_depth_ns, None);
    conserved(&server, &client);
}

#[test]
fn strange_datagrams_change_nothing_but_their_count() {
    let mut sim = sim(&plan());
    sim.datagrams(|passing: &mut Passing<'_>| {
        match passing.position {
            10 => *passing.bytes = b"PSAT the last word of the set-up".to_vec(),
            11 => *passing.bytes = Vec::new(),
            12 => *passing.bytes = vec![7; 9_000],
            _ => {}
        }
        Fate::Deliver
    });
    let (client, server, _) = run(sim);
    assert_eq!((client.foreign, client.unreadable_datagrams), (1, 2));
    assert_eq!(client.lost_datagrams, 3);
    conserved(&server, &client);
}

#[test]
fn a_total_that_is_not_believed_ends_nothing_early() {
    for total in [0, 1, 250, u64::MAX] {
        let mut sim = sim(&plan());
        let event = Event::PeerTotal(total);
        let tell = Action::Tell { flow: FLOW, role: Role::Client, event };
        sim.at(Tick::from_nanos(1_000_000_000), tell);
        let outcome = sim.run(LATE);
        assert_eq!(outcome.ended, Ended::Over, "{total}: {outcome}");
    }
}

#[test]
fn many_streams_share_the_time_of_a_frame() {
    let plan = MediaPlan { streams: 20, ..plan() };
    let mut sim = sim(&plan);
    let mut at = std::collections::BTreeSet::new();
    let (seen, sent) = std::sync::mpsc::channel();
    sim.datagrams(move |passing: &mut Passing<'_>| {
        let _ = seen.send(passing.at);
        Fate::Deliver
    });
    let (client, server, _) = run(sim);
    at.extend(sent.iter());
    // Twenty streams of a hundred frames, no two at once.
    assert_eq!(at.len(), 2_000);
    assert_eq!(counts(&client), (2_000, 0, 0, 0, 0));
    conserved(&server, &client);
}

/// Rows as they are handed over.
struct Heap(std::sync::mpsc::Sender<FrameRow>);

impl SampleSink<FrameRow> for Heap {
    fn exchange(&mut self, full: &mut Vec<FrameRow>) -> Option<Vec<FrameRow>> {
        let sent = full.drain(..).try_for_each(|row| self.0.send(row));
        sent.expect("the test listens");
        Some(std::mem::take(full))
    }

    fn dropped(&mut self, _: u64) {}
}

#[test]
fn every_frame_has_a_row_in_order_with_how_it_ended() {
    use Outcome::{Completed, Dropped, Late, Repeated};
    let plan = MediaPlan { rate_bps: BitRate(1_000 * 8 * 50), ..plan() };
    let session = SessionKey::from(Token([3; 16]));
    let (rows, told) = std::sync::mpsc::channel();
    let rows = Some(SampleBuffer::new(Box::new(Heap(rows))));
    let client = MediaShared { rows, ..MediaShared::new(&plan, Role::Client) };
    let server = MediaShared::new(&plan, Role::Server);
    let near = MediaFlow::new(&plan, Role::Client, session, FLOW);
    let far = MediaFlow::new(&plan, Role::Server, session, FLOW);
    let mut sim = Sim::new(link(), client, server);
    sim.connect(near, far, Transport::Datagram);
    sim.tell_totals(ONE_WAY_NS);
    sim.datagrams(|passing: &mut Passing<'_>| match passing.position {
        2 => Fate::Lose,
        4 => Fate::Delay { by_ns: 5_000_000 },
        6 => Fate::Delay { by_ns: 150_000_000 },
        7 => Fate::Duplicate { after_ns: 1 },
        _ => Fate::Deliver,
    });
    let outcome = sim.run(LATE);
    assert_eq!(outcome.ended, Ended::Over, "{outcome}");
    drop(sim);
    let rows: Vec<FrameRow> = told.iter().collect();
    assert_eq!(rows.len(), 100);
    let first: Vec<_> =
        rows[..9].iter().map(|row| (row.frame, row.outcome, row.missing, row.flight_ns)).collect();
    let ms = 1_000_000;
    assert_eq!(
        first,
        [
            (0, Completed, 0, Some((0, 0))),
            (1, Completed, 0, Some((0, 0))),
            (2, Dropped, 1, None),
            (3, Completed, 0, Some((0, 0))),
            (4, Completed, 0, Some((5 * ms, 5 * ms as u64))),
            (5, Completed, 0, Some((0, 5 * ms as u64))),
            (6, Late, 0, None),
            (7, Repeated, 0, Some((0, 0))),
            (8, Completed, 0, Some((0, 0))),
        ]
    );
    assert_eq!(rows[4].margin_ns, Some(95 * ms));
    assert_eq!((rows[6].margin_ns, rows[2].margin_ns), (Some(-50 * ms), None));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn whatever_happens_every_datagram_and_frame_is_accounted_for(
        fates in prop::collection::vec((0..12_u8, 0..400_u64), 400), spread: bool, depth_ms in 1..300_u64,
    ) {
        let pacing = if spread { Pacing::Spread } else { Pacing::BackToBack };
        let plan = MediaPlan { pacing, buffer_depth_ns: Period::from_millis(depth_ms), ..plan() };
        let mut sim = sim(&plan);
        sim.datagrams(move |passing: &mut Passing<'_>| {
            let (fate, ms) = fates[passing.position as usize % fates.len()];
            match fate {
                0 => Fate::Lose,
                1 => Fate::Delay { by_ns: ms * 1_000_000 },
                2 => Fate::Duplicate { after_ns: ms * 1_000_000 },
                3 => {
                    let at = ms as usize * 2 % passing.bytes.len();
                    passing.bytes[at] ^= 1;
                    Fate::Deliver
                }
                _ => Fate::Deliver,
            }
        });
        let (client, server, _) = run(sim);
        conserved(&server, &client);
        prop_assert_eq!(client.frames.judged(), 100);
        prop_assert_eq!((client.early, client.forgotten), (0, 0));
    }
}
