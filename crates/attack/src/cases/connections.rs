//! Connections of a test: proposed and never made, made slowly, and replaced without end.

use std::io::{self, Write as _};
use std::time::Duration;

use serde_json::json;

use crate::caller::{Caller, attach};
use crate::clock;
use crate::crowd::{again_and_again, at_once, outcome};
use crate::ground::Ground;
use crate::sockets::is_open;
use crate::tests_asked_for as asked;
use crate::wire::kind;

/// As many as took every descriptor once.
const CONNECTIONS: u32 = 18_976;

/// Of a test of one connection that is replaced: never more than twice as many, or 64 beyond.
const MOST_OF_ONE: usize = 65;

/// Holds sessions whose test is accepted and never attached.
pub fn never_attached(ground: &Ground) -> io::Result<()> {
    again_and_again(ground, 8, |index| {
        let mut caller = Caller::greet(ground.address(index), ground.server, ground.version)?;
        accepted(ground, &mut caller)?;
        while ground.goes_on() && caller.await_kind(&[]).is_err_and(|error| waits(&error)) {}
        Ok(())
    })
}

/// The same, and a connection every 12 s.
pub fn attached_slowly(ground: &Ground) -> io::Result<()> {
    again_and_again(ground, 8, |index| {
        let mut caller = Caller::greet(ground.address(index), ground.server, ground.version)?;
        let token = accepted(ground, &mut caller)?;
        let mut streams = Vec::new();
        for flow in 0..CONNECTIONS {
            let (stream, code) = caller.attach(token, flow)?;
            ground.count(if code == 0 { "attached" } else { "not attached" });
            streams.push(stream);
            caller.tend((clock::now() + Duration::from_secs(12)).min(ground.until))?;
            if !ground.goes_on() {
                break;
            }
        }
        Ok(())
    })
}

/// A proposal of all of them, or else of as many as one session is allowed.
fn accepted(ground: &Ground, caller: &mut Caller) -> io::Result<[u8; 16]> {
    for connections in [CONNECTIONS, CONNECTIONS / 4, CONNECTIONS / 16, CONNECTIONS / 64] {
        match caller.propose(&asked::goodput("push", connections, &json!({}))) {
            Ok(token) => {
                ground.add("connections accepted", u64::from(connections));
                return Ok(token);
            }
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                ground.count("proposals refused");
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::PermissionDenied.into())
}

fn waits(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::TimedOut
}

/// Connections that follow one another while none of them ends.
pub fn replaced(ground: &Ground) -> io::Result<()> {
    successions(ground, true)
}

/// Connections that end as soon as they have begun, so that each fails and is followed by the next.
pub fn replaced_and_ended(ground: &Ground) -> io::Result<()> {
    successions(ground, false)
}

fn successions(ground: &Ground, kept: bool) -> io::Result<()> {
    at_once(4, |index| {
        if let Err(error) = one_succession(ground, index, kept) {
            ground.count(outcome(&error));
        }
    })
}

fn one_succession(ground: &Ground, index: u32, kept: bool) -> io::Result<()> {
    let source = ground.address(index);
    let mut caller = Caller::greet(source, ground.server, ground.version)?;
    let (token, mut streams) = caller.run(&asked::replaced(1, 1_000_000_000), 1)?;
    let mut flow = 1;
    while ground.goes_on() {
        // What the session says is heard in between, or it would be lost.
        while let Some(message) = caller.hear(Duration::ZERO)? {
            if message.kind == kind::STOP {
                return Ok(());
            }
        }
        let pass = caller.pass(token);
        match attach(source, ground.server, ground.version, pass, flow) {
            Ok((mut stream, 0)) => {
                ground.count("attached");
                // A beginning, so that the server has something to look at.
                stream.write_all(&[0; 16])?;
                if kept {
                    streams.push(stream);
                } else {
                    streams.clear();
                }
            }
            Ok(_) => ground.count("not attached"),
            Err(error) => ground.count(outcome(&error)),
        }
        flow += 1;
    }
    let alive = streams.iter().filter(|stream| is_open(stream)).count();
    ground.add("open at the end", alive as u64);
    if alive > MOST_OF_ONE {
        ground.broken(format!("{alive} connections were attached at once, where 65 may be"));
    }
    Ok(())
}
