//! docs/verdicts.md, written as a whole.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use pathscope_core::quantity::{bit_rate, ratio};

use super::cause::{CAUSES, EXPECTED_ELSE};
use super::outcome::name;
use super::tally::{Tally, matrix};
use super::{Arguments, Grid, without};
use crate::machine;

const PAGE: &str = "docs/verdicts.md";

/// Writes it.
pub fn write(root: &Path, pathscope: &Path, grid: &Grid, arguments: &Arguments) -> Result<()> {
    let date = Command::new("date").arg("+%F").output().context("ask for the date")?;
    let date = String::from_utf8_lossy(&date.stdout).trim().to_owned();
    let full = if arguments.full { " --full" } else { "" };
    let again = match arguments.again {
        Some(_) => " The cells were measured before, and are judged by the rules as they are now.",
        None => "",
    };
    let command = format!("cargo xtask verdicts{full} --publish --seed {}", arguments.seed);
    let page = page(grid, &date, (&command, again), &machine::words(root, pathscope));
    fs::write(root.join(PAGE), page).with_context(|| format!("write {PAGE}"))
}

fn page(grid: &Grid, date: &str, (command, again): (&str, &str), machine: &str) -> String {
    let all = Tally::of(&grid.outcomes);
    let mut text = format!(
        "# Are verdicts right?\n\n\
         Written by `{command}`, {date}. {machine}{again}\n\n\
         Known causes are brought about on a [lab](guide/lab.md) of two hosts and one link, in cells of cubic, reno and bbr, 20, 60 and \
         200 Mbit/s, 2 and 20 ms one way, 1 and 8 connections, the client or the server sending; and what is a matter of round trips also \
         with 20 Mbit/s and 290 ms one way, for 20 s. In each cell goodput is measured with \
         the cause and without it, next to each other and in alternating order. The cause is **true** where goodput without it is higher \
         by a fifth or more; then its own verdict is expected, and else `{}`, since the link is the narrowest thing there is. Both stand \
         in a table of the program before anything is measured ([how a verdict is found](method/verdict.md)). `undetermined` is never \
         right.\n\n\
         **{} of {} cells are right ({}); {} were said to be sure, and {} of those are wrong.** Cells that the lab, a hypervisor or other programs spoilt \
         twice: {}, which count for nothing.\n\n\
         ## By cause\n\n\
         | cause | brought about by | verdict where it is true | cells | true | right | sure | sure and wrong | spoilt | said |\n\
         |---|---|---|--:|--:|--:|--:|--:|--:|---|\n",
        name(EXPECTED_ELSE),
        all.right,
        all.cells,
        ratio(all.right_share()),
        all.sure,
        all.sure_and_wrong,
        all.spoilt,
    );
    for line in &CAUSES {
        let (cause, expected, how) = (line.name, name(line.expected), line.how);
        if let Some((_, why)) = grid.skipped.iter().find(|(skipped, _)| skipped.name == cause) {
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "| {cause} | {how} | `{expected}` | skipped, because {why} ||||||||"
            );
            continue;
        }
        let tally = Tally::of(grid.outcomes.iter().filter(|outcome| outcome.cause == cause));
        let _ = writeln!(
            text,
            "| {cause} | {how} | `{expected}` | {} | {} | {} | {} | {} | {} | {} |",
            tally.cells,
            tally.caused,
            tally.right,
            tally.sure,
            tally.sure_and_wrong,
            tally.spoilt,
            tally.said_in_words()
        );
    }
    let free = without(&grid.outcomes);
    let _ = writeln!(
        text,
        "\nOf the same cells with the cause removed, where the link alone is left, {} of {} said `{}`; {} were said to be sure, and {} of \
         those something else.",
        free.right,
        free.cells,
        name(EXPECTED_ELSE),
        free.sure,
        free.sure_and_wrong
    );
    said_and_true(&mut text, grid);
    wrong(&mut text, grid);
    text
}

fn said_and_true(text: &mut String, grid: &Grid) {
    let (columns, rows) = matrix(&grid.outcomes);
    let names: Vec<String> = columns.iter().map(|name| format!("`{name}`")).collect();
    let rule = "--:|".repeat(columns.len());
    let _ = write!(
        text,
        "\n## What was said, and what was true\n\n| true ↓, said → | {} |\n|---|{rule}\n",
        names.join(" | ")
    );
    for (truth, counts) in rows {
        let counts: Vec<String> = counts
            .iter()
            .map(|count| if *count == 0 { "–".to_owned() } else { count.to_string() })
            .collect();
        let _ = writeln!(text, "| `{truth}` | {} |", counts.join(" | "));
    }
}

fn wrong(text: &mut String, grid: &Grid) {
    let is_wrong = |outcome: &&super::Outcome| outcome.spoilt.is_none() && !outcome.is_right();
    let wrong: Vec<_> = grid.outcomes.iter().filter(is_wrong).collect();
    let _ = write!(text, "\n## Cells that are wrong\n\n");
    if wrong.is_empty() {
        text.push_str("None.\n");
    }
    for outcome in wrong {
        let sure = if outcome.is_sure() { ", and was sure" } else { "" };
        let _ = writeln!(
            text,
            "* {}, {}: {}, and {} without it (× {:.2}): `{}` is expected, `{}` was said{sure}. {}",
            outcome.cause,
            outcome.cell,
            bit_rate(outcome.with_bps),
            bit_rate(outcome.without_bps),
            outcome.raised(),
            name(outcome.expected()),
            name(outcome.said()),
            outcome.evidence()
        );
    }
    if !grid.unmeasured.is_empty() {
        let _ = write!(text, "\n## Cells that could not be measured\n\n");
    }
    for why in &grid.unmeasured {
        let _ = writeln!(text, "* {why}");
    }
    let spoilt: Vec<_> = grid.outcomes.iter().filter(|outcome| outcome.spoilt.is_some()).collect();
    if !spoilt.is_empty() {
        let _ = write!(text, "\n## Cells that were spoilt\n\n");
    }
    for outcome in spoilt {
        let why = outcome.spoilt.as_deref().unwrap_or_default();
        let _ = writeln!(
            text,
            "* {}, {}: {why}. It would have been {}: `{}` is expected, `{}` was said.",
            outcome.cause,
            outcome.cell,
            if outcome.is_right() { "right" } else { "wrong" },
            name(outcome.expected()),
            name(outcome.said())
        );
    }
}
