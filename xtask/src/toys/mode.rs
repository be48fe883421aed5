//! The toy mode: its client sends a number a tick. It has an option, a limit, samples, a live row, a check, a caveat and
//! figures, which all have to be seen wherever those of other modes are.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::server::Server;
use super::toy::{Line, Toy};
use super::view::shown;
use super::{Built, said};

/// What it is.
pub const MODE: Toy = Toy {
    template: "xtask/toys/mode",
    folder: "crates/modes/src/toy",
    lines: &[
        Line { path: "crates/modes/src/lib.rs", below: "pub mod survey;", text: "pub mod toy;" },
        Line {
            path: "crates/modes/src/registry.rs",
            below: "    Multipath(MultipathPlan) as multipath;",
            text: "    /// Whether numbers come in turn.\n    Toy(crate::toy::ToyPlan) as toy;",
        },
        Line {
            path: "crates/modes/src/commands/mod.rs",
            below: "    Multipath(MultipathCommand) as multipath;",
            text: "    /// Whether numbers come in turn\n    Toy(crate::toy::ToyCommand) as toy;",
        },
    ],
    tests: &[],
    forbidden: &[
        ("use pathscope_run::client::Request;\n", "imports"),
        ("use crate::media::MediaPlan;\n", "kinds"),
        ("use crate::commands::Commands;\n", "circles"),
    ],
};

/// Every engine of this program.
const ENGINES: [&str; 3] = ["plain", "epoll", "toy"];

/// Numbers of a run that takes its time, and of one whose ticks no sender keeps.
const RUNS: [(&str, u64, &str); 2] = [("in time", 60, "5ms"), ("too fast", 2_000, "1us")];

/// Files that are written from what modes say of themselves: which task writes it, and what it holds then.
const WRITTEN: [(&str, &str, &str); 4] = [
    ("schema", "schema/pathscope-document.json", "\"ToyPlan\""),
    ("figures", "docs/figures.md", "| `toy.received` | `summary.toy.received` |"),
    ("settings", "docs/settings.md", "| `setting.toy.numbers` | `test.plan.toy.numbers` |"),
    ("findings", "docs/findings.md", "| toy | `late_numbers` |"),
];

/// What is not seen of it where it should be.
pub fn faults(built: &Built) -> Result<Vec<String>> {
    let mut faults = faults_of_words(built)?;
    let server = Server::start(&built.program)?;
    for engine in ENGINES {
        for (name, numbers, tick) in RUNS {
            let of_run = faults_of_run(built, &server, (engine, numbers, tick))?;
            faults.extend(of_run.iter().map(|it| format!("the toy mode, {name}, {engine}: {it}")));
        }
    }
    for (task, path, words) in WRITTEN {
        let (is_done, text) = said(&mut built.task(task))?;
        let file = fs::read_to_string(built.copy.join(path)).unwrap_or_default();
        if !is_done || !file.contains(words) {
            faults.push(format!("{path} has nothing of the toy mode: {text}"));
        }
    }
    Ok(faults)
}

/// What its help does not say, and what is not refused.
fn faults_of_words(built: &Built) -> Result<Vec<String>> {
    let asked = |words: &[&str]| said(Command::new(&built.program).args(words));
    let table: [(&[&str], bool, &str); 4] = [
        (&["--help"], true, "Whether numbers come in turn"),
        (&["toy", "--help"], true, "--tick <TIME>"),
        (&["toy", "h", "--tick", "20s"], false, "--tick 20 s is out of range"),
        (&["toy", "h", "--tick", "20ms", "--dry-run"], true, "\"tick_ns\": 20000000"),
    ];
    let mut faults = Vec::new();
    for (words, is_well, expected) in table {
        let (done, text) = asked(words)?;
        if done != is_well || !text.contains(expected) {
            faults.push(format!("pathscope {}: no '{expected}' in: {text}", words.join(" ")));
        }
    }
    Ok(faults)
}

/// What a run of it does not tell.
fn faults_of_run(
    built: &Built,
    server: &Server,
    (engine, numbers, tick): (&str, u64, &str),
) -> Result<Vec<String>> {
    let [result, samples] =
        ["toy.json", "toy.csv"].map(|name| built.copy.join("target").join(name));
    fs::create_dir_all(built.copy.join("target")).context("create a folder for results")?;
    let mut command = Command::new(&built.program);
    command.args(["toy", "127.0.0.1", "--port", &server.port, "--engine", engine, "--tick", tick]);
    command.args(["--numbers", &numbers.to_string(), "--report-every", "100ms", "-v"]);
    command.arg("--samples").arg(&samples).arg("--output").arg(&result);
    let (is_done, text) = said(&mut command)?;
    if !is_done {
        bail!("run the toy mode over {engine}: {text}");
    }
    let document = fs::read_to_string(&result).context("read a result of the toy mode")?;
    let document: Value = serde_json::from_str(&document).context("read that result as JSON")?;
    let measurement = &document["measurements"][0];
    let is_late = measurement["summary"]["toy"]["late"].as_u64().unwrap_or(0) > 0;
    let named = |list: &str, name: &str| {
        measurement[list].as_array().is_some_and(|all| all.iter().any(|it| it["name"] == name))
    };
    let rows = fs::read_to_string(&samples).context("read samples of the toy mode")?;
    let counted =
        |of: &Value| of["sent"].as_u64().unwrap_or(0) + of["received"].as_u64().unwrap_or(0);
    let intervals = measurement["intervals"].as_array().cloned().unwrap_or_default();
    let of_end = |end: &str| intervals.iter().map(|it| counted(&it[end]["toy"])).sum::<u64>();
    let again = shown(built, &result, "text")?;
    let toy_view = shown(built, &result, "toy")?;
    let is_in_time = numbers < 1_000;
    let holds = [
        ("its plan", measurement["test"]["plan"]["toy"]["numbers"] == numbers),
        ("its figures", measurement["summary"]["toy"]["received"] == numbers),
        ("its check", named("checks", "in_turn") && measurement["checks"][0]["passed"] == true),
        (
            "its caveat, where it is late and there alone",
            named("caveats", "late_numbers") == is_late,
        ),
        ("a tick that no sender keeps", is_late || is_in_time),
        ("its intervals at the client", of_end("client") == numbers),
        ("its intervals at the server", of_end("server") == numbers),
        ("its samples", rows.starts_with("number,") && rows.lines().count() as u64 == numbers + 1),
        (
            "its live rows",
            text.contains("time     sent  received") && (is_late || text.lines().any(is_row)),
        ),
        ("its caveat in the text", text.contains("left after the next one was due") == is_late),
        ("its title, shown again", again.contains("numbers, one every")),
        ("its check, shown again", again.contains("received, 0 were not the ones that were due")),
        ("its settings in another view", toy_view.contains("setting setting.toy.numbers:")),
        ("its figures in another view", toy_view.contains("figure toy.received received:")),
    ];
    let absent = holds.into_iter().filter(|(_, holds)| !holds);
    Ok(absent.map(|(what, _)| format!("{what}: not seen\n{text}")).collect())
}

/// Whether a line tells of an interval: a time, and what was sent and received. At what time it was is the machine's affair.
fn is_row(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_count = |word: &str| word.parse::<u64>().is_ok();
    matches!(words[..], [_, "ms", sent, received] if is_count(sent) && is_count(received))
}
