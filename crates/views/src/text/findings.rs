//! What follows from the figures: checks, verdict, caveats, and how the run ended.

use pathscope_core::error::Failure;
use pathscope_core::record::{Caveat, Check, Verdict};

use super::line::{Line, Style};
use super::page::Page;
use crate::findings::{self, or_name, words_of};
use crate::view::Detail;

/// Adds the checks that failed, each so that it cannot be missed; in full also what to do about each.
pub fn failed_checks(page: &mut Page, checks: &[Check], detail: Detail) {
    for check in checks.iter().filter(|check| check.has_failed()) {
        let line = Line::indented(2).with(Style::Bad, "✗ FAILED").with(Style::Plain, "  ");
        page.sentence(line, Style::Bad, &format!("{}: {}", words_of(&check.name), check.text));
        remedy(page, check.remedy.as_deref(), detail);
    }
}

/// Adds the checks that held, and those of which nobody can know.
pub fn passed_checks(page: &mut Page, checks: &[Check]) {
    for check in checks.iter().filter(|check| check.has_held()) {
        let line = Line::indented(2).with(Style::Good, "✓").with(Style::Plain, " ");
        page.sentence(line, Style::Plain, &or_name(&check.text, &check.name));
    }
    for check in checks.iter().filter(|check| check.is_unknown()) {
        let line = Line::indented(2).with(Style::Warning, "?").with(Style::Plain, " ");
        page.sentence(line, Style::Plain, &findings::unknown(check));
    }
}

/// Adds what limited the run in one strong sentence, and below it what that rests on: the figures that decided it, or
/// all of them where they are wanted or none is marked. In full also what to do about that limit.
pub fn verdict(page: &mut Page, verdict: &Verdict, detail: Detail) {
    let line = Line::indented(2).with(Style::Strong, "→").with(Style::Plain, " ");
    page.sentence(line, Style::Strong, &verdict.text);
    let evidence = findings::evidence(verdict, detail);
    if !evidence.is_empty() {
        page.sentence(Line::indented(4), Style::Plain, &evidence);
    }
    remedy(page, verdict.remedy.as_deref(), detail);
}

/// Adds what to mind, and in full what to do about each.
pub fn caveats(page: &mut Page, caveats: &[Caveat], detail: Detail) {
    for caveat in caveats {
        self::caveat(page, caveat);
        remedy(page, caveat.remedy.as_deref(), detail);
    }
}

/// Adds what to do about what stands above, where that is wanted: it is the same in each run, and whoever reads many knows it.
fn remedy(page: &mut Page, remedy: Option<&str>, detail: Detail) {
    let remedy = remedy.filter(|remedy| detail == Detail::Full && !remedy.trim().is_empty());
    if let Some(remedy) = remedy {
        page.sentence(Line::indented(4).with(Style::Faint, "remedy: "), Style::Plain, remedy);
    }
}

/// Adds one thing to mind.
pub fn caveat(page: &mut Page, caveat: &Caveat) {
    let line = Line::indented(2).with(Style::Warning, "!").with(Style::Plain, " ");
    page.sentence(line, Style::Plain, &or_name(&caveat.text, &caveat.name));
}

/// Adds how the run ended, if not well.
pub fn failure(page: &mut Page, failure: Failure, sentence: &str, has_result: bool) {
    let style = if failure == Failure::Interrupted { Style::Warning } else { Style::Bad };
    let head = findings::ending(failure, has_result);
    page.sentence(Line::default().with(style, head).with(style, ": "), style, sentence);
}
