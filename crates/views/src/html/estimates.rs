//! Charts of estimates as data for the page's script: numbers with their intervals at places beside one another.

use pathscope_core::presentation::{Estimate, EstimateLine, Estimates};
use serde::Serialize;

use super::unit::UnitData;
use crate::places::{place_of, places, points, range};
use crate::words::clean;

/// A chart of numbers in one unit.
#[derive(Debug, Serialize)]
pub struct EstimatesData {
    axis: String,
    unit: UnitData,
    /// The name of each place, and how far it is from the left: 0 to 1.
    places: Vec<(String, f64)>,
    /// The least and the most that is shown, zero between them.
    range: (f64, f64),
    lines: Vec<EstimatesLineData>,
}

/// Numbers that belong together.
#[derive(Debug, Serialize)]
struct EstimatesLineData {
    label: String,
    is_joined: bool,
    points: Vec<Point>,
}

/// Its place by its number, its value and the ends of its interval, if it has one.
type Point = (usize, f64, Option<(f64, f64)>);

/// The data of a chart; none where there is no number.
pub fn data(estimates: &Estimates) -> Option<EstimatesData> {
    points(estimates).next()?;
    let places = places(estimates);
    let (least, most) = range(estimates);
    let point = |it: &Estimate| {
        let place = place_of(&places, it).filter(|_| it.value.is_finite())?;
        let is_whole = |(low, high): &(f64, f64)| low.is_finite() && high.is_finite();
        Some((place, it.value, it.interval.filter(is_whole)))
    };
    let line = |line: &EstimateLine| EstimatesLineData {
        label: clean(&line.label),
        is_joined: line.is_joined,
        points: line.points.iter().filter_map(point).collect(),
    };
    Some(EstimatesData {
        axis: clean(&estimates.axis),
        unit: UnitData::of(estimates.unit, [least, most].into_iter()),
        lines: estimates.lines.iter().map(line).collect(),
        range: (least, most),
        places,
    })
}
