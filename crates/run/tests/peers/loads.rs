//! ctsTraffic's and simpleperf's wires over real sockets: our client and our server against each other, and each against whoever says
//! the bytes of the references, or does not. ctsTraffic: reference section 2; simpleperf: reference section 2.
//!
//! In one file: all do the same with two ends and a script, and differ in what is said.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use pathscope_core::journal::Entry;
use pathscope_core::quantity::{Bytes, Period};
use pathscope_core::record::Caveat;
use pathscope_modes::goodput::{GoodputPlan, Iterations, Shutdown as HowToEnd};
use pathscope_modes::groups::Test;
use pathscope_modes::load::{Extent, LoadArgs, Pattern};
use pathscope_modes::registry::Plan;
use pathscope_os::clock;
use pathscope_peers::registry::{PeerKind, Words};
use pathscope_run::records::journal::{Journal, Sink, Wants};
use pathscope_run::server::Settings;
use serde_json::Value;

use crate::common;

const BYTES: u64 = 300_000;
/// What is waited for that has to come.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a server of ctsTraffic calls a connection.
const NAME: &[u8; 37] = b"0f8fad5b-d9cb-469f-a165-70867728950e\0";

const CTSTRAFFIC: PeerKind = PeerKind::CtsTraffic;
const SIMPLEPERF: PeerKind = PeerKind::Simpleperf;

/// A load of so many connections, each of [`BYTES`].
fn load(pattern: Pattern, connections: u32, change: impl FnOnce(&mut GoodputPlan)) -> Test {
    let mut plan = GoodputPlan::of(LoadArgs::usual()).expect("it can be run");
    plan.pattern = pattern;
    plan.connections = connections;
    plan.extent = Extent::TransferBytes(Bytes(BYTES));
    plan.warm_up_ns = Period(0);
    (plan.push_bytes, plan.pull_bytes) = (Bytes(7_000), Bytes(9_999));
    change(&mut plan);
    Test::new(plan.into(), None, Period::from_millis(100))
}

/// What a server of this kind runs that was told of such a load.
fn stated(kind: PeerKind, change: impl FnOnce(&mut GoodputPlan)) -> Test {
    let mut tests = Words::default().of(kind).expect("it can be run").tests;
    let mut test = tests.swap_remove(0);
    test.report_every_ns = Period::from_millis(100);
    let Plan::Goodput(plan) = &mut test.plan else { panic!("it is a load") };
    (plan.push_bytes, plan.pull_bytes) = (Bytes(7_000), Bytes(9_999));
    plan.connections = 64;
    if kind == CTSTRAFFIC {
        plan.extent = Extent::TransferBytes(Bytes(BYTES));
    }
    change(plan);
    test
}

/// What comes of it to do something at the port of a server that runs this, and what it said of its sessions.
fn served<R>(peer: PeerKind, test: Test, clients: impl FnOnce(u16) -> R) -> (R, Vec<String>) {
    served_into(Journal::default(), (peer, test), clients)
}

/// The same where what happens is written down.
fn served_into<R>(
    journal: Journal,
    (peer, test): (PeerKind, Test),
    clients: impl FnOnce(u16) -> R,
) -> (R, Vec<String>) {
    let settings = Settings { journal, own_listeners_alone: true, ..Settings::default() };
    let (come, mut lines) = common::served((peer, vec![test]), settings, clients);
    let is_told =
        |line: &str| ["session over", "refused", "failed"].iter().any(|it| line.contains(it));
    lines.retain(|line| is_told(line));
    (come, lines)
}

fn run(peer: PeerKind, port: u16, test: &Test) -> (Value, Option<String>) {
    let (document, failure) = common::run(peer, port, vec![test.clone()]);
    let document = serde_json::to_value(&document).expect("a document is JSON");
    (document["measurements"][0].clone(), failure)
}

/// The ways of a measurement: sent up and received down.
fn moved(measurement: &Value) -> [u64; 2] {
    let client = &measurement["client"]["goodput"];
    ["sent_bytes", "received_bytes"].map(|what| client[what].as_u64().unwrap_or_default())
}

/// All that the client knows of why its connections failed.
fn errors(measurement: &Value) -> String {
    let flows = measurement["client"]["goodput"]["flows"].as_array().cloned().unwrap_or_default();
    flows.iter().filter_map(|flow| flow["error"]["text"].as_str()).collect::<Vec<_>>().join("\n")
}

/// Whether a check of a measurement passed, where that is known.
fn passed(measurement: &Value, name: &str) -> Option<bool> {
    let checks = measurement["checks"].as_array().expect("checks");
    checks.iter().find(|check| check["name"] == name).expect("it is there")["passed"].as_bool()
}

/// A server that does this with each of so many connections, one after the other; and what comes of a client's run there.
fn foreign_server<R: Send>(
    peer: PeerKind,
    test: &Test,
    connections: usize,
    serve: impl Fn(TcpStream) -> R + Sync,
) -> (Value, Vec<R>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("bound").port();
    thread::scope(|scope| {
        let serving = scope.spawn(|| {
            let accepted = (0..connections).map(|_| {
                let (stream, _) = listener.accept().expect("somebody comes");
                stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
                serve(stream)
            });
            accepted.collect::<Vec<_>>()
        });
        let (measurement, _) = run(peer, port, test);
        (measurement, serving.join().expect("it does not panic"))
    })
}

fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
    stream
}

fn read(stream: &mut TcpStream, bytes: usize) -> Vec<u8> {
    let mut read = vec![0; bytes];
    stream.read_exact(&mut read).expect("it comes");
    read
}

/// How a connection ends from here on: nothing more came and it was closed, or reset.
fn end(stream: &mut TcpStream) -> (usize, Option<ErrorKind>) {
    let mut rest = Vec::new();
    let result = stream.read_to_end(&mut rest);
    (rest.len(), result.err().map(|error| error.kind()))
}

/// ctsTraffic's pattern from the beginning, by the reference: byte by byte.
fn pattern(bytes: u64) -> Vec<u8> {
    let byte = |position: u64| {
        let k = position % 65_536;
        (if k.is_multiple_of(2) { (k / 2) & 0xff } else { (k / 2) >> 8 }) as u8
    };
    (0..bytes).map(byte).collect()
}

fn well(lines: &[String], sessions: usize) {
    assert!(lines.iter().all(|line| line.ends_with("session over")), "{lines:?}");
    // A client that makes no connection for a while begins another one with the next.
    assert!(lines.len() >= sessions, "{lines:?}");
}

#[test]
fn our_own_ends_carry_every_pattern_and_end_however_they_are_to() {
    // Which way a connection goes nobody says there.
    for (_, pattern) in Pattern::ALL.into_iter().filter(|&(_, pattern)| pattern != Pattern::Bidir) {
        for shutdown in [HowToEnd::Graceful, HowToEnd::Rude] {
            let test = load(pattern, 3, |plan| plan.shape.shutdown = shutdown);
            let server = stated(CTSTRAFFIC, |plan| plan.pattern = pattern);
            let (measurement, lines) = served(CTSTRAFFIC, server, |port| {
                let (measurement, failure) = run(CTSTRAFFIC, port, &test);
                assert_eq!(failure, None, "{pattern:?}: {}", errors(&measurement));
                measurement
            });
            well(&lines, 1);
            let [up, down] = moved(&measurement);
            assert_eq!(up + down, 3 * BYTES, "{pattern:?} {shutdown:?}");
            // What its receiver counted nobody tells: what was acknowledged, and that all came, is known.
            let to_server = &measurement["summary"]["goodput"]["up"];
            assert!(to_server["goodput_bps"].is_null(), "{to_server}");
            if pattern != Pattern::Pull {
                assert_eq!(to_server["acknowledged_bytes"], up, "{to_server}");
                assert_eq!(passed(&measurement, "verified"), None);
            }
            let is_known = pattern == Pattern::Pull || shutdown == HowToEnd::Graceful;
            assert_eq!(passed(&measurement, "completed"), is_known.then_some(true), "{pattern:?}");
            assert_eq!(passed(&measurement, "counts_agree"), None);
        }
    }
}

#[test]
fn connections_follow_one_another_at_both_ends() {
    for (kind, times) in [(CTSTRAFFIC, 25), (SIMPLEPERF, 10)] {
        let test = load(Pattern::Push, 4, |plan| {
            plan.shape.iterations = Iterations::Times(times);
            plan.extent = Extent::TransferBytes(Bytes(20_000));
        });
        let server = stated(kind, |plan| {
            plan.extent = Extent::TransferBytes(Bytes(20_000));
        });
        let (measurement, lines) = served(kind, server, |port| {
            let (measurement, failure) = run(kind, port, &test);
            assert_eq!(failure, None, "{kind}: {}", errors(&measurement));
            measurement
        });
        well(&lines, 1);
        assert_eq!(moved(&measurement), [4 * times * 20_000, 0], "{kind}");
        assert_eq!(measurement["client"]["goodput"]["completed"], 4 * times, "{kind}");
    }
}

#[test]
fn a_time_and_an_amount_end_with_whole_messages() {
    for extent in
        [Extent::DurationNs(Period::from_millis(300)), Extent::TransferBytes(Bytes(BYTES))]
    {
        let test = load(Pattern::Push, 2, |plan| plan.extent = extent);
        let (measurement, lines) = served(SIMPLEPERF, stated(SIMPLEPERF, |_| {}), |port| {
            let (measurement, failure) = run(SIMPLEPERF, port, &test);
            assert_eq!(failure, None, "{}", errors(&measurement));
            measurement
        });
        well(&lines, 1);
        let [up, down] = moved(&measurement);
        assert!(up > 0 && up.is_multiple_of(1_000) && down == 0, "{up} {down}");
    }
}

#[test]
fn a_client_of_simpleperf_is_counted_and_answered_however_its_word_comes() {
    let (answers, lines) = served(SIMPLEPERF, stated(SIMPLEPERF, |_| {}), |port| {
        let mut answers = Vec::new();
        for (data, word) in [
            (vec![b'0'; 5_000], &[&b"BYE"[..]][..]),
            (vec![b'0'; 1_234], &[&b"BYE"[..]]),
            (b"BYE BYE BYE".repeat(100), &[b"B", b"YE"]),
            (Vec::new(), &[b"BYE"]),
        ] {
            let mut client = connect(port);
            client.write_all(&data).expect("it is read");
            word.iter().for_each(|part| client.write_all(part).expect("it is read"));
            answers.push(read(&mut client, 8));
            drop(client.shutdown(Shutdown::Write));
            assert_eq!(end(&mut client), (0, None), "it closes, and says no more");
        }
        answers
    });
    assert!(answers.iter().all(|answer| answer == b"ACK: BYE"), "{answers:?}");
    well(&lines, 1);
}

#[test]
fn a_server_of_simpleperf_may_send_data_back_and_answer_in_pieces() {
    let test = load(Pattern::Push, 1, |_| {});
    let (measurement, came) = foreign_server(SIMPLEPERF, &test, 1, |mut stream| {
        let (mut came, mut buffer) = (Vec::new(), [0; 4_096]);
        while !came.ends_with(b"BYE") {
            let bytes = stream.read(&mut buffer).expect("it comes");
            assert_ne!(bytes, 0, "it says its word first");
            stream.write_all(&buffer[..bytes]).expect("it is taken");
            came.extend_from_slice(&buffer[..bytes]);
        }
        stream.write_all(b"ACK: ").expect("it is taken");
        stream.write_all(b"BYE").expect("it is taken");
        assert_eq!(end(&mut stream), (0, None));
        came
    });
    assert_eq!((errors(&measurement), moved(&measurement)), (String::new(), [BYTES, 0]));
    let [came] = came.as_slice() else { panic!("one connection") };
    let text = came.strip_suffix(b"BYE").expect("it was said");
    assert!(
        std::str::from_utf8(text)
            .is_ok_and(|text| text.len() as u64 == BYTES && !text.contains("BYE"))
    );
}

#[test]
fn what_waits_in_our_own_kernel_is_not_told_as_acknowledged() {
    let test = load(Pattern::Push, 1, |plan| {
        plan.extent = Extent::TransferBytes(Bytes(1 << 30));
        plan.shape.time_limit_ns = Some(Period::from_millis(300));
    });
    let (measurement, _) = foreign_server(CTSTRAFFIC, &test, 1, |mut stream| {
        stream.write_all(NAME).expect("it is taken");
        // Takes nothing, until the client has given up.
        let end = clock::now() + PATIENCE;
        while stream.take_error().expect("a socket").is_none() {
            assert!(clock::now() < end, "it is reset");
            thread::yield_now();
        }
    });
    let [sent, _] = moved(&measurement);
    let acknowledged = measurement["summary"]["goodput"]["up"]["acknowledged_bytes"].as_u64();
    assert!(acknowledged.is_some_and(|it| 0 < it && it < sent), "{acknowledged:?} of {sent}");
}

#[test]
fn what_a_server_never_took_that_resets_is_not_told_as_acknowledged() {
    let test = load(Pattern::Push, 1, |plan| plan.extent = Extent::TransferBytes(Bytes(1 << 30)));
    let (measurement, _) = foreign_server(CTSTRAFFIC, &test, 1, |mut stream| {
        stream.write_all(NAME).expect("it is taken");
        // What is closed with bytes that nobody has read is reset.
        let socket = pathscope_os::sockets::Socket::from(stream);
        let end = clock::now() + PATIENCE;
        while socket.held_bytes() < Some(16 << 10) {
            assert!(clock::now() < end, "{:?} have come", socket.held_bytes());
            thread::yield_now();
        }
    });
    let [sent, _] = moved(&measurement);
    let acknowledged = measurement["summary"]["goodput"]["up"]["acknowledged_bytes"].as_u64();
    assert!(acknowledged.is_some_and(|it| it < sent), "{acknowledged:?} of {sent}");
}

#[test]
fn a_server_of_simpleperf_that_closes_without_its_answer_has_failed() {
    let test = load(Pattern::Push, 1, |plan| plan.extent = Extent::TransferBytes(Bytes(2_000)));
    let (measurement, _) =
        foreign_server(SIMPLEPERF, &test, 1, |mut stream| read(&mut stream, 2_003));
    let told = errors(&measurement);
    assert!(told.contains("before it had answered that it has all"), "{told}");
    assert_eq!(passed(&measurement, "completed"), Some(false));
}

#[test]
fn a_client_of_ctstraffic_gets_what_the_reference_says_byte_by_byte() {
    let server = stated(CTSTRAFFIC, |plan| plan.pattern = Pattern::Pull);
    let (names, lines) = served(CTSTRAFFIC, server, |port| {
        [false, true].map(|is_rude| {
            let mut client = connect(port);
            let name = read(&mut client, 37);
            assert_eq!(read(&mut client, BYTES as usize), pattern(BYTES));
            assert_eq!(read(&mut client, 4), b"DONE");
            if is_rude {
                let socket = pathscope_os::sockets::Socket::from(client);
                socket.reset().expect("it is open");
            } else {
                client.shutdown(Shutdown::Write).expect("it is open");
                assert_eq!(end(&mut client), (0, None));
            }
            name
        })
    });
    well(&lines, 1);
    for name in &names {
        let text = std::str::from_utf8(name).expect("it is text");
        let dashes =
            text.char_indices().filter(|&(_, letter)| letter == '-').map(|(place, _)| place);
        assert_eq!(dashes.collect::<Vec<_>>(), [8, 13, 18, 23], "{text}");
        assert!(
            text.ends_with('\0') && !text.bytes().any(|byte| byte.is_ascii_uppercase()),
            "{text}"
        );
    }
    assert_ne!(names[0], names[1]);
}

#[test]
fn a_client_of_ctstraffic_that_breaks_the_rules_is_reset_and_others_are_served() {
    let (ends, lines) = served(CTSTRAFFIC, stated(CTSTRAFFIC, |_| {}), |port| {
        let said: [Vec<u8>; 3] = [
            pattern(BYTES).into_iter().map(|byte| byte ^ 1).collect(),
            pattern(BYTES + 1_000),
            vec![0xff; 4],
        ];
        let mut ends = said.map(|data| {
            let mut client = connect(port);
            read(&mut client, 37);
            // It may be reset before it has said all.
            let _ = client.write_all(&data);
            if data.len() == 4 {
                drop(client.shutdown(Shutdown::Write));
            }
            end(&mut client)
        });
        // Whether DONE came before the reset is a matter of who was faster.
        ends[1].0 = 0;
        let mut early = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
        early.write_all(&pattern(BYTES)).expect("it waits in the socket");
        read(&mut early, 37);
        assert_eq!(read(&mut early, 4), b"DONE");
        ends
    });
    let reset = Some(ErrorKind::ConnectionReset);
    assert_eq!(ends, [(0, reset), (0, reset), (0, reset)], "{lines:?}");
}

#[test]
fn a_server_of_ctstraffic_that_dies_at_any_step_is_told_with_what_had_come() {
    let server_says = |bytes: Vec<u8>, is_reset: bool| {
        move |mut stream: TcpStream| {
            let _ = stream.write_all(&bytes);
            if is_reset {
                let _ = pathscope_os::sockets::Socket::from(stream).reset();
            } else {
                drop(stream.shutdown(Shutdown::Write));
                end(&mut stream);
            }
        }
    };
    let name = NAME.to_vec();
    let with = |data: &[u8]| [&name, data].concat();
    let all = pattern(BYTES);
    for (said, told) in [
        (with(&all[..1_000]), "closed the connection"),
        (with(&[&all[..9_999], &b"DONE"[..]].concat()), "done after 9,999 of 300,000 bytes"),
        (with(&[&all[..], &b"DON"[..]].concat()), "before the server had said that it was done"),
        (with(&[&all[..], &b"DONT"[..]].concat()), "last words are 'DONT', and not 'DONE'"),
        (with(&[&all[..], &b"DONE!"[..]].concat()), "sent more than the 300,000 bytes"),
        (with(&vec![0xee; 70_000]), "wrong data at byte 0"),
    ] {
        let test = load(Pattern::Pull, 1, |_| {});
        let (measurement, _) = foreign_server(CTSTRAFFIC, &test, 1, server_says(said, false));
        let errors = errors(&measurement);
        assert!(errors.contains(told), "{told}: {errors}");
        assert!(errors.contains("whether both were told the same pattern, transfer"), "{errors}");
    }
    let whole = with(&[&all[..], &b"DONE"[..]].concat());
    let test = load(Pattern::Pull, 1, |_| {});
    let (measurement, _) = foreign_server(CTSTRAFFIC, &test, 1, server_says(whole, false));
    assert_eq!((errors(&measurement), moved(&measurement)), (String::new(), [0, BYTES]));
}

#[test]
fn connections_that_are_gone_before_they_were_served_cost_others_nothing() {
    let server = stated(CTSTRAFFIC, |plan| plan.pattern = Pattern::Pull);
    let ((), lines) = served(CTSTRAFFIC, server, |port| {
        let mut patient = connect(port);
        read(&mut patient, 37);
        for _ in 0..20 {
            let gone = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
            pathscope_os::sockets::Socket::from(gone).reset().expect("it is open");
        }
        assert_eq!(read(&mut patient, BYTES as usize), pattern(BYTES));
        assert_eq!(read(&mut patient, 4), b"DONE");
        patient.shutdown(Shutdown::Write).expect("it is open");
        assert_eq!(end(&mut patient), (0, None));
    });
    // Those that had their names already are told of.
    let over: Vec<String> = lines.into_iter().filter(|line| !line.contains("failed")).collect();
    well(&over, 1);
}

/// Keeps what each connection came to.
#[derive(Default)]
struct Rows(Mutex<Vec<Row>>);

/// Bytes that came, why it failed, and what it is called.
type Row = (u64, Option<String>, Option<String>);

impl Sink for Rows {
    fn wants(&self) -> Wants {
        Wants::default()
    }

    fn take(&self, entry: Entry) {
        if let Entry::Closed(closed) = entry {
            let error = closed.facts.error.map(|error| error.text);
            let row = (closed.facts.received_bytes, error, closed.facts.connection_id);
            self.0.lock().expect("nobody panics with it").push(row);
        }
    }

    fn settle(&self) -> Vec<Caveat> {
        Vec::new()
    }

    fn caveats(&self) -> Vec<Caveat> {
        Vec::new()
    }
}

#[test]
fn each_connection_is_written_down_at_the_server_and_one_that_failed_with_why() {
    let rows = Arc::new(Rows::default());
    let sink: Arc<dyn Sink> = rows.clone();
    let told = (CTSTRAFFIC, stated(CTSTRAFFIC, |_| {}));
    let (names, lines) = served_into(Journal::begin(sink, clock::now()), told, |port| {
        let test = load(Pattern::Push, 2, |plan| plan.shape.iterations = Iterations::Times(3));
        let (measurement, failure) = run(CTSTRAFFIC, port, &test);
        assert_eq!(failure, None);
        let mut client = connect(port);
        read(&mut client, 37);
        let _ = client.write_all(&pattern(BYTES + 1_000));
        end(&mut client);
        let flows = measurement["client"]["goodput"]["flows"].as_array().cloned();
        let name = |flow: &Value| flow["connection_id"].as_str().map(str::to_owned);
        flows.unwrap_or_default().iter().filter_map(name).collect::<Vec<_>>()
    });
    let said = "of its 7 connections failed: ";
    assert!(lines.iter().any(|line| line.contains(said)), "{lines:?}");
    let rows = rows.0.lock().expect("nobody panics with it");
    let is_well = |row: &&Row| row.0 == BYTES && row.1.is_none();
    assert_eq!((rows.len(), rows.iter().filter(is_well).count()), (7, 6));
    // Both ends call each the same, and no two.
    let mut theirs: Vec<String> =
        rows.iter().filter(is_well).filter_map(|row| row.2.clone()).collect();
    let mut ours = names;
    theirs.sort();
    ours.sort();
    theirs.dedup();
    assert_eq!((ours.len(), &ours), (6, &theirs));
    let errors: Vec<&str> = rows.iter().filter_map(|row| row.1.as_deref()).collect();
    assert!(
        errors.len() == 1 && errors[0].contains("sent more than the 300,000 bytes"),
        "{errors:?}"
    );
    assert!(errors[0].contains("whether both were told the same pattern"), "{errors:?}");
}
