//! Proposals that a server refuses, and wishes that cost everybody else.

use std::io::{self, Write as _};

use serde_json::{Value, json};

use crate::caller::Caller;
use crate::clock;
use crate::crowd::{again_and_again, outcome};
use crate::ground::Ground;
use crate::tests_asked_for as asked;
use crate::wire::kind;

/// Nothing that a test could be.
const BAD: &[u8] = br#"{"test":0}"#;

/// Bad proposals over and over; what is said to them stays in the network.
pub fn refused_and_never_read(ground: &Ground) -> io::Result<()> {
    again_and_again(ground, 64, |_| {
        let mut caller = Caller::greet(ground.address(0), ground.server, ground.version)?;
        while ground.goes_on() {
            let mut bytes = Vec::new();
            for _ in 0..256 {
                bytes.extend(caller.framing.encode(kind::PROPOSE, BAD));
            }
            caller.stream.write_all(&bytes)?;
            ground.add("proposals", 256);
        }
        Ok(())
    })
}

/// Bad proposals as fast as they are answered, on new sessions once one is ended.
pub fn refused(ground: &Ground) -> io::Result<()> {
    again_and_again(ground, 8, |_| {
        let mut caller = Caller::greet(ground.address(0), ground.server, ground.version)?;
        while ground.goes_on() {
            caller.say_bytes(kind::PROPOSE, BAD)?;
            ground.count("proposals");
            match caller.await_kind(&[kind::REFUSE]) {
                Ok(_) => ground.count("refusals"),
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    })
}

/// What a stranger may wish for at everybody's cost. What is accepted is run.
pub fn wishes(ground: &Ground) -> io::Result<()> {
    let many_processors = vec![0; 1_000];
    let wishes: Vec<(Value, u32)> = vec![
        (asked::latency(&json!({ "server_cpus": many_processors, "connections": 64 })), 64),
        (asked::goodput("push", 64, &json!({ "server_cpus": many_processors })), 64),
        (asked::latency(&json!({ "wait": "spin" })), 1),
        (asked::latency(&json!({ "wait": "hybrid", "load_model": "closed" })), 1),
        (asked::latency(&json!({ "wait": "auto", "load_model": "closed" })), 1),
        (asked::goodput("push", 1, &json!({ "server_cpus": [1] })), 1),
        (asked::goodput("push", 1, &json!({ "congestion_control": "vegas" })), 1),
    ];
    again_and_again(ground, 4, |index| {
        let mut sessions = Vec::new();
        for (test, flows) in wishes.iter().cycle().skip(index as usize).take(14) {
            let mut caller = Caller::greet(ground.address(index), ground.server, ground.version)?;
            match caller.run(test, *flows) {
                Ok((_, streams)) => {
                    ground.count("wishes granted or replaced");
                    sessions.push((caller, streams));
                }
                Err(error) => ground.count(outcome(&error)),
            }
        }
        let pause = clock::now() + std::time::Duration::from_secs(2);
        for (caller, _) in &mut sessions {
            caller.tend(pause.min(ground.until))?;
        }
        Ok(())
    })
}
