//! lagscope's command line and what it prints, and its wire against programs that share no code with ours. The lines are those of its
//! guide, with addresses, ports and counts cut.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::common::{Ran, Running, Server, pathscope, run};

/// A receiver on a free port of loopback, as lagscope is started, and what it is told beside.
fn receiver(words: &[&str]) -> Server {
    let words = [&["lagscope", "-r127.0.0.1", "-p0"], words].concat();
    Server::listening(Running::start(pathscope(&words)))
}

/// A server that serves its clients beside its own.
fn server() -> Server {
    let words = ["server", "--listen", "127.0.0.1", "--accept", "lagscope", "--lagscope-port", "0"];
    Server::listening(Running::start(pathscope(&words)))
}

/// A sender to there, that is told this.
fn sender(server: &Server, words: &[&str]) -> Ran {
    sender_in(Path::new("."), server, words)
}

/// The same in a folder.
fn sender_in(folder: &Path, server: &Server, words: &[&str]) -> Ran {
    let port = format!("-p{}", server.port);
    let mut command = pathscope(&[&["lagscope", "-s127.0.0.1", &port, "-o0"], words].concat());
    command.current_dir(folder);
    Running::start(command).finish()
}

/// A line without its time, where it has one: two digits, a colon, and so on.
fn untimed(line: &str) -> &str {
    let time = line.get(..9).unwrap_or_default();
    let is_time = time.bytes().enumerate().all(|(place, byte)| match place {
        2 | 5 => byte == b':',
        8 => byte == b' ',
        _ => byte.is_ascii_digit(),
    });
    if is_time && line.len() > 9 { &line[9..] } else { line }
}

/// The lines of a sender without progress, and without their times.
fn lines(ran: &Ran) -> Vec<String> {
    // Progress ends in a carriage return, and shares a line with what follows it.
    let last = |line: &str| line.rsplit('\r').next().unwrap_or_default().to_owned();
    ran.stdout.lines().map(|line| untimed(&last(line)).to_owned()).collect()
}

/// What every sender prints before it prints more: as many lines as this.
const ALWAYS: usize = 7;

/// Checks those lines, of so many pings.
fn is_a_run(lines: &[String], pings: u64) {
    assert_eq!(lines[0], "lagscope 1.0.1");
    assert_eq!(lines[1], "-".repeat(57));
    assert!(lines[2].starts_with("INFO: New connection: local:"), "{lines:?}");
    assert!(lines[2].contains(" [socket:0] --> 127.0.0.1:"), "{lines:?}");
    assert_eq!(lines[3], "INFO: TEST COMPLETED.");
    assert_eq!(lines[4], "INFO: Ping statistics for 127.0.0.1:");
    assert_eq!(lines[5], format!("INFO: \t  Number of successful Pings: {pings}"));
    let values: Vec<f64> = lines[6]
        .split(" = ")
        .skip(1)
        .map(|value| value.split("us").next().and_then(|it| it.parse().ok()).expect("a number"))
        .collect();
    let [least, most, mean] = values[..] else { panic!("{lines:?}") };
    assert!(lines[6].starts_with("INFO: \t  Minimum = "), "{lines:?}");
    assert!(lines[6].contains("us, Maximum = ") && lines[6].contains("us, Average = "));
    assert!(0.0 < least && least <= mean && mean <= most, "{lines:?}");
}

/// The two numbers of a row of a table.
fn row(line: &str) -> (u64, u64) {
    let (left, right) = line.split_once(" \t ").expect("two columns");
    (left.trim().parse().expect("a number"), right.parse().expect("a number"))
}

#[test]
fn a_sender_prints_its_results_and_nothing_behind_them() {
    let server = receiver(&[]);
    let ran = sender(&server, &["-n1000"]).exits(0);
    let lines = lines(&ran);
    is_a_run(&lines, 1_000);
    assert_eq!(lines.len(), ALWAYS, "{lines:?}");
    assert!(!ran.stdout.contains(" ERR : "));
    assert!(ran.stdout.contains("127.0.0.1: 100% completed.\r"), "{}", ran.said());
}

#[test]
fn a_histogram_has_a_row_for_each_bucket() {
    let server = receiver(&[]);
    let words = ["-n", "2000", "-H", "-a", "10", "-l", "1", "-c", "98"];
    let ran = sender(&server, &words).exits(0);
    let lines = lines(&ran);
    is_a_run(&lines, 2_000);
    assert_eq!(lines[ALWAYS..ALWAYS + 2], ["", "Interval(usec)\t Frequency"]);
    let rows: Vec<(u64, u64)> = lines[ALWAYS + 2..].iter().map(|line| row(line)).collect();
    let begins: Vec<u64> = rows.iter().map(|(begin, _)| *begin).collect();
    let expected: Vec<u64> = std::iter::once(0).chain(10..108).collect();
    assert_eq!(begins[..99], expected[..], "one below, and 98");
    assert!(begins[99..].is_empty() || begins[99..] == [108], "{begins:?}");
    assert_eq!(rows.iter().map(|(_, count)| count).sum::<u64>(), 2_000);
    let alone = sender(&server, &["-n100", "-H"]).exits(0);
    assert!(alone.stdout.contains("\n    900 \t "), "ten of 100 µs: {}", alone.said());
}

#[test]
fn percentiles_and_the_table_of_latencies_are_of_the_same_pings() {
    let server = receiver(&[]);
    let folder = tempfile::tempdir().expect("a folder");
    let words = ["-n2000", "-Platencies_table.json", "-R", "-H"];
    let ran = sender_in(folder.path(), &server, &words).exits(0);
    let lines = lines(&ran);
    is_a_run(&lines, 2_000);
    let said = "INFO: Dumping all latencies into csv file: latencies_log.csv";
    assert_eq!(lines[ALWAYS], said);
    let said = "INFO: Dumping latency frequency table into json file: latencies_table.json";
    assert_eq!(lines[ALWAYS + 1], said);
    assert_eq!(lines[ALWAYS + 2..ALWAYS + 4], ["", "Percentile\t Latency(us)"]);
    // Index, comma, blank, whole microseconds.
    let read = |name| std::fs::read_to_string(folder.path().join(name)).expect("it was written");
    let csv = read("latencies_log.csv");
    let mut latencies: Vec<u64> = Vec::new();
    assert_eq!(csv.lines().next(), Some("Index, Latency(us)"));
    for (place, line) in csv.lines().skip(1).enumerate() {
        let latency = line.strip_prefix(&format!("{place}, ")).expect("it is numbered");
        latencies.push(latency.parse().expect("a number"));
    }
    assert_eq!(latencies.len(), 2_000);
    latencies.sort_unstable();
    // The rank is cut to a whole number, from 0.
    let percentiles = [50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99, 99.999];
    let names = ["50", "75", "90", "95", "99", "99.9", "99.99", "99.999"];
    for (place, (percentile, name)) in percentiles.into_iter().zip(names).enumerate() {
        let rank = (percentile * 2_001.0 / 100.0 - 1.0) as usize;
        let expected = format!("{name:>7}% \t {}", latencies[rank]);
        assert_eq!(lines[ALWAYS + 4 + place], expected, "{}", ran.said());
    }
    let json: Value = serde_json::from_str(&read("latencies_table.json")).expect("JSON");
    let mut counted = Vec::new();
    for entry in json["latencies"].as_array().expect("a list") {
        let latency = entry["latency"].as_u64().expect("a number");
        let frequency = entry["frequency"].as_u64().expect("a number") as usize;
        counted.extend(std::iter::repeat_n(latency, frequency));
    }
    assert_eq!(counted, latencies, "both files are of the same pings, to the microsecond");
}

#[test]
fn verbose_says_each_setting_and_each_ping() {
    let mut server = receiver(&["-V"]);
    let block = server.running.await_stdout("protocol:");
    assert!(block.ends_with("TCP"), "{block}");
    let ran = sender(&server, &["-n5", "-z64", "-V"]).exits(0);
    let lines = lines(&ran);
    assert!(lines.contains(&"*** sender role".to_owned()), "{lines:?}");
    for (label, value) in [
        ("domain:", "IPv4"),
        ("protocol:", "TCP"),
        ("message size (bytes):", "64"),
        ("verbose mode:", "enabled"),
    ] {
        let line = lines.iter().find(|line| line.starts_with(label));
        assert!(line.is_some_and(|line| line.ends_with(value)), "{label} {lines:?}");
    }
    let replies = lines.iter().filter(|line| {
        line.starts_with("DBG : Reply from 127.0.0.1: bytes=64 time=") && line.ends_with("us")
    });
    assert_eq!(replies.count(), 5, "{lines:?}");
    assert!(!ran.stdout.contains('\r'), "progress would be in the way");
    let connection = server.running.await_stdout("New connection: 127.0.0.1:");
    assert!(connection.contains(&format!("--> local:{} [socket ", server.port)), "{connection}");
}

#[test]
fn a_duration_beats_a_number_and_intervals_are_kept() {
    let server = receiver(&[]);
    let ran = sender(&server, &["-n5", "-t1", "-i1"]).exits(0);
    let pings = lines(&ran)[5].rsplit(' ').next().and_then(|it| it.parse::<u64>().ok());
    assert!(matches!(pings, Some(1..=2)), "{}", ran.said());
}

#[test]
fn a_source_port_that_is_taken_is_no_error() {
    let server = receiver(&[]);
    let taken = std::net::TcpListener::bind("0.0.0.0:0").expect("a free port");
    let source = taken.local_addr().expect("bound").port();
    let ran = sender(&server, &["-n10", &format!("-o{source}")]).exits(0);
    let said =
        format!("INFO: failed to bind socket[0] to a local port: [0.0.0.0:{source}]. errno = 98");
    assert!(ran.stdout.contains(&said), "{}", ran.said());
    assert!(!ran.stdout.contains(" ERR : "), "{}", ran.said());
}

#[test]
fn usage_keeps_its_exit_code_and_wrong_words_are_named() {
    for words in [&["lagscope", "-h"][..], &["lagscope", "-s", "-x"], &["lagscope", "--help"]] {
        let ran = run(words).exits(23);
        assert!(ran.stdout.starts_with("lagscope 1.0.1\n"), "{}", ran.said());
        assert!(ran.stdout.contains("-z<n>"), "{}", ran.said());
    }
    run(&["lagscope", "-s", "-p70000"]).exits(2).complains(&["-p", "70000"]);
    run(&["lagscope", "-s", "-u"]).exits(2).complains(&["--protocol udp"]);
}

#[test]
fn nobody_there_is_an_error_with_an_exit_code() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = format!("-p{}", free.local_addr().expect("bound").port());
    drop(free);
    let ran = run(&["lagscope", "-s127.0.0.1", &port, "-n5", "-o0"]).exits(3);
    assert!(ran.stdout.contains(" ERR : ") && !ran.stdout.contains("COMPLETED"), "{}", ran.said());
}

#[test]
fn our_own_words_speak_to_such_a_server() {
    let server = server();
    let host = server.host();
    let words = ["latency", &host, "--peer", "lagscope", "--size", "4", "-n", "500", "--json"];
    let ran = run(&words).exits(0);
    let document: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(document["hosts"]["peer"]["name"], "lagscope");
    assert_eq!(document["measurements"][0]["summary"]["latency"]["rtt"]["count"], 500);
    let pings = |form: &[&str]| {
        let words = ["latency", &host, "--peer", "lagscope", "--size", "4", "-n", "7", "--each"];
        run(&[&words[..], form].concat())
    };
    let text = pings(&[]).exits(0);
    assert_eq!(text.stdout.matches("] flow 0 ping ").count(), 7, "{}", text.said());
    let stream = pings(&["--json-stream"]).exits(0);
    let events = stream.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    let events: Vec<Value> = events.collect();
    let each: Vec<&Value> = events.iter().filter(|event| event["event"] == "ping").collect();
    assert_eq!(each.len(), 7, "{}", stream.said());
    assert!(each.iter().all(|ping| ping["rtt_ns"].as_u64() > Some(0)), "{each:?}");
    pings(&["--json"]).exits(2).complains(&["--each", "--json-stream"]);
}

/// The other program, with these words; none where there is no Python.
fn other(words: &[&str]) -> Option<Command> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/lagscope.py");
    let is_there = Command::new("python3").arg("--version").output().is_ok();
    is_there.then(|| {
        let mut command = Command::new("python3");
        command.arg(script).args(words);
        command
    })
}

#[test]
fn a_client_that_shares_no_code_is_echoed() {
    let server = receiver(&[]);
    for size in ["4", "64", "70000"] {
        let port = server.port.to_string();
        let Some(client) = other(&["ping", &port, size, "200"]) else {
            return println!("skipped, because there is no python3");
        };
        let ran = Running::start(client).finish().exits(0);
        assert_eq!(ran.stdout, "pings 200 then b''\n");
    }
}

#[test]
fn a_server_that_shares_no_code_hears_what_lagscope_says() {
    for size in ["4", "64"] {
        let Some(server) = other(&["serve", size]) else {
            return println!("skipped, because there is no python3");
        };
        let mut server = Running::start(server);
        let port = server.await_stdout("");
        let words = ["lagscope", "-s127.0.0.1", &format!("-p{port}"), "-n300", "-o0"];
        let ran = run(&[&words[..], &[&format!("-z{size}")]].concat()).exits(0);
        is_a_run(&lines(&ran), 300);
        assert_eq!(server.await_stdout("messages"), "messages 301");
    }
    // Both ends need the same size, and that is said.
    let Some(server) = other(&["serve", "64"]) else { return };
    let mut server = Running::start(server);
    let port = server.await_stdout("");
    let words = ["lagscope", "-s127.0.0.1", &format!("-p{port}"), "-n300", "-o0", "-z6"];
    let ran = run(&words).exits_with(&[3, 5]);
    assert!(ran.stdout.contains(" ERR : ") && ran.stdout.contains("-z6"), "{}", ran.said());
}

#[test]
fn a_sender_that_reaches_nobody_says_so_once_and_in_lagscopes_words() {
    // Nobody listens at this address.
    let ran = run(&["lagscope", "-s127.77.9.1", "-p6001", "-n5", "-o0"]).exits(3);
    let said = &ran.stdout;
    assert!(said.contains("'lagscope -r'") && said.contains("with -p"), "{}", ran.said());
    assert!(!said.contains("--port") && !said.contains("--peer"), "{}", ran.said());
    assert_eq!((said.matches(" ERR : ").count(), ran.stderr.as_str()), (1, ""), "{}", ran.said());
}
