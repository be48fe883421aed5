//! The page of all settings, written from the schema of the document.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use pathscope_modes::figures::Unit;
use pathscope_modes::{document, settings};
use serde_json::Value;

use crate::committed::{Arguments, Committed};

const PAGE: Committed = Committed { path: "docs/settings.md", task: "settings" };

const HEAD: &str = "# All settings

Written by `cargo xtask settings` from the plans in the code (`crates/modes/src/*/plan.rs`): change those. Whatever a test states
has an id that stays, and a place in the [result document](../schema/pathscope-document.json), by which results are put side by
side.

- A **place** goes on from one measurement of the document (`measurements[]`).
- What a setting can be: a number in a unit, `true` or `false`, one of the names that are listed, or any text. A list is told as one
  text, with commas.
- A setting that a result does not have was left to each end, or has no meaning beside the others.

| id | place | can be | meaning |
|---|---|---|---|
";

/// Writes the page, or answers whether the committed one is current.
pub fn run(root: &Path, arguments: Arguments) -> Result<bool> {
    PAGE.run(root, &text()?, arguments)
}

fn text() -> Result<String> {
    let schema = Schema(document::schema().to_value());
    let mut text = HEAD.to_owned();
    for setting in schema.settings()? {
        let (id, unit) = settings::setting_at(&setting.place);
        let kind = match unit {
            Unit::BitRate => "bit/s",
            Unit::Bytes => "B",
            Unit::Duration => "ns",
            _ => &setting.kind,
        };
        let Setting { place, meaning, .. } = &setting;
        _ = writeln!(text, "| `{id}` | `test.{place}` | {kind} | {meaning} |");
    }
    Ok(text)
}

/// One value that a test states.
struct Setting {
    /// Where a test has it.
    place: String,
    /// What it can be, where its name does not say a unit.
    kind: String,
    /// The sentence of the code.
    meaning: String,
}

/// The schema of the document.
struct Schema(Value);

impl Schema {
    fn settings(&self) -> Result<Vec<Setting>> {
        let test = self.0.pointer("/$defs/Test").context("find the type of a test")?;
        let mut settings = Vec::new();
        self.collect("", test, "", &mut settings);
        Ok(settings)
    }

    /// All that a node of the schema holds; what it means by the words beside it, or else by its own.
    fn collect(&self, place: &str, node: &Value, beside: &str, settings: &mut Vec<Setting>) {
        let said = |node: &Value| node["description"].as_str().unwrap_or_default().to_owned();
        let meaning = if beside.is_empty() { said(node) } else { beside.to_owned() };
        let variants = self.variants(node);
        let mut names = Vec::new();
        for variant in &variants {
            if let Some(fields) = variant["properties"].as_object() {
                let dot = if place.is_empty() { "" } else { "." };
                for (name, field) in fields {
                    let own = said(field);
                    // One of several that a setting may be is told by what they are of, too.
                    let words = match (own.is_empty(), variants.len() > 1) {
                        (true, _) => format!("{meaning} {}", said(variant)),
                        (false, true) => format!("{meaning} {own}"),
                        (false, false) => own,
                    };
                    self.collect(&format!("{place}{dot}{name}"), field, &words, settings);
                }
            } else {
                names.extend(kind(variant));
            }
        }
        if !names.is_empty() {
            let meaning = meaning.replace('\n', " ");
            settings.push(Setting { place: place.to_owned(), kind: names.join(", "), meaning });
        }
    }

    /// What a node may be, apart from nothing: itself, what it refers to, and each of its variants.
    fn variants<'schema>(&'schema self, node: &'schema Value) -> Vec<&'schema Value> {
        if let Some(reference) = node["$ref"].as_str() {
            let named = self.0.pointer(reference.trim_start_matches('#'));
            return named.map_or_else(Vec::new, |named| self.variants(named));
        }
        let several = ["anyOf", "oneOf"].iter().find_map(|key| node[*key].as_array());
        several.map_or_else(
            || vec![node],
            |several| several.iter().flat_map(|one| self.variants(one)).collect(),
        )
    }
}

/// What a type of single values can be; none: nothing.
fn kind(node: &Value) -> Option<String> {
    let named = |name: &Value| name.as_str().map(|name| format!("`{name}`"));
    if let Some(names) = node["enum"].as_array() {
        return Some(names.iter().filter_map(named).collect::<Vec<_>>().join(", "));
    }
    if let Some(name) = named(&node["const"]) {
        return Some(name);
    }
    let kinds = node["type"].as_array().cloned().unwrap_or_else(|| vec![node["type"].clone()]);
    let word = |kind: &Value| match kind.as_str()? {
        "boolean" => Some("`true`, `false`"),
        "integer" | "number" => Some("number"),
        "array" => Some("list"),
        "string" => Some("text"),
        _ => None,
    };
    kinds.iter().find_map(word).map(str::to_owned)
}
