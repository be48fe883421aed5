//! What an engine asks of the system for what it moves: calls and looks at the clock, by number. Nothing that is done
//! alike for all engines may cost one of them a call more.

use std::io::IoSlice;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pathscope_core::{Tick, Wait};
use pathscope_engines::{Blocking, EngineKind, Kernel, SystemCalls, Terms, Trouble};
use pathscope_flow::{Machine, Transport};
use pathscope_os::sockets::Settings;
use pathscope_os::{Socket, clock};

use crate::harness::{PATIENCE, pair, start_on, terms};
use crate::toys::{Bench, MESSAGE, Ping, Stream};

/// Round trips, or chunks of a stream.
const TIMES: u64 = 100;

/// What was asked of the system.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Asked {
    now: u64,
    sends: u64,
    receives: u64,
    waits: u64,
}

/// The kernel, with answers that were there before they were asked for, each received alone; sends go nowhere.
#[derive(Clone, Debug)]
struct Counted {
    asked: Arc<Mutex<Asked>>,
}

impl Counted {
    fn note(&self, note: impl FnOnce(&mut Asked)) {
        note(&mut self.asked.lock().expect("one thread at a time"));
    }
}

impl SystemCalls for Counted {
    fn now(&mut self) -> Tick {
        self.note(|asked| asked.now += 1);
        Kernel.now()
    }

    fn send(&mut self, _: &Socket, slices: &[IoSlice<'_>], _: Blocking) -> Result<usize, Trouble> {
        self.note(|asked| asked.sends += 1);
        Ok(slices.iter().map(|slice| slice.len()).sum())
    }

    fn receive(
        &mut self,
        socket: &Socket,
        room: &mut [u8],
        blocking: Blocking,
    ) -> Result<usize, Trouble> {
        self.note(|asked| asked.receives += 1);
        let most = room.len().min(MESSAGE);
        Kernel.receive(socket, &mut room[..most], blocking)
    }

    fn wait<R>(
        &mut self,
        timeout: Option<Duration>,
        call: impl FnOnce(Option<Duration>) -> Result<R, Trouble>,
    ) -> Result<R, Trouble> {
        self.note(|asked| asked.waits += 1);
        call(timeout)
    }
}

/// Has the other end send all of this before, and nothing after it.
fn fill(there: &Socket, here: &Socket, bytes: &[u8]) {
    let sent = Kernel.send(there, &[IoSlice::new(bytes)], Blocking::UntilTimeout);
    assert_eq!(sent, Ok(bytes.len()));
    there.shutdown_send().expect("connected");
    let deadline = clock::now() + PATIENCE;
    while here.held_bytes() < Some(bytes.len() as u64) {
        assert!(clock::now() < deadline, "{:?} have come", here.held_bytes());
    }
}

fn asked<M>(how: (EngineKind, Wait), flow: M, before: &[u8]) -> Asked
where
    M: Machine<Shared = Bench> + 'static,
{
    asked_of(how, vec![(flow, before.to_vec())])
}

/// Of flows that have all of this to receive.
fn asked_of<M>((engine, wait): (EngineKind, Wait), flows: Vec<(M, Vec<u8>)>) -> Asked
where
    M: Machine<Shared = Bench> + 'static,
{
    let filled = flows.into_iter().map(|(flow, before)| {
        let (here, there) = pair(Transport::Stream, &Settings::default());
        fill(&there, &here, &before);
        ((flow, vec![here]), there)
    });
    let (flows, _others): (Vec<_>, Vec<_>) = filled.unzip();
    // No report is due while it runs.
    let report_every = Duration::ZERO;
    let terms = Terms { report_every, ..terms(wait, Transport::Stream) };
    let asked = Arc::default();
    let calls = Counted { asked: Arc::clone(&asked) };
    let finished = start_on(engine, terms, flows, Bench::new(), calls).finish();
    assert!(finished.flows.iter().all(|(flow, _)| flow.phase().is_over()));
    // What it waited for a processor is part of its time, the last of which is that of taking leave.
    let usage = &finished.usage[0];
    assert!(usage.waited_ns <= Some(usage.elapsed_ns), "{usage:?}");
    let asked = asked.lock().expect("one thread at a time");
    *asked
}

/// An engine, how it waits, and what it asks of the system.
type Cost = ((EngineKind, Wait), Asked);

const fn cost(how: (EngineKind, Wait), [now, sends, receives, waits]: [u64; 4]) -> Cost {
    (how, Asked { now, sends, receives, waits })
}

#[test]
fn a_round_trip_costs_no_call_more_than_it_takes() {
    const COSTS: [Cost; 4] = [
        cost((EngineKind::Plain, Wait::Spin), [305, 100, 101, 0]),
        cost((EngineKind::Plain, Wait::Sleep), [404, 100, 101, 0]),
        cost((EngineKind::Epoll, Wait::Spin), [305, 100, 101, 101]),
        cost((EngineKind::Epoll, Wait::Sleep), [305, 100, 101, 101]),
    ];
    let ping = || Ping::new(0, TIMES, 1, false);
    let answers: Vec<u8> = (0..TIMES).flat_map(|number| ping().message(number)).collect();
    for (how, expected) in COSTS {
        assert_eq!(asked(how, ping(), &answers), expected, "{how:?}");
    }
}

#[test]
fn a_worker_to_which_more_comes_than_it_can_take_stops_waiting() {
    const FLOWS: u32 = 8;
    for wait in [Wait::Spin, Wait::Sleep, Wait::Hybrid] {
        let flows = (0..FLOWS).map(|id| {
            let ping = Ping::new(id, TIMES, 1, false);
            let answers: Vec<u8> = (0..TIMES).flat_map(|number| ping.message(number)).collect();
            (ping, answers)
        });
        let asked = asked_of((EngineKind::Epoll, wait), flows.collect());
        let each = u64::from(FLOWS);
        assert_eq!((asked.sends, asked.receives), (each * TIMES, each * (TIMES + 1)), "{wait}");
        assert_eq!(asked.waits, 64, "{wait}");
    }
}

#[test]
fn a_chunk_of_a_stream_costs_no_call_more_than_it_takes() {
    const COSTS: [Cost; 4] = [
        cost((EngineKind::Plain, Wait::Spin), [10, 100, 0, 0]),
        cost((EngineKind::Plain, Wait::Sleep), [104, 100, 0, 0]),
        cost((EngineKind::Epoll, Wait::Spin), [16, 100, 0, 6]),
        cost((EngineKind::Epoll, Wait::Sleep), [16, 100, 0, 6]),
    ];
    for (how, expected) in COSTS {
        let sender = Stream { most: 1_000, ..Stream::new(0, TIMES * 1_000, 0) };
        assert_eq!(asked(how, sender, &[]), expected, "{how:?}");
    }
}
