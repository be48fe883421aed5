//! A test of datagram goodput as labelled figures: all that a view needs.

use pathscope_core::presentation::{Bars, Figure, Table, Value};
use pathscope_core::quantity::{average, count, rate_range, ratio};

use super::figures::GROUP;
use super::{
    DatagramDirection, DatagramFlowFacts, DatagramsInterval, DatagramsPlan, DatagramsReport,
    DatagramsSummary,
};
use crate::figure::{Amount, Part, PlainCell, Point, Unit, notes};
use crate::load::FlowRate;
use crate::load::bars::{Shares, bars};
use crate::load::presentation::{self as load, BothEnds, Received};
use crate::results::{Detail, Ends, Presents, Slices};

impl Presents for DatagramsPlan {
    fn cells(&self, interval: Slices<'_, Self>) -> Vec<Figure> {
        let is_both = self.is_up() && self.is_down();
        // What the numbers leave out: lost, or yet to come.
        let missing = |own: &DatagramsInterval| own.expected.saturating_sub(own.received);
        let cells = received(self, interval).flat_map(|it| {
            let label = if is_both { format!("missing {}", it.way) } else { "missing".to_owned() };
            [it.cell(&GROUP, "rate"), Figure::new(label, it.own.map(missing).value(Unit::Count))]
        });
        cells.collect()
    }

    fn points(&self, _: &Self::Summary, interval: Slices<'_, Self>) -> Vec<Point> {
        received(self, interval).map(|it| it.point(&GROUP, "rate")).collect()
    }

    fn figures(&self, summary: &DatagramsSummary) -> Vec<Figure> {
        let is_both = summary.up.is_some() && summary.down.is_some();
        let mut figures = Vec::new();
        for (name, way) in summary.directions() {
            let start = figures.len() + 1;
            figures.push(goodput(name, way));
            figures.extend(sent(name, way));
            figures.extend(lost(name, way));
            figures.extend(order(name, way));
            figures.extend(timing(name, way));
            figures.extend(load::fairness(
                &GROUP,
                name,
                (way.fairness, way.no_fairness),
                spread(way),
            ));
            if is_both {
                figures[start..]
                    .iter_mut()
                    .for_each(|it| it.label = format!("{} {name}", it.label));
            }
        }
        if summary.failed > 0 {
            let note =
                format!("of {} failed", count(summary.completed.saturating_add(summary.failed)));
            figures.push(GROUP.figure("failed", summary.failed).with_note(note));
        }
        figures
    }

    fn tables(&self, _: &Self::Summary, ends: &Ends<'_, Self>, _: Detail) -> Vec<Table> {
        flows(ends.of_client(), ends.of_server()).into_iter().collect()
    }

    fn bars(&self, summary: &DatagramsSummary, ends: &Ends<'_, Self>) -> Vec<Bars> {
        let receiver = |way| if way == "up" { ends.of_server() } else { Some(ends.of_client()) };
        let of = |(way, direction)| shares(way, direction, receiver(way)?);
        summary.directions().filter_map(of).collect()
    }
}

/// Of a receiver whose report is missing as of one that never makes any: which it is, a caveat says.
const UNTOLD: &str = "the receiver has not told what came";

/// What each receiver counted in the interval, up and down.
fn received<'a>(
    plan: &DatagramsPlan,
    interval: Slices<'a, DatagramsPlan>,
) -> impl Iterator<Item = Received<'a, DatagramsInterval>> {
    load::received((plan.is_up(), plan.is_down()), interval, |own| own.received_bytes)
}

fn goodput(name: &'static str, way: &DatagramDirection) -> Figure {
    let rate = way.datagrams_per_second;
    let taken = match way.received_bytes {
        None => UNTOLD.to_owned(),
        received => {
            let window_ns = rate.map(|_| way.window_ns);
            load::taken((None, received), way.verify.unwrap_or_default(), window_ns)
        }
    };
    let rate = rate.filter(|_| way.received_bytes.is_some());
    let rate = rate.map(|rate| count(rate.round() as u64));
    let note =
        notes([rate.map(|rate| format!("of payload, {rate} datagrams a second")), Some(taken)]);
    let figure = GROUP.of(name, "rate", way.goodput_bps);
    figure.labelled(format!("goodput {name}")).of("goodput").with_note(note)
}

fn spread(way: &DatagramDirection) -> String {
    let range = way.slowest_bps.zip(way.fastest_bps).map(|(low, high)| rate_range(low, high));
    notes([Some("Jain's index over the flows".to_owned()), range])
}

fn sent(name: &'static str, way: &DatagramDirection) -> Option<Figure> {
    let received = way.received.map_or_else(|| "?".to_owned(), count);
    let unsent = way.unsent.filter(|&unsent| unsent > 0);
    let unsent = unsent.map(|unsent| format!("{} more were due and never left", count(unsent)));
    let note = notes([Some(format!("{received} received")), unsent]);
    Some(GROUP.of(name, "sent", way.sent?).with_note(note))
}

fn lost(name: &'static str, way: &DatagramDirection) -> Option<Figure> {
    let figure = GROUP.of(name, "lost", way.lost?);
    // Another tool's server tells how many, and not which.
    let runs = way.bursts.as_ref().and_then(|bursts| {
        let mean = average(bursts.mean()?);
        Some(format!("{mean} in a row on average, {} at most", count(bursts.longest)))
    });
    let note = notes([way.lost_ratio.map(ratio), runs, way.socket_drops.map(load::dropped)]);
    Some(if way.lost == Some(0) { figure } else { figure.with_note(note) })
}

/// What came otherwise than in order, once and right; where there is any.
fn order(name: &'static str, way: &DatagramDirection) -> Vec<Figure> {
    let extent = way.reordering_extent_max.map(|it| format!("extent at most {}", count(it)));
    let reordered = notes([way.reordered_ratio.map(ratio), extent]);
    let counts = [
        ("reordered", way.reordered, &*reordered),
        ("duplicates", way.duplicates, ""),
        ("late", way.late, "came after the drain"),
        ("corrupt", way.corrupt, "not what was sent"),
        ("foreign", way.foreign, ""),
    ];
    let counts = counts.map(|(name, amount, note)| (name, amount.unwrap_or(0), note));
    GROUP.counted(&Part::Side(name), counts)
}

fn timing(name: &'static str, way: &DatagramDirection) -> impl Iterator<Item = Figure> {
    let jitter = way.jitter.as_ref().map(|jitter| jitter.rfc3550);
    let jitter = jitter.map(|it| GROUP.of(name, "jitter", it.mean_ns).with_note(it.words()));
    let lag = way.send_lag.as_ref().and_then(|lag| lag.percentile(99.0).copied());
    let lag = lag.map(|lag| GROUP.of(name, "send_lag.p99", lag).of("send lag"));
    jitter.map(|jitter| jitter.of("jitter")).into_iter().chain(lag)
}

/// What each flow got, as its receiver says it.
fn shares(
    way: &'static str,
    direction: &DatagramDirection,
    receiver: &DatagramsReport,
) -> Option<Bars> {
    let rate = |flow: &DatagramFlowFacts| {
        Some(FlowRate { flow: flow.flow, received_bps: flow.received_bps? })
    };
    let shares = Shares {
        thing: "flow",
        rates: receiver.flows.iter().filter_map(rate).collect(),
        sums: receiver.rates,
        median_bps: None,
        fairness: direction.fairness,
    };
    bars(&GROUP, way, shares)
}

/// The first flows, one by one, as both ends saw them.
fn flows(client: &DatagramsReport, server: Option<&DatagramsReport>) -> Option<Table> {
    let columns: [PlainCell<BothEnds<'_, DatagramFlowFacts>>; 8] = [
        ("flow", |(here, _)| Value::Count(here.flow.0.into())),
        ("sent up", |(here, _)| Value::Count(here.sent)),
        ("lost up", |(_, there)| there.map(|there| there.lost).value(Unit::Count)),
        ("up", |(_, there)| there.and_then(|there| there.received_bps).value(Unit::BitRate)),
        ("received down", |(here, _)| Value::Count(here.received)),
        ("lost down", |(here, _)| Value::Count(here.lost)),
        ("down", |(here, _)| here.received_bps.value(Unit::BitRate)),
        ("error", |(here, there)| {
            load::error(here.error.as_ref(), there.and_then(|there| there.error.as_ref()))
        }),
    ];
    let ends = (&*client.flows, server.map(|server| &*server.flows));
    load::flows("flows", &columns, ends, |flow| flow.flow, client.failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_receiver_that_has_told_nothing_that_is_said_and_no_report_is_called_missing() {
        let way = |received_bytes| DatagramDirection {
            sent: Some(7),
            received_bytes,
            ..DatagramDirection::default()
        };
        let note = |received| goodput("up", &way(received)).note.unwrap_or_default();
        assert_eq!(note(None), "the receiver has not told what came");
        let told = note(Some(7 << 10));
        assert!(told.starts_with("7 KiB"), "{told}");
    }
}
