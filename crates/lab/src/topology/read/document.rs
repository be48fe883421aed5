//! A TOML document as it is walked: entries in the order of the file, values of the expected kind, and
//! the faults that are found on the way. Knows nothing of topologies.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use crate::topology::fault::{Fault, Place, quoted};
use crate::topology::stated::Said;

/// The text, and what was found to be wrong with it.
pub(super) struct Document<'text> {
    text: &'text str,
    /// Where each line begins.
    lines: Vec<usize>,
    faults: Vec<Fault>,
}

/// A key and its value.
pub(super) struct Entry<'table> {
    pub key: &'table str,
    /// Where the key stands, in bytes from the start.
    pub at: usize,
    value: &'table DeValue<'table>,
    value_span: Range<usize>,
}

impl<'table> Entry<'table> {
    pub fn is_array(&self) -> bool {
        matches!(self.value, DeValue::Array(_))
    }

    pub fn is_table(&self) -> bool {
        matches!(self.value, DeValue::Table(_))
    }

    /// The entries of the value, in the order of the file; none where it is no table.
    pub fn table(&self) -> Vec<Entry<'table>> {
        if let DeValue::Table(table) = self.value { entries(table) } else { Vec::new() }
    }
}

/// The entries of a table in the order of the file.
pub(super) fn entries<'table>(table: &'table DeTable<'table>) -> Vec<Entry<'table>> {
    let entries = table.iter().map(|(key, value)| Entry {
        key: key.get_ref(),
        at: key.span().start,
        value: value.get_ref(),
        value_span: value.span(),
    });
    let mut entries: Vec<Entry> = entries.collect();
    entries.sort_by_key(|entry| entry.at);
    entries
}

impl<'text> Document<'text> {
    pub fn new(text: &'text str) -> Self {
        let starts = text.match_indices('\n').map(|(at, _)| at + 1);
        Self { text, lines: std::iter::once(0).chain(starts).collect(), faults: Vec::new() }
    }

    pub fn into_faults(self) -> Vec<Fault> {
        self.faults
    }

    pub fn fault(&mut self, at: usize, subject: &str, text: String) {
        let place = Some(self.place(at));
        self.faults.push(Fault { place, subject: subject.to_owned(), text });
    }

    /// What the parser itself objects to.
    pub fn syntax(&mut self, error: &toml::de::Error) {
        let at = error.span().map_or(0, |span| span.start);
        let text = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
        self.fault(at, "", format!("this is not TOML: {text}"));
    }

    /// Line and column of a place given in bytes.
    pub fn place(&self, at: usize) -> Place {
        let line = self.lines.partition_point(|start| *start <= at).max(1);
        let before = self.lines.get(line - 1).and_then(|start| self.text.get(*start..at));
        Place { line, column: before.map_or(0, |before| before.chars().count()) + 1 }
    }

    /// The value as text.
    pub fn text(&mut self, entry: &Entry, subject: &str) -> Option<Said> {
        let said = self.said(entry.value, entry.value_span.start);
        if said.is_none() {
            self.wrong_kind(entry, subject, "a text in quotes");
        }
        said
    }

    /// The value as one text or a list of them.
    pub fn texts(&mut self, entry: &Entry, subject: &str) -> Vec<Said> {
        let DeValue::Array(values) = entry.value else {
            return self.text(entry, subject).into_iter().collect();
        };
        let mut texts = Vec::new();
        for value in values {
            match self.said(value.get_ref(), value.span().start) {
                Some(said) => texts.push(said),
                None => self.not(entry.key, value.span(), subject, "a list of texts in quotes"),
            }
        }
        texts
    }

    /// The value as a number that is not negative.
    pub fn whole_number(&mut self, entry: &Entry, subject: &str) -> Option<u64> {
        let number = match entry.value {
            DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        if number.is_none() {
            self.wrong_kind(entry, subject, "a whole number from 0 on");
        }
        number
    }

    /// The value as true or false.
    pub fn truth(&mut self, entry: &Entry, subject: &str) -> Option<bool> {
        if let DeValue::Boolean(truth) = entry.value {
            return Some(*truth);
        }
        self.wrong_kind(entry, subject, "true or false");
        None
    }

    /// The entries of the value, in the order of the file.
    pub fn table<'table>(&mut self, entry: &Entry<'table>, subject: &str) -> Vec<Entry<'table>> {
        if !entry.is_table() {
            self.wrong_kind(entry, subject, "a table");
        }
        entry.table()
    }

    fn said(&self, value: &DeValue, at: usize) -> Option<Said> {
        let DeValue::String(text) = value else { return None };
        Some(Said { text: text.to_string(), place: Some(self.place(at)) })
    }

    pub fn wrong_kind(&mut self, entry: &Entry, subject: &str, wanted: &str) {
        self.not(entry.key, entry.value_span.clone(), subject, wanted);
    }

    fn not(&mut self, key: &str, span: Range<usize>, subject: &str, wanted: &str) {
        let at = span.start;
        let written = quoted(self.text.get(span).unwrap_or_default());
        self.fault(at, subject, format!("{}: {written} is not {wanted}", quoted(key)));
    }
}
