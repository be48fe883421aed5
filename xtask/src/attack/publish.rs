//! The tables of docs/robustness.md, written between their marks.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use pathscope_core::quantity;

use super::figures::Figures;
use super::strangers::ClientFigures;
use crate::machine;

const PAGE: &str = "docs/robustness.md";
const BEGIN: &str = "<!-- attack: begin -->";
const END: &str = "<!-- attack: end -->";

/// Writes them.
pub fn write(
    root: &Path,
    pathscope: &Path,
    servers: &[Figures],
    clients: &[ClientFigures],
    mutations: &str,
) -> Result<()> {
    let path = root.join(PAGE);
    let page = fs::read_to_string(&path).with_context(|| format!("read {PAGE}"))?;
    let tables = tables(&machine::words(root, pathscope), servers, clients, mutations);
    let page = between(&page, &tables).with_context(|| format!("find `{BEGIN}` in {PAGE}"))?;
    fs::write(&path, page).with_context(|| format!("write {PAGE}"))
}

fn between(page: &str, tables: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{tables}{END}{after}"))
}

fn tables(
    machine: &str,
    servers: &[Figures],
    clients: &[ClientFigures],
    mutations: &str,
) -> String {
    let mut text = format!("\n{machine}\n\n");
    text.push_str(
        "| case | memory | threads | descriptors | server | attack | log | greeting | goodput of alone | \
         p99 of alone | given back | bounds |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|\n",
    );
    for figure in servers {
        let cells = figure.cells().join(" | ");
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| `{}` | {cells} |", figure.case.name);
    }
    text.push_str("\n| case | what strangers do | what came of it |\n|---|---|---|\n");
    for figure in servers {
        let Figures { case, .. } = figure;
        let _ = writeln!(text, "| `{}` | {} | {} |", case.name, case.purpose, figure.counts());
    }
    text.push_str(
        "\n| a server against its client | command | what the server does | ran | code | memory | bounds |\n\
         |---|---|---|--:|--:|--:|---|\n",
    );
    for figure in clients {
        let ClientFigures { name, command, purpose, seconds, .. } = figure;
        let code = figure.exit_code.map_or_else(|| "none".to_owned(), |code| code.to_string());
        let memory = quantity::bytes(figure.resident_bytes);
        let verdict = if figure.broken.is_empty() { "held" } else { "BROKEN" };
        let _ = writeln!(
            text,
            "| `{name}` | `{command}` | {purpose} | {seconds:.1} s | {code} | {memory} | {verdict} |"
        );
    }
    let broken: Vec<String> = servers
        .iter()
        .flat_map(|figure| {
            figure.broken.iter().map(|it| format!("* `{}`: {it}\n", figure.case.name))
        })
        .chain(clients.iter().flat_map(|figure| {
            figure.broken.iter().map(|it| format!("* `{}`: {it}\n", figure.name))
        }))
        .collect();
    if !broken.is_empty() {
        let _ = write!(text, "\nBroken:\n\n{}", broken.concat());
    }
    let _ = write!(text, "\nMutations: {mutations}\n\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_replace_what_stood_between_the_marks() {
        let page = format!("a\n{BEGIN}\nold\n{END}\nb\n");
        assert_eq!(between(&page, "new\n"), Some(format!("a\n{BEGIN}\nnew\n{END}\nb\n")));
        assert_eq!(between("a\n", "new\n"), None);
    }
}
