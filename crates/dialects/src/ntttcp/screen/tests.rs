//! What ntttcp prints of a test whose figures are known. The layout is the reference's, section 6.

use pathscope_core::counters::{CpuShares, HostCounters, InterfaceCounters};
use pathscope_core::error::Failure;
use pathscope_core::id::FlowId;
use pathscope_core::journal::TestOver;
use pathscope_core::quantity::Period;
use pathscope_core::record::{FlowFacts, Host, TcpFacts, WorkerUsage};
use pathscope_modes::document::{Document, Interval, Measurement};
use pathscope_modes::goodput::{GoodputInterval, GoodputPlan, GoodputSummary};
use pathscope_modes::groups::Test;
use pathscope_modes::load::{GoodputReport, LoadArgs};
use pathscope_modes::registry::{EndInterval, EndReport, Summary};

use super::super::getopt;
use super::super::printer::SECOND_NS;
use super::super::settings;
use super::*;
use crate::screen::End;

/// 13:19:44 of a day, two hours behind UTC.
const WALL_UNIX_NS: u64 = (15 * 3_600 + 19 * 60 + 44) * SECOND_NS;
const LOCAL_OFFSET_S: i64 = -2 * 3_600;

pub(in super::super) fn settings(line: &str) -> Settings {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    settings::read(&getopt::split(&words).expect("options")).expect("it means something")
}

/// A test of two connections over 4 s, of which the second and the third are measured: there 500 MB a second are acknowledged.
pub(in super::super) fn document() -> Document {
    let second = |index: u64, acknowledged: u64| Interval {
        client: Some(EndInterval {
            index,
            start_ns: index * SECOND_NS,
            end_ns: (index + 1) * SECOND_NS,
            goodput: Some(GoodputInterval {
                sent_bytes: acknowledged + 9,
                received_bytes: 0,
                acknowledged_bytes: Some(acknowledged),
            }),
            ..EndInterval::default()
        }),
        ..Interval::default()
    };
    let flow = |flow, rtt_ns| FlowFacts {
        flow: FlowId(flow),
        tcp: Some(TcpFacts { rtt_ns: Some(rtt_ns), ..TcpFacts::default() }),
        ..FlowFacts::default()
    };
    let cpu = |user| CpuShares {
        user,
        busy: 0.5,
        system: 0.125,
        soft_interrupt: 0.0625,
        iowait: 0.25,
        ..CpuShares::default()
    };
    let eth0 = InterfaceCounters {
        name: "eth0".to_owned(),
        sent_packets: 166_525,
        received_packets: 166_523,
        ..InterfaceCounters::default()
    };
    let protocols = [("Tcp.RetransSegs", 38), ("TcpExt.TCPFastRetrans", 2)];
    let client = EndReport {
        goodput: Some(GoodputReport {
            sent_bytes: 2_000_000_000,
            flows: vec![flow(0, 42_000), flow(1, 44_000)],
            ..GoodputReport::default()
        }),
        elapsed_ns: 4 * SECOND_NS,
        workers: vec![WorkerUsage {
            user_ns: SECOND_NS,
            system_ns: 2 * SECOND_NS,
            ..WorkerUsage::default()
        }],
        host: Some(HostCounters {
            cpus: vec![cpu(0.25), cpu(0.125)],
            interfaces: vec![eth0],
            protocols: protocols.map(|(name, count)| (name.to_owned(), count)).into(),
            ..HostCounters::default()
        }),
        ..EndReport::default()
    };
    let goodput =
        GoodputSummary { attempted: 2, retransmits: Some(7), ..GoodputSummary::default() };
    let plan = GoodputPlan::of(LoadArgs::usual()).expect("it can be run");
    let measurement = Measurement {
        name: "goodput up".to_owned(),
        test: Test::new(plan.into(), None, Period::from_secs(1)),
        run: None,
        substitutions: Vec::new(),
        start_ns: 0,
        duration_ns: 4 * SECOND_NS,
        intervals: vec![second(0, 7), second(1, 400_000_000), second(2, 600_000_000), second(3, 8)],
        client,
        server: None,
        summary: Summary { goodput: Some(goodput), ..Summary::default() },
        verdict: None,
        checks: Vec::new(),
        caveats: Vec::new(),
    };
    let mut document = Document { measurements: vec![measurement], ..Document::default() };
    document.hosts.client = Host {
        name: "h<1".to_owned(),
        kernel: "Linux 6.18 x86_64".to_owned(),
        cpus_online: Some(2),
        cpu_mhz: Some(2_500.0),
        ..Host::default()
    };
    document
}

fn opened(at_ns: u64, flow: u32) -> Entry {
    let facts = FlowFacts {
        flow: FlowId(flow),
        local: Some(format!("10.0.0.2:{}", 40_000 + flow)),
        remote: Some(format!("10.0.0.1:{}", 5_001 + flow)),
        ..FlowFacts::default()
    };
    Entry::Opened(Box::new(Connection { at_ns, facts, ..Connection::default() }))
}

fn status(at_s: u64, sent_bytes: u64) -> Entry {
    let (at_ns, length_ns) = (at_s * SECOND_NS + 633_000, SECOND_NS);
    Entry::Status(Box::new(Status { at_ns, length_ns, sent_bytes, ..Status::default() }))
}

fn progress(flow: u32, start_s: u64, sent_bytes: u64) -> Entry {
    let start_ns = start_s * SECOND_NS;
    let end_ns = start_ns + SECOND_NS;
    Entry::Progress(Box::new(ConnectionProgress {
        start_ns,
        end_ns,
        flow: FlowId(flow),
        sent_bytes,
        ..ConnectionProgress::default()
    }))
}

/// What is printed of a run at which this happens, and what is in its files.
fn shown(line: &str, entries: &[Entry], failure: Option<(Failure, &str)>) -> (String, Vec<String>) {
    let mut screen = NtttcpScreen::new(settings(line));
    let mut text = Vec::new();
    let hosts = ["10.0.0.1:5001".to_owned()];
    let end = End::Client { hosts: &hosts, addresses: &[], port: 5_001, tests: &[] };
    let host = &Host::default();
    let (wall_unix_ns, local_offset_s) = (WALL_UNIX_NS, LOCAL_OFFSET_S);
    let beginning = Beginning { wall_unix_ns, local_offset_s, host, end };
    screen.begin(&beginning, &mut text).expect("memory takes it");
    entries.iter().for_each(|entry| screen.entry(entry, &mut text).expect("memory takes it"));
    let document = document();
    let wall_unix_ns = WALL_UNIX_NS + 5 * SECOND_NS;
    let ending = Ending { document: Some(&document), failure, wall_unix_ns };
    screen.finished(&ending, &mut text).expect("memory takes it");
    let mut files = vec![String::new(); screen.files().len()];
    screen.take_rows().into_iter().for_each(|(place, rows)| files[place].push_str(&rows));
    (String::from_utf8(text).expect("it is text"), files)
}

#[test]
fn a_sender_prints_what_ntttcp_prints() {
    let line = "-s10.0.0.1 -P 2 -n 1 -W 1 -t 2 -C 1 --show-tcp-retrans --show-nic-packets eth0 -O";
    let entries = [
        opened(633_000, 0),
        opened(633_000, 1),
        status(1, 3_572_500_000),
        status(2, 125_000),
        status(3, 0),
        status(4, 0),
    ];
    let (text, files) = shown(line, &entries, None);
    let expected = "\
NTTTCP for Linux 1.4.3
---------------------------------------------------------
13:19:44 INFO: 2 threads created
13:19:44 INFO: 2 connections created in 633 microseconds
13:19:44 INFO: Network activity progressing...
13:19:45 INFO: Test warmup completed.
Real-time throughput: 28.58Gbps
Real-time throughput: 1000.00Kbps
13:19:47 INFO: Test run completed.
13:19:47 INFO: Test cooldown is in progress...
Real-time throughput: 0.00bps
Real-time throughput: 0.00bps
13:19:49 INFO: Test cycle finished.
13:19:49 INFO: 2 connections tested
13:19:49 INFO: #####  Totals:  #####
13:19:49 INFO: test duration\t:2.00 seconds
13:19:49 INFO: total bytes\t:1000000000
13:19:49 INFO: \t throughput\t:4.00Gbps
13:19:49 INFO: \t retrans segs\t:7
13:19:49 INFO: tcp retransmit:
13:19:49 INFO: \t retrans_segments/sec\t:9.50
13:19:49 INFO: \t lost_retrans/sec\t:0.00
13:19:49 INFO: \t syn_retrans/sec\t:0.00
13:19:49 INFO: \t fast_retrans/sec\t:0.50
13:19:49 INFO: \t forward_retrans/sec\t:0.00
13:19:49 INFO: \t slowStart_retrans/sec\t:0.00
13:19:49 INFO: \t retrans_fail/sec\t:0.00
13:19:49 INFO: total packets:
13:19:49 INFO: \t tx_packets\t:166525
13:19:49 INFO: \t rx_packets\t:166523
13:19:49 INFO: cpu cores\t:2
13:19:49 INFO: \t cpu speed\t:2500.000MHz
13:19:49 INFO: \t user\t\t:18.75%
13:19:49 INFO: \t system\t\t:12.50%
13:19:49 INFO: \t idle\t\t:25.00%
13:19:49 INFO: \t iowait\t\t:25.00%
13:19:49 INFO: \t softirq\t:6.25%
13:19:49 INFO: \t cycles/byte\t:5.00
13:19:49 INFO: cpu busy (all)\t:75.00%
---------------------------------------------------------
";
    assert_eq!(text, expected);
    let is_logged = |line: &&str| !line.starts_with("Real-time") && line.contains("13:");
    let logged: Vec<&str> = text.lines().filter(is_logged).collect();
    assert_eq!(files[0].lines().collect::<Vec<_>>(), logged);
}

#[test]
fn verbose_has_settings_connections_threads_and_round_trips() {
    let line = "-s10.0.0.1 -P 2 -n 1 -l 1 -t 2 -V -Q";
    let entries = [
        opened(5_000, 0),
        opened(5_000, 1),
        progress(0, 0, 250_000_000),
        progress(0, 1, 250_000_000),
        progress(1, 0, 125_000_000),
        // It is behind the time that is measured.
        progress(1, 2, 999),
        status(1, 1_000),
    ];
    let (text, _) = shown(line, &entries, None);
    assert!(text.contains("\n*** sender role\n") && text.contains("2 X 1 X 1"), "{text}");
    assert!(text.contains("\nsender socket buffer (bytes):\t 131072\n"), "{text}");
    let connection = "DBG : New connection: local:40000 [socket:4] --> 10.0.0.1:5001\n";
    assert!(text.contains(connection) && !text.contains("Real-time"), "{text}");
    let table = "\
INFO: \tThread\tTime(s)\tThroughput
13:19:49 INFO: \t======\t=======\t==========
13:19:49 INFO: \t0\t 2.00\t 2.00Gbps
13:19:49 INFO: \t1\t 1.00\t 1000.00Mbps
";
    assert!(text.contains(table), "{text}");
    assert!(text.contains("INFO: tcpi rtt\t\t:43 us\n"), "{text}");
}

#[test]
fn what_went_wrong_is_a_line_and_what_was_measured_stands() {
    let lost = Some((Failure::Peer, "the other end is gone"));
    let (text, _) = shown("-s10.0.0.1 -P2 -n1 -t2 --show-nic-packets eth9", &[], lost);
    assert!(text.contains("ERR : the other end is gone\n") && !text.contains("cycle finished"));
    assert!(text.contains("ERR : no packets were counted on 'eth9'"), "{text}");
    assert!(text.contains("\t tx_packets\t:0\n") && text.contains("Totals:"), "{text}");
    let stopped = Some((Failure::Interrupted, "interrupted"));
    let (text, _) = shown("-s10.0.0.1 -P2 -n1 -t2", &[], stopped);
    assert!(text.contains("INFO: Interrupted by Ctrl+C\n") && !text.contains("ERR "), "{text}");
}

/// The expression with which LISA reads a result, in words: these names follow one another, each with a colon and a number.
#[test]
fn what_lisa_looks_for_is_there_in_its_order() {
    let line = "-s10.0.0.1 -P2 -n1 -t2 --show-nic-packets eth0 --show-dev-interrupts mana";
    let over = TestOver {
        interrupts: vec![("41: MSI mana-rx".to_owned(), 1_000), ("LOC: timer".to_owned(), 7)],
        ..TestOver::default()
    };
    let entries = [opened(5_000, 0), opened(5_000, 1), Entry::TestOver(Box::new(over))];
    let (text, _) = shown(line, &entries, None);
    let mut rest = text.as_str();
    for (name, ends) in [
        ("connections created in ", "microseconds"),
        ("Totals:", ""),
        ("throughput\t:", "Gbps"),
        ("retrans segs\t:", ""),
        ("tx_packets\t:", ""),
        ("rx_packets\t:", ""),
        ("pkts/interrupt\t:", ""),
        ("cycles/byte\t:", ""),
    ] {
        let place = rest.find(name).unwrap_or_else(|| panic!("{name} follows in {rest}"));
        rest = &rest[place + name.len()..];
        let value = rest.lines().next().expect("a line");
        let is_number = value.starts_with(|letter: char| letter.is_ascii_digit());
        assert!((is_number || name == "Totals:") && value.ends_with(ends), "{name}{value}");
    }
    assert!(text.contains(" \t throughput\t:"), "another pattern has these bytes");
    let told =
        ["\t total\t\t:1000\n", "\t interrupts/sec\t:250.000\n", "\t pkts/interrupt\t:333.05\n"];
    assert!(told.iter().all(|line| text.contains(line)), "{text}");
}

#[test]
fn flows_of_datagrams_that_are_told_of_one_by_one_make_one_row() {
    let entries =
        [progress(0, 0, 125), progress(1, 0, 250), progress(1, 1, 125), progress(1, 2, 125)];
    let (text, _) = shown("-u -s -P1 -n2 -l1 -t4", &entries, None);
    let rows: Vec<_> =
        text.lines().filter_map(|it| it.strip_prefix("Real-time throughput: ")).collect();
    // The second has gone on alone: what is not whole yet is told when it is told of again.
    assert_eq!(rows, ["3.00Kbps", "1000.00bps"]);
}
