//! lagscope's wire over real sockets: our client and our server against each other, and each against whoever misbehaves at the other
//! end. The bytes are those of the reference, section 2.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use pathscope_core::quantity::{Bytes, Frequency, Period};
use pathscope_modes::groups::Test;
use pathscope_modes::latency::{Arrivals, Extent, LatencyPlan, LoadModel, Protocol};
use pathscope_peers::lagscope;
use pathscope_peers::registry::PeerKind;
use pathscope_run::server::Settings;
use serde_json::Value;

use crate::common;

const PINGS: u64 = 200;
/// What is waited for that has to come.
const PATIENCE: Duration = Duration::from_secs(20);

fn pings(size: u64, change: impl FnOnce(&mut LatencyPlan)) -> Test {
    let mut plan = LatencyPlan {
        protocol: Protocol::Tcp,
        load_model: LoadModel::Closed,
        extent: Extent::Iterations(PINGS),
        size_bytes: Bytes(size),
        ..LatencyPlan::probe(Frequency(100))
    };
    change(&mut plan);
    Test::new(plan.into(), None, Period::from_millis(100))
}

/// What comes of it to do something at the port of a server, and how each of its sessions ended.
fn served<R>(clients: impl FnOnce(u16) -> R) -> (R, Vec<String>) {
    let echo = vec![lagscope::echo(|_| {})];
    let (come, mut lines) =
        common::served((PeerKind::Lagscope, echo), Settings::default(), clients);
    lines.retain(|line| line.contains("session over") || line.contains("refused"));
    (come, lines)
}

/// What comes of a client's run of tests, one after the other.
fn run(port: u16, tests: Vec<Test>) -> (Value, Option<String>) {
    let (document, failure) = common::run(PeerKind::Lagscope, port, tests);
    (serde_json::to_value(&document).expect("a document is JSON"), failure)
}

/// The measurements of a run in which all that can be known holds.
fn measured(port: u16, tests: Vec<Test>) -> Vec<Value> {
    let (document, failure) = run(port, tests);
    assert_eq!(failure, None);
    assert_eq!(document["hosts"]["peer"]["name"], "lagscope");
    assert!(document["hosts"]["server"].is_null(), "nobody says what host it is");
    document["measurements"].as_array().cloned().unwrap_or_default()
}

/// That so many sessions ended at the server, and each of them well.
fn ended_well(lines: &[String], sessions: usize) {
    assert!(lines.iter().all(|line| line.ends_with("session over")), "{lines:?}");
    assert_eq!(lines.len(), sessions, "{lines:?}");
}

/// lagscope's client: what it says of ping `number`, or first where it is none.
fn message(number: Option<u32>, size: usize) -> Vec<u8> {
    let mut message = vec![b'A'; size];
    let head = number.map_or([0xd0, 0x14, 0, 0], u32::to_le_bytes);
    message[..4].copy_from_slice(&head);
    message
}

fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
    stream
}

/// Says this, and hears the same.
fn echoed(mut stream: &TcpStream, message: &[u8]) {
    stream.write_all(message).expect("it is taken");
    let mut echo = vec![0; message.len()];
    stream.read_exact(&mut echo).expect("it comes back");
    assert!(echo == message, "what came back is what was said");
}

/// Its begin, and so many pings.
fn ping(port: u16, size: usize, pings: u32) {
    let stream = connect(port);
    std::iter::once(None)
        .chain((0..pings).map(Some))
        .for_each(|number| echoed(&stream, &message(number, size)));
    ends(&stream);
}

/// Closes this end's direction, and sees the other closed.
fn ends(mut stream: &TcpStream) {
    stream.shutdown(Shutdown::Write).expect("it is open");
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).expect("the server closes as well");
    assert_eq!(rest, [0; 0], "nothing is said at the end");
}

#[test]
fn round_trips_of_messages_of_any_size_are_measured_and_every_echo_is_its_ping() {
    const SIZES: [u64; 5] = [4, 6, 64, 16_385, 1 << 20];
    let tests = SIZES.map(|size| pings(size, |_| {})).to_vec();
    let (measurements, lines) = served(|port| measured(port, tests));
    ended_well(&lines, SIZES.len());
    assert_eq!(measurements.len(), SIZES.len());
    for measurement in measurements {
        let latency = &measurement["summary"]["latency"];
        assert_eq!(latency["rtt"]["count"], PINGS, "the message ahead is none: {latency}");
        let checks = measurement["checks"].as_array().expect("there are some");
        let verified = checks.iter().find(|check| check["name"] == "echoes_verified");
        assert_eq!(verified.expect("it is checked")["passed"], true);
        assert!(latency["corrupt_forward"].is_null(), "absent, and not zero: {latency}");
        assert!(measurement["server"].is_null(), "it reports nothing");
    }
}

#[test]
fn several_flows_are_a_connection_and_a_session_each_and_a_schedule_is_kept() {
    let several = pings(8, |plan| plan.connections = 3);
    let period_ns = Period::from_millis(2);
    let open = pings(64, |plan| {
        plan.load_model = LoadModel::Open { period_ns, arrivals: Arrivals::Fixed };
        plan.extent = Extent::DurationNs(Period::from_millis(400));
    });
    let (measurements, lines) = served(|port| measured(port, vec![several, open]));
    ended_well(&lines, 4);
    let count = |place: usize| measurements[place]["summary"]["latency"]["rtt"]["count"].as_u64();
    assert_eq!((count(0), count(1)), (Some(3 * PINGS), Some(200)));
}

#[test]
fn a_server_echoes_messages_of_every_size_to_many_at_once() {
    let ((), lines) = served(|port| {
        thread::scope(|scope| {
            for size in [4, 5, 64, 1_000, 16_384, 100_000] {
                scope.spawn(move || ping(port, size, 50));
            }
        });
    });
    ended_well(&lines, 6);
}

#[test]
fn who_says_nothing_or_a_part_of_a_message_holds_nobody_up() {
    let ((), lines) = served(|port| {
        let silent = connect(port);
        let partial = connect(port);
        echoed(&partial, &message(None, 64)[..3]);
        ping(port, 4, 100);
        // The rest of its message comes back as it came, and then the end.
        echoed(&partial, &message(None, 64)[3..]);
        ends(&partial);
        ends(&silent);
    });
    ended_well(&lines, 3);
}

#[test]
fn who_sends_and_never_reads_holds_nobody_up() {
    let ((), lines) = served(|port| {
        let mut deaf = connect(port);
        deaf.set_nonblocking(true).expect("a socket");
        // Until what is on its way fills both directions: it is echoed, and taken by nobody.
        let bytes = vec![7; 1 << 16];
        let mut is_full = false;
        while !is_full {
            is_full = match deaf.write(&bytes) {
                Ok(_) => false,
                Err(error) => error.kind() == ErrorKind::WouldBlock,
            };
        }
        ping(port, 4, 100);
        drop(deaf);
        ping(port, 64, 100);
    });
    ended_well(&lines, 3);
}

/// What our client says of a server that does this with each of its connections.
fn told_of(server: impl Fn(TcpStream) + Send, test: Test) -> (Value, String) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("bound").port();
    thread::scope(|scope| {
        scope.spawn(move || {
            let (stream, _) = listener.accept().expect("a client comes");
            stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
            server(stream);
        });
        let (document, failure) = run(port, vec![test]);
        (document, failure.expect("it is noticed"))
    })
}

/// Echoes so many whole messages of this length.
fn echo(stream: &mut TcpStream, size: usize, messages: u32) {
    let mut message = vec![0; size];
    for _ in 0..messages {
        stream.read_exact(&mut message).expect("it comes");
        stream.write_all(&message).expect("it is taken");
    }
}

#[test]
fn a_server_that_answers_something_else_is_no_lagscope() {
    let (_, text) = told_of(
        |mut stream| {
            let mut message = [0; 4];
            stream.read_exact(&mut message).expect("it comes");
            stream.write_all(&[0xff; 4]).expect("it is taken");
            let _ = stream.read(&mut message);
        },
        pings(4, |_| {}),
    );
    assert!(text.contains("it is no lagscope"), "{text}");
}

#[test]
fn an_echo_of_which_a_byte_is_wrong_is_named_by_its_ping() {
    let (_, text) = told_of(
        |mut stream| {
            echo(&mut stream, 64, 1 + 7);
            let mut message = [0; 64];
            stream.read_exact(&mut message).expect("it comes");
            message[63] ^= 1;
            stream.write_all(&message).expect("it is taken");
            let _ = stream.read(&mut message);
        },
        pings(64, |_| {}),
    );
    assert!(text.contains("the echo of ping 7 is not what was sent"), "{text}");
}

#[test]
fn a_server_that_closes_early_leaves_what_was_measured() {
    let (document, text) = told_of(|mut stream| echo(&mut stream, 4, 1 + 9), pings(4, |_| {}));
    let rtt = &document["measurements"][0]["summary"]["latency"]["rtt"];
    assert_eq!(rtt["count"], 9, "{text}");
    assert!(text.contains("closed") || text.contains("broke"), "{text}");
}

#[test]
fn a_server_of_another_message_size_is_explained() {
    let (_, text) = told_of(|mut stream| while_it_lasts(&mut stream, 4), pings(6, |_| {}));
    assert!(text.contains("of 6 B, 4 B came back") && text.contains("-z6"), "{text}");
}

/// Echoes whole messages of this length until the other end has gone.
fn while_it_lasts(stream: &mut TcpStream, size: usize) {
    let mut message = vec![0; size];
    while stream.read_exact(&mut message).is_ok() {
        if stream.write_all(&message).is_err() {
            return;
        }
    }
}
