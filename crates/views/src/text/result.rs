//! The result as a whole: title, what was measured on what, the sections, what to mind.

use pathscope_core::presentation::{CommandLine, Figure, Presentation, Section};
use pathscope_core::shell::command_line;

use super::line::{Line, Style};
use super::page::Page;
use super::{figures, findings, histogram, series, table};
use crate::view::Detail;

/// A shorter rule is none.
const LEAST_RULE: usize = 4;

/// Adds all that a presentation says, but for the part of its context that the reader has seen before.
pub fn result(page: &mut Page, presentation: &Presentation, seen: &[Figure], detail: Detail) {
    let new: Vec<_> =
        presentation.context.iter().filter(|figure| !seen.contains(figure)).cloned().collect();
    figures::context(page, &new);
    presentation.sections.iter().for_each(|section| self::section(page, section, detail));
    page.gap();
    findings::caveats(page, &presentation.caveats, detail);
    if detail == Detail::Full {
        presentation.commands.iter().for_each(|command| self::command(page, command));
    }
}

/// Adds what was typed, on a line of its own that is not broken: a part of it would be another command.
fn command(page: &mut Page, command: &CommandLine) {
    let head = if command.of.is_empty() { "command" } else { &command.of };
    page.gap();
    page.line(&Line::indented(2).with(Style::Faint, head));
    page.line(&Line::indented(4).with(Style::Plain, &command_line(&command.words)));
}

/// Adds the title with a rule beside it: what came before is the run, what follows is its result.
pub fn title(page: &mut Page, title: &str) {
    let line = Line::default().with(Style::Strong, title);
    let rest = page.columns().saturating_sub(line.width() + 1);
    if title.is_empty() {
        return;
    }
    if rest < LEAST_RULE {
        return page.sentence(Line::default(), Style::Strong, title);
    }
    page.line(&line.with(Style::Plain, " ").with(Style::Faint, &"─".repeat(rest)));
}

/// A check that failed comes before the figures: they are not to be believed without it.
fn section(page: &mut Page, section: &Section, detail: Detail) {
    page.gap();
    heading(page, section);
    findings::failed_checks(page, &section.checks, detail);
    figures::figures(page, &section.figures);
    for (index, table) in section.tables.iter().enumerate() {
        if index > 0 || !section.figures.is_empty() {
            page.gap();
        }
        table::table(page, table);
    }
    shapes(page, section, detail);
    if let Some(verdict) = &section.verdict {
        page.gap();
        findings::verdict(page, verdict, detail);
    }
    findings::passed_checks(page, &section.checks);
    findings::caveats(page, &section.caveats, detail);
}

/// Adds what is drawn.
fn shapes(page: &mut Page, section: &Section, detail: Detail) {
    if series::has_any(&section.series) {
        page.gap();
        series::series(page, &section.series);
    }
    if detail == Detail::Full && !section.distributions.is_empty() {
        section.distributions.iter().for_each(|shape| histogram::histogram(page, shape));
        page.gap();
    }
}

fn heading(page: &mut Page, section: &Section) {
    let line = Line::default().with(Style::Strong, &section.title);
    if section.subtitle.is_empty() {
        if !section.title.is_empty() {
            page.line(&line);
        }
        return;
    }
    let line = if section.title.is_empty() { line } else { line.with(Style::Plain, "  ") };
    page.sentence(line, Style::Faint, &section.subtitle);
}
