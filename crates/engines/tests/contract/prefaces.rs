//! Flows that come with something to say and to hear first: they are told of their own bytes alone, and of nothing where the
//! connection does not become theirs.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, Sender, channel};

use pathscope_core::id::FlowId;
use pathscope_core::{Tick, Wait};
use pathscope_engines::{EngineKind, Preface, SystemCalls, Unheard};
use pathscope_flow::{Close, Phase, Transport};
use pathscope_os::clock;
use pathscope_os::sockets::{Settings, Socket};

use crate::faults::{Fault, Faulty};
use crate::harness::{PATIENCE, everywhere, pair};
use crate::succession::Place;
use crate::toys::Stream;

const WORDS: &[u8] = b"this is what the connection is for";
const ANSWER: &[u8] = b"yes!";
const BYTES: u64 = 100_000;

/// Says its words, and awaits an answer, or none.
struct Words {
    missing: usize,
    until: Tick,
    came: Vec<u8>,
    tell: Sender<Unheard>,
}

impl Words {
    fn awaiting(missing: usize, until: Tick) -> (Box<dyn Preface>, Receiver<Unheard>) {
        let (tell, told) = channel();
        (Box::new(Self { missing, until, came: Vec::new(), tell }), told)
    }
}

impl Preface for Words {
    fn says(&self) -> &[u8] {
        WORDS
    }

    fn missing_bytes(&self) -> usize {
        self.missing
    }

    fn until(&self) -> Tick {
        self.until
    }

    fn connected(&mut self, at: Tick) {
        assert!(at > Tick::ZERO);
    }

    fn heard(&mut self, bytes: &[u8]) -> bool {
        assert!(!bytes.is_empty() && bytes.len() <= self.missing);
        self.missing -= bytes.len();
        self.came.extend_from_slice(bytes);
        self.missing > 0 || self.came == ANSWER
    }

    fn answered(&mut self, _: &Socket) {
        assert_eq!((self.missing, &*self.came), (0, ANSWER), "it is told once all is heard");
    }

    fn turned_away(self: Box<Self>, why: Unheard, _at: Tick) {
        self.tell.send(why).expect("somebody looks");
    }
}

/// Each engine that knows prefaces, with each way of waiting.
fn everywhere_known(mut test: impl FnMut(EngineKind, Wait)) {
    everywhere(|engine, wait| {
        if engine.speaks_prefaces() {
            test(engine, wait);
        }
    });
}

/// What comes first at the other end, as much as is there at once.
fn first(there: &mut TcpStream) -> Vec<u8> {
    there.set_nonblocking(false).expect("a socket");
    there.set_read_timeout(Some(PATIENCE)).expect("a socket");
    let mut bytes = vec![0; 1 << 16];
    let count = there.read(&mut bytes).expect("it says something");
    bytes.truncate(count);
    bytes
}

#[test]
fn words_leave_with_the_first_bytes_and_the_rest_follows_the_answer() {
    everywhere_known(|engine, wait| {
        let place = Place::open(engine, wait, Vec::new());
        let (here, there) = pair(Transport::Stream, &Settings::default());
        let mut there = there.into_tcp_stream();
        let (preface, told) = Words::awaiting(ANSWER.len(), Tick::NEVER);
        let flow = Stream { close: Some(Close::HalfWrite), ..Stream::new(7, BYTES, 0) };
        place.enter_with(flow, here, Some(preface));
        let early = first(&mut there);
        assert!(early.starts_with(WORDS) && early.len() > WORDS.len(), "{engine} {wait}");
        // Nothing more before the answer, however it comes.
        there.write_all(&ANSWER[..1]).expect("connected");
        there.write_all(&ANSWER[1..]).expect("connected");
        let mut rest = Vec::new();
        there.read_to_end(&mut rest).expect("to its end");
        assert_eq!(early.len() + rest.len(), WORDS.len() + BYTES as usize);
        drop(there);
        assert_eq!(place.departure(), (FlowId(7), Phase::Done, true), "{engine} {wait}");
        assert!(told.try_recv().is_err(), "it was not turned away");
        let finished = place.finish();
        let (flow, _) = finished.flows.first().expect("it was here");
        assert_eq!(flow.sent, BYTES);
    });
}

#[test]
fn bytes_that_come_with_the_answer_are_the_flow_s() {
    everywhere_known(|engine, wait| {
        let place = Place::open(engine, wait, Vec::new());
        let source = Place::open(engine, wait, Vec::new());
        let (here, there) = pair(Transport::Stream, &Settings::default());
        let (preface, _told) = Words::awaiting(ANSWER.len(), Tick::NEVER);
        place.enter_with(Stream::new(7, 0, BYTES), here, Some(preface));
        let mut raw = there.try_clone().expect("a descriptor").into_tcp_stream();
        assert_eq!(first(&mut raw), WORDS);
        // The answer is what this end says first.
        let answer = Box::new(Said(ANSWER, 0));
        let sends = Stream { close: Some(Close::HalfWrite), ..Stream::new(7, BYTES, 0) };
        source.enter_with(sends, there, Some(answer));
        assert_eq!(place.departure(), (FlowId(7), Phase::Done, true), "{engine} {wait}");
        assert_eq!(source.departure(), (FlowId(7), Phase::Done, true), "{engine} {wait}");
        drop(raw);
        place.finish();
        source.finish();
    });
}

/// Says this, and awaits nothing but so many bytes that were seen before.
struct Said(&'static [u8], usize);

impl Preface for Said {
    fn says(&self) -> &[u8] {
        self.0
    }

    fn unread_bytes(&self) -> usize {
        self.1
    }

    fn missing_bytes(&self) -> usize {
        0
    }

    fn until(&self) -> Tick {
        Tick::NEVER
    }

    fn connected(&mut self, _: Tick) {}

    fn heard(&mut self, _: &[u8]) -> bool {
        true
    }

    fn turned_away(self: Box<Self>, why: Unheard, _: Tick) {
        panic!("{why:?}");
    }
}

#[test]
fn what_awaits_no_answer_is_said_though_the_flow_says_nothing() {
    everywhere_known(|engine, wait| {
        let place = Place::open(engine, wait, Vec::new());
        let (here, there) = pair(Transport::Stream, &Settings::default());
        let mut there = there.into_tcp_stream();
        place.enter_with(Stream::new(7, 0, 4), here, Some(Box::new(Said(WORDS, 0))));
        assert_eq!(first(&mut there), WORDS, "{engine} {wait}");
        there.write_all(b"more").expect("connected");
        assert_eq!(place.departure().0, FlowId(7));
        place.finish();
    });
}

/// Whatever becomes of a call: what is said, and what is heard, is said and heard once, and the flow's bytes are its own.
#[test]
fn short_and_failing_calls_lose_and_double_nothing() {
    let scripts = [
        vec![Fault::Short(1), Fault::None],
        vec![Fault::Blocked, Fault::None],
        vec![Fault::NoRoom, Fault::None],
        vec![Fault::Interrupted, Fault::Short(WORDS.len())],
        vec![Fault::Short(WORDS.len() + 7), Fault::NoRoom, Fault::Short(3), Fault::Blocked],
    ];
    everywhere_known(|engine, wait| {
        // Taken by whoever saw them, or left to the flow's worker.
        for (script, unread) in scripts.iter().flat_map(|it| [(it, 0), (it, WORDS.len())]) {
            let open =
                || Place::open_on(engine, wait, Vec::new(), (Faulty::new(script.clone()), false));
            let (place, source) = (open(), open());
            let (here, there) = pair(Transport::Stream, &Settings::default());
            let (preface, told) = Words::awaiting(ANSWER.len(), Tick::NEVER);
            let both = || Stream { close: Some(Close::HalfWrite), ..Stream::new(7, BYTES, BYTES) };
            place.enter_with(both(), here, Some(preface));
            let mut raw = there.try_clone().expect("a descriptor").into_tcp_stream();
            raw.set_nonblocking(false).expect("a socket");
            raw.set_read_timeout(Some(PATIENCE)).expect("a socket");
            let mut words = vec![0; WORDS.len() - unread];
            raw.read_exact(&mut words).expect("all of them come");
            assert!(unread > 0 || words == WORDS, "{engine} {wait} {script:?}");
            source.enter_with(both(), there, Some(Box::new(Said(ANSWER, unread))));
            for place in [&place, &source] {
                let done = (FlowId(7), Phase::Done, true);
                assert_eq!(place.departure(), done, "{engine} {wait} {script:?} {unread}");
            }
            assert!(told.try_recv().is_err(), "it was not turned away");
            drop(raw);
            place.finish();
            source.finish();
        }
    });
}

/// Whether others come or nobody does, and however many wait: each hears of what comes.
#[test]
fn who_may_hear_late_hears_all_the_same() {
    everywhere_known(|engine, wait| {
        let (stays, _stays_there) = pair(Transport::Stream, &Settings::default());
        let held = Stream { held: true, ..Stream::new(99, 0, 1) };
        let place = Place::open(engine, wait, vec![(held, vec![stays])]);
        let mut there = Vec::new();
        for flow in 0..5 {
            let (here, other) = pair(Transport::Stream, &Settings::default());
            let mut other = other.into_tcp_stream();
            let patient = Stream { patient: true, ..Stream::new(flow, 0, 4) };
            place.enter_with(patient, here, Some(Box::new(Said(WORDS, 0))));
            assert_eq!(first(&mut other), WORDS, "{engine} {wait}");
            there.push(other);
        }
        for (mut other, flow) in there.into_iter().zip(0..) {
            other.write_all(b"more").expect("connected");
            assert_eq!(place.departure().0, FlowId(flow), "{engine} {wait}");
        }
        place.abandon();
    });
}

/// A clock that stands still: what waits for time to pass is never due.
#[derive(Clone, Copy, Debug)]
struct Standing(Tick);

impl SystemCalls for Standing {
    fn now(&mut self) -> Tick {
        self.0
    }
}

#[test]
fn where_it_is_told_when_each_is_over_nobody_hears_late() {
    everywhere_known(|engine, wait| {
        let sockets = || pair(Transport::Stream, &Settings::default());
        let [(stays, _stays_there), (leaves, leaves_there)] = [sockets(), sockets()];
        let mut leaves_there = leaves_there.into_tcp_stream();
        let held = Stream { held: true, ..Stream::new(99, 0, 1) };
        let flows = vec![(held, vec![stays]), (Stream::new(98, 0, 1), vec![leaves])];
        let calls = Standing(clock::now() + PATIENCE);
        let place = Place::open_on(engine, wait, flows, (calls, true));
        leaves_there.write_all(b"1").expect("connected");
        assert_eq!(place.departure().0, FlowId(98), "{engine} {wait}");
        // No more are open than there were at the begin: nothing tells that it has ended but its socket.
        let (here, other) = sockets();
        let mut other = other.into_tcp_stream();
        let patient = Stream { patient: true, ..Stream::new(7, 0, 4) };
        place.enter_with(patient, here, Some(Box::new(Said(WORDS, 0))));
        assert_eq!(first(&mut other), WORDS, "{engine} {wait}");
        other.write_all(b"more").expect("connected");
        assert_eq!(place.departure().0, FlowId(7), "{engine} {wait}");
        place.abandon();
    });
}

#[test]
fn a_flow_whose_connection_is_turned_away_is_told_nothing() {
    type Answers = fn(TcpStream);
    let cases: [(Answers, Unheard, Tick); 4] = [
        (|mut there| there.write_all(b"no!!").expect("connected"), Unheard::Answered, Tick::NEVER),
        (|_there| {}, Unheard::Closed, Tick::NEVER),
        (|mut there| there.write_all(b"ye").expect("connected"), Unheard::Closed, Tick::NEVER),
        // It is late from the beginning, and the other end waits for its close.
        (|mut there| drop(there.read(&mut [0])), Unheard::Late, Tick::from_nanos(1)),
    ];
    everywhere_known(|engine, wait| {
        for (answers, why, until) in cases {
            let place = Place::open(engine, wait, Vec::new());
            let (here, there) = pair(Transport::Stream, &Settings::default());
            let mut there = there.into_tcp_stream();
            let (preface, told) = Words::awaiting(ANSWER.len(), until);
            place.enter_with(Stream::new(7, BYTES, 0), here, Some(preface));
            if why != Unheard::Late {
                // Read to its end, so that no reset overtakes the answer.
                assert!(first(&mut there).starts_with(WORDS));
            }
            answers(there);
            assert_eq!(told.recv_timeout(PATIENCE), Ok(why), "{engine} {wait}");
            assert_eq!(place.turned_away(), FlowId(7));
            let finished = place.finish();
            let (flow, _) = finished.flows.first().expect("it was here");
            assert_eq!((flow.sent, flow.errno, flow.peer_closed), (0, None, 0));
        }
    });
}

#[test]
fn a_connection_that_fails_is_turned_away_with_its_error() {
    everywhere_known(|engine, wait| {
        let place = Place::open(engine, wait, Vec::new());
        // Nobody listens there any more.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback");
        let address = listener.local_addr().expect("bound");
        drop(listener);
        let made = pathscope_os::sockets::begin_connect_tcp(address, &Settings::default());
        let (preface, told) = Words::awaiting(ANSWER.len(), Tick::NEVER);
        place.enter_with(Stream::new(7, BYTES, 0), made.expect("it is begun"), Some(preface));
        let why = told.recv_timeout(PATIENCE).expect("it is known soon");
        let Unheard::Failed(errno) = why else { panic!("{why:?}") };
        let kind = std::io::Error::from_raw_os_error(errno).kind();
        assert_eq!(kind, ErrorKind::ConnectionRefused, "{engine} {wait}");
        place.finish();
    });
}
