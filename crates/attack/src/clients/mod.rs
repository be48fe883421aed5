//! A server that means harm, against our client: the registry of what it does, and one run of it.

mod server;

use std::io;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::process::Process;
pub use server::refuse_return;
use server::{Behaviour, Server};

/// What a client may have resident, whatever its server says.
const MOST_BYTES: u64 = 256 << 20;

/// A server against its client.
#[derive(Debug)]
pub struct ClientCase {
    /// What `--only` calls it.
    pub name: &'static str,
    /// What the server does.
    pub purpose: &'static str,
    /// What the client is told to do.
    command: &'static [&'static str],
    behaviour: Behaviour,
    /// Within how many seconds it has to end: what docs/protocol.md states, and 5 more for a machine at work.
    limit_seconds: u64,
    /// Whether somebody presses Ctrl-C once it runs.
    interrupted: bool,
}

const PINGS: &[&str] = &["latency", "-n", "3"];
const LOAD: &[&str] = &["goodput", "-t", "2s", "--connections", "1", "--no-probe"];

const fn case(
    name: &'static str,
    purpose: &'static str,
    command: &'static [&'static str],
    behaviour: Behaviour,
    limit_seconds: u64,
) -> ClientCase {
    ClientCase { name, purpose, command, behaviour, limit_seconds, interrupted: false }
}

/// All of them.
pub const CASES: &[ClientCase] = &[
    case("client-no-welcome", "it accepts and says nothing", PINGS, Behaviour::NoWelcome, 15),
    case("client-garbage", "it says random bytes", PINGS, Behaviour::Garbage, 60),
    case("client-drip", "its welcome comes a byte a second", PINGS, Behaviour::Drip, 60),
    case("client-no-accept", "it never answers the proposal", PINGS, Behaviour::NoAccept, 15),
    case("client-no-started", "it attaches and never starts", PINGS, Behaviour::NoStarted, 35),
    case("client-no-report", "it reports nothing", PINGS, Behaviour::NoReport, 25),
    case(
        "client-interval-every-3s",
        "it reports nothing, and says every 3 s that data moved",
        PINGS,
        Behaviour::IntervalEvery3s,
        85,
    ),
    case(
        "client-interval-flood",
        "it says intervals without end, as fast as they are taken",
        LOAD,
        Behaviour::IntervalFlood,
        85,
    ),
    case("client-load-no-report", "it reports nothing", LOAD, Behaviour::NoReport, 35),
    ClientCase {
        interrupted: true,
        ..case(
            "client-stop-unanswered",
            "it never answers the stop that Ctrl-C says",
            &["goodput", "-t", "1h", "--connections", "1", "--no-probe"],
            Behaviour::NoReport,
            25,
        )
    },
    case("client-report-1-MiB", "a report of empty names", PINGS, Behaviour::LargeReport, 35),
];

/// Has it and the client meet, and tells what the client did.
pub fn run(case: &ClientCase, binary: &Path) -> io::Result<Value> {
    let server = Server::start(case.behaviour)?;
    let mut words: Vec<String> = case.command.iter().map(|word| (*word).to_owned()).collect();
    words.extend(["127.0.0.1", "--quiet", "--port"].map(str::to_owned));
    words.push(server.port().to_string());
    let mut client = Process::start(binary, &words)?;
    if case.interrupted {
        client.wait(Duration::from_secs(2))?;
        client.interrupt();
    }
    let ended = client.wait(Duration::from_secs(case.limit_seconds + 60))?;
    let seconds = client.runs_for().as_secs_f64();
    let mut broken = Vec::new();
    if seconds > case.limit_seconds as f64 {
        let limit = case.limit_seconds;
        broken.push(format!("the client ran for {seconds:.1} s, longer than {limit} s"));
    }
    let code = ended.and_then(|status| status.code());
    if !is_documented(code) {
        broken.push(format!("the client ended with {ended:?}, which no document names"));
    }
    if client.most.resident_bytes > MOST_BYTES {
        let mebibytes = client.most.resident_bytes >> 20;
        broken.push(format!("the client had {mebibytes} MiB resident, more than 256"));
    }
    broken.extend(client.fault_in_what_it_said());
    Ok(json!({
        "name": case.name, "purpose": case.purpose, "command": case.command.join(" "),
        "seconds": seconds, "exit_code": code, "resident_bytes": client.most.resident_bytes,
        "broken": broken,
    }))
}

/// The codes of docs/exit-codes.md, but for 1, which is a bug of ours, and 2: the words were good.
pub fn is_documented(code: Option<i32>) -> bool {
    matches!(code, Some(0 | 3 | 4 | 5 | 6 | 130))
}

/// The registry as JSON.
pub fn listed() -> Vec<Value> {
    let told = CASES
        .iter()
        .map(|case| json!({ "name": case.name, "purpose": case.purpose, "against_client": true }));
    told.collect()
}
