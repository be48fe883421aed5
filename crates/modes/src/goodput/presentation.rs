//! A goodput test as labelled figures: all that a view needs.

use pathscope_core::figure::Part;
use pathscope_core::presentation::{Bars, Chart, Figure, Source, Table, Value};
use pathscope_core::quantity::{bit_rate, bytes, count, counted, duration_ns, rate_range, total};
use pathscope_core::record::FlowFacts;

use super::figures::GROUP;
use super::{
    DirectionSummary, ErrnoCounts, FailureTimes, GoodputInterval, GoodputPlan, GoodputReport,
    GoodputSummary,
};
use crate::end::EndedConnections;
use crate::figure::{Amount, Cell, Group, PlainCell, Point, Unit, counts, notes};
use crate::load::bars::{Shares, bars};
use crate::load::presentation::{self as load, BothEnds, Received};
use crate::load::{FailureCounts, FastOpen, FlowRate, RemoteCounts, Verify};
use crate::results::{Detail, Ends, Presents, Slices};

/// Starved connections that are named.
const STARVED_SHOWN: usize = 5;

impl Presents for GoodputPlan {
    fn cells(&self, interval: Slices<'_, Self>) -> Vec<Figure> {
        received(self, interval).map(|it| it.cell(&GROUP)).collect()
    }

    fn points(&self, _: &Self::Summary, interval: Slices<'_, Self>) -> Vec<Point> {
        let ended = interval.client.as_ref().map(|client| client.ended.unwrap_or_default());
        let rates = received(self, interval).map(|it| it.point(&GROUP));
        rates.chain(failures(ended)).collect()
    }

    fn figures(&self, summary: &GoodputSummary) -> Vec<Figure> {
        let mut figures = Vec::new();
        let is_both = summary.up.is_some() && summary.down.is_some();
        for (way, direction) in [("up", &summary.up), ("down", &summary.down)] {
            let Some(direction) = direction else { continue };
            figures.push(acknowledged(way, direction).unwrap_or_else(|| goodput(way, direction)));
            let index = (direction.fairness, direction.no_fairness);
            let fairness = load::fairness(&GROUP, way, index, spread(direction));
            let label = if is_both { format!("fairness {way}") } else { "fairness".to_owned() };
            figures.extend(fairness.map(|figure| figure.labelled(label)));
        }
        figures.extend(starved(summary));
        let retransmits = summary.retransmits;
        figures.extend(retransmits.map(|it| GROUP.figure("retransmits", it).with_note("segments")));
        figures.push(completed(summary));
        figures.extend(summary.fast_open.iter().flat_map(fast_open));
        figures.extend(failure_times(summary));
        figures
    }

    fn tables(&self, summary: &Self::Summary, ends: &Ends<'_, Self>, detail: Detail) -> Vec<Table> {
        let (client, server) = (ends.of_client(), ends.of_server());
        let has_failures = client.failed > 0 || server.is_some_and(|server| server.failed > 0);
        let is_told = has_failures || detail == Detail::Everything;
        let connections = is_told.then(|| connections(client, server)).flatten();
        connections.into_iter().chain(errnos(summary)).chain(remotes(summary)).collect()
    }

    fn bars(&self, summary: &GoodputSummary, ends: &Ends<'_, Self>) -> Vec<Bars> {
        let ways =
            [("up", summary.up, ends.of_server()), ("down", summary.down, Some(ends.of_client()))];
        ways.into_iter().filter_map(|(way, direction, end)| shares(way, direction?, end?)).collect()
    }
}

/// What each connection got, as its receiver says it.
fn shares(
    way: &'static str,
    direction: DirectionSummary,
    receiver: &GoodputReport,
) -> Option<Bars> {
    let rate =
        |flow: &FlowFacts| Some(FlowRate { flow: flow.flow, received_bps: flow.received_bps? });
    let shares = Shares {
        thing: "connection",
        rates: receiver.flows.iter().filter_map(rate).collect(),
        sums: receiver.rates,
        median_bps: direction.median_bps,
        fairness: direction.fairness,
    };
    bars(&GROUP, way, shares)
}

/// What each receiver counted in the interval, up and down, or else what was acknowledged.
fn received<'a>(
    plan: &GoodputPlan,
    interval: Slices<'a, GoodputPlan>,
) -> impl Iterator<Item = Counted<'a>> {
    let acknowledged = interval.client.as_ref().and_then(|client| {
        let bytes = client.own?.acknowledged_bytes?;
        client.rate_bps(|_| bytes)
    });
    let ways = (plan.is_up(), plan.is_down());
    let received = load::received(ways, interval, |own: &GoodputInterval| own.received_bytes);
    received.map(move |it| match acknowledged {
        Some(rate_bps) if it.way == "up" => Counted::Acknowledged(rate_bps),
        _ => Counted::Received(it),
    })
}

/// What is known of a direction in an interval.
enum Counted<'a> {
    /// What its receiver took.
    Received(Received<'a, GoodputInterval>),
    /// Of the client's sends, whose receiver tells nothing: what was acknowledged a second.
    Acknowledged(f64),
}

impl Counted<'_> {
    fn cell(&self, group: &Group) -> Figure {
        match self {
            Self::Received(it) => it.cell(group, "rate"),
            Self::Acknowledged(rate) => {
                group.of("up", "acknowledged", Some(*rate)).labelled("acked up")
            }
        }
    }

    fn point(&self, group: &Group) -> Point {
        match self {
            Self::Received(it) => it.point(group, "rate"),
            Self::Acknowledged(rate) => {
                let place = "client.goodput.acknowledged_bytes";
                let source = group.series(&Part::Side("up"), "acknowledged", place, Chart::Area);
                let label = "acked up".to_owned();
                Point { source: Source { label, ..source }, value: Some(*rate) }
            }
        }
    }
}

/// A kind of failure: its figure, its place in what ended in an interval, what people call it, and how many.
type FailureKind = (&'static str, &'static str, &'static str, fn(&EndedConnections) -> u64);

const FAILURE_KINDS: [FailureKind; 4] = [
    ("failures.network", "network", "failed: network", |ended| ended.network),
    ("failures.data", "data", "failed: data", |ended| ended.data),
    ("failures.protocol", "protocol", "failed: protocol", |ended| ended.protocol),
    // An earlier version does not say of what.
    ("failed", "failed", "failed", EndedConnections::of_no_kind),
];

/// Connections that failed in an interval, as the client saw it, by what they failed of.
fn failures(ended: Option<EndedConnections>) -> impl Iterator<Item = Point> {
    FAILURE_KINDS.into_iter().map(move |(figure, place, label, number)| {
        let place = format!("client.ended.{place}");
        let source = GROUP.series(&Part::Whole, figure, &place, Chart::Stack);
        let value = ended.as_ref().map(|ended| number(ended) as f64);
        Point { source: Source { label: label.to_owned(), ..source }, value }
    })
}

/// What became of connections.
fn completed(summary: &GoodputSummary) -> Figure {
    // Results of the first version do not say how many were attempted.
    let told = total([summary.completed, summary.failed, summary.cut, summary.unknown]);
    let attempted = count(summary.attempted.max(told));
    let failed = format!("failed{}", kinds(&summary.failures));
    let mut became = vec![format!("of {attempted} completed")];
    became.extend(counts([
        (summary.failed, failed.as_str()),
        (summary.cut, "cut by the end of the run"),
        (summary.unknown, "unknown: the server has not said"),
    ]));
    let rate = summary.completed_per_second;
    let rate = rate.map(|rate| format!("{} a second", count(rate.round() as u64)));
    let note = notes([Some(became.join(", ")), rate]);
    GROUP.figure("completed", summary.completed).with_note(note)
}

/// Of connections that were to be opened with what they say first, how many were.
fn fast_open(counts: &FastOpen) -> [Figure; 2] {
    let &FastOpen { taken, fell_back, .. } = counts;
    let all = counted(total([taken, fell_back]), "connection");
    [
        GROUP
            .figure("fast_open.taken", taken)
            .with_note(format!("of {all} that followed others opened with their first bytes")),
        GROUP.figure("fast_open.fell_back", fell_back).with_note("opened as ever"),
    ]
}

/// How many failed by what, where that is known.
fn kinds(failures: &FailureCounts) -> String {
    let FailureCounts { network, data, protocol } = *failures;
    let kinds = counts([(network, "network"), (data, "data"), (protocol, "protocol")]);
    if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) }
}

fn goodput(way: &'static str, direction: &DirectionSummary) -> Figure {
    // Results of the first version do not say which bytes were compared where not all were.
    let verify = direction.verify.unwrap_or(Verify::Off);
    let verify = if direction.verified { Verify::Full } else { verify };
    let window = direction.goodput_bps.map(|_| direction.window_ns);
    let note = load::taken((direction.sent_bytes, direction.received_bytes), verify, window);
    let figure = GROUP.of(way, "rate", direction.goodput_bps);
    figure.labelled(format!("goodput {way}")).of("goodput").with_note(note)
}

/// What was acknowledged, in place of what was received, where the receiver tells nothing.
fn acknowledged(way: &'static str, direction: &DirectionSummary) -> Option<Figure> {
    let all = direction.acknowledged_bytes?;
    let sent = direction.sent_bytes.map(|sent| format!(" of {} sent", bytes(sent)));
    let note = format!(
        "{}{} acknowledged; what the receiver took and checked it does not tell",
        bytes(all),
        sent.unwrap_or_default()
    );
    let figure = GROUP.of(way, "acknowledged", direction.acknowledged_bps);
    Some(figure.labelled(format!("acked {way}")).of("acked").with_note(note))
}

fn spread(direction: &DirectionSummary) -> String {
    let range = direction.slowest_bps.zip(direction.fastest_bps);
    let median = direction.median_bps.filter(|_| range.is_some());
    let rest = (direction.too_short > 0).then(|| counted(direction.too_short, "connection"));
    notes([
        Some("Jain's index over the connections".to_owned()),
        median.map(|median| format!("median {}", bit_rate(median))),
        range.map(|(slowest, fastest)| rate_range(slowest, fastest)),
        rest.map(|rest| format!("without {rest} too short to have rates")),
    ])
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
    let mut names: Vec<String> = names.collect();
    let more = all.saturating_sub(names.len() as u64);
    names.extend((more > 0).then(|| format!("and {} more", count(more))));
    let note = format!("less than a tenth of the median: {}", names.join(", "));
    let starved = match (both, summary.up) {
        // Those of both ways together.
        (true, _) => Figure::new("starved", Value::Count(all)),
        (false, up) => GROUP.of(if up.is_some() { "up" } else { "down" }, "starved", all),
    };
    (all > 0).then(|| starved.with_note(note))
}

/// Of which errors of the system connections failed.
fn errnos(summary: &GoodputSummary) -> Option<Table> {
    let columns: [Cell<ErrnoCounts>; 3] = [
        ("error", "", |counts| Value::Text(counts.errno.clone())),
        ("client", "errno.client", |counts| Value::Count(counts.client)),
        ("server", "errno.server", |counts| Value::Count(counts.server)),
    ];
    let rows = summary.errnos.iter();
    let rows = rows.map(|counts| ("errno", Part::Entry(counts.errno.clone()), counts));
    let is_told = !summary.errnos.is_empty();
    is_told.then(|| GROUP.table("failures by error of the system", &columns, rows))
}

/// What became of connections by the server's address, where it has several.
fn remotes(summary: &GoodputSummary) -> Option<Table> {
    let columns: [Cell<RemoteCounts>; 6] = [
        ("address", "", |remote| Value::Text(remote.address.clone())),
        ("completed", "completed", |remote| Value::Count(remote.completed)),
        ("failed", "failed", |remote| Value::Count(remote.failed)),
        ("cut", "cut", |remote| Value::Count(remote.cut)),
        ("sent", "sent", |remote| Value::Bytes(remote.sent_bytes)),
        ("received", "received", |remote| Value::Bytes(remote.received_bytes)),
    ];
    let rows = summary.remotes.iter();
    let rows = rows.map(|remote| ("address", Part::Entry(remote.address.clone()), remote));
    let is_told = summary.remotes.len() > 1;
    is_told.then(|| GROUP.table("by address of the server", &columns, rows))
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
fn connections(client: &GoodputReport, server: Option<&GoodputReport>) -> Option<Table> {
    let columns: [PlainCell<BothEnds<'_, FlowFacts>>; 8] = [
        ("flow", |(here, _)| Value::Count(here.flow.0.into())),
        ("sent", |(here, _)| Value::Bytes(here.sent_bytes)),
        ("received", |(here, _)| Value::Bytes(here.received_bytes)),
        ("up", |(_, there)| there.and_then(|there| there.received_bps).value(Unit::BitRate)),
        ("down", |(here, _)| here.received_bps.value(Unit::BitRate)),
        ("RTT", |(here, _)| here.tcp.and_then(|tcp| tcp.rtt_ns).value(Unit::Duration)),
        ("retransmits", |&(here, there)| retransmits(here, there).value(Unit::Count)),
        ("error", |(here, there)| {
            load::error(here.error.as_ref(), there.and_then(|there| there.error.as_ref()))
        }),
    ];
    let ends = (&*client.flows, server.map(|server| &*server.flows));
    load::flows("connections", &columns, ends, |flow| flow.flow, client.failed)
}

fn retransmits(here: &FlowFacts, there: Option<&FlowFacts>) -> Option<u64> {
    let ends = [Some(here), there].into_iter().flatten();
    ends.filter_map(|flow| flow.tcp?.retransmits).reduce(u64::saturating_add)
}
