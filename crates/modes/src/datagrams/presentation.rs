//! A test of datagram goodput as labelled figures: all that a view needs.

use pathscope_core::presentation::{Figure, Table, Value};
use pathscope_core::quantity::{average, bytes, count, counted, duration_ns, rate_range, ratio};

use super::figures::GROUP;
use super::{
    DatagramDirection, DatagramsInterval, DatagramsPlan, DatagramsReport, DatagramsSummary, Offload,
};
use crate::figure::{Amount, Unit};
use crate::load::{Extent, Verify};
use crate::results::Slices;

/// Flows that are shown one by one.
const FLOWS_SHOWN: usize = 16;

/// What is done, in a few words.
pub fn subtitle(plan: &DatagramsPlan) -> String {
    let flows = if plan.connections == 1 { "flow" } else { "flows" };
    let extent = match plan.extent {
        Extent::TransferBytes(transfer) => format!("{} each", bytes(transfer.0)),
        Extent::DurationNs(duration) => duration_ns(duration.0),
    };
    let rate = match plan.rate_bps {
        Some(rate) if plan.connections > 1 => format!("{rate} each"),
        Some(rate) => rate.to_string(),
        None => "as fast as they go".to_owned(),
    };
    let verify = match plan.verify {
        Verify::Full => "",
        Verify::Sampled => ", one byte in 16 verified",
        Verify::Off => ", not verified",
    };
    let offload = if plan.offload == Offload::Off { ", without offload" } else { "" };
    format!(
        "{} UDP {flows}, {}, datagrams of {} bytes, {rate}, {extent}{offload}{verify}",
        plan.connections,
        plan.pattern.name(),
        count(plan.datagram_bytes.0)
    )
}

/// The figures of a test of datagram goodput.
pub fn figures(summary: &DatagramsSummary) -> Vec<Figure> {
    let is_both = summary.up.is_some() && summary.down.is_some();
    let mut figures = Vec::new();
    for (name, way) in summary.directions() {
        let start = figures.len() + 1;
        figures.push(goodput(name, way));
        figures.extend(sent(name, way));
        figures.extend(lost(name, way));
        figures.extend(order(name, way));
        figures.extend(timing(name, way));
        let fairness = GROUP.of(name, "fairness", way.fairness);
        if way.fairness.is_some() {
            let range = way.slowest_bps.zip(way.fastest_bps);
            let range = range
                .map_or_else(String::new, |(low, high)| format!("; {}", rate_range(low, high)));
            figures.push(fairness.with_note(format!("Jain's index over the flows{range}")));
        } else if let Some(why) = way.no_fairness {
            figures.push(fairness.with_note(why.text()));
        }
        if is_both {
            figures[start..].iter_mut().for_each(|it| it.label = format!("{} {name}", it.label));
        }
    }
    if summary.failed > 0 {
        let note = format!("of {} failed", count(summary.completed.saturating_add(summary.failed)));
        figures.push(GROUP.figure("failed", summary.failed).with_note(note));
    }
    figures
}

fn goodput(name: &'static str, way: &DatagramDirection) -> Figure {
    let verb = match way.verify {
        Some(Verify::Full) | None => "verified",
        Some(Verify::Sampled) => "received, one byte in 16 verified",
        Some(Verify::Off) => "received, not verified",
    };
    let note = match (way.received_bytes, way.datagrams_per_second) {
        (None, _) => "the receiver's report is missing".to_owned(),
        (Some(received), None) => {
            format!("{} {verb}; too few receives for a rate", bytes(received))
        }
        (Some(received), Some(rate)) => format!(
            "of payload, {} datagrams a second; {} {verb}; window {}",
            count(rate.round() as u64),
            bytes(received),
            duration_ns(way.window_ns)
        ),
    };
    let figure = GROUP.of(name, "rate", way.goodput_bps);
    figure.labelled(format!("goodput {name}")).of("goodput").with_note(note)
}

fn sent(name: &'static str, way: &DatagramDirection) -> Option<Figure> {
    let unsent = match way.unsent {
        Some(unsent) if unsent > 0 => format!("; {} more were due and never left", count(unsent)),
        _ => String::new(),
    };
    let received = way.received.map_or_else(|| "?".to_owned(), count);
    Some(GROUP.of(name, "sent", way.sent?).with_note(format!("{received} received{unsent}")))
}

fn lost(name: &'static str, way: &DatagramDirection) -> Option<Figure> {
    let lost = way.lost?;
    let figure = GROUP.of(name, "lost", lost);
    if lost == 0 {
        return Some(figure);
    }
    let share = way.lost_ratio.map_or_else(String::new, |lost| format!("{}; ", ratio(lost)));
    let runs = format!(
        "{} in a row on average, {} at most",
        way.bursts.mean().map_or_else(String::new, average),
        count(way.bursts.longest)
    );
    let place = match way.socket_drops {
        Some(0) => "; none by the receiver's socket".to_owned(),
        Some(drops) => format!("; the receiver's socket dropped {}", counted(drops, "buffer")),
        None => String::new(),
    };
    Some(figure.with_note(format!("{share}{runs}{place}")))
}

/// What came otherwise than in order, once and right; where there is any.
fn order(name: &'static str, way: &DatagramDirection) -> Vec<Figure> {
    let extent = way
        .reordering_extent_max
        .map_or_else(String::new, |extent| format!("; extent at most {}", count(extent)));
    let reordered = format!("{}{extent}", ratio(way.reordered_ratio));
    [
        ("reordered", way.reordered, reordered),
        ("duplicates", way.duplicates, String::new()),
        ("late", way.late, "came after the drain".to_owned()),
        ("corrupt", way.corrupt, "not what was sent".to_owned()),
        ("foreign", way.foreign, String::new()),
    ]
    .into_iter()
    .filter(|(_, number, _)| *number > 0)
    .map(|(what, number, note)| GROUP.of(name, what, number).with_note(note))
    .collect()
}

fn timing(name: &'static str, way: &DatagramDirection) -> Vec<Figure> {
    let jitter = way.jitter.as_ref().map(|jitter| {
        let most = duration_ns(jitter.rfc3550.max_ns.round() as u64);
        let figure = GROUP.of(name, "jitter", jitter.rfc3550.mean_ns).of("jitter");
        figure.with_note(format!("RFC 3550, mean; at most {most}"))
    });
    let lag = way.send_lag.as_ref().and_then(|lag| lag.percentile(99.0).copied());
    let lag = lag.map(|lag| GROUP.of(name, "send_lag.p99", lag).of("send lag"));
    jitter.into_iter().chain(lag).collect()
}

/// The first flows, one by one, as both ends saw them.
pub fn flows(client: &DatagramsReport, server: Option<&DatagramsReport>) -> Option<Table> {
    if client.flows.is_empty() || client.flows.len() == 1 && client.failed == 0 {
        return None;
    }
    let columns =
        ["flow", "sent up", "lost up", "up", "received down", "lost down", "down", "error"];
    let rate = |bps: Option<f64>| bps.value(Unit::BitRate);
    let row = |flow: &super::DatagramFlowFacts| {
        let there = server.and_then(|end| end.flows.iter().find(|it| it.flow == flow.flow));
        let error = flow.error.as_ref().or_else(|| there?.error.as_ref());
        vec![
            Value::Count(u64::from(flow.flow.0)),
            Value::Count(flow.sent),
            there.map(|there| there.lost).value(Unit::Count),
            rate(there.and_then(|there| there.received_bps)),
            Value::Count(flow.received),
            Value::Count(flow.lost),
            rate(flow.received_bps),
            Value::Text(error.map_or_else(String::new, |error| error.text.clone())),
        ]
    };
    Some(Table::new("flows", columns, client.flows.iter().take(FLOWS_SHOWN).map(row)))
}

/// What each receiver counted in the interval, up and down.
pub fn rates(plan: &DatagramsPlan, interval: Slices<'_, DatagramsInterval>) -> [Option<f64>; 2] {
    interval.rates_bps((plan.is_up(), plan.is_down()), |own| own.received_bytes)
}

/// The cells of a live row.
pub fn cells(plan: &DatagramsPlan, interval: Slices<'_, DatagramsInterval>) -> Vec<Figure> {
    let [up, down] = rates(plan, interval);
    let ways = [
        (plan.is_up(), "up", up, interval.server),
        (plan.is_down(), "down", down, interval.client),
    ];
    let is_both = plan.is_up() && plan.is_down();
    let mut cells = Vec::new();
    for (_, name, rate, receiver) in ways.into_iter().filter(|(is_there, ..)| *is_there) {
        let missing = if is_both { format!("missing {name}") } else { "missing".to_owned() };
        cells.push(GROUP.of(name, "rate", rate).labelled(name));
        cells.push(Figure::new(missing, self::missing(receiver.and_then(|end| end.own))));
    }
    cells
}

/// What the numbers of an interval leave out: lost, or yet to come.
fn missing(receiver: Option<&DatagramsInterval>) -> Value {
    let missing = |own: &DatagramsInterval| own.expected.saturating_sub(own.received);
    receiver.map(missing).value(Unit::Count)
}
