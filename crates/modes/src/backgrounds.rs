//! What each end saw beside its flows, over time: a series for each figure in which anything happened, and statistics of its points.
//!
//! Not here: what the flows did, which the modes tell.

use std::collections::BTreeSet;

use pathscope_core::counters::HostActivity;
use pathscope_core::figure::{Part, Unit};
use pathscope_core::id::FlowId;
use pathscope_core::journal::{ActivityRow, Entry, SenderRow};
use pathscope_core::presentation::{Background, Chart, Series, SeriesPoint, Source, Table, Value};
use pathscope_core::stats::NumberFigures;
use pathscope_core::tcp_look::TcpLook;

use crate::document::{Document, Interval, Measurement};
use crate::end::Hosts;
use crate::figure::Amount as _;
use crate::figures::ENDS;
use crate::registry::EndInterval;

/// An end: its name, and its intervals among those of a measurement.
type End = (&'static str, fn(&Interval) -> Option<&EndInterval>);

const ENDS_BY_NAME: [End; 2] = [
    ("client", |interval| interval.client.as_ref()),
    ("server", |interval| interval.server.as_ref()),
];

/// Connections of each end that are told one by one: what intervals of a file may have is any number.
const SENDERS_TOLD: usize = 8;

/// What of a machine's activity is told: the end of its figure's name and its place, its value, and whether 0 is told, too.
type Activity = (&'static str, &'static str, fn(&HostActivity) -> Option<f64>, bool);

const ACTIVITIES: [Activity; 7] = [
    ("busiest", "busiest_ratio", |it| it.busiest_ratio, true),
    ("soft_interrupt", "soft_interrupt_ratio", |it| it.soft_interrupt_ratio, true),
    ("stolen", "stolen_ratio", |it| it.stolen_ratio, false),
    ("retransmits", "retransmits", |it| Some(it.retransmits as f64), false),
    ("timeouts", "timeouts", |it| Some(it.timeouts as f64), false),
    (
        "receive_buffer_errors",
        "receive_buffer_errors",
        |it| Some(it.receive_buffer_errors as f64),
        false,
    ),
    ("drops", "drops", |it| Some(it.drops as f64), false),
];

/// What of a connection that sends is told over time: the end of its figure's name, its place, its value, and whether that is a
/// count since the connection began, of which the part of each interval is told where there is any.
type Look = (&'static str, &'static str, fn(&TcpLook) -> Option<u64>, bool);

/// What is told of connections together: durations of a kind, or counts.
const SENDERS: [(&str, &[Look]); 4] = [
    (
        "congestion windows",
        &[("window", "congestion_window_bytes", |it| it.congestion_window_bytes, false)],
    ),
    (
        "round trips of TCP",
        &[
            ("rtt", "rtt_ns", |it| it.rtt_ns, false),
            ("rtt_variation", "rtt_variation_ns", |it| it.rtt_variation_ns, false),
        ],
    ),
    (
        "retransmission timeouts",
        &[("timeout", "retransmission_timeout_ns", |it| it.retransmission_timeout_ns, false)],
    ),
    (
        "losses of TCP",
        &[
            ("retransmits", "retransmits", |it| it.retransmits, true),
            ("duplicates", "duplicates", |it| it.duplicates, true),
            ("timeouts", "timeouts", |it| it.timeouts, true),
            ("reorderings", "reorderings", |it| it.reorderings, true),
        ],
    ),
];

/// All of a measurement; those of nothing are left out.
pub(crate) fn backgrounds(measurement: &Measurement, hosts: &Hosts) -> Vec<Background> {
    let mut all = vec![background("machines", machines(measurement, hosts))];
    let of_senders = SENDERS.iter().map(|(title, looks)| {
        background(title, looks.iter().flat_map(|look| senders(measurement, look)).collect())
    });
    all.extend(of_senders);
    all.retain(|background| !background.series.is_empty());
    all
}

/// What the machines did. Those that count the same are told once.
fn machines(measurement: &Measurement, hosts: &Hosts) -> Vec<Series> {
    let ends = if hosts.count_one_network() { &ENDS_BY_NAME[..1] } else { &ENDS_BY_NAME[..] };
    let each = |(end, interval): &End| {
        let of_end = ACTIVITIES.iter().map(|&(name, place, value, tells_zero)| {
            let place = format!("{end}.host_activity.{place}");
            let figure = format!("activity.{name}");
            let source = ENDS.series(&Part::Side(end), &figure, &place, Chart::Line);
            let label = format!("{}, {end}", source.label);
            let value = |end: &EndInterval| end.host_activity.as_ref().and_then(value);
            let series =
                over_time(Source { label, ..source }, measurement, *interval, (value, over));
            (series, tells_zero)
        });
        of_end.collect::<Vec<_>>()
    };
    let all = ends.iter().flat_map(each).filter(|(series, tells_zero)| {
        let mut values = series.points.iter().filter_map(|point| point.value);
        values.any(|value| *tells_zero || value > 0.0)
    });
    all.map(|(series, _)| series).collect()
}

/// What the machines sent again of TCP while connections were told to send, to stand beside a rate: that of each end that sends, where
/// it was anything.
pub(crate) fn retransmits(measurement: &Measurement, hosts: &Hosts) -> Vec<Series> {
    let sends = |(_, interval): &&End| {
        let mut ends = measurement.intervals.iter().filter_map(*interval);
        ends.any(|end| !end.senders.is_empty())
    };
    let senders: Vec<&str> = ENDS_BY_NAME.iter().filter(sends).map(|(end, _)| *end).collect();
    // Where both count the same, the client tells all.
    let told =
        if hosts.count_one_network() && !senders.is_empty() { vec!["client"] } else { senders };
    let ids: Vec<String> =
        told.iter().map(|end| format!("end.activity.retransmits.{end}")).collect();
    let mut all = machines(measurement, hosts);
    all.retain(|series| ids.contains(&series.source.id));
    all
}

/// One thing that is told of each connection on which an end sends.
fn senders(measurement: &Measurement, look: &Look) -> Vec<Series> {
    let &(name, place, value, is_count) = look;
    // A connection is looked at where an interval ends; what it has counted since is of all of it.
    let when: When = if is_count { over } else { at_end };
    let each = |(end, interval): &End| {
        let intervals = || measurement.intervals.iter().filter_map(*interval);
        let looks = intervals().flat_map(|interval| &interval.senders);
        let flows: BTreeSet<FlowId> = looks.map(|look| look.flow).collect();
        let series = flows.into_iter().take(SENDERS_TOLD).map(|flow| {
            let place = format!("{end}.senders[].{place}");
            let source =
                ENDS.series(&Part::Side(end), &format!("sender.{name}"), &place, Chart::Line);
            let label = format!("{}, {end}, flow {flow}", source.label);
            let mut before = 0;
            let value = |interval: &EndInterval| {
                let look = interval.senders.iter().find(|look| look.flow == flow)?;
                let value = value(look)?;
                let since = value.saturating_sub(before);
                before = value;
                Some(if is_count { since } else { value } as f64)
            };
            over_time(Source { label, ..source }, measurement, *interval, (value, when))
        });
        series.collect::<Vec<_>>()
    };
    let mut all: Vec<Series> = ENDS_BY_NAME.iter().flat_map(each).collect();
    all.retain(|series| {
        series.points.iter().filter_map(|point| point.value).any(|value| !is_count || value > 0.0)
    });
    all
}

/// Which part of an interval a value is of.
type When = fn(&EndInterval, Option<f64>) -> SeriesPoint;

fn over(interval: &EndInterval, value: Option<f64>) -> SeriesPoint {
    SeriesPoint::over(interval.start_ns, interval.end_ns, value)
}

fn at_end(interval: &EndInterval, value: Option<f64>) -> SeriesPoint {
    SeriesPoint::at(interval.end_ns, value)
}

fn over_time(
    source: Source,
    measurement: &Measurement,
    end: fn(&Interval) -> Option<&EndInterval>,
    (mut value, when): (impl FnMut(&EndInterval) -> Option<f64>, When),
) -> Series {
    let intervals = measurement.intervals.iter().filter_map(end);
    let point = |interval: &EndInterval| {
        let mut point = when(interval, value(interval));
        point.moved(measurement.start_ns);
        point
    };
    Series { source, points: intervals.map(point).collect() }
}

fn background(title: &str, series: Vec<Series>) -> Background {
    let mut units: Vec<Unit> = Vec::new();
    for unit in series.iter().map(|series| series.source.unit) {
        if !units.contains(&unit) {
            units.push(unit);
        }
    }
    let heads = ["", "min", "p25", "median", "p75", "max", "mean", "deviation"];
    let table = |unit: Unit| {
        let same = series.iter().filter(|series| series.source.unit == unit);
        Table::new(format!("{title}, of intervals"), heads, same.filter_map(statistics))
    };
    let statistics = units.into_iter().map(table).collect();
    Background { title: title.to_owned(), series, statistics }
}

/// The statistics of the points of a series, each of which counts the same.
fn statistics(series: &Series) -> Option<Vec<Value>> {
    let unit = series.source.unit;
    let figures = NumberFigures::of(series.points.iter().filter_map(|point| point.value))?;
    let NumberFigures { min, lower_quartile, median, upper_quartile, max, mean, .. } = figures;
    let numbers = [min, lower_quartile, median, upper_quartile, max, mean];
    let numbers = numbers.into_iter().map(Some).chain([figures.standard_deviation]);
    // Whole, so that a column has one unit.
    let numbers =
        numbers.map(|number| if unit == Unit::Bytes { number.map(f64::round) } else { number });
    let label = Value::Text(series.source.label.clone());
    Some([label].into_iter().chain(numbers.map(|number| number.value(unit))).collect())
}

/// What machines did in each interval, and how connections stood at its end, as rows of files: of each interval first the client's.
pub fn rows(document: &Document) -> Vec<Entry> {
    let mut rows = Vec::new();
    for measurement in &document.measurements {
        for (end, of) in
            measurement.intervals.iter().flat_map(|it| ENDS_BY_NAME.map(|end| (end.0, (end.1)(it))))
        {
            let Some(own) = of else { continue };
            let at_ns = measurement.start_ns.saturating_add(own.end_ns);
            let name = || measurement.name.clone();
            rows.extend(own.host_activity.map(|activity| {
                let row = ActivityRow { at_ns, end, measurement: name(), activity };
                Entry::Activity(Box::new(row))
            }));
            rows.extend(own.senders.iter().map(|&look| {
                Entry::Sender(Box::new(SenderRow { at_ns, end, measurement: name(), look }))
            }));
        }
    }
    rows
}
