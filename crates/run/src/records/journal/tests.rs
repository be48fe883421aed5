//! What a session writes down of its connections, told at stated times.

use std::sync::{Arc, Mutex};

use pathscope_core::id::Token;
use pathscope_core::journal::ConnectionProgress;
use pathscope_core::quantity::{Frequency, Period};
use pathscope_core::record::{FlowErrorKind, TcpFacts};
use pathscope_core::tcp_look::TcpLook;
use pathscope_modes::goodput::{GoodputReport, Iterations};
use pathscope_modes::load::Pattern;
use pathscope_modes::registry::Plan;

use pathscope_modes::survey::{self, SurveyOptions};
use pathscope_peers::native::Client;

use super::*;
use crate::messages::outcome::{FlowProgress, LastSeen};

/// Keeps all entries.
#[derive(Default)]
struct Kept(Mutex<Vec<Entry>>);

impl Sink for Kept {
    fn wants(&self) -> Wants {
        Wants { status: true, progress: true, ..Wants::default() }
    }

    fn take(&self, entry: Entry) {
        self.0.lock().expect("nobody panics with it").push(entry);
    }

    fn settle(&self) -> Vec<Caveat> {
        Vec::new()
    }

    fn caveats(&self) -> Vec<Caveat> {
        Vec::new()
    }
}

impl Kept {
    /// What rows of connections that ended say, in order.
    fn closed(&self) -> Vec<FlowFacts> {
        let entries = self.0.lock().expect("nobody panics with it");
        let closed = entries.iter().filter_map(|entry| match entry {
            Entry::Closed(closed) => Some(closed.facts.clone()),
            _ => None,
        });
        closed.collect()
    }

    /// What was told of intervals of each connection, in order.
    fn progress(&self) -> Vec<ConnectionProgress> {
        let entries = self.0.lock().expect("nobody panics with it");
        let told = entries.iter().filter_map(|entry| match entry {
            Entry::Progress(progress) => Some(ConnectionProgress::clone(progress)),
            _ => None,
        });
        told.collect()
    }

    /// How long each connection was open by its row, in the order of the rows.
    fn lasted_ms(&self) -> Vec<(u32, u64)> {
        let entries = self.0.lock().expect("nobody panics with it");
        let closed = entries.iter().filter_map(|entry| match entry {
            Entry::Closed(closed) => Some((closed.facts.flow.0, closed.time_ns / 1_000_000)),
            _ => None,
        });
        closed.collect()
    }
}

#[test]
fn what_went_through_each_connection_is_told_of_every_interval() {
    let kept = Arc::new(Kept::default());
    let mut session =
        SessionJournal::new(Journal::begin(kept.clone(), clock::now()), "peer".to_owned());
    session.expect(names(), (Role::Client, [true; 2]), &one_after_the_other());
    let begin = clock::now().plus_nanos(60_000_000_000);
    let at = |seconds: u64| begin.plus_nanos(seconds * 1_000_000_000);
    let flows = [0, 1].map(|flow| Beginner { flow: FlowId(flow), ..beginner() });
    session.started(&flows, ToldAs::Connections, begin);
    let totals = |sent| Totals { sent, received: 0 };
    let progress =
        |flow, totals| FlowProgress { flow: FlowId(flow), totals, datagrams: None, tcp: None };
    session.progress(&[progress(0, totals(50)), progress(1, totals(7))], (begin, at(5)));
    // A half that receives says nothing of what is sent.
    session.progress(&[progress(0, Totals { sent: 0, received: 3 })], (begin, at(5)));
    // How it stood then is told whole, where it was asked then.
    let look = Some(TcpLook { peer_window_bytes: Some(9_000), ..TcpLook::default() });
    let seen = LastSeen { facts: TcpFacts::default(), look };
    session.ended(FlowId(0), totals(60), (at(7), Some(seen)), None);
    // It is over: what is still told of it is no news.
    session.progress(&[progress(0, totals(60)), progress(1, totals(9))], (at(5), at(10)));
    let told = kept.progress();
    let seconds =
        |told: &ConnectionProgress| [told.start_ns, told.end_ns].map(|at| at / 1_000_000_000);
    let rows: Vec<_> = told
        .iter()
        .map(|told| (told.flow.0, seconds(told), told.sent_bytes, told.received_bytes))
        .collect();
    let expected = [
        (0, [0, 5], 50, 0),
        (1, [0, 5], 7, 0),
        (0, [5, 5], 0, 3),
        (0, [5, 7], 10, 0),
        (1, [5, 10], 2, 0),
    ];
    assert_eq!(rows, expected);
    assert_eq!(told[3].tcp, look);
}

/// A session whose datagrams begin in a minute, what it keeps, and when so many seconds of them are over.
fn of_datagrams() -> (Arc<Kept>, SessionJournal, impl Fn(u64) -> Tick) {
    let kept = Arc::new(Kept::default());
    let mut session =
        SessionJournal::new(Journal::begin(kept.clone(), clock::now()), "peer".to_owned());
    session.expect(names(), (Role::Client, [true; 2]), &one_after_the_other());
    let begin = clock::now().plus_nanos(60_000_000_000);
    session.started(&[beginner()], ToldAs::Datagrams, begin);
    (kept, session, move |seconds| begin.plus_nanos(seconds * 1_000_000_000))
}

#[test]
fn a_test_begins_with_what_it_moves_and_is_over_with_its_session_and_datagrams_are_counted() {
    let (kept, mut session, at) = of_datagrams();
    let flow = beginner().flow;
    for (received, expected, duplicates, end) in [(3, 5, 0, 1), (9, 10, 2, 2)] {
        let expected = Some(expected);
        let datagrams = Some(FlowDatagrams { expected, duplicates, ..FlowDatagrams::default() });
        let totals = Totals { sent: 0, received };
        let progress = FlowProgress { flow, totals, datagrams, tcp: None };
        session.progress(&[progress], (at(end - 1), at(end)));
    }
    drop(session);
    let told = kept.progress();
    let counts = told.iter().filter_map(|told| told.datagrams);
    let counts: Vec<_> = counts.map(|it| (it.received, it.expected, it.duplicates)).collect();
    assert_eq!(counts, [(3, Some(5), 0), (6, Some(5), 2)]);
    let entries = kept.0.lock().expect("nobody panics with it");
    let Some(Entry::TestBegan(began)) = entries.first() else { panic!("{entries:?}") };
    assert!(began.session == "peer" && began.load.is_up && !began.load.is_udp, "{began:?}");
    assert_eq!(told[0].received_bytes, 3 * began.load.block_bytes);
    assert!(matches!(entries.last(), Some(Entry::TestOver(over)) if over.session == "peer"));
}

#[test]
fn what_is_waited_for_in_vain_behind_the_end_is_no_time_of_datagrams() {
    let end_of = |last_ms: u64| {
        let (kept, mut session, at) = of_datagrams();
        session.stops(at(2));
        let last_ns = Some(last_ms * 1_000_000);
        let datagrams = Some(FlowDatagrams { last_ns, ..FlowDatagrams::default() });
        let (flow, totals) = (beginner().flow, Totals { sent: 0, received: 9 });
        session.progress(&[FlowProgress { flow, totals, datagrams, tcp: None }], (at(1), at(3)));
        kept.progress()[0].end_ns / 1_000_000
    };
    // What came before the end, in the time that is waited, and at the last moment of it.
    assert_eq!([1_500, 2_500, 3_500].map(end_of), [2_000, 2_500, 3_000]);
}

#[test]
fn where_the_other_end_says_nothing_no_word_of_it_is_awaited() {
    let mut test = one_after_the_other();
    if let Plan::Goodput(plan) = &mut test.plan {
        plan.shape.iterations = Iterations::Times(1);
    }
    for role in [Role::Client, Role::Server] {
        let kept = Arc::new(Kept::default());
        let mut session =
            SessionJournal::new(Journal::begin(kept.clone(), clock::now()), "peer".to_owned());
        session.expect(names(), (role, [false; 2]), &test);
        session.started(&[beginner()], ToldAs::Connections, clock::now());
        session.ended(FlowId(0), Totals { sent: 9, received: 0 }, (clock::now(), None), None);
        let closed = kept.closed();
        let rows: Vec<_> = closed.iter().map(|it| (it.sent_bytes, it.error.is_none())).collect();
        assert_eq!(rows, [(9, true)], "{role:?}");
    }
}

#[test]
fn a_test_that_begins_before_its_first_connection_tells_of_each_that_comes() {
    let kept = Arc::new(Kept::default());
    let mut session =
        SessionJournal::new(Journal::begin(kept.clone(), clock::now()), "peer".to_owned());
    session.expect(names(), (Role::Server, [false; 2]), &one_after_the_other());
    session.started(&[], ToldAs::Connections, clock::now());
    session.opened(FlowId(0), [None; 2], clock::now());
    session.departed(
        FlowFacts { flow: FlowId(0), received_bytes: 9, ..FlowFacts::default() },
        clock::now(),
    );
    let received: Vec<u64> = kept.closed().iter().map(|it| it.received_bytes).collect();
    assert_eq!(received, [9]);
}

/// The first flow of a test.
fn beginner() -> Beginner {
    Beginner { flow: FlowId(0), addresses: [None; 2], view: None }
}

/// As the dialogue of pathscope itself has them.
fn names() -> FlowNames {
    FlowNames::of::<Client>(Token([7; 16]))
}

/// Four connections of a test, one after the other.
fn one_after_the_other() -> Test {
    let options = SurveyOptions {
        connections: 1,
        duration: Period::from_secs(10),
        probe_rate: Frequency(100),
        congestion_control: None,
    };
    let mut tests = survey::tests(&options, Period::from_secs(1)).into_iter().map(|(_, test)| test);
    let pushes =
        |test: &Test| matches!(&test.plan, Plan::Goodput(plan) if plan.pattern == Pattern::Push);
    let mut test = tests.find(pushes).expect("a survey pushes");
    if let Plan::Goodput(plan) = &mut test.plan {
        plan.shape.iterations = Iterations::Times(4);
    }
    test
}

#[test]
fn a_connection_that_follows_others_counts_from_its_own_begin() {
    for role in [Role::Client, Role::Server] {
        let kept = Arc::new(Kept::default());
        let mut session =
            SessionJournal::new(Journal::begin(kept.clone(), clock::now()), "peer".to_owned());
        session.expect(names(), (role, [true; 2]), &one_after_the_other());
        // The test begins late in the life of its program; a connection lasts a second, and the next comes 100 ms later.
        let begin = clock::now().plus_nanos(60_000_000_000);
        let since = |number: u64| begin.plus_nanos(number * 1_100_000_000);
        session.started(&[beginner()], ToldAs::Connections, since(0));
        for number in 0..4 {
            let flow = FlowId(number as u32);
            if number > 0 {
                session.opened(flow, [None; 2], since(number));
            }
            let facts = FlowFacts { flow, sent_bytes: 1_000, ..FlowFacts::default() };
            session.departed(facts, since(number).plus_nanos(1_000_000_000));
        }
        if role == Role::Server {
            // Its rows wait for what the client says; two of these come by word of single ones, two with the report.
            assert_eq!(kept.lasted_ms(), []);
            for flow in [0, 1] {
                session.peer_ended(FlowId(flow), Totals { sent: 0, received: 1_000 }, None);
            }
            session.peer_reported(&EndReport::default(), false);
        }
        let expected: Vec<_> = (0..4).map(|flow| (flow, 1_000)).collect();
        assert_eq!(kept.lasted_ms(), expected, "{role:?}");
    }
}

/// The row of a connection that ended well here, whose other end says nothing, and that this end reported.
fn row_of_one_left(is_stopped: bool, reported: Option<u64>) -> FlowFacts {
    let kept = Arc::new(Kept::default());
    let mut session =
        SessionJournal::new(Journal::begin(kept.clone(), clock::now()), "peer".to_owned());
    let mut test = one_after_the_other();
    if let Plan::Goodput(plan) = &mut test.plan {
        plan.shape.iterations = Iterations::Times(1);
    }
    session.expect(names(), (Role::Client, [true; 2]), &test);
    let begin = clock::now();
    session.started(&[beginner()], ToldAs::Connections, begin);
    let seen = TcpFacts { retransmits: Some(2), ..TcpFacts::default() };
    session.ended(
        FlowId(0),
        Totals { sent: 9, received: 0 },
        (begin, Some(LastSeen { facts: seen, look: None })),
        None,
    );
    let tcp = reported
        .map(|retransmits| TcpFacts { retransmits: Some(retransmits), ..TcpFacts::default() });
    let facts = FlowFacts { flow: FlowId(0), tcp, ..FlowFacts::default() };
    let goodput = GoodputReport { flows: vec![facts], ..GoodputReport::default() };
    session.reported(&EndReport { goodput: Some(goodput), ..EndReport::default() });
    session.alone(is_stopped);
    let mut rows = kept.closed();
    assert_eq!(rows.len(), 1);
    rows.remove(0)
}

#[test]
fn a_connection_that_nobody_waits_for_any_more_is_not_known_to_have_failed() {
    for (is_stopped, kind, text) in [
        (true, FlowErrorKind::Unconfirmed, "the run was stopped"),
        (false, FlowErrorKind::Network, "the session was lost"),
    ] {
        let error = row_of_one_left(is_stopped, None).error.expect("nobody confirmed it");
        assert_eq!(error.kind, kind);
        assert!(error.text.contains(text), "{}", error.text);
    }
}

#[test]
fn a_row_tells_the_retransmits_that_the_report_tells() {
    // Where nothing is reported of it, those that it had when it ended.
    for (reported, told) in [(Some(5), Some(5)), (None, Some(2))] {
        let tcp = row_of_one_left(false, reported).tcp.expect("the kernel says");
        assert_eq!(tcp.retransmits, told);
    }
}
