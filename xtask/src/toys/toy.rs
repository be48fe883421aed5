//! What adding something comes to: a folder, and lines in files that are there.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::tree::Tree;

/// Something that is added to a copy of the tree.
#[derive(Debug)]
pub struct Toy {
    /// What its folder holds, from the root of the workspace.
    pub template: &'static str,
    /// Where that goes.
    pub folder: &'static str,
    /// All that is added elsewhere.
    pub lines: &'static [Line],
    /// What holds it to what it is to do, where that is more than its own folder can import.
    pub tests: &'static [File],
    /// What it may not import, and the rule that refuses it.
    pub forbidden: &'static [(&'static str, &'static str)],
}

/// A file that is added.
#[derive(Debug)]
pub struct File {
    /// What it holds, from the root of the workspace.
    pub template: &'static str,
    /// Where that goes.
    pub path: &'static str,
}

/// Lines that are added to a file.
#[derive(Debug)]
pub struct Line {
    /// The file.
    pub path: &'static str,
    /// The line of it below which they are put.
    pub below: &'static str,
    /// What is put there.
    pub text: &'static str,
}

impl Toy {
    /// Adds it to the tree at `root`.
    pub fn add(&self, root: &Path) -> Result<()> {
        let (from, to) = (root.join(self.template), root.join(self.folder));
        fs::create_dir_all(&to).with_context(|| format!("create {}", to.display()))?;
        for entry in fs::read_dir(&from).with_context(|| format!("list {}", from.display()))? {
            let entry = entry.with_context(|| format!("list {}", from.display()))?;
            let to = to.join(entry.file_name());
            fs::copy(entry.path(), &to).with_context(|| format!("write {}", to.display()))?;
        }
        for File { template, path } in self.tests {
            let to = root.join(path);
            fs::copy(root.join(template), &to).with_context(|| format!("write {path}"))?;
        }
        for line in self.lines {
            let path = root.join(line.path);
            let text = fs::read_to_string(&path).with_context(|| format!("read {}", line.path))?;
            fs::write(&path, line.put_into(&text)?)
                .with_context(|| format!("write {}", line.path))?;
        }
        Ok(())
    }
}

/// What differs between a tree and one that these were added to, beyond their folders and their lines.
pub fn differences(toys: &[&Toy], before: &Tree, after: &Tree) -> Result<Vec<String>> {
    let is_below = |path: &str, toy: &&Toy| {
        path.strip_prefix(toy.folder).is_some_and(|rest| rest.starts_with('/'))
    };
    let is_test = |path: &str, toy: &&Toy| toy.tests.iter().any(|test| test.path == path);
    let is_own = |path: &str| toys.iter().any(|toy| is_below(path, toy) || is_test(path, toy));
    let mut found = Vec::new();
    for file in after.files.iter().filter(|file| !is_own(&file.path)) {
        let Some(old) = before.file(&file.path) else {
            found.push(format!("{} is new", file.path));
            continue;
        };
        let mut lines = toys.iter().flat_map(|toy| toy.lines).filter(|line| line.path == file.path);
        let expected = lines.try_fold(old.text.clone(), |text, line| line.put_into(&text))?;
        if file.text != expected {
            found.push(format!("{} is not what it was", file.path));
        }
    }
    let gone = before.files.iter().filter(|file| after.file(&file.path).is_none());
    found.extend(gone.map(|file| format!("{} is gone", file.path)));
    Ok(found)
}

impl Line {
    fn put_into(&self, text: &str) -> Result<String> {
        let place = format!("\n{}\n", self.below);
        let mut parts = text.split(&place);
        let (Some(above), Some(below), None) = (parts.next(), parts.next(), parts.next()) else {
            bail!("find the one line `{}` in {}", self.below, self.path);
        };
        Ok(format!("{above}\n{}\n{}\n{below}", self.below, self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOY: Toy = Toy {
        template: "toys/one",
        folder: "src/toy",
        lines: &[Line { path: "src/lib.rs", below: "mod b;", text: "mod toy;" }],
        tests: &[File { template: "toys/tests.rs", path: "tests/one.rs" }],
        forbidden: &[],
    };

    fn differences(after: &[(&str, &str)]) -> Vec<String> {
        let before = Tree::of(&[("src/lib.rs", "mod a;\nmod b;\nmod c;\n"), ("src/b.rs", "")]);
        super::differences(&[&TOY], &before, &Tree::of(after)).expect("there is one such line")
    }

    const LIB: (&str, &str) = ("src/lib.rs", "mod a;\nmod b;\nmod toy;\nmod c;\n");

    #[test]
    fn a_folder_and_its_lines_are_no_difference() {
        assert_eq!(
            differences(&[LIB, ("src/b.rs", ""), ("src/toy/mod.rs", "x"), ("tests/one.rs", "x")]),
            [""; 0]
        );
    }

    #[test]
    fn all_else_is_a_difference() {
        let beside = ("src/toy.rs", "x");
        assert_eq!(differences(&[LIB, beside, ("src/b.rs", "")]), ["src/toy.rs is new"]);
        assert_eq!(differences(&[LIB]), ["src/b.rs is gone"]);
        assert_eq!(differences(&[LIB, ("src/b.rs", "x")]), ["src/b.rs is not what it was"]);
        let more = ("src/lib.rs", "mod a;\nmod b;\nmod toy;\nmod c;\nmod d;\n");
        assert_eq!(differences(&[more, ("src/b.rs", "")]), ["src/lib.rs is not what it was"]);
    }

    #[test]
    fn a_line_has_one_place() {
        let line = &TOY.lines[0];
        assert!(line.put_into("mod a;\n").is_err());
        assert!(line.put_into("\nmod b;\nmod c;\nmod b;\n").is_err());
    }
}
