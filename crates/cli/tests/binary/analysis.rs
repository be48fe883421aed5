//! Files of samples as `DuckDB`, pandas and `LibreOffice` read them: what each mode leaves, beside what its result says; and the
//! commands of the guide.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pathscope_core::journal::{Entry, Trouble};
use pathscope_views::journal::{self, Form, Table};
use serde_json::Value;
use tempfile::TempDir;

use crate::common::{Ran, Running, Server, pathscope, run};

const NOTEBOOK: &str = include_str!("../../../../docs/notebooks/two-interfaces.ipynb");
const GUIDE: &str = include_str!("../../../../docs/guide/analysis.md");

/// The Python of the check, where it can import these.
fn python(modules: &str) -> Option<Command> {
    let python = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/analysis/bin/python");
    let python = Some(PathBuf::from(python)).filter(|python| python.is_file())?;
    let imported = Command::new(&python).args(["-c", &format!("import {modules}")]).output();
    imported.is_ok_and(|it| it.status.success()).then(|| Command::new(python))
}

/// What some SQL comes to in a folder: each result's rows as JSON. None where the check has installed no `DuckDB`.
fn duckdb(folder: &Path, sql: &str) -> Option<Value> {
    let mut command = python("duckdb")?;
    let script = "import sys, json, duckdb\n\
        rows = [duckdb.sql(one) for one in sys.argv[1].split(';') if one.strip()]\n\
        print(json.dumps([it.fetchall() if it else [] for it in rows]))";
    command.args(["-c", script, sql]).current_dir(folder).env("HOME", folder);
    let ran = Running::start(command).finish().exits(0);
    Some(serde_json::from_str(&ran.stdout).expect("JSON"))
}

const SKIPPED: &str = "skipped, because there is no DuckDB (cargo xtask check --only machine)";

fn in_folder(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).to_str().expect("plain").to_owned()
}

fn measured(words: &[&str]) -> Ran {
    run(&[words, &["--json"]].concat())
}

#[test]
fn pings_in_columns_are_those_of_the_result_to_the_nanosecond() {
    let folder = TempDir::new().expect("a folder");
    let server = Server::start();
    for name in ["pings.parquet", "pings.csv"] {
        let (host, file) = (server.host(), in_folder(&folder, name));
        let words = ["latency", &host, "--protocol", "udp", "--rate", "1k/s", "-t", "1s"];
        let document = measured(&[&words[..], &["--samples", &file]].concat()).document();
        let latency = document.measurements[0].summary.latency.as_ref().expect("it was measured");
        let sql = format!(
            "select count(*), min(rtt_ns), max(rtt_ns), sum(rtt_ns) from '{name}' where outcome = 'answered'; \
             select count(*) from '{name}'; select count(*) from '{name}' where outcome = 'lost'"
        );
        let Some(rows) = duckdb(folder.path(), &sql) else { return println!("{SKIPPED}") };
        let rtt = &latency.rtt;
        let answered = &rows[0][0];
        assert_eq!(answered[0], rtt.count, "{name}");
        let ends = (answered[1].as_u64(), answered[2].as_u64());
        assert_eq!(ends, (rtt.min_ns, rtt.max_ns), "{name}");
        let mean = answered[3].as_f64().map(|sum| sum / rtt.count as f64);
        assert_eq!(mean, rtt.mean_ns, "{name}");
        assert_eq!((&rows[1][0][0], &rows[2][0][0]), (&latency.sent.into(), &latency.lost.into()));
    }
}

#[test]
fn frames_of_several_runs_stand_in_one_file_with_their_types() {
    let folder = TempDir::new().expect("a folder");
    let (server, file) = (Server::start(), in_folder(&folder, "frames.parquet"));
    let host = server.host();
    let words = ["media", &host, "--profile", "voice", "-t", "500ms", "--iterations", "2"];
    let document = measured(&[&words[..], &["--jitter-file", &file]].concat()).document();
    let completed = |run: usize| {
        let media = document.measurements[run].summary.media.as_ref()?;
        Some(media.down.as_ref()?.frames.as_ref()?.completed)
    };
    let sql = "select count(*) from 'frames.parquet' where Outcome = 'completed'; \
        select typeof(SequenceNumber), typeof(RelativeInFlightTimeMs), typeof(Outcome) from 'frames.parquet' limit 1";
    let Some(rows) = duckdb(folder.path(), sql) else { return println!("{SKIPPED}") };
    let told = completed(0).zip(completed(1)).map(|(one, other)| one + other);
    assert_eq!(rows[0][0][0].as_u64(), told);
    assert_eq!(rows[1][0], serde_json::json!(["BIGINT", "DOUBLE", "VARCHAR"]));
}

#[test]
fn a_run_that_is_interrupted_leaves_a_whole_file() {
    let folder = TempDir::new().expect("a folder");
    let (server, file) = (Server::start(), in_folder(&folder, "pings.parquet"));
    let output = in_folder(&folder, "result.json");
    let host = server.host();
    let words = ["latency", &host, "-t", "60s", "--period", "1ms", "--report-every", "100ms"];
    let mut client =
        Running::start(pathscope(&[&words[..], &["--samples", &file, "-o", &output]].concat()));
    client.await_stdout("ms");
    client.signal("INT");
    client.finish().exits(130);
    let document = crate::common::document_in(Path::new(&output));
    let latency = document.measurements[0].summary.latency.as_ref().expect("it was measured");
    let Some(rows) = duckdb(folder.path(), "select count(*), count(rtt_ns) from 'pings.parquet'")
    else {
        return println!("{SKIPPED}");
    };
    assert_eq!((&rows[0][0][0], &rows[0][0][1]), (&latency.sent.into(), &latency.received.into()));
}

#[cfg(unix)]
#[test]
fn a_full_disk_is_told_at_the_end_and_is_exit_code_6() {
    let folder = TempDir::new().expect("a folder");
    if !Path::new("/dev/full").exists() {
        return println!("skipped, because this system has no device that is always full");
    }
    let file = in_folder(&folder, "full.parquet");
    std::os::unix::fs::symlink("/dev/full", &file).expect("a folder of ours");
    let server = Server::start();
    let ran = run(&["latency", &server.host(), "-n", "50", "--samples", &file]).exits(6);
    assert!(ran.stdout.contains("none is in it"), "{}", ran.said());
}

#[test]
fn the_commands_of_the_guide_run_on_files_of_their_names() {
    let folder = TempDir::new().expect("a folder");
    let server = Server::start();
    let host = server.host();
    let (pings, stamps) =
        (in_folder(&folder, "pings.parquet"), in_folder(&folder, "stamps.parquet"));
    let latency = ["latency", &host, "--protocol", "udp", "--rate", "1k/s", "-t", "1s"];
    measured(&[&latency[..], &["--samples", &pings]].concat());
    let multipath = ["multipath", &host, "--path", "lo", "-t", "500ms", "--rate", "1Mbit"];
    let document = measured(&[&multipath[..], &["--samples", &stamps]].concat()).document();
    let blocks = GUIDE.split("```sql\n").skip(1).filter_map(|rest| rest.split("```").next());
    let mut results = Vec::new();
    for sql in blocks {
        let Some(rows) = duckdb(folder.path(), sql) else { return println!("{SKIPPED}") };
        results.push(rows);
    }
    let [outcomes, _, of_stamps, copied] = &results[..] else { panic!("{results:?}") };
    assert_eq!(outcomes[0][0][0], "answered");
    let paths = document.measurements[0].summary.multipath.as_ref().expect("it was measured");
    let numbers = (&of_stamps[0][0][0], &of_stamps[0][0][1]);
    assert_eq!(numbers, (&paths.scheduled.into(), &paths.received.into()));
    assert_eq!(copied.as_array().map(Vec::len), Some(1));
    let csv = fs::read_to_string(folder.path().join("slowest.csv")).expect("it was written");
    assert!(csv.starts_with("flow,ping,"), "{csv}");
}

#[test]
fn the_lines_of_the_guide_read_columns_into_pandas() {
    let Some(mut command) = python("pandas, pyarrow") else {
        return println!("skipped, because there is no pandas (cargo xtask check --long)");
    };
    let folder = TempDir::new().expect("a folder");
    let server = Server::start();
    let (host, file) = (server.host(), in_folder(&folder, "pings.parquet"));
    let words = ["latency", &host, "--protocol", "udp", "--rate", "1k/s", "-t", "500ms"];
    let document = measured(&[&words[..], &["--samples", &file]].concat()).document();
    let latency = document.measurements[0].summary.latency.as_ref().expect("it was measured");
    let python = GUIDE.split("```python\n").nth(1).and_then(|rest| rest.split("```").next());
    let script = format!("{}print(answered.count(), answered.max())", python.expect("its lines"));
    command.args(["-c", &script]).current_dir(folder.path()).env("HOME", folder.path());
    let ran = Running::start(command).finish().exits(0);
    let rtt = &latency.rtt;
    let most = rtt.max_ns.expect("something came back");
    let last = ran.stdout.lines().last().unwrap_or_default();
    let told: Vec<f64> = last.split(' ').filter_map(|word| word.parse().ok()).collect();
    assert_eq!(told, [rtt.count as f64, most as f64], "{}", ran.said());
}

/// What `LibreOffice` makes of a file of ours, saved as CSV again: the cells as it shows them. None where there is none.
fn in_a_spreadsheet(folder: &TempDir, name: &str) -> Option<String> {
    let paths = std::env::var_os("PATH")?;
    let program = std::env::split_paths(&paths).map(|it| it.join("soffice"));
    let mut command = Command::new(program.into_iter().find(|it| it.is_file())?);
    // Comma, quotes, UTF-8; cells as they are shown.
    let form = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false";
    command.args(["--headless", "--convert-to", form, "--outdir", "sheets", name]);
    command.current_dir(folder.path()).env("HOME", folder.path());
    Running::start(command).finish().exits(0);
    let written = folder.path().join("sheets").join(name);
    Some(fs::read_to_string(&written).expect("it was converted"))
}

const NO_SPREADSHEET: &str = "skipped, because there is no LibreOffice (cargo xtask check --long)";

#[test]
fn a_spreadsheet_has_every_ping_and_its_numbers() {
    let folder = TempDir::new().expect("a folder");
    let server = Server::start();
    let (host, file) = (server.host(), in_folder(&folder, "pings.csv"));
    measured(&["latency", &host, "-n", "200", "--samples", &file]);
    let Some(sheet) = in_a_spreadsheet(&folder, "pings.csv") else {
        return println!("{NO_SPREADSHEET}");
    };
    let rows = |text: &str| -> Vec<Vec<String>> {
        let cells = |line: &str| line.split(',').map(|it| it.trim().to_owned()).collect();
        text.lines().map(cells).collect()
    };
    let (sheet, file) = (rows(&sheet), rows(&fs::read_to_string(&file).expect("it was written")));
    assert_eq!((sheet.len(), file.len()), (201, 201));
    for (cells, written) in sheet.iter().zip(&file) {
        assert_eq!(cells, written);
    }
}

#[test]
fn a_spreadsheet_computes_nothing_that_another_end_has_said() {
    let folder = TempDir::new().expect("a folder");
    let trouble = Trouble { at_ns: 0, text: "=1+1".to_owned(), session: None };
    let row = journal::row(Table::Errors, Form::Csv, &Entry::Trouble(Box::new(trouble)));
    fs::write(folder.path().join("errors.csv"), row.expect("it has one"))
        .expect("a folder of ours");
    let Some(sheet) = in_a_spreadsheet(&folder, "errors.csv") else {
        return println!("{NO_SPREADSHEET}");
    };
    assert!(sheet.contains("=1+1") && !sheet.contains(",2,"), "{sheet}");
}

#[test]
fn the_notebook_goes_through_stamps_of_two_interfaces() {
    let Some(mut command) = python("pandas, matplotlib") else {
        return println!(
            "skipped, because there is no pandas and no matplotlib (cargo xtask check --long)"
        );
    };
    let folder = TempDir::new().expect("a folder");
    let events = ["Send", "Echo", "Receive"];
    let columns = ["Primary", "Secondary"]
        .map(|path| events.map(|event| format!(", {path} {event} timestamp (microsec)")).concat());
    let mut stamps = format!("Sequence number{}\n", columns.concat());
    for number in 0..2_000_u64 {
        let at = number * 1_000;
        // One in ten is lost on the primary, one in a hundred on both.
        let primary =
            if number % 10 == 0 { "-1, -1".to_owned() } else { format!("7, {}", at + 9_000) };
        let secondary =
            if number % 100 == 0 { "-1, -1".to_owned() } else { format!("7, {}", at + 6_010) };
        writeln!(stamps, "{number}, {at}, {primary}, {}, {secondary}", at + 10).expect("memory");
    }
    fs::write(folder.path().join("stamps.csv"), stamps).expect("a folder of ours");
    let notebook: Value = serde_json::from_str(NOTEBOOK).expect("JSON");
    let cells = notebook["cells"].as_array().expect("cells").iter();
    let code = cells.filter(|cell| cell["cell_type"] == "code").map(|cell| {
        let lines = cell["source"].as_array().expect("lines").iter().filter_map(Value::as_str);
        lines.collect::<String>()
    });
    command.args(["-c", &code.collect::<Vec<_>>().join("\n")]).current_dir(folder.path());
    command.env("HOME", folder.path()).env("MPLBACKEND", "Agg");
    let ran = Running::start(command).finish().exits(0);
    for said in [
        "losses prevented: 180\n",
        "saved: 5.38 s, 33.2% of the wait for the primary\n",
        "first on the secondary: 1980, 100.0% of those answered\n",
        "lost on both: 20, 2.0 expected by chance\n",
        "longer by 10 µs in the median, 10 µs at most\n",
    ] {
        assert!(ran.stdout.contains(said), "{said}: {}", ran.said());
    }
}
