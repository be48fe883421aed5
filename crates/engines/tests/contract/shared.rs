//! A thread that runs workers of many: each is run as if it were alone, comes to its own end, and is over when that is told.

use std::sync::Arc;

use pathscope_core::Wait;
use pathscope_engines::{
    Command, Ended, EngineError, Outbox, SharedThread, Worker, worker_inbox_of,
};
use pathscope_flow::{Event, Transport};
use pathscope_os::Waker;
use pathscope_os::sockets::Settings;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};

use crate::harness::{PATIENCE, Running, pair, start_beside, terms};
use crate::toys::{Bench, Clockwork, Echo, Ping, Stream};

const STREAM: Transport = Transport::Stream;
const DATAGRAM: Transport = Transport::Datagram;

fn thread() -> Arc<SharedThread> {
    Arc::new(SharedThread::start("of-many", Waker::new().expect("a waker")).expect("a thread"))
}

/// Workers of two ends that ping each other on one thread.
fn pings(thread: &Arc<SharedThread>, transport: Transport) -> (Running<Ping>, Running<Echo>) {
    let (here, there) = pair(transport, &Settings::default());
    let datagrams = transport == DATAGRAM;
    let terms = terms(Wait::Sleep, transport);
    let echo = vec![(Echo::new(0, datagrams), vec![there])];
    let echo = start_beside(thread, terms, echo, Bench::new());
    let ping = vec![(Ping::new(0, 100, 2, datagrams), vec![here])];
    (start_beside(thread, terms, ping, Bench::new()), echo)
}

fn complete(pings: Vec<(Running<Ping>, Running<Echo>)>) {
    for (ping, echo) in pings {
        let finished = ping.finish();
        assert!(finished.usage.is_empty(), "what the thread used is of all");
        let (ping, _) = &finished.flows[0];
        assert_eq!((finished.ended, ping.answered, ping.wrong), (Ended::AllOver, 100, 0));
        echo.remote.tell(None, Event::Stop);
        let (echo, _) = &echo.finish().flows[0];
        assert_eq!(echo.echoed, 100);
    }
}

#[test]
fn workers_of_all_kinds_share_a_thread_which_ends_with_the_last_of_them() {
    let thread = thread();
    let is_there = Arc::downgrade(&thread);
    let all = (0..60).map(|number| pings(&thread, [STREAM, DATAGRAM][number % 2])).collect();
    let (here, there) = pair(STREAM, &Settings::default());
    let terms = terms(Wait::Sleep, STREAM);
    let bytes = 20 << 20;
    let sender = vec![(Stream::new(3, bytes, 0), vec![here])];
    let sender = start_beside(&thread, terms, sender, Bench::new());
    let receiver = vec![(Stream::new(3, 0, bytes), vec![there])];
    let receiver = start_beside(&thread, terms, receiver, Bench::new());
    let (clock, _other) = pair(STREAM, &Settings::default());
    let clock = vec![(Clockwork::new(0, 1_000_000, 50), vec![clock])];
    let clock = start_beside(&thread, terms, clock, Bench::new());
    // They go on without anybody who could bring others.
    drop(thread);
    complete(all);
    let (finished, _) = &clock.finish().flows[0];
    assert_eq!((finished.woken, finished.early), (50, 0));
    drop(clock);
    let [sender, receiver] = [sender, receiver].map(|running| running.finish().flows.remove(0).0);
    assert!(sender.is_right() && receiver.is_right(), "{receiver:?}");
    assert!(is_there.upgrade().is_none());
}

#[test]
fn what_ends_one_worker_ends_no_other() {
    let thread = thread();
    let all: Vec<_> = (0..4).map(|_| pings(&thread, STREAM)).collect();
    // A fault of ours, as soon as the flow starts.
    let (here, _there) = pair(STREAM, &Settings::default());
    let part = thread.part();
    let (_remote, inbox) = worker_inbox_of(part.waker.clone());
    let outbox = Outbox::into_sink(|_| panic!("a fault"));
    let terms = terms(Wait::Sleep, STREAM);
    let flows = vec![(Stream::new(0, 0, 1), vec![here])];
    let worker =
        Worker { flows, shared: Bench::new(), terms, inbox, outbox, made: None, succession: None };
    let (done, outcome) = std::sync::mpsc::channel();
    let told = move |finished: Result<_, _>| {
        let _ = done.send(finished.map(drop));
        Vec::new()
    };
    part.run(worker, told).expect("it is handed over");
    let outcome = outcome.recv_timeout(PATIENCE).expect("it is told");
    assert!(matches!(outcome, Err(EngineError::Panicked)));
    // One that is abandoned, and one that nobody has any more. Their sockets stay, and have more to tell.
    let one_of = || {
        let (here, there) = pair(STREAM, &Settings::default());
        let flow = vec![(Stream::new(0, 0, 1), vec![here])];
        (start_beside(&thread, terms, flow, Bench::new()), there)
    };
    let ((abandoned, there), (orphan, other)) = (one_of(), one_of());
    abandoned.remote.send(Command::Abandon);
    let abandoned = abandoned.finish();
    drop((there, other));
    assert_eq!(abandoned.ended, Ended::Abandoned);
    assert!([Ended::Orphaned, Ended::AllOver].contains(&orphan.orphan().ended));
    complete(all);
    complete(vec![pings(&thread, STREAM)]);
}

#[test]
fn what_a_worker_leaves_open_is_open_until_its_part_is_given_up() {
    let thread = thread();
    let (here, there) = pair(STREAM, &Settings::default());
    let flow = vec![(Stream::new(0, 0, 1), vec![here])];
    let abandoned = start_beside(&thread, terms(Wait::Sleep, STREAM), flow, Bench::new());
    abandoned.remote.send(Command::Abandon);
    assert_eq!(abandoned.finish().ended, Ended::Abandoned);
    let mut byte = [0];
    let heard = recv(&there, &mut byte, RecvFlags::DONTWAIT);
    assert_eq!(heard.err(), Some(Errno::AGAIN), "nothing is sent, and nothing closed");
    drop(abandoned);
    let patience = Timespec { tv_sec: PATIENCE.as_secs() as i64, tv_nsec: 0 };
    poll(&mut [PollFd::new(&there, PollFlags::IN)], Some(&patience)).expect("it can be waited for");
    let heard = recv(&there, &mut byte, RecvFlags::DONTWAIT).map(|(_, count)| count);
    assert_eq!(heard, Ok(0), "it is closed");
}
