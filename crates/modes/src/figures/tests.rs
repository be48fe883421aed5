//! The list against the schema of the document: what it names is there, in the unit that it says, and whatever a
//! summary counts or times is in it.

use std::collections::HashSet;

use serde_json::Value;

use super::{FigureDefinition, Group, STATISTICS, Unit, groups};
use crate::document;

/// Numbers that are no figures, by how their places end: they say which one a figure is of, or how sure it is.
const NO_FIGURES: &[&str] = &[
    // Which percentile, and its interval.
    ".percent",
    ".low_ns",
    ".high_ns",
    ".samples_needed",
    // Which flow or path.
    ".flow",
    ".path",
    ".pair.one",
    ".pair.other",
];

/// The schema, and the types that it names.
struct Schema(Value);

/// A place of the schema: its steps, and what kind of number it has.
type Leaf = (String, String);

impl Schema {
    fn new() -> Self {
        Self(document::schema().to_value())
    }

    fn type_named(&self, name: &str) -> &Value {
        self.0.pointer(&format!("/$defs/{name}")).unwrap_or_else(|| panic!("no type {name}"))
    }

    /// What a type may be, apart from nothing: itself, what it refers to, and each of its variants.
    fn variants<'schema>(&'schema self, node: &'schema Value) -> Vec<&'schema Value> {
        if let Some(reference) = node.get("$ref").and_then(Value::as_str) {
            let name = reference.rsplit('/').next().unwrap_or_default();
            return self.variants(self.type_named(name));
        }
        let several = ["anyOf", "oneOf", "allOf"].into_iter().find_map(|key| node.get(key));
        match several.and_then(Value::as_array) {
            Some(several) => several.iter().flat_map(|one| self.variants(one)).collect(),
            None => vec![node],
        }
    }

    fn name_of(node: &Value) -> Option<&str> {
        let several = node.get("anyOf").and_then(Value::as_array);
        let mut candidates = several.into_iter().flatten().chain([node]);
        candidates.find_map(|one| one.get("$ref")?.as_str()?.rsplit('/').next())
    }

    /// All numbers below a place; a distribution counts as one.
    fn leaves(&self, node: &Value, place: &str, leaves: &mut Vec<Leaf>) {
        if Self::name_of(node) == Some("LatencyFigures") {
            leaves.push((place.to_owned(), "distribution".to_owned()));
            return;
        }
        for variant in self.variants(node) {
            if let Some(fields) = variant.get("properties").and_then(Value::as_object) {
                for (name, field) in fields {
                    self.leaves(field, &format!("{place}.{name}"), leaves);
                }
            }
            if let Some(each) = variant.get("additionalProperties").filter(|each| each.is_object())
            {
                self.leaves(each, &format!("{place}.*"), leaves);
            }
            if let Some(each) = variant.get("items") {
                self.leaves(each, &format!("{place}[]"), leaves);
            }
            if let Some(kind) = number(variant) {
                leaves.push((place.to_owned(), kind));
            }
        }
    }

    fn leaves_of(&self, name: &str, place: &str) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        self.leaves(self.type_named(name), place, &mut leaves);
        leaves
    }
}

/// Of a type of numbers, which.
fn number(node: &Value) -> Option<String> {
    let kinds = node.get("type")?;
    let kinds = kinds.as_array().map_or_else(|| vec![kinds], |kinds| kinds.iter().collect());
    let mut kinds = kinds.into_iter().filter_map(Value::as_str);
    kinds.find(|kind| ["integer", "number"].contains(kind)).map(str::to_owned)
}

/// Where a document has a figure, of one way or end.
fn places(group: &Group, figure: &FigureDefinition) -> Vec<String> {
    let place = group.place_of(figure);
    let ways = if place.contains("{way}") { &["up", "down"][..] } else { &[""] };
    let ends = if place.contains("{end}") { &["client", "server"][..] } else { &[""] };
    let of = |way: &&str| place.replace("{way}", way);
    let both = ways.iter().map(of).flat_map(|place| {
        ends.iter().map(move |end| place.replace("{end}", end)).collect::<Vec<_>>()
    });
    both.collect()
}

fn figures() -> impl Iterator<Item = (&'static Group, &'static FigureDefinition)> {
    groups().flat_map(|group| group.figures.iter().map(move |figure| (group, figure)))
}

/// The numbers of a document that belong to one measurement, to a search, or to several servers together.
fn numbers_of_documents() -> Vec<Leaf> {
    let schema = Schema::new();
    let mut leaves = schema.leaves_of("Summary", "summary");
    leaves.extend(schema.leaves_of("RateSearch", "rate_search"));
    leaves.extend(schema.leaves_of("SeveralServers", "servers"));
    for end in ["client", "server"] {
        leaves.extend(schema.leaves_of("EndReport", end));
    }
    leaves
}

#[test]
fn every_figure_is_in_the_document_in_its_unit() {
    let leaves = numbers_of_documents();
    for (group, figure) in figures() {
        for place in places(group, figure) {
            let leaf = leaves.iter().find(|(there, _)| *there == place);
            let Some((_, kind)) = leaf else { panic!("{} is not at {place}", group.id(figure)) };
            let is_distribution = figure.unit == Unit::Distribution;
            assert_eq!(is_distribution, kind == "distribution", "{place}");
            if !is_distribution {
                assert!(fits(figure.unit, &place, kind), "{place} is no {:?}", figure.unit);
            }
        }
    }
}

/// Fields say their unit at their end.
fn fits(unit: Unit, place: &str, kind: &str) -> bool {
    let units = [
        ("_ns", &[Unit::Duration, Unit::Percentiles][..]),
        ("_bps", &[Unit::BitRate]),
        ("_bytes", &[Unit::Bytes]),
        ("_ratio", &[Unit::Share]),
        ("_ratio_below", &[Unit::Share]),
        ("_per_second", &[Unit::PerSecond, Unit::Number]),
        ("_dbm", &[Unit::Dbm]),
        ("_mhz", &[Unit::Megahertz]),
    ];
    match units.iter().find(|(end, _)| place.ends_with(end)) {
        Some((_, allowed)) => allowed.contains(&unit),
        None if kind == "integer" => matches!(unit, Unit::Count | Unit::Number),
        None => matches!(unit, Unit::Share | Unit::Number),
    }
}

#[test]
fn whatever_a_summary_counts_or_times_is_in_the_list() {
    let listed: HashSet<String> =
        figures().flat_map(|(group, figure)| places(group, figure)).collect();
    let missing: Vec<String> = numbers_of_documents()
        .into_iter()
        .map(|(place, _)| place)
        .filter(|place| {
            place.starts_with("summary.")
                || place.starts_with("rate_search.")
                || place.starts_with("servers.")
        })
        .filter(|place| !NO_FIGURES.iter().any(|end| place.ends_with(end)))
        .filter(|place| !listed.contains(place))
        .collect();
    assert!(missing.is_empty(), "without a name:\n{}", missing.join("\n"));
}

#[test]
fn a_distribution_has_what_the_list_says() {
    let leaves = Schema::new().leaves_of("LatencyFigures", "rtt");
    for statistic in STATISTICS {
        let place = format!("rtt.{}", statistic.place);
        let leaf = leaves.iter().find(|(there, _)| *there == place);
        let Some((_, kind)) = leaf else { panic!("{place} is not there") };
        assert!(fits(statistic.unit, &place, kind), "{place}");
    }
    let listed = |place: &str| {
        let is_listed = |statistic: &FigureDefinition| place == format!("rtt.{}", statistic.place);
        STATISTICS.iter().any(is_listed) || NO_FIGURES.iter().any(|end| place.ends_with(end))
    };
    let missing: Vec<&Leaf> = leaves.iter().filter(|(place, _)| !listed(place)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn each_has_an_id_of_its_own_a_meaning_and_a_page() {
    let mut ids = HashSet::new();
    for (group, figure) in figures() {
        let id = group.id(figure);
        let is_plain =
            |letter: char| letter.is_ascii_lowercase() || "._0123456789".contains(letter);
        assert!(id.chars().all(is_plain), "{id}");
        assert!(ids.insert(id.clone()), "{id} twice");
        assert!(!figure.meaning.is_empty() && !figure.meaning.ends_with('.'), "{id}");
        assert!(figure.page.starts_with("method/"), "{id}");
        // Ids end with a statistic or a way where those are meant.
        let last = figure.name.rsplit('.').next().unwrap_or_default();
        assert!(!["up", "down"].contains(&last), "{id}");
    }
}
