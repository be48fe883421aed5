//! What ntttcp prints of a receiver's tests, and what is in its files. The layout is the reference's, section 6.

use pathscope_core::counters::{CpuShares, HostCounters, InterfaceCounters};
use pathscope_core::journal::{ConnectionProgress, LoadFacts};
use pathscope_core::record::{FlowFacts, WorkerUsage};

use super::super::printer::SECOND_NS;
use super::super::screen::tests::settings;
use super::*;
use crate::screen::End;

/// 13:19:44 of a day.
const WALL_UNIX_NS: u64 = (13 * 3_600 + 19 * 60 + 44) * SECOND_NS;
const SESSIONS: [&str; 2] = ["10.0.0.2:40000", "10.0.0.3:40000"];

fn began(session: &str, at_s: u64) -> Entry {
    let (at_ns, session) = (at_s * SECOND_NS, session.to_owned());
    Entry::TestBegan(Box::new(TestBegan { at_ns, session, ..TestBegan::default() }))
}

fn status(session: &str, at_s: u64, received_bytes: u64) -> Entry {
    let (at_ns, length_ns, session) = (at_s * SECOND_NS, SECOND_NS, session.to_owned());
    Entry::Status(Box::new(Status {
        at_ns,
        length_ns,
        received_bytes,
        session,
        ..Status::default()
    }))
}

fn opened(session: &str, flow: u32, port: u16) -> Entry {
    let facts = FlowFacts {
        flow: FlowId(flow),
        local: Some(format!("10.0.0.1:{port}")),
        remote: Some(format!("10.0.0.2:{}", 40_001 + flow)),
        ..FlowFacts::default()
    };
    let session = session.to_owned();
    Entry::Opened(Box::new(Connection { facts, session, ..Connection::default() }))
}

fn progress(session: &str, flow: u32, received_bytes: u64) -> Entry {
    Entry::Progress(Box::new(ConnectionProgress {
        start_ns: SECOND_NS,
        end_ns: 2 * SECOND_NS,
        flow: FlowId(flow),
        received_bytes,
        session: session.to_owned(),
        ..ConnectionProgress::default()
    }))
}

fn over(session: &str, at_s: u64) -> Entry {
    let cpu = CpuShares { user: 0.25, busy: 0.5, system: 0.125, ..CpuShares::default() };
    let eth0 = InterfaceCounters {
        name: "eth0".to_owned(),
        sent_packets: 7,
        received_packets: 166_523,
        ..InterfaceCounters::default()
    };
    Entry::TestOver(Box::new(TestOver {
        at_ns: at_s * SECOND_NS,
        session: session.to_owned(),
        elapsed_ns: 4 * SECOND_NS,
        workers: vec![WorkerUsage { system_ns: 2 * SECOND_NS, ..WorkerUsage::default() }],
        host: Some(HostCounters {
            cpus: vec![cpu],
            interfaces: vec![eth0],
            protocols: [("Tcp.RetransSegs".to_owned(), 5)].into(),
            ..HostCounters::default()
        }),
        interrupts: vec![("41: MSI x-rx".to_owned(), 1_000), ("LOC: timer".to_owned(), 7)],
        ..TestOver::default()
    }))
}

/// What is printed where this happens, and what is in its files.
fn shown(line: &str, entries: &[Entry]) -> (String, Vec<String>) {
    let mut screen = ReceiverScreen::new(settings(line));
    let mut text = Vec::new();
    let host = &Host {
        name: "h".to_owned(),
        cpus_online: Some(1),
        cpu_mhz: Some(1_000.0),
        ..Host::default()
    };
    let end = End::Server { addresses: &[] };
    let beginning = Beginning { wall_unix_ns: WALL_UNIX_NS, local_offset_s: 0, host, end };
    screen.begin(&beginning, &mut text).expect("memory takes it");
    entries.iter().for_each(|entry| screen.entry(entry, &mut text).expect("memory takes it"));
    let rows = screen.take_rows().into_iter().map(|(_, rows)| rows).collect();
    (String::from_utf8(text).expect("it is text"), rows)
}

#[test]
fn a_receiver_shows_each_test_as_ntttcp_does() {
    let [one, _] = SESSIONS;
    let entries = [
        began(one, 10),
        status(one, 11, 7),
        status(one, 12, 400_000_000),
        status(one, 13, 600_000_000),
        status(one, 14, 8),
        over(one, 14),
    ];
    let line = "-r -P 2 -t 2 -W 1 -C 1 -e --show-nic-packets eth0 --show-dev-interrupts x-rx -x -O";
    let (text, files) = shown(line, &entries);
    let expected = "NTTTCP for Linux 1.4.3
---------------------------------------------------------
13:19:44 INFO: 3 threads created
13:19:54 INFO: Network activity progressing...
13:19:55 INFO: Test warmup completed.
Real-time throughput: 56.00bps
Real-time throughput: 3.20Gbps
13:19:57 INFO: Test run completed.
13:19:57 INFO: Test cooldown is in progress...
Real-time throughput: 4.80Gbps
Real-time throughput: 64.00bps
13:19:58 INFO: Test cycle finished.
13:19:58 INFO: #####  Totals:  #####
13:19:58 INFO: test duration\t:2.00 seconds
13:19:58 INFO: total bytes\t:1000000000
13:19:58 INFO: \t throughput\t:4.00Gbps
13:19:58 INFO: \t retrans segs\t:5
13:19:58 INFO: total packets:
13:19:58 INFO: \t tx_packets\t:7
13:19:58 INFO: \t rx_packets\t:166523
13:19:58 INFO: interrupts:
13:19:58 INFO: \t total\t\t:1000
13:19:58 INFO: \t interrupts/sec\t:250.000
13:19:58 INFO: \t pkts/interrupt\t:166.53
13:19:58 INFO: cpu cores\t:1
13:19:58 INFO: \t cpu speed\t:1000.000MHz
13:19:58 INFO: \t user\t\t:25.00%
13:19:58 INFO: \t system\t\t:12.50%
13:19:58 INFO: \t idle\t\t:50.00%
13:19:58 INFO: \t iowait\t\t:0.00%
13:19:58 INFO: \t softirq\t:0.00%
13:19:58 INFO: \t cycles/byte\t:2.00
13:19:58 INFO: cpu busy (all)\t:50.00%
---------------------------------------------------------
";
    assert_eq!(text, expected);
    let [log, xml] = &files[..] else { panic!("{files:?}") };
    assert!(log.starts_with("13:19:44 INFO: 3 threads created\n"), "{log}");
    assert!(xml.starts_with("<ntttcpr computername=\"h\"") && xml.ends_with("</ntttcpr>\n"));
    assert!(xml.contains("\t<total_bytes metric=\"MB\">1000.000000</total_bytes>\n"), "{xml}");
    assert!(!xml.contains("conns_tested"), "{xml}");
}

#[test]
fn a_port_is_a_thread_and_senders_at_once_are_told_apart() {
    let [one, other] = SESSIONS;
    let entries = [
        began(one, 10),
        opened(one, 0, 5_002),
        opened(one, 1, 5_001),
        opened(one, 2, 5_002),
        began(other, 11),
        progress(one, 0, 1_000_000),
        progress(one, 1, 500_000),
        progress(one, 2, 1_000_000),
        over(one, 13),
        over(other, 14),
    ];
    let (text, _) = shown("-r -P 2 -t 3 -V -N -Q", &entries);
    for part in [
        "*** receiver role\n*** no sender/receiver synch\n",
        "receiver socket buffer (bytes):\t 65536\n",
        "INFO: 2 threads created\n",
        "DBG : New connection: 10.0.0.2:40001 --> local:5002\n",
        "INFO: sender\t:10.0.0.2:40000\n",
        "INFO: \t0\t 1.00\t 4.00Mbps\n",
        "INFO: \t1\t 1.00\t 16.00Mbps\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("10.0.0.3:40000") && !text.contains("Real-time"), "{text}");
}

#[test]
fn of_flows_of_datagrams_all_together_are_a_row_and_of_their_loss_nothing_is_said() {
    let [one, _] = SESSIONS;
    let load = LoadFacts { is_udp: true, is_up: true, connections: 2, ..LoadFacts::default() };
    let session = one.to_owned();
    let began = |load| TestBegan {
        at_ns: 10 * SECOND_NS,
        load,
        session: session.clone(),
        ..TestBegan::default()
    };
    let moved = |flow, end_s, received_bytes| {
        Entry::Progress(Box::new(ConnectionProgress {
            start_ns: (end_s - 1) * SECOND_NS,
            end_ns: end_s * SECOND_NS,
            flow: FlowId(flow),
            received_bytes,
            session: session.clone(),
            ..ConnectionProgress::default()
        }))
    };
    let entries = [
        Entry::TestBegan(Box::new(began(load))),
        moved(0, 1, 1_000),
        moved(1, 1, 2_000),
        moved(1, 2, 4_000),
        // One has ended before the other.
        moved(1, 3, 500),
        over(one, 14),
    ];
    let (text, files) = shown("-r -u -P 2 -t 3 -x", &entries);
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("Real-time")).collect();
    let rates = ["24.00Kbps", "32.00Kbps", "4.00Kbps"];
    let expected = rates.map(|rate| format!("Real-time throughput: {rate}"));
    assert_eq!(rows, expected, "{text}");
    assert!(text.contains("total bytes\t:7500\n"), "{text}");
    for shown in files.iter().chain([&text]) {
        assert!(!shown.contains("lost") && !shown.contains("loss"), "{shown}");
    }
    assert!(!text.contains("retrans"), "{text}");
    // Over which transport a sender comes is its affair.
    let (text, _) = shown("-r -P 2 -t 3", &[Entry::TestBegan(Box::new(began(load)))]);
    let hint = "ERR : 10.0.0.2:40000 sends over UDP: start with -u to see what comes\n";
    assert!(text.contains(hint), "{text}");
}
