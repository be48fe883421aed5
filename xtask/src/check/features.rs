//! That these tasks are built of what the tests are built of: the same libraries with the same features.
//!
//! Cargo decides which features a library has by all that it is asked to build. Asked for these tasks alone it would leave out what
//! only tests ask for, and build nearly everything a second time when it is asked for the tests.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context as _, Result, bail};
// Nothing of these is called: they ask for the features that libraries have in tests.
use {csv as _, insta as _, jsonschema as _, maud as _, proptest as _, quick_junit as _};

use super::outcome::Outcome;
use crate::cargo;

/// Each library of these tasks has the features that it has in tests.
pub fn are_those_of_tests(root: &Path) -> Result<Outcome> {
    let ours = libraries(root, &["--package", "xtask", "--edges", "normal,build"])?;
    let theirs = libraries(root, &["--workspace", "--edges", "normal,build,dev"])?;
    let other = others(&ours, &theirs);
    if other.is_empty() {
        println!("the same: {} libraries", ours.len());
        return Ok(Outcome::Passed);
    }
    bail!(
        "build these tasks of what the tests are built of: have xtask/Cargo.toml name what asks for the other features of {}",
        other.join(", ")
    )
}

/// What cargo would build, as lines of a name, a version and features.
fn libraries(root: &Path, of: &[&str]) -> Result<BTreeSet<String>> {
    let mut command = cargo::cargo(root);
    command.args(["tree", "--prefix", "none", "--format", "{p} {f}"]).args(of);
    let output = command.stderr(Stdio::inherit()).output().context("run cargo tree")?;
    if !output.status.success() {
        bail!("read what cargo tree says: it ended with {}", output.status);
    }
    Ok(read(&String::from_utf8_lossy(&output.stdout)))
}

fn read(tree: &str) -> BTreeSet<String> {
    // What was told before is marked so.
    let lines = tree.lines().map(|line| line.trim_end_matches("(*)").trim());
    lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// Those of ours that no test is built of.
fn others<'line>(ours: &'line BTreeSet<String>, theirs: &BTreeSet<String>) -> Vec<&'line str> {
    ours.iter().filter(|library| !theirs.contains(*library)).map(String::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_with_fewer_features_is_another() {
        let theirs =
            read("a v1.0.0 default,std\nb v0.1.0 (/b) \nc v2.0.0 \na v1.0.0 default,std (*)\n");
        let same = read("b v0.1.0 (/b) \na v1.0.0 default,std\n");
        assert_eq!((theirs.len(), same.len()), (3, 2));
        assert!(others(&same, &theirs).is_empty());
        assert_eq!(others(&read("a v1.0.0 std\nc v2.0.0\n"), &theirs), ["a v1.0.0 std"]);
    }
}
