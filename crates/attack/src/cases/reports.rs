//! Reports that are small on the wire and large in memory.

use std::io;

use crate::caller::Caller;
use crate::crowd::again_and_again;
use crate::ground::Ground;
use crate::tests_asked_for as asked;
use crate::wire::kind;

/// What a report may have, less a little.
const BODY_BYTES: usize = 1_048_576 - 64;

/// Each of 64 sessions runs a test of one connection and reports a list of `{"":0}`.
pub fn of_empty_names(ground: &Ground) -> io::Result<()> {
    let entries = vec![r#"{"":0}"#; BODY_BYTES / 7].join(",");
    let report = format!("{{\"x\":[{entries}]}}");
    again_and_again(ground, 64, |_| one(ground, report.as_bytes()))
}

/// One such report in a session of its own.
pub fn one(ground: &Ground, report: &[u8]) -> io::Result<()> {
    let mut caller = Caller::greet(ground.address(0), ground.server, ground.version)?;
    let (_, streams) = caller.run(&asked::latency(&serde_json::json!({})), 1)?;
    caller.say_bytes(kind::REPORT, report)?;
    ground.count("reports");
    // Until the session is over, or for as long as an answer may take.
    let ended = caller.await_kind(&[kind::REPORT]);
    drop(streams);
    match ended {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        other => other.map(drop),
    }
}
