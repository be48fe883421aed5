//! The toy engine: it completes operations late and out of order, and owns their buffers. It keeps the contract that every
//! engine keeps, and modes measure with it.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::server::Server;
use super::toy::{Line, Toy};
use super::{Built, said};
use crate::cargo;

/// What it is.
pub const ENGINE: Toy = Toy {
    template: "xtask/toys/engine",
    folder: "crates/engines/src/toy",
    lines: &[
        Line { path: "crates/engines/src/lib.rs", below: "mod timers;", text: "pub mod toy;" },
        Line {
            path: "crates/engines/src/registry.rs",
            below: "    Epoll = crate::epoll;",
            text: "    /// Completions, late and out of order.\n    Toy = crate::toy;",
        },
    ],
    tests: &[],
    forbidden: &[
        ("use pathscope_modes::registry::Plan;\n", "imports"),
        ("use crate::epoll::NAME as OTHER;\n", "kinds"),
        ("use crate::registry::EngineKind;\n", "circles"),
    ],
};

/// What holds it to the contract.
pub const TEST: &str = "contract";

/// Rooms that are built as they are for other tests, since some of the contract is about time. Libraries are there already.
pub const OPTIMISED: [&str; 4] = ["core", "flow", "os", "engines"];

/// What is measured with it: each sends in another way.
const RUNS: [&str; 9] = [
    "goodput --pattern push --connections 8 --duration 500ms",
    "goodput --pattern pull --connections 8 --duration 500ms",
    "goodput --pattern duplex --connections 8 --duration 500ms",
    "goodput --pattern pushpull --connections 2 --duration 500ms",
    "goodput --protocol udp --rate 50Mbit --duration 500ms",
    "latency --iterations 300",
    "latency --protocol udp --iterations 300",
    "latency --protocol udp --period 1ms --duration 300ms --timestamps kernel",
    "media --profile voice --duration 500ms",
];

/// Where it does not keep the contract, and what cannot be measured with it.
pub fn faults(built: &Built) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    let mut command = built.cargo("test")?;
    command.args(["--test", TEST]);
    command.env("PATHSCOPE_CONTRACT_ENGINE", "toy");
    println!("{}", cargo::words(&command));
    if !cargo::succeeds(&mut command)? {
        faults.push("the toy engine does not keep the contract".to_owned());
    }
    let server = Server::start(&built.program)?;
    for words in RUNS {
        faults.extend(fault_of_run(built, &server, words)?);
    }
    Ok(faults)
}

/// Why a measurement is none.
fn fault_of_run(built: &Built, server: &Server, words: &str) -> Result<Option<String>> {
    let result = built.copy.join("target/toy_engine.json");
    let mut words: Vec<&str> = words.split_whitespace().collect();
    words.splice(1..1, ["127.0.0.1", "--port", &server.port, "--engine", "toy"]);
    let mut command = Command::new(&built.program);
    command.args(&words).arg("--output").arg(&result);
    let (is_done, text) = said(&mut command)?;
    let words = words.join(" ");
    if !is_done {
        return Ok(Some(format!("pathscope {words}: {text}")));
    }
    let document =
        fs::read_to_string(&result).with_context(|| format!("read what {words} found"))?;
    let document: Value = serde_json::from_str(&document).context("read a result as JSON")?;
    let measurement = &document["measurements"][0];
    let checks = measurement["checks"].as_array().map_or(&[][..], Vec::as_slice);
    let all_hold = !checks.is_empty() && checks.iter().all(|check| check["passed"] == true);
    let workers = measurement["client"]["workers"].as_array().map_or(&[][..], Vec::as_slice);
    let is_of_toy = workers.iter().any(|worker| worker["engine"] == "toy");
    Ok((!all_hold || !is_of_toy).then(|| format!("pathscope {words}: {checks:?} {workers:?}")))
}
