//! One link as a file states it.

use crate::description::{Document, Entry, Place, Said, named, quoted};
use crate::link::{Change, Conditions, ConditionsError, Order};
use crate::topology::stated::StatedLink;

/// The keys that say what a link does to frames.
pub(super) const CONDITIONS: [&str; 8] =
    ["rate", "delay", "jitter", "queue", "loss", "dup", "corrupt", "reorder"];
const OTHERS: [&str; 5] = ["forward", "backward", "subnet", "addresses", "mtu"];

/// The link, unless its name says too little to tell its ends.
pub(super) fn link(document: &mut Document, entry: &Entry) -> Option<StatedLink> {
    let subject = named("link", entry.key);
    let ends = ends(entry.key);
    if ends.is_none() {
        let text = format!(
            "{} names no link; write \"a:b\" for one between the nodes a and b, \"a:b#2\" for another",
            quoted(entry.key)
        );
        document.fault(entry.at, "", text);
    }
    let name = document.said_key(entry);
    let mut link = StatedLink::between(name, ends.unwrap_or_default());
    let mut words = Words { both: Vec::new(), forward: Vec::new(), backward: Vec::new() };
    for word in document.table(entry, &subject) {
        match word.key {
            "subnet" => link.subnets = document.texts(&word, &subject),
            "addresses" => link.addresses = addresses(document, &word, &subject),
            "mtu" => link.mtu = mtu(document, &word, &subject),
            "forward" => words.forward = way(document, &word, &subject),
            "backward" => words.backward = way(document, &word, &subject),
            key if CONDITIONS.contains(&key) => {
                words.both.extend(condition(document, &word, &subject));
            }
            _ => {
                let keys = [&CONDITIONS[..], &OTHERS].concat();
                document.unknown_key(&word, &subject, &keys);
            }
        }
    }
    link.forward = words.conditions(document, &words.forward, &subject);
    link.backward = words.conditions(document, &words.backward, &subject);
    ends.map(|_| link)
}

/// The nodes that a link's name names: `a:b`, or `a:b#label`.
fn ends(name: &str) -> Option<[&str; 2]> {
    let (ends, label) = name.split_once('#').unwrap_or((name, "1"));
    let (one, other) = ends.split_once(':')?;
    // A name stands on a command line.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let are_words = [one, other, label].iter().all(|it| !it.is_empty() && it.bytes().all(is_plain));
    are_words.then_some([one, other])
}

fn addresses(document: &mut Document, entry: &Entry, subject: &str) -> Vec<(Said, Said)> {
    let mut addresses = Vec::new();
    for end in document.table(entry, subject) {
        let name = document.said_key(&end);
        addresses
            .extend(document.texts(&end, subject).into_iter().map(|said| (name.clone(), said)));
    }
    addresses
}

fn mtu(document: &mut Document, entry: &Entry, subject: &str) -> Option<(u32, Option<Place>)> {
    let mtu = document.whole_number(entry, subject)?;
    // What is too large for the type is too large for the range, which is judged later.
    Some((u32::try_from(mtu).unwrap_or(u32::MAX), Some(document.place(entry.at))))
}

/// What was said of both directions and of each.
struct Words {
    both: Vec<Word>,
    forward: Vec<Word>,
    backward: Vec<Word>,
}

/// One condition that was understood, and where it stands.
struct Word {
    change: Change,
    key: String,
    at: usize,
}

impl Words {
    /// The conditions of one direction: what was said of it alone goes before what was said of both.
    fn conditions(&self, document: &mut Document, own: &[Word], subject: &str) -> Conditions {
        let words = || self.both.iter().chain(own);
        let change = words().fold(Change::default(), |all, word| over(all, word.change));
        Conditions::default().after(&change).unwrap_or_else(|error| {
            let key = key(&error);
            let word = words().rfind(|word| Some(word.key.as_str()) == key);
            let at = word.or_else(|| words().next()).map_or(0, |word| word.at);
            document.fault(at, subject, explained(&error));
            Conditions::default()
        })
    }
}

fn way(document: &mut Document, entry: &Entry, subject: &str) -> Vec<Word> {
    let subject = format!("{subject}: {}", entry.key);
    let mut words = Vec::new();
    for word in document.table(entry, &subject) {
        if CONDITIONS.contains(&word.key) {
            words.extend(condition(document, &word, &subject));
        } else {
            document.unknown_key(&word, &subject, &CONDITIONS);
        }
    }
    words
}

fn condition(document: &mut Document, entry: &Entry, subject: &str) -> Option<Word> {
    let said = document.text(entry, subject)?;
    let typed = format!("{}={}", entry.key, said.text);
    match Order::from_words([typed.as_str()]) {
        Ok(Order::Change(change)) => Some(Word { change, key: entry.key.to_owned(), at: entry.at }),
        Ok(Order::Cut | Order::Restore) => None,
        Err(error) => {
            document.fault(entry.at, subject, explained(&error));
            None
        }
    }
}

/// `first`, and what `second` says instead.
fn over(first: Change, second: Change) -> Change {
    Change {
        rate: second.rate.or(first.rate),
        delay: second.delay.or(first.delay),
        jitter: second.jitter.or(first.jitter),
        queue: second.queue.or(first.queue),
        loss: second.loss.or(first.loss),
        duplication: second.duplication.or(first.duplication),
        corruption: second.corruption.or(first.corruption),
        reordering: second.reordering.or(first.reordering),
    }
}

fn key(error: &ConditionsError) -> Option<&'static str> {
    match error {
        ConditionsError::OutOfRange { key, .. }
        | ConditionsError::Word { key, .. }
        | ConditionsError::Twice { key } => Some(key),
        ConditionsError::NoSuchWord { .. } | ConditionsError::Nothing => None,
    }
}

/// Behind the name of a link; the error's own text reads behind "failed to".
pub(in super::super) fn explained(error: &ConditionsError) -> String {
    match error {
        ConditionsError::OutOfRange { key, value, range, remedy } => {
            format!("{key} = {value}: {range}; {remedy}")
        }
        ConditionsError::Word { key, fault } => format!("{key}: {fault}"),
        other => format!("cannot {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_are_those_of_a_change() {
        let shown = Conditions::default().to_string();
        let keys: Vec<&str> =
            shown.split(' ').filter_map(|word| Some(word.split_once('=')?.0)).collect();
        assert_eq!(keys, CONDITIONS);
    }

    #[test]
    fn a_name_tells_the_ends() {
        assert_eq!(ends("a:b"), Some(["a", "b"]));
        assert_eq!(ends("a:b#wifi"), Some(["a", "b"]));
        for name in ["", "a", "a:", ":b", "a:b#", "a:b:c", "#2", "a:b c", "a:b#é", "a:b#1#2"] {
            assert_eq!(ends(name), None, "{name}");
        }
    }
}
