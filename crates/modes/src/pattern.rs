//! What every payload byte must be, and what a wrong one says.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A stretch of wrong bytes: where, how long, and of what nature.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Corruption {
    /// Position of the first wrong byte in the stream of its direction.
    pub offset_bytes: u64,
    /// From the first to the last wrong byte that was looked at, inclusive.
    pub length_bytes: u64,
    /// What kind of damage it is.
    pub nature: Nature,
}

/// What kind of damage.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Nature {
    /// Single bits differ here and there.
    BitFlip {
        /// How many bits.
        bits: u32,
    },
    /// The stream's own data from another position: lost (positive) or repeated (negative) bytes.
    Shifted {
        /// By how many bytes the data is ahead of its place.
        by_bytes: i64,
    },
    /// Data of another flow of the same session, or of its other direction.
    OtherFlow {
        /// Which flow.
        flow: u32,
        /// Whether it is of the direction that the client sends.
        from_client: bool,
    },
    /// Nothing that a flow of this session sends.
    Foreign,
    /// A nature that this version does not know.
    #[serde(other)]
    Unknown,
}
