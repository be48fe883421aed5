//! Messages, many flows, timers.

use pathscope_core::Wait;
use pathscope_engines::EngineKind;
use pathscope_flow::{Event, Transport};
use pathscope_os::sockets::Settings;

use crate::harness::{Flows, everywhere, pair, start, terms};
use crate::toys::{Bench, Clockwork, Echo, MESSAGE, Ping, Stream};

fn ping_pong(
    (engine, wait): (EngineKind, Wait),
    transport: Transport,
    flows: u32,
    (count, depth): (u64, u64),
) {
    let datagrams = transport == Transport::Datagram;
    let mut pings: Flows<Ping> = Vec::new();
    let mut echoes: Flows<Echo> = Vec::new();
    for flow in 0..flows {
        let (here, there) = pair(transport, &Settings::default());
        pings.push((Ping::new(flow, count, depth, datagrams), vec![here]));
        echoes.push((Echo::new(flow, datagrams), vec![there]));
    }
    let echoes = start(engine, terms(wait, transport), echoes, Bench::new());
    let pings = start(engine, terms(wait, transport), pings, Bench::new());
    for (ping, _) in pings.finish().flows {
        assert_eq!((ping.answered, ping.wrong), (count, 0), "{engine} {wait} {ping:?}");
        assert!(ping.least_rtt_ns > 0, "{engine} {wait}: no time passes without a clock reading");
    }
    echoes.remote.tell(None, Event::Stop);
    for (echo, _) in echoes.finish().flows {
        assert_eq!(echo.echoed, count, "{engine} {wait}");
        assert!(!datagrams || echo.longest == MESSAGE, "datagrams are not joined");
    }
}

#[test]
fn messages_come_back_in_order_at_any_depth() {
    everywhere(|engine, wait| {
        for depth in [1, 2, 16] {
            ping_pong((engine, wait), Transport::Stream, 1, (200, depth));
            ping_pong((engine, wait), Transport::Datagram, 1, (200, depth));
        }
    });
}

#[test]
fn two_hundred_flows_share_a_worker() {
    for wait in [Wait::Spin, Wait::Sleep, Wait::Hybrid] {
        ping_pong((EngineKind::Epoll, wait), Transport::Stream, 200, (30, 1));
        ping_pong((EngineKind::Epoll, wait), Transport::Datagram, 200, (30, 1));
    }
    ping_pong((EngineKind::Plain, Wait::Sleep), Transport::Stream, 200, (20, 2));
}

#[test]
fn a_hungry_flow_starves_no_other() {
    everywhere(|engine, wait| {
        let terms = terms(wait, Transport::Stream);
        let (mut senders, mut receivers) = (Vec::new(), Vec::new());
        for (flow, bytes) in [(0, u64::MAX), (1, 1 << 20), (2, u64::MAX)] {
            let (here, there) = pair(Transport::Stream, &Settings::default());
            senders.push((Stream::new(flow, bytes, 0), vec![here]));
            receivers.push((Stream::new(flow, 0, bytes), vec![there]));
        }
        let senders = start(engine, terms, senders, Bench::new());
        let receivers = start(engine, terms, receivers, Bench::new());
        // Only the short one is ever over, and it has to be while the others want more.
        assert!(receivers.tells_of(pathscope_flow::Phase::Done), "{engine} {wait}");
        receivers.remote.tell(None, Event::Stop);
        senders.remote.tell(None, Event::Stop);
        assert!(receivers.finish().flows.iter().all(|(flow, _)| flow.is_right()));
        senders.finish();
    });
}

#[test]
fn timers_are_never_early() {
    everywhere(|engine, wait| {
        let clocks = (0..5)
            .map(|flow| (Clockwork::new(flow, 300_000 + 7_919 * u64::from(flow), 400), vec![]));
        let running = start(engine, terms(wait, Transport::Stream), clocks.collect(), Bench::new());
        for (clock, _) in running.finish().flows {
            assert_eq!((clock.woken, clock.early), (400, 0), "{engine} {wait}");
            // The best of 400 tells of rounding to milliseconds, whatever else the machine does: they take longer
            // than a busy one keeps a thread waiting.
            let best = clock.lateness_ns.iter().min().copied();
            assert!(best < Some(900_000), "{engine} {wait}: never less than {best:?} ns late");
        }
    });
}

#[test]
fn datagrams_that_nobody_takes_are_answered_by_an_error_and_the_lane_lives() {
    everywhere(|engine, wait| {
        let (here, there) = pair(Transport::Datagram, &Settings::default());
        drop(there);
        let ping = Ping { errors: 3, ..Ping::new(0, u64::MAX, u64::MAX, true) };
        let terms = terms(wait, Transport::Datagram);
        let finished = start(engine, terms, vec![(ping, vec![here])], Bench::new()).finish();
        assert_eq!(finished.flows[0].0.unreachable, 3, "{engine} {wait}");
    });
}
