//! What follows from figures in words, the same in every view for people.

use pathscope_core::error::Failure;
use pathscope_core::record::{Check, Verdict};

use crate::view::Detail;

/// How a run ended that did not end well, in a few words.
pub const fn ending(failure: Failure, has_result: bool) -> &'static str {
    match failure {
        Failure::Interrupted => "ended early",
        Failure::Check => "check failed",
        Failure::Peer if has_result => "lost the peer",
        Failure::Peer => "no result",
        Failure::Output => "output not written",
        Failure::Unsupported => "not possible on this machine",
        Failure::Usage => "cannot be run",
        Failure::Internal => "a bug of pathscope",
    }
}

/// What a verdict rests on: the figures that decided it, or all of them where they are wanted or none is marked.
pub fn evidence(verdict: &Verdict, detail: Detail) -> String {
    let shows_all = detail == Detail::Full || verdict.evidence.iter().all(|it| !it.decides);
    let shown = verdict.evidence.iter().filter(|evidence| shows_all || evidence.decides);
    let shown: Vec<_> = shown.map(|evidence| or_name(&evidence.text, &evidence.name)).collect();
    shown.join(" · ")
}

/// The text, or where there is none what the thing is called.
pub fn or_name(text: &str, name: &str) -> String {
    if text.trim().is_empty() { words_of(name) } else { text.to_owned() }
}

/// A check of which nobody can know whether it held.
pub fn unknown(check: &Check) -> String {
    format!("unknown: {}: {}", words_of(&check.name), check.text)
}

/// A stable name as words: `counts_agree` is `counts agree`.
pub fn words_of(name: &str) -> String {
    name.replace('_', " ")
}
