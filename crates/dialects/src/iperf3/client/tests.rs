//! What a client prints of tests that are known byte for byte. The layout is that of iperf3 3.12's own output; members of JSON are those that
//! its consumers read.

use std::ffi::OsString;

use pathscope_core::error::Failure;
use pathscope_core::journal::ConnectionProgress;
use pathscope_core::record::{Printed, TcpFacts};
use pathscope_modes::document::Document;

use super::super::asked::Asked;
use super::super::read;
use super::super::streams::tests::{connection, progress};
use super::*;

/// A result in which both ends tell of two flows: bytes that the server counts of each, and segments that it sent again.
fn document(bytes: [u64; 2]) -> Document {
    let flow = |flow: usize| {
        format!(
            r#"{{"flow":{flow},"sent_bytes":{0},"received_bytes":{0},"tcp":{{"retransmits":3}}}}"#,
            bytes[flow]
        )
    };
    let text = format!(
        r#"{{"schema":{{"name":"pathscope-document","version":2}},"measurements":[{{
            "name":"goodput","start_ns":0,"duration_ns":2000000000,
            "test":{{"plan":{PLAN},"report_every_ns":1000000000}},
            "client":{{"elapsed_ns":3000000000,
                "sockets":{{"congestion_control":"cubic","segment_bytes":1448,"send_buffer_bytes":16384}},
                "workers":[{{"elapsed_ns":2000000000,"user_ns":40000000,"system_ns":20000000}}]}},
            "server":{{"elapsed_ns":3001000000,"sockets":{{"congestion_control":"bbr"}},
                "goodput":{{"flows":[{},{}]}}}}}}]}}"#,
        flow(0),
        flow(1)
    );
    Document::from_json(&text).expect("a document")
}

/// It is not read: any will do.
const PLAN: &str = r#"{"goodput":{"pattern":"push","connections":1,"extent":{"duration_ns":10000000000},"buffer_bytes":131072,
    "push_bytes":1048576,"pull_bytes":1048576,"rate_bps":null,"warm_up_ns":0,"verify":"full","congestion_control":null,"engine":null,
    "wait":"auto","shape":{"iterations":{"times":1},"connect_limit":1000,"time_limit_ns":null,"shutdown":"graceful",
    "transfer_most_bytes":null,"buffer_most_bytes":null,"seed":0},"sockets":{"dscp":null,"hops":null,"send_buffer_bytes":null,
    "receive_buffer_bytes":null,"not_sent_low_water_bytes":null,"segment_bytes":null,"keepalive_ns":null,"nagle":false,"interface":null,
    "bind":[],"source_ports":null},"pace":{"period_ns":null,"burst":null,"rate_most_bps":null},"client_cpus":[],"server_cpus":[]}}"#;

/// All that is printed of a run.
fn printed(
    line: &str,
    entries: &[Entry],
    document: Option<&Document>,
    failure: Option<(Failure, &str)>,
) -> String {
    let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
    let Ok(Asked::Client(client)) = read::read(&words) else { panic!("{line} is a client's") };
    let mut screen = ClientScreen::new(*client);
    let mut text = Vec::new();
    let host =
        Host { kernel: "Linux 6.1 x86_64".to_owned(), name: "h1".to_owned(), ..Host::default() };
    let end = End::Client { hosts: &[], addresses: &[], port: 5_201, tests: &[] };
    let wall_unix_ns = 1_795_739_569_000_000_000;
    let beginning = Beginning { wall_unix_ns, local_offset_s: 0, host: &host, end };
    screen.begin(&beginning, &mut text).expect("memory takes it");
    entries.iter().for_each(|entry| screen.entry(entry, &mut text).expect("memory takes it"));
    let wall_unix_ns = wall_unix_ns + 2_000_000_000;
    screen
        .finished(&Ending { document, failure, wall_unix_ns }, &mut text)
        .expect("memory takes it");
    String::from_utf8(text).expect("it is text")
}

fn opened(flow: u32) -> Entry {
    Entry::Opened(Box::new(connection(flow)))
}

fn moved(progress: ConnectionProgress) -> Entry {
    Entry::Progress(Box::new(progress))
}

fn closed(flow: u32, retransmits: Option<u64>) -> Entry {
    let mut over = connection(flow);
    over.facts.tcp =
        retransmits.map(|again| TcpFacts { retransmits: Some(again), ..TcpFacts::default() });
    Entry::Closed(Box::new(over))
}

/// Two streams for two seconds, as 12 MB and 11.875 MB went over each.
fn two_streams() -> Vec<Entry> {
    let mut entries = vec![opened(0), opened(1)];
    for (times, bytes) in [([0, 1_000], 12_582_912), ([1_000, 2_000], 12_451_840)] {
        entries.extend([0, 1].map(|flow| moved(progress(flow, times, bytes, Some(0)))));
    }
    entries.extend([closed(0, Some(0)), closed(1, Some(2))]);
    entries
}

#[test]
fn rows_are_those_of_the_original_for_each_stream_and_all() {
    let document = document([25_034_752; 2]);
    let expected = "\
Connecting to host h4, port 5201
[  5] local 127.0.0.1 port 40000 connected to 127.0.0.1 port 5201
[  7] local 127.0.0.1 port 40001 connected to 127.0.0.1 port 5201
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-1.00   sec  12.0 MBytes   101 Mbits/sec    0   1.12 MBytes      \x20
[  7]   0.00-1.00   sec  12.0 MBytes   101 Mbits/sec    0   1.12 MBytes      \x20
[SUM]   0.00-1.00   sec  24.0 MBytes   201 Mbits/sec    0            \x20
- - - - - - - - - - - - - - - - - - - - - - - - -
[  5]   1.00-2.00   sec  11.9 MBytes  99.6 Mbits/sec    0   1.12 MBytes      \x20
[  7]   1.00-2.00   sec  11.9 MBytes  99.6 Mbits/sec    0   1.12 MBytes      \x20
[SUM]   1.00-2.00   sec  23.8 MBytes   199 Mbits/sec    0            \x20
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-2.00   sec  23.9 MBytes   100 Mbits/sec    0             sender
[  5]   0.00-3.00   sec  23.9 MBytes  66.7 Mbits/sec                  receiver
[  7]   0.00-2.00   sec  23.9 MBytes   100 Mbits/sec    2             sender
[  7]   0.00-3.00   sec  23.9 MBytes  66.7 Mbits/sec                  receiver
[SUM]   0.00-2.00   sec  47.8 MBytes   200 Mbits/sec    2             sender
[SUM]   0.00-3.00   sec  47.8 MBytes   133 Mbits/sec                  receiver

iperf Done.
";
    assert_eq!(printed("-c h4 -P 2", &two_streams(), Some(&document), None), expected);
}

#[test]
fn each_direction_has_its_role_and_the_warm_up_is_told_and_left_out() {
    let mut entries = vec![opened(0), opened(1)];
    for times in [[0, 1_000], [1_000, 2_000], [2_000, 3_000]] {
        entries.push(moved(progress(0, times, 1_310_720, Some(0))));
        entries.push(moved(progress(1, times, 1_310_720, None)));
    }
    // The server counts the warm-up, too: nobody tells it of one where it sends.
    let document = document([3_932_160; 2]);
    let expected = "\
h4:  Connecting to host h4, port 5201
h4:  [  5] local 127.0.0.1 port 40000 connected to 127.0.0.1 port 5201
h4:  [  7] local 127.0.0.1 port 40001 connected to 127.0.0.1 port 5201
h4:  [ ID][Role] Interval           Transfer     Bitrate         Retr  Cwnd
h4:  [  5][TX-C]   0.00-1.00   sec  1.25 MBytes  10.5 Mbits/sec    0   1.12 MBytes       (omitted)
h4:  [  7][RX-C]   0.00-1.00   sec  1.25 MBytes  10.5 Mbits/sec                  (omitted)
h4:  [  5][TX-C]   0.00-1.00   sec  1.25 MBytes  10.5 Mbits/sec    0   1.12 MBytes      \x20
h4:  [  7][RX-C]   0.00-1.00   sec  1.25 MBytes  10.5 Mbits/sec                 \x20
h4:  [  5][TX-C]   1.00-2.00   sec  1.25 MBytes  10.5 Mbits/sec    0   1.12 MBytes      \x20
h4:  [  7][RX-C]   1.00-2.00   sec  1.25 MBytes  10.5 Mbits/sec                 \x20
h4:  - - - - - - - - - - - - - - - - - - - - - - - - -
h4:  [ ID][Role] Interval           Transfer     Bitrate         Retr
h4:  [  5][TX-C]   0.00-2.00   sec  2.50 MBytes  10.5 Mbits/sec    0             sender
h4:  [  5][TX-C]   0.00-3.00   sec  3.75 MBytes  10.5 Mbits/sec                  receiver
h4:  [  7][RX-C]   0.00-3.00   sec  3.75 MBytes  10.5 Mbits/sec    3             sender
h4:  [  7][RX-C]   0.00-2.00   sec  2.50 MBytes  10.5 Mbits/sec                  receiver
h4: \x20
h4:  iperf Done.
";
    let line = "-c h4 --bidir -O 1 -t 2 -T h4";
    assert_eq!(printed(line, &entries, Some(&document), None), expected);
}

/// The value of a member on a path, as it is written: `end.sum_sent.bytes`, `intervals.0.sum`. A tiny reader, so that what programs would
/// find is looked for as they do.
fn member(text: &str, path: &str) -> String {
    let mut rest = text.trim().to_owned();
    for step in path.split('.') {
        let parts = parts(&rest);
        let found = match step.parse::<usize>() {
            Ok(place) => parts.get(place).map(|(_, value)| value.clone()),
            Err(_) => parts.iter().find(|(key, _)| key == step).map(|(_, value)| value.clone()),
        };
        rest = found.unwrap_or_else(|| panic!("{path}: there is no {step} in {rest}"));
    }
    rest
}

/// What a list or an object holds: keys and values, each as it is written.
fn parts(text: &str) -> Vec<(String, String)> {
    let inner = &text[1..text.len() - 1];
    let (mut parts, mut depth, mut is_text, mut begin) = (Vec::new(), 0_u32, false, 0);
    for (place, character) in inner.char_indices().chain([(inner.len(), ',')]) {
        match character {
            '"' if !inner[..place].ends_with('\\') => is_text = !is_text,
            _ if is_text => {}
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            ',' if depth == 0 => {
                let part = inner[begin..place].trim();
                begin = place + 1;
                let is_member = text.starts_with('{') && !part.is_empty();
                let (key, value) = match part.split_once("\":") {
                    Some((key, value)) if is_member => (key.trim_start_matches('"'), value.trim()),
                    _ => ("", part),
                };
                if !value.is_empty() {
                    parts.push((key.to_owned(), value.to_owned()));
                }
            }
            _ => {}
        }
    }
    parts
}

#[test]
fn programs_find_what_they_read_in_a_document() {
    let document = document([25_034_752; 2]);
    let text = printed("-c h4 -P 2 -J -T t --extra-data x", &two_streams(), Some(&document), None);
    for (path, value) in [
        // iperf3-python, and what it takes for a client.
        ("start.timestamp.time", "\"Fri, 27 Nov 2026 00:32:49 GMT\""),
        ("start.timestamp.timesecs", "1795739569"),
        ("start.system_info", "\"Linux h1 6.1 x86_64\""),
        ("start.connected.0.local_host", "\"127.0.0.1\""),
        ("start.connected.1.local_port", "40001"),
        ("start.connected.0.remote_port", "5201"),
        ("start.connecting_to.host", "\"h4\""),
        ("start.tcp_mss_default", "1448"),
        ("start.test_start.protocol", "\"TCP\""),
        ("start.test_start.num_streams", "2"),
        ("start.test_start.blksize", "131072"),
        ("start.test_start.duration", "10"),
        ("start.test_start.reverse", "0"),
        ("end.cpu_utilization_percent.host_total", "3"),
        ("end.cpu_utilization_percent.remote_total", "0"),
        // The exporter for Prometheus, and jq.
        ("end.sum_sent.seconds", "2"),
        ("end.sum_sent.bytes", "50069504"),
        ("end.sum_sent.bits_per_second", "200278016"),
        ("end.sum_sent.retransmits", "2"),
        ("end.sum_received.seconds", "3.001"),
        ("end.sum_received.bytes", "50069504"),
        // pScheduler.
        ("intervals.0.streams.0.socket", "5"),
        ("intervals.1.streams.1.start", "1"),
        ("intervals.1.streams.1.end", "2"),
        ("intervals.1.streams.1.bytes", "12451840"),
        ("intervals.1.streams.1.omitted", "false"),
        ("intervals.0.streams.0.retransmits", "0"),
        ("intervals.0.streams.0.snd_cwnd", "1178694"),
        ("intervals.0.streams.0.rtt", "49"),
        ("intervals.0.sum.bits_per_second", "201326592"),
        ("end.streams.0.sender.mean_rtt", "49"),
        ("end.streams.1.sender.retransmits", "2"),
        ("end.streams.1.receiver.bytes", "25034752"),
        ("end.sender_tcp_congestion", "\"cubic\""),
        ("end.receiver_tcp_congestion", "\"bbr\""),
        ("title", "\"t\""),
        ("extra_data", "\"x\""),
    ] {
        assert_eq!(member(&text, path), value, "{path} in {text}");
    }
    assert!(member(&text, "start.version").starts_with("\"iperf 3."));
    assert!(!text.contains("\"error\""));
}

#[test]
fn events_are_lines_and_a_failure_is_one_error() {
    let document = document([25_034_752; 2]);
    let text = printed("-c h4 -P 2 --json-stream", &two_streams(), Some(&document), None);
    let events: Vec<String> = text.lines().map(|line| member(line, "event")).collect();
    assert_eq!(events, ["\"start\"", "\"interval\"", "\"interval\"", "\"end\""]);
    let why = Some((Failure::Peer, "nobody is there"));
    let text = printed("-c h4 --json-stream", &[], None, why);
    assert_eq!(
        text,
        "{\"event\":\"error\",\"data\":\"nobody is there\"}\n{\"event\":\"end\",\"data\":{}}\n"
    );
    let text = printed("-c h4 -J", &[], None, why);
    assert_eq!(member(&text, "error"), "\"nobody is there\"");
    assert_eq!(member(&text, "intervals"), "[]");
    assert_eq!(parts(&member(&text, "end")), []);
    assert_eq!(text.matches("\"error\"").count(), 1);
    assert_eq!(printed("-c h4", &[], None, why), "");
}

#[test]
fn what_the_server_prints_is_shown_below_the_summary_and_is_a_member_for_programs() {
    let mut document = document([25_034_752; 2]);
    let text_of = |line: &str, document: &Document| {
        printed(
            &format!("-c h4 -P 2 --get-server-output {line}"),
            &two_streams(),
            Some(document),
            None,
        )
    };
    // Of a server that has said nothing, nothing.
    let text = text_of("", &document);
    assert!(!text.contains("Server output"), "{text}");
    let said = |document: &mut Document, printed: Printed| {
        let server = document.measurements[0].server.as_mut().expect("its report");
        server.output = Some(printed);
    };
    said(&mut document, Printed::Text("Accepted \u{1b}[2J\nrows\n".to_owned()));
    let text = text_of("", &document);
    let end = "\n\nServer output:\nAccepted \u{fffd}[2J\nrows\n\n\niperf Done.\n";
    assert!(text.ends_with(end), "{text}");
    let text = text_of("-J", &document);
    assert_eq!(member(&text, "server_output_text"), "\"Accepted \\u001b[2J\\nrows\\n\"");
    said(&mut document, Printed::of_json("{\"end\": {\"a\": [1, 2.5]}}").expect("it is JSON"));
    let text = text_of("", &document);
    assert!(text.contains("\nServer JSON output:\n{\n  \"end\": {\n"), "{text}");
    let text = text_of("-J", &document);
    assert!(text.contains("\"server_output_json\":\t{\"end\":{\"a\":[1,2.5]}},\n"), "{text}");
    let text = text_of("--json-stream", &document);
    let event = "{\"event\":\"server_output_json\",\"data\":{\"end\":{\"a\":[1,2.5]}}}\n{\"event\":\"end\",";
    assert!(text.contains(event), "{text}");
}
