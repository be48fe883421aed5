//! How a thread waits for bytes: a choice of the user that both ends follow.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a thread waits for what it wants.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Wait {
    /// Ask again and again; never leave the processor.
    Spin,
    /// Sleep in the kernel until something comes.
    Sleep,
    /// Sleep, but wake ahead of a timer and spin the rest; spin a little before sleeping.
    Hybrid,
    /// Left to pathscope; the result says what ran.
    #[default]
    Auto,
}

impl Wait {
    /// The choices as they are typed.
    pub const NAMES: [&'static str; 4] = ["spin", "sleep", "hybrid", "auto"];

    /// As it is typed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Spin => "spin",
            Self::Sleep => "sleep",
            Self::Hybrid => "hybrid",
            Self::Auto => "auto",
        }
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for Wait {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        [Self::Spin, Self::Sleep, Self::Hybrid, Self::Auto]
            .into_iter()
            .find(|wait| wait.name() == typed)
            .ok_or_else(|| {
                format!("'{typed}' is no way to wait; choose {}", Self::NAMES.join(", "))
            })
    }
}
