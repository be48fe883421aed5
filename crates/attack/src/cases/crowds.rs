//! Many at once: sessions of one address, of many, of one /64; more connections than there are descriptors.

use std::io::{self, Write as _};
use std::net::IpAddr;
use std::sync::Mutex;

use serde_json::json;

use super::reports;
use crate::caller::{Caller, greeting, tend_all};
use crate::crowd::{again_and_again, at_once, outcome};
use crate::ground::Ground;
use crate::tests_asked_for as asked;
use crate::wire::{data_opening, kind};
use crate::{clock, sockets};

/// How many sessions are tried.
const SESSIONS: u32 = 256;
/// How many of one address the defaults allow.
pub const PER_ADDRESS: u64 = 16;

/// All from one address.
pub fn of_one_address(ground: &Ground) -> io::Result<()> {
    sessions(ground, |_| ground.address(0))?;
    ground.holds_at_most(PER_ADDRESS, "sessions of one address", ground.counted("sessions"));
    Ok(())
}

/// Each from another address.
pub fn of_many_addresses(ground: &Ground) -> io::Result<()> {
    sessions(ground, |index| ground.address(index))?;
    ground.holds_at_most(
        u64::from(SESSIONS),
        "sessions of all addresses",
        ground.counted("sessions"),
    );
    Ok(())
}

/// Each from another address of one /64, which counts as one.
pub fn of_one_prefix(ground: &Ground) -> io::Result<()> {
    sessions(ground, |index| ground.address(index))?;
    ground.holds_at_most(PER_ADDRESS, "sessions of one /64", ground.counted("sessions"));
    Ok(())
}

/// Sessions whose test and probe run and that never end, nor move a byte.
fn sessions(ground: &Ground, source: impl Fn(u32) -> IpAddr + Sync) -> io::Result<()> {
    let held = Mutex::new(Vec::new());
    // Eight at a time, so that what is timed is the server and not a storm of our own threads.
    at_once(8, |part| {
        let mut callers = Vec::new();
        let mut streams = Vec::new();
        for index in (part..SESSIONS).step_by(8) {
            tend_all(&mut callers, clock::now());
            match one_session(ground, source(index)) {
                Ok((caller, own)) => {
                    ground.count("sessions");
                    callers.push(caller);
                    streams.extend(own);
                }
                Err(error) => ground.count(outcome(&error)),
            }
        }
        ground.add("sessions left at the end", tend_all(&mut callers, ground.until) as u64);
        held.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(streams);
    })
}

type Held = (Caller, Vec<std::net::TcpStream>);

fn one_session(ground: &Ground, source: IpAddr) -> io::Result<Held> {
    let mut caller = Caller::greet(source, ground.server, ground.version)?;
    let token = caller.propose(&asked::goodput_with_probe("push", 1))?;
    let (load, code) = caller.attach(token, 0)?;
    let mut probe = sockets::dial(source, ground.server)?;
    probe.write_all(&data_opening(ground.version, caller.pass(token), 1, 1, 0))?;
    if code != 0 {
        return Err(io::Error::other("the load was not attached"));
    }
    caller.start()?;
    Ok((caller, vec![load, probe]))
}

/// Sessions that are greeted and dropped at once: each may leave a line in the log.
pub fn opened_and_closed(ground: &Ground) -> io::Result<()> {
    again_and_again(ground, 8, |index| {
        let caller = Caller::greet(ground.address(index), ground.server, ground.version)?;
        drop(caller);
        ground.count("sessions");
        Ok(())
    })
}

/// Connections that say nothing, more than the server has descriptors, and made anew as they are closed.
pub fn out_of_descriptors(ground: &Ground) -> io::Result<()> {
    at_once(8, |part| {
        let mut held = Vec::new();
        while ground.goes_on() {
            let source = ground.address(part * 100 + held.len() as u32 % 100);
            match sockets::dial(source, ground.server) {
                Ok(mut stream) => {
                    // Every other one says the beginning of an opening.
                    if held.len() % 2 == 0
                        && stream.write_all(&greeting(ground.version)[..8]).is_err()
                    {
                        ground.count("closed by the server");
                    }
                    ground.count("connections");
                    held.push(stream);
                }
                Err(error) => ground.count(outcome(&error)),
            }
            if held.len() >= 200 {
                held.drain(..100);
            }
        }
    })
}

/// What costs most in the other cases, at once.
pub fn of_every_kind(ground: &Ground) -> io::Result<()> {
    let entries = vec![r#"{"":0}"#; 140_000].join(",");
    let report = format!("{{\"x\":[{entries}]}}");
    again_and_again(ground, 64, |index| match index % 3 {
        0 => reports::one(ground, report.as_bytes()),
        1 => {
            let mut caller = Caller::greet(ground.address(1), ground.server, ground.version)?;
            let proposal = json!({ "test": 0 });
            loop {
                caller.say(kind::PROPOSE, &proposal)?;
                ground.count("proposals");
                if !ground.goes_on() {
                    return Ok(());
                }
            }
        }
        _ => {
            let mut held = one_session(ground, ground.address(2 + index))?;
            ground.count("sessions");
            held.0.tend(ground.until)
        }
    })
}
