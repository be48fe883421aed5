//! ntttcp's wire over real sockets: our sender against whoever says the words of the reference (section 2), or does not.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::Duration;

use pathscope_core::quantity::{BitRate, Bytes, Period};
use pathscope_modes::datagrams::{DatagramArgs, DatagramsPlan};
use pathscope_modes::document::Document;
use pathscope_modes::goodput::GoodputPlan;
use pathscope_modes::groups::Test;
use pathscope_modes::load::{Extent, LoadArgs};
use pathscope_peers::registry::PeerKind;

use crate::common;

/// What is waited for that has to come.
const PATIENCE: Duration = Duration::from_secs(20);
const CONNECTIONS: usize = 4;
const PORTS: usize = 2;

/// So many connections for a short time.
fn load() -> Test {
    let mut plan = GoodputPlan::of(LoadArgs::usual()).expect("it can be run");
    plan.connections = CONNECTIONS as u32;
    plan.extent = Extent::DurationNs(Period::from_millis(300));
    plan.warm_up_ns = Period(0);
    plan.buffer_bytes = Bytes(128 << 10);
    Test::new(plan.into(), None, Period::from_millis(100))
}

/// Listeners at ports that follow one another.
fn listeners(count: usize) -> Vec<TcpListener> {
    listeners_at("127.0.0.1", count)
}

/// The same, at this address.
fn listeners_at(address: &str, count: usize) -> Vec<TcpListener> {
    let bind = |port: u16| TcpListener::bind((address, port)).ok();
    let from = |first: TcpListener| {
        let port = first.local_addr().expect("it is bound").port();
        let others = (1..count as u16).map(|after| bind(port.checked_add(after)?));
        std::iter::once(Some(first)).chain(others).collect::<Option<Vec<_>>>()
    };
    std::iter::from_fn(|| bind(0)).find_map(from).expect("there are some")
}

/// A receiver over UDP: where its words come, and its ports for data.
fn udp_receiver() -> (TcpListener, Vec<UdpSocket>) {
    let from = |first: TcpListener| {
        let port = first.local_addr().expect("it is bound").port();
        let bind = |after: u16| UdpSocket::bind(("127.0.0.1", port.checked_add(after)?)).ok();
        Some((first, (1..=PORTS as u16).map(bind).collect::<Option<Vec<_>>>()?))
    };
    let bind = || TcpListener::bind("127.0.0.1:0").ok();
    std::iter::from_fn(bind).find_map(from).expect("there are some")
}

fn accept(listener: &TcpListener) -> TcpStream {
    let (stream, _) = listener.accept().expect("somebody comes");
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
    stream
}

fn word(sync: &mut TcpStream) -> i32 {
    let mut word = [0; 4];
    sync.read_exact(&mut word).expect("it comes");
    i32::from_be_bytes(word)
}

fn say(sync: &mut TcpStream, word: i32) {
    sync.write_all(&word.to_be_bytes()).expect("it is taken");
}

/// Bytes that come on each connection, until it is closed; they are the letter that all are. Meanwhile something else is done.
fn receive<R>(streams: Vec<TcpStream>, meanwhile: impl FnOnce() -> R) -> (Vec<u64>, R) {
    thread::scope(|scope| {
        let count = |mut stream: TcpStream| {
            let (mut bytes, mut buffer) = (0, vec![0; 64 << 10]);
            loop {
                let came = stream.read(&mut buffer).expect("it ends in good order");
                if came == 0 {
                    return bytes;
                }
                assert!(buffer[..came].iter().all(|byte| *byte == b'A'));
                bytes += came as u64;
            }
        };
        let all: Vec<_> =
            streams.into_iter().map(|stream| scope.spawn(move || count(stream))).collect();
        let done = meanwhile();
        (all.into_iter().map(|it| it.join().expect("it does not panic")).collect(), done)
    })
}

/// All connections of a test, of each listener as many.
fn connections(data: &[TcpListener]) -> Vec<TcpStream> {
    let each = |listener| (0..CONNECTIONS / PORTS).map(move |_| accept(listener));
    data.iter().flat_map(each).collect()
}

/// What comes of our sender's run with one whose data go to these.
fn run(peer: PeerKind, data: &[TcpListener]) -> (Document, Option<String>) {
    let place = |it: &TcpListener| it.local_addr().expect("it is bound").to_string();
    common::run_at(peer, (data.iter().map(place).collect(), peer.port()), vec![load()])
}

/// What it counted is what came, as far as anybody knows it.
fn agrees(document: &Document, received: &[u64]) {
    let [measurement] = &document.measurements[..] else { panic!("one test: {document:?}") };
    let client = measurement.client.goodput.as_ref().expect("it is a load");
    assert_eq!((received.len(), received.iter().sum::<u64>()), (CONNECTIONS, client.sent_bytes));
    assert!(received.iter().all(|bytes| *bytes > 0), "{received:?}");
    let up = measurement.summary.goodput.as_ref().and_then(|it| it.up).expect("it goes up");
    assert!(up.goodput_bps.is_none() && !up.verified, "nobody tells: {up:?}");
    assert!(
        up.acknowledged_bytes.is_some_and(|acked| (1..=client.sent_bytes).contains(&acked)),
        "{up:?}"
    );
}

#[test]
fn a_test_is_agreed_on_at_the_port_before_and_data_take_turns_with_ports() {
    let mut all = listeners(1 + PORTS);
    let data = all.split_off(1);
    let ((document, failure), (words, received)) = thread::scope(|scope| {
        let server = scope.spawn(|| {
            let mut sync = accept(&all[0]);
            let mut words = vec![word(&mut sync)];
            say(&mut sync, 11);
            words.push(word(&mut sync));
            say(&mut sync, 60);
            let streams = connections(&data);
            words.push(word(&mut sync));
            // It waits for others, and goes on.
            say(&mut sync, 87);
            say(&mut sync, 82);
            // No connection is closed before it has said that it knows of the end.
            let (received, end) = receive(streams, || {
                let end = word(&mut sync);
                say(&mut sync, 13);
                end
            });
            words.push(end);
            assert_eq!(sync.read(&mut [0]).expect("it closes"), 0);
            (words, received)
        });
        (run(PeerKind::Ntttcp, &data), server.join().expect("it does not panic"))
    });
    assert_eq!(failure, None);
    assert_eq!(words, [88, 2, 82, 69]);
    agrees(&document, &received);
    assert_eq!(document.hosts.peer.expect("it was met").name, "ntttcp");
}

#[test]
fn without_sync_there_are_connections_and_nothing_else() {
    let data = listeners(PORTS);
    let ((document, failure), received) = thread::scope(|scope| {
        let server = scope.spawn(|| receive(connections(&data), || ()).0);
        (run(PeerKind::NtttcpNoSync, &data), server.join().expect("it does not panic"))
    });
    assert_eq!(failure, None);
    agrees(&document, &received);
}

pub fn udp_words() -> DatagramArgs {
    DatagramArgs {
        protocol: "udp".to_owned(),
        datagram: None,
        offload: None,
        may_fragment: false,
        dont_fragment: false,
        find_rate: false,
    }
}

/// As many flows of datagrams, of 30 each: fewer than a socket has room for, whenever it is read.
fn datagrams(extent: Extent) -> Test {
    let words = LoadArgs { connections: Some(CONNECTIONS as u32), ..LoadArgs::usual() };
    let mut plan = DatagramsPlan {
        datagram_bytes: Bytes(1_000),
        rate_bps: Some(BitRate(800_000)),
        ..udp_words().into_plan(words).expect("it can be run")
    };
    (plan.extent, plan.warm_up_ns) = (extent, Period(0));
    Test::new(plan.into(), None, Period::from_millis(100))
}

/// What of ours waits at these ports: where each datagram came from.
fn waiting(data: &[UdpSocket]) -> Vec<SocketAddr> {
    let mut buffer = [0; 2_000];
    let mut from = Vec::new();
    for socket in data {
        socket.set_nonblocking(true).expect("a socket");
        while let Ok((1_000, origin)) = socket.recv_from(&mut buffer) {
            from.push(origin);
        }
    }
    from
}

#[test]
fn datagrams_are_counted_where_they_leave_and_nothing_is_said_of_what_was_lost() {
    let (sync, data) = udp_receiver();
    let ports: Vec<String> =
        data.iter().map(|it| it.local_addr().expect("it is bound").to_string()).collect();
    let test = datagrams(Extent::DurationNs(Period::from_millis(300)));
    let ((document, failure), (words, from)) = thread::scope(|scope| {
        let server = scope.spawn(|| {
            let mut sync = accept(&sync);
            let mut words = vec![word(&mut sync)];
            say(&mut sync, 11);
            words.push(word(&mut sync));
            say(&mut sync, 60);
            words.push(word(&mut sync));
            assert!(waiting(&data).is_empty(), "none comes before it has said that it begins");
            say(&mut sync, 82);
            words.push(word(&mut sync));
            // What was sent before the word is there: it is the same machine.
            let from = waiting(&data);
            say(&mut sync, 13);
            (words, from)
        });
        let ran = common::run_at(PeerKind::Ntttcp, (ports, 5_001), vec![test]);
        (ran, server.join().expect("it does not panic"))
    });
    assert_eq!(failure, None);
    assert_eq!((words, from.len()), (vec![88, 2, 82, 69], 120));
    let origins: BTreeSet<SocketAddr> = from.into_iter().collect();
    assert_eq!(origins.len(), CONNECTIONS);
    let [measurement] = &document.measurements[..] else { panic!("one test: {document:?}") };
    let up = measurement.summary.datagrams.as_ref().and_then(|it| it.up.as_ref());
    let up = up.expect("it goes up");
    assert_eq!((up.sent, up.unsent), (Some(120), Some(0)));
    assert_eq!((up.received, up.lost, up.lost_ratio, up.goodput_bps), (None, None, None, None));
    assert!(up.duplicates.is_none() && up.reordered.is_none() && up.jitter.is_none(), "{up:?}");
}

#[test]
fn no_datagrams_are_sent_to_a_receiver_that_has_gone() {
    let (sync, data) = udp_receiver();
    let ports: Vec<String> =
        data.iter().map(|it| it.local_addr().expect("it is bound").to_string()).collect();
    // An hour.
    let test = datagrams(Extent::DurationNs(Period::from_secs(3_600)));
    let (document, failure) = thread::scope(|scope| {
        scope.spawn(|| {
            let mut sync = accept(&sync);
            for answer in [11, 4_000, 82] {
                word(&mut sync);
                say(&mut sync, answer);
            }
            data[0].set_read_timeout(Some(PATIENCE)).expect("a socket");
            data[0].recv(&mut [0; 2_000]).expect("it begins");
        });
        common::run_at(PeerKind::Ntttcp, (ports, 5_001), vec![test])
    });
    let why = failure.expect("it is gone");
    assert!(why.contains("closed the connection"), "{why}");
    assert!(document.measurements.len() == 1, "what left is told: {document:?}");
}

#[test]
fn one_that_is_busy_says_so_and_nothing_is_sent() {
    let mut all = listeners(2);
    let data = all.split_off(1);
    let (document, failure) = thread::scope(|scope| {
        scope.spawn(|| {
            let mut sync = accept(&all[0]);
            assert_eq!(word(&mut sync), 88);
            say(&mut sync, 12);
        });
        run(PeerKind::Ntttcp, &data)
    });
    assert!(failure.is_some_and(|why| why.contains("busy with another sender")));
    assert!(document.measurements.is_empty());
}

#[test]
fn a_port_beyond_those_of_the_receiver_is_told_as_that() {
    // Nobody else has this address, so that nobody listens at a port that is given up.
    let mut all = listeners_at("127.77.9.4", 2 + PORTS);
    let ports: Vec<SocketAddr> =
        all.iter().map(|it| it.local_addr().expect("it is bound")).collect();
    drop(all.pop());
    let targets = || ports[1..].iter().map(ToString::to_string).collect();
    let run = |peer: PeerKind| common::run_at(peer, (targets(), peer.port()), vec![load()]);
    let (document, failure) = thread::scope(|scope| {
        scope.spawn(|| {
            let mut sync = accept(&all[0]);
            assert_eq!(word(&mut sync), 88);
            say(&mut sync, 11);
            word(&mut sync);
            say(&mut sync, 60);
            // It waits for connections that do not come.
            assert_eq!(sync.read(&mut [0]).expect("it closes"), 0);
        });
        run(PeerKind::Ntttcp)
    });
    assert!(document.measurements.is_empty());
    // Here connections are made while they are asked for.
    let told = |first: SocketAddr| {
        format!(
            "cannot connect to TCP {}: Connection refused (os error 111); {first} answers, so that the receiver",
            ports[PORTS + 1]
        )
    };
    let why = failure.expect("it is refused");
    assert!(why.starts_with(&told(ports[1])) && why.contains("-P"), "{why}");
    let (_, failure) = run(PeerKind::NtttcpNoSync);
    let why = failure.expect("it is refused");
    assert!(why.starts_with(&told(ports[1])) && !why.contains("start the server"), "{why}");

    drop(all);
    let (_, failure) = run(PeerKind::NtttcpNoSync);
    assert!(
        failure.is_some_and(|why| why.contains("start the server") && !why.contains("answers"))
    );
}
