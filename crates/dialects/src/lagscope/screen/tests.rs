//! What lagscope prints of pings that are known to the nanosecond. The layout is the reference's, section 5.

use std::ffi::OsString;

use pathscope_core::id::FlowId;
use pathscope_core::journal::Connection;
use pathscope_core::record::{FlowFacts, Host};

use super::super::words;
use super::*;

/// 13:19:44 of a day, two hours behind UTC.
const WALL_UNIX_NS: u64 = (15 * 3_600 + 19 * 60 + 44) * 1_000_000_000;
const LOCAL_OFFSET_S: i64 = -2 * 3_600;

fn settings(line: &str) -> Settings {
    let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
    words::parse(&words).expect("it means something")
}

fn opened(local: &str, remote: &str) -> Entry {
    let facts = FlowFacts {
        local: Some(local.to_owned()),
        remote: Some(remote.to_owned()),
        ..FlowFacts::default()
    };
    Entry::Opened(Box::new(Connection { facts, ..Connection::default() }))
}

/// Pings that came back after so long, and one that did not.
fn pings(rtt_ns: &[u64]) -> Entry {
    let ping = |(number, rtt_ns): (u64, Option<u64>)| {
        let (flow, outcome) = (FlowId(0), if rtt_ns.is_some() { "answered" } else { "lost" });
        let at_ns = number * 1_000_000_000;
        Each::Ping(Ping { at_ns, flow, number, sent_ns: at_ns, rtt_ns, outcome })
    };
    let all = rtt_ns.iter().copied().map(Some).chain([None]);
    Entry::Each((0..).zip(all).map(ping).collect())
}

/// All that is printed of a run at this end.
fn printed(line: &str, entries: &[Entry], failure: Option<(Failure, &str)>) -> String {
    let mut screen = LagscopeScreen::new(settings(line));
    let mut text = Vec::new();
    let hosts = ["192.168.4.1".to_owned()];
    let end = match screen.settings.role {
        Role::Sender => End::Client { hosts: &hosts, addresses: &[], port: 6001, tests: &[] },
        Role::Receiver => End::Server { addresses: &[] },
    };
    let host = &Host::default();
    let (wall_unix_ns, local_offset_s) = (WALL_UNIX_NS, LOCAL_OFFSET_S);
    let beginning = Beginning { wall_unix_ns, local_offset_s, host, end };
    screen.begin(&beginning, &mut text).expect("memory takes it");
    entries.iter().for_each(|entry| screen.entry(entry, &mut text).expect("memory takes it"));
    let wall_unix_ns = WALL_UNIX_NS + 60_000_000_000;
    let ending = Ending { document: None, failure, wall_unix_ns };
    screen.finished(&ending, &mut text).expect("memory takes it");
    String::from_utf8(text).expect("it is text")
}

#[test]
fn a_sender_prints_what_the_guide_shows() {
    let connection = opened("192.168.4.2:25001", "192.168.4.1:6001");
    let entries = [connection, pings(&[30_994, 12_250, 6_000, 12_999, 20_500])];
    let text = printed("-s192.168.4.1 -n6 -P -H -a10 -l10 -c2 -R -Pa.json", &entries, None);
    let expected = "lagscope 1.0.1
---------------------------------------------------------
13:19:44 INFO: New connection: local:25001 [socket:0] --> 192.168.4.1:6001
192.168.4.1: 16% completed.\r192.168.4.1: 33% completed.\r192.168.4.1: 50% completed.\r192.168.4.1: 66% \
completed.\r192.168.4.1: 83% completed.\r13:20:44 INFO: TEST COMPLETED.
13:20:44 INFO: Ping statistics for 192.168.4.1:
13:20:44 INFO: \t  Number of successful Pings: 5
13:20:44 INFO: \t  Number of lost Pings: 1
13:20:44 INFO: \t  Minimum = 6.000us, Maximum = 30.994us, Average = 16.549us
13:20:44 INFO: Dumping all latencies into csv file: latencies_log.csv
13:20:44 INFO: Dumping latency frequency table into json file: a.json

Percentile\t Latency(us)
     50% \t 12
     75% \t 20
     90% \t 30
     95% \t 30
     99% \t 30
   99.9% \t 30
  99.99% \t 30
 99.999% \t 30

Interval(usec)\t Frequency
      0 \t 1
     10 \t 2
     20 \t 1
     30 \t 1
";
    assert_eq!(text, expected);
}

#[test]
fn verbose_has_a_line_for_each_ping_and_no_progress() {
    let entries = [opened("10.0.0.1:7", "192.168.4.1:6001"), pings(&[19_750])];
    let text = printed("-s192.168.4.1 -n2 -o25001 -z64 -V", &entries, None);
    let taken =
        "INFO: failed to bind socket[0] to a local port: [0.0.0.0:25001]. errno = 98. Ignored\n";
    assert!(text.contains(taken), "another port was had: {text}");
    assert!(text.contains("13:19:44 DBG : Reply from 192.168.4.1: bytes=64 time=19.750us\n"));
    assert!(text.contains("\nprotocol:\t\t\t TCP\n") && !text.contains('\r'), "{text}");
}

#[test]
fn an_error_is_a_line_and_an_interruption_is_none() {
    let lost = Some((Failure::Peer, "the other end is gone"));
    let text = printed("-s -n2", &[], lost);
    assert!(text.ends_with("13:20:44 ERR : the other end is gone\n"), "{text}");
    let stopped = Some((Failure::Interrupted, "interrupted"));
    let text = printed("-s -n9", &[pings(&[1_000])], stopped);
    assert!(text.contains("INFO: Interrupted by Ctrl+C\n") && !text.contains("ERR"), "{text}");
    assert!(text.contains("Number of successful Pings: 1\n"), "what was measured stands: {text}");
}

#[test]
fn a_receiver_prints_who_comes() {
    let entries = [opened("10.0.0.1:6001", "10.0.0.2:25001")];
    let text = printed("-P", &entries, None);
    let lines: Vec<&str> = text.lines().skip(2).collect();
    assert_eq!(
        lines,
        [
            "13:19:44 INFO: no role specified; use receiver role",
            "13:19:44 INFO: -P is ignored by a receiver",
            "13:19:44 INFO: New connection: 10.0.0.2:25001 --> local:6001 [socket 0]",
        ]
    );
}
