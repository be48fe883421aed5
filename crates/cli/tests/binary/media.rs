//! Streams of frames through the binary: every way, every file, and ends that stand still, die or never answer.

use std::net::{ToSocketAddrs, UdpSocket};
use std::path::Path;
use std::sync::mpsc::channel;

use pathscope_core::record::Check;
use pathscope_modes::document::{Document, Measurement, OutcomeState};
use pathscope_modes::media::{FrameCounts, MediaDirection, MediaReport, MediaSummary};

use crate::common::{Running, Server, document_in, pathscope, run};
use crate::trouble::tcp_only;

fn only(document: &Document) -> &Measurement {
    assert_eq!(document.measurements.len(), 1);
    &document.measurements[0]
}

fn summary(measurement: &Measurement) -> &MediaSummary {
    measurement.summary.media.as_ref().expect("it is media")
}

/// What was sent came, came damaged or was lost, and each frame that was sent has ended some way.
fn accounted(way: &MediaDirection, receiver: &MediaReport) {
    let sum = receiver.received_datagrams + receiver.spoilt_datagrams + receiver.lost_datagrams;
    assert_eq!(way.sent_datagrams, Some(sum), "{way:?}");
    let FrameCounts { cut, unsent, .. } = receiver.frames;
    assert_eq!(way.frames_sent, Some(receiver.frames.judged() + cut - unsent), "{way:?}");
}

/// Of both ends.
fn all_accounted(measurement: &Measurement) {
    let summary = summary(measurement);
    let server = measurement.server.as_ref().and_then(|server| server.media.as_ref());
    let ends = [(&summary.down, measurement.client.media.as_ref()), (&summary.up, server)];
    for (way, receiver) in ends {
        let Some(way) = way else { continue };
        accounted(way, receiver.expect("it reported"));
    }
}

/// The rows of a CSV file without quotes, by column.
fn rows(path: &Path) -> (Vec<String>, Vec<Vec<String>>) {
    let text = std::fs::read_to_string(path).expect("it was written");
    let cells = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
    let mut lines = text.lines();
    let head = cells(lines.next().expect("a head"));
    let rows: Vec<_> = lines.map(cells).collect();
    assert!(rows.iter().all(|row| row.len() == head.len()), "{text}");
    (head, rows)
}

fn sum(table: &(Vec<String>, Vec<Vec<String>>), column: &str) -> u64 {
    let at = table.0.iter().position(|name| name == column).expect(column);
    table.1.iter().map(|row| row[at].parse::<u64>().expect(column)).sum()
}

#[test]
fn streams_come_from_the_addresses_that_were_given_in_turns() {
    let server = Server::start();
    let words = ["media", &server.host(), "--rate", "1Mbit", "-t", "500ms", "--streams", "4"];
    let bind = ["--bind", "127.0.0.2", "--bind", "::1", "--bind", "127.0.0.3", "--json"];
    let document = run(&[&words[..], &bind].concat()).exits(0).document();
    let measurement = only(&document);
    all_accounted(measurement);
    let streams = &measurement.client.media.as_ref().expect("it reported").streams;
    let from = ["127.0.0.2:", "127.0.0.3:", "127.0.0.2:", "127.0.0.3:"];
    assert_eq!(streams.len(), from.len());
    for (stream, from) in streams.iter().zip(from) {
        assert!(stream.local.as_ref().is_some_and(|it| it.starts_with(from)), "{stream:?}");
    }
    run(&[&words[..], &["--bind", "::1"]].concat()).exits(2).complains(&["--bind"]);
}

#[test]
fn a_thousand_streams_are_accounted_for_to_the_last_datagram() {
    let files = pathscope_os::limits::raise_open_files().unwrap_or(0);
    if files < 4_000 {
        println!("skipped, because this process may open only {files} files");
        return;
    }
    let server = Server::start();
    let words = ["media", &server.host(), "--rate", "1Mbit", "--streams", "1000", "-t", "2s"];
    let document = run(&[&words[..], &["--json"]].concat()).exits(0).document();
    let measurement = only(&document);
    all_accounted(measurement);
    let down = summary(measurement).down.as_ref().expect("the server sends");
    assert_eq!(down.frames_planned, 1_000 * 120);
    assert_eq!(down.damaged_datagrams, Some(0));
    // However late: each stream is there, and has had some of its frames.
    let streams = &measurement.client.media.as_ref().expect("it reported").streams;
    assert_eq!(streams.len(), 1_000);
    assert!(streams.iter().all(|stream| stream.received_datagrams > 0));
}

#[test]
fn streams_go_every_way_and_every_datagram_is_accounted_for() {
    let server = Server::start();
    for (direction, more) in [
        ("down", &["--streams", "3"][..]),
        ("up", &["--pacing", "spread"]),
        ("both", &["--engine", "plain", "--wait", "sleep"]),
    ] {
        let words = ["media", &server.host(), "--rate", "2Mbit", "--frame-rate", "50"];
        let rest = ["--direction", direction, "-t", "1s", "--buffer-depth", "500ms", "--json"];
        let ran = run(&[&words[..], &rest, more].concat()).exits(0);
        // Told before anything is measured.
        assert!(ran.stderr.contains("50 frames/s of 5,000 B in 4 datagrams"), "{}", ran.said());
        let document = ran.document();
        let measurement = only(&document);
        all_accounted(measurement);
        let summary = summary(measurement);
        let streams = if direction == "down" { 3 } else { 1 };
        let ways: Vec<_> = summary.directions().collect();
        assert_eq!(ways.len(), if direction == "both" { 2 } else { 1 });
        for (name, way) in ways {
            assert_eq!(way.frames_planned, 50 * streams, "{name}");
            assert_eq!(way.damaged_datagrams, Some(0));
            assert!(way.received_bps.is_some_and(|bps| bps > 0.0));
            assert!(way.frames_unsent.is_some() && way.send_lag.is_some());
        }
        assert!(measurement.verdict.is_some());
        assert!(measurement.checks.iter().all(Check::has_held), "{:?}", measurement.checks);
    }
}

#[test]
fn files_hold_what_the_result_says() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("plain").to_owned();
    let (status, ends, jitter) = (path("status.csv"), path("ends.csv"), path("jitter.csv"));
    let words = ["media", &server.host(), "--profile", "sd", "--streams", "2", "-t", "1s"];
    let files =
        ["--status-file", &status, "--connection-file", &ends, "--jitter-file", &jitter, "--json"];
    let ran = run(&[&words[..], &files, &["--report-every", "200ms"]].concat()).exits(0);
    let document = ran.document();
    let report = only(&document).client.media.as_ref().expect("it reported");

    let table = rows(Path::new(&status));
    let theirs = "TimeSlice,Bits/Sec,Streams,Completed,Dropped,Repeated,Errors,";
    assert!(table.0.join(",").starts_with(theirs), "{:?}", table.0);
    assert_eq!(sum(&table, "Completed"), report.frames.completed);
    assert_eq!(sum(&table, "Dropped"), report.frames.missed);
    assert_eq!(sum(&table, "RecvBytes"), report.received_bytes);

    let table = rows(Path::new(&ends));
    let theirs = "TimeSlice,LocalAddress,RemoteAddress,Bits/Sec,Completed,Dropped,Repeated,Errors,Result,ConnectionId,";
    assert!(table.0.join(",").starts_with(theirs), "{:?}", table.0);
    assert_eq!((table.1.len(), table.0.last().map(String::as_str)), (2, Some("Stream")));
    assert_eq!(sum(&table, "Completed"), report.frames.completed);
    assert_eq!(ran.stderr.matches("UDP connection succeeded").count(), 2, "{}", ran.said());

    let table = rows(Path::new(&jitter));
    let theirs = "SequenceNumber,SenderQpc,SenderQpf,ReceiverQpc,ReceiverQpf,RelativeInFlightTimeMs,PrevToCurrentInFlightTimeJitter,";
    assert!(table.0.join(",").starts_with(theirs), "{:?}", table.0);
    assert_eq!(table.1.len() as u64, report.frames.judged() + report.frames.cut);
    let column = |name: &str| table.0.iter().position(|it| it == name).expect(name);
    let (outcome, stream) = (column("Outcome"), column("Stream"));
    let completed = table.1.iter().filter(|row| row[outcome] == "completed").count() as u64;
    assert_eq!(completed, report.frames.completed);
    for number in ["0", "1"] {
        let of = table.1.iter().filter(|row| row[stream] == number);
        let of: Vec<u64> = of.map(|row| row[0].parse().expect("a number")).collect();
        assert_eq!(of, (1..=30).collect::<Vec<u64>>(), "stream {number}");
    }
}

#[test]
fn a_full_disk_costs_the_file_of_frames_and_no_measurement() {
    if !Path::new("/dev/full").exists() {
        println!("skipped, because this system has no device that is always full");
        return;
    }
    let server = Server::start();
    let words = ["media", &server.host(), "--profile", "voice", "-t", "1s", "--json"];
    let ran = run(&[&words[..], &["--jitter-file", "/dev/full"]].concat());
    let ran = ran.exits(6).complains(&["/dev/full", "No space"]);
    all_accounted(only(&ran.document()));
    let ran = run(&[&words[..], &["--jitter-file", "/nowhere/at/all.csv"]].concat());
    ran.exits(2).complains(&["--jitter-file", "/nowhere", "nothing was measured"]);
}

#[test]
fn iterations_follow_one_another_and_stand_side_by_side() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.json");
    let jitter = folder.path().join("jitter.csv");
    let words = ["media", &server.host(), "--profile", "voice", "-t", "400ms", "--iterations", "3"];
    let files = ["-o", file.to_str().expect("plain"), "--jitter-file"];
    let ran = run(&[&words[..], &files, &[jitter.to_str().expect("plain")]].concat()).exits(0);
    assert!(ran.stdout.contains("media 3 of 3"), "{}", ran.said());
    let document = document_in(&file);
    assert_eq!(document.measurements.len(), 3);
    document.measurements.iter().for_each(all_accounted);
    // The rows of all three, under one head.
    let table = rows(&jitter);
    let near = document.measurements.iter().filter_map(|it| it.client.media.as_ref());
    let frames: Vec<u64> = near.map(|near| near.frames.judged()).collect();
    assert_eq!((frames.len(), frames.iter().sum()), (3, table.1.len() as u64), "{frames:?}");
    assert!(frames.iter().all(|&of_a_run| of_a_run > 0), "{frames:?}");
    let shown = run(&["show", file.to_str().expect("plain")]).exits(0);
    for words in ["media 1 of 3", "frames completed", "interarrival jitter", "buffer needed"] {
        assert!(shown.stdout.contains(words), "{words}: {}", shown.said());
    }
    assert!(shown.stdout.lines().all(|line| line.chars().count() <= 80), "{}", shown.said());
}

#[test]
fn a_server_that_stands_still_is_late_and_said_to_be() {
    let server = Server::start();
    let target = server.host();
    let words = ["media", &target, "--rate", "1Mbit", "--frame-rate", "50", "-t", "5s"];
    let rest = ["--buffer-depth", "200ms", "--report-every", "100ms", "--json-stream"];
    let mut client = Running::start(pathscope(&[&words[..], &rest].concat()));
    let mut pass = |intervals: usize| {
        (0..intervals).for_each(|_| drop(client.await_stdout("\"event\":\"interval\"")));
    };
    pass(10);
    server.running.signal("STOP");
    pass(15);
    server.running.signal("CONT");
    let ran = client.finish().exits(0);
    let finished = ran.stdout.lines().last().expect("it said something");
    let document = Document::from_json(finished).unwrap_or_else(|error| panic!("{error}"));
    let measurement = only(&document);
    all_accounted(measurement);
    let down = summary(measurement).down.clone().expect("it has that");
    // A second and more of frames left late, since the server stood still.
    assert!(down.send_lag.as_ref().and_then(|lag| lag.max_ns) > Some(1_000_000_000), "{down:?}");
    assert!(down.late_by_sender >= Some(40), "{down:?}");
    let verdict = measurement.verdict.as_ref().expect("both reported");
    assert!(verdict.text.contains("the sender"), "{}", verdict.text);
}

#[test]
fn a_server_that_dies_and_a_user_who_has_seen_enough_leave_what_was_measured() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.json");
    let words = ["--rate", "1Mbit", "--frame-rate", "50", "--buffer-depth", "100ms", "-t", "60s"];
    let rest = ["--report-every", "100ms", "-o", file.to_str().expect("plain")];
    for (killed, code, state) in
        [(true, 3, OutcomeState::Failed), (false, 130, OutcomeState::Interrupted)]
    {
        let server = Server::start();
        let target = server.host();
        let mut client =
            Running::start(pathscope(&[&["media", &target][..], &words, &rest].concat()));
        // Rows are told once both ends have said what they did.
        (0..8).for_each(|_| drop(client.await_stdout("bit/s")));
        if killed {
            server.running.signal("KILL");
        } else {
            client.signal("INT");
        }
        client.finish().exits(code);
        let document = document_in(&file);
        assert_eq!(document.outcome.state, state);
        let measurement = only(&document);
        let report = measurement.client.media.as_ref().expect("it reported");
        assert!(report.frames.judged() > 0, "{report:?}");
        if !killed {
            all_accounted(measurement);
        }
    }
}

#[test]
fn nothing_streams_to_an_address_that_has_not_echoed() {
    let server = Server::start();
    let target = tcp_only(server.port);
    // Passes on what the client says, and keeps what the server answers.
    let socket = UdpSocket::bind(&target).expect("the port is free on UDP");
    let there = ("127.0.0.1", server.port).to_socket_addrs().expect("loopback").next();
    let there = there.expect("one");
    let (asked, sizes) = channel();
    std::thread::spawn(move || {
        let mut buffer = vec![0; 65_535];
        while let Ok((count, from)) = socket.recv_from(&mut buffer) {
            if from == there {
                let _ = asked.send(count);
            } else {
                let _ = socket.send_to(&buffer[..count], there);
            }
        }
    });
    let words = ["media", &target, "--rate", "25Mbit", "-t", "1s"];
    run(&words).exits(3).complains(&["no answer", "UDP port"]);
    let answers: Vec<usize> = sizes.try_iter().collect();
    assert!(!answers.is_empty(), "the server was asked and challenged");
    // Challenges alone, each half as long as what it answers.
    assert!(answers.iter().all(|&size| size == 32), "{answers:?}");
}
