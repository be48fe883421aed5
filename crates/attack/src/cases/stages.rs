//! Callers that stop in the middle of a stage: a byte a second, or closed for writing.

use std::io::{self, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use serde_json::json;

use crate::caller::{Caller, greeting};
use crate::clock;
use crate::crowd::outcome;
use crate::ground::Ground;
use crate::tests_asked_for as asked;
use crate::wire::{self, kind};

/// Where a caller can stop.
#[derive(Clone, Copy, Debug)]
enum Stage {
    Opening,
    Hello,
    Proposal,
    Attaching,
    Running,
    Report,
    End,
}

const STAGES: [Stage; 7] = [
    Stage::Opening,
    Stage::Hello,
    Stage::Proposal,
    Stage::Attaching,
    Stage::Running,
    Stage::Report,
    Stage::End,
];

/// Callers in each stage.
const EACH: u32 = 16;

/// A caller that stands in its stage.
struct Standing {
    /// The connection that drips.
    stream: TcpStream,
    /// What it has yet to say, a byte a second.
    rest: Vec<u8>,
    /// What has to stay open beside it.
    _beside: (Option<Caller>, Vec<TcpStream>),
}

/// Each says a byte a second of what comes next.
#[expect(clippy::unnecessary_wraps, reason = "the registry holds attacks that can fail")]
pub fn dripping(ground: &Ground) -> io::Result<()> {
    let mut all = stand_everywhere(ground);
    let mut at = 0;
    while ground.goes_on() && !all.is_empty() {
        all.retain_mut(|standing| match standing.rest.get(at) {
            Some(byte) => standing.stream.write_all(&[*byte]).is_ok(),
            None => true,
        });
        at += 1;
        clock::pause(clock::left(ground.until).min(Duration::from_secs(1)));
    }
    ground.add("still open at the end", all.len() as u64);
    Ok(())
}

/// Each says no more, and keeps its connection.
#[expect(clippy::unnecessary_wraps, reason = "the registry holds attacks that can fail")]
pub fn half_closed(ground: &Ground) -> io::Result<()> {
    let all = stand_everywhere(ground);
    for standing in &all {
        // One that the server has closed already is closed.
        let _ = standing.stream.shutdown(Shutdown::Write);
    }
    clock::pause(clock::left(ground.until));
    ground.add("held until the end", all.len() as u64);
    Ok(())
}

fn stand_everywhere(ground: &Ground) -> Vec<Standing> {
    let mut all = Vec::new();
    for (index, stage) in (0..).zip(STAGES) {
        for _ in 0..EACH {
            match stand(ground, stage, index) {
                Ok(standing) => {
                    ground.count("standing");
                    all.push(standing);
                }
                Err(error) => ground.count(outcome(&error)),
            }
        }
    }
    all
}

fn stand(ground: &Ground, stage: Stage, index: u32) -> io::Result<Standing> {
    let source = ground.address(index);
    let alone = |caller: Caller, rest: Vec<u8>| Standing {
        stream: caller.stream,
        rest,
        _beside: (None, Vec::new()),
    };
    let greeting = greeting(ground.version);
    match stage {
        Stage::Opening => {
            let caller = Caller::dial(source, ground.server, ground.version)?;
            Ok(alone(caller, greeting))
        }
        Stage::Hello => {
            let mut caller = Caller::dial(source, ground.server, ground.version)?;
            caller.stream.write_all(&greeting[..36])?;
            Ok(alone(caller, greeting[36..].to_vec()))
        }
        Stage::Proposal => {
            let mut caller = Caller::greet(source, ground.server, ground.version)?;
            let proposal = json!({ "test": asked::latency(&json!({})) }).to_string();
            let rest = caller.framing.encode(kind::PROPOSE, proposal.as_bytes());
            Ok(alone(caller, rest))
        }
        Stage::Attaching => {
            let mut caller = Caller::greet(source, ground.server, ground.version)?;
            let token = caller.propose(&asked::latency(&json!({})))?;
            let stream = crate::sockets::dial(source, ground.server)?;
            let rest = wire::data_opening(ground.version, caller.pass(token), 0, 0, 0);
            Ok(Standing { stream, rest, _beside: (Some(caller), Vec::new()) })
        }
        Stage::Running | Stage::Report | Stage::End => {
            let mut caller = Caller::greet(source, ground.server, ground.version)?;
            let (_, mut streams) = caller.run(&asked::latency(&json!({})), 1)?;
            let empty_report = json!({ "elapsed_ns": 1 }).to_string();
            match (stage, streams.pop()) {
                (Stage::Running, Some(stream)) => {
                    Ok(Standing { stream, rest: vec![0; 64], _beside: (Some(caller), streams) })
                }
                (Stage::Report, stream) => {
                    let rest = caller.framing.encode(kind::REPORT, empty_report.as_bytes());
                    let beside = (None, stream.into_iter().collect());
                    Ok(Standing { stream: caller.stream, rest, _beside: beside })
                }
                (_, stream) => {
                    caller.say_bytes(kind::REPORT, empty_report.as_bytes())?;
                    let rest = caller.framing.encode(kind::END, b"{}");
                    let beside = (None, stream.into_iter().collect());
                    Ok(Standing { stream: caller.stream, rest, _beside: beside })
                }
            }
        }
    }
}
