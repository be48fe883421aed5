//! The rates of flows side by side: their sums, an index, the middle of them, and who has next to nothing. Off the hot path.

use pathscope_core::id::FlowId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is received counts in whole receives, so that a rate is known to one of as many as there were. With fewer than this
/// it is known worse than to a tenth, which is what a connection has that is called starved.
pub const FEWEST_RECEIVES: u32 = 10;

/// Connections that are named.
const NAMED: usize = 16;
/// What a connection has at least that is not starved, as a part of the median.
const LEAST_SHARE: f64 = 0.1;

/// Below which rate a connection is starved, where the middle one has this: less than a tenth of it.
pub(crate) fn starved_below(median_bps: f64) -> f64 {
    median_bps * LEAST_SHARE
}

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

/// What a flow received in the window that it shares with others.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowReceived {
    /// Which.
    pub flow: FlowId,
    /// Bytes in the window.
    pub bytes: u64,
    /// Whether it took fewer receives than a rate needs.
    pub is_brief: bool,
    /// Whether it came to the end of what was to be transferred: few receives are no sign of a slow one then.
    pub is_whole: bool,
}

/// Why there is no figure of how evenly flows shared a path.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoFairness {
    /// They received too little, each, to have a rate.
    TooShort,
    /// A reason that this version does not know.
    #[serde(other)]
    Unknown,
}

impl NoFairness {
    /// In a few words.
    pub fn text(self) -> String {
        match self {
            Self::TooShort => {
                format!("too short to have rates: fewer than {FEWEST_RECEIVES} receives each")
            }
            Self::Unknown => "not known why".to_owned(),
        }
    }
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
        let starved = rates.partition_point(|rate| rate.received_bps < starved_below(median));
        rates.truncate(starved.min(NAMED));
        Self { median_bps: Some(median), starved: starved as u64, slowest: rates }
    }
}

impl Starved {
    /// Of both directions; `up` is what the server saw.
    pub(crate) fn of_both(up: Option<&RateSpread>, down: Option<&RateSpread>) -> Vec<Self> {
        let ways = [(true, up), (false, down)].into_iter();
        let starved = ways.flat_map(|(is_up, spread)| {
            let slowest = spread.into_iter().flat_map(|spread| &spread.slowest).take(NAMED);
            slowest.map(move |&FlowRate { flow, received_bps }| Self { is_up, flow, received_bps })
        });
        starved.collect()
    }
}

/// The rates of flows, in the order of their numbers, in bits a second. A list, since there may be very many.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rates(Vec<(FlowId, f64)>);

impl Rates {
    /// That of one flow.
    pub fn get(&self, flow: FlowId) -> Option<f64> {
        let place = self.0.binary_search_by_key(&flow, |(flow, _)| *flow).ok()?;
        Some(self.0[place].1)
    }
}

impl IntoIterator for Rates {
    type Item = (FlowId, f64);
    type IntoIter = std::vec::IntoIter<(FlowId, f64)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// Sums over the rates of all flows that received.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct RateSums {
    /// Flows with a rate.
    pub flows: u64,
    /// Σ rate.
    pub sum_bps: f64,
    /// Σ rate².
    pub sum_squares: f64,
    /// The slowest.
    pub min_bps: Option<f64>,
    /// The fastest.
    pub max_bps: Option<f64>,
    /// Flows that received and were too short to have a rate.
    pub too_short: u64,
}

impl RateSums {
    /// Of flows over their common window, so that one that starved has a rate of nearly nothing and not none; and the rate of each
    /// that has one, in bits a second. One that was whole after few receives has none. Where most took few, the window itself
    /// is too short for any.
    pub fn over(length_ns: u64, flows: &[FlowReceived]) -> (Rates, Self) {
        let brief = flows.iter().filter(|flow| flow.is_brief).count();
        let is_long = length_ns > 0 && brief * 2 < flows.len();
        let have_rates = flows.iter().filter(|flow| is_long && !(flow.is_brief && flow.is_whole));
        let rate = |flow: &FlowReceived| (flow.flow, flow.bytes as f64 * 8e9 / length_ns as f64);
        let mut rates = Vec::with_capacity(have_rates.clone().count());
        rates.extend(have_rates.map(rate));
        rates.sort_unstable_by_key(|(flow, _)| *flow);
        let too_short = (flows.len() - rates.len()) as u64;
        let mut sums = Self { too_short, ..Self::default() };
        rates.iter().for_each(|(_, rate)| sums.record(*rate));
        (Rates(rates), sums)
    }

    /// Counts one flow's rate.
    pub fn record(&mut self, bps: f64) {
        self.flows += 1;
        self.sum_bps += bps;
        self.sum_squares += bps * bps;
        self.min_bps = Some(self.min_bps.map_or(bps, |least| least.min(bps)));
        self.max_bps = Some(self.max_bps.map_or(bps, |most| most.max(bps)));
    }

    /// Why there is no index, where there should be one.
    pub fn no_fairness(&self) -> Option<NoFairness> {
        let is_due = self.flows < 2 && self.flows.saturating_add(self.too_short) > 1;
        is_due.then_some(NoFairness::TooShort)
    }

    /// Jain's fairness index of the rates: (Σx)² / (n·Σx²), in [1/n, 1]; `None` where nothing was
    /// received. Source: Jain, Chiu, Hawe, DEC-TR-301 (1984).
    pub fn fairness(&self) -> Option<f64> {
        (self.sum_squares > 0.0)
            .then(|| self.sum_bps * self.sum_bps / (self.flows as f64 * self.sum_squares))
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

    fn received(bytes: u64, is_brief: bool, is_whole: bool) -> FlowReceived {
        FlowReceived { flow: FlowId(0), bytes, is_brief, is_whole }
    }

    #[test]
    fn who_is_whole_after_few_receives_has_no_rate_and_who_is_slow_has_one() {
        let whole = received(64, true, true);
        let slow = received(64, true, false);
        let long = received(1_000_000, false, true);
        let rates = |flows: &[FlowReceived]| {
            let flows = (0..).map(FlowId).zip(flows);
            let flows: Vec<_> = flows.map(|(flow, it)| FlowReceived { flow, ..*it }).collect();
            let (rates, sums) = RateSums::over(1_000_000_000, &flows);
            (rates.into_iter().map(|(_, rate)| rate).collect::<Vec<_>>(), sums.too_short)
        };
        // Equal ones of 64 bytes: whatever their stamps say is noise.
        assert_eq!(rates(&[whole; 8]), (vec![], 8));
        assert_eq!(rates(&[long, long, whole]), (vec![8e6, 8e6], 1));
        assert_eq!(rates(&[long, long, slow]), (vec![8e6, 8e6, 512.0], 0));
        // In a window in which most took few, nobody has one.
        assert_eq!(rates(&[slow, slow, long]), (vec![], 3));
        assert_eq!(rates(&[]), (vec![], 0));
        assert_eq!(RateSums::over(0, &[long; 3]).1.too_short, 3);
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
