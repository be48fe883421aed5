//! For documents: the result as Markdown, as GitHub reads it, with tables that may be as wide as they are.
//!
//! Written when the run has ended, and nothing before. Shapes of distributions are left to the JSON and to the text.

#[cfg(test)]
mod tests;

use pathscope_core::error::Failure;
use pathscope_core::presentation::{CommandLine, Figure, Presentation, Section, Table};
use pathscope_core::record::Caveat;
use pathscope_core::shell::command_line;

use crate::findings::{or_name, unknown, words_of};
use crate::grid::Grid;
use crate::value::shown_alone;

/// The whole result.
pub fn page(presentation: &Presentation, failure: Option<(Failure, &str)>) -> String {
    let mut blocks = vec![format!("# {}", words(&presentation.title))];
    if let Some((_, sentence)) = failure {
        blocks.push(format!("**{}**", words(sentence)));
    }
    let context =
        presentation.context.iter().map(|it| format!("- {}: {}", words(&it.label), figure(it)));
    blocks.push(context.collect::<Vec<_>>().join("\n"));
    for section in &presentation.sections {
        self::section(&mut blocks, section);
    }
    blocks.extend(presentation.caveats.iter().map(caveat));
    blocks.extend(presentation.commands.iter().flat_map(command));
    blocks.retain(|block| !block.is_empty());
    blocks.join("\n\n") + "\n"
}

fn section(blocks: &mut Vec<String>, section: &Section) {
    if !section.title.is_empty() {
        blocks.push(format!("## {}", words(&section.title)));
    }
    blocks.push(words(&section.subtitle));
    let failed = section.checks.iter().filter(|check| check.has_failed());
    let failed = failed.map(|check| {
        let (name, text) = (words(&words_of(&check.name)), words(&check.text));
        format!("- **FAILED** {name}: {text}{}", remedy(check.remedy.as_deref()))
    });
    blocks.push(failed.collect::<Vec<_>>().join("\n"));
    blocks.push(figures(&section.figures));
    for it in &section.tables {
        blocks.push(words(&it.title));
        blocks.push(table(it));
    }
    blocks.extend(section.verdict.iter().map(|verdict| {
        format!("**{}**{}", words(&verdict.text), remedy(verdict.remedy.as_deref()))
    }));
    let held = section.checks.iter().filter(|check| check.has_held() && !check.text.is_empty());
    let held = held.map(|check| format!("- {}", words(&check.text)));
    let open = section.checks.iter().filter(|check| check.is_unknown());
    let open = open.map(|check| format!("- {}", words(&unknown(check))));
    blocks.push(held.chain(open).collect::<Vec<_>>().join("\n"));
    blocks.extend(section.caveats.iter().map(caveat));
}

/// What was typed, between fences that are longer than any in it.
fn command(command: &CommandLine) -> [String; 2] {
    let head = if command.of.is_empty() { "command" } else { &command.of };
    let line = crate::words::clean(&command_line(&command.words));
    let longest = line.split(|it| it != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(3.max(longest + 1));
    [words(head), format!("{fence}text\n{line}\n{fence}")]
}

fn caveat(caveat: &Caveat) -> String {
    let text = words(&or_name(&caveat.text, &caveat.name));
    format!("> {text}{}", remedy(caveat.remedy.as_deref()))
}

/// What to do about what stands before it, where that is said.
fn remedy(remedy: Option<&str>) -> String {
    let remedy = remedy.filter(|remedy| !remedy.trim().is_empty());
    remedy.map_or_else(String::new, |remedy| format!(" (remedy: {})", words(remedy)))
}

/// A figure with its note.
fn figure(figure: &Figure) -> String {
    let value = words(&shown_alone(&figure.value));
    match figure.note.as_deref() {
        None | Some("") => value,
        Some(note) => format!("{value} ({})", words(note)),
    }
}

fn figures(figures: &[Figure]) -> String {
    if figures.is_empty() {
        return String::new();
    }
    let rows = figures.iter().map(|it| {
        let note = it.note.as_deref().unwrap_or_default();
        row(&[words(&it.label), words(&shown_alone(&it.value)), words(note)])
    });
    let head = [row(&["figure", "value", ""].map(str::to_owned)), "|---|--:|---|".to_owned()];
    head.into_iter().chain(rows).collect::<Vec<_>>().join("\n")
}

/// A table whose columns have one unit each, in their heads, as in the text.
fn table(table: &Table) -> String {
    let Some(Grid { heads, is_words, rows }) = Grid::of(table) else { return String::new() };
    let escaped =
        |cells: &Vec<String>| row(&cells.iter().map(|cell| words(cell)).collect::<Vec<_>>());
    let rule = is_words.iter().map(|&is_words| if is_words { "---" } else { "--:" });
    let mut lines = vec![escaped(&heads), format!("|{}|", rule.collect::<Vec<_>>().join("|"))];
    lines.extend(rows.iter().map(escaped));
    lines.join("\n")
}

fn row(cells: &[String]) -> String {
    format!("| {} |", cells.join(" | "))
}

/// Words that are shown as they are: on one line, without anything that Markdown, HTML or a terminal would obey.
fn words(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut words = String::with_capacity(line.len());
    for character in crate::words::clean(&line).chars() {
        match character {
            '<' => words.push_str("&lt;"),
            '&' => words.push_str("&amp;"),
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '~' | '$' => {
                words.extend(['\\', character]);
            }
            _ => words.push(character),
        }
    }
    words
}
