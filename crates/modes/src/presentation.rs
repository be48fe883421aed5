//! A document as a presentation. Asks each mode for its figures; knows no view.

use pathscope_core::counters::HostCounters;
use pathscope_core::presentation::{
    Figure, Presentation, Row, Section, Series, Shape, Table, Value,
};
use pathscope_core::quantity::{bytes, count, counted, duration_ns, duration_range, ratio};
use pathscope_core::record::{Host, LabNode, OffCpu, WorkerUsage};
use pathscope_core::stats::LatencyFigures;

use crate::document::{Document, Interval, Measurement, OutcomeState};
use crate::end::Hosts;
use crate::figure::Point;
use crate::figures::ENDS;
use crate::registry::{EndReport, InDocuments, ProbePlan, Test, Visitor};
use crate::results::{Detail, Ends};
use crate::settings::settings;
use crate::{goodput, probes, search};

/// All of a document.
pub fn presentation(document: &Document) -> Presentation {
    let mut sections: Vec<Section> = overview(document).into_iter().collect();
    // Several measurements are looked at side by side; their connections stand in the document.
    let detail =
        if document.measurements.len() > 1 { Detail::Failures } else { Detail::Everything };
    sections.extend(shown(document).map(|(number, it)| Section {
        place: format!("measurements[{}]", number - 1),
        server: document.target.clone(),
        ..section(it, &document.hosts, detail)
    }));
    Presentation {
        title: title(&document.kind, document.target.as_deref()),
        context: context(document),
        sections,
        caveats: document.caveats.clone(),
    }
}

/// The measurements that are told in full, by their numbers from 1: of a search, the trial that shows what was found, and those in which
/// something was wrong.
fn shown(document: &Document) -> impl Iterator<Item = (u64, &Measurement)> {
    let found = document.rate_search.as_ref().map(|search| search.found.map(|found| found.trial));
    let is_shown = move |(number, measurement): &(u64, &Measurement)| {
        let has_failed = || measurement.checks.iter().any(|check| !check.passed);
        found.is_none_or(|found| found == Some(*number) || has_failed())
    };
    (1..).zip(&document.measurements).filter(is_shown)
}

/// What is said before anything is measured.
pub fn title(kind: &str, target: Option<&str>) -> String {
    match target {
        Some(target) => format!("{kind} of {target}"),
        None => format!("{kind} against an embedded server"),
    }
}

/// One line of the live report: the interval as both ends saw it.
pub fn row(name: &str, test: &Test, interval: &Interval) -> Row {
    let end_ns = interval.either().map(|end| end.end_ns);
    let mut cells = vec![Figure::new("time", end_ns.map_or(Value::Absent, Value::Duration))];
    cells.extend(test.plan.visit(Cells(interval)));
    let probes = test.probe.iter();
    cells.extend(probes.flat_map(|_| probes::cells(interval.slices::<ProbePlan>())));
    Row { section: name.to_owned(), cells }
}

struct Cells<'interval>(&'interval Interval);

impl Visitor for Cells<'_> {
    type Output = Vec<Figure>;

    fn visit<M: InDocuments>(self, plan: &M) -> Vec<Figure> {
        plan.cells(self.0.slices::<M>())
    }
}

fn context(document: &Document) -> Vec<Figure> {
    let mut context = vec![Figure::setting("started", &document.started_at)];
    context.push(Figure::setting("client", host(&document.hosts.client)));
    match &document.hosts.server {
        Some(_) if document.hosts.is_one_machine() => {
            context.push(Figure::setting("server", "the same machine"));
        }
        Some(server) => context.push(Figure::setting("server", host(server))),
        None => {}
    }
    context.extend(lab(document).map(|lab| Figure::setting("lab", lab)));
    let hosts = document.hosts.both();
    let control = hosts.map(|host| host.network.congestion_control.as_deref().unwrap_or("unknown"));
    let mut control: Vec<&str> = control.collect();
    control.dedup();
    context.push(Figure::setting(
        "congestion_control",
        asked_control(document).unwrap_or_else(|| control.join(", ")),
    ));
    if document.outcome.state != OutcomeState::Complete {
        let reason = document.outcome.reason.clone().unwrap_or_default();
        context.push(Figure::setting("ended_early", reason));
    }
    context
}

/// The test network that an end is a node of.
fn lab(document: &Document) -> Option<String> {
    let nodes: Vec<_> = document.hosts.both().filter_map(|host| host.lab.as_ref()).collect();
    let first = nodes.first()?;
    let names: Vec<&str> = nodes.iter().map(|node| node.node.as_str()).collect();
    let LabNode { lab, shaper, seed, .. } = first;
    Some(format!("{lab}, {}, shaped by {shaper}, seed {seed}", names.join(" to ")))
}

/// The congestion control that the plans ask for, where they do.
fn asked_control(document: &Document) -> Option<String> {
    document
        .measurements
        .iter()
        .find_map(|measurement| measurement.test.plan.asks().congestion_control.map(str::to_owned))
}

fn host(host: &Host) -> String {
    let cpus = match host.cpus_allowed.len() {
        1 => "1 CPU".to_owned(),
        cpus => format!("{cpus} CPUs"),
    };
    let memory =
        host.memory_bytes.map_or_else(String::new, |memory| format!(", {}", bytes(memory)));
    let guest = if host.virtualized == Some(true) { ", virtual" } else { "" };
    format!("{}: {}, {cpus}{memory}{guest}", host.name, host.kernel)
}

/// Several measurements side by side.
fn overview(document: &Document) -> Option<Section> {
    if let Some(found) = &document.rate_search {
        let server = document.target.clone();
        return Some(Section { server, ..search::presentation::section(found) });
    }
    if document.measurements.len() < 2 {
        return None;
    }
    if let Some(table) = of_one_mode(&document.measurements) {
        let title = "summary".to_owned();
        return Some(Section { title, tables: vec![table], ..Section::default() });
    }
    let columns =
        ["", "goodput up", "goodput down", "RTT p50", "RTT p75", "RTT p99", "RTT max", "lost"];
    let table = Table::new("", columns, document.measurements.iter().map(overview_row));
    Some(Section { title: "summary".to_owned(), tables: vec![table], ..Section::default() })
}

/// Runs of one mode side by side, where that has a table for it.
fn of_one_mode(measurements: &[Measurement]) -> Option<Table> {
    measurements.first()?.test.plan.visit(Overview(measurements))
}

struct Overview<'all>(&'all [Measurement]);

impl Visitor for Overview<'_> {
    type Output = Option<Table>;

    fn visit<M: InDocuments>(self, _: &M) -> Option<Table> {
        let runs = self.0.iter();
        let runs = runs.map(|it| Some((it.name.as_str(), M::summary_of(&it.summary)?)));
        let runs: Vec<_> = runs.collect::<Option<_>>()?;
        M::overview(&runs)
    }
}

fn overview_row(measurement: &Measurement) -> Vec<Value> {
    let summary = &measurement.summary;
    let rate = |pick: fn(&goodput::GoodputSummary) -> Option<goodput::DirectionSummary>| {
        let direction = summary.goodput.as_ref().and_then(pick);
        direction.and_then(|direction| direction.goodput_bps).map_or(Value::Absent, Value::BitRate)
    };
    let pings = summary.latency.as_ref().or(summary.probe.as_ref());
    let percentile = |percent: f64| {
        let percentile = pings.and_then(|pings| pings.rtt.percentile(percent));
        percentile.copied().map_or(Value::Absent, Value::Percentile)
    };
    vec![
        Value::Text(measurement.name.clone()),
        rate(|goodput| goodput.up),
        rate(|goodput| goodput.down),
        percentile(50.0),
        percentile(75.0),
        percentile(99.0),
        pings.and_then(|pings| pings.rtt.max_ns).map_or(Value::Absent, Value::Duration),
        pings.map_or(Value::Absent, |pings| Value::Count(pings.lost)),
    ]
}

fn section(measurement: &Measurement, hosts: &Hosts, detail: Detail) -> Section {
    let Told { mut figures, tables, mut distributions } =
        measurement.test.plan.visit(Tell { measurement, hosts, detail });
    figures.extend(measurement.summary.probe.iter().flat_map(probes::figures));
    figures.extend(measurement.client.connect.as_ref().map(connect_time));
    figures.extend(machinery(measurement));
    figures.extend(off_cpu(measurement));
    figures.extend(machines(measurement));
    if distributions.is_empty() {
        distributions.extend(probes::distribution(&measurement.client));
    }
    Section {
        title: measurement.name.clone(),
        subtitle: measurement.test.plan.subtitle(),
        settings: settings(&measurement.test),
        figures,
        tables,
        series: series(measurement),
        distributions,
        checks: measurement.checks.clone(),
        verdict: measurement.verdict.clone(),
        caveats: measurement.caveats.clone(),
        ..Section::default()
    }
}

/// What a mode has told of a measurement.
#[derive(Default)]
struct Told {
    figures: Vec<Figure>,
    tables: Vec<Table>,
    distributions: Vec<Shape>,
}

/// Has a mode tell of a measurement.
struct Tell<'all> {
    measurement: &'all Measurement,
    hosts: &'all Hosts,
    detail: Detail,
}

impl Visitor for Tell<'_> {
    type Output = Told;

    fn visit<M: InDocuments>(self, plan: &M) -> Told {
        let Measurement { client, server, summary, .. } = self.measurement;
        let Some(summary) = M::summary_of(summary) else { return Told::default() };
        let figures = plan.figures(summary);
        let Some(of_client) = client.end(M::report(client)) else {
            return Told { figures, ..Told::default() };
        };
        let server = server.as_ref().and_then(|server| server.end(M::report(server)));
        let ends = Ends { client: of_client, server, hosts: self.hosts };
        Told {
            figures,
            tables: plan.tables(summary, &ends, self.detail),
            distributions: M::distributions(&ends),
        }
    }
}

/// What each end says of its workers, beside each other.
fn of_workers(
    measurement: &Measurement,
    label: &str,
    said: impl Fn(&[WorkerUsage]) -> Option<String>,
) -> Option<Figure> {
    let ends = [("client", Some(&measurement.client)), ("server", measurement.server.as_ref())];
    let text =
        |(name, end): (&str, Option<&EndReport>)| Some(format!("{name} {}", said(&end?.workers)?));
    let ends: Vec<String> = ends.into_iter().filter_map(text).collect();
    (!ends.is_empty()).then(|| Figure::new(label, Value::Text(ends.join("; "))))
}

/// How long connections took to be established.
fn connect_time(connects: &LatencyFigures) -> Figure {
    let mean = connects.mean_ns.map(|mean| mean as u64);
    let median = connects.median_ns();
    let (which, statistic) =
        if median.is_some() { ("median", "connect.p50") } else { ("mean", "connect.mean") };
    let figure = ENDS.of("client", statistic, median.or(mean)).labelled("connect time");
    match (connects.count, connects.min_ns, connects.max_ns) {
        (2.., Some(least), Some(most)) => {
            let range = duration_range(least, most);
            figure.with_note(format!("{which} of {}; {range}", count(connects.count)))
        }
        _ => figure,
    }
}

/// How the bytes moved: engine and wait of each end, as they ran.
fn machinery(measurement: &Measurement) -> Option<Figure> {
    of_workers(measurement, "engine, wait", |workers| {
        let first = workers.first()?;
        let threads =
            if workers.len() == 1 { String::new() } else { format!(" × {}", workers.len()) };
        Some(format!("{} {}{threads}", first.engine, first.wait))
    })
}

/// When workers that never sleep were seen not to run: what is late by then is late by the host.
fn off_cpu(measurement: &Measurement) -> Option<Figure> {
    of_workers(measurement, "spinning, off CPU", |workers| {
        let seen = workers.iter().filter_map(|worker| worker.off_cpu).reduce(OffCpu::with)?;
        (seen.times > 0).then(|| {
            let (times, longest) = (counted(seen.times, "time"), duration_ns(seen.longest_ns));
            format!("{times}, {} in all, {longest} at most", duration_ns(seen.total_ns))
        })
    })
}

/// What the machines did meanwhile: each end's busiest processor, and what it dropped, if anything.
fn machines(measurement: &Measurement) -> Vec<Figure> {
    let ends = [
        ("client", measurement.client.host.as_ref()),
        ("server", measurement.server.as_ref().and_then(|server| server.host.as_ref())),
    ];
    let cpu = |(name, host): &(&str, Option<&HostCounters>)| {
        let busiest = host.as_ref()?.busiest()?;
        let stolen = if busiest.stolen >= 0.01 {
            format!(", {} stolen", ratio(busiest.stolen))
        } else {
            String::new()
        };
        let (busy, soft) = (ratio(busiest.busy), ratio(busiest.soft_interrupt));
        Some(format!("{name} {busy}, {soft} soft interrupts{stolen}"))
    };
    let drops = |(name, host): &(&str, Option<&HostCounters>)| {
        let drops = host.as_ref()?.drops();
        let named: Vec<String> =
            drops.iter().map(|(what, dropped)| format!("{what} {}", count(*dropped))).collect();
        (!named.is_empty()).then(|| format!("{name}: {}", named.join(", ")))
    };
    let figure = |label: &str, texts: Vec<String>| {
        (!texts.is_empty()).then(|| Figure::new(label, Value::Text(texts.join("; "))))
    };
    [
        figure("busiest CPU", ends.iter().filter_map(cpu).collect()),
        figure("dropped here", ends.iter().filter_map(drops).collect()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Figures over time, in the order in which the mode and the probes have them.
fn series(measurement: &Measurement) -> Vec<Series> {
    let Measurement { test, start_ns, intervals, .. } = measurement;
    let mut all: Vec<Series> = Vec::new();
    for interval in intervals {
        let Some(end) = interval.either() else { continue };
        // The last interval, cut short by the end, says little of a rate.
        let length_ns = end.end_ns.saturating_sub(end.start_ns);
        if length_ns.saturating_mul(2) < test.report_every_ns.0 {
            continue;
        }
        // What came after a program stood still had waited in buffers, and is no rate of the path.
        let mut ends = [&interval.client, &interval.server].into_iter().flatten();
        let is_plain = ends.all(|end| end.stood_still_ns.is_none());
        let mut points = test.plan.visit(Points(interval));
        let probes = test.probe.iter();
        points.extend(probes.map(|_| probes::point(interval.slices::<ProbePlan>())));
        for Point { source, value } in points {
            let is_it = |series: &Series| series.source.id == source.id;
            let place = all.iter().position(is_it).unwrap_or_else(|| {
                all.push(Series { source, points: Vec::new() });
                all.len() - 1
            });
            let at = start_ns.saturating_add(end.start_ns);
            all[place].points.push((at, value.filter(|_| is_plain)));
        }
    }
    all.retain(|series| series.points.iter().any(|(_, value)| value.is_some()));
    all
}

struct Points<'interval>(&'interval Interval);

impl Visitor for Points<'_> {
    type Output = Vec<Point>;

    fn visit<M: InDocuments>(self, plan: &M) -> Vec<Point> {
        plan.points(self.0.slices::<M>())
    }
}
