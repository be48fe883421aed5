//! The sources of truth that figures are held to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a truth comes from that a figure does not know.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Against {
    /// What the command line asked for.
    Asked,
    /// What the links are like: delays, rates.
    Links,
    /// What the relay did to every frame.
    Ledger,
    /// The kernel's ping of the same minute.
    Ping,
    /// Each single ping in the file of the same run, sorted.
    Samples,
    /// Other figures of the same result, of which it must be the sum or the ratio.
    Figures,
    /// What the interfaces at the ends of links counted.
    Counters,
    /// Captures at both interfaces of a link, with the kernel's stamps.
    Captures,
    /// What the kernel's packet filter counted at both hosts.
    Filter,
    /// The same programs over a link that the kernel shapes.
    Shaper,
    /// One that this version does not know.
    #[default]
    #[serde(other)]
    Unknown,
}

impl Against {
    /// Every source there is.
    pub const ALL: [Self; 10] = [
        Self::Asked,
        Self::Links,
        Self::Ledger,
        Self::Ping,
        Self::Samples,
        Self::Figures,
        Self::Counters,
        Self::Captures,
        Self::Filter,
        Self::Shaper,
    ];

    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Asked => "what was asked for",
            Self::Links => "the links",
            Self::Ledger => "the relay's ledger",
            Self::Ping => "the kernel's ping",
            Self::Samples => "single samples",
            Self::Figures => "other figures",
            Self::Counters => "the interfaces' counters",
            Self::Captures => "packet captures",
            Self::Filter => "nft counters",
            Self::Shaper => "the kernel's tbf",
            Self::Unknown => "something else",
        }
    }
}
