//! A TOML document as it is walked: entries in the order of the file, values of the expected kind, and
//! the faults that are found on the way. Knows nothing of what it describes.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::fault::{Fault, Place, instead, quoted};

/// More is not a description that somebody wrote, and is not looked at.
const MOST_BYTES: usize = 1 << 20;
/// So many places that are not TOML tell that a file is something else.
const MOST_SYNTAX_FAULTS: usize = 5;

/// Words, and where they stand.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Said {
    /// The words.
    pub text: String,
    /// Where; what was said in code has no place.
    pub place: Option<Place>,
}

impl Said {
    /// Words of a program.
    pub fn in_code(text: &str) -> Self {
        Self { text: text.to_owned(), place: None }
    }
}

/// The text, and what was found to be wrong with it.
#[derive(Debug)]
pub struct Document<'text> {
    text: &'text str,
    /// Where each line begins.
    lines: Vec<usize>,
    faults: Vec<Fault>,
}

/// A key and its value.
#[derive(Clone, Debug)]
pub struct Entry<'table> {
    /// The key.
    pub key: &'table str,
    /// Where the key stands, in bytes from the start.
    pub at: usize,
    value: &'table DeValue<'table>,
    value_span: Range<usize>,
}

/// One of a list of tables.
#[derive(Clone, Debug)]
pub struct Table<'table> {
    /// Where it begins, in bytes from the start.
    pub at: usize,
    /// Its entries in the order of the file.
    pub entries: Vec<Entry<'table>>,
}

impl<'table> Entry<'table> {
    /// Whether the value is a list.
    pub fn is_array(&self) -> bool {
        matches!(self.value, DeValue::Array(_))
    }

    /// Whether the value is a table.
    pub fn is_table(&self) -> bool {
        matches!(self.value, DeValue::Table(_))
    }

    /// The entries of the value, in the order of the file; none where it is no table.
    pub fn table(&self) -> Vec<Entry<'table>> {
        if let DeValue::Table(table) = self.value { entries(table) } else { Vec::new() }
    }
}

/// The entries of a table in the order of the file.
pub fn entries<'table>(table: &'table DeTable<'table>) -> Vec<Entry<'table>> {
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
    /// A text, and its table where it is TOML. `what` is what it is to describe: `a topology`.
    pub fn read(text: &'text str, what: &str) -> (Self, Option<DeTable<'text>>) {
        let starts = text.match_indices('\n').map(|(at, _)| at + 1);
        let lines = std::iter::once(0).chain(starts).collect();
        let mut document = Self { text, lines, faults: Vec::new() };
        if text.len() > MOST_BYTES {
            let text = format!("the file is larger than {MOST_BYTES} bytes; is it {what}?");
            document.fault(0, "", text);
            return (document, None);
        }
        let (table, errors) = DeTable::parse_recoverable(text);
        let (told, more) = errors.split_at(errors.len().min(MOST_SYNTAX_FAULTS));
        for error in told {
            document.syntax(error);
        }
        if let Some(next) = more.first() {
            let text = format!("and {} more like these; is this {what}?", more.len());
            document.fault(next.span().map_or(0, |span| span.start), "", text);
        }
        // What was recovered from broken syntax is guessed: faults of guesses would mislead.
        let is_toml = errors.is_empty();
        (document, is_toml.then(|| table.into_inner()))
    }

    /// Whether nothing was found to be wrong so far.
    pub fn is_right(&self) -> bool {
        self.faults.is_empty()
    }

    /// What was found to be wrong.
    pub fn into_faults(self) -> Vec<Fault> {
        self.faults
    }

    /// Something at a place, given in bytes, is wrong.
    pub fn fault(&mut self, at: usize, subject: &str, text: String) {
        let place = Some(self.place(at));
        self.faults.push(Fault { place, subject: subject.to_owned(), text });
    }

    /// What the parser itself objects to.
    fn syntax(&mut self, error: &toml::de::Error) {
        let at = error.span().map_or(0, |span| span.start);
        let text = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
        self.fault(at, "", format!("this is not TOML: {text}"));
    }

    /// The key as words.
    pub fn said_key(&self, entry: &Entry) -> Said {
        Said { text: entry.key.to_owned(), place: Some(self.place(entry.at)) }
    }

    /// A key that there is not.
    pub fn unknown_key(&mut self, entry: &Entry, subject: &str, allowed: &[&str]) {
        let what = if allowed.len() == 1 { "is only" } else { "are" };
        let instead = instead(entry.key, what, allowed.iter().copied());
        self.fault(entry.at, subject, format!("there is no key {}{instead}", quoted(entry.key)));
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

    /// The tables of a list of tables, in the order of the file; none where the value is no such list.
    pub fn tables<'table>(&mut self, entry: &Entry<'table>, subject: &str) -> Vec<Table<'table>> {
        let DeValue::Array(values) = entry.value else {
            self.wrong_kind(entry, subject, "a list of tables");
            return Vec::new();
        };
        let mut tables = Vec::new();
        for value in values {
            if let DeValue::Table(table) = value.get_ref() {
                tables.push(Table { at: value.span().start, entries: entries(table) });
            } else {
                self.not(entry.key, value.span(), subject, "a list of tables");
            }
        }
        tables
    }

    fn said(&self, value: &DeValue, at: usize) -> Option<Said> {
        let DeValue::String(text) = value else { return None };
        Some(Said { text: text.to_string(), place: Some(self.place(at)) })
    }

    /// The value is of another kind than is wanted.
    pub fn wrong_kind(&mut self, entry: &Entry, subject: &str, wanted: &str) {
        self.not(entry.key, entry.value_span.clone(), subject, wanted);
    }

    fn not(&mut self, key: &str, span: Range<usize>, subject: &str, wanted: &str) {
        let at = span.start;
        let written = quoted(self.text.get(span).unwrap_or_default());
        self.fault(at, subject, format!("{}: {written} is not {wanted}", quoted(key)));
    }
}
