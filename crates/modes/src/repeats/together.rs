//! What all runs say together: what limited them, what held, what to mind, with which settings, and how durations were distributed.
//!
//! Not here: the numbers that the tests are for, run by run (`lines`), and whether two sides differ (`comparison`).

use std::collections::BTreeMap;

use pathscope_core::finding::Finding as _;
use pathscope_core::presentation::{Figure, Section, Shape, Source, Table, Value};
use pathscope_core::quantity::{count, counted};
use pathscope_core::record::{Caveat, Check, Limit, Verdict};
use pathscope_core::stats::LatencyHistogram;

use crate::document::Measurement;
use crate::end::Hosts;
use crate::probes;
use crate::registry::Reports;
use crate::runs::Run;
use crate::settings::settings;

/// Of so many points and sides distributions are drawn; more lines tell nothing apart.
const MOST_SHAPES: usize = 8;

/// Adds it to the section of all runs.
pub(super) fn add_to(section: &mut Section, measurements: &[Measurement], hosts: &Hosts) {
    let runs: Vec<&Measurement> = measurements.iter().filter(|it| it.run.is_some()).collect();
    section.tables.extend(limits(&runs));
    section.checks = checks(&runs);
    section.caveats = caveats(&runs);
    section.settings = common_settings(&runs);
    section.distributions = distributions(&runs, hosts);
}

/// What runs of one point and side are called together.
fn title(run: &Measurement) -> String {
    run.run.as_ref().map_or_else(|| run.name.clone(), Run::title)
}

/// What limited the runs of each point and side, most often first; nothing where no run has a verdict.
fn limits(runs: &[&Measurement]) -> Option<Table> {
    let mut titles: Vec<String> = runs.iter().map(|run| title(run)).collect();
    let all = titles.clone();
    // In the order of their first runs.
    titles.sort_by_key(|title| all.iter().position(|it| it == title));
    titles.dedup();
    let rows: Vec<Vec<Value>> = titles
        .iter()
        .flat_map(|of| {
            let verdicts = runs.iter().zip(&all).filter(|(_, title)| *title == of);
            let verdicts = verdicts.filter_map(|(run, _)| run.verdict.as_ref());
            let among = all.iter().filter(|title| *title == of).count() as u64;
            named(verdicts).into_iter().map(move |Named { limit, times, surely }| {
                vec![
                    Value::Text(of.clone()),
                    Value::Text(limit.definition().meaning.to_owned()),
                    Value::Text(format!("{} of {}", count(times), count(among))),
                    Value::Count(surely),
                ]
            })
        })
        .collect();
    let columns = ["", "limited by", "runs", "surely"];
    (!rows.is_empty()).then(|| Table::new("what limited the runs", columns, rows))
}

/// How often verdicts named a limit.
struct Named {
    limit: Limit,
    times: u64,
    surely: u64,
}

/// The limits that verdicts name, most often first.
fn named<'run>(verdicts: impl Iterator<Item = &'run Verdict>) -> Vec<Named> {
    let mut limits: Vec<Named> = Vec::new();
    for &Verdict { limit, sure, .. } in verdicts {
        let place = limits.iter().position(|it| it.limit == limit).unwrap_or_else(|| {
            limits.push(Named { limit, times: 0, surely: 0 });
            limits.len() - 1
        });
        limits[place].times += 1;
        limits[place].surely += u64::from(sure == Some(true));
    }
    limits.sort_by_key(|it| std::cmp::Reverse(it.times));
    limits
}

/// Each check once: in how many runs it held. What did not hold stands with its numbers where its run is told.
fn checks(runs: &[&Measurement]) -> Vec<Check> {
    let mut names: Vec<(&str, [u64; 3], Option<&Check>)> = Vec::new();
    for check in runs.iter().flat_map(|run| &run.checks) {
        let place = names.iter().position(|(name, ..)| *name == check.name).unwrap_or_else(|| {
            names.push((&check.name, [0; 3], None));
            names.len() - 1
        });
        let (_, [all, held, unknown], failed) = &mut names[place];
        *all += 1;
        *held += u64::from(check.has_held());
        *unknown += u64::from(check.is_unknown());
        *failed = failed.or_else(|| Some(check).filter(|check| check.has_failed()));
    }
    let told = names.into_iter().map(|(name, [all, held, unknown], failed)| {
        let words = name.replace('_', " ");
        let text = match failed {
            None if unknown > 0 => format!(
                "{words}: held in {} of {}, and of the others nobody can know",
                count(held),
                counted(all, "run")
            ),
            None if all == 1 => format!("{words}: held in 1 run"),
            None => format!("{words}: held in all {} runs", count(all)),
            Some(first) => format!(
                "it did not hold in {} of {} runs, first: {}",
                count(all - held - unknown),
                count(all),
                first.text
            ),
        };
        let remedy = failed.and_then(|check| check.remedy.clone());
        let passed = match failed {
            None if unknown > 0 => None,
            failed => Some(failed.is_none()),
        };
        Check { name: name.to_owned(), passed, text, remedy }
    });
    told.collect()
}

/// Each caveat once: of how many runs, and the words of the first.
fn caveats(runs: &[&Measurement]) -> Vec<Caveat> {
    let mut names: Vec<(&Caveat, u64)> = Vec::new();
    for run in runs {
        let mut own: Vec<&str> = Vec::new();
        for caveat in &run.caveats {
            let is_again = own.contains(&caveat.name.as_str());
            own.push(&caveat.name);
            match names.iter_mut().find(|(it, _)| it.name == caveat.name) {
                Some((_, times)) => *times += u64::from(!is_again),
                None => names.push((caveat, 1)),
            }
        }
    }
    let all = runs.len() as u64;
    let told = names.into_iter().map(|(first, times)| {
        let place = match times == all {
            true if all == 1 => String::new(),
            true => format!("in all {} runs, first: ", count(all)),
            false => format!("in {} of {} runs, first: ", count(times), count(all)),
        };
        Caveat { text: format!("{place}{}", first.text), ..first.clone() }
    });
    told.collect()
}

/// Settings by their ids: what all runs have, and of those in which runs differ every value once.
fn common_settings(runs: &[&Measurement]) -> Vec<Figure> {
    let mut order: Vec<String> = Vec::new();
    let mut values: BTreeMap<String, (Figure, Vec<Value>, usize)> = BTreeMap::new();
    for setting in runs.iter().flat_map(|run| settings(&run.test)) {
        let known = values.entry(setting.id.clone()).or_insert_with(|| {
            order.push(setting.id.clone());
            (setting.clone(), Vec::new(), 0)
        });
        known.2 += 1;
        if !known.1.contains(&setting.value) {
            known.1.push(setting.value);
        }
    }
    let told = order.iter().filter_map(|id| values.remove(id)).flat_map(|(setting, own, times)| {
        let note = match (own.len(), times == runs.len()) {
            (1, true) => "",
            (_, true) => "not in all runs",
            (_, false) => "in some runs",
        };
        let of = move |value| Figure { value, ..setting.clone() }.with_note(note);
        own.into_iter().map(of).collect::<Vec<_>>()
    });
    told.collect()
}

/// How the durations of each point and side were distributed, all its runs together.
fn distributions(runs: &[&Measurement], hosts: &Hosts) -> Vec<Shape> {
    let mut all: Vec<(Source, LatencyHistogram)> = Vec::new();
    let mut titles: Vec<String> = Vec::new();
    for run in runs {
        let title = title(run);
        if !titles.contains(&title) {
            titles.push(title.clone());
        }
        if titles.len() > MOST_SHAPES {
            return Vec::new();
        }
        let reports = Reports { client: &run.client, server: run.server.as_ref(), hosts };
        let mut own = run.test.plan.distributions_of(reports);
        if own.is_empty() {
            own.extend(probes::distribution(&run.client));
        }
        for Shape { source, distribution } in own {
            let label = format!("{} of {title}", source.label);
            let own = distribution.histogram();
            match all.iter_mut().find(|(it, _)| it.label == label && it.id == source.id) {
                Some((_, histogram)) => histogram.merge(&own),
                None => all.push((Source { label, ..source }, own)),
            }
        }
    }
    let shape = |(source, histogram): (Source, LatencyHistogram)| Shape {
        source,
        distribution: histogram.distribution(),
    };
    all.into_iter().map(shape).collect()
}
