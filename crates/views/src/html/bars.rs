//! Bars side by side as data for the page's script, and as the table that they are drawn from. Numbers are in base units.

use pathscope_core::presentation::{Bars, Table, Value};
use serde::Serialize;

use super::unit::UnitData;
use crate::words::clean;

/// A bar for each of many things.
#[derive(Debug, Serialize)]
pub struct BarsData {
    pub title: String,
    unit: UnitData,
    /// Of each bar: what it is of, how many things it stands for, the least and the most of them, and whether they are marked.
    bars: Vec<(String, u64, f64, f64, bool)>,
    mark: String,
    levels: Vec<(String, f64)>,
    note: String,
}

impl BarsData {
    /// Those of a section, under this title; none where there is nothing to draw.
    pub fn of(bars: &Bars, title: String) -> Option<Self> {
        let drawn = bars.bars.iter().filter(|bar| bar.least.is_finite() && bar.most.is_finite());
        let drawn = drawn.map(|bar| {
            (clean(&bar.label), bar.count, bar.least, bar.most.max(bar.least), bar.is_marked)
        });
        let drawn: Vec<_> = drawn.collect();
        let levels = bars.levels.iter().filter(|level| level.value.is_finite());
        (!drawn.is_empty()).then(|| Self {
            title,
            unit: UnitData::of(bars.source.unit, drawn.iter().map(|bar| bar.3)),
            bars: drawn,
            mark: clean(&bars.mark),
            levels: levels.map(|level| (clean(&level.label), level.value)).collect(),
            note: clean(&bars.note),
        })
    }

    /// What is said of all of them together.
    pub fn note(&self) -> &str {
        &self.note
    }
}

/// What bars are drawn from, a row for each, and the levels below them.
pub fn table(bars: &Bars) -> Table {
    let amount = |amount: f64| Value::of(bars.source.unit, amount);
    let rows = bars.bars.iter().map(|bar| {
        let mark = if bar.is_marked { bars.mark.clone() } else { String::new() };
        let label = Value::Text(bar.label.clone());
        vec![label, Value::Count(bar.count), amount(bar.least), amount(bar.most), Value::Text(mark)]
    });
    let levels = bars.levels.iter().map(|level| {
        let (label, value) = (Value::Text(level.label.clone()), amount(level.value));
        vec![label, Value::Absent, value.clone(), value, Value::Text(String::new())]
    });
    Table::new("", ["", "number", "least", "most", ""], rows.chain(levels))
}
