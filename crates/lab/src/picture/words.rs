//! What is said of a link: the words of its conditions that do something.

use crate::link::Conditions;

/// Key and value of each condition that differs from doing nothing, as they would be typed.
pub(super) fn words(conditions: &Conditions) -> Vec<(String, String)> {
    let all = conditions.to_string();
    let nothing = Conditions::default().to_string();
    let differs = all.split(' ').zip(nothing.split(' ')).filter(|(word, default)| word != default);
    let pairs = differs.filter_map(|(word, _)| word.split_once('='));
    pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

/// Words in lines of at most `width` characters, but for words that are longer.
pub(super) fn wrapped(words: &[String], separator: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        let length = |text: &str| text.chars().count();
        match lines.last_mut() {
            Some(line) if length(line) + length(separator) + length(word) <= width => {
                line.push_str(separator);
                line.push_str(word);
            }
            _ => lines.push(word.clone()),
        }
    }
    lines
}
