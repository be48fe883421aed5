//! The page of all checks, caveats and limits, written from the lists in the rooms.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use pathscope_calibration::findings::CalibrationCaveat;
use pathscope_core::finding::{Finding as _, FindingDefinition};
use pathscope_core::record::Limit;
use pathscope_lab::findings::LabCaveat;
use pathscope_modes::comparison::findings::{ComparisonCaveat, ComparisonCheck};
use pathscope_modes::findings;
use pathscope_peers::registry as peers;
use pathscope_run::findings::RunCaveat;

use crate::committed::{Arguments, Committed};

const PAGE: Committed = Committed { path: "docs/findings.md", task: "findings" };

const HEAD: &str = "# Checks, caveats and limits

Written by `cargo xtask findings` from the lists in the code (`findings!`): change those. Each has a name that stays, by which
scripts find it in the [result document](../schema/pathscope-document.json), and a sentence with the numbers of its run. What
people see of them, message by message: [troubleshooting.md](troubleshooting.md).
";

const CHECKS: &str = "
## Checks

What has to hold (`measurements[].checks`). One that does not is told as `✗ FAILED`, and the exit code is 5.

| of | check | what holds | where it does not |
|---|---|---|---|
";

const CAVEATS: &str = "
## Caveats

What to know before a figure is believed (`caveats`, of the document or of a measurement): a line with `!`.

| of | caveat | meaning | remedy |
|---|---|---|---|
";

const LIMITS: &str = "
## Limits

What a verdict can name (`measurements[].verdict.limit`): a line with `→`. By which rules, and from which figures:
[goodput](method/verdict.md), [datagrams](method/datagrams.md#the-verdict), [media](method/media.md#the-verdict).

| of | limit | meaning | remedy |
|---|---|---|---|
";

/// What can be found outside of modes.
fn rooms() -> impl Iterator<Item = (&'static str, &'static [FindingDefinition])> {
    // A kind of peer without a dialogue of words finds nothing in them.
    let sessions = peers::CAVEATS.iter().filter(|caveats| !caveats.is_empty());
    let sessions = sessions.map(|caveats| ("a session", *caveats));
    let others = [
        ("a lab", LabCaveat::ALL),
        ("a calibration", CalibrationCaveat::ALL),
        ("a comparison", ComparisonCaveat::ALL),
    ];
    [("a run", RunCaveat::ALL)].into_iter().chain(sessions).chain(others)
}

/// Writes the page, or answers whether the committed one is current.
pub fn run(root: &Path, arguments: Arguments) -> Result<bool> {
    PAGE.run(root, &text(), arguments)
}

fn text() -> String {
    let mut text = HEAD.to_owned();
    let checks = findings::all().map(|of| (of.mode, of.checks));
    let checks = checks.chain([("a comparison", ComparisonCheck::ALL)]);
    table(&mut text, CHECKS, checks);
    table(&mut text, CAVEATS, findings::all().map(|of| (of.mode, of.caveats)).chain(rooms()));
    limits(&mut text);
    text
}

fn table(
    text: &mut String,
    head: &str,
    lists: impl Iterator<Item = (&'static str, &'static [FindingDefinition])>,
) {
    text.push_str(head);
    for (of, FindingDefinition { name, meaning, remedy }) in
        lists.flat_map(|(of, list)| list.iter().map(move |it| (of, it)))
    {
        _ = writeln!(text, "| {of} | `{name}` | {meaning} | {remedy} |");
    }
}

/// Each with the modes that can name it.
fn limits(text: &mut String) {
    text.push_str(LIMITS);
    for FindingDefinition { name, meaning, remedy } in Limit::ALL {
        let names = |of: &findings::ModeFindings| of.limits.iter().any(|it| it.name() == *name);
        let modes: Vec<_> = findings::all().filter(names).map(|of| of.mode).collect();
        let of = if modes.is_empty() { "any test".to_owned() } else { modes.join(", ") };
        _ = writeln!(text, "| {of} | `{name}` | {meaning} | {remedy} |");
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::tree::Tree;

    #[test]
    fn every_list_in_the_code_is_on_the_page() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let tree = Tree::read(&root).expect("the tree can be read");
        let text = text();
        let mut lists = 0;
        for file in &tree.files {
            // Of the macro itself and its test, nothing is told.
            if file.path.ends_with("core/src/finding.rs") || !file.path.starts_with("crates/") {
                continue;
            }
            for list in file.text.split("\nfindings! {").skip(1) {
                let list = list.split("\n}").next().unwrap_or_default();
                lists += 1;
                let names = list.lines().filter_map(|line| line.trim().split_once(": \""));
                let names: BTreeSet<_> = names.filter_map(|(_, it)| it.split('"').next()).collect();
                assert!(!names.is_empty(), "{}", file.path);
                for name in names {
                    assert!(text.contains(&format!("| `{name}` |")), "{}: {name}", file.path);
                }
            }
        }
        let told = findings::all()
            .map(|of| usize::from(!of.checks.is_empty()) + usize::from(!of.caveats.is_empty()));
        // That of limits is one for all modes; a comparison has checks besides.
        assert_eq!(lists, told.sum::<usize>() + rooms().count() + 2);
    }

    #[test]
    fn each_says_what_it_means_and_what_to_do() {
        let all = findings::all().flat_map(|of| [of.checks, of.caveats]);
        for it in all.chain(rooms().map(|(_, list)| list)).chain([Limit::ALL]).flatten() {
            let is_name = it.name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
            assert!(is_name && !it.name.is_empty(), "{}", it.name);
            for part in [it.meaning, it.remedy] {
                assert!(part.len() > 10 && !part.ends_with('.') && !part.contains('|'), "{part}");
            }
        }
    }
}
