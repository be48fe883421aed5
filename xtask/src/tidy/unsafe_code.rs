//! Unsafe code stands where the system is called, and each use says which rule is met and by whom.

use crate::rooms::Room;
use crate::source;
use crate::tree::{TextFile, Tree};
use crate::violation::Violation;

const RULE: &str = "unsafe";

/// Only platform rooms hold unsafe code; every other room forbids it in its root.
pub fn only_where_the_system_is_called(tree: &Tree) -> Vec<Violation> {
    let others =
        tree.rust().filter(|file| !Room::of_path(&file.path).is_some_and(Room::may_be_unsafe));
    others
        .flat_map(|file| {
            let mut lines = lines_with_unsafe(file);
            lines.dedup();
            let uses =
                lines.into_iter().map(|line| (line, "unsafe code outside of os and engines"));
            uses.chain(root_fault(file))
                .map(|(line, text)| Violation::new(&file.path, line, RULE, text))
                .collect::<Vec<_>>()
        })
        .collect()
}

fn root_fault(file: &TextFile) -> Option<(usize, &'static str)> {
    let is_root = file.path.ends_with("/src/lib.rs") || file.path.ends_with("/src/main.rs");
    let forbids = file.code.contains("#![forbid(unsafe_code)]");
    (is_root && !forbids).then_some((1, "the crate's root lacks `#![forbid(unsafe_code)]`"))
}

/// Each use of `unsafe` stands below a comment that says why it is sound.
pub fn explained(tree: &Tree) -> Vec<Violation> {
    let unexplained = |file: &TextFile| {
        let raw: Vec<&str> = file.text.lines().collect();
        let lines = lines_with_unsafe(file).into_iter();
        let lines = lines.filter(move |line| !is_explained(&raw[..*line]));
        let path = file.path.clone();
        let text = "no `// SAFETY:` above it says which rule is met and by whom";
        lines.map(move |line| Violation::new(&path, line, RULE, text)).collect::<Vec<_>>()
    };
    tree.rust().flat_map(unexplained).collect()
}

fn lines_with_unsafe(file: &TextFile) -> Vec<usize> {
    let tokens = source::tokens(&file.code);
    tokens.iter().filter(|token| token.text == "unsafe").map(|token| token.line).collect()
}

/// Whether the last of these lines, or the statement it belongs to, has its comment above.
fn is_explained(lines: &[&str]) -> bool {
    let Some((_, above)) = lines.split_last() else { return false };
    for line in above.iter().rev().map(|line| line.trim()) {
        if line.starts_with("//") {
            if line.contains("SAFETY:") || line.contains("# Safety") {
                return true;
            }
        } else if !line.starts_with('#') && (line.is_empty() || line.ends_with([';', '{', '}'])) {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::places;

    fn found(rule: fn(&Tree) -> Vec<Violation>, path: &str, text: &str) -> Vec<usize> {
        places(rule, &[(path, text)]).into_iter().map(|(_, line)| line).collect()
    }

    #[test]
    fn unsafe_code_stays_in_its_rooms() {
        let text = "fn f() {\n    unsafe { g() }\n}\n// unsafe\n";
        let rule = only_where_the_system_is_called;
        assert_eq!(found(rule, "crates/run/src/x.rs", text), [2]);
        assert!(found(rule, "crates/os/src/x.rs", text).is_empty());
    }

    #[test]
    fn roots_of_other_rooms_forbid_it() {
        let rule = only_where_the_system_is_called;
        assert_eq!(found(rule, "crates/views/src/lib.rs", "//! Views.\n"), [1]);
        assert!(found(rule, "crates/os/src/lib.rs", "//! Os.\n").is_empty());
        assert!(found(rule, "crates/views/src/lib.rs", "#![forbid(unsafe_code)]\n").is_empty());
    }

    #[test]
    fn an_explanation_stands_above_the_statement() {
        let good = "// SAFETY: `x` is open.\n#[inline]\nlet y =\n    unsafe { f(x) };\n\
                    /// # Safety\n/// Call it once.\npub unsafe fn g() {}\n";
        assert!(found(explained, "crates/os/src/x.rs", good).is_empty());
    }

    #[test]
    fn an_explanation_of_another_statement_is_none() {
        let bad = "// SAFETY: `x` is open.\nlet y = unsafe { f(x) };\nlet z = unsafe { f(y) };\n";
        assert_eq!(found(explained, "crates/os/src/x.rs", bad), [3]);
        assert_eq!(found(explained, "crates/os/src/x.rs", "// why\nunsafe { f() }\n"), [2]);
    }
}
