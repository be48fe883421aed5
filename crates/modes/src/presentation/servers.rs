//! A run of several servers as views show it: all of them side by side, and each as a run of one server is shown.

use pathscope_core::presentation::{Figure, Section, Table, Value};

use super::{shown, side_by_side};
use crate::document::Document;
use crate::document::servers::{ALL, SeveralServers, Together, named};
use crate::figures::SERVERS;
use crate::results::Detail;
use crate::section::section;

/// What all came to, and what each did.
pub(super) fn sections(document: &Document) -> Vec<Section> {
    let mut sections: Vec<Section> = all(document).into_iter().collect();
    for (place, part) in document.of_each_server().iter().enumerate() {
        let of_one = shown(part).map(|(number, it)| Section {
            place: format!("servers[{place}].measurements[{}]", number - 1),
            server: part.target.clone(),
            title: named(it, part.target.as_deref()),
            ..section(it, &part.hosts, Detail::Failures)
        });
        sections.extend(of_one);
    }
    sections
}

/// All servers side by side, and figures over all.
fn all(document: &Document) -> Option<Section> {
    let first = document.servers.iter().find_map(|server| server.measurements.first())?;
    let nothing = Together::default();
    let together = document.together.as_deref().unwrap_or(&nothing);
    let rows = document.servers.iter().filter_map(|server| {
        let measurement = server.measurements.first()?;
        Some((server.target.as_str(), &measurement.test, &measurement.summary))
    });
    let has_all = together.caveats.is_empty() || together.servers.whole_ns.is_some();
    let all = has_all.then_some(("all", &first.test, &together.summary));
    let SeveralServers { start_spread_ns, shared_ns, whole_ns, up, down } = together.servers;
    let mut figures = first.test.plan.figures_of(&together.summary);
    for (way, shares) in [("up", up), ("down", down)] {
        let of_way = |figure: Figure| {
            let label = format!("{} {way}", figure.label);
            if up.is_some() && down.is_some() { figure.labelled(label) } else { figure }
        };
        let fairness = shares.map(|shares| of_way(SERVERS.of(way, "fairness", shares.fairness)));
        figures.extend(fairness.filter(|figure| figure.value != Value::Absent));
    }
    let times = [("start_spread", start_spread_ns), ("shared", shared_ns), ("whole", whole_ns)];
    let times = times.into_iter().filter_map(|(name, time)| Some(SERVERS.figure(name, time?)));
    figures.extend(times);
    Some(Section {
        place: "together".to_owned(),
        server: document.target.clone(),
        title: ALL.to_owned(),
        subtitle: first.test.plan.subtitle() + ", with each",
        figures,
        tables: vec![without_empty(side_by_side(rows.chain(all)))],
        checks: together.checks.clone(),
        caveats: together.caveats.clone(),
        ..Section::default()
    })
}

/// The table without columns that have nothing in any row.
fn without_empty(table: Table) -> Table {
    let is_told = |column: usize| table.rows.iter().any(|row| row.cells[column] != Value::Absent);
    let told: Vec<usize> = (0..table.columns.len()).filter(|&column| is_told(column)).collect();
    let of = |cells: Vec<Value>| told.iter().map(|&column| cells[column].clone()).collect();
    Table {
        columns: told.iter().map(|&column| table.columns[column].clone()).collect(),
        rows: table
            .rows
            .into_iter()
            .map(|mut row| {
                row.cells = of(std::mem::take(&mut row.cells));
                row
            })
            .collect(),
        title: table.title,
    }
}

/// The servers, each with its machine, as the context of a result has them.
pub(super) fn context(document: &Document, host: impl Fn(&Document) -> String) -> Option<Figure> {
    let parts = document.of_each_server();
    let told = parts
        .iter()
        .map(|part| format!("{}: {}", part.target.as_deref().unwrap_or("?"), host(part)));
    let told: Vec<String> = told.collect();
    (!document.servers.is_empty()).then(|| Figure::setting("servers", told.join("; ")))
}
