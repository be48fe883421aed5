//! How text is written: its ends, its first line, and no trace of the machine it was written on.

use crate::tree::{TextFile, Tree};
use crate::violation::Violation;

const RULE: &str = "text";

/// Files whose bytes are not ours to tidy: recorded from other tools, or written by cargo.
const VERBATIM: [&str; 3] = ["/fixtures/", "/snapshots/", "Cargo.lock"];

/// Folders that only exist on somebody's machine. In pieces, so that this file passes its own rule.
const MACHINE_FOLDERS: [&str; 4] =
    [concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/wo", "rk/"), concat!("/Us", "ers/")];

/// No blanks at the end of a line, a line break at the end of the file, and just one.
pub fn ends_and_blanks(tree: &Tree) -> Vec<Violation> {
    let ours =
        tree.files.iter().filter(|file| !VERBATIM.iter().any(|part| file.path.contains(part)));
    ours.flat_map(|file| {
        let blanks = file.lines().filter(|(_, text)| text.ends_with([' ', '\t', '\r']));
        let blanks = blanks.map(|(line, _)| (line, "blanks at the end of the line"));
        let end = end_fault(&file.text).map(|text| (file.text.lines().count(), text));
        violations(file, blanks.chain(end))
    })
    .collect()
}

fn end_fault(text: &str) -> Option<&'static str> {
    if text.is_empty() {
        None
    } else if !text.ends_with('\n') {
        Some("no line break at the end of the file")
    } else if text.ends_with("\n\n") {
        Some("empty lines at the end of the file")
    } else {
        None
    }
}

/// Every source opens by saying what it is.
pub fn sources_open_with_their_purpose(tree: &Tree) -> Vec<Violation> {
    let silent = tree.rust().filter(|file| !file.text.starts_with("//! "));
    silent
        .flat_map(|file| {
            violations(file, [(1, "the first line does not say what this is: `//! …`")])
        })
        .collect()
}

/// Tests of a module stand at its end, or in `tests.rs` and `tests/` of its folder: one place to look.
pub fn tests_stand_with_their_module(tree: &Tree) -> Vec<Violation> {
    let beside = tree.rust().filter(|file| file.path.ends_with("_tests.rs"));
    let text = "tests beside their module: they belong in `tests.rs` or `tests/` of its folder";
    beside.flat_map(|file| violations(file, [(1, text)])).collect()
}

/// No path that only exists on somebody's machine.
pub fn no_machine_paths(tree: &Tree) -> Vec<Violation> {
    let named = |file: &TextFile| {
        let lines = file.lines().filter(|(_, text)| names_a_machine_folder(text));
        violations(file, lines.map(|(line, _)| (line, "a path of somebody's machine")))
    };
    tree.files.iter().flat_map(named).collect()
}

fn names_a_machine_folder(text: &str) -> bool {
    // Not where it is a part of something longer: `example.org/work/`.
    let is_start = |at: usize| {
        let before = text[..at].chars().next_back();
        !before.is_some_and(|before| before.is_alphanumeric() || "._-~)}>".contains(before))
    };
    MACHINE_FOLDERS.iter().any(|folder| text.match_indices(folder).any(|(at, _)| is_start(at)))
}

fn violations<'text>(
    file: &TextFile,
    faults: impl IntoIterator<Item = (usize, &'text str)>,
) -> Vec<Violation> {
    faults.into_iter().map(|(line, text)| Violation::new(&file.path, line, RULE, text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::{lines, places};

    #[test]
    fn tests_beside_their_module_are_reported() {
        let files = ["tests.rs", "a/tests.rs", "a/tests/more.rs", "a_tests.rs"];
        let files = files.map(|name| (format!("crates/core/src/{name}"), "//! x\n"));
        let files = files.each_ref().map(|(path, text)| (path.as_str(), *text));
        let expected = [("crates/core/src/a_tests.rs".to_owned(), 1)];
        assert_eq!(places(tests_stand_with_their_module, &files), expected);
    }

    #[test]
    fn blanks_and_ends_are_reported() {
        assert!(lines(ends_and_blanks, "a\nb\n").is_empty());
        assert!(lines(ends_and_blanks, "").is_empty());
        assert_eq!(lines(ends_and_blanks, "a \nb\t\nc"), [1, 2, 3]);
        assert_eq!(lines(ends_and_blanks, "a\n\n"), [2]);
        let recorded = ("crates/peers/src/iperf3/fixtures/a.txt", "a ");
        assert_eq!(places(ends_and_blanks, &[recorded]), []);
    }

    #[test]
    fn a_source_opens_with_what_it_is() {
        assert!(lines(sources_open_with_their_purpose, "//! The thing.\n").is_empty());
        assert_eq!(lines(sources_open_with_their_purpose, "// The thing.\n"), [1]);
        assert_eq!(lines(sources_open_with_their_purpose, "\n//! The thing.\n"), [1]);
    }

    #[test]
    fn paths_of_a_machine_are_reported() {
        let path =
            format!("run `{}me/x`\nhttps://example.org{}rk/x\n{}ot/a\n", "/ho", "/wo", "/ro");
        assert_eq!(lines(no_machine_paths, &path), [1, 3]);
    }
}
