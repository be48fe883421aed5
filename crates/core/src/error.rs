//! What every failure tells the user, whichever room it comes from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What kind of trouble a failure is. Decides the exit code, in one place: [`Failure::exit_code`].
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// A bug of ours.
    Internal,
    /// The command line cannot mean anything.
    Usage,
    /// The peer was not reached, refused, or was lost.
    Peer,
    /// This machine cannot do what was asked.
    Unsupported,
    /// It was measured, and a check failed.
    Check,
    /// It was measured, and an output could not be written.
    Output,
    /// The user ended it; what was measured was saved.
    Interrupted,
}

impl Failure {
    /// The process's exit code.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Internal => 1,
            Self::Usage => 2,
            Self::Peer => 3,
            Self::Unsupported => 4,
            Self::Check => 5,
            Self::Output => 6,
            Self::Interrupted => 130,
        }
    }

    /// The failure that has this exit code, if it is one of ours.
    pub fn of_exit_code(code: u8) -> Option<Self> {
        let all = [
            Self::Internal,
            Self::Usage,
            Self::Peer,
            Self::Unsupported,
            Self::Check,
            Self::Output,
            Self::Interrupted,
        ];
        all.into_iter().find(|failure| failure.exit_code() == code)
    }

    /// Of several failures of one run, the one that the exit code tells: interrupted, then peer, then
    /// check, then output; before them what kept the run from starting at all.
    pub fn gravest(failures: impl IntoIterator<Item = Self>) -> Option<Self> {
        failures.into_iter().min_by_key(|failure| match failure {
            Self::Internal => 0,
            Self::Usage => 1,
            Self::Unsupported => 2,
            Self::Interrupted => 3,
            Self::Peer => 4,
            Self::Check => 5,
            Self::Output => 6,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_code_tells_its_failure() {
        for code in [1, 2, 3, 4, 5, 6, 130] {
            assert_eq!(Failure::of_exit_code(code).map(Failure::exit_code), Some(code));
        }
        assert_eq!([0, 7, 255].map(Failure::of_exit_code), [None; 3]);
    }

    #[test]
    fn of_several_failures_the_exit_code_tells_the_gravest() {
        use Failure::{Check, Interrupted, Output, Peer};
        assert_eq!(Failure::gravest([Output, Check, Peer, Interrupted]), Some(Interrupted));
        assert_eq!(Failure::gravest([Output, Check, Peer]), Some(Peer));
        assert_eq!(Failure::gravest([Output, Check]), Some(Check));
        assert_eq!(Failure::gravest([]), None);
    }
}
