//! What follows from the figures: checks, verdict, caveats, and how the run ended.

use pathscope_core::error::Failure;
use pathscope_core::record::{Caveat, Check, Verdict};

use super::line::{Line, Style};
use super::page::Page;
use crate::view::Detail;

/// Adds the checks that failed, each so that it cannot be missed.
pub fn failed_checks(page: &mut Page, checks: &[Check]) {
    for check in checks.iter().filter(|check| !check.passed) {
        let line = Line::indented(2).with(Style::Bad, "✗ FAILED").with(Style::Plain, "  ");
        page.sentence(line, Style::Bad, &format!("{}: {}", words_of(&check.name), check.text));
    }
}

/// Adds the checks that held.
pub fn passed_checks(page: &mut Page, checks: &[Check]) {
    for check in checks.iter().filter(|check| check.passed) {
        let line = Line::indented(2).with(Style::Good, "✓").with(Style::Plain, " ");
        page.sentence(line, Style::Plain, &or_name(&check.text, &check.name));
    }
}

/// Adds what limited the run in one strong sentence, and below it what that rests on: the figures that decided it, or
/// all of them where they are wanted or none is marked.
pub fn verdict(page: &mut Page, verdict: &Verdict, detail: Detail) {
    let line = Line::indented(2).with(Style::Strong, "→").with(Style::Plain, " ");
    page.sentence(line, Style::Strong, &verdict.text);
    let shows_all = detail == Detail::Full || verdict.evidence.iter().all(|it| !it.decides);
    let shown = verdict.evidence.iter().filter(|evidence| shows_all || evidence.decides);
    let evidence: Vec<_> = shown.map(|evidence| or_name(&evidence.text, &evidence.name)).collect();
    if !evidence.is_empty() {
        page.sentence(Line::indented(4), Style::Plain, &evidence.join(" · "));
    }
}

/// Adds what to mind.
pub fn caveats(page: &mut Page, caveats: &[Caveat]) {
    caveats.iter().for_each(|caveat| self::caveat(page, caveat));
}

/// Adds one thing to mind.
pub fn caveat(page: &mut Page, caveat: &Caveat) {
    let line = Line::indented(2).with(Style::Warning, "!").with(Style::Plain, " ");
    page.sentence(line, Style::Plain, &or_name(&caveat.text, &caveat.name));
}

/// Adds how the run ended, if not well.
pub fn failure(page: &mut Page, failure: Failure, sentence: &str, has_result: bool) {
    let (style, head) = match failure {
        Failure::Interrupted => (Style::Warning, "ended early"),
        Failure::Check => (Style::Bad, "check failed"),
        Failure::Peer if has_result => (Style::Bad, "lost the peer"),
        Failure::Peer => (Style::Bad, "no result"),
        Failure::Output => (Style::Bad, "output not written"),
        Failure::Unsupported => (Style::Bad, "not possible on this machine"),
        Failure::Usage => (Style::Bad, "cannot be run"),
        Failure::Internal => (Style::Bad, "a bug of pathscope"),
    };
    page.sentence(Line::default().with(style, head).with(style, ": "), style, sentence);
}

/// The text, or where there is none what the thing is called.
fn or_name(text: &str, name: &str) -> String {
    if text.trim().is_empty() { words_of(name) } else { text.to_owned() }
}

/// A stable name as words: `counts_agree` is `counts agree`.
fn words_of(name: &str) -> String {
    name.replace('_', " ")
}
