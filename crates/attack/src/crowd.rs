//! Callers that work at once, a thread each.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::clock;
use crate::ground::Ground;

/// Small, since there may be hundreds.
const STACK_BYTES: usize = 256 * 1_024;

/// Has so many callers work until all are done.
pub fn at_once(count: u32, work: impl Fn(u32) + Sync) -> io::Result<()> {
    let work = &work;
    thread::scope(|scope| {
        for index in 0..count {
            let caller = thread::Builder::new().stack_size(STACK_BYTES);
            caller.spawn_scoped(scope, move || work(index))?;
        }
        Ok(())
    })
}

/// Has so many callers do something again and again while time is left. What fails is counted by its kind, and tried
/// again after a pause: a caller that is refused is no reason to end.
pub fn again_and_again(
    ground: &Ground,
    count: u32,
    turn: impl Fn(u32) -> io::Result<()> + Sync,
) -> io::Result<()> {
    at_once(count, |index| {
        while ground.goes_on() {
            match turn(index) {
                Ok(()) => ground.count("rounds"),
                Err(error) => {
                    ground.count(outcome(&error));
                    clock::pause(clock::left(ground.until).min(Duration::from_millis(50)));
                }
            }
        }
    })
}

/// Has eight callers try something so often, as long as time is left, and keep what came of it until that is over: each that is kept is
/// counted as `what`.
pub fn held<T: Send>(
    ground: &Ground,
    (tried, what): (u32, &str),
    each: impl Fn(u32) -> io::Result<T> + Sync,
) -> io::Result<Vec<T>> {
    let held = Mutex::new(Vec::new());
    at_once(8, |part| {
        for index in (part..tried).step_by(8).take_while(|_| ground.goes_on()) {
            match each(index) {
                Ok(own) => {
                    ground.count(what);
                    held.lock().unwrap_or_else(PoisonError::into_inner).push(own);
                }
                Err(error) => ground.count(outcome(&error)),
            }
        }
    })?;
    clock::pause(clock::left(ground.until));
    Ok(held.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// A word for how a caller was turned away.
pub fn outcome(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "refused by a message",
        io::ErrorKind::ConnectionRefused => "connections refused",
        io::ErrorKind::ConnectionReset
        | io::ErrorKind::BrokenPipe
        | io::ErrorKind::UnexpectedEof => "closed by the server",
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => "not answered in time",
        _ => "failed otherwise",
    }
}
