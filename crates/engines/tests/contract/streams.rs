//! Bytes of streams: order, back-pressure, partial consumption, ends.

use pathscope_core::id::FlowId;
use pathscope_engines::{Ended, Notice, Terms};
use pathscope_flow::{Close, Event, Phase, RecvWant, Transport};
use pathscope_os::Socket;
use pathscope_os::sockets::Settings;

use crate::harness::{PATIENCE, everywhere, pair, start, terms};
use crate::toys::{Bench, Bite, Stream};

const STREAM: Transport = Transport::Stream;

fn sockets() -> (Socket, Socket) {
    pair(STREAM, &Settings::default())
}

/// Runs two ends against each other and gives both back.
fn run(
    (engine, wait): (pathscope_engines::EngineKind, pathscope_core::Wait),
    settings: &Settings,
    one: Stream,
    other: Stream,
) -> (Stream, Stream) {
    let (here, there) = pair(STREAM, settings);
    let one = start(engine, terms(wait, STREAM), vec![(one, vec![here])], Bench::new());
    let other = start(engine, terms(wait, STREAM), vec![(other, vec![there])], Bench::new());
    let (mut one, mut other) = (one.finish(), other.finish());
    assert_eq!((one.ended, other.ended), (Ended::AllOver, Ended::AllOver));
    (one.flows.remove(0).0, other.flows.remove(0).0)
}

#[test]
fn every_byte_arrives_once_and_in_order() {
    everywhere(|engine, wait| {
        let bytes = 20 << 20;
        let (sender, receiver) = run(
            (engine, wait),
            &Settings::default(),
            Stream::new(3, bytes, 0),
            Stream::new(3, 0, bytes),
        );
        assert!(sender.is_right() && receiver.is_right(), "{engine} {wait} {receiver:?}");
    });
}

#[test]
fn many_flows_get_all_that_is_theirs_however_large_a_receive_may_be() {
    const FLOWS: u32 = 24;
    const BYTES: u64 = 50_003;
    everywhere(|engine, wait| {
        let pairs: Vec<_> = (0..FLOWS).map(|flow| (flow, sockets())).collect();
        let (mut sending, mut receiving) = (Vec::new(), Vec::new());
        for (flow, (here, there)) in pairs {
            sending.push((Stream::new(flow, BYTES, 0), vec![here]));
            receiving.push((Stream::new(flow, 0, BYTES), vec![there]));
        }
        // All of it lies there before anybody takes any.
        start(engine, terms(wait, STREAM), sending, Bench::new()).finish();
        let terms = Terms { receive_buffer_bytes: 4 << 20, ..terms(wait, STREAM) };
        let finished = start(engine, terms, receiving, Bench::new()).finish();
        let are_right = finished.flows.iter().all(|(flow, _)| flow.is_right());
        assert!(are_right, "{engine} {wait}: {:?}", finished.flows);
    });
}

#[test]
fn both_ways_at_once_never_deadlock_whatever_the_buffers() {
    let tiny = Settings {
        send_buffer_bytes: Some(4_096),
        receive_buffer_bytes: Some(4_096),
        ..Settings::default()
    };
    everywhere(|engine, wait| {
        let (there, back) = (3 << 20, 2 << 20);
        let (one, other) =
            run((engine, wait), &tiny, Stream::new(1, there, back), Stream::new(1, back, there));
        assert!(one.is_right() && other.is_right(), "{engine} {wait} {one:?} {other:?}");
    });
}

#[test]
fn what_is_not_consumed_comes_again() {
    everywhere(|engine, wait| {
        for bite in [Bite::Half, Bite::Units(1_000), Bite::Units(60_001)] {
            for recv in [RecvWant::Any, RecvWant::UpTo(61_000)] {
                let bytes = 1_234_567;
                let receiver = Stream { recv, bite, ..Stream::new(2, 0, bytes) };
                let sender = Stream { most: 10_007, ..Stream::new(2, bytes, 0) };
                let (_, receiver) = run((engine, wait), &Settings::default(), sender, receiver);
                assert!(receiver.is_right(), "{engine} {wait} {bite:?} {recv:?} {receiver:?}");
            }
        }
    });
}

#[test]
fn a_half_close_ends_one_way_only_and_is_told_once() {
    everywhere(|engine, wait| {
        // One end says it is done with sending; the other still sends, then learns of the end.
        let close = Some(Close::Graceful);
        let one = Stream { close, ..Stream::new(4, 1_000, 300_000) };
        let other = Stream { close, ..Stream::new(4, 300_000, 1_000) };
        let (one, other) = run((engine, wait), &Settings::default(), one, other);
        assert!(one.is_right() && other.is_right(), "{engine} {wait}");
        assert!(one.peer_closed <= 1 && other.peer_closed <= 1, "{engine} {wait}");
        assert!(one.closed && other.closed, "{engine} {wait}");
    });
}

#[test]
fn the_end_of_a_stream_is_told_once() {
    everywhere(|engine, wait| {
        let (here, there) = sockets();
        there.shutdown_send().expect("connected");
        let bytes = 4 << 20;
        // It wants a byte that never comes, and is told so once while it still sends.
        let waiting = vec![(Stream::new(0, bytes, 1), vec![here])];
        let waiting = start(engine, terms(wait, STREAM), waiting, Bench::new());
        let reading = vec![(Stream::new(0, 0, bytes), vec![there])];
        assert!(
            start(engine, terms(wait, STREAM), reading, Bench::new()).finish().flows[0]
                .0
                .is_right()
        );
        assert!(waiting.tells_of(Phase::SendingDone), "{engine} {wait}");
        waiting.remote.tell(None, Event::Stop);
        assert_eq!(waiting.finish().flows[0].0.peer_closed, 1, "{engine} {wait}");
    });
}

#[test]
fn a_reset_reaches_the_flow_with_its_error_number() {
    const ECONNRESET: i32 = 104;
    const EPIPE: i32 = 32;
    everywhere(|engine, wait| {
        for (to_send, to_receive) in [(0, 1), (u64::MAX, 0)] {
            let (here, there) = sockets();
            let flow = Stream::new(0, to_send, to_receive);
            let flows = vec![(flow, vec![here])];
            let running = start(engine, terms(wait, STREAM), flows, Bench::new());
            there.reset().expect("connected");
            let errno = running.finish().flows[0].0.errno;
            assert!(matches!(errno, Some(ECONNRESET | EPIPE)), "{engine} {wait} {errno:?}");
        }
    });
}

#[test]
fn a_flow_that_resets_is_over_at_once_and_the_other_end_learns_of_it() {
    everywhere(|engine, wait| {
        let (here, there) = sockets();
        let close = Some(Close::Reset);
        let resetting = Stream { close, ..Stream::new(0, 1, 0) };
        let flows = vec![(resetting, vec![here])];
        let one = start(engine, terms(wait, STREAM), flows, Bench::new());
        let other = Stream::new(0, 0, u64::MAX);
        let other = start(engine, terms(wait, STREAM), vec![(other, vec![there])], Bench::new());
        assert!(one.finish().flows[0].0.closed);
        let other = &other.finish().flows[0].0;
        assert!(other.errno.is_some() && other.peer_closed == 0, "{engine} {wait}");
    });
}

#[test]
fn back_pressure_leaves_the_bytes_in_the_kernel() {
    everywhere(|engine, wait| {
        let (here, there) = sockets();
        let bytes = 64 << 20;
        let held = Stream { held: true, ..Stream::new(0, 0, bytes) };
        let receiver = start(engine, terms(wait, STREAM), vec![(held, vec![there])], Bench::new());
        let sender = Stream::new(0, bytes, 0);
        let sender = start(engine, terms(wait, STREAM), vec![(sender, vec![here])], Bench::new());

        // Reports go on while nothing is received; what the kernels hold is less than all of it.
        for _ in 0..5 {
            let notice = receiver.notices.recv_timeout(PATIENCE).expect("reports go on");
            let nothing = matches!(notice, Notice::Report { report: 0, .. } | Notice::Phase { .. });
            assert!(nothing, "{engine} {wait} {notice:?}");
        }
        let told = sender.notices.try_iter().any(|notice| matches!(notice, Notice::Phase { .. }));
        assert!(!told, "{engine} {wait}: 64 MiB went into a socket that nobody reads");

        receiver.remote.tell(Some(FlowId(0)), Event::PeerTotal(bytes));
        assert!(receiver.finish().flows[0].0.is_right(), "{engine} {wait}");
        assert!(sender.finish().flows[0].0.is_right(), "{engine} {wait}");
    });
}
