//! Files that are written from what the code says, committed, and held to it, so that a change of a promise is seen in
//! review.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use clap::Args;

/// Lines of a difference that are shown; the whole is one `git diff` away.
const LINES_SHOWN: usize = 8;

/// How to treat a committed file.
#[derive(Args, Clone, Copy, Debug)]
pub struct Arguments {
    /// Write nothing; fail if the committed file is not what the code says
    #[arg(long)]
    pub check: bool,
}

/// One such file.
#[derive(Clone, Copy, Debug)]
pub struct Committed {
    /// Where it is, from the root of the workspace.
    pub path: &'static str,
    /// The task that writes it.
    pub task: &'static str,
}

impl Committed {
    /// Writes it, or answers whether it is current.
    pub fn run(self, root: &Path, generated: &str, arguments: Arguments) -> Result<bool> {
        let path = root.join(self.path);
        if arguments.check {
            let committed = fs::read_to_string(&path).unwrap_or_default();
            return Ok(self.report(&difference(&committed, generated)));
        }
        let folder = path.parent().context("find the folder of a generated file")?;
        fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
        fs::write(&path, generated).with_context(|| format!("write {}", path.display()))?;
        println!("wrote {}", self.path);
        Ok(true)
    }

    fn report(self, difference: &[String]) -> bool {
        if difference.is_empty() {
            return true;
        }
        let Self { path, task } = self;
        println!("{path} is not what the code says; `cargo xtask {task}` writes it anew:");
        difference.iter().for_each(|line| println!("  {line}"));
        false
    }
}

/// The first lines in which two texts differ, those of the first marked `-`, of the second `+`.
fn difference(committed: &str, generated: &str) -> Vec<String> {
    let (committed, generated): (Vec<&str>, Vec<&str>) =
        (committed.lines().collect(), generated.lines().collect());
    let same = committed.iter().zip(&generated).take_while(|(one, other)| one == other).count();
    if same == committed.len() && same == generated.len() {
        return Vec::new();
    }
    let marked = |lines: &[&str], mark: char| -> Vec<String> {
        let shown = lines[same..].iter().take(LINES_SHOWN / 2);
        shown.map(|line| format!("{mark} {line}")).collect()
    };
    let mut difference = vec![format!("from line {}:", same + 1)];
    difference.extend(marked(&committed, '-'));
    difference.extend(marked(&generated, '+'));
    difference
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_shows_where_it_begins() {
        assert!(difference("a\nb\n", "a\nb\n").is_empty());
        assert_eq!(
            difference("a\nb\nc\n", "a\nx\nc\n"),
            ["from line 2:", "- b", "- c", "+ x", "+ c"]
        );
        assert_eq!(difference("", "a\n"), ["from line 1:", "+ a"]);
        assert_eq!(difference("a\nb\n", "a\n"), ["from line 2:", "- b"]);
    }
}
