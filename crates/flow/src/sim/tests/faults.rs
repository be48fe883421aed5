//! What goes wrong with streams: resets at every moment, deaths, cuts, stalls, pauses, deadlocks.

use pathscope_core::Tick;
use pathscope_core::id::Lane;

use super::toys::{Collector, Player, Pourer, Sleeper};
use super::{CLIENT, FIRST, FOREVER, SERVER, micros, quarter_millisecond, run_to_its_end, stream};
use crate::sim::{Action, Chunks, Conditions, Ended, Sim};
use crate::{Event, Machine, Phase};

const RESET: Event = Event::Reset { lane: Lane::ONLY, errno: 104 };

fn crumbs() -> Conditions {
    Conditions { reads: Chunks::Fixed(300), writes: Chunks::Fixed(700), ..quarter_millisecond() }
}

#[test]
fn a_reset_before_any_operation_ends_both_sides() {
    let pour = || stream(crumbs(), Pourer::new(5_000), Collector::new());
    let operations = run_to_its_end(&mut pour()).operations;
    assert_eq!(operations, 8 + 17);
    for operation in 0..operations {
        let mut sim = pour();
        sim.before_operation(operation, Action::Reset { flow: FIRST, errno: 104 });
        let outcome = run_to_its_end(&mut sim);
        assert_eq!(outcome.operations, operation);
        assert_eq!(sim.client(FIRST).phase(), Phase::Failed);
        assert_eq!(sim.server(FIRST).phase(), Phase::Failed);
        assert_eq!(sim.client_shared().events.last().map(|(_, event)| *event), Some(RESET));
    }
}

#[test]
fn a_reset_by_a_machine_arrives_behind_what_was_sent() {
    let mut sim = stream(quarter_millisecond(), Pourer::new(5_000), Collector::resetting_at(1));
    let outcome = run_to_its_end(&mut sim);
    assert_eq!(outcome.at, micros(500));
    assert_eq!(sim.client_shared().events.last().map(|(_, event)| *event), Some(RESET));
}

#[test]
fn a_death_closes_the_stream_and_resets_whoever_goes_on() {
    let mut sim = stream(crumbs(), Player::client(100, 1_000), Player::server(100, 1_000));
    sim.at(micros(600), Action::Kill { flow: FIRST, role: SERVER });
    run_to_its_end(&mut sim);
    assert_eq!(sim.over_at(FIRST, SERVER), Some(micros(600)));
    assert_eq!(sim.over_at(FIRST, CLIENT), Some(micros(850)));
    let closed = Event::PeerClosed(Lane::ONLY);
    assert_eq!(sim.client_shared().events.last().map(|(_, event)| *event), Some(closed));
}

#[test]
fn who_writes_on_to_the_dead_is_reset() {
    let mut sim = stream(crumbs(), Pourer::new(10_000_000).stubborn(), Collector::new());
    sim.at(micros(600), Action::Kill { flow: FIRST, role: SERVER });
    run_to_its_end(&mut sim);
    assert_eq!(sim.client_shared().events.last().map(|(_, event)| *event), Some(RESET));
}

#[test]
fn a_cut_is_a_silence_that_is_told_as_a_deadlock() {
    let mut sim = stream(quarter_millisecond(), Player::client(9, 8), Player::server(9, 8));
    sim.at(micros(1_100), Action::Cut { flow: FIRST, from: SERVER });
    let outcome = sim.run(FOREVER);
    assert_eq!((outcome.ended, outcome.at), (Ended::Stuck, micros(1_250)));
    let text = outcome.to_string();
    assert!(text.starts_with("stuck: nothing will happen any more at 1250000 ns"), "{text}");
    let client = "flow 0 Client Running: wants to send nothing, to receive up to 8 bytes; \
                  sent 24, received 16; 0 bytes unsent, 0 unread";
    assert!(text.contains(client), "{text}");
}

#[test]
fn two_that_wait_for_each_other_are_stuck_at_once() {
    let mut sim = stream(quarter_millisecond(), Player::server(1, 8), Player::server(1, 8));
    let outcome = sim.run(FOREVER);
    assert_eq!((outcome.ended, outcome.at), (Ended::Stuck, Tick::ZERO));
    assert_eq!(outcome.waiting.len(), 2);
}

#[test]
fn a_stall_delays_what_has_not_entered_the_link() {
    let mut sim = stream(quarter_millisecond(), Player::client(3, 8), Player::server(3, 8));
    sim.at(micros(400), Action::Stall { flow: FIRST, from: CLIENT, for_ns: 1_000_000 });
    run_to_its_end(&mut sim);
    assert_eq!(sim.client_shared().round_trips, [500_000, 500_000 + 900_000, 500_000]);
}

#[test]
fn a_paused_end_finds_everything_when_it_runs_again() {
    let mut sim = stream(quarter_millisecond(), Player::client(3, 8), Player::server(3, 8));
    sim.at(micros(600), Action::Pause { role: SERVER, for_ns: 1_000_000 });
    run_to_its_end(&mut sim);
    assert_eq!(sim.client_shared().round_trips, [500_000, 1_350_000, 500_000]);
}

#[test]
fn a_timer_that_is_due_in_a_pause_fires_after_it() {
    let mut sim = stream(quarter_millisecond(), Sleeper::new(100_000, 2), Sleeper::new(1, 1));
    sim.at(micros(50), Action::Pause { role: CLIENT, for_ns: 200_000 });
    let outcome = run_to_its_end(&mut sim);
    assert_eq!(outcome.at, micros(250));
}

#[test]
fn a_stop_is_told_to_every_flow_of_one_end() {
    let mut sim = stream(quarter_millisecond(), Sleeper::new(1_000_000, 9), Collector::new());
    sim.at(micros(10), Action::Stop { role: CLIENT });
    sim.at(micros(20), Action::Tell { flow: FIRST, role: SERVER, event: Event::Stop });
    run_to_its_end(&mut sim);
    assert_eq!(sim.over_at(FIRST, CLIENT), Some(micros(10)));
    assert_eq!(sim.over_at(FIRST, SERVER), Some(micros(20)));
}

#[test]
fn a_timer_that_no_longer_counts_does_not_move_time() {
    let mut sim: Sim<Sleeper, Collector> =
        stream(quarter_millisecond(), Sleeper::new(9_000_000, 1), Collector::new());
    sim.at(micros(10), Action::Stop { role: CLIENT });
    let outcome = sim.run(FOREVER);
    assert_eq!((outcome.ended, outcome.at), (Ended::Stuck, micros(10)));
}

#[test]
fn tampering_sees_every_byte_of_a_stream() {
    let mut sim = stream(crumbs(), Pourer::new(5_000), Collector::new());
    let mut seen = 0;
    sim.segments(move |passing| {
        assert_eq!(passing.position, seen);
        seen += passing.bytes.len() as u64;
        passing.bytes.fill(0xaa);
    });
    run_to_its_end(&mut sim);
    assert_eq!(sim.server(FIRST).bytes, vec![0xaa; 5_000]);
    assert_eq!(sim.traffic(FIRST, Lane::ONLY, CLIENT).entered, 5_000);
}
