//! Several of ntttcp's senders in one test of our server, over real sockets: our own, and whoever says the words of the reference
//! (section 2.3).

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use pathscope_core::journal::Entry;
use pathscope_core::quantity::Period;
use pathscope_core::record::Caveat;
use pathscope_modes::goodput::GoodputPlan;
use pathscope_modes::groups::Test;
use pathscope_modes::load::{Extent, LoadArgs};
use pathscope_modes::registry::Plan;
use pathscope_peers::limits::Limits;
use pathscope_peers::registry::{PeerKind, Words};
use pathscope_run::records::journal::{Sink, Wants};
use pathscope_run::server::Settings;

use super::ntttcp_served::{PATIENCE, PORTS, ask, closes, connect, served_so, settings_of};
use crate::common;

/// Words of a sender: is it busy, begin, begin with all since I am the last, all is sent.
const QUERY: i32 = 88;
const START: i32 = 82;
const LAST: i32 = 76;
const END: i32 = 69;
/// What is answered: it is not busy, it is, wait, it is over.
const IDLE: i32 = 11;
const BUSY: i32 = 12;
const WAIT: i32 = 87;
const FINISHED: i32 = 13;
/// For how many seconds all senders send, as the server has it.
const CYCLE: i32 = 1;

/// Keeps what came on each connection and why it failed, how many tests began, and how often senders were told something.
#[derive(Default)]
struct Kept(Mutex<Seen>, Condvar);

#[derive(Clone, Default)]
struct Seen {
    rows: Vec<u64>,
    failures: Vec<String>,
    tests: usize,
    told: usize,
}

impl Kept {
    fn wait_until(&self, is_so: impl Fn(&Seen) -> bool) -> Seen {
        let seen = self.0.lock().expect("nobody panics with it");
        let waited = self.1.wait_timeout_while(seen, PATIENCE, |seen| !is_so(seen));
        let (seen, waited) = waited.expect("nobody panics with it");
        assert!(!waited.timed_out(), "it did not come to that: {:?}, {}", seen.rows, seen.told);
        seen.clone()
    }
}

impl Sink for Kept {
    fn wants(&self) -> Wants {
        Wants { steps: true, progress: true, ..Wants::default() }
    }

    fn take(&self, entry: Entry) {
        let mut seen = self.0.lock().expect("nobody panics with it");
        match entry {
            Entry::Closed(closed) => {
                seen.rows.push(closed.facts.received_bytes);
                seen.failures.extend(closed.facts.error.map(|error| error.text));
            }
            Entry::TestBegan(_) => seen.tests += 1,
            Entry::Step(step) if step.text.contains("of several was told") => seen.told += 1,
            _ => {}
        }
        self.1.notify_all();
    }

    fn settle(&self) -> Vec<Caveat> {
        Vec::new()
    }

    fn caveats(&self) -> Vec<Caveat> {
        Vec::new()
    }
}

/// What comes of senders at a server that takes them into one test, and what it said of its sessions.
fn served<R>(kept: &Arc<Kept>, clients: impl FnOnce(u16) -> R) -> (R, Vec<String>) {
    served_so(settings(kept), clients)
}

fn settings(kept: &Arc<Kept>) -> Settings {
    let mut tests = Words::default().of(PeerKind::Ntttcp).expect("it makes sense").tests;
    for test in &mut tests {
        let Plan::Goodput(plan) = &mut test.plan else { panic!("it is a load") };
        plan.extent = Extent::DurationNs(Period::from_secs(u64::from(CYCLE.unsigned_abs())));
    }
    settings_of(kept.clone(), (tests, true))
}

/// One that is told for how long it sends, and has as many connections.
fn comes(port: u16, connections: u16) -> (TcpStream, Vec<TcpStream>) {
    let mut words = connect(port - 1);
    // Whatever it asks for.
    assert_eq!([ask(&mut words, QUERY), ask(&mut words, 82)], [IDLE, CYCLE]);
    (words, (0..connections).map(|place| connect(port + place % PORTS)).collect())
}

/// The same of one that waits.
fn waits(port: u16, connections: u16) -> (TcpStream, Vec<TcpStream>) {
    let (mut words, data) = comes(port, connections);
    assert_eq!(ask(&mut words, START), WAIT);
    (words, data)
}

/// One that is told for how long it sends is the last, sends so much, and is let go when all is over.
fn ends((mut words, mut data): (TcpStream, TcpStream), bytes: usize) {
    assert_eq!(ask(&mut words, LAST), START);
    data.write_all(&vec![b'A'; bytes]).expect("it is taken");
    drop(data);
    assert_eq!(ask(&mut words, END), FINISHED);
    closes(words);
}

fn word(words: &mut TcpStream) -> i32 {
    let mut word = [0; 4];
    words.read_exact(&mut word).expect("it is said");
    i32::from_be_bytes(word)
}

#[test]
fn senders_of_one_address_are_one_test_and_one_that_goes_or_has_no_place_is_none_of_it() {
    let kept = Arc::<Kept>::default();
    let (refused, lines) = served(&kept, |port| {
        let gone = waits(port, 3);
        let mut all = vec![waits(port, 1), waits(port, 2)];
        drop(gone);
        let mut stranger = connect(port - 1);
        stranger.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("it is taken");
        closes(stranger);
        let (mut last, data) = comes(port, 1);
        let (mut late, none) = comes(port, 0);
        assert_eq!(ask(&mut last, LAST), START);
        for (words, _) in &mut all {
            assert_eq!(word(words), START);
        }
        let refused = ask(&mut late, START);
        drop((late, none));
        all.push((last, data));
        for (bytes, (_, data)) in (1_000..).step_by(1_000).zip(&mut all) {
            for stream in data {
                stream.write_all(&vec![b'A'; bytes]).expect("it is taken");
            }
        }
        for (words, data) in &mut all {
            data.clear();
            assert_eq!(ask(words, END), FINISHED);
        }
        // All of them are let go when the test is over.
        for (words, _) in &mut all {
            assert_eq!(words.read(&mut [0]).expect("it closes"), 0);
        }
        refused
    });
    assert_eq!(refused, END);
    let mut seen = kept.wait_until(|seen| seen.rows.len() >= 4);
    seen.rows.sort_unstable();
    assert_eq!(seen.rows, [1_000, 2_000, 2_000, 3_000]);
    assert_eq!((seen.tests, seen.failures), (1, Vec::new()));
    let [line] = &lines[..] else { panic!("one session: {lines:?}") };
    assert!(line.ends_with("session over"), "{line}");
}

#[test]
fn three_senders_of_ours_take_part_in_one_test_and_every_byte_is_counted() {
    const CONNECTIONS: usize = 2;
    let mut plan = GoodputPlan::of(LoadArgs::usual()).expect("it can be run");
    plan.connections = CONNECTIONS as u32;
    plan.extent = Extent::DurationNs(Period::from_millis(300));
    plan.warm_up_ns = Period(0);
    let load = Test::new(plan.into(), None, Period::from_millis(100));
    let kept = Arc::<Kept>::default();
    let (sent, lines) = served(&kept, |port| {
        let places = (port..port + PORTS).map(|port| format!("127.0.0.1:{port}"));
        let places: Vec<String> = places.collect();
        let run = |kind| {
            let (document, failure) =
                common::run_at(kind, (places.clone(), port), vec![load.clone()]);
            assert_eq!(failure, None, "{kind}");
            let client = document.measurements[0].client.goodput.as_ref();
            client.expect("it is a load").sent_bytes
        };
        let sent: u64 = thread::scope(|scope| {
            let waiting = [PeerKind::Ntttcp; 2].map(|kind| scope.spawn(move || run(kind)));
            // Each was told that nobody is busy, for how long it sends, and to wait.
            kept.wait_until(|seen| seen.told >= 6);
            let last = run(PeerKind::NtttcpLast);
            waiting.into_iter().map(|it| it.join().expect("it does not panic")).sum::<u64>() + last
        });
        // A sender leaves when it has sent all: a server that is stopped then has not received all.
        kept.wait_until(|seen| seen.rows.len() >= 3 * CONNECTIONS);
        sent
    });
    let seen = kept.wait_until(|_| true);
    assert_eq!((seen.rows.len(), seen.rows.iter().sum::<u64>()), (3 * CONNECTIONS, sent));
    assert!(seen.rows.iter().all(|bytes| *bytes > 0), "{:?}", seen.rows);
    assert_eq!((seen.tests, seen.failures), (1, Vec::new()));
    let [line] = &lines[..] else { panic!("one session: {lines:?}") };
    assert!(line.ends_with("session over"), "{line}");
}

#[test]
fn one_of_whom_nothing_was_heard_when_the_test_was_over_is_of_the_next() {
    let kept = Arc::<Kept>::default();
    let ((), lines) = served(&kept, |port| {
        // It comes first, since all come to one listener, and what it says is on its way for as long as a test takes.
        let mut slow = connect(port - 1);
        let (last, data) = comes(port, 1);
        ends((last, data.into_iter().next().expect("one")), 1_000);
        assert_eq!([ask(&mut slow, QUERY), ask(&mut slow, 5)], [IDLE, CYCLE]);
        ends((slow, connect(port)), 77);
    });
    let seen = kept.wait_until(|seen| seen.rows.len() >= 2);
    assert_eq!((seen.rows, seen.tests, seen.failures), (vec![1_000, 77], 2, Vec::new()));
    let [first, next] = &lines[..] else { panic!("two sessions: {lines:?}") };
    assert!([first, next].iter().all(|line| line.ends_with("session over")), "{lines:?}");
}

#[test]
fn each_of_many_that_come_as_the_one_before_goes_is_heard() {
    const SENDERS: usize = 500;
    let kept = Arc::<Kept>::default();
    let (answers, _) = served(&kept, |port| {
        let answer = |_| ask(&mut connect(port - 1), QUERY);
        (0..SENDERS).map(answer).collect::<Vec<_>>()
    });
    assert_eq!(answers, [IDLE; SENDERS]);
}

#[test]
fn one_of_whom_nothing_was_heard_when_the_server_ended_is_told_that_it_is_busy() {
    let kept = Arc::<Kept>::default();
    let ((mut slow, heard), _) = served(&kept, |port| {
        let slow = connect(port - 1);
        (slow, comes(port, 0).0)
    });
    assert_eq!(word(&mut slow), BUSY);
    closes(slow);
    closes(heard);
}

#[test]
fn one_more_than_may_be_heard_is_told_so_and_sees_an_end_though_it_has_said_more() {
    const HEARD: usize = 64;
    let kept = Arc::<Kept>::default();
    let limits = Limits { sessions: None, sessions_per_address: None, ..Limits::default() };
    let ((), _) = served_so(Settings { limits, ..settings(&kept) }, |port| {
        let heard: Vec<TcpStream> = (0..HEARD).map(|_| connect(port - 1)).collect();
        let mut more = connect(port - 1);
        assert_eq!(ask(&mut more, QUERY), BUSY);
        closes(more);
        drop(heard);
    });
}
