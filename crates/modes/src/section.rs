//! One measurement as a view shows it: what its mode has of it, and what is told of every measurement, whatever it was.
//!
//! Not here: the whole document, of which measurements are told in full, and what stands above them (`presentation`).

use pathscope_core::presentation::{Chart, Figure, Section, Series, SeriesPoint, Value};
use pathscope_core::quantity::{count, counted, duration_ns, duration_range, ratio};
use pathscope_core::record::{OffCpu, WorkerUsage};
use pathscope_core::stats::LatencyFigures;

use crate::backgrounds::{backgrounds, retransmits};
use crate::document::Measurement;
use crate::end::Hosts;
use crate::figure::Point;
use crate::figures::ENDS;
use crate::heat_maps::heat_maps;
use crate::registry::{EndReport, ProbePlan, Reports};
use crate::results::{Charts, Detail};
use crate::settings::settings;
use crate::times::Ramp;
use crate::{churn, probes};

/// One measurement by itself.
pub fn section(measurement: &Measurement, hosts: &Hosts, detail: Detail) -> Section {
    let Measurement { test, client, server, summary, .. } = measurement;
    let reports = Reports { client, server: server.as_ref(), hosts };
    let mut figures = test.plan.figures_of(summary);
    let mut distributions =
        if figures.is_empty() { Vec::new() } else { test.plan.distributions_of(reports) };
    figures.extend(summary.probe.iter().flat_map(probes::figures));
    figures.extend(client.connect.as_ref().map(|it| times_of_many("connect", "connect time", it)));
    figures.extend(client.ramp.as_ref().and_then(ramp));
    let requests = test.plan.times_of(client).and_then(|times| times.request.as_ref());
    figures.extend(requests.map(|it| times_of_many("request", "request time", it)));
    figures.extend(of_ends(reports, "engine, wait", machinery));
    figures.extend(of_ends(reports, "spinning, off CPU", off_cpu));
    figures.extend(of_ends(reports, "busiest CPU", busiest_cpu));
    figures.extend(cpu_per_gigabyte("client", client));
    figures.extend(server.as_ref().and_then(|server| cpu_per_gigabyte("server", server)));
    figures.extend(of_ends(reports, "dropped here", dropped));
    if distributions.is_empty() {
        distributions.extend(probes::distribution(client));
    }
    let Charts { mut series, timelines, boxes } = charts(measurement, reports);
    // What a rate cost stands beside it.
    if series.iter().any(|series| series.source.chart == Chart::Area) {
        series.extend(retransmits(measurement, hosts));
    }
    Section {
        title: measurement.name.clone(),
        subtitle: test.plan.subtitle(),
        settings: settings(test),
        figures,
        tables: test.plan.tables_of(summary, reports, detail),
        series,
        distributions,
        heat_maps: heat_maps(measurement),
        timelines,
        boxes,
        bars: test.plan.bars_of(summary, reports),
        scatters: churn::scatters(measurement).into_iter().collect(),
        backgrounds: backgrounds(measurement, hosts),
        checks: measurement.checks.clone(),
        verdict: measurement.verdict.clone(),
        caveats: measurement.caveats.clone(),
        ..Section::default()
    }
}

/// What each end says, beside each other.
fn of_ends(
    reports: Reports<'_>,
    label: &str,
    said: fn(&str, &EndReport) -> Option<String>,
) -> Option<Figure> {
    let ends = [("client", Some(reports.client)), ("server", reports.server)];
    let texts: Vec<String> = ends.into_iter().filter_map(|(name, end)| said(name, end?)).collect();
    (!texts.is_empty()).then(|| Figure::new(label, Value::Text(texts.join("; "))))
}

/// How long something took of each connection.
fn times_of_many(id: &str, label: &str, times: &LatencyFigures) -> Figure {
    let mean = times.mean_ns.map(|mean| mean as u64);
    let median = times.median_ns();
    let (which, statistic) = if median.is_some() { ("median", "p50") } else { ("mean", "mean") };
    let statistic = format!("{id}.{statistic}");
    let figure = ENDS.of("client", &statistic, median.or(mean)).labelled(label);
    match (times.count, times.min_ns, times.max_ns) {
        (2.., Some(least), Some(most)) => {
            let range = duration_range(least, most);
            figure.with_note(format!("{which} of {}; {range}", count(times.count)))
        }
        _ => figure,
    }
}

/// So many connections are worth a row of how soon they were all made.
const RAMP_LEAST: u64 = 1_000;

/// How fast very many connections were made.
fn ramp(ramp: &Ramp) -> Option<Figure> {
    let Ramp { connections, took_ns, .. } = ramp;
    let note = format!("{} in {}", counted(*connections, "connection"), duration_ns(*took_ns));
    let figure = ENDS.of("client", "ramp.rate", ramp.connections_per_second);
    (*connections >= RAMP_LEAST).then(|| figure.with_note(note))
}

/// How the bytes moved: engine and wait of an end, as they ran.
fn machinery(name: &str, end: &EndReport) -> Option<String> {
    let WorkerUsage { engine, wait, .. } = end.workers.first()?;
    let threads = match end.workers.len() {
        1 => String::new(),
        threads => format!(" × {threads}"),
    };
    Some(format!("{name} {engine} {wait}{threads}"))
}

/// When workers that never sleep were seen not to run: what is late by then is late by the host.
fn off_cpu(name: &str, end: &EndReport) -> Option<String> {
    let seen = end.workers.iter().filter_map(|worker| worker.off_cpu).reduce(OffCpu::with)?;
    let (times, longest) = (counted(seen.times, "time"), duration_ns(seen.longest_ns));
    let total = duration_ns(seen.total_ns);
    (seen.times > 0).then(|| format!("{name} {times}, {total} in all, {longest} at most"))
}

/// What the machine did meanwhile, as far as its busiest processor tells.
fn busiest_cpu(name: &str, end: &EndReport) -> Option<String> {
    let busiest = end.host.as_ref()?.busiest()?;
    let stolen = if busiest.stolen >= 0.01 {
        format!(", {} stolen", ratio(busiest.stolen))
    } else {
        String::new()
    };
    let (busy, soft) = (ratio(busiest.busy), ratio(busiest.soft_interrupt));
    Some(format!("{name} {busy}, {soft} soft interrupts{stolen}"))
}

/// What it costs an end to move bytes.
fn cpu_per_gigabyte(name: &'static str, end: &EndReport) -> Option<Figure> {
    let cost_ns = end.cpu_per_gigabyte_ns?;
    let figure = ENDS.of(name, "worker.per_gigabyte", Some(cost_ns.round() as u64));
    let label = format!("CPU per GB, {name}");
    Some(figure.labelled(label).of("cpu per gigabyte").with_note("of payload sent or received"))
}

/// What the machine dropped, if anything.
fn dropped(name: &str, end: &EndReport) -> Option<String> {
    let drops = end.host.as_ref()?.drops();
    let named: Vec<String> =
        drops.iter().map(|(what, dropped)| format!("{what} {}", count(*dropped))).collect();
    (!named.is_empty()).then(|| format!("{name}: {}", named.join(", ")))
}

/// What is drawn beside distributions, on the time of the document.
fn charts(measurement: &Measurement, reports: Reports<'_>) -> Charts {
    let Measurement { test, start_ns, summary, .. } = measurement;
    let mut charts = Charts { series: series(measurement), ..Charts::default() };
    test.plan.add_charts_of(summary, reports, &mut charts);
    let times = charts.series.iter_mut().flat_map(|series| &mut series.points);
    times.for_each(|point| point.moved(*start_ns));
    charts.timelines.iter_mut().for_each(|timeline| timeline.moved(*start_ns));
    charts
}

/// Figures over time, in the order in which the mode and the probes have them; times are since the start of the test.
fn series(measurement: &Measurement) -> Vec<Series> {
    let Measurement { test, intervals, summary, .. } = measurement;
    let mut all: Vec<Series> = Vec::new();
    for interval in intervals {
        let Some(end) = interval.either() else { continue };
        // The last interval, cut short by the end, says little of a rate, and is a gap; a count is one, however short its time.
        let length_ns = end.end_ns.saturating_sub(end.start_ns);
        let is_short = length_ns.saturating_mul(2) < test.report_every_ns.0;
        // What came after a program stood still had waited in buffers, and is no rate of the path.
        let mut ends = [&interval.client, &interval.server].into_iter().flatten();
        let is_plain = ends.all(|end| end.stood_still_ns.is_none());
        let mut points = test.plan.points_of(summary, interval);
        let probes = test.probe().into_iter();
        points.extend(probes.map(|_| probes::point(&interval.slices::<ProbePlan>())));
        for Point { source, value } in points {
            let is_count = source.chart == Chart::Stack;
            let value = value.filter(|_| (is_plain && !is_short) || is_count);
            // Paths share an id and differ in what they are called.
            let is_it = |series: &Series| {
                series.source.id == source.id && series.source.label == source.label
            };
            let place = all.iter().position(is_it).unwrap_or_else(|| {
                all.push(Series { source, points: Vec::new() });
                all.len() - 1
            });
            all[place].points.push(SeriesPoint::over(end.start_ns, end.end_ns, value));
        }
    }
    all.retain(|series| {
        let is_count = series.source.chart == Chart::Stack;
        let mut values = series.points.iter().filter_map(|point| point.value);
        values.any(|value| !is_count || value > 0.0)
    });
    all
}
