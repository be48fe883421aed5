//! Which of several files that are read are one and the same, whatever they are called, or have the same contents.
//!
//! Not here: what that means of results, and files that are written (`names`).

use std::fs::{self, File, Metadata};
use std::io::{self, BufRead as _, BufReader};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// How much of two files is held against each other at once.
const BLOCK: usize = 1 << 16;

/// A number for each: the same of those that are one file, or have the same contents. What is no file on a disk, as standard input, is like
/// nothing else.
pub fn numbered(paths: &[PathBuf]) -> Vec<usize> {
    let files: Vec<Option<Metadata>> = paths.iter().map(|path| on_disk(path)).collect();
    let mut numbers: Vec<usize> = Vec::new();
    for (at, (path, file)) in paths.iter().zip(&files).enumerate() {
        let is_same = |earlier: &usize| {
            let other = files[*earlier].as_ref().zip(file.as_ref());
            other.is_some_and(|(other, file)| are_same((&paths[*earlier], other), (path, file)))
        };
        let first = (0..at).find(is_same);
        numbers.push(first.map_or(at, |first| numbers[first]));
    }
    numbers
}

fn on_disk(path: &Path) -> Option<Metadata> {
    let is_standard_input = path == Path::new("-");
    let file = (!is_standard_input).then(|| fs::metadata(path).ok()).flatten();
    file.filter(Metadata::is_file)
}

fn are_same((path, file): (&Path, &Metadata), (other_path, other): (&Path, &Metadata)) -> bool {
    let is_one = (file.dev(), file.ino()) == (other.dev(), other.ino());
    // What cannot be read is told by whoever reads it.
    is_one || file.len() == other.len() && are_alike(path, other_path).unwrap_or(false)
}

fn are_alike(one: &Path, other: &Path) -> io::Result<bool> {
    let open = |path| File::open(path).map(|file| BufReader::with_capacity(BLOCK, file));
    let (mut one, mut other) = (open(one)?, open(other)?);
    loop {
        let (own, others) = (one.fill_buf()?, other.fill_buf()?);
        let both = own.len().min(others.len());
        if both == 0 {
            return Ok(own.is_empty() && others.is_empty());
        }
        if own[..both] != others[..both] {
            return Ok(false);
        }
        one.consume(both);
        other.consume(both);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn files_are_the_same_by_what_they_are_and_by_what_they_hold() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let long = "0123456789".repeat(20_000);
        fs::write(at("a"), &long).expect("a folder of ours");
        fs::copy(at("a"), at("copy")).expect("a folder of ours");
        fs::write(at("other"), format!("{}x", &long[1..])).expect("a folder of ours");
        fs::write(at("short"), "0123").expect("a folder of ours");
        fs::hard_link(at("a"), at("hard")).expect("a folder of ours");
        symlink("a", at("soft")).expect("a folder of ours");
        let names = ["a", "short", "./a", "copy", "hard", "soft", "other", "none", "none"];
        let paths = names.map(at);
        assert_eq!(numbered(&paths), [0, 1, 0, 0, 0, 0, 6, 7, 8]);
        assert_eq!(numbered(&["-".into(), "-".into()]), [0, 1]);
    }
}
