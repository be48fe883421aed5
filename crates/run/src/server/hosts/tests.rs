//! Threads that hold sessions of a few turns.

use std::sync::Mutex;
use std::time::Duration;

use pathscope_core::id::Token;
use pathscope_os::wake::Waker;

use super::*;
use crate::server::Settings;
use crate::server::log_limit::LogLimit;
use crate::server::sessions::Sessions;
use crate::threads::lock;

/// What a session does in each of its turns, one after the other.
type Script = Vec<Box<dyn FnMut() -> Turn + Send>>;

/// A session that does what is written, and then is over.
struct Scripted(std::vec::IntoIter<Box<dyn FnMut() -> Turn + Send>>);

impl Session for Scripted {
    fn turn(&mut self, _: bool) -> Turn {
        self.0.next().map_or_else(|| Turn::Over(Ok(())), |mut turn| turn())
    }
}

/// The lines that threads say which hold such sessions, each from a port of its own, until all are over. A script is given what
/// wakes its session.
fn lines_of(scripts: Vec<fn(Waker) -> Script>) -> Vec<String> {
    let lines = Mutex::new(Vec::new());
    let say = |line: &str| lock(&lines).push(line.to_owned());
    let log_limit = LogLimit::default();
    let sessions = Arc::new(Sessions::new(
        Settings::default(),
        Token([1; 16]),
        100,
        Waker::new().expect("a waker"),
    ));
    std::thread::scope(|scope| {
        let log = ServerLog { say: &say, warn: None, log_limit: &log_limit };
        let mut hosts = Hosts::start(scope, log, &Journal::default()).expect("threads");
        for (port, script) in (1..).zip(scripts) {
            let place = hosts.place();
            let turns = script(place.hosted.waker.clone());
            let begin = move |_| -> Result<Box<dyn Session>, RunError> {
                Ok(Box::new(Scripted(turns.into_iter())))
            };
            let (from, stay) = (SocketAddr::from(([127, 0, 0, 1], port)), Stay::begin(&sessions));
            hosts.begin(place, Beginning { from, begin: Box::new(begin), stay });
        }
    });
    let mut lines = lines.into_inner().expect("nobody panics with it");
    lines.sort();
    lines
}

fn faulty(_: Waker) -> Script {
    vec![Box::new(|| panic!("a fault"))]
}

fn by_deadline(_: Waker) -> Script {
    let soon = || Turn::Until(clock::now() + Duration::from_millis(5));
    vec![Box::new(soon), Box::new(soon)]
}

/// Called from within a turn, and drained in the next, as a session does.
fn by_word(waker: Waker) -> Script {
    let call = waker.clone();
    let call = move || {
        call.wake();
        Turn::Until(Tick::NEVER)
    };
    let drain = move || {
        waker.drain();
        Turn::Until(Tick::ZERO)
    };
    vec![Box::new(call), Box::new(drain)]
}

#[test]
fn word_and_deadlines_call_for_turns_and_a_fault_in_one_session_ends_no_other() {
    let lines = lines_of(vec![faulty, by_deadline, faulty, by_word, by_deadline]);
    let over = |port: u16| format!("127.0.0.1:{port}: session over");
    let broken =
        |port: u16| format!("127.0.0.1:{port}: its session broke off by a fault of pathscope");
    assert_eq!(lines, [broken(1), over(2), broken(3), over(4), over(5)]);
}
