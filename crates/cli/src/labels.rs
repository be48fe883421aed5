//! What whoever starts an end says of it (`--label rack=7`): kept in results, and told apart by comparisons.

use std::collections::BTreeMap;
use std::str::FromStr;

use pathscope_core::quantity::shown;
use thiserror::Error;

/// The most labels of one end, and the most characters of a name and of a value: they travel with every session.
const MOST: usize = 32;
const MOST_NAME: usize = 64;
const MOST_VALUE: usize = 256;

/// A name and its value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Label {
    name: String,
    value: String,
}

/// Why a text is no label.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum LabelError {
    /// There is no name, or it is none.
    #[error(
        "'{}' is no label: write NAME=VALUE; a name has letters, digits, '-', '_' and '.', {MOST_NAME} at the most",
        shown(.0)
    )]
    Name(String),
    /// The value cannot be shown.
    #[error("'{}' has a value that is no label: {MOST_VALUE} characters at the most, on one line", shown(.0))]
    Value(String),
    /// There are too many, or two of one name.
    #[error("--label: {0}")]
    Labels(String),
}

impl FromStr for Label {
    type Err = LabelError;

    fn from_str(typed: &str) -> Result<Self, LabelError> {
        let (name, value) =
            typed.split_once('=').ok_or_else(|| LabelError::Name(typed.to_owned()))?;
        let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.');
        if name.is_empty() || name.len() > MOST_NAME || !name.chars().all(is_plain) {
            return Err(LabelError::Name(typed.to_owned()));
        }
        if value.chars().count() > MOST_VALUE || value.chars().any(char::is_control) {
            return Err(LabelError::Value(typed.to_owned()));
        }
        Ok(Self { name: name.to_owned(), value: value.to_owned() })
    }
}

/// All of an end, by their names.
pub fn labels(all: &[Label]) -> Result<BTreeMap<String, String>, LabelError> {
    if all.len() > MOST {
        let text = format!("{} are given, and {MOST} are the most", all.len());
        return Err(LabelError::Labels(text));
    }
    let mut labels = BTreeMap::new();
    for Label { name, value } in all {
        if labels.insert(name.clone(), value.clone()).is_some() {
            return Err(LabelError::Labels(format!("{name} is given twice")));
        }
    }
    Ok(labels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_a_name_and_its_value() {
        let label = |typed: &str| typed.parse::<Label>().map(|it| (it.name, it.value));
        let own = |name: &str, value: &str| Ok((name.to_owned(), value.to_owned()));
        assert_eq!(label("rack=7"), own("rack", "7"));
        assert_eq!(label("build.id=a=b c"), own("build.id", "a=b c"));
        assert_eq!(label("empty="), own("empty", ""));
        for typed in ["", "rack", "=7", "a b=1", "r\u{e4}ck=1"] {
            assert!(matches!(label(typed), Err(LabelError::Name(_))), "{typed}");
        }
        for typed in ["a=\u{1b}[31m".to_owned(), format!("a={}", "x".repeat(257))] {
            assert!(matches!(label(&typed), Err(LabelError::Value(_))), "{typed}");
        }
    }

    #[test]
    fn there_are_not_too_many_and_none_twice() {
        let of = |names: &[String]| {
            labels(
                &names.iter().map(|it| format!("{it}=1").parse().expect("one")).collect::<Vec<_>>(),
            )
        };
        let names: Vec<String> = (0..33).map(|it| format!("n{it}")).collect();
        assert_eq!(of(&names[..32]).expect("few enough").len(), 32);
        assert!(of(&names).expect_err("too many").to_string().contains("33 are given"));
        let twice = ["a".to_owned(), "a".to_owned()];
        assert!(of(&twice).expect_err("twice").to_string().contains("a is given twice"));
    }
}
