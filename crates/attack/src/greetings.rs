//! An honest caller that only greets, twice a second, and says how long each answer took.

use std::io::Write as _;
use std::time::{Duration, Instant};

use crate::caller::{Caller, greeting};
use crate::clock;
use crate::ground::Ground;
use crate::wire::{Version, kind};

/// Prints a line of milliseconds for each greeting; `-` for one that had no answer within 5 s.
pub fn run(ground: &Ground) {
    while ground.goes_on() {
        let begun = clock::now();
        match once(ground) {
            Ok(answered) => println!("{}", answered.duration_since(begun).as_millis()),
            Err(_) => println!("-"),
        }
        let next = begun + Duration::from_millis(500);
        clock::pause(clock::left(next.min(ground.until)));
    }
}

/// A welcome is an answer, and so is a refusal.
fn once(ground: &Ground) -> std::io::Result<Instant> {
    let mut caller = Caller::dial(ground.address(0), ground.server, Version::Two)?;
    caller.stream.write_all(&greeting(Version::Two))?;
    match caller.await_kind(&[kind::WELCOME]) {
        Ok(_) => {
            let answered = clock::now();
            // It leaves in good order, so that it is no caller that is awaited.
            caller.say(kind::LEAVE, &serde_json::json!({}))?;
            caller.await_kind(&[kind::ACK]).map(|_| answered)
        }
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => Ok(clock::now()),
        Err(error) => Err(error),
    }
}
