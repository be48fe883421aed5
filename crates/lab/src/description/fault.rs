//! What is wrong with a description: where, with what, and what is allowed.
//!
//! A fault is a text and not a variant of an enum: it is read by the person who writes the
//! description, and nobody decides anything by its kind.

use std::fmt;

use pathscope_core::edits::edits;
use thiserror::Error;

/// At most so many faults are told at once; a description with more has one cause for many.
pub const MOST_FAULTS: usize = 20;

/// Where something stands in a file.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Place {
    /// Lines, counted from 1.
    pub line: usize,
    /// Characters of the line, counted from 1.
    pub column: usize,
}

/// One thing that is wrong.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Fault {
    /// Where; a description that was built in code has no places.
    pub place: Option<Place>,
    /// With what: `link r1:r2`, or nothing where the place says it all.
    pub subject: String,
    /// What is wrong and what is allowed: a lower-case fragment that reads after the subject.
    pub text: String,
}

/// All that is wrong with a description, in the order of the file, and never nothing.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub struct Faults {
    source_name: String,
    first: Vec<Fault>,
    more: usize,
}

impl Faults {
    /// Of `found`, the first [`MOST_FAULTS`]; none where nothing was found.
    pub fn of(source_name: &str, mut found: Vec<Fault>) -> Option<Self> {
        found.sort();
        // A word that is said of both directions is wrong in both.
        found.dedup();
        let more = found.len().saturating_sub(MOST_FAULTS);
        found.truncate(MOST_FAULTS);
        let source_name = source_name.to_owned();
        (!found.is_empty()).then_some(Self { source_name, first: found, more })
    }

    /// The faults that are told, at most [`MOST_FAULTS`].
    pub fn first(&self) -> &[Fault] {
        &self.first
    }

    /// How many there are beside those.
    pub fn more(&self) -> usize {
        self.more
    }
}

/// A line for each: `labs/x.toml:12:2: link r1:r9: there is no node …`.
impl fmt::Display for Faults {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.first.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(formatter, "{separator}{}:", self.source_name)?;
            if let Some(place) = fault.place {
                write!(formatter, "{}:{}:", place.line, place.column)?;
            }
            if !fault.subject.is_empty() {
                write!(formatter, " {}:", fault.subject)?;
            }
            write!(formatter, " {}", fault.text)?;
        }
        match self.more {
            0 => Ok(()),
            more => write!(formatter, "\n{}: and {more} more", self.source_name),
        }
    }
}

/// What somebody wrote, in back quotes, on one line and not too long.
pub fn quoted(text: &str) -> String {
    const MOST: usize = 40;
    let shown: String = text.chars().take(MOST).flat_map(char::escape_debug).collect();
    let rest = if text.chars().nth(MOST).is_some() { "…" } else { "" };
    format!("`{}{rest}`", shown.replace("\\'", "'"))
}

/// A kind of thing and its name, on one line and not too long: `link r1:r2`.
pub fn named(kind: &str, name: &str) -> String {
    format!("{kind} {}", quoted(name).trim_matches('`'))
}

/// What there is instead of what was typed: `; did you mean `rate`? The keys are …`.
pub fn instead<'name>(
    typed: &str,
    what: &str,
    known: impl IntoIterator<Item = &'name str> + Clone,
) -> String {
    let names = listed(known.clone());
    match suggestion(typed, known) {
        Some(name) => format!("; did you mean `{name}`? There {what} {names}"),
        None => format!("; there {what} {names}"),
    }
}

/// Names in a sentence: `r1, r2, r3`, and no more than sixteen of them.
pub fn listed<'name>(names: impl IntoIterator<Item = &'name str>) -> String {
    const MOST: usize = 16;
    let mut names: Vec<&str> = names.into_iter().take(MOST + 1).collect();
    if names.len() > MOST {
        names[MOST] = "…";
    }
    names.join(", ")
}

/// The one of `known` that is nearer to `typed` than all others, and near at all.
fn suggestion<'name>(
    typed: &str,
    known: impl IntoIterator<Item = &'name str>,
) -> Option<&'name str> {
    let typed_length = typed.chars().take(33).count();
    if typed_length > 32 {
        return None;
    }
    let typed = typed.to_ascii_lowercase();
    let distance = |name: &str| edits(&typed, &name.to_ascii_lowercase());
    let mut ranked: Vec<(usize, &str)> =
        known.into_iter().map(|name| (distance(name), name)).collect();
    ranked.sort_unstable();
    match ranked.as_slice() {
        [(nearest, _), (next, _), ..] if nearest == next => None,
        [(nearest, name), ..] if *nearest <= 2 && nearest * 2 <= typed_length => Some(name),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested_if_it_is_near() {
        let keys = ["rate", "delay", "queue", "loss"];
        assert_eq!(suggestion("rte", keys), Some("rate"));
        assert_eq!(suggestion("Delay", keys), Some("delay"));
        assert_eq!(suggestion("bandwidth", keys), None);
        assert_eq!(suggestion("btea", ["alpha", "beta"]), Some("beta"));
        // A name of one letter is near to all others, and a tie says nothing.
        assert_eq!(suggestion("c", ["a"]), None);
        assert_eq!(suggestion("r9", ["r1", "r2"]), None);
        assert_eq!(suggestion(&"x".repeat(1 << 20), keys), None);
    }

    #[test]
    fn what_was_written_stays_on_one_line() {
        assert_eq!(quoted("a'b\n"), "`a'b\\n`");
        assert_eq!(quoted(&"x".repeat(41)), format!("`{}…`", "x".repeat(40)));
    }

    #[test]
    fn no_more_than_twenty_are_told_and_the_rest_is_counted() {
        let fault = |line| Fault {
            place: Some(Place { line, column: 1 }),
            subject: String::new(),
            text: "it is wrong".to_owned(),
        };
        let faults = Faults::of("x.toml", (1..=23).rev().map(fault).collect()).expect("some");
        assert_eq!((faults.first().len(), faults.more()), (20, 3));
        let text = faults.to_string();
        assert!(text.starts_with("x.toml:1:1: it is wrong\nx.toml:2:1:"), "{text}");
        assert!(text.ends_with("\nx.toml: and 3 more"), "{text}");
        assert_eq!(Faults::of("x.toml", Vec::new()), None);
    }
}
