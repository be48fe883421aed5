//! Flows that replace those that end: each is run, told of once, and closed.

use std::io::{ErrorKind, Read};
use std::sync::mpsc::{Receiver, Sender, channel};

use pathscope_core::Wait;
use pathscope_core::id::FlowId;
use pathscope_engines::{
    Blocking, Command, Ended, EngineKind, Finished, Kernel, Lanes, Outbox, Preface, Remote,
    Succession, Successor, SystemCalls, Worker, registry, worker_inbox,
};
use pathscope_flow::{Close, Machine, Phase, Transport};
use pathscope_os::Socket;
use pathscope_os::sockets::Settings;

use crate::harness::{PATIENCE, everywhere, pair, terms};
use crate::toys::{Bench, Stream};

const BYTES: u64 = 100_000;

/// What was told of a flow that departed.
type Departure = (FlowId, Phase, bool);

/// A worker into which flows come.
pub struct Place {
    remote: Remote,
    entrance: Sender<Successor<Stream>>,
    departures: Receiver<Departure>,
    gone: Receiver<FlowId>,
    outcome: Receiver<Finished<Stream>>,
}

impl Place {
    pub fn open(engine: EngineKind, wait: Wait, flows: Vec<(Stream, Vec<Socket>)>) -> Self {
        Self::open_on(engine, wait, flows, (Kernel, false))
    }

    /// The same with these calls, where it is told when each flow is over, or that it is.
    pub fn open_on(
        engine: EngineKind,
        wait: Wait,
        flows: Vec<(Stream, Vec<Socket>)>,
        (calls, is_timed): (impl SystemCalls + Send + 'static, bool),
    ) -> Self {
        let (remote, inbox) = worker_inbox().expect("an inbox");
        let (entrance, successors) = channel();
        let (tell, departures) = channel();
        let (turn, gone) = channel();
        let (done, outcome) = channel();
        let (notices, _) = channel();
        let worker = Worker {
            flows,
            shared: Bench::new(),
            terms: terms(wait, Transport::Stream),
            inbox,
            outbox: Outbox::new(notices, None),
            made: None,
            succession: Some(Succession {
                successors,
                is_timed,
                turned_away: Box::new(move |flow| {
                    let _ = turn.send(flow);
                }),
                departed: Box::new(move |flow: &Stream, sockets: Lanes, _| {
                    assert_eq!(sockets.len(), 1, "given what it had");
                    let _ = tell.send((flow.id(), flow.phase(), flow.is_right()));
                }),
            }),
        };
        std::thread::spawn(move || {
            let _ = done.send(registry::run(engine, worker, calls).expect("the engine runs"));
        });
        Self { remote, entrance, departures, gone, outcome }
    }

    fn enter(&self, flow: Stream, socket: Socket) {
        self.enter_with(flow, socket, None);
    }

    pub fn enter_with(&self, machine: Stream, socket: Socket, preface: Option<Box<dyn Preface>>) {
        let successor = Successor { machine, sockets: Lanes::One(socket), preface };
        assert!(self.entrance.send(successor).is_ok(), "it runs");
        self.remote.send(Command::Admit);
    }

    pub fn turned_away(&self) -> FlowId {
        self.gone.recv_timeout(PATIENCE).expect("a flow is turned away")
    }

    pub fn departure(&self) -> Departure {
        self.departures.recv_timeout(PATIENCE).expect("a flow ends")
    }

    /// It is to end, whatever its flows still want.
    pub fn abandon(self) {
        self.remote.send(Command::Abandon);
        self.outcome.recv_timeout(PATIENCE).expect("the worker hangs or panicked");
    }

    /// Nobody comes any more.
    pub fn finish(self) -> Finished<Stream> {
        drop(self.entrance);
        self.remote.send(Command::Admit);
        self.outcome.recv_timeout(PATIENCE).expect("the worker hangs or panicked")
    }
}

fn sender(flow: u32, close: Close) -> Stream {
    Stream { close: Some(close), ..Stream::new(flow, BYTES, 0) }
}

#[test]
fn flows_that_come_are_run_and_told_of_once() {
    everywhere(|engine, wait| {
        let place = Place::open(engine, wait, Vec::new());
        let other = Place::open(engine, wait, Vec::new());
        for flow in 0..40 {
            let (here, there) = pair(Transport::Stream, &Settings::default());
            other.enter(Stream::new(flow, 0, BYTES), there);
            place.enter(sender(flow, Close::Graceful), here);
            // At most four at once: slots are taken over.
            if flow >= 3 {
                place.departure();
                other.departure();
            }
        }
        for _ in 0..3 {
            assert_eq!(place.departure().1, Phase::Done);
            let (_, phase, is_right) = other.departure();
            assert_eq!((phase, is_right), (Phase::Done, true), "{engine} {wait}");
        }
        for finished in [place.finish(), other.finish()] {
            assert_eq!(finished.ended, Ended::AllOver);
            assert_eq!(finished.usage[0].flows, 40);
            assert!(finished.flows.len() <= 8, "{} slots", finished.flows.len());
        }
    });
}

#[test]
fn who_departs_is_closed() {
    everywhere(|engine, wait| {
        let (here, there) = pair(Transport::Stream, &Settings::default());
        let (held, held_there) = pair(Transport::Stream, &Settings::default());
        let started = vec![
            (Stream::new(0, 0, BYTES), vec![there]),
            (Stream { held: true, ..Stream::new(7, 0, 1) }, vec![held_there]),
        ];
        let place = Place::open(engine, wait, started);
        let table =
            vec![(sender(0, Close::HalfWrite), vec![here.try_clone().expect("a descriptor")])];
        let sending = Place::open(engine, wait, table);
        assert_eq!(place.departure(), (FlowId(0), Phase::Done, true), "{engine} {wait}");
        // Its socket is closed though the worker goes on: this end reads the end of the stream.
        here.set_receive_timeout(Some(PATIENCE)).expect("a socket");
        assert_eq!(sending.finish().ended, Ended::AllOver);
        let mut buffer = [0; 16];
        let read = read(&here, &mut buffer);
        assert_eq!(read, 0, "{engine} {wait}");
        // Whoever is left is told of when the worker is abandoned.
        place.remote.send(Command::Abandon);
        assert_eq!(place.departure().0, FlowId(7));
        drop(held);
    });
}

#[test]
fn who_departs_by_a_reset_is_closed_by_one() {
    everywhere(|engine, wait| {
        let place = Place::open(engine, wait, Vec::new());
        let (here, there) = pair(Transport::Stream, &Settings::default());
        let mut there = there.into_tcp_stream();
        there.set_nonblocking(false).expect("a socket");
        there.set_read_timeout(Some(PATIENCE)).expect("a socket");
        place.enter(Stream { close: Some(Close::Reset), ..Stream::new(3, BYTES, 0) }, here);
        assert_eq!(place.departure().0, FlowId(3));
        // What was sent may come before.
        let reset = there.read_to_end(&mut Vec::new()).expect_err("no end in good order");
        assert_eq!(reset.kind(), ErrorKind::ConnectionReset, "{engine} {wait}");
        place.finish();
    });
}

/// Reads what the other end sends, or its end.
fn read(socket: &Socket, buffer: &mut [u8]) -> usize {
    Kernel.receive(socket, buffer, Blocking::UntilTimeout).expect("an end, not a time out")
}
