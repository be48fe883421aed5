//! iperf3 itself at the other end, where this machine has it: its clients at our server, and our client at its servers. What is asserted
//! is how they end and what both ends tell of bytes and datagrams; no time is.

use std::io::{BufRead, BufReader};
use std::net::{TcpListener, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::{fs, thread};

use pathscope_core::Wait;
use pathscope_core::quantity::{BitRate, Bytes, Period};
use pathscope_modes::datagrams::{DatagramsPlan, Offload};
use pathscope_modes::document::Document;
use pathscope_modes::goodput::GoodputPlan;
use pathscope_modes::groups::Test;
use pathscope_modes::load::{Extent, LoadArgs, Pattern, Verify};
use pathscope_modes::registry::Plan;
use pathscope_modes::sockets::SocketPlan;
use pathscope_peers::limits::Limits;
use pathscope_peers::registry::PeerKind;
use pathscope_run::server::Settings;
use serde_json::Value;

use crate::common;

pub const KIND: PeerKind = PeerKind::Iperf3;
const WAYS: [&[&str]; 3] = [&[], &["-R"], &["--bidir"]];
const STREAMS: [&str; 2] = ["1", "4"];
/// What `-n 1M` asks for, and `-k 8` of blocks as they are over TCP by themselves.
pub const ALL: u64 = 1 << 20;
/// Bytes of each connection of our client's transfers: of four, what a client of iperf3 calls 1M.
const EACH: u64 = 256 << 10;
pub const DATAGRAM: u64 = 1_000;
/// What its clients send at once over TCP.
const BLOCK: u64 = 128 << 10;

/// The addresses of this machine alone at which something can listen; none where there is no iperf3.
#[expect(clippy::print_stdout, reason = "a test that cannot run says why")]
pub fn hosts() -> Vec<&'static str> {
    let version = Command::new("iperf3").arg("--version").stdout(Stdio::null()).status();
    if !version.is_ok_and(|status| status.success()) {
        println!("skipped, because there is no iperf3 (cargo xtask check --only machine)");
        return Vec::new();
    }
    let (here, missing): (Vec<_>, Vec<_>) =
        ["127.0.0.1", "::1"].into_iter().partition(|host| TcpListener::bind((*host, 0)).is_ok());
    if !missing.is_empty() {
        println!("partly skipped, because nothing can listen on {}", missing.join(" and "));
    }
    here
}

/// What comes of doing something with each of these at once.
pub fn at_once<T: Send, R: Send>(all: Vec<T>, run: impl Fn(&T) -> R + Sync) -> Vec<(T, R)> {
    thread::scope(|scope| {
        let run = &run;
        let start = |it: T| {
            scope.spawn(move || {
                let came = run(&it);
                (it, came)
            })
        };
        let running: Vec<_> = all.into_iter().map(start).collect();
        running.into_iter().map(|it| it.join().expect("it does not panic")).collect()
    })
}

/// What a client of iperf3 says of its test when it is over.
pub fn client(host: &str, port: u16, words: &[&str]) -> Value {
    let mut command = Command::new("iperf3");
    command.args(["-c", host, "-p", &port.to_string(), "-J"]).args(words);
    let output = command.output().expect("it is there");
    let said: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let error = said.get("error");
    assert!(output.status.success() && error.is_none(), "{words:?}: {error:?}");
    said["end"].clone()
}

/// A server that takes them all at once.
pub fn unlimited() -> Settings {
    Settings { limits: Limits::NONE, ..Settings::default() }
}

/// Every combination of way, number of streams and end, over TCP or UDP.
fn cells(
    carrier: &'static [&'static str],
    ends: &[&'static [&'static str]],
) -> Vec<Vec<&'static str>> {
    let mut cells = Vec::new();
    for way in WAYS {
        for streams in STREAMS {
            for end in ends {
                cells.push([carrier, way, &["-P", streams], end].concat());
            }
        }
    }
    cells
}

/// How many streams these words ask for each way.
fn streams_of(words: &[&str]) -> u64 {
    let count = words.iter().skip_while(|word| **word != "-P").nth(1);
    count.map_or(1, |count| count.parse().expect("a number"))
}

/// A number of a sum: what is not there is none.
pub fn of(end: &Value, sum: &str, key: &str) -> u64 {
    end[sum][key].as_u64().unwrap_or_default()
}

#[test]
fn its_clients_over_tcp_count_what_our_server_counts() {
    for host in hosts() {
        let mut all = cells(&[], &[&["-n", "1M"], &["-k", "8"]]);
        all.extend(cells(&[], &[&["-t", "1"]]));
        let (came, lines) = common::served_at(host, KIND, unlimited(), |port| {
            at_once(all, |words| client(host, port, words))
        });
        for (words, end) in came {
            let [sent, received] = ["sum_sent", "sum_received"].map(|sum| of(&end, sum, "bytes"));
            let is_counted = !words.contains(&"-t");
            if words.contains(&"-R") {
                assert!(received <= sent, "{words:?}: {end}");
                // Our server sends so much, and no more. Of blocks the client counts each read as one, also of a part, and may end before
                // the last of them has come; of a time it may see nothing on a busy machine.
                assert!(!is_counted || sent == ALL, "{words:?}: {end}");
                assert!(!words.contains(&"-n") || received == ALL, "{words:?}: {end}");
                assert!(!is_counted || received > 0, "{words:?}: {end}");
                continue;
            }
            // It reads on to the end of what the client says that it sent, which since 3.16 leaves out the blocks that it was in.
            assert!(
                (sent..=sent + streams_of(&words) * BLOCK).contains(&received),
                "{words:?}: {end}"
            );
            assert!(is_counted || sent > 0, "{words:?}: {end}");
            let [sent_back, back] = ["sum_sent_bidir_reverse", "sum_received_bidir_reverse"]
                .map(|sum| of(&end, sum, "bytes"));
            assert!(back <= sent_back, "{words:?}: {end}");
            // It ends where either is reached.
            assert!(!is_counted || sent.max(back) >= ALL, "{words:?}: {end}");
        }
        let bad = |line: &&String| line.contains("failed") || line.contains("refused");
        assert_eq!(lines.iter().filter(bad).collect::<Vec<_>>(), Vec::<&String>::new());
    }
}

#[test]
fn its_clients_over_udp_lose_nothing_unnoticed() {
    for host in hosts() {
        let carrier = &["-u", "-b", "20M", "-l", "1000"];
        let mut all = cells(carrier, &[&["-n", "100K"], &["-k", "100"], &["-t", "1"]]);
        all.push(vec!["-u", "-R", "-t", "1", "-b", "10M", "--udp-counters-64bit"]);
        let (came, _) = common::served_at(host, KIND, unlimited(), |port| {
            at_once(all, |words| client(host, port, words))
        });
        for (words, end) in came {
            let ways = ["", "_bidir_reverse"]
                .map(|way| ["sum_sent", "sum_received"].map(|sum| format!("{sum}{way}")));
            for [sent, received] in ways.iter().filter(|_| words.contains(&"-l")) {
                let [all, came] = [sent, received].map(|sum| of(&end, sum, "bytes") / DATAGRAM);
                let lost = of(&end, received, "lost_packets");
                assert!(came + lost <= all + streams_of(&words), "{words:?}: {end}");
            }
            let is_up = !words.contains(&"-R");
            let count = |sum| of(&end, sum, "bytes");
            assert!(count("sum_received") > 0, "{words:?}: {end}");
            // It ends when it has sent so much, or when so much has come: a way that brings nothing would end it never. Of both ways at once
            // one does (each by itself: `iperf3_by_hand`).
            let done = match (is_up, words.contains(&"--bidir")) {
                (false, _) => count("sum_received"),
                (true, false) => count("sum_sent"),
                (true, true) => count("sum_sent").max(count("sum_received_bidir_reverse")),
            };
            assert!(words.contains(&"-t") || done >= 100 * DATAGRAM, "{words:?}: {end}");
            let lost = of(&end, "sum_received", "lost_packets") * DATAGRAM;
            let is_all = count("sum_received") + lost >= count("sum_sent");
            assert!(!is_up || is_all, "{words:?}: {end}");
        }
    }
}

#[test]
fn a_hundred_of_its_clients_at_once_have_all_that_they_ask_for() {
    let Some(host) = hosts().into_iter().next() else { return };
    let (came, _) = common::served_at(host, KIND, unlimited(), |port| {
        at_once(vec![["-n", "1M"]; 100], |words| client(host, port, words))
    });
    for (_, end) in came {
        let sums = ["sum_sent", "sum_received"].map(|sum| of(&end, sum, "bytes"));
        assert_eq!(sums, [ALL, ALL], "{end}");
    }
}

/// A port that the system gives nobody who asks for any: a server of iperf3 binds its port for UDP when a test of it begins, and fails where a
/// client's socket was given the same number meanwhile.
fn port_of_no_client() -> u16 {
    static TAKEN: AtomicU16 = AtomicU16::new(0);
    let range = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range");
    let first = range.ok().and_then(|range| range.split_whitespace().next()?.parse().ok());
    let below = first.filter(|first| *first > 12_000_u16).unwrap_or(u16::MAX);
    let apart = std::process::id() as u16 % 8_000;
    below - 1 - (apart + TAKEN.fetch_add(1, Ordering::Relaxed)) % 8_000
}

/// A server of iperf3 for one test. Whatever comes of that, it is over then.
struct Its {
    child: Child,
    port: u16,
}

impl Its {
    fn start(host: &str) -> Self {
        std::iter::repeat_with(|| Self::start_at(host)).take(20).flatten().next().expect("a port")
    }

    /// One at a port that was free; none where somebody else has taken it meanwhile.
    fn start_at(host: &str) -> Option<Self> {
        let port = port_of_no_client();
        TcpListener::bind((host, port)).ok()?;
        UdpSocket::bind((host, port)).ok()?;
        let mut command = Command::new("iperf3");
        command.args(["-s", "-1", "--forceflush", "-B", host, "-p", &port.to_string()]);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut its = Self { child: command.spawn().expect("it is there"), port };
        let mut said = BufReader::new(its.child.stdout.as_mut()?);
        let mut line = String::new();
        while said.read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
            if line.contains("listening") {
                return Some(its);
            }
        }
        None
    }
}

impl Drop for Its {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn streams(pattern: Pattern, connections: u32, extent: Extent) -> Test {
    let mut plan = GoodputPlan::of(LoadArgs::usual()).expect("it can be run");
    (plan.pattern, plan.connections, plan.extent) = (pattern, connections, extent);
    plan.warm_up_ns = Period(0);
    Test::new(plan.into(), None, Period::from_millis(100))
}

fn datagrams(pattern: Pattern, connections: u32, extent: Extent) -> Test {
    let plan = DatagramsPlan {
        pattern,
        connections,
        extent,
        datagram_bytes: Bytes(DATAGRAM),
        rate_bps: Some(BitRate(20_000_000)),
        warm_up_ns: Period(0),
        verify: Verify::Full,
        offload: Offload::Auto,
        may_fragment: false,
        engine: None,
        wait: Wait::Auto,
        sockets: SocketPlan::default(),
        client_cpus: Vec::new(),
        server_cpus: Vec::new(),
    };
    Test::new(plan.into(), None, Period::from_millis(100))
}

/// What comes of a test of our client with a server of iperf3 of its own there. Nothing of it fails.
fn measured(host: &str, test: &Test) -> Document {
    let server = Its::start(host);
    let place = (vec![host.to_owned()], server.port);
    let (document, failure) = common::run_at(KIND, place, vec![test.clone()]);
    assert_eq!(failure, None, "{test:?}");
    let checks = document.measurements.iter().flat_map(|measurement| &measurement.checks);
    let failed: Vec<_> = checks.filter(|check| check.passed == Some(false)).collect();
    assert!(failed.is_empty(), "{test:?}: {failed:?}");
    document
}

/// Tests of every pattern, of one connection and of four each way.
fn tests(of: fn(Pattern, u32, Extent) -> Test, extent: Extent) -> Vec<(Pattern, u32, Test)> {
    let patterns = [Pattern::Push, Pattern::Pull, Pattern::Bidir];
    let each = |pattern| [1, 4].map(|count| (pattern, count, of(pattern, count, extent)));
    patterns.into_iter().flat_map(each).collect()
}

/// The bytes that our client sent and received of the one test of a document.
fn moved(document: &Document) -> [u64; 2] {
    let [measurement] = &document.measurements[..] else { panic!("one test: {document:?}") };
    let end = &measurement.client;
    match (&end.goodput, &end.datagrams) {
        (Some(own), _) => [own.sent_bytes, own.received_bytes],
        (_, Some(own)) => [own.sent_bytes, own.received_bytes],
        _ => panic!("it is a load: {document:?}"),
    }
}

#[test]
fn our_client_and_its_servers_count_the_same() {
    let short = Extent::DurationNs(Period::from_millis(300));
    for host in hosts() {
        let all = [tests(streams, short), tests(datagrams, short)].concat();
        for ((pattern, _, test), document) in at_once(all, |(.., test)| measured(host, test)) {
            let ways = [pattern != Pattern::Pull, pattern != Pattern::Push];
            assert_eq!(moved(&document).map(|bytes| bytes > 0), ways, "{test:?}");
        }
    }
}

#[test]
fn our_transfers_with_its_servers_are_of_so_many_bytes() {
    let each = Extent::TransferBytes(Bytes(EACH));
    for host in hosts() {
        for of in [streams, datagrams] {
            let all = tests(of, each);
            for ((pattern, connections, test), document) in
                at_once(all, |(.., test)| measured(host, test))
            {
                let wanted = match &test.plan {
                    Plan::Datagrams(_) => EACH.div_ceil(DATAGRAM) * DATAGRAM,
                    _ => EACH,
                } * u64::from(connections);
                let [up, down] = moved(&document);
                let [sends, receives] = [pattern != Pattern::Pull, pattern != Pattern::Push];
                assert_eq!(up, if sends { wanted } else { 0 }, "{test:?}");
                // Datagrams that still come are none beyond the test.
                let is_enough = match &test.plan {
                    Plan::Datagrams(_) => down >= EACH * u64::from(connections),
                    _ => down == wanted,
                };
                assert!(if receives { is_enough } else { down == 0 }, "{down}: {test:?}");
            }
        }
    }
}
