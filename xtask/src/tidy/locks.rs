//! What carries bytes takes no lock: a worker shares nothing with another while its flows run, so that as many run at once as there
//! are processors. What they count is put together by who asked them, when they tell it.

use crate::source;
use crate::tree::{TextFile, Tree};
use crate::violation::Violation;

const RULE: &str = "locks";

/// Where flows are decided on, carried out, counted and compared.
const DATA_PATH: [&str; 4] =
    ["crates/core/src/", "crates/flow/src/", "crates/modes/src/", "crates/engines/src/"];

/// What waits for another thread.
const LOCKS: [&str; 5] = ["Mutex", "RwLock", "Condvar", "Barrier", "ReentrantLock"];

/// Taken once a report or once a phase: what the two halves of one flow tell is told as one.
const TOLD_AS_ONE: &str = "crates/engines/src/plain/whole.rs";

/// No lock stands where bytes are moved.
pub fn none_where_bytes_move(tree: &Tree) -> Vec<Violation> {
    let files = tree.rust().filter(|file| is_data_path(&file.path) && file.path != TOLD_AS_ONE);
    files.flat_map(found).collect()
}

fn is_data_path(path: &str) -> bool {
    let is_test = path.contains("/tests/") || path.ends_with("/tests.rs");
    !is_test && DATA_PATH.iter().any(|start| path.starts_with(start))
}

fn found(file: &TextFile) -> Vec<Violation> {
    let tokens = source::tokens(&file.code);
    let tokens = tokens.iter().filter(|token| LOCKS.contains(&token.text.as_str()));
    let text = "a lock where bytes are moved: give each worker its own, and put them together where they are told";
    tokens.map(|token| Violation::new(&file.path, token.line, RULE, text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::places;

    #[test]
    fn locks_stand_beside_the_data_path_and_not_on_it() {
        let text = "// A Mutex.\nuse std::sync::{Arc, Mutex};\n";
        let found = |path| places(none_where_bytes_move, &[(path, text)]).len();
        for path in ["crates/engines/src/event_loop/slot.rs", "crates/modes/src/goodput/flow.rs"] {
            assert_eq!(found(path), 1, "{path}");
        }
        for path in
            ["crates/run/src/stop.rs", "crates/engines/src/event_loop/tests.rs", TOLD_AS_ONE]
        {
            assert_eq!(found(path), 0, "{path}");
        }
    }
}
