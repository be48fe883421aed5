//! All rules, by what they are about.

mod datagrams;
mod goodput;
mod latency;
mod media;
mod multipath;
mod relay;
mod search;
mod variation;
pub mod without;

use pathscope_modes::figures::Found;
use serde_json::Value;

use crate::evidence::Evidence;
use crate::grid::Extent;
use crate::others;
use crate::rule::{Against, Rule};

/// All rules.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    with_extents().map(|(rule, _)| rule)
}

/// The same, each with the least that has to be done for there to be something that it is about.
pub fn with_extents() -> impl Iterator<Item = (&'static Rule, Extent)> {
    let rules = [
        (latency::OF_PINGS, Extent::Quick),
        (latency::RULES, Extent::Quick),
        (latency::OF_PROBES, Extent::Quick),
        (latency::PROBES, Extent::Quick),
        (variation::OF_PROBES, Extent::Long),
        (goodput::RULES, Extent::Quick),
        (datagrams::RULES, Extent::Quick),
        (media::RULES, Extent::Quick),
        (multipath::RULES, Extent::Quick),
        (multipath::OUTAGES, Extent::Quick),
        (search::RULES, Extent::Usual),
        (others::RULES, Extent::Usual),
        (RANGES, Extent::Quick),
        (relay::RULES, Extent::Quick),
    ];
    let of_pings = variation::RULES.map(|rules| (rules, Extent::Quick));
    let all = rules.into_iter().chain(of_pings);
    all.flat_map(|(rules, extent)| rules.iter().map(move |rule| (rule, extent)))
}

/// Nothing, where no link damages.
fn none_where_sound(it: &Evidence<'_>, _: &Found) -> Option<f64> {
    (!it.cell.is_damaged()).then_some(0.0)
}

/// Of every distribution the range between its quartiles, as it states them.
const RANGES: &[Rule] = &[
    range("latency.rtt_since_scheduled.iqr"),
    range("latency.service.iqr"),
    range("latency.send_lag.iqr"),
    range("latency.server_residence.iqr"),
    range("latency.ipdv.iqr"),
    range("latency.forward.ipdv.iqr"),
    range("latency.back.ipdv.iqr"),
    range("latency.one_way.forward.iqr"),
    range("latency.one_way.back.iqr"),
    range("latency.parts.client_send.iqr"),
    range("latency.parts.wire.iqr"),
    range("latency.parts.server_receive.iqr"),
    range("latency.parts.server_residence.iqr"),
    range("latency.parts.server_send.iqr"),
    range("latency.parts.client_receive.iqr"),
    range("loaded.rtt_since_scheduled.iqr"),
    range("loaded.service.iqr"),
    range("loaded.ipdv.iqr"),
    range("loaded.one_way.forward.iqr"),
    range("loaded.one_way.back.iqr"),
    range("datagrams.ipdv.iqr"),
    range("datagrams.send_lag.iqr"),
    range("media.delay.iqr"),
    range("media.ipdv.iqr"),
    range("media.send_lag.iqr"),
];

const fn range(figure: &'static str) -> Rule {
    Rule::exact(figure, Against::Figures, |it, found| {
        let place = found.group.place_of(found.figure);
        let side = found.side.unwrap_or_default();
        let place = place.replace("{way}", side).replace("{end}", side).replace('.', "/");
        let stated = it.measurement.pointer(&format!("/{place}"))?;
        Some(percentile(stated, 75.0)? - percentile(stated, 25.0)?)
    })
}

/// A percentile of a distribution, as it is stated.
fn percentile(distribution: &Value, percent: f64) -> Option<f64> {
    let stated = distribution.get("percentiles")?.as_array()?;
    let is_it = |entry: &&Value| {
        let its = entry.get("percent").and_then(Value::as_f64);
        its.is_some_and(|its| (its - percent).abs() < 1e-9)
    };
    stated.iter().find(is_it)?.get("value_ns")?.as_f64()
}
