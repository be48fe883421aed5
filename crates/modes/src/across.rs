//! Several results of which two settings differ: what each test is for, at each value of the one and of the other.
//!
//! Not here: results side by side whatever differs (`core/side_by_side`), and whether a difference means anything.

use pathscope_core::presentation::{Figure, Section, Value};

use crate::document::{Document, Measurement};
use crate::figures::{found, told};
use crate::pivot::{Cell, pivot};
use crate::runs::Run;
use crate::settings::settings;

/// A measurement with its settings as they are told, and the json that its figures are found in.
struct Stated<'result> {
    name: String,
    settings: Vec<Figure>,
    measurement: &'result Measurement,
}

/// A section for each measurement, by its name, of which exactly two settings differ among all results that have it. Runs of one result that were
/// repeated are looked at together.
pub fn by_two_settings(results: &[&Document]) -> Vec<Section> {
    let measurements = results.iter().flat_map(|result| result.all_measurements());
    let all: Vec<Stated<'_>> = measurements.map(stated).collect();
    let mut names: Vec<&str> = Vec::new();
    for stated in &all {
        if !names.contains(&stated.name.as_str()) {
            names.push(&stated.name);
        }
    }
    let own = |name: &str| all.iter().filter(|it| it.name == name).collect::<Vec<_>>();
    names.into_iter().filter_map(|name| section(name, &own(name))).collect()
}

fn stated(measurement: &Measurement) -> Stated<'_> {
    let name = measurement.run.as_ref().map_or(&measurement.name, |Run { of, .. }| of);
    Stated { name: name.clone(), settings: settings(&measurement.test), measurement }
}

fn section(name: &str, all: &[&Stated<'_>]) -> Option<Section> {
    let ids = differing(all);
    let [first, second] = &ids[..] else { return None };
    let label = |id: &str| {
        let mut settings = all.iter().flat_map(|it| &it.settings).filter(|it| it.id == id);
        settings.next().map_or_else(|| id.to_owned(), |it| it.label.clone())
    };
    let labels = [label(first), label(second)];
    let mut sorted: Vec<&&Stated<'_>> = all.iter().collect();
    // What is no number stays in the order in which results were named.
    let number = |it: &Stated<'_>, id: &str| setting(it, id).and_then(|it| it.value.number());
    for id in [second, first] {
        sorted.sort_by(|one, other| {
            let numbers = number(one, id).zip(number(other, id));
            numbers.map_or(std::cmp::Ordering::Equal, |(one, other)| one.total_cmp(&other))
        });
    }
    let mut cells = Vec::new();
    for it in sorted {
        let json = serde_json::to_value(it.measurement).unwrap_or_default();
        let [row, column] = [first, second].map(|id| value(it, id));
        for found in found(&json).iter().filter(|it| it.is_primary() && it.entry.is_none()) {
            cells.push(Cell {
                of: found.label(),
                row: row.clone(),
                column: column.clone(),
                unit: found.unit(),
                number: found.number,
            });
        }
    }
    let tables = pivot([&labels[0], &labels[1]], &cells);
    (!tables.is_empty()).then(|| Section {
        title: format!("{name}, by {} and {}", labels[0], labels[1]),
        tables,
        ..Section::default()
    })
}

/// The settings that are not the same in all, in their order; what is drawn anew for each run is none.
fn differing(all: &[&Stated<'_>]) -> Vec<String> {
    let mut ids: Vec<&str> = Vec::new();
    for setting in all.iter().flat_map(|it| &it.settings) {
        if !ids.contains(&setting.id.as_str()) && !setting.id.ends_with("seed") {
            ids.push(&setting.id);
        }
    }
    let differs = |id: &&str| {
        let mut values = all.iter().map(|it| value(it, id));
        let first = values.next();
        values.any(|value| Some(value) != first)
    };
    ids.into_iter().filter(differs).map(str::to_owned).collect()
}

fn setting<'stated>(of: &'stated Stated<'_>, id: &str) -> Option<&'stated Figure> {
    of.settings.iter().find(|setting| setting.id == id)
}

/// What a setting is, in words; of one that was left open, that.
fn value(of: &Stated<'_>, id: &str) -> String {
    let Some(setting) = setting(of, id) else { return "not stated".to_owned() };
    match &setting.value {
        Value::Absent => "not stated".to_owned(),
        Value::Text(text) | Value::Worded(_, text) => text.clone(),
        value => value.number().map_or_else(String::new, |it| told(setting.unit, it)),
    }
}
