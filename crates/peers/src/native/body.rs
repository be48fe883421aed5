//! Bodies of messages: JSON from a stranger, made harmless before it becomes types.
//!
//! What a stranger says may reach a terminal, so no control character survives; lists and texts are cut
//! off by an error or an ellipsis before they fill memory. Unknown fields are ignored.

use serde::de::DeserializeOwned;
use serde_json::Value;
use thiserror::Error;

/// Entries of a list. The longest that is ever sent is a distribution's, of some 27,000 buckets.
const LIST_MOST: usize = 32_768;
/// Characters of a text.
const TEXT_MOST: usize = 2_000;

/// Why a body cannot be read.
#[derive(Debug, Error)]
pub enum BodyError {
    /// Not the JSON that was expected.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// More entries than any list has.
    #[error("a list of {0} entries is longer than {LIST_MOST}")]
    LongList(usize),
    /// The name of a field is no name.
    #[error("a field has a name that is too long or holds control characters")]
    WildName,
}

/// Reads a body.
pub(super) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, BodyError> {
    let mut value: Value = serde_json::from_slice(bytes)?;
    tame(&mut value)?;
    Ok(serde_json::from_value(value)?)
}

/// Recursion is bounded: `serde_json` reads no deeper than 128 levels.
fn tame(value: &mut Value) -> Result<(), BodyError> {
    match value {
        Value::String(text) => {
            if !is_tame(text) {
                *text = tamed(text);
            }
            Ok(())
        }
        Value::Array(entries) if entries.len() > LIST_MOST => {
            Err(BodyError::LongList(entries.len()))
        }
        Value::Array(entries) => entries.iter_mut().try_for_each(tame),
        // Error messages quote names.
        Value::Object(fields) if !fields.keys().all(|name| is_tame(name)) => {
            Err(BodyError::WildName)
        }
        Value::Object(fields) => fields.values_mut().try_for_each(tame),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

fn is_tame(text: &str) -> bool {
    text.len() <= TEXT_MOST && !text.chars().any(is_wild)
}

fn tamed(text: &str) -> String {
    let wild_replaced = |character| if is_wild(character) { '\u{fffd}' } else { character };
    let mut short: String = text.chars().take(TEXT_MOST).map(wild_replaced).collect();
    if text.chars().nth(TEXT_MOST).is_some() {
        short.push('…');
    }
    short
}

/// Moves a cursor, colours, rings, or turns the direction of what follows (Unicode TR 9).
fn is_wild(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_a_terminal_survives() {
        let text: String = read(br#""a\u001b[2Jb\u009bc\u202ed\n""#).expect("a text");
        assert_eq!(text, "a\u{fffd}[2Jb\u{fffd}c\u{fffd}d\u{fffd}");
        let nested: Vec<Vec<String>> = read(br#"[["\u0007"]]"#).expect("texts");
        assert_eq!(nested, [["\u{fffd}"]]);
        let name = read::<Value>(br#"[{"\u001b":1}]"#).expect_err("an escape in a name");
        assert!(matches!(name, BodyError::WildName));
    }

    #[test]
    fn long_texts_are_cut_and_long_lists_refused() {
        let long = format!("\"{}\"", "é".repeat(TEXT_MOST + 1));
        let text: String = read(long.as_bytes()).expect("a text");
        assert_eq!(text.chars().count(), TEXT_MOST + 1);
        assert!(text.ends_with('…'));
        let list = format!("[{}0]", "0,".repeat(LIST_MOST));
        let error = read::<Vec<u8>>(list.as_bytes()).expect_err("a long list");
        assert_eq!(error.to_string(), "a list of 32769 entries is longer than 32768");
    }

    #[test]
    fn depth_is_an_error_and_no_overflow() {
        assert!(read::<Value>("[".repeat(100_000).as_bytes()).is_err());
    }

    #[test]
    fn whole_numbers_keep_all_their_digits() {
        let number: u64 = read(b"18446744073709551615").expect("a number");
        assert_eq!(number, u64::MAX);
    }
}
