//! This program itself, by its document.

use pathscope_modes::document::{Document, OutcomeState};

use super::{Numbers, Said, Server};
use crate::theory::Transmission;

/// Modes that measure against a server.
const MODES: [&str; 4] = ["goodput", "latency", "media", "multipath"];

/// One for all that talk with a node. Nobody else calls there, so that it may do for all what it does for its own machine.
pub const SERVER: Server = Server {
    words: &["pathscope", "server", "--allow-spin", "--allow-pinning", "--allow-congestion"],
    ready: "listening on",
    serves_many: true,
};

/// The document alone, on standard output.
pub const WORDS: &[&str] = &["--json", "--quiet"];

/// What it cannot be asked for here.
pub fn judge(words: &[String]) -> Result<(), String> {
    let mode = words.get(1).map_or("", String::as_str);
    if !MODES.contains(&mode) {
        return Err(format!(
            "'pathscope {mode}' measures nothing between two nodes; write pathscope {}",
            MODES.join(", ")
        ));
    }
    let taken = [
        "--json",
        "--json-stream",
        "--format",
        "--output",
        "--quiet",
        "--find-rate",
        "--daemon",
        "--dry-run",
        "--port",
    ];
    let is_taken = |word: &&String| {
        let (name, _) = word.split_once('=').unwrap_or((word, ""));
        // Short options may have their value, or others, right behind them.
        let is_short =
            !name.starts_with("--") && ["-o", "-q", "-p"].iter().any(|it| name.starts_with(it));
        is_short || taken.contains(&name)
    };
    match words.iter().find(is_taken) {
        Some(word) => {
            Err(format!("{word} cannot be said of pathscope in an experiment; leave it out"))
        }
        None => Ok(()),
    }
}

/// Whether a run with these words can have figures of a group.
pub fn has(words: &[String], group: &str) -> bool {
    let mode = words.get(1).map_or("", String::as_str);
    let protocol =
        words.iter().position(|word| word == "--protocol").and_then(|at| words.get(at + 1));
    let is_udp = protocol.is_some_and(|word| word == "udp")
        || words.iter().any(|word| word == "--protocol=udp");
    match group {
        "end" => true,
        "goodput" => mode == "goodput" && !is_udp,
        "datagrams" => mode == "goodput" && is_udp,
        "loaded" => mode == "goodput" && !words.iter().any(|word| word == "--no-probe"),
        _ => group == mode,
    }
}

/// Reads its document. Figures are those of its first measurement, which is the only one.
pub fn read(output: &str) -> Said {
    let document = match Document::from_json(output) {
        Ok(document) => Box::new(document),
        Err(error) => return Said { fault: Some(error.to_string()), ..Said::default() },
    };
    let outcome = &document.outcome;
    let fault = (outcome.state != OutcomeState::Complete)
        .then(|| outcome.reason.clone().unwrap_or_else(|| "it did not come to its end".to_owned()));
    let Some(measurement) = document.measurements.first() else {
        let fault = fault.or_else(|| Some("it measured nothing".to_owned()));
        return Said { document: Some(document), fault, ..Said::default() };
    };
    let test = &measurement.test;
    let offered = test.plan.offered();
    let transmission = Transmission {
        is_known: offered.is_some(),
        offered: offered.unwrap_or_default(),
        ping: test.plan.ping_sizes(),
        probe: test.probe().and_then(pathscope_modes::mode::Mode::ping_sizes),
    };
    // What a document says of itself is what is found by figures' ids.
    let numbers = serde_json::to_value(measurement).map_or(Numbers::None, Numbers::Measurement);
    Said { document: Some(document), numbers, transmission, fault }
}
