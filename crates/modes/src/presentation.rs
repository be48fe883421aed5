//! A document as a presentation. Asks each mode for its figures; knows no view.

mod servers;

use pathscope_core::presentation::{CommandLine, Figure, Presentation, Row, Section, Table, Value};
use pathscope_core::quantity::bytes;
use pathscope_core::record::{Check, Host, LabNode, PeerFacts};
use pathscope_flow::Transport;

use crate::document::{Document, Interval, Measurement, OutcomeState};
use crate::figure::{Amount, PlainCell, Unit, plain_table};
use crate::groups::Test;
use crate::registry::{ProbePlan, Summary};
use crate::results::{BesideOthers, Detail, Results};
use crate::section::section;
use crate::{comparison, probes, repeats, search};

/// All of a document.
pub fn presentation(document: &Document) -> Presentation {
    let mut sections: Vec<Section> = overview(document).into_iter().collect();
    sections.extend(comparison::presentation::beside(document));
    // Several measurements are looked at side by side; their connections stand in the document.
    let detail =
        if document.measurements.len() > 1 { Detail::Failures } else { Detail::Everything };
    if !document.servers.is_empty() {
        sections.extend(servers::sections(document));
    }
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
        commands: CommandLine::known(&document.command),
        ..Presentation::default()
    }
}

/// The measurements that are told in full, by their numbers from 1: of a search, the trial that shows what was found, and those in which
/// something was wrong; of repeated runs, those alone.
pub(crate) fn shown(document: &Document) -> impl Iterator<Item = (u64, &Measurement)> {
    let found = document.rate_search.as_ref().map(|search| search.found.map(|found| found.trial));
    let is_repeated = document.rounds.is_some();
    let is_shown = move |(number, measurement): &(u64, &Measurement)| {
        let has_failed = || measurement.checks.iter().any(Check::has_failed);
        let is_one_of_many = is_repeated && measurement.run.is_some();
        (found.is_none_or(|found| found == Some(*number)) && !is_one_of_many) || has_failed()
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
    cells.extend(test.plan.cells_of(interval));
    let probes = test.probe().into_iter();
    cells.extend(probes.flat_map(|_| probes::cells(&interval.slices::<ProbePlan>())));
    Row { section: name.to_owned(), cells }
}

fn context(document: &Document) -> Vec<Figure> {
    let Document { hosts, outcome, .. } = document;
    let is_one = hosts.is_one_machine();
    let there = |server: &Host| if is_one { "the same machine".to_owned() } else { host(server) };
    let is_complete = outcome.state == OutcomeState::Complete;
    let ended_early = (!is_complete).then(|| outcome.reason.clone().unwrap_or_default());
    let settings = [
        ("started", Some(document.started_at.clone())),
        ("client", Some(host(&hosts.client))),
        ("server", hosts.server.as_ref().map(there)),
        ("peer", hosts.peer.as_ref().map(peer)),
        ("client_labels", labels(&hosts.client)),
        ("server_labels", hosts.server.as_ref().and_then(labels)),
        ("lab", lab(document)),
        ("congestion_control", Some(control(document))),
        ("ended_early", ended_early),
    ];
    let settings = settings.into_iter().filter_map(|(id, text)| Some(Figure::setting(id, text?)));
    let of_each = |part: &Document| part.hosts.server.as_ref().map(host);
    let mut context: Vec<Figure> = settings.collect();
    context.extend(servers::context(document, |part| {
        let peer = part.hosts.peer.as_ref().map(peer);
        let known = [of_each(part), peer].into_iter().flatten().collect::<Vec<_>>();
        if known.is_empty() { "not reached".to_owned() } else { known.join("; ") }
    }));
    context
}

/// Who was at the other end.
fn peer(PeerFacts { name, protocol_version, .. }: &PeerFacts) -> String {
    let version = protocol_version.as_ref().map(|version| format!(", protocol version {version}"));
    format!("{name}{}", version.unwrap_or_default())
}

/// What whoever started an end said of it.
fn labels(host: &Host) -> Option<String> {
    let all = host.labels.iter().map(|(name, value)| format!("{name}={value}"));
    let all: Vec<String> = all.collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// The test network that an end is a node of.
fn lab(document: &Document) -> Option<String> {
    let nodes: Vec<_> = document.hosts.both().filter_map(|host| host.lab.as_ref()).collect();
    let first = nodes.first()?;
    let names: Vec<&str> = nodes.iter().map(|node| node.node.as_str()).collect();
    let LabNode { lab, shaper, seed, .. } = first;
    Some(format!("{lab}, {}, shaped by {shaper}, seed {seed}", names.join(" to ")))
}

/// The congestion controls that tests over TCP ask for, each once, in their order; where one asks for none, or there is none, what the
/// machines have.
fn control(document: &Document) -> String {
    let tests = document.all_measurements().map(|it| &it.test);
    let over_tcp = tests.filter(|test| {
        test.groups().first().is_some_and(|group| group.transport == Transport::Stream)
    });
    let mut asked: Vec<Option<&str>> =
        over_tcp.map(|test| test.plan.asks().congestion_control).collect();
    if asked.is_empty() {
        asked.push(None);
    }
    let mut control: Vec<&str> = Vec::new();
    for asked in asked {
        let hosts = || document.hosts.both().map(|host| &host.network.congestion_control);
        let own = || hosts().map(|control| control.as_deref().unwrap_or("unknown")).collect();
        let ran: Vec<&str> = asked.map_or_else(own, |asked| vec![asked]);
        for name in ran {
            if !control.contains(&name) {
                control.push(name);
            }
        }
    }
    control.join(", ")
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
    if let Some(rounds) = &document.rounds {
        return Some(repeats::presentation::section(
            rounds,
            &document.measurements,
            &document.hosts,
        ));
    }
    let first = document.measurements.first().filter(|_| document.measurements.len() > 1)?;
    // Runs of one mode, where that has a table for it.
    let runs = document.measurements.iter().map(|it| (it.name.as_str(), &it.summary));
    let of_one_mode = first.test.plan.overview_of(&runs.collect::<Vec<_>>());
    let all = document.measurements.iter().map(|it| (it.name.as_str(), &it.test, &it.summary));
    let table = of_one_mode.unwrap_or_else(|| side_by_side(all));
    Some(Section { title: "summary".to_owned(), tables: vec![table], ..Section::default() })
}

/// Different tests side by side, by their names.
fn side_by_side<'all>(all: impl Iterator<Item = (&'all str, &'all Test, &'all Summary)>) -> Table {
    fn rtt(of: BesideOthers<'_>, percent: f64) -> Value {
        of.round_trips.and_then(|(rtt, _)| rtt.percentile(percent).copied()).value(Unit::Duration)
    }
    let columns: [PlainCell<(&str, BesideOthers<'_>)>; 8] = [
        ("", |(name, _)| Value::Text((*name).to_owned())),
        ("goodput up", |(_, it)| it.goodput_bps[0].value(Unit::BitRate)),
        ("goodput down", |(_, it)| it.goodput_bps[1].value(Unit::BitRate)),
        ("RTT p50", |(_, it)| rtt(*it, 50.0)),
        ("RTT p75", |(_, it)| rtt(*it, 75.0)),
        ("RTT p99", |(_, it)| rtt(*it, 99.0)),
        ("RTT max", |(_, it)| it.round_trips.and_then(|(rtt, _)| rtt.max_ns).value(Unit::Duration)),
        ("lost", |(_, it)| it.round_trips.map(|(_, lost)| lost).value(Unit::Count)),
    ];
    let rows = all.map(|(name, test, summary)| {
        let own = test.plan.beside_others_of(summary);
        let probes = summary.probe.as_ref().map(ProbePlan::beside_others);
        let round_trips = own.round_trips.or(probes.and_then(|probes| probes.round_trips));
        (name, BesideOthers { round_trips, ..own })
    });
    plain_table("", &columns, rows)
}
