//! Facts about crates stand in the workspace's manifest once; crates inherit them.

use crate::tree::{TextFile, Tree};
use crate::violation::Violation;

const RULE: &str = "manifests";
const INHERITED: [&str; 5] = ["version", "edition", "rust-version", "license", "publish"];

/// Every crate inherits lints, package fields and the versions of dependencies.
pub fn inherit_from_workspace(tree: &Tree) -> Vec<Violation> {
    tree.manifests().flat_map(faults).collect()
}

fn faults(manifest: &TextFile) -> Vec<Violation> {
    let entries = entries(manifest);
    let missing = |section: &str, key: &str| {
        !entries.iter().any(|entry| entry.section == section && entry.text.starts_with(key))
    };
    let mut texts: Vec<(usize, String)> = INHERITED
        .iter()
        .map(|field| format!("{field}.workspace = true"))
        .filter(|line| missing("[package]", line))
        .map(|line| (1, format!("[package] lacks `{line}`")))
        .collect();
    if missing("[lints]", "workspace = true") {
        texts.push((1, "lacks `[lints]` with `workspace = true`".to_owned()));
    }
    if missing("[package]", "description = ") {
        texts.push((1, "[package] lacks a description".to_owned()));
    }
    let pinned = entries.iter().filter(|entry| entry.pins_a_version());
    texts.extend(
        pinned.map(|entry| {
            (entry.line, "states a version: name it with `workspace = true`".to_owned())
        }),
    );
    texts.into_iter().map(|(line, text)| Violation::new(&manifest.path, line, RULE, text)).collect()
}

/// One line of a manifest, and the section it stands in.
struct Entry<'text> {
    section: &'text str,
    line: usize,
    text: &'text str,
}

impl Entry<'_> {
    fn pins_a_version(&self) -> bool {
        self.section.ends_with("dependencies]")
            && self.text.contains('=')
            && !self.text.replace(' ', "").contains("workspace=true")
    }
}

fn entries(manifest: &TextFile) -> Vec<Entry<'_>> {
    let mut section = "";
    let mut entries = Vec::new();
    for (line, text) in manifest.lines() {
        let text = text.split(" #").next().unwrap_or(text).trim();
        if text.starts_with('[') {
            section = text;
        } else if !text.is_empty() && !text.starts_with('#') {
            entries.push(Entry { section, line, text });
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::places;

    const GOOD: &str = "[package]\nname = \"a\"\ndescription = \"b\"\nversion.workspace = true\n\
                        edition.workspace = true\nrust-version.workspace = true\n\
                        license.workspace = true\npublish.workspace = true\n\n[dependencies]\n\
                        serde = { workspace = true, features = [\"x\"] }\nclap.workspace = true\n\n\
                        [lints]\nworkspace = true\n";

    fn found(manifest: &str) -> Vec<usize> {
        let found = places(inherit_from_workspace, &[("crates/core/Cargo.toml", manifest)]);
        found.into_iter().map(|(_, line)| line).collect()
    }

    #[test]
    fn a_crate_that_inherits_is_good() {
        assert!(found(GOOD).is_empty());
    }

    #[test]
    fn what_a_crate_states_itself_is_reported() {
        assert_eq!(found(&GOOD.replace("version.workspace = true\nedition", "edition")), [1]);
        assert_eq!(found(&GOOD.replace("[lints]\nworkspace = true\n", "")), [1]);
        assert_eq!(found(&GOOD.replace("description = \"b\"\n", "")), [1]);
        assert_eq!(found(&GOOD.replace("clap.workspace = true", "clap = \"4\"")), [12]);
    }
}
