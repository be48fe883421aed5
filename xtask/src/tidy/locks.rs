//! What carries bytes takes no lock: a worker shares nothing with another while its flows run, so that as many run at once as there
//! are processors. What they count is put together by who asked them, when they tell it.
//!
//! Where a lock may stand all the same is listed, file by file, with who takes it and how often: never for an operation on a socket.

use crate::source;
use crate::tree::{TextFile, Tree};
use crate::violation::Violation;

const RULE: &str = "locks";

/// Where flows are decided on, carried out, counted and compared; and what starts them, hears of them and asks the system for them.
const DATA_PATH: [&str; 6] = [
    "crates/core/src/",
    "crates/flow/src/",
    "crates/modes/src/",
    "crates/engines/src/",
    "crates/os/src/",
    "crates/run/src/",
];

/// What waits for another thread.
const LOCKS: [&str; 5] = ["Mutex", "RwLock", "Condvar", "Barrier", "ReentrantLock"];

/// The files that may have one: who takes it, and how often.
const LISTED: [(&str, &str); 32] = [
    (
        "crates/engines/src/plain/whole.rs",
        "the two halves of a flow, once a report or a phase: it is told as one",
    ),
    (
        "crates/os/src/counters/linux.rs",
        "whoever reads the machine's counters, as sessions' threads do once an interval",
    ),
    ("crates/os/src/faults/mod.rs", "tests whose calls of the system fail: no program of ours"),
    (
        "crates/os/src/tables/mod.rs",
        "whoever starts or ends a thread with a table of descriptors of its own",
    ),
    (
        "crates/os/src/wake/many.rs",
        "whoever calls one of many that a thread serves, a worker with a report or a phase; and that thread, once it was called",
    ),
    ("crates/run/src/client/company.rs", "clients of several servers, as they greet and start"),
    ("crates/run/src/client/probes.rs", "two sessions of a client, once an interval"),
    ("crates/run/src/connect/opener.rs", "the thread that opens connections"),
    (
        "crates/run/src/connect/opener/near.rs",
        "a worker, once a connection that follows another, unless somebody else has it",
    ),
    ("crates/run/src/connect/opener/turns.rs", "the thread that opens connections, once a turn"),
    ("crates/run/src/connect/paths/monitor.rs", "the thread that keeps paths, as one changes"),
    ("crates/run/src/holders.rs", "a session's thread, once a worker"),
    (
        "crates/run/src/messages/inbox.rs",
        "a worker, once a report, a phase or its end; and the session's thread",
    ),
    (
        "crates/run/src/paths/log.rs",
        "the thread that keeps paths, as one changes; and the session's",
    ),
    (
        "crates/run/src/promised.rs",
        "whoever opens a flow's socket of datagrams, before the test begins",
    ),
    ("crates/run/src/records/activity.rs", "sessions' threads, once an interval"),
    (
        "crates/run/src/records/journal/scribed.rs",
        "a session's thread, once an entry, of clients that ask for what is printed",
    ),
    (
        "crates/run/src/records/ledger.rs",
        "a worker, once a report, a look that it is asked for, or a connection that ends",
    ),
    (
        "crates/run/src/records/lookout.rs",
        "the thread that looks out, twenty times a second; and sessions' once an interval",
    ),
    ("crates/run/src/records/samples.rs", "the thread that writes samples, once a test"),
    ("crates/run/src/server/answering.rs", "a server's threads, as they begin and end"),
    ("crates/run/src/server/log_limit.rs", "a server's threads, once a line on a client"),
    (
        "crates/run/src/server/parted.rs",
        "sessions' threads, once a connection that they part with; and the listening thread",
    ),
    ("crates/run/src/server/sessions.rs", "the listening thread and sessions', once a seat"),
    ("crates/run/src/server/sessions/seat_word.rs", "the listening thread, once a connection"),
    ("crates/run/src/server/totals.rs", "sessions' threads, once an interval"),
    ("crates/run/src/session/driver/listening.rs", "sessions' threads, once a long message"),
    ("crates/run/src/stop.rs", "sessions' threads, as they begin and end; and who ends the run"),
    ("crates/run/src/threads.rs", "takes all of those of this room, for whoever shares them"),
    ("crates/run/src/threads/taken.rs", "counts those in tests, and is in no program"),
    (
        "crates/run/src/workers/entrances.rs",
        "a worker, once a connection that follows another; and who hands it over",
    ),
    ("crates/run/src/workers/sharing.rs", "sessions' threads, once a light test"),
];

/// Where those of `run` are taken, which tests count.
const TAKES: &str = "crates/run/src/threads";

/// No lock stands where bytes are moved but those that are listed, and nothing is listed that has none.
pub fn none_where_bytes_move(tree: &Tree) -> Vec<Violation> {
    tree.rust().filter(|file| is_data_path(&file.path)).flat_map(found).collect()
}

fn is_data_path(path: &str) -> bool {
    let is_test = path.contains("/tests/") || path.ends_with("/tests.rs");
    !is_test && DATA_PATH.iter().any(|start| path.starts_with(start))
}

fn found(file: &TextFile) -> Vec<Violation> {
    let violation = |line, text| Violation::new(&file.path, line, RULE, text);
    // Tests that stand in the file come last.
    let code = file.code.split("\nmod tests {").next().unwrap_or_default();
    let tokens = source::tokens(code);
    let is_lock = |token: &&source::Token| LOCKS.contains(&token.text.as_str());
    let locks: Vec<usize> = tokens.iter().filter(is_lock).map(|token| token.line).collect();
    let is_listed = LISTED.iter().any(|(path, _)| *path == file.path);
    let mut found = Vec::new();
    if !is_listed {
        let text = "a lock where bytes are moved: give each worker its own, and put them together where they are told; or list the \
                    file with who takes it, once a report at the most";
        found.extend(locks.into_iter().map(|line| violation(line, text)));
    } else if locks.is_empty() {
        let text = "listed as a file that may have a lock, and has none: take it off the list";
        found.push(violation(1, text));
    }
    if file.path.starts_with("crates/run/src/") && !file.path.starts_with(TAKES) {
        let text = "a lock that no test counts: take it by `threads::lock`";
        let is_taken = |at: &&[source::Token]| at[0].text == "." && at[1].text == "lock";
        found.extend(tokens.windows(2).filter(is_taken).map(|at| violation(at[1].line, text)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::places;

    const TEXT: &str = "// A Mutex.\nuse std::sync::{Arc, Mutex};\n";

    fn count(path: &str, text: &str) -> usize {
        places(none_where_bytes_move, &[(path, text)]).len()
    }

    #[test]
    fn locks_stand_where_they_are_listed_and_nowhere_else_on_the_data_path() {
        for path in [
            "crates/engines/src/event_loop/slot.rs",
            "crates/modes/src/goodput/flow.rs",
            "crates/os/src/batches/mod.rs",
            "crates/run/src/workers/worker.rs",
        ] {
            assert_eq!(count(path, TEXT), 1, "{path}");
            let in_tests = format!("fn run() {{}}\n#[cfg(test)]\nmod tests {{\n{TEXT}}}\n");
            assert_eq!(count(path, &in_tests), 0, "{path}");
        }
        for path in ["crates/cli/src/main.rs", "crates/engines/src/event_loop/tests.rs"] {
            assert_eq!(count(path, TEXT), 0, "{path}");
        }
        for (path, _) in LISTED {
            assert_eq!((count(path, TEXT), count(path, "fn run() {}\n")), (0, 1), "{path}");
        }
    }

    #[test]
    fn a_run_takes_locks_where_tests_count_them() {
        let text = "use std::sync::Mutex;\nfn run() { STATE.lock(); lock(&STATE); }\n";
        assert_eq!(count("crates/run/src/stop.rs", text), 1);
        assert_eq!(count("crates/run/src/threads.rs", text), 0);
        assert_eq!(count("crates/os/src/wake/many.rs", text), 0);
    }
}
