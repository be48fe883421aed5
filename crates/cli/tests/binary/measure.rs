//! The binary on loopback: what it measures, what both ends agree on, what it writes. Counts are exact;
//! times have bounds that hold on a slow machine.

use crate::common::{Server, document_in, run};
use pathscope_core::record::Check;
use pathscope_modes::document::{Document, OutcomeState};

fn only(document: &Document) -> &pathscope_modes::document::Measurement {
    assert_eq!(document.measurements.len(), 1);
    &document.measurements[0]
}

#[test]
fn goodput_of_a_stated_transfer_counts_every_byte_in_every_pattern() {
    let server = Server::start();
    let transfer = 6 << 20;
    for (pattern, up, down) in [
        ("push", transfer, 0),
        ("pull", 0, transfer),
        ("duplex", transfer / 2, transfer / 2),
        ("pushpull", transfer / 2, transfer / 2),
    ] {
        for engine in ["epoll", "plain"] {
            let words = [
                "goodput",
                &server.host(),
                "--pattern",
                pattern,
                "--connections",
                "3",
                "--transfer",
                "6MiB",
                "--engine",
                engine,
                "--json",
            ];
            let ran = run(&words).exits(0);
            let document = ran.document();
            let measurement = only(&document);
            let summary = measurement.summary.goodput.as_ref().expect("it is goodput");
            let received = |direction: Option<pathscope_modes::goodput::DirectionSummary>| {
                direction
                    .map_or(0, |direction| direction.received_bytes.expect("both ends reported"))
            };
            assert_eq!(
                (received(summary.up), received(summary.down)),
                (3 * up, 3 * down),
                "{pattern} {engine}"
            );
            assert_eq!((summary.completed, summary.failed), (3, 0));
            assert_eq!(measurement.client.workers[0].engine, engine);
            assert!(measurement.checks.iter().all(Check::has_held), "{:?}", measurement.checks);
            let names: Vec<&str> =
                measurement.checks.iter().map(|check| check.name.as_str()).collect();
            assert_eq!(names, ["verified", "completed", "counts_agree"]);
            assert!(measurement.verdict.is_some());
        }
    }
}

#[test]
fn goodput_of_a_stated_duration_ends_in_time_with_equal_counts() {
    let server = Server::start();
    for pattern in ["push", "pull", "pushpull", "duplex"] {
        let words = [
            "goodput",
            &server.host(),
            "--pattern",
            pattern,
            "-c",
            "2",
            "--duration",
            "500ms",
            "--json",
        ];
        let document = run(&words).exits(0).document();
        let measurement = only(&document);
        let server = measurement
            .server
            .as_ref()
            .and_then(|server| server.goodput.as_ref())
            .expect("it reported");
        let client = measurement.client.goodput.as_ref().expect("it reported");
        assert_eq!(
            (client.sent_bytes, client.received_bytes),
            (server.received_bytes, server.sent_bytes)
        );
        assert!(client.sent_bytes + client.received_bytes > 0, "{pattern}");
        let ends = [Some(&measurement.client), measurement.server.as_ref()].into_iter().flatten();
        for end in ends {
            let moved = end.goodput.as_ref().map_or(0, |it| it.sent_bytes + it.received_bytes);
            assert_eq!(end.cpu_per_gigabyte_ns, end.cpu_per_gigabyte(moved), "{pattern}");
            assert!(end.cpu_per_gigabyte_ns.is_some_and(|cost| cost > 0.0), "{pattern}");
        }
        assert!(measurement.duration_ns >= 500_000_000);
    }
}

#[test]
fn probes_run_beside_a_load_unless_they_are_not_wanted() {
    let server = Server::start();
    let host = server.host();
    let document =
        run(&["goodput", &host, "--duration", "1s", "-c", "1", "--json"]).exits(0).document();
    let probe = only(&document).summary.probe.as_ref().expect("probes by default");
    // 25 a second; a busy machine sends fewer.
    assert!((1..=26).contains(&probe.sent), "{}", probe.sent);
    assert_eq!(probe.received + probe.lost, probe.sent);
    assert_eq!(probe.duplicates + probe.corrupt + probe.foreign, 0);
    let document =
        run(&["goodput", &host, "--duration", "200ms", "--no-probe", "--json"]).exits(0).document();
    assert!(only(&document).summary.probe.is_none());
}

#[test]
fn latency_counts_every_ping() {
    let server = Server::start();
    for protocol in ["tcp", "udp"] {
        for (engine, wait) in
            [("plain", "spin"), ("plain", "sleep"), ("epoll", "hybrid"), ("epoll", "sleep")]
        {
            let words = [
                "latency",
                &server.host(),
                "--protocol",
                protocol,
                "-n",
                "500",
                "--engine",
                engine,
                "--wait",
                wait,
                "--json",
            ];
            let document = run(&words).exits(0).document();
            let measurement = only(&document);
            let summary = measurement.summary.latency.as_ref().expect("it is latency");
            assert_eq!(
                (summary.sent, summary.received, summary.lost),
                (500, 500, 0),
                "{protocol} {engine} {wait}"
            );
            assert_eq!(summary.rtt.count, 500);
            assert!(
                summary.rtt.min_ns > Some(1_000),
                "no loopback is that fast: {:?}",
                summary.rtt.min_ns
            );
            let ran = (
                measurement.client.workers[0].engine.as_str(),
                measurement.client.workers[0].wait.as_str(),
            );
            assert_eq!(ran, (engine, wait));
        }
    }
}

#[test]
fn an_open_loop_sends_every_ping_of_its_schedule() {
    let server = Server::start();
    let words =
        ["latency", &server.host(), "--protocol", "udp", "--rate", "500/s", "-t", "1s", "--json"];
    let document = run(&words).exits(0).document();
    let summary = only(&document).summary.latency.as_ref().expect("it is latency");
    assert_eq!(summary.sent, 500);
    assert_eq!(summary.received + summary.lost, 500);
    // A tenth of the run at the most is warm-up.
    assert!(summary.warm_up <= 50, "{}", summary.warm_up);
    assert_eq!(summary.rtt.count + summary.warm_up, summary.received);
}

#[test]
fn intervals_of_both_ends_stand_on_one_axis_and_add_up() {
    let server = Server::start();
    for engine in ["epoll", "plain"] {
        let words = [
            "goodput",
            &server.host(),
            "-c",
            "2",
            "--pattern",
            "duplex",
            "-t",
            "1s",
            "--report-every",
            "200ms",
            "--engine",
            engine,
            "--wait",
            "sleep",
            "--json",
        ];
        let document = run(&words).exits(0).document();
        let measurement = only(&document);
        assert!(measurement.intervals.len() >= 5, "{}", measurement.intervals.len());
        let sums = measurement.intervals.iter().fold((0, 0), |(sent, received), interval| {
            let client =
                interval.client.as_ref().and_then(|client| client.goodput).unwrap_or_default();
            (sent + client.sent_bytes, received + client.received_bytes)
        });
        let client = measurement.client.goodput.as_ref().expect("it reported");
        assert_eq!(
            sums,
            (client.sent_bytes, client.received_bytes),
            "{engine}: intervals add up to the whole"
        );
        assert!(measurement.intervals.iter().any(|interval| interval.server.is_some()));
    }
}

#[test]
fn neither_way_of_a_duplex_starves_the_other() {
    let server = Server::start();
    let words = [
        "goodput",
        &server.host(),
        "-c",
        "8",
        "--pattern",
        "duplex",
        "-t",
        "2s",
        "--no-probe",
        "--json",
    ];
    let document = run(&words).exits(0).document();
    let client = only(&document).client.goodput.as_ref().expect("it reported");
    let (less, more) = (
        client.sent_bytes.min(client.received_bytes),
        client.sent_bytes.max(client.received_bytes),
    );
    // Sends are larger than receives: taking turns by calls gave one way eight times the other's bytes.
    assert!(less * 5 > more, "{less} and {more} bytes");
}

#[test]
fn a_survey_needs_no_server_and_leaves_its_result_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = crate::common::pathscope(&["survey", "--duration", "600ms", "-c", "2"]);
    command.current_dir(folder.path());
    let ran = crate::common::Running::start(command).finish().exits(0);
    for words in
        ["latency idle", "goodput up", "goodput down", "goodput both ways", "RTT", "Gbit/s"]
    {
        assert!(ran.stdout.contains(words), "'{words}' is missing: {}", ran.said());
    }
    let files: Vec<_> = std::fs::read_dir(folder.path()).expect("it is there").collect();
    assert_eq!(files.len(), 1, "one result and no remains: {files:?}");
    let path = files[0].as_ref().expect("readable").path();
    let document = document_in(&path);
    assert_eq!(document.measurements.len(), 4);
    assert_eq!(document.outcome.state, OutcomeState::Complete);
    assert!(document.hosts.is_one_machine());
    let peer = document.hosts.peer.expect("it has answered");
    assert_eq!((peer.name.as_str(), peer.protocol_version.as_deref()), ("pathscope", Some("2")));
    assert!(ran.stdout.contains("pathscope, protocol version 2"), "{}", ran.said());
    assert!(document.target.is_none());
}

#[test]
fn a_survey_of_a_host_that_is_interrupted_keeps_the_steps_it_has() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.json");
    let words = ["survey", &server.host(), "-t", "2s", "-c", "2", "--report-every", "100ms", "-o"];
    let mut command = crate::common::pathscope(&words);
    command.arg(&path);
    let mut client = crate::common::Running::start(command);
    // The second step has begun, and something has moved in it.
    client.await_stdout("goodput up");
    client.await_stdout("bit/s");
    client.signal("INT");
    let ran = client.finish().exits(130);
    let document = document_in(&path);
    assert_eq!(document.target, Some(server.host()));
    assert_eq!(document.outcome.state, OutcomeState::Interrupted, "{}", ran.said());
    let [idle, up] = &document.measurements[..] else { panic!("{}", ran.said()) };
    assert!(idle.checks.iter().all(Check::has_held), "{:?}", idle.checks);
    assert!(idle.duration_ns >= 2_000_000_000, "{:?}", idle.duration_ns);
    let goodput = up.summary.goodput.as_ref().expect("it was measured");
    let received = goodput.up.as_ref().and_then(|up| up.received_bytes);
    assert!(received.is_some_and(|bytes| bytes > 0), "{goodput:?}");
}

#[test]
fn show_says_what_was_said() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.json");
    let file = path.to_str().expect("plain");
    let words = ["latency", &server.host(), "-n", "200", "--wait", "sleep", "-o", file, "-q"];
    let measured = run(&words).exits(0);
    let shown = run(&["show", file]).exits(0);
    assert_eq!(measured.stdout, shown.stdout);
    let json = run(&["show", file, "--json"]).exits(0);
    assert_eq!(json.document(), document_in(&path));
}

#[test]
fn a_json_stream_is_a_json_object_a_line() {
    let server = Server::start();
    let words =
        ["goodput", &server.host(), "-t", "500ms", "--report-every", "100ms", "--json-stream"];
    let ran = run(&words).exits(0);
    let events: Vec<String> = ran
        .stdout
        .lines()
        .map(|line| {
            let value: serde_json::Value = serde_json::from_str(line).expect(line);
            value["event"].as_str().expect("each is an event").to_owned()
        })
        .collect();
    assert_eq!(events.first().map(String::as_str), Some("started"));
    assert_eq!(events.last().map(String::as_str), Some("finished"));
    assert!(events.iter().filter(|event| *event == "interval").count() >= 5, "{events:?}");
}

#[test]
fn what_is_written_follows_the_schema() {
    let server = Server::start();
    let schema = serde_json::to_value(pathscope_modes::document::schema()).expect("plain data");
    let validator = jsonschema::validator_for(&schema).expect("a valid schema");
    for words in [
        ["goodput", &server.host(), "-t", "300ms", "--json"],
        ["latency", &server.host(), "-n", "50", "--json"],
    ] {
        let ran = run(&words).exits(0);
        let value: serde_json::Value = serde_json::from_str(&ran.stdout).expect("a document");
        let errors: Vec<String> =
            validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:#?}");
    }
}

#[test]
fn many_clients_are_served_at_once() {
    let server = Server::start();
    let host = server.host();
    let running: Vec<_> = (0..8)
        .map(|_| {
            let words = [
                "goodput",
                &host,
                "-c",
                "2",
                "--transfer",
                "2MiB",
                "--pattern",
                "duplex",
                "--json",
            ];
            crate::common::Running::start(crate::common::pathscope(&words))
        })
        .collect();
    for client in running {
        let document = client.finish().exits(0).document();
        let summary = only(&document).summary.goodput.clone().expect("it is goodput");
        assert_eq!(summary.up.and_then(|up| up.received_bytes), Some(2 << 20));
    }
}

#[test]
fn a_dry_run_shows_the_plan_and_measures_nothing() {
    let ran = run(&["goodput", "nobody.invalid", "--dry-run", "--rate", "10Mbit"]).exits(0);
    assert!(ran.stdout.contains("\"rate_bps\": 10000000"), "{}", ran.said());
    assert!(ran.stderr.is_empty(), "{}", ran.said());
}
