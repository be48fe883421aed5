//! Timelines and boxes as data for the page's script. Numbers are in base units, times in seconds.

use pathscope_core::presentation::{Boxes, Timeline};
use serde::Serialize;

use super::unit::UnitData;
use crate::course::{Axis, seconds};
use crate::words::clean;

/// What became of several things over time.
#[derive(Debug, Serialize)]
pub struct TimelineData {
    title: String,
    range: Axis,
    rows: Vec<String>,
    kinds: Vec<String>,
    /// Of each stretch: its row, its begin and end, its kind, and more of it in words.
    stretches: Vec<(usize, f64, f64, usize, String)>,
}

/// Distributions side by side.
#[derive(Debug, Serialize)]
pub struct BoxData {
    title: String,
    unit: UnitData,
    names: [&'static str; 5],
    rows: Vec<(String, [f64; 5])>,
}

impl TimelineData {
    /// Of a timeline; none where nothing is told of anything.
    pub fn of(timeline: &Timeline, range: Axis, title: String) -> Option<Self> {
        let mut kinds: Vec<String> = Vec::new();
        let mut stretches = Vec::new();
        for (row, it) in timeline.rows.iter().enumerate() {
            for stretch in &it.stretches {
                let what = clean(&stretch.what);
                let kind = kinds.iter().position(|kind| *kind == what).unwrap_or_else(|| {
                    kinds.push(what);
                    kinds.len() - 1
                });
                let (start, end) = (seconds(stretch.start_ns), seconds(stretch.end_ns));
                stretches.push((row, start, end, kind, clean(&stretch.note)));
            }
        }
        (!stretches.is_empty()).then(|| Self {
            title,
            range,
            rows: timeline.rows.iter().map(|row| clean(&row.label)).collect(),
            kinds,
            stretches,
        })
    }

    /// What it shows.
    pub fn title(&self) -> &str {
        &self.title
    }
}

impl BoxData {
    /// Of boxes; none where there is none.
    pub fn of(boxes: &Boxes, title: String) -> Option<Self> {
        let numbers = boxes.rows.iter().flat_map(|row| row.numbers);
        (!boxes.rows.is_empty()).then(|| Self {
            title,
            unit: UnitData::of(boxes.unit, numbers),
            names: boxes.names,
            rows: boxes.rows.iter().map(|row| (clean(&row.label), row.numbers)).collect(),
        })
    }

    /// What it shows.
    pub fn title(&self) -> &str {
        &self.title
    }
}
