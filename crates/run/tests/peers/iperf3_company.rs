//! Very many clients of iperf3 at our server at once, as this machine has it, in every company: those that say nothing, that break its
//! wire or are killed, and clients of our own. What is asserted is that each honest one has all that it asked for. Not here: one test at a
//! time (`iperf3`).

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::thread;

use pathscope_core::quantity::{Bytes, Period};
use pathscope_modes::goodput::GoodputPlan;
use pathscope_modes::groups::Test;
use pathscope_modes::load::{Extent, LoadArgs};
use pathscope_os::clock;
use pathscope_peers::registry::PeerKind;
use pathscope_run::server::Settings;

use crate::common;
use crate::iperf3::{ALL, DATAGRAM, KIND, at_once, client, hosts, of, unlimited};
use crate::iperf3_by_hand::{ByHand, asked};

/// Of each sort of bad company so many.
const EACH: usize = 5;
/// The original stands still for 20 s with one that is silent. No machine is so slow that these clients take that for each of them.
const ALL_WITHIN_S: u64 = 120;

/// A connection that says this and stays.
fn stays(port: u16, says: &[u8]) -> TcpStream {
    let server = SocketAddr::from(([127, 0, 0, 1], port));
    let mut stream = TcpStream::connect(server).expect("it listens");
    stream.write_all(says).expect("it is taken");
    stream
}

/// Clients that say nothing, not all, or what nobody understands, each from its begin on. They stay.
fn bad_company(port: u16) -> (Vec<TcpStream>, Vec<ByHand>) {
    let cookie = |number: usize| format!("silent{number:0>30}\0").into_bytes();
    let mut connections = Vec::new();
    for number in 0..EACH {
        let broken = |place: usize| cookie(number * 10 + place);
        connections.push(stays(port, b""));
        connections.push(stays(port, &broken(1)[..20]));
        connections.push(stays(port, &broken(2)));
        connections.push(stays(port, &[&broken(3)[..], &[0xff; 4]].concat()));
        connections.push(stays(port, &[&broken(4)[..], b"\0\0\0\x05{{{{{"].concat()));
        connections.push(stays(port, &[&broken(5)[..], &[0x0c]].concat()));
    }
    // These have one stream of four, and no others come.
    let half = ('p'..).take(EACH).map(|letter| {
        let mut client = ByHand::begin(port, letter);
        client.asks(&asked(&[("tcp", true.into()), ("parallel", 4.into())]));
        connections.push(client.stream(b"early"));
        client
    });
    let half = half.collect();
    (connections, half)
}

/// A client that is killed while its test runs.
fn is_killed(port: u16) {
    let mut command = Command::new("iperf3");
    command.args(["-c", "127.0.0.1", "-p", &port.to_string(), "-t", "60", "--forceflush"]);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it is there");
    let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let is_connected = lines.map_while(Result::ok).any(|line| line.contains("connected to"));
    child.kill().expect("it is ours");
    child.wait().expect("it is ours");
    assert!(is_connected, "it came to have a stream");
}

#[test]
fn a_hundred_of_its_clients_have_all_whoever_else_is_there() {
    if hosts().is_empty() {
        return;
    }
    let begun = clock::now();
    let (came, _) = common::served_at("127.0.0.1", KIND, unlimited(), |port| {
        let company = bad_company(port);
        let came = thread::scope(|scope| {
            (0..EACH).for_each(|_| drop(scope.spawn(move || is_killed(port))));
            at_once(vec![["-n", "1M"]; 100], |words| client("127.0.0.1", port, words))
        });
        drop(company);
        came
    });
    for (_, end) in came {
        let sums = ["sum_sent", "sum_received"].map(|sum| of(&end, sum, "bytes"));
        assert_eq!(sums, [ALL, ALL], "{end}");
    }
    let took = clock::now().since(begun);
    assert!(took.as_secs() < ALL_WITHIN_S, "{took:?}");
}

#[test]
fn clients_over_udp_of_many_addresses_are_set_up_beside_one_another() {
    if hosts().is_empty() {
        return;
    }
    let (came, lines) = common::served_at("127.0.0.1", KIND, unlimited(), |port| {
        // One that waits for streams of this machine's usual address, which never come.
        let mut silent = ByHand::begin(port, 's');
        silent.asks(&asked(&[("udp", true.into()), ("parallel", 4.into())]));
        let addresses: Vec<_> = (1..=20).map(|host| format!("127.77.23.{host}")).collect();
        let came = at_once(addresses, |address| {
            let paced = ["-u", "-n", "100K", "-l", "1000", "-b", "20M", "-P", "2"];
            client("127.0.0.1", port, &[&paced[..], &["-B", address]].concat())
        });
        drop(silent);
        came
    });
    for (address, end) in came {
        let count = |sum, key| of(&end, sum, key);
        let [sent, received] = ["sum_sent", "sum_received"].map(|sum| count(sum, "bytes"));
        assert!(sent >= 100 << 10, "{address}: {end}");
        let lost = count("sum_received", "lost_packets") * DATAGRAM;
        assert_eq!(received + lost, sent, "{address}: {end}");
    }
    let waited = |line: &&String| line.contains("waits for its turn");
    assert_eq!(lines.iter().filter(waited).count(), 0, "{lines:?}");
}

#[test]
fn one_port_serves_its_clients_and_ours_at_once() {
    const EACH_BYTES: u64 = 1 << 20;
    if hosts().is_empty() {
        return;
    }
    common::served_at("127.0.0.1", KIND, Settings::default(), |port| {
        let mut plan = GoodputPlan::of(LoadArgs::usual()).expect("it can be run");
        plan.extent = Extent::TransferBytes(Bytes(EACH_BYTES));
        plan.warm_up_ns = Period(0);
        plan.connections = 2;
        let ours = Test::new(plan.into(), None, Period::from_millis(100));
        let theirs: [&[&str]; 2] = [&["-n", "1M"], &["-u", "-n", "100K", "-b", "20M"]];
        thread::scope(|scope| {
            let ran = scope.spawn(|| common::run(PeerKind::OWN, port, vec![ours]));
            for (words, end) in at_once(theirs.to_vec(), |words| client("127.0.0.1", port, words)) {
                assert!(of(&end, "sum_received", "bytes") > 0, "{words:?}: {end}");
            }
            let (document, failure) = ran.join().expect("it does not panic");
            assert_eq!(failure, None);
            let [measurement] = &document.measurements[..] else { panic!("one test") };
            let sent = measurement.client.goodput.as_ref().map(|end| end.sent_bytes);
            assert_eq!(sent, Some(2 * EACH_BYTES));
        });
    });
}

#[test]
fn what_a_shared_port_cannot_do_of_what_a_client_asks_for_is_told_there() {
    if hosts().is_empty() {
        return;
    }
    let ((), lines) = common::served_at("127.0.0.1", KIND, Settings::default(), |port| {
        for words in [&["-w", "256K"][..], &["-N"], &["-M", "1000"], &["-u", "-w", "256K"]] {
            let end = client("127.0.0.1", port, &[words, &["-n", "64K"]].concat());
            assert!(of(&end, "sum_received", "bytes") > 0, "{words:?}: {end}");
        }
    });
    // Whether a client's data come at once is set on any connection, as its segments are by what it offers; and no datagram needs a window.
    let told: Vec<_> = lines.iter().filter(|line| line.contains(" asked for, ")).collect();
    let [window] = &told[..] else { panic!("{lines:?}") };
    for words in ["window: 256 KiB asked for, so much once the connection is there", "that of all"]
    {
        assert!(window.contains(words), "{words}: {window}");
    }
}
