//! The runs of a side: what each measurement of each result says, figure by figure, in the order of time. Also what else is known of
//! them: settings, machines, how they ended.

use std::collections::BTreeMap;

use pathscope_core::figure::{Better, Part, Unit};
use pathscope_core::presentation::{Figure, Presentation, Section};
use serde_json::Value;

use crate::document::servers;
use crate::document::{Document, Measurement, OutcomeState};
use crate::figures::{self, Found};
use crate::results::Detail;
use crate::runs;
use crate::section::section;
use crate::settings::setting_at;

/// What names one figure of a measurement.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Key {
    /// Its id.
    pub(super) id: String,
    /// Which one of several that share it.
    pub(super) entry: Option<String>,
}

/// A number of one run.
#[derive(Clone, Debug)]
pub(super) struct Number {
    pub(super) key: Key,
    pub(super) label: String,
    pub(super) unit: Unit,
    pub(super) better: Better,
    pub(super) is_primary: bool,
    /// Of a percentile: the distribution's id, and which one it is.
    pub(super) percentile_of: Option<(String, f64)>,
    pub(super) number: f64,
}

/// One run of one measurement.
#[derive(Clone, Debug)]
pub(super) struct Run {
    /// The measurement's name.
    pub(super) name: String,
    /// The result that it is of, and its side, in words.
    pub(super) result: String,
    /// When it began: that of its result and the time since, which together are in the order of time.
    pub(super) began: (String, u64),
    /// How long it lasted.
    pub(super) lasted_ns: u64,
    /// The name of the machine that asked for it; empty where that is not known.
    pub(super) machine: String,
    /// Its figures.
    pub(super) numbers: Vec<Number>,
    /// Those that its result begins with, and what they are called there.
    pub(super) leading: Vec<(Key, String)>,
    /// The least time that its clocks tell apart, in nanoseconds.
    pub(super) resolution_ns: f64,
    /// What is known of it besides, by what it is of and its id.
    pub(super) facts: BTreeMap<(String, String), Fact>,
    /// Why it is not as it should be, if it is not.
    pub(super) fault: Option<String>,
    /// Whether its document tells figures by the names of an earlier version.
    pub(super) is_renewed: bool,
}

/// What is known of a run besides its figures.
#[derive(Clone, Debug)]
pub(super) struct Fact {
    pub(super) unit: Unit,
    /// As a document has it, in that unit's base.
    pub(super) value: String,
}

/// What differs from run to run by itself: what names a boot, a namespace or a draw, and what was measured of clocks and
/// processors.
const VOLATILE: [&str; 7] = [
    "boot_id",
    "time_namespace",
    "network_namespace",
    "read_ns",
    "smallest_step_ns",
    "cpu_mhz",
    "seed",
];
/// A difference of times is more than this many readings of the clock.
const READINGS: f64 = 3.0;

/// Each measurement of what another tool has kept, by the figures that are shown of it.
pub(super) fn shown(presentation: &Presentation) -> Vec<Run> {
    let run = |section: &Section| {
        let figures = section.figures.iter().filter(|figure| !figure.id.is_empty());
        let numbers = named_once(figures.filter_map(of_figure).collect());
        Run {
            name: section.title.clone(),
            result: String::new(),
            began: (String::new(), 0),
            lasted_ns: 0,
            machine: String::new(),
            leading: numbers.iter().map(|it| (it.key.clone(), it.label.clone())).collect(),
            numbers,
            resolution_ns: 0.0,
            facts: BTreeMap::new(),
            fault: None,
            is_renewed: false,
        }
    };
    presentation.sections.iter().map(run).collect()
}

fn of_figure(figure: &Figure) -> Option<Number> {
    let percent = figure
        .id
        .rsplit_once(".p")
        .and_then(|(of, percent)| Some((of.to_owned(), percent.parse().ok()?)));
    Some(Number {
        key: key(figure.part.clone(), figure.id.clone()),
        label: figure.label.clone(),
        unit: figure.unit,
        better: figure.better,
        is_primary: figures::is_primary(&figure.id),
        percentile_of: percent,
        number: figure.value.number()?,
    })
}

/// All runs of a result.
pub(super) fn runs(document: &Document) -> Vec<Run> {
    if !document.servers.is_empty() {
        return of_several_servers(document);
    }
    let shared = facts_of_all(document);
    if document.rate_search.is_some() {
        return search(document, &shared).into_iter().collect();
    }
    document.measurements.iter().map(|it| run(document, it, &shared)).collect()
}

fn run(
    document: &Document,
    measurement: &Measurement,
    shared: &BTreeMap<(String, String), Fact>,
) -> Run {
    let mut renewed = measurement.clone();
    renewed.test.plan.renew_in(&mut renewed.summary);
    let is_renewed = renewed.summary != measurement.summary;
    let json = serde_json::to_value(&renewed).unwrap_or_default();
    let mut facts = shared.clone();
    let of_rounds = measurement.run.as_ref().map(runs::Run::title);
    let name = of_rounds.unwrap_or_else(|| measurement.name.clone());
    collect("", json.get("test").unwrap_or(&Value::Null), &mut |place, value| {
        let (id, unit) = setting_at(place);
        facts.insert((name.clone(), id), Fact { unit, value });
    });
    let found = figures::found(&json);
    // What has another name now is nothing under the old one.
    let is_empty = |it: &Found| is_renewed && it.kind().starts_with("latency.rtt.");
    let found = found.iter().filter(|it| !is_empty(it));
    let failed = measurement.checks.iter().find(|check| check.has_failed());
    let fault = failed.map(|check| format!("{}: {}", check.name, check.text));
    Run {
        name: name.clone(),
        result: String::new(),
        began: (document.started_at.clone(), measurement.start_ns),
        lasted_ns: measurement.duration_ns,
        machine: document.hosts.client.name.clone(),
        numbers: named_once(found.filter_map(number).collect()),
        leading: leading(&renewed, document),
        resolution_ns: resolution_ns(document),
        facts,
        fault: fault.or_else(|| fault_of(document)),
        is_renewed,
    }
}

/// Of several servers what each came to, under its name, and what all did together.
fn of_several_servers(document: &Document) -> Vec<Run> {
    let mut all = Vec::new();
    for mut part in document.of_each_server() {
        let server = part.target.clone();
        part.measurements.iter_mut().for_each(|it| it.name = servers::named(it, server.as_deref()));
        part.target.clone_from(&document.target);
        all.extend(runs(&part));
    }
    all.extend(together(document));
    all
}

/// What several servers came to together, as a run of its own.
fn together(document: &Document) -> Option<Run> {
    let together = document.together.as_ref()?;
    let first = document.all_measurements().next()?;
    let json = serde_json::to_value(together).unwrap_or_default();
    let figures = first.test.plan.figures_of(&together.summary);
    let leading = figures.into_iter().filter(|figure| !figure.id.is_empty());
    let failed = together.checks.iter().find(|check| check.has_failed());
    let fault = failed.map(|check| format!("{}: {}", check.name, check.text));
    Some(Run {
        name: servers::named(first, Some(servers::ALL)),
        result: String::new(),
        began: (document.started_at.clone(), first.start_ns),
        lasted_ns: together.servers.whole_ns.unwrap_or(first.duration_ns),
        machine: document.hosts.client.name.clone(),
        numbers: named_once(figures::found(&json).iter().filter_map(number).collect()),
        leading: leading.map(|figure| (key(figure.part, figure.id), figure.label)).collect(),
        resolution_ns: resolution_ns(document),
        facts: BTreeMap::new(),
        fault: fault.or_else(|| fault_of(document)),
        is_renewed: false,
    })
}

/// Of a search for a rate what it found: its trials are at rates of their own.
fn search(document: &Document, shared: &BTreeMap<(String, String), Fact>) -> Option<Run> {
    let first = document.measurements.first()?;
    let json = serde_json::to_value(document).unwrap_or_default();
    let numbers = named_once(figures::found(&json).iter().filter_map(number).collect());
    Some(Run {
        name: format!("{}, highest rate without loss", document.kind),
        result: String::new(),
        began: (document.started_at.clone(), first.start_ns),
        lasted_ns: document.duration_ns.saturating_sub(first.start_ns),
        machine: document.hosts.client.name.clone(),
        leading: numbers.iter().map(|it| (it.key.clone(), it.label.clone())).collect(),
        numbers,
        resolution_ns: resolution_ns(document),
        facts: shared.clone(),
        fault: fault_of(document),
        is_renewed: false,
    })
}

/// A number that can be found again in other runs: of a list whose entries have no names there is none.
fn number(found: &Found) -> Option<Number> {
    if found.entry.is_some() && found.name.is_none() {
        return None;
    }
    let statistic = found.statistic.as_deref();
    let better = if statistic == Some("count") { Better::Neither } else { found.figure.better };
    let percent = statistic.and_then(|it| it.strip_prefix('p')?.parse().ok());
    let whole = Found { statistic: None, ..found.clone() };
    Some(Number {
        key: Key { id: found.id(), entry: found.name.clone() },
        label: found.label(),
        unit: found.unit(),
        better,
        is_primary: found.is_primary(),
        percentile_of: percent.map(|percent| (whole.id(), percent)),
        number: found.number,
    })
}

/// Without those that share their name with another of the same run, as two connections to one address do: which of them is which is not
/// known, and each alone is no number of the run.
fn named_once(mut numbers: Vec<Number>) -> Vec<Number> {
    let mut times: BTreeMap<Key, u32> = BTreeMap::new();
    for number in &numbers {
        *times.entry(number.key.clone()).or_default() += 1;
    }
    numbers.retain(|number| times.get(&number.key) == Some(&1));
    numbers
}

/// What a view of the measurement begins with.
fn leading(measurement: &Measurement, document: &Document) -> Vec<(Key, String)> {
    let section = section(measurement, &document.hosts, Detail::Failures);
    let figures = section.figures.into_iter().filter(|figure| !figure.id.is_empty());
    figures.map(|figure| (key(figure.part, figure.id), figure.label)).collect()
}

fn key(part: Part, id: String) -> Key {
    let entry = match part {
        Part::Entry(name) => Some(name),
        Part::Whole | Part::Side(_) => None,
    };
    Key { id, entry }
}

fn fault_of(document: &Document) -> Option<String> {
    let outcome = &document.outcome;
    let reason =
        || outcome.reason.clone().unwrap_or_else(|| "it did not come to its end".to_owned());
    (outcome.state != OutcomeState::Complete).then(reason)
}

/// What servers of pathscope are called.
const OWN_KIND: &str = "pathscope";

fn resolution_ns(document: &Document) -> f64 {
    let readings = document.hosts.both().filter_map(|host| host.clock.read_ns);
    READINGS * readings.filter(|read| read.is_finite()).fold(0.0, f64::max)
}

/// What is known of all measurements of a result: what was asked for, and the machines.
fn facts_of_all(document: &Document) -> BTreeMap<(String, String), Fact> {
    let mut facts = BTreeMap::new();
    let mut add = |of: &str, id: &str, value: String| {
        let unit = setting_at(id).1;
        facts.insert((of.to_owned(), id.to_owned()), Fact { unit, value });
    };
    add("run", "kind", document.kind.clone());
    add("run", "target", document.target.clone().unwrap_or_else(|| "embedded".to_owned()));
    let hosts =
        [("client", Some(&document.hosts.client)), ("server", document.hosts.server.as_ref())];
    for (end, host) in hosts {
        let host = host.and_then(|host| serde_json::to_value(host).ok()).unwrap_or_default();
        collect("", &host, &mut |place, value| add(end, place, value));
    }
    // Before results said who the other end was, there was nobody else.
    let peer = document.hosts.peer.as_ref();
    add("peer", "name", peer.map_or_else(|| OWN_KIND.to_owned(), |peer| peer.name.clone()));
    let version = peer.and_then(|peer| peer.protocol_version.clone());
    version.into_iter().for_each(|version| add("peer", "protocol_version", version));
    facts
}

/// Every value of this, but for what differs by itself: its place, and what it is in words. A list is one value.
fn collect(place: &str, value: &Value, into: &mut dyn FnMut(&str, String)) {
    match value {
        Value::Null => {}
        Value::Object(fields) => {
            for (name, field) in fields {
                if !VOLATILE.contains(&name.as_str()) {
                    let dot = if place.is_empty() { "" } else { "." };
                    collect(&format!("{place}{dot}{name}"), field, into);
                }
            }
        }
        Value::String(text) => into(place, text.clone()),
        other => into(place, other.to_string()),
    }
}
