//! A comparison as charts: how far the figures moved that the test is for, and how far each percentile of a distribution did.
//!
//! Source of the second: Doksum, "Empirical probability plots and statistical inference for nonlinear models in the two-sample case",
//! Annals of Statistics 2 (1974): the shift function. Here each of its points is of the runs' percentiles, as in the tables.

use pathscope_core::figure::Unit;
use pathscope_core::presentation::{Estimate, EstimateLine, Estimates};
use pathscope_core::stats::Order;

use crate::compared::{ComparedFigure, ComparedMeasurement, ComparisonDocument, Tier};

/// How far each figure that the tests are for moved, as a share of what it was; nothing where none of them was anything in all runs.
pub(super) fn shifts(document: &ComparisonDocument) -> Option<Estimates> {
    let is_one = document.measurements.len() == 1;
    let [before, after] = document.names();
    let estimate = |(measurement, figure): (&str, &ComparedFigure)| {
        let place = if is_one { String::new() } else { format!(", {measurement}") };
        let ratio = figure.difference.ratio?;
        Some(Estimate {
            place: format!("{}{place}", figure.full_label()),
            at: None,
            value: ratio.change,
            interval: ratio.low.zip(ratio.high),
        })
    };
    let points: Vec<Estimate> = document.of_tier(Tier::Primary).filter_map(estimate).collect();
    // What nobody can tell must not look like what is told: a picture has no other word of it.
    let is_doubtful = document.measurements.iter().any(|it| it.order == Order::Blocks);
    let sure = if points.iter().all(|it| it.interval.is_none()) {
        "; nothing can be told of so few runs"
    } else if is_doubtful {
        ", with its 95 % interval; the runs did not take turns"
    } else {
        ", with its 95 % interval"
    };
    (!points.is_empty()).then(|| Estimates {
        title: format!("how far each moved from {before} to {after}{sure}"),
        unit: Unit::Share,
        lines: vec![EstimateLine { points, ..EstimateLine::default() }],
        ..Estimates::default()
    })
}

/// How far each percentile of a distribution moved, from the least to the largest; nothing where there is one alone.
pub(super) fn percentiles(
    measurement: &ComparedMeasurement,
    distribution: &str,
) -> Option<Estimates> {
    let is_of = |figure: &&ComparedFigure| figure.percentile_of.as_deref() == Some(distribution);
    let mut all: Vec<(f64, &ComparedFigure)> = measurement
        .figures
        .iter()
        .filter(is_of)
        .filter_map(|figure| Some((figure.percent?, figure)))
        .collect();
    all.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut lines: Vec<EstimateLine> = Vec::new();
    for (percent, figure) in &all {
        let label = figure.entry.clone().unwrap_or_default();
        let place = lines.iter().position(|line| line.label == label).unwrap_or_else(|| {
            lines.push(EstimateLine { label, is_joined: true, points: Vec::new() });
            lines.len() - 1
        });
        lines[place].points.push(Estimate {
            place: format!("p{percent}"),
            at: None,
            value: figure.difference.shift,
            interval: figure.difference.low.zip(figure.difference.high),
        });
    }
    lines.retain(|line| line.points.len() > 1);
    let unit = all.first()?.1.unit;
    let title = format!("{distribution}: how far each percentile moved, with its 95 % interval");
    let axis = "percentile".to_owned();
    (!lines.is_empty()).then_some(Estimates { title, axis, unit, lines })
}
