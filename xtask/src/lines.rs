//! How many lines of code each room has: without tests, comments and empty lines. Not how good they are.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::console::say;
use crate::folder;
use crate::rooms::folder_name;
use crate::source;
use crate::tree::{TextFile, Tree};

/// What `cargo xtask lines` can be told.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Beside those of this commit
    #[arg(long, value_name = "COMMIT")]
    since: Option<String>,
}

/// Prints a table of all rooms.
pub fn run(root: &Path, arguments: &Arguments) -> Result<()> {
    let now = of_rooms(&Tree::read(root)?);
    let Some(commit) = &arguments.since else {
        for (room, lines) in &now {
            say(format_args!("{room:<12} {lines:>7}"))?;
        }
        return Ok(());
    };
    let then = of_commit(root, commit)?;
    let (mut all_then, mut all_now) = (0, 0);
    let rooms = then.keys().chain(now.keys()).collect::<BTreeSet<_>>();
    for room in rooms {
        let of = |lines: &Rooms| lines.get(room).copied().unwrap_or(0);
        let (before, after) = (of(&then), of(&now));
        (all_then, all_now) = (all_then + before, all_now + after);
        say(row(room, before, after))?;
    }
    say(row("all", all_then, all_now))
}

fn row(room: &str, then: usize, now: usize) -> String {
    let change = now as i64 - then as i64;
    format!("{room:<12} {then:>7} {now:>7} {change:>+7}")
}

/// Lines by room.
type Rooms = BTreeMap<String, usize>;

fn of_rooms(tree: &Tree) -> Rooms {
    let mut rooms = Rooms::new();
    for file in tree.rust().filter(|file| !is_of_tests(&file.path)) {
        if let Some(room) = folder_name(&file.path) {
            *rooms.entry(room.to_owned()).or_default() += lines_of(file);
        }
    }
    rooms
}

fn of_commit(root: &Path, commit: &str) -> Result<Rooms> {
    let folder = folder::temporary()?;
    let archive = folder.path().join("tree.tar");
    let mut git = Command::new("git");
    git.args(["archive", "--format=tar", "-o"]).arg(&archive).arg(commit).current_dir(root);
    let mut tar = Command::new("tar");
    tar.arg("-xf").arg(&archive).current_dir(folder.path());
    for (name, command) in [("git", &mut git), ("tar", &mut tar)] {
        if !command.status().with_context(|| format!("start {name}"))?.success() {
            bail!("read the tree of '{commit}': {name} failed");
        }
    }
    Ok(of_rooms(&Tree::read(folder.path())?))
}

/// Whether all of a file is tests, by the layouts that there are.
fn is_of_tests(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    path.contains("/tests/")
        || path.contains("/examples/")
        || path.starts_with("xtask/toys/")
        || name == "tests.rs"
        || name.ends_with("_tests.rs")
}

/// Lines with code that is no test.
fn lines_of(file: &TextFile) -> usize {
    let marked = file.text.lines().zip(source::test_lines(&file.code));
    let ours = marked.filter(|(_, is_of_tests)| !is_of_tests).map(|(line, _)| line.trim());
    ours.filter(|line| !line.is_empty() && !line.starts_with("//")).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_comments_and_empty_lines_do_not_count() {
        let text = "//! What it is.\n\nuse a;\n#[cfg(test)]\nmod tests;\n/// One.\nfn one() {\n    // Why.\n    \
                    two(\"{\");\n}\n\n#[cfg(test)]\nmod more {\n    fn three() {\n    }\n}\nconst FOUR: u8 = 4;\n";
        assert_eq!(lines_of(&TextFile::new("crates/core/src/x.rs", text)), 5);
    }

    #[test]
    fn files_of_tests_do_not_count() {
        let text = "fn one() {}\n";
        let tree = Tree::of(&[
            ("crates/core/src/one.rs", text),
            ("crates/core/src/one/tests.rs", text),
            ("crates/core/src/one_tests.rs", text),
            ("crates/core/tests/one.rs", text),
            ("xtask/src/one.rs", text),
        ]);
        let rooms = of_rooms(&tree);
        assert_eq!(rooms, Rooms::from([("core".to_owned(), 1), ("xtask".to_owned(), 1)]));
    }
}
