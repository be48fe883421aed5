//! How much round trips and each way vary from ping to ping, what each way took, and how the median moves over a run.

use pathscope_modes::figures::Found;
use serde_json::Value;

use super::percentile;
use crate::evidence::Evidence;
use crate::rule::Rule;
use crate::samples::Durations;
use crate::samples::pings::Variation;
use crate::samples::trend::Trend;

/// Those of what a ping took as a whole, there, or back.
macro_rules! of_variation {
    ($name:literal, $at:literal) => {
        [
            Rule::extremes(concat!($name, ".ipdv"), |it, found| ipdv(it, found, $at)),
            Rule::sums(concat!($name, ".ipdv"), |it, found| ipdv(it, found, $at)),
            Rule::percentiles(concat!($name, ".ipdv"), |it, found| ipdv(it, found, $at)),
            Rule::by_sums(concat!($name, ".jitter"), |it, _| {
                let jitter = &variation(it, $at)?.jitter;
                (!jitter.is_empty()).then(|| jitter.iter().sum::<f64>() / jitter.len() as f64)
            }),
            Rule::by_sums(concat!($name, ".jitter.max"), |it, _| {
                variation(it, $at)?.jitter.iter().copied().max_by(f64::total_cmp)
            }),
            Rule::by_sums(concat!($name, ".jitter.last"), |it, _| {
                let jitter = &variation(it, $at)?.jitter;
                // Of several flows it is that of whichever was added last.
                (it.pings()?.flows == 1).then(|| jitter.last().copied()).flatten()
            }),
        ]
    };
}

/// Those of one way's delay.
macro_rules! of_way {
    ($name:literal, $at:literal) => {
        [
            Rule::extremes($name, |it, found| one_way(it, $at)?.statistic(statistic(found)?)),
            Rule::sums($name, |it, found| one_way(it, $at)?.statistic(statistic(found)?)),
            Rule::percentiles($name, |it, found| one_way(it, $at)?.statistic(statistic(found)?)),
        ]
    };
}

/// Those of how the median of intervals moves.
macro_rules! of_trend {
    ($group:literal) => {
        [
            Rule::by_parts(concat!($group, ".drift"), |it, _| Some(trend(it)?.slope)),
            Rule::by_parts(concat!($group, ".drift.change"), |it, _| Some(trend(it)?.change)),
            Rule::by_parts(concat!($group, ".drift.z"), |it, _| Some(trend(it)?.z)),
            Rule::by_parts(concat!($group, ".drift.points"), |it, _| Some(trend(it)?.points)),
        ]
    };
}

/// Those of pings.
pub const RULES: [&[Rule]; 6] = [
    &of_variation!("latency", 0),
    &of_variation!("latency.forward", 1),
    &of_variation!("latency.back", 2),
    &of_way!("latency.one_way.forward", 0),
    &of_way!("latency.one_way.back", 1),
    &of_trend!("latency"),
];

/// Those of probes beside a load.
pub const OF_PROBES: &[Rule] = &of_trend!("loaded");

fn statistic(found: &Found) -> Option<&str> {
    found.statistic.as_deref()
}

fn variation<'a>(it: &'a Evidence<'_>, at: usize) -> Option<&'a Variation> {
    it.pings()?.variation.get(at)
}

fn ipdv(it: &Evidence<'_>, found: &Found, at: usize) -> Option<f64> {
    variation(it, at)?.ipdv.statistic(statistic(found)?)
}

fn one_way<'a>(it: &'a Evidence<'_>, at: usize) -> Option<&'a Durations> {
    it.pings()?.one_way.get(at)
}

/// From the medians that the intervals state.
fn trend(it: &Evidence<'_>) -> Option<Trend> {
    let median = |interval: &Value| {
        let client = interval.get("client")?;
        let median = percentile(client.pointer("/latency/rtt")?, 50.0)?;
        Some((client.get("start_ns")?.as_f64()? / 1e9, median))
    };
    let intervals = it.measurement.get("intervals")?.as_array()?;
    Trend::of(&intervals.iter().filter_map(median).collect::<Vec<_>>())
}
