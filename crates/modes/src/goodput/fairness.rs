//! How evenly connections share a path, beyond an index: the middle of their rates, and who has next to nothing. Off the
//! hot path.

use pathscope_core::id::FlowId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Connections that are named.
const NAMED: usize = 16;
/// What a connection has at least that is not starved, as a part of the median.
const LEAST_SHARE: f64 = 0.1;

/// The middle of the rates of connections, and those far below it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct RateSpread {
    /// The median; the mean of the two in the middle where there is no one. Absent without connections.
    pub median_bps: Option<f64>,
    /// Connections with less than a tenth of the median.
    pub starved: u64,
    /// The slowest of them, the slowest first.
    pub slowest: Vec<FlowRate>,
}

/// The rate of one connection.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct FlowRate {
    /// The connection.
    pub flow: FlowId,
    /// What it received a second, in bits.
    pub received_bps: f64,
}

/// A connection that got less than a tenth of what the middle one got.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Starved {
    /// Whether that is from client to server.
    pub is_up: bool,
    /// The connection.
    pub flow: FlowId,
    /// What it received a second, in bits.
    pub received_bps: f64,
}

impl RateSpread {
    /// Of these connections.
    pub fn of(rates: impl IntoIterator<Item = (FlowId, f64)>) -> Self {
        let rates = rates.into_iter().map(|(flow, received_bps)| FlowRate { flow, received_bps });
        let mut rates: Vec<FlowRate> = rates.collect();
        rates.sort_by(|one, other| one.received_bps.total_cmp(&other.received_bps));
        let (Some(upper), Some(lower)) =
            (rates.get(rates.len() / 2), rates.get(rates.len().saturating_sub(1) / 2))
        else {
            return Self::default();
        };
        let median = f64::midpoint(lower.received_bps, upper.received_bps);
        let starved = rates.partition_point(|rate| rate.received_bps < median * LEAST_SHARE);
        rates.truncate(starved.min(NAMED));
        Self { median_bps: Some(median), starved: starved as u64, slowest: rates }
    }
}

impl Starved {
    /// Of both directions; `up` is what the server saw.
    pub(super) fn of_both(up: Option<&RateSpread>, down: Option<&RateSpread>) -> Vec<Self> {
        let of = |is_up, spread: Option<&RateSpread>| {
            let slowest = spread.map(|spread| spread.slowest.clone()).unwrap_or_default();
            let starved = move |FlowRate { flow, received_bps }| Self { is_up, flow, received_bps };
            slowest.into_iter().take(NAMED).map(starved)
        };
        of(true, up).chain(of(false, down)).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn spread(rates: &[f64]) -> RateSpread {
        RateSpread::of((0..).map(FlowId).zip(rates.iter().copied()))
    }

    #[test]
    fn the_middle_is_the_middle() {
        assert_eq!(spread(&[]), RateSpread::default());
        assert_eq!(spread(&[7.0]).median_bps, Some(7.0));
        assert_eq!(spread(&[9.0, 1.0, 5.0]).median_bps, Some(5.0));
        assert_eq!(spread(&[9.0, 1.0, 5.0, 7.0]).median_bps, Some(6.0));
    }

    #[test]
    fn a_tenth_of_the_middle_is_enough_and_less_is_starved() {
        let found = spread(&[100.0, 10.0, 9.9, 100.0, 0.0, 100.0, 100.0]);
        assert_eq!(found.starved, 2);
        let named: Vec<u32> = found.slowest.iter().map(|rate| rate.flow.0).collect();
        assert_eq!(named, [4, 2]);
        // Where nobody has anything, nobody is behind the others.
        assert_eq!(spread(&[0.0; 5]).starved, 0);
    }

    proptest! {
        #[test]
        fn as_many_are_named_as_there_are_or_sixteen(rates in prop::collection::vec(0.0_f64..1e12, 0..200)) {
            let found = spread(&rates);
            prop_assert_eq!(found.slowest.len() as u64, found.starved.min(16));
            prop_assert!(found.starved <= rates.len() as u64 / 2);
        }
    }
}
