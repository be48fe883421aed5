//! What a link cannot be like, and what cannot be understood of it.

use thiserror::Error;

use super::words::WordError;

/// Why conditions cannot be.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum ConditionsError {
    /// One is outside of its range.
    #[error("set {key}={value}: {range}; {remedy}")]
    OutOfRange {
        /// The key as it is typed.
        key: &'static str,
        /// Its value as it is typed.
        value: String,
        /// What is allowed.
        range: &'static str,
        /// What to do instead.
        remedy: &'static str,
    },
    /// A word for one could not be understood.
    #[error("set {key}: {fault}")]
    Word {
        /// The key as it is typed.
        key: &'static str,
        /// What is wrong.
        fault: WordError,
    },
    /// Not a word about a link.
    #[error(
        "understand '{typed}' of a link; write KEY=VALUE with a key of {keys}, or 'cut' or 'restore' alone"
    )]
    NoSuchWord {
        /// What was typed.
        typed: String,
        /// The keys there are.
        keys: String,
    },
    /// The same key twice: which of them is meant?
    #[error("set {key} twice at once; write it once")]
    Twice {
        /// The key as it is typed.
        key: &'static str,
    },
    /// Nothing was typed.
    #[error("change a link by nothing; write for example delay=20ms loss=1%")]
    Nothing,
}
