//! A multipath test as it runs: stated by the client, sent to the server, stored in the result.

use pathscope_core::quantity::{BitRate, Bytes, Period};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::limits::{GROUPING, LATE_BY};
use crate::echoed::HEADER_BYTES;
use crate::limits::{self, PlanError};

/// Paths of one test.
pub const MOST_PATHS: u8 = 8;

/// Everything about a multipath test that both ends must know.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct MultipathPlan {
    /// Payload bits a second, before they are doubled.
    pub rate_bps: BitRate,
    /// Datagrams that leave together.
    pub grouping: u32,
    /// Payload of one datagram.
    pub datagram_bytes: Bytes,
    /// How long datagrams are sent.
    pub duration_ns: Period,
    /// The client's interfaces as they were named, the primary first. None: the one that the route to the
    /// server leads over, and whatever others reach it.
    #[serde(default)]
    pub paths: Vec<String>,
    /// The most paths at a time.
    pub lanes: u8,
    /// Which path sends first.
    #[serde(default)]
    pub order: SendOrder,
    /// Of the policy that duplicates late: for how long it waits for the primary.
    pub late_by_ns: Period,
}

/// Which path sends a datagram first.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SendOrder {
    /// The primary, always.
    #[default]
    PrimaryFirst,
    /// Each in its turn, so that none has the advantage of leaving earlier.
    Alternate,
}

impl SendOrder {
    /// The orders with their names as typed.
    pub const ALL: [(&'static str, Self); 2] =
        [("primary-first", Self::PrimaryFirst), ("alternate", Self::Alternate)];

    /// As it is typed.
    pub fn name(self) -> &'static str {
        limits::name_of(&Self::ALL, self)
    }
}

impl MultipathPlan {
    /// Whether this can be run: everything in its range, nothing contradictory.
    pub(super) fn check(&self) -> Result<(), PlanError> {
        limits::in_range("--rate", self.rate_bps, &limits::RATE)?;
        limits::in_range("--grouping", u64::from(self.grouping), &GROUPING)?;
        let sizes = Bytes(HEADER_BYTES as u64)..=Bytes(65_507);
        limits::in_range("--datagram", self.datagram_bytes, &sizes)?;
        limits::in_range("--duration", self.duration_ns, &limits::DURATION)?;
        limits::in_range("--late-by", self.late_by_ns, &LATE_BY)?;
        let most = u64::from(MOST_PATHS);
        limits::in_range("number of --path", self.paths.len() as u64, &(0..=most))?;
        limits::in_range("paths", u64::from(self.lanes), &(1..=most))?;
        for (index, path) in self.paths.iter().enumerate() {
            limits::interface("--path", Some(path))?;
            let advice = "each path is an interface of its own: name it once";
            let is_again = self.paths[..index].contains(path);
            limits::not_both(["--path", "the same --path again"], is_again, advice)?;
        }
        let advice = "not one datagram would leave: ask for a higher rate or a longer run";
        limits::not_both(["--rate", "so short a --duration"], self.datagrams() == 0, advice)
    }

    /// Datagrams of the whole test, each counted once however often it is sent.
    pub fn datagrams(&self) -> u64 {
        let bits = u128::from(self.rate_bps.0) * u128::from(self.duration_ns.0) / 1_000_000_000;
        (bits / (8 * u128::from(self.datagram_bytes.0.max(1)))).min(u128::from(u64::MAX)) as u64
    }

    /// When a datagram is due, from the first on: those of one group together.
    pub fn due_ns(&self, number: u64) -> u64 {
        self.length_ns(number - number % u64::from(self.grouping.max(1)))
    }

    /// What so many numbers last at the rate.
    pub fn length_ns(&self, numbers: u64) -> u64 {
        let bits = u128::from(numbers) * 8 * u128::from(self.datagram_bytes.0);
        let rate = u128::from(self.rate_bps.0.max(1));
        (bits * 1_000_000_000 / rate).min(u128::from(u64::MAX)) as u64
    }

    /// From one group to the next.
    pub fn interval_ns(&self) -> u64 {
        self.due_ns(u64::from(self.grouping.max(1)))
    }
}
