//! Commands and notices: stop, abandon, orphans, reports, the start.

use std::time::Duration;

use pathscope_core::{Tick, Wait};
use pathscope_engines::{
    Command, Ended, EngineError, Kernel, Notice, Outbox, Worker, registry, worker_inbox,
};
use pathscope_flow::{Event, Phase, Transport};
use pathscope_os::clock;
use pathscope_os::sockets::Settings;

use crate::harness::{PATIENCE, everywhere, pair, start, terms};
use crate::toys::{Bench, Clockwork, Stream};

/// Ten times the bound that engines keep to: the machine is shared.
const BOUND: Duration = Duration::from_secs(1);

const STREAM: Transport = Transport::Stream;

#[test]
fn a_stop_is_heard_while_waiting_and_under_full_load() {
    everywhere(|engine, wait| {
        for loaded in [false, true] {
            let (here, there) = pair(STREAM, &Settings::default());
            let bytes = if loaded { u64::MAX } else { 0 };
            let sender = Stream { held: !loaded, ..Stream::new(0, u64::MAX, 0) };
            let sender =
                start(engine, terms(wait, STREAM), vec![(sender, vec![here])], Bench::new());
            let receiver = Stream::new(0, 0, bytes.max(1));
            let receiver =
                start(engine, terms(wait, STREAM), vec![(receiver, vec![there])], Bench::new());
            receiver.notices.recv_timeout(PATIENCE).expect("it runs");
            let asked = clock::now();
            for remote in [&sender.remote, &receiver.remote] {
                remote.tell(None, Event::Stop);
            }
            assert_eq!(receiver.finish().ended, Ended::AllOver);
            assert_eq!(sender.finish().ended, Ended::AllOver);
            assert!(clock::now().since(asked) < BOUND, "{engine} {wait} loaded: {loaded}");
        }
    });
}

#[test]
fn an_abandoned_worker_gives_its_flows_back() {
    everywhere(|engine, wait| {
        let (here, _there) = pair(STREAM, &Settings::default());
        let flow = Stream::new(0, 0, 1);
        let running = start(engine, terms(wait, STREAM), vec![(flow, vec![here])], Bench::new());
        running.notices.recv_timeout(PATIENCE).expect("it runs");
        running.remote.send(Command::Abandon);
        let finished = running.finish();
        assert_eq!((finished.ended, finished.flows.len()), (Ended::Abandoned, 1));
    });
}

#[test]
fn a_worker_whose_session_is_gone_ends() {
    everywhere(|engine, wait| {
        let (here, _there) = pair(STREAM, &Settings::default());
        let (remote, inbox) = worker_inbox().expect("an inbox");
        let (sender, _notices) = std::sync::mpsc::channel();
        let flows = vec![(Stream::new(0, 0, 1), vec![here])];
        let terms = terms(wait, STREAM);
        let outbox = Outbox::new(sender, None);
        let worker = Worker {
            flows,
            shared: Bench::new(),
            terms,
            inbox,
            outbox,
            made: None,
            succession: None,
        };
        drop(remote);
        let finished = registry::run(engine, worker, Kernel).expect("it runs");
        assert_eq!(finished.ended, Ended::Orphaned, "{engine} {wait}");
    });
}

#[test]
fn reports_follow_each_other_without_a_gap_and_count_every_byte_once() {
    everywhere(|engine, wait| {
        let (here, there) = pair(STREAM, &Settings::default());
        let bytes = 30 << 20;
        let sender = Stream::new(0, bytes, 0);
        let sender = start(engine, terms(wait, STREAM), vec![(sender, vec![here])], Bench::new());
        let terms = terms(wait, STREAM);
        let receiver = Stream::new(0, 0, bytes);
        let receiver = start(engine, terms, vec![(receiver, vec![there])], Bench::new());
        receiver.finish();
        sender.finish();

        // A worker that began late has no report of what was before.
        let (mut next, mut total) = (None, 0);
        for notice in receiver.notices.try_iter() {
            if let Notice::Report { index, start, end, report } = notice {
                assert!(next.is_none_or(|next| next == (index, start)), "{engine} {wait}");
                assert!(start >= terms.start + terms.report_every * index as u32);
                (next, total) = (Some((index + 1, end)), total + report);
            }
        }
        assert_eq!(total, bytes, "{engine} {wait}");
        assert!(next.is_some(), "{engine} {wait}: there is always a last report");
    });
}

#[test]
fn who_asks_is_told_what_went_through_each_flow() {
    everywhere(|engine, wait| {
        let (here, there) = pair(STREAM, &Settings::default());
        // More than buffers hold: the sender is still there when it is told.
        let bytes = 64 << 20;
        let sender = Stream::new(0, bytes, 0);
        let sender = start(engine, terms(wait, STREAM), vec![(sender, vec![here])], Bench::new());
        sender.remote.send(Command::TellFlows);
        let terms = terms(wait, STREAM);
        let receiver = Stream::new(0, 0, bytes);
        let receiver = start(engine, terms, vec![(receiver, vec![there])], Bench::new());
        receiver.finish();
        sender.finish();
        let told = sender.notices.try_iter().filter_map(|notice| match notice {
            Notice::Flows { flows, .. } => Some(flows),
            _ => None,
        });
        let told: Vec<_> = told.flatten().map(|(_, totals, _)| totals.sent).collect();
        assert!(told.is_sorted(), "{engine} {wait}: {told:?}");
        assert_eq!(told.last(), Some(&bytes), "{engine} {wait}");
        let untold = receiver.notices.try_iter();
        let is_told = |notice| matches!(notice, Notice::Flows { .. });
        assert!(!untold.into_iter().any(is_told), "{engine} {wait}: nobody asked");
    });
}

#[test]
fn reports_are_made_while_nothing_moves() {
    everywhere(|engine, wait| {
        let (here, _there) = pair(STREAM, &Settings::default());
        let flow = Stream::new(0, 0, 1);
        let running = start(engine, terms(wait, STREAM), vec![(flow, vec![here])], Bench::new());
        let reports = running
            .notices
            .iter()
            .filter(|notice| matches!(notice, Notice::Report { report: 0, .. }));
        assert_eq!(reports.take(5).count(), 5);
        running.remote.send(Command::Abandon);
        running.finish();
    });
}

#[test]
fn each_phase_is_told_once_with_its_totals() {
    everywhere(|engine, wait| {
        let (here, there) = pair(STREAM, &Settings::default());
        let one = Stream::new(0, 5_000, 7_000);
        let one = start(engine, terms(wait, STREAM), vec![(one, vec![here])], Bench::new());
        let other = Stream { held: true, ..Stream::new(0, 7_000, 5_000) };
        let other = start(engine, terms(wait, STREAM), vec![(other, vec![there])], Bench::new());
        assert!(one.tells_of(Phase::SendingDone), "{engine} {wait}");
        other.remote.tell(None, Event::PeerTotal(5_000));
        one.finish();
        other.finish();
        let mut phases = Vec::new();
        for notice in one.notices.try_iter() {
            if let Notice::Phase { phase, totals, .. } = notice {
                phases.push((phase, totals.sent, totals.received));
            }
        }
        assert_eq!(phases, [(Phase::Done, 5_000, 7_000)], "{engine} {wait}");
    });
}

#[test]
fn flows_start_when_it_is_time_and_not_before() {
    everywhere(|engine, wait| {
        let mut terms = terms(wait, STREAM);
        terms.begin = terms.start.plus_nanos(30_000_000);
        let running = start(engine, terms, vec![(Clockwork::new(0, 1, 1), vec![])], Bench::new());
        let finished = running.finish();
        assert!(clock::now() >= terms.begin, "{engine} {wait}");
        assert_eq!(finished.flows[0].0.early, 0);
    });
}

#[test]
fn a_stop_before_the_start_starts_first() {
    everywhere(|engine, wait| {
        let (here, _there) = pair(STREAM, &Settings::default());
        let mut terms = terms(wait, STREAM);
        terms.begin = Tick::NEVER;
        // The machine panics where it is asked before it was started.
        let flow = Stream::new(0, 1, 1);
        let running = start(engine, terms, vec![(flow, vec![here])], Bench::new());
        running.remote.tell(None, Event::Stop);
        assert_eq!(running.finish().ended, Ended::AllOver, "{engine} {wait}");
    });
}

#[test]
fn a_worker_has_to_be_told_how_to_wait() {
    let (_remote, inbox) = worker_inbox().expect("an inbox");
    let (sender, _notices) = std::sync::mpsc::channel();
    let worker: Worker<Stream> = Worker {
        flows: Vec::new(),
        shared: Bench::new(),
        terms: terms(Wait::Auto, STREAM),
        inbox,
        outbox: Outbox::new(sender, None),
        made: None,
        succession: None,
    };
    let refused = registry::run(pathscope_engines::EngineKind::Plain, worker, Kernel);
    assert!(matches!(refused, Err(EngineError::WaitUndecided)));
}
