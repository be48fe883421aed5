//! Things by their begin as data for the page's script, and as the table that they are drawn from. Numbers are in base units.

use pathscope_core::presentation::{Scatter, Table, Value};
use serde::Serialize;

use super::unit::UnitData;
use crate::course::{Axis, seconds};
use crate::words::clean;

/// A mark for each of many things.
#[derive(Debug, Serialize)]
pub struct ScatterData {
    pub title: String,
    range: Axis,
    unit: UnitData,
    kinds: Vec<DotsData>,
    note: String,
}

/// Things of one kind: of each the second in which it began, and its amount.
#[derive(Debug, Serialize)]
struct DotsData {
    label: String,
    is_trouble: bool,
    points: Vec<(f64, f64)>,
}

impl ScatterData {
    /// That of a section, under this title; none where there is nothing to draw.
    pub fn of(scatter: &Scatter, range: Axis, title: String) -> Option<Self> {
        let kinds = scatter.kinds.iter().map(|dots| DotsData {
            label: clean(&dots.label),
            is_trouble: dots.is_trouble,
            points: dots
                .points
                .iter()
                .filter(|point| point.1.is_finite())
                .map(|&(at_ns, amount)| (seconds(at_ns), amount))
                .collect(),
        });
        let kinds: Vec<DotsData> = kinds.filter(|dots| !dots.points.is_empty()).collect();
        let amounts = kinds.iter().flat_map(|dots| &dots.points).map(|point| point.1);
        let unit = UnitData::of(scatter.source.unit, amounts);
        let note = clean(&scatter.note);
        (!kinds.is_empty()).then_some(Self { title, range, unit, kinds, note })
    }

    /// How many things are here.
    pub fn note(&self) -> &str {
        &self.note
    }
}

/// What it is drawn from, in the order in which things began.
pub fn table(scatter: &Scatter) -> Table {
    let all = scatter.kinds.iter().flat_map(|dots| {
        dots.points.iter().map(move |&(at_ns, amount)| (at_ns, amount, &*dots.label))
    });
    let mut all: Vec<_> = all.collect();
    all.sort_by_key(|&(at_ns, ..)| at_ns);
    let rows = all.into_iter().map(|(at_ns, amount, label)| {
        let amount = Value::of(scatter.source.unit, amount);
        vec![Value::Duration(at_ns), amount, Value::Text(label.to_owned())]
    });
    Table::new("", ["began", &*scatter.source.label, "ended"], rows)
}
