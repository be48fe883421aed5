//! What the binary writes while a run goes on: files of status, connections and errors at both ends, and how
//! much it says on standard error.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pathscope_os::clock;

use crate::common::{Running, Server, pathscope, run};
use crate::relay::{Fault, relay};

/// The columns that tools for ctsTraffic's files read.
const STATUS: &str = "TimeSlice,SendBps,RecvBps,In-Flight,Completed,NetError,DataError,";
const CONNECTIONS: &str = "TimeSlice,LocalAddress,RemoteAddress,SendBytes,SendBps,RecvBytes,RecvBps,TimeMs,Result,ConnectionId,";

pub type Row = BTreeMap<String, String>;

/// The rows of a whole CSV file: every line ends as RFC 4180 says and has every column.
pub fn rows(path: &Path) -> Vec<Row> {
    let text = std::fs::read_to_string(path).expect("UTF-8");
    assert!(text.ends_with("\r\n"), "{}: cut off: {text}", path.display());
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let names = reader.headers().expect("a header").clone();
    let row = |record: csv::StringRecord| {
        names.iter().map(str::to_owned).zip(record.iter().map(str::to_owned)).collect()
    };
    reader.records().map(|record| row(record.expect("as long as the header"))).collect()
}

pub fn number(row: &Row, column: &str) -> u64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column} of {row:?}"))
}

fn sum(rows: &[Row], column: &str) -> u64 {
    rows.iter().map(|row| number(row, column)).sum()
}

/// The words that ask for all three files in `folder`, and their paths.
pub fn files(folder: &Path, end: &str) -> (Vec<String>, [PathBuf; 3]) {
    let path = |kind: &str| folder.join(format!("{end}-{kind}.csv"));
    let paths = [path("status"), path("connection"), path("error")];
    let options = ["--status-file", "--connection-file", "--error-file"];
    let words = options.iter().zip(&paths).flat_map(|(option, path)| {
        [(*option).to_owned(), path.to_str().expect("plain").to_owned()]
    });
    (words.collect(), paths)
}

pub fn with<'word>(words: &[&'word str], more: &'word [String]) -> Vec<&'word str> {
    words.iter().copied().chain(more.iter().map(String::as_str)).collect()
}

#[test]
fn files_of_both_ends_are_joined_by_the_connection_s_identifier() {
    let folder = tempfile::tempdir().expect("a folder");
    let (server_words, server_files) = files(folder.path(), "server");
    let (client_words, client_files) = files(folder.path(), "client");
    let server_words: Vec<&str> = server_words.iter().map(String::as_str).collect();
    let server = Server::start_with(&server_words);
    // Neither end sees an address of the other.
    let target = relay(&server.host(), None).to_string();
    let words = [
        "goodput",
        &target,
        "-c",
        "4",
        "-n",
        "3MiB",
        "--pattern",
        "duplex",
        "--no-probe",
        "--json",
    ];
    let document = run(&with(&words, &client_words)).exits(0).document();
    server.running.signal("TERM");
    server.running.finish().exits(0);

    let by_id = |path: &Path| -> BTreeMap<String, Row> {
        rows(path).into_iter().map(|row| (row["ConnectionId"].clone(), row)).collect()
    };
    let (here, there) = (by_id(&client_files[1]), by_id(&server_files[1]));
    assert_eq!(here.len(), 4);
    assert!(here.keys().eq(there.keys()), "{here:?} {there:?}");
    for (id, row) in &here {
        let other = &there[id];
        assert_eq!(number(row, "SendBytes"), number(other, "RecvBytes"));
        assert_eq!(number(row, "RecvBytes"), number(other, "SendBytes"));
        assert_eq!((&*row["Result"], &*other["Result"]), ("Succeeded", "Succeeded"));
        assert_eq!(row["Flow"], other["Flow"]);
        assert_ne!(row["LocalAddress"], other["RemoteAddress"], "the relay stands between");
    }
    let told = document.measurements[0].client.goodput.as_ref().expect("it reported");
    assert!(told.flows.iter().all(|flow| {
        flow.connection_id.as_ref().is_some_and(|id| here[id]["Flow"] == flow.flow.to_string())
    }));
    for (path, end) in [(&client_files[0], "client"), (&server_files[0], "server")] {
        let status = rows(path);
        assert!(std::fs::read_to_string(path).expect("text").starts_with(STATUS));
        assert_eq!(
            (sum(&status, "SendBytes"), sum(&status, "RecvBytes")),
            (6 << 20, 6 << 20),
            "{end}"
        );
        assert_eq!(status.iter().map(|row| number(row, "In-Flight")).max(), Some(4), "{end}");
        let last = status.last().expect("rows");
        assert_eq!((number(last, "In-Flight"), number(last, "Completed")), (0, 4), "{end}");
        assert_eq!((number(last, "NetError"), number(last, "DataError")), (0, 0), "{end}");
    }
    assert!(std::fs::read_to_string(&client_files[1]).expect("text").starts_with(CONNECTIONS));
    assert!(rows(&client_files[2]).is_empty() && rows(&server_files[2]).is_empty());
}

#[test]
fn connections_that_follow_others_have_rows_at_both_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let (server_words, server_files) = files(folder.path(), "server");
    let (client_words, client_files) = files(folder.path(), "client");
    let server_words: Vec<&str> = server_words.iter().map(String::as_str).collect();
    let server = Server::start_with(&server_words);
    let host = server.host();
    let words = ["goodput", &host, "-c", "4", "-n", "64KiB", "--iterations", "5", "--no-probe"];
    run(&with(&words, &client_words)).exits(0);
    server.running.signal("TERM");
    server.running.finish().exits(0);
    let ids = |path: &Path| -> Vec<(String, u64)> {
        let found = rows(path).into_iter();
        let mut ids: Vec<_> =
            found.map(|row| (row["ConnectionId"].clone(), number(&row, "Flow"))).collect();
        ids.sort();
        ids
    };
    let here = ids(&client_files[1]);
    assert_eq!(here, ids(&server_files[1]));
    let mut flows: Vec<u64> = here.into_iter().map(|(_, flow)| flow).collect();
    flows.sort_unstable();
    assert_eq!(flows, (0..20).collect::<Vec<_>>());
    for (connections, status) in
        [(&client_files[1], &client_files[0]), (&server_files[1], &server_files[0])]
    {
        let connections = rows(connections);
        assert!(connections.iter().all(|row| row["Result"] == "Succeeded"), "{connections:?}");
        let bytes = sum(&connections, "SendBytes") + sum(&connections, "RecvBytes");
        assert_eq!(bytes, 20 * (64 << 10));
        let status = rows(status);
        let last = status.last().expect("rows");
        assert_eq!((number(last, "In-Flight"), number(last, "Completed")), (0, 20));
    }
}

#[test]
fn a_connection_that_follows_others_is_timed_from_its_own_begin_at_both_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let (server_words, server_files) = files(folder.path(), "server");
    let (client_words, client_files) = files(folder.path(), "client");
    let server_words: Vec<&str> = server_words.iter().map(String::as_str).collect();
    let server = Server::start_with(&server_words);
    let host = server.host();
    // 2 Mbit/s: each of the four takes half a second.
    let words = [
        "goodput",
        &host,
        "-c",
        "1",
        "-n",
        "125kB",
        "--rate",
        "2Mbit",
        "--iterations",
        "4",
        "--pattern",
        "push",
        "--no-probe",
    ];
    let began = clock::now();
    run(&with(&words, &client_words)).exits(0);
    let took = clock::now().since(began).as_millis() as u64;
    server.running.signal("TERM");
    server.running.finish().exits(0);
    for path in [&client_files[1], &server_files[1]] {
        let rows = rows(path);
        assert_eq!(rows.len(), 4);
        // One runs at a time: together they last no longer than the run, and their rates are of their own time.
        assert!(sum(&rows, "TimeMs") <= took, "{took} ms: {rows:?}");
        for row in &rows {
            let bytes = number(row, "SendBytes") + number(row, "RecvBytes");
            let bps = number(row, "SendBps") + number(row, "RecvBps");
            let of_own_time = bytes * 1_000 / (number(row, "TimeMs") + 1);
            assert!((of_own_time..=of_own_time + of_own_time / 20 + 1).contains(&bps), "{row:?}");
        }
    }
}

#[test]
fn one_damaged_connection_is_a_data_error_at_both_ends_and_the_others_go_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let (server_words, server_files) = files(folder.path(), "server");
    let server_words: Vec<&str> = server_words.iter().map(String::as_str).collect();
    let server = Server::start_with(&server_words);
    let target = relay(&server.host(), Some(Fault::flip(1, 1_000_000))).to_string();
    let words = ["goodput", &target, "-c", "3", "-n", "8MiB", "--no-probe", "--json"];
    let document = run(&words).exits(5).document();
    server.running.signal("TERM");
    server.running.finish().exits(0);

    let summary = document.measurements[0].summary.goodput.as_ref().expect("it is goodput");
    assert_eq!((summary.completed, summary.failed), (2, 1));
    let failures = summary.failures;
    assert_eq!((failures.network, failures.data, failures.protocol), (0, 1, 0));
    let connections = rows(&server_files[1]);
    let failed: Vec<&Row> = connections.iter().filter(|row| row["Result"] != "Succeeded").collect();
    assert_eq!((connections.len(), failed.len()), (3, 1));
    assert_eq!((&*failed[0]["Flow"], &*failed[0]["ErrorKind"]), ("1", "data"));
    assert!(failed[0]["Result"].contains("at byte 1,000,000"), "{failed:?}");
    assert_eq!(number(failed[0], "RecvBytes"), 1_000_000);
    let errors = rows(&server_files[2]);
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0]["ConnectionId"], failed[0]["ConnectionId"]);
    let status = rows(&server_files[0]);
    let last = status.last().expect("rows");
    assert_eq!((number(last, "Completed"), number(last, "DataError")), (2, 1));
}

#[test]
fn a_server_that_dies_leaves_a_named_error_for_each_connection() {
    let folder = tempfile::tempdir().expect("a folder");
    let (words, files) = files(folder.path(), "client");
    let server = Server::start();
    let words_before =
        ["goodput", &server.host(), "-c", "3", "-t", "60s", "--report-every", "50ms"];
    let mut client = Running::start(pathscope(&with(&words_before, &words)));
    client.await_stdout("ms");
    server.running.signal("KILL");
    client.finish().exits(3);
    let connections = rows(&files[1]);
    assert_eq!(connections.len(), 3);
    for row in &connections {
        assert_eq!(row["ErrorKind"], "network", "{row:?}");
        assert!(row["Errno"].is_empty() || row["Errno"].starts_with('E'), "{row:?}");
    }
    let status = rows(&files[0]);
    assert_eq!(number(status.last().expect("rows"), "NetError"), 3);
    let errors = rows(&files[2]);
    assert_eq!(errors.iter().filter(|row| row["ErrorKind"] == "network").count(), 3);
    assert!(errors.iter().any(|row| row["ErrorKind"] == "run"), "why the run ended: {errors:?}");
}

#[test]
fn rows_are_in_the_file_while_the_run_goes_on_and_whole_whatever_ends_it() {
    let server = Server::start();
    for (signal, code) in [("INT", Some(130)), ("KILL", None)] {
        let folder = tempfile::tempdir().expect("a folder");
        let (words, files) = files(folder.path(), "client");
        let before = ["goodput", &server.host(), "-c", "3", "-t", "60s", "--report-every", "20ms"];
        let mut client = Running::start(pathscope(&with(&before, &words)));
        // Each line on standard output is of an interval later than a row that was there.
        let mut seen = 0;
        while seen < 5 {
            client.await_stdout("ms");
            seen = std::fs::read_to_string(&files[0]).map_or(0, |text| text.lines().count());
        }
        client.signal(signal);
        assert_eq!(client.finish().code, code);
        let status = rows(&files[0]);
        assert!(status.len() >= 4, "{status:?}");
        if signal == "INT" {
            let connections = rows(&files[1]);
            assert_eq!(connections.len(), 3);
            assert!(connections.iter().all(|row| row["Result"] == "Succeeded"), "{connections:?}");
            assert_eq!(sum(&status, "SendBytes"), sum(&connections, "SendBytes"));
            assert_eq!(number(status.last().expect("rows"), "In-Flight"), 0);
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_costs_a_file_and_no_measurement() {
    let server = Server::start_with(&["--connection-file", "/dev/full"]);
    for option in ["--status-file", "--connection-file", "--error-file"] {
        let words =
            ["goodput", &server.host(), "-c", "2", "-n", "1MiB", "--json", option, "/dev/full"];
        let ran = run(&words);
        let document = ran.document();
        let summary = document.measurements[0].summary.goodput.as_ref().expect("it is goodput");
        assert_eq!((summary.completed, summary.failed), (2, 0));
        // Text has no header, so that a file of errors without an error has nothing to lose.
        let is_lost = option != "--error-file";
        let has_caveat = document.caveats.iter().any(|caveat| caveat.name == "file_incomplete");
        assert_eq!(has_caveat, is_lost, "{option}: {}", ran.said());
        if is_lost {
            assert_eq!(ran.stderr.matches("No space left").count(), 1, "{}", ran.said());
            ran.exits(6).complains(&[option, "/dev/full", "the run goes on", "lacks rows"]);
        } else {
            ran.exits(0);
        }
    }
    server.running.signal("TERM");
    server.running.finish().exits(6).complains(&["--connection-file", "No space left"]);
}

#[test]
fn files_that_cannot_be_are_refused_before_anything_is_measured() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.csv");
    let (file, nowhere) = (file.to_str().expect("plain"), folder.path().join("no/such"));
    let nowhere = nowhere.to_str().expect("plain");
    let target = "127.0.0.1:1";
    for (words, complaint) in [
        (["--status-file", file, "--error-file", file], "name the same file"),
        (["--output", file, "--connection-file", file], "name the same file"),
        (["--status-file", file, "--error-file", nowhere], "nothing was measured"),
    ] {
        let words = [&["goodput", target], words.as_slice()].concat();
        run(&words).exits(2).complains(&[complaint]);
    }
    run(&["server", "--status-file", nowhere]).exits(2).complains(&["--status-file"]);
}

#[test]
fn each_level_says_what_those_before_it_say() {
    let server = Server::start();
    let host = server.host();
    let said = |level: &[&str]| {
        let words = [&["goodput", &host, "-c", "2", "-n", "1MiB", "--no-probe"], level].concat();
        run(&words).exits(0).stderr
    };
    let count = |text: &str, words: &str| text.matches(words).count();
    assert_eq!(said(&["-q"]), "");
    let told = [said(&[]), said(&["-v"]), said(&["-vv"])];
    for (level, text) in told.iter().enumerate() {
        assert_eq!(count(text, "TCP connection succeeded"), 2, "{text}");
        let (opened, status) = (count(text, "connection established"), count(text, "TimeSlice"));
        assert_eq!((opened, status), if level > 0 { (2, 1) } else { (0, 0) }, "{text}");
        assert_eq!(count(text, "the test begins"), usize::from(level > 1), "{text}");
    }
    for wrong in [&["-vvv"][..], &["-q", "-v"]] {
        run(&[&["goodput", &host], wrong].concat()).exits(2);
    }
}
