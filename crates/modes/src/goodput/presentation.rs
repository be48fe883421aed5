//! A goodput test as labelled figures: all that a view needs.

use pathscope_core::figure::Part;
use pathscope_core::presentation::{Figure, Table, Value};
use pathscope_core::quantity::{bit_rate, bytes, count, counted, duration_ns, rate_range, total};
use pathscope_core::record::FlowFacts;

use super::figures::GROUP;
use super::{
    DirectionSummary, FailureTimes, GoodputInterval, GoodputPlan, GoodputReport, GoodputSummary,
};
use crate::figure::{Amount, Unit};
use crate::load::{Extent, FailureCounts, Verify};
use crate::results::Slices;

/// Connections that are shown one by one.
const CONNECTIONS_SHOWN: usize = 16;
/// Starved connections that are named.
const STARVED_SHOWN: usize = 5;

/// What is done, in a few words.
pub fn subtitle(plan: &GoodputPlan) -> String {
    let connections = if plan.connections == 1 { "connection" } else { "connections" };
    let until = plan
        .shape
        .time_limit_ns
        .map_or_else(String::new, |limit| format!(", {} at most", duration_ns(limit.0)));
    let replaced = match plan.connections_in_all() {
        _ if !plan.replaces() => String::new(),
        Some(all) => format!(" at a time, {} in all", count(all)),
        None => " at a time, replaced for ever".to_owned(),
    };
    let extent = match (plan.extent, plan.shape.transfer_most_bytes) {
        (Extent::TransferBytes(low), Some(high)) => {
            format!("{} to {} each", bytes(low.0), bytes(high.0))
        }
        (Extent::TransferBytes(transfer), None) => format!("{} each", bytes(transfer.0)),
        (Extent::DurationNs(duration), _) => duration_ns(duration.0),
    };
    let rate = match (plan.rate_bps, plan.pace.rate_most_bps) {
        (Some(low), Some(high)) => format!(", at most {low} to {high} each"),
        (Some(rate), None) => format!(", at most {rate} each"),
        (None, _) => String::new(),
    };
    let verify = match plan.verify {
        Verify::Full => "",
        Verify::Sampled => ", one byte in 16 verified",
        Verify::Off => ", not verified",
    };
    format!(
        "{} TCP {connections}{replaced}, {}, {extent}{until}{rate}{verify}",
        plan.connections,
        plan.pattern.name()
    )
}

/// The figures of a goodput test.
pub fn figures(summary: &GoodputSummary) -> Vec<Figure> {
    let mut figures = Vec::new();
    let is_both = summary.up.is_some() && summary.down.is_some();
    for (way, direction) in [("up", &summary.up), ("down", &summary.down)] {
        let Some(direction) = direction else { continue };
        figures.push(goodput(way, direction));
        let fairness = GROUP.of(way, "fairness", direction.fairness);
        let fairness =
            if is_both { fairness.labelled(format!("fairness {way}")) } else { fairness };
        if direction.fairness.is_some() {
            figures.push(fairness.with_note(self::fairness(direction)));
        } else if let Some(why) = direction.no_fairness {
            figures.push(fairness.with_note(why.text()));
        }
    }
    figures.extend(starved(summary));
    let retransmits = summary.retransmits;
    figures.extend(retransmits.map(|it| GROUP.figure("retransmits", it).with_note("segments")));
    let failed = match summary.failed {
        0 => String::new(),
        failed => format!(", {} failed{}", count(failed), kinds(&summary.failures)),
    };
    let cut = if summary.cut == 0 {
        String::new()
    } else {
        format!(", {} cut by the end of the run", count(summary.cut))
    };
    let unknown = if summary.unknown == 0 {
        String::new()
    } else {
        format!(", {} unknown: the server has not said", count(summary.unknown))
    };
    let rate = summary
        .completed_per_second
        .map_or_else(String::new, |rate| format!("; {} a second", count(rate.round() as u64)));
    // Results of the first version do not say how many were attempted.
    let told = [summary.completed, summary.failed, summary.cut, summary.unknown];
    let told = total(told);
    let attempted = summary.attempted.max(told);
    let note = format!("of {} completed{failed}{cut}{unknown}{rate}", count(attempted));
    figures.push(GROUP.figure("completed", summary.completed).with_note(note));
    figures.extend(failure_times(summary));
    figures
}

/// How many failed by what, where that is known.
fn kinds(failures: &FailureCounts) -> String {
    let kinds: Vec<String> =
        [(failures.network, "network"), (failures.data, "data"), (failures.protocol, "protocol")]
            .into_iter()
            .filter(|&(count, _)| count > 0)
            .map(|(count, kind)| format!("{count} {kind}"))
            .collect();
    if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) }
}

fn goodput(way: &'static str, direction: &DirectionSummary) -> Figure {
    let verb = match (direction.verified, direction.verify) {
        (true, _) => "verified",
        (false, Some(Verify::Sampled)) => "received, one byte in 16 verified",
        (false, _) => "received, not verified",
    };
    let note = match direction.received_bytes {
        None => "the receiver's report is missing".to_owned(),
        Some(received) if direction.goodput_bps.is_none() => {
            format!("{} {verb}; too few receives for a rate", bytes(received))
        }
        Some(received) => {
            format!("{} {verb}; window {}", bytes(received), duration_ns(direction.window_ns))
        }
    };
    let figure = GROUP.of(way, "rate", direction.goodput_bps);
    figure.labelled(format!("goodput {way}")).of("goodput").with_note(note)
}

fn fairness(direction: &DirectionSummary) -> String {
    let median = direction
        .median_bps
        .map_or_else(String::new, |median| format!("; median {}", bit_rate(median)));
    let range = direction
        .slowest_bps
        .zip(direction.fastest_bps)
        .map_or_else(String::new, |(slowest, fastest)| {
            format!("{median}; {}", rate_range(slowest, fastest))
        });
    let rest = match direction.too_short {
        0 => String::new(),
        rest => format!("; without {} too short to have rates", counted(rest, "connection")),
    };
    format!("Jain's index over the connections{range}{rest}")
}

/// Connections that got next to nothing, by name.
fn starved(summary: &GoodputSummary) -> Option<Figure> {
    let directions = [summary.up, summary.down].into_iter().flatten();
    let all = total(directions.map(|direction| direction.starved));
    let both = summary.up.is_some() && summary.down.is_some();
    let names = summary.starved.iter().take(STARVED_SHOWN).map(|starved| {
        let way = match (both, starved.is_up) {
            (false, _) => "",
            (true, true) => " up",
            (true, false) => " down",
        };
        format!("flow {}{way} {}", starved.flow, bit_rate(starved.received_bps))
    });
    let names: Vec<String> = names.collect();
    let more = all.saturating_sub(names.len() as u64);
    let more = if more > 0 { format!(", and {} more", count(more)) } else { String::new() };
    let note = format!("less than a tenth of the median: {}{more}", names.join(", "));
    let starved = match (both, summary.up) {
        // Those of both ways together.
        (true, _) => Figure::new("starved", Value::Count(all)),
        (false, up) => GROUP.of(if up.is_some() { "up" } else { "down" }, "starved", all),
    };
    (all > 0).then(|| starved.with_note(note))
}

/// What became of connections by the server's address, where it has several.
pub fn remotes(summary: &GoodputSummary) -> Option<Table> {
    let columns = [
        ("address", ""),
        ("completed", "completed"),
        ("failed", "failed"),
        ("cut", "cut"),
        ("sent", "sent"),
        ("received", "received"),
    ];
    let rows = summary.remotes.iter().map(|remote| {
        let cells = [
            Value::Text(remote.address.clone()),
            Value::Count(remote.completed),
            Value::Count(remote.failed),
            Value::Count(remote.cut),
            Value::Bytes(remote.sent_bytes),
            Value::Bytes(remote.received_bytes),
        ];
        ("address", Part::Entry(remote.address.clone()), cells)
    });
    let is_told = summary.remotes.len() > 1;
    is_told.then(|| GROUP.table("by address of the server", columns, rows))
}

/// When connections failed.
fn failure_times(summary: &GoodputSummary) -> Option<Figure> {
    let FailureTimes { from_ns, until_ns, worst_start_ns, worst_end_ns, worst } =
        summary.failure_times?;
    let note = format!(
        "until {}; most, {}, from {} to {}",
        duration_ns(until_ns),
        count(worst),
        duration_ns(worst_start_ns),
        duration_ns(worst_end_ns)
    );
    Some(GROUP.figure("failures.from", from_ns).with_note(note))
}

/// The first connections, one by one, as both ends saw them.
pub fn connections(client: &GoodputReport, server: Option<&GoodputReport>) -> Option<Table> {
    if client.flows.is_empty() || client.flows.len() == 1 && client.failed == 0 {
        return None;
    }
    let columns = ["flow", "sent", "received", "up", "down", "RTT", "retransmits", "error"];
    let rows = client.flows.iter().take(CONNECTIONS_SHOWN).map(|flow| row(flow, server));
    Some(Table::new("connections", columns, rows))
}

fn row(flow: &FlowFacts, server: Option<&GoodputReport>) -> Vec<Value> {
    let there = server.and_then(|server| server.flows.iter().find(|there| there.flow == flow.flow));
    let retransmits = [Some(flow), there]
        .into_iter()
        .flatten()
        .filter_map(|flow| flow.tcp?.retransmits)
        .reduce(u64::saturating_add);
    let error = flow.error.as_ref().or_else(|| there?.error.as_ref());
    vec![
        Value::Count(u64::from(flow.flow.0)),
        Value::Bytes(flow.sent_bytes),
        Value::Bytes(flow.received_bytes),
        there.and_then(|there| there.received_bps).value(Unit::BitRate),
        flow.received_bps.value(Unit::BitRate),
        flow.tcp.and_then(|tcp| tcp.rtt_ns).value(Unit::Duration),
        retransmits.value(Unit::Count),
        Value::Text(error.map_or_else(String::new, |error| error.text.clone())),
    ]
}

/// What each receiver counted in the interval, up and down.
pub fn rates(plan: &GoodputPlan, interval: Slices<'_, GoodputInterval>) -> [Option<f64>; 2] {
    interval.rates_bps((plan.is_up(), plan.is_down()), |own| own.received_bytes)
}

/// The cells of a live row.
pub fn cells(plan: &GoodputPlan, interval: Slices<'_, GoodputInterval>) -> Vec<Figure> {
    let [up, down] = rates(plan, interval);
    let ways = [(plan.is_up(), "up", up), (plan.is_down(), "down", down)];
    let ways = ways.into_iter().filter(|(is_there, ..)| *is_there);
    ways.map(|(_, way, rate)| GROUP.of(way, "rate", rate).labelled(way)).collect()
}
