//! A document as a presentation. Asks each mode for its figures; knows no view.

use pathscope_core::counters::HostCounters;
use pathscope_core::presentation::{
    Figure, Presentation, Row, Section, Series, Table, Unit, Value,
};
use pathscope_core::quantity::{bytes, count, counted, duration_ns, duration_range, ratio};
use pathscope_core::record::{Host, LabNode, OffCpu, WorkerUsage};
use pathscope_core::stats::LatencyFigures;

use crate::document::{Document, Interval, Measurement, OutcomeState};
use crate::registry::{EndInterval, EndReport, Plan, Test};
use crate::{datagrams, goodput, latency, media, multipath};

/// All of a document.
pub fn presentation(document: &Document) -> Presentation {
    let mut sections: Vec<Section> = overview(document).into_iter().collect();
    // Several measurements are looked at side by side; their connections stand in the document.
    let detail =
        if document.measurements.len() > 1 { Detail::Failures } else { Detail::Everything };
    sections.extend(shown(document).map(|measurement| section(measurement, detail)));
    Presentation {
        title: title(&document.kind, document.target.as_deref()),
        context: context(document),
        sections,
        caveats: document.caveats.clone(),
    }
}

/// The measurements that are told in full: of a search, the trial that shows what was found, and those in which
/// something was wrong.
fn shown(document: &Document) -> impl Iterator<Item = &Measurement> {
    let found = document.rate_search.as_ref().map(|search| search.found.map(|found| found.trial));
    let is_shown = move |(number, measurement): &(u64, &Measurement)| {
        let has_failed = || measurement.checks.iter().any(|check| !check.passed);
        found.is_none_or(|found| found == Some(*number) || has_failed())
    };
    (1..).zip(&document.measurements).filter(is_shown).map(|(_, measurement)| measurement)
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
    let (client, server) = (interval.client.as_ref(), interval.server.as_ref());
    let end_ns = client.or(server).map(|end| end.end_ns);
    let mut cells = vec![Figure::new("time", end_ns.map_or(Value::Absent, Value::Duration))];
    match &test.plan {
        Plan::Goodput(plan) => {
            cells.extend(goodput::presentation::cells(plan, client, server));
            cells.extend(test.probe.iter().flat_map(|_| cells_of_probes(client)));
        }
        Plan::Datagrams(plan) => {
            cells.extend(datagrams::presentation::cells(plan, client, server));
            cells.extend(test.probe.iter().flat_map(|_| cells_of_probes(client)));
        }
        Plan::Latency(_) => cells.extend(latency::presentation::cells(client)),
        Plan::Media(plan) => cells.extend(media::presentation::cells(plan, client, server)),
        Plan::Multipath(_) => cells.extend(multipath::presentation::cells(client)),
    }
    Row { section: name.to_owned(), cells }
}

/// A row of probes is too few for a p99.
fn cells_of_probes(client: Option<&EndInterval>) -> impl Iterator<Item = Figure> {
    let cells = latency::presentation::cells(client).into_iter().skip(1);
    cells.filter(|cell| cell.label != "RTT p99")
}

fn context(document: &Document) -> Vec<Figure> {
    let text = |label: &str, text: String| Figure::new(label, Value::Text(text));
    let mut context = vec![text("started", document.started_at.clone())];
    context.push(text("client", host(&document.hosts.client)));
    match &document.hosts.server {
        Some(_) if document.hosts.is_one_machine() => {
            context.push(text("server", "the same machine".to_owned()));
        }
        Some(server) => context.push(text("server", host(server))),
        None => {}
    }
    context.extend(lab(document).map(|lab| text("lab", lab)));
    let control = [Some(&document.hosts.client), document.hosts.server.as_ref()]
        .into_iter()
        .flatten()
        .map(|host| host.network.congestion_control.as_deref().unwrap_or("unknown"));
    let mut control: Vec<&str> = control.collect();
    control.dedup();
    context.push(text(
        "congestion control",
        asked_control(document).unwrap_or_else(|| control.join(", ")),
    ));
    if document.outcome.state != OutcomeState::Complete {
        context.push(text("ended early", document.outcome.reason.clone().unwrap_or_default()));
    }
    context
}

/// The test network that an end is a node of.
fn lab(document: &Document) -> Option<String> {
    let ends = [Some(&document.hosts.client), document.hosts.server.as_ref()].into_iter().flatten();
    let nodes: Vec<_> = ends.filter_map(|host| host.lab.as_ref()).collect();
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
    if let Some(search) = &document.rate_search {
        return Some(datagrams::search::presentation::section(search));
    }
    if document.measurements.len() < 2 {
        return None;
    }
    if let Some(table) = media::presentation::overview(&document.measurements) {
        let title = "summary".to_owned();
        return Some(Section { title, tables: vec![table], ..Section::default() });
    }
    let columns =
        ["", "goodput up", "goodput down", "RTT p50", "RTT p75", "RTT p99", "RTT max", "lost"];
    let rows = document.measurements.iter().map(overview_row).collect();
    let table = Table { title: String::new(), columns: columns.map(str::to_owned).to_vec(), rows };
    Some(Section { title: "summary".to_owned(), tables: vec![table], ..Section::default() })
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

/// Which connections are told one by one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Detail {
    /// Where one has failed.
    Failures,
    /// Wherever there are several.
    Everything,
}

fn section(measurement: &Measurement, detail: Detail) -> Section {
    let summary = &measurement.summary;
    let mut figures = Vec::new();
    if let (Plan::Goodput(_), Some(goodput)) = (&measurement.test.plan, &summary.goodput) {
        figures.extend(goodput::presentation::figures(goodput));
    }
    if let (Plan::Latency(plan), Some(latency)) = (&measurement.test.plan, &summary.latency) {
        figures.extend(latency::presentation::figures(plan, latency));
    }
    if let Some(datagrams) = &summary.datagrams {
        figures.extend(datagrams::presentation::figures(datagrams));
    }
    if let (Plan::Media(plan), Some(media)) = (&measurement.test.plan, &summary.media) {
        figures.extend(media::presentation::figures(plan, media));
    }
    if let Some(probe) = &summary.probe {
        figures.extend(loaded(probe));
    }
    figures.extend(summary.multipath.iter().flat_map(multipath::presentation::figures));
    figures.extend(measurement.client.connect.as_ref().map(connect_time));
    figures.extend(machinery(measurement));
    figures.extend(off_cpu(measurement));
    figures.extend(machines(measurement));
    Section {
        title: measurement.name.clone(),
        subtitle: measurement.test.plan.subtitle(),
        figures,
        tables: connections(measurement, detail)
            .into_iter()
            .chain(summary.goodput.as_ref().and_then(goodput::presentation::remotes))
            .chain(ranges(measurement))
            .chain(flows(measurement))
            .chain(media::presentation::streams(measurement))
            .chain(paths(measurement))
            .collect(),
        series: series(measurement),
        distributions: distributions(measurement),
        checks: measurement.checks.clone(),
        verdict: measurement.verdict.clone(),
        caveats: measurement.caveats.clone(),
    }
}

fn connections(measurement: &Measurement, detail: Detail) -> Option<Table> {
    let client = measurement.client.goodput.as_ref()?;
    let server = measurement.server.as_ref().and_then(|server| server.goodput.as_ref());
    let has_failures = client.failed > 0 || server.is_some_and(|server| server.failed > 0);
    (has_failures || detail == Detail::Everything)
        .then(|| goodput::presentation::connections(client, server))
        .flatten()
}

fn flows(measurement: &Measurement) -> Option<Table> {
    let client = measurement.client.datagrams.as_ref()?;
    let server = measurement.server.as_ref().and_then(|server| server.datagrams.as_ref());
    datagrams::presentation::flows(client, server)
}

fn paths(measurement: &Measurement) -> Vec<Table> {
    let both = measurement.summary.multipath.as_ref().zip(measurement.client.multipath.as_ref());
    both.map(|(summary, client)| multipath::presentation::tables(summary, client))
        .unwrap_or_default()
}

fn ranges(measurement: &Measurement) -> Option<Table> {
    let linear = measurement.client.latency.as_ref()?.linear.as_ref()?;
    Some(latency::presentation::ranges(linear))
}

/// The probes beside a load, in short.
fn loaded(probe: &latency::LatencySummary) -> Vec<Figure> {
    let percents = [50.0, 75.0, 90.0, 95.0, 99.0];
    let mut figures = latency::presentation::percentiles(&probe.rtt, "loaded RTT", &percents);
    let since =
        latency::presentation::since(probe).map_or_else(String::new, |since| format!("; {since}"));
    let note = format!("{} of {} probes lost{since}", count(probe.lost), count(probe.sent));
    let exact = |label: &str, value: Option<u64>| {
        Figure::new(label, value.map_or(Value::Absent, Value::Duration)).of("loaded RTT")
    };
    // Where too few came back for a median, these two are all that is known.
    if probe.rtt.count > 0 && probe.rtt.median_ns().is_none() {
        let taken = format!("{} taken", count(probe.rtt.count));
        figures.push(exact("loaded RTT minimum", probe.rtt.min_ns).with_note(taken));
    }
    figures.push(exact("loaded RTT maximum", probe.rtt.max_ns).with_note(note));
    figures
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
    let value = connects.median_ns().or(mean).map_or(Value::Absent, Value::Duration);
    let figure = Figure::new("connect time", value);
    match (connects.count, connects.min_ns, connects.max_ns) {
        (2.., Some(least), Some(most)) => {
            let which = if connects.median_ns().is_some() { "median" } else { "mean" };
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

fn series(measurement: &Measurement) -> Vec<Series> {
    let at = |interval: &Interval| {
        let end = interval.client.as_ref().or(interval.server.as_ref());
        measurement.start_ns.saturating_add(end.map_or(0, |end| end.start_ns))
    };
    let of = |label: &str, unit: Unit, value: &dyn Fn(&Interval) -> Option<f64>| {
        // The last interval, cut short by the end, says little of a rate.
        let is_whole = |interval: &&Interval| {
            let end = interval.client.as_ref().or(interval.server.as_ref());
            let length_ns = end.map_or(0, |end| end.end_ns.saturating_sub(end.start_ns));
            length_ns.saturating_mul(2) >= measurement.test.report_every_ns.0
        };
        let intervals = measurement.intervals.iter().filter(is_whole);
        // What came after a program stood still had waited in buffers, and is no rate of the path.
        let is_plain = |interval: &Interval| {
            let mut ends = [&interval.client, &interval.server].into_iter().flatten();
            ends.all(|end| end.stood_still_ns.is_none())
        };
        let points: Vec<_> = intervals
            .map(|interval| (at(interval), value(interval).filter(|_| is_plain(interval))))
            .collect();
        let is_known = points.iter().any(|(_, value)| value.is_some());
        is_known.then(|| Series { label: label.to_owned(), points, unit })
    };
    let cell = |name: &'static str| {
        move |interval: &Interval| {
            let row = row(&measurement.name, &measurement.test, interval);
            row.cells.into_iter().find(|cell| cell.label == name).and_then(|cell| {
                match cell.value {
                    Value::BitRate(rate) => Some(rate),
                    _ => None,
                }
            })
        }
    };
    let median = |interval: &Interval| {
        let latency = interval.client.as_ref()?.latency.as_ref()?;
        latency.rtt.as_ref().and_then(LatencyFigures::median_ns).map(|median| median as f64)
    };
    [
        of("goodput up", Unit::BitRate, &cell("up")),
        of("goodput down", Unit::BitRate, &cell("down")),
        of("RTT p50", Unit::Nanoseconds, &median),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn distributions(measurement: &Measurement) -> Vec<(String, pathscope_core::stats::Distribution)> {
    let report = measurement.client.latency.as_ref().or(measurement.client.probe.as_ref());
    let rtt = report.and_then(|report| report.rtt.clone()).map(|rtt| ("RTT".to_owned(), rtt));
    let ends = [Some(&measurement.client), measurement.server.as_ref()].into_iter().flatten();
    let delays = ends.filter_map(|end| end.media.as_ref()?.delay.clone());
    let delays = delays.map(|delay| ("frame delay".to_owned(), delay));
    rtt.into_iter().chain(delays).collect()
}
