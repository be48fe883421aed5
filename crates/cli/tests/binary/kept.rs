//! Files that are written, on disks that are full or read-only, under limits, through pipes, and by two at once: what
//! can be kept is kept, what was there before is not lost, and nobody waits for ever.

use std::fs;
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pathscope_modes::document::{Document, OutcomeState};
use rustix::net::{self, AddressFamily, SocketType};

use crate::common::{Ran, Running, Server, document_in, pathscope, run};

/// Runs a script of the shell. `$P` is the binary, `$B` the server, `$D` a folder.
fn script(text: &str, server: &Server, folder: &Path) -> Ran {
    script_in(Command::new("sh"), text, server, folder)
}

/// The same, where file systems can be mounted that nobody else sees. `None` where this machine allows none.
fn script_with_mounts(text: &str, server: &Server, folder: &Path) -> Option<Ran> {
    let words = ["--mount", "--map-root-user"];
    if !Command::new("unshare").args(words).arg("true").status().is_ok_and(|it| it.success()) {
        println!("skipped, because this machine gives a test no mounts of its own");
        return None;
    }
    let mut command = Command::new("unshare");
    command.args(words).arg("sh");
    Some(script_in(command, text, server, folder))
}

fn script_in(mut shell: Command, text: &str, server: &Server, folder: &Path) -> Ran {
    shell.args(["-c", text]).stdin(Stdio::null());
    shell.env("P", env!("CARGO_BIN_EXE_pathscope")).env("B", server.host()).env("D", folder);
    Running::start(shell).finish()
}

/// The files in a folder, by name.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

fn pipe(folder: &Path) -> String {
    let path = folder.join("pipe").to_str().expect("plain").to_owned();
    let made = Command::new("mkfifo").arg(&path).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo {path}");
    path
}

#[test]
fn two_surveys_begun_at_once_leave_two_results() {
    let folder = tempfile::tempdir().expect("a folder");
    let survey = || {
        let mut command = pathscope(&["survey", "-t", "500ms", "-c", "1"]);
        command.current_dir(folder.path());
        Running::start(command)
    };
    let both = [survey(), survey()];
    for running in both {
        running.finish().exits(0).complains(&["result saved: pathscope-survey-"]);
    }
    let files = files_in(folder.path());
    assert_eq!(files.len(), 2, "{files:?}");
    for file in files {
        assert_eq!(document_in(&file).outcome.state, OutcomeState::Complete);
    }
}

#[test]
fn a_survey_for_a_program_leaves_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    for form in ["--json", "--json-stream"] {
        let mut command = pathscope(&["survey", "-t", "500ms", "-c", "1", form]);
        command.current_dir(folder.path());
        let ran = Running::start(command).finish().exits(0);
        assert!(!ran.stderr.contains("result saved"), "{}", ran.said());
        assert_eq!(files_in(folder.path()), [] as [PathBuf; 0]);
    }
}

#[test]
fn a_survey_where_no_file_can_be_left_shows_its_result() {
    let mut command = pathscope(&["survey", "-t", "500ms", "-c", "1"]);
    // Nobody may create a file there, root included.
    command.current_dir("/sys");
    let ran = Running::start(command).finish().exits(0);
    let ran = ran.complains(&["will be shown and not be kept", "name a file with --output"]);
    assert!(ran.stdout.contains("goodput both ways"), "{}", ran.said());
    assert!(!ran.stderr.contains("result saved"), "{}", ran.said());
    // Behind a terminal nobody sees it: there it takes a name.
    run(&["survey", "--daemon"]).exits(2).complains(&["would lose the result: give --output"]);
}

#[test]
fn a_run_that_measures_nothing_says_what_is_in_its_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.json");
    let name = file.to_str().expect("plain");
    // Bound and not listening: nobody else gets the port, and whoever calls is refused.
    let bound = net::socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
    net::bind(&bound, &SocketAddr::from(([127, 0, 0, 1], 0))).expect("a port");
    let address = net::getsockname(&bound).expect("an address");
    let address = SocketAddr::try_from(address).expect("of the Internet");
    let port = address.port().to_string();
    let latency = || run(&["latency", "127.0.0.1", "--port", &port, "-o", name]).exits(3);

    latency().complains(&["nothing was measured, so ", "is not written"]);
    assert!(!file.exists());
    fs::write(&file, "of an earlier run").expect("written");
    latency().complains(&["nothing was measured; ", "is left as it was before this run"]);
    assert_eq!(fs::read_to_string(&file).expect("there"), "of an earlier run");
}

#[test]
fn a_nearly_full_disk_costs_the_new_result_and_not_the_old() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let text = "mount -t tmpfs -o size=24k tmpfs $D && cd $D || exit 99
        head -c 16384 /dev/zero | tr '\\0' x > run.json
        $P goodput $B -c 1 -t 1500ms --report-every 100ms -o run.json; code=$?
        ls; tail -c 3 run.json; wc -c < run.json; exit $code";
    let Some(ran) = script_with_mounts(text, &server, folder.path()) else { return };
    let ran = ran.exits(6).complains(&["No space left", "what it held before is still there"]);
    assert!(ran.stdout.contains("goodput up"), "told all the same: {}", ran.said());
    assert!(ran.stdout.ends_with("run.json\nxxx16384\n"), "{}", ran.said());
}

#[test]
fn a_disk_that_is_full_in_between_is_tried_again() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    // The disk has room once the run has complained: for the result and the one before it, which stays until then.
    let text = "mount -t tmpfs -o size=4m tmpfs $D && cd $D && mkfifo said || exit 99
        head -c 4194304 /dev/zero > filling 2> /dev/null
        (while read -r line; do
            echo \"$line\" >&2; case $line in *'tried again'*) rm -f filling;; esac
        done < said) &
        $P latency $B -t 3s --report-every 100ms -o run.json > /dev/null 2> said; code=$?
        wait; cat run.json; exit $code";
    let Some(ran) = script_with_mounts(text, &server, folder.path()) else { return };
    let ran = ran.exits(0).complains(&["cannot save what was measured so far", "No space left"]);
    assert_eq!(ran.document().outcome.state, OutcomeState::Complete);
}

#[test]
fn what_is_mounted_over_a_name_is_written_to() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let text = "mount -t tmpfs tmpfs $D && cd $D && echo old > target && : > run.json || exit 99
        mount --bind target run.json || exit 99
        $P latency $B -n 50 -q -o run.json > /dev/null || exit
        ls; cat target";
    let Some(ran) = script_with_mounts(text, &server, folder.path()) else { return };
    let ran = ran.exits(0);
    let document = ran.stdout.strip_prefix("run.json\ntarget\n");
    let document = document.unwrap_or_else(|| panic!("{}", ran.said()));
    Document::from_json(document).unwrap_or_else(|error| panic!("{error}: {}", ran.said()));
}

#[test]
fn a_limit_on_the_size_of_files_is_told_and_what_fits_is_kept() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    // Blocks of 512 bytes.
    let text = "ulimit -f 4; cd $D; $P latency $B -n 500 --samples rows.csv -o run.json";
    let ran = script(text, &server, folder.path()).exits(6);
    let ran = ran.complains(&["run.json: File too large", "ulimit -f"]);
    assert!(ran.stdout.contains("RTT p50"), "{}", ran.said());
    assert_eq!(files_in(folder.path()), [folder.path().join("rows.csv")]);
    let rows = fs::read_to_string(folder.path().join("rows.csv")).expect("rows");
    let columns: Vec<usize> = rows.lines().map(|row| row.split(',').count()).collect();
    let is_whole = columns.iter().all(|count| *count == columns[0]) && rows.ends_with('\n');
    assert!(is_whole && columns.len() > 1, "whole rows: {rows}");
    let kept = format!("the first {} rows are in it", rows.lines().count() - 1);
    let told = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains(&kept), "{kept}: {}", ran.said());
    // Rows of a journal are kept as far as they fit, and the run goes on.
    let text = "ulimit -f 2; cd $D; $P goodput $B -c 40 --transfer 64KiB --no-probe -q --connection-file c.csv";
    script(text, &server, folder.path()).exits(6).complains(&["ulimit -f", "the run goes on"]);
    let rows = fs::read_to_string(folder.path().join("c.csv")).expect("rows");
    assert!(rows.ends_with('\n') && rows.lines().count() > 1, "whole rows: {rows}");
}

#[test]
fn a_result_that_fits_without_its_indentation_is_kept_whole() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let text = "ulimit -f 36; cd $D; $P goodput $B -c 2 --transfer 1MiB --no-probe -q -o run.json";
    script(text, &server, folder.path()).exits(0);
    let file = folder.path().join("run.json");
    assert_eq!(document_in(&file).outcome.state, OutcomeState::Complete);
    assert_eq!(fs::read_to_string(&file).expect("a result").lines().count(), 1);
}

#[test]
fn a_pipe_that_nobody_reads_is_refused_in_time_and_waits_for_its_reader() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = pipe(folder.path());
    let words = ["goodput", &server.host(), "--transfer", "1MiB", "--status-file", &pipe];
    let ran = run(&words).exits(2).complains(&["waiting up to 10 s", "start its reader first"]);
    assert!(ran.stdout.is_empty(), "nothing was measured: {}", ran.said());
    let words = ["latency", &server.host(), "-n", "50", "-q", "-o", &pipe];
    let mut running = Running::start(pathscope(&words));
    running.await_stderr("waiting up to 10 s for somebody to read");
    let mut text = String::new();
    fs::File::open(&pipe).and_then(|mut pipe| pipe.read_to_string(&mut text)).expect("a pipe");
    running.finish().exits(0);
    assert_eq!(Document::from_json(&text).expect("a result").measurements.len(), 1);
}

#[test]
fn a_reader_that_stops_reading_ends_no_later_than_its_time() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = pipe(folder.path());
    // It is opened, so that whoever writes may begin, and never read.
    let opened = pipe.clone();
    let reader = std::thread::spawn(move || fs::File::open(opened).expect("a pipe"));
    let words = ["goodput", &server.host(), "-t", "2s", "--rate", "1Mbit"];
    let words = [&words[..], &["--report-every", "20ms", "-o", &pipe]].concat();
    let running = Running::start(pathscope(&words));
    let _kept_open = reader.join().expect("no panic");
    let ran = running.finish().exits(6).complains(&["its reader took nothing for 10 s"]);
    assert!(ran.stdout.contains("goodput up"), "told all the same: {}", ran.said());
}

#[test]
fn options_that_name_one_file_are_refused_before_anything_is_touched() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    fs::write(at("a"), "precious").expect("a folder of ours");
    for (text, said) in [
        ("$P latency $B -n 5 -o a --samples ./a", ["--samples", "--output"]),
        ("ln -s a b; $P latency $B -n 5 --samples b --frequency-file a", ["--samples", "--freq"]),
        ("ln a c; $P goodput $B -n 1MiB --status-file a --error-file c", ["--status", "--error"]),
        (
            "mkdir x; $P media $B --rate 1Mbit -o n --jitter-file x/../n",
            ["--jitter-file", "--output"],
        ),
        ("$P server -p 0 --connection-file a --error-file $D/a", ["--connection-file", "--error"]),
        ("$P latency $B -n 5 -o a >> a", ["--output", "standard output"]),
        (
            "$P goodput $B --error-file a 2>> a; code=$?; cat a >&2; (exit $code)",
            ["--error", "standard error"],
        ),
        ("$P latency $B --daemon --log-file $D/a -o $D/b", ["--log-file", "--output"]),
    ] {
        let ran = script(&format!("cd $D; {text}"), &server, folder.path()).exits(2);
        let ran = ran.complains(&["name the same file"]).complains(&said);
        let held = fs::read_to_string(at("a")).expect("it is there");
        assert!(held.starts_with("precious"), "{held}: {}", ran.said());
    }
    // An option that is refused has cost no other its file.
    let text = "$P goodput $B --status-file a --error-file /nowhere/at/all";
    script(&format!("cd $D; {text}"), &server, folder.path()).exits(2);
    assert!(fs::read_to_string(at("a")).expect("it is there").starts_with("precious"));
}

#[test]
fn what_never_ends_is_shown_as_no_result() {
    for (path, said) in [
        ("/dev/zero", "does not begin with '{'"),
        ("/dev/null", "it is empty"),
        ("/", "Is a directory"),
    ] {
        run(&["show", path]).exits(2).complains(&[path, said]);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let packed = folder.path().join("run.json.gz");
    fs::write(&packed, b"\x1f\x8b\x08\0rest").expect("a folder of ours");
    let ran = run(&["show", packed.to_str().expect("plain")]).exits(2);
    ran.complains(&["it is compressed", "| pathscope show -"]);
    let endless = "head -c 1100000000 /dev/zero | tr '\\0' '{' | $P show -";
    let ran = Running::start({
        let mut command = Command::new("sh");
        command.args(["-c", endless]).env("P", env!("CARGO_BIN_EXE_pathscope"));
        command
    });
    ran.finish().exits(2).complains(&["standard input", "longer than 1 GiB"]);
}

#[test]
fn a_result_is_shown_from_standard_input() {
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/1/goodput-push.json");
    let from_file = run(&["show", fixture]).exits(0).stdout;
    let mut child = pathscope(&["show", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary was built");
    let text = fs::read(fixture).expect("a result");
    child.stdin.take().expect("piped").write_all(&text).expect("it reads");
    let shown = child.wait_with_output().expect("it is our child");
    assert_eq!(String::from_utf8_lossy(&shown.stdout), from_file);
}
