//! What an end of a toy's test counts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::sums::add_fields;

/// What an end has counted: since its last word, in an interval, in all.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct ToyCounts {
    /// Numbers that left.
    pub sent: u64,
    /// Of those, that left after the next one was due.
    pub late: u64,
    /// Numbers that came.
    pub received: u64,
    /// Of those, that were not the ones that were due.
    pub wrong: u64,
}

impl ToyCounts {
    /// With what another counted.
    pub fn merge(&mut self, other: &Self) {
        add_fields!(self, other; sent, late, received, wrong);
    }
}
