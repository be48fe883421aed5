//! ntttcp's senders at our server, over real sockets: our own, and whoever says the words of the reference (section 2), or does not.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use pathscope_core::journal::Entry;
use pathscope_core::quantity::Period;
use pathscope_core::record::Caveat;
use pathscope_modes::goodput::GoodputPlan;
use pathscope_modes::groups::Test;
use pathscope_modes::load::{Extent, LoadArgs};
use pathscope_os::{clock, sockets};
use pathscope_peers::registry::{PeerKind, Words};
use pathscope_run::records::journal::{Journal, Sink, Wants};
use pathscope_run::server::{Settings, Stated};

use crate::common;

/// What is waited for that has to come.
pub const PATIENCE: Duration = Duration::from_secs(20);
pub const PORTS: u16 = 2;
const KIND: PeerKind = PeerKind::Ntttcp;

/// Keeps what came on each connection, and why it failed.
#[derive(Default)]
struct Rows(Mutex<Vec<(u64, Option<String>)>>, Condvar);

impl Rows {
    /// Waits until there are so many.
    fn wait_for(&self, count: usize) {
        let rows = self.0.lock().expect("nobody panics with it");
        let waited = self.1.wait_timeout_while(rows, PATIENCE, |rows| rows.len() < count);
        drop(waited.expect("nobody panics with it"));
    }

    /// What came on each; none has failed.
    fn bytes(&self) -> Vec<u64> {
        let rows = self.0.lock().expect("nobody panics with it").clone();
        let failed: Vec<_> = rows.iter().filter_map(|(_, error)| error.as_ref()).collect();
        assert!(failed.is_empty(), "{failed:?}");
        rows.into_iter().map(|(bytes, _)| bytes).collect()
    }
}

/// Keeps how long each test took, in nanoseconds.
#[derive(Default)]
struct Lengths(Mutex<Vec<u64>>);

impl Sink for Lengths {
    fn wants(&self) -> Wants {
        Wants { progress: true, ..Wants::default() }
    }

    fn take(&self, entry: Entry) {
        if let Entry::TestOver(over) = entry {
            self.0.lock().expect("nobody panics with it").push(over.elapsed_ns);
        }
    }

    fn settle(&self) -> Vec<Caveat> {
        Vec::new()
    }

    fn caveats(&self) -> Vec<Caveat> {
        Vec::new()
    }
}

impl Sink for Rows {
    fn wants(&self) -> Wants {
        Wants::default()
    }

    fn take(&self, entry: Entry) {
        if let Entry::Closed(closed) = entry {
            let row = (closed.facts.received_bytes, closed.facts.error.map(|error| error.text));
            self.0.lock().expect("nobody panics with it").push(row);
            self.1.notify_all();
        }
    }

    fn settle(&self) -> Vec<Caveat> {
        Vec::new()
    }

    fn caveats(&self) -> Vec<Caveat> {
        Vec::new()
    }
}

/// What comes of it to do something at the first port for data of a server: with what came on each connection there, and what the server
/// said of its sessions.
fn served<R>(clients: impl FnOnce(u16) -> R) -> (R, Vec<u64>, Vec<String>) {
    let rows = Arc::new(Rows::default());
    let (come, lines) = served_to(rows.clone(), clients);
    (come, rows.bytes(), lines)
}

/// The same, with what happened told to somebody.
pub fn served_to<R>(sink: Arc<dyn Sink>, clients: impl FnOnce(u16) -> R) -> (R, Vec<String>) {
    let tests = Words::default().of(KIND).expect("it makes sense").tests;
    served_as(sink, (tests, false), clients)
}

/// The same of senders that run these, each by itself or several in one test.
pub fn served_as<R>(
    sink: Arc<dyn Sink>,
    tests: (Vec<Test>, bool),
    clients: impl FnOnce(u16) -> R,
) -> (R, Vec<String>) {
    served_so(settings_of(sink, tests), clients)
}

/// How a server of such senders is set.
pub fn settings_of(sink: Arc<dyn Sink>, (tests, is_of_several): (Vec<Test>, bool)) -> Settings {
    let (peer, port, ports, rate) = (KIND, Some(0), PORTS, None);
    Settings {
        journal: Journal::begin(sink, clock::now()),
        own_listeners_alone: true,
        stated: vec![Stated { peer, tests, port, ports, rate, is_of_several }],
        ..Settings::default()
    }
}

/// The same as [`served_as`] where these settings say all.
pub fn served_so<R>(settings: Settings, clients: impl FnOnce(u16) -> R) -> (R, Vec<String>) {
    let (come, mut lines) = common::served_as_told(KIND, settings, clients);
    lines.retain(|line| {
        ["session over", "refused", "not counted"].iter().any(|it| line.contains(it))
    });
    (come, lines)
}

/// Nothing more comes, and nothing broke.
pub fn closes(mut words: TcpStream) {
    assert_eq!(words.read(&mut [0]).expect("it closes"), 0);
}

pub fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
    stream
}

/// Says a word, and hears what is answered.
pub fn ask(words: &mut TcpStream, word: i32) -> i32 {
    words.write_all(&word.to_be_bytes()).expect("it is taken");
    let mut answer = [0; 4];
    words.read_exact(&mut answer).expect("it is answered");
    i32::from_be_bytes(answer)
}

#[test]
fn our_senders_and_our_server_count_the_same_with_and_without_words() {
    for kind in [KIND, PeerKind::NtttcpNoSync] {
        let mut plan = GoodputPlan::of(LoadArgs::usual()).expect("it can be run");
        plan.connections = 4;
        plan.extent = Extent::DurationNs(Period::from_millis(300));
        plan.warm_up_ns = Period(0);
        let load = Test::new(plan.into(), None, Period::from_millis(100));
        let rows = Arc::new(Rows::default());
        let ((document, failure), lines) = served_to(rows.clone(), |port| {
            let places = (port..port + PORTS).map(|port| format!("127.0.0.1:{port}"));
            let came_of_it = common::run_at(kind, (places.collect(), port), vec![load]);
            // A sender leaves when it has sent all: a server that is stopped then has not received all.
            rows.wait_for(4);
            came_of_it
        });
        let rows = rows.bytes();
        assert_eq!(failure, None, "{kind}");
        let [measurement] = &document.measurements[..] else { panic!("one test: {document:?}") };
        let sent = measurement.client.goodput.as_ref().expect("it is a load").sent_bytes;
        assert_eq!((rows.len(), rows.iter().sum::<u64>()), (4, sent), "{kind}");
        assert!(sent > 0 && rows.iter().all(|bytes| *bytes > 0), "{rows:?}");
        let [line] = &lines[..] else { panic!("one session: {lines:?}") };
        assert!(line.ends_with("session over"), "{line}");
    }
}

#[test]
fn what_came_before_a_test_without_words_counts_over_the_time_in_which_it_came() {
    let lengths = Arc::new(Lengths::default());
    let ((), lines) = served_to(lengths.clone(), |port| {
        let mut stream = connect(port);
        stream.write_all(&[b'A'; 1_000]).expect("it is taken");
        // All has been sent before the server knows that no more connections come.
        stream.shutdown(Shutdown::Write).expect("it is connected");
        assert_eq!(stream.read(&mut [0]).expect("it closes"), 0);
        // The next is heard as soon as the first is gone.
        assert_eq!(ask(&mut connect(port - 1), 88), 11);
    });
    let lengths = lengths.0.lock().expect("nobody panics with it").clone();
    let [length_ns] = lengths[..] else { panic!("one test: {lengths:?}, {lines:?}") };
    assert!(length_ns >= 100_000_000, "{length_ns}");
}

#[test]
fn one_address_has_one_test_at_a_time_and_strangers_cost_others_nothing() {
    let (answers, rows, lines) = served(|port| {
        let mut stranger = connect(port - 1);
        stranger.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("it is taken");
        // It is closed: maybe broken, since not all that it said was heard.
        let _ = stranger.read(&mut [0]);
        let mut first = connect(port - 1);
        let mut answers = vec![ask(&mut first, 88), ask(&mut first, 88)];
        let mut data = [port, port + 1].map(connect);
        answers.push(ask(&mut first, 82));
        // The next is heard as soon as the first is gone, and its connections are its own.
        let mut next = connect(port - 1);
        next.write_all(&88_i32.to_be_bytes()).expect("it is taken");
        data.iter_mut().for_each(|it| it.write_all(&[b'A'; 1_000]).expect("it is taken"));
        answers.push(ask(&mut first, 69));
        drop((first, data));
        let mut answer = [0; 4];
        next.read_exact(&mut answer).expect("it is heard");
        answers.push(i32::from_be_bytes(answer));
        answers.push(ask(&mut next, 5));
        let mut data = connect(port);
        answers.push(ask(&mut next, 82));
        data.write_all(&[b'A'; 77]).expect("it is taken");
        drop(data);
        answers.push(ask(&mut next, 69));
        assert_eq!(next.read(&mut [0]).expect("it closes"), 0);
        answers
    });
    assert_eq!(answers, [11, 88, 82, 13, 11, 5, 82, 13]);
    assert_eq!(rows, [1_000, 1_000, 77]);
    let [stranger, first, next] = &lines[..] else { panic!("{lines:?}") };
    assert!(stranger.contains("it may be none"), "{stranger}");
    assert!([first, next].iter().all(|line| line.ends_with("session over")), "{lines:?}");
}

#[test]
fn a_second_sender_of_an_address_is_told_that_it_is_busy_when_it_has_waited_for_the_first() {
    let ((answers, waited), rows, lines) = served(|port| {
        let mut first = connect(port - 1);
        let mut answers = vec![ask(&mut first, 88), ask(&mut first, 5)];
        let data = connect(port);
        answers.push(ask(&mut first, 82));
        let begun = clock::now();
        let mut second = connect(port - 1);
        answers.push(ask(&mut second, 88));
        let waited = clock::now().since(begun);
        assert_eq!(second.read(&mut [0]).expect("it closes"), 0);
        // It has cost the first nothing.
        (&data).write_all(&[b'A'; 1_000]).expect("it is taken");
        drop(data);
        answers.push(ask(&mut first, 69));
        assert_eq!(first.read(&mut [0]).expect("it closes"), 0);
        (answers, waited)
    });
    assert_eq!(answers, [11, 5, 82, 12, 13]);
    assert!(waited >= Duration::from_secs(2), "the first may have been about to end: {waited:?}");
    assert_eq!(rows, [1_000]);
    let [refused, over] = &lines[..] else { panic!("{lines:?}") };
    assert!(refused.contains("refused") && over.ends_with("session over"), "{lines:?}");
}

#[test]
fn one_that_waits_for_the_sender_before_is_told_that_it_is_busy_where_the_server_ends() {
    let rows = Arc::new(Rows::default());
    let ((mut second, first, data), lines) = served_to(rows, |port| {
        let mut first = connect(port - 1);
        assert_eq!([88, 5].map(|word| ask(&mut first, word)), [11, 5]);
        let data = connect(port);
        assert_eq!(ask(&mut first, 82), 82);
        let mut second = connect(port - 1);
        second.write_all(&88_i32.to_be_bytes()).expect("it is taken");
        // Whoever is heard at the same port came behind it.
        let there = SocketAddr::from(([127, 0, 0, 1], port - 1));
        let settings = sockets::Settings {
            local: Some(SocketAddr::from(([127, 77, 24, 1], 0))),
            ..sockets::Settings::default()
        };
        let other = sockets::connect_tcp(there, &settings, clock::now() + PATIENCE, None);
        let mut other = other.expect("it listens").into_tcp_stream();
        assert_eq!(ask(&mut other, 88), 11);
        (second, first, data)
    });
    let mut answer = [0; 4];
    second.read_exact(&mut answer).expect("it is told");
    assert_eq!(i32::from_be_bytes(answer), 12);
    closes(second);
    drop((first, data));
    assert_eq!(lines.iter().filter(|line| line.contains("refused")).count(), 1, "{lines:?}");
}
