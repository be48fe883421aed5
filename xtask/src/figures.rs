//! The page of all figures, written from the list in `modes`.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use pathscope_modes::figures::{Better, FigureDefinition, Group, STATISTICS, Unit, groups};

use crate::committed::{Arguments, Committed};

const PAGE: Committed = Committed { path: "docs/figures.md", task: "figures" };

const HEAD: &str = "# All figures

Written by `cargo xtask figures` from the lists in the modes (`crates/modes/src/*/figures.rs`): change those. Each figure of
each mode has an id that stays, and a place in the [result document](../schema/pathscope-document.json).

- A **place** goes on from one measurement of the document (`measurements[]`, of several servers `servers[].measurements[]`), that of a search
  from the document itself. What several servers came to together goes on from `together`: there `summary` has what can be added up. `{way}`
  stands for `up` and `down`, `{end}` for `client` and `server`, `[]` for each entry of a list, `*` for each name.
- An **id** that has ways is completed by one: `goodput.rate.up`.
- **Better** is the direction that whoever uses the path would wish for; – says how much was done, or of what kind it was.
- A figure that is absent in a document was not measured, or its samples do not support it. It is never 0 for that reason.

## Distributions

Where the unit is *distribution*, each of these is a figure: `latency.rtt.p99`, `latency.rtt.max`.

| id ends with | place goes on with | unit | meaning |
|---|---|---|---|
";

/// Writes the page, or answers whether the committed one is current.
pub fn run(root: &Path, arguments: Arguments) -> Result<bool> {
    PAGE.run(root, &text(), arguments)
}

fn text() -> String {
    let mut text = HEAD.to_owned();
    for statistic in STATISTICS {
        let (name, place, unit) = (statistic.name, statistic.place, unit(statistic.unit));
        let meaning = statistic.meaning;
        _ = writeln!(text, "| `.{name}` | `.{place}` | {unit} | {meaning} |");
    }
    for group in groups() {
        _ = write!(text, "\n## {}\n\n", group.title);
        text.push_str("| id | place | unit | better | meaning |\n|---|---|---|---|---|\n");
        for figure in group.figures {
            text.push_str(&row(group, figure));
        }
    }
    text
}

fn row(group: &Group, figure: &FigureDefinition) -> String {
    let (id, place) = (group.id(figure), group.place_of(figure));
    let better = match figure.better {
        Better::Higher => "more",
        Better::Lower => "less",
        Better::Neither => "–",
    };
    let (unit, meaning, page) = (unit(figure.unit), figure.meaning, figure.page);
    format!("| `{id}` | `{place}` | {unit} | {better} | [{meaning}]({page}) |\n")
}

const fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::BitRate => "bit/s",
        Unit::PerSecond => "1/s",
        Unit::Bytes => "B",
        Unit::Count => "count",
        Unit::Duration => "ns",
        Unit::Share => "share of 1",
        Unit::Number => "number",
        Unit::Dbm => "dBm",
        Unit::Megahertz => "MHz",
        Unit::Distribution => "distribution",
        Unit::Percentiles => "ns, by percentile",
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn each_figure_has_a_row_that_leads_to_its_definition() {
        let text = text();
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
        for (group, figure) in
            groups().flat_map(|group| group.figures.iter().map(move |figure| (group, figure)))
        {
            let id = group.id(figure);
            assert_eq!(text.matches(&format!("| `{id}` |")).count(), 1, "{id}");
            let (page, part) = figure.page.split_once('#').unwrap_or((figure.page, ""));
            let page = fs::read_to_string(docs.join(page)).unwrap_or_default();
            let mut headings = page.lines().filter(|line| line.starts_with('#'));
            assert!(headings.any(|line| part.is_empty() || anchor(line) == part), "{id}: {part}");
        }
    }

    /// What a heading is linked by.
    fn anchor(heading: &str) -> String {
        let title = heading.trim_start_matches('#').trim().to_lowercase();
        let kept =
            title.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
        kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
    }
}
