//! What must not change: a condition fails where the figure moved further than it says, and the runs show that.

use pathscope_core::quantity::ratio;
use pathscope_core::record::Check;
use pathscope_core::stats::{Telling, holm, least_p};

use super::findings::ComparisonCheck;
use crate::compared::{ComparedFigure, ComparedMeasurement};
use crate::condition::Condition;
use crate::figures::told;

/// All conditions together are wrong so often where nothing moved.
const LEVEL: f64 = 0.05;

/// Judges what must not change, of every measurement that has the figure. What none has cannot be told, and does not hold.
pub(super) fn judge(conditions: &[Condition], measurements: &[ComparedMeasurement]) -> Vec<Check> {
    let mut judged = Vec::new();
    for condition in conditions {
        let id = condition.figure().id();
        let figures = measurements.iter().flat_map(|measurement| {
            let own = measurement.figures.iter().filter(|it| it.figure == id && it.entry.is_none());
            own.map(move |figure| (measurement, figure))
        });
        let before = judged.len();
        judged.extend(figures.map(|it| (condition, Some(it))));
        if judged.len() == before {
            judged.push((condition, None));
        }
    }
    // Of many that are asked about, one seems to have moved where nothing did: all together are held to one in twenty.
    let together = |p: fn(&Condition, &ComparedFigure) -> f64| {
        let p = judged.iter().map(|(condition, of)| of.map_or(1.0, |(_, it)| p(condition, it)));
        holm(&p.collect::<Vec<_>>())
    };
    let moved = together(|_, it| it.difference.p);
    let beyond = together(p_beyond);
    let all = judged.len();
    let judged = judged.into_iter().zip(moved.into_iter().zip(beyond));
    judged.map(|((condition, of), p)| check(condition, of, p, all)).collect()
}

/// How often chance alone moves a figure so far beyond what the condition allows; 1 where it is not beyond it.
fn p_beyond(condition: &Condition, it: &ComparedFigure) -> f64 {
    if !condition.is_beyond(it.before_median, it.difference.shift) {
        return 1.0;
    }
    it.difference.p_beyond(&it.before, &it.after, condition.most_of(it.before_median))
}

/// What a condition comes to for this figure, one of so many that are asked about; none: not both sides have it. `p`: of the difference, and of
/// one beyond what is allowed, with all that are asked about looked at.
fn check(
    condition: &Condition,
    of: Option<(&ComparedMeasurement, &ComparedFigure)>,
    (p, beyond): (f64, f64),
    all: usize,
) -> Check {
    let (typed, figure) = (condition.text(), condition.figure());
    let check = |passed: bool, text: String| {
        Check::new(ComparisonCheck::NotChanged, passed, format!("{typed}: {text}"))
    };
    let Some((measurement, it)) = of else {
        let more = figure.statistic().filter(|it| it.starts_with('p'));
        let more = more.map_or("", |_| "; a percentile needs enough samples in each run");
        let text = format!("it cannot be told, since not both sides have this figure{more}");
        return check(false, text);
    };
    let place = &measurement.name;
    let [before, after] = [it.before.len(), it.after.len()];
    let [lacks_before, lacks_after] =
        [measurement.runs[0] as usize - before, measurement.runs[1] as usize - after];
    if lacks_before + lacks_after > 0 {
        let text = format!(
            "it cannot be told, since {lacks_before} of the runs before and {lacks_after} of those after have no such figure, \
             in {place}"
        );
        return check(false, text);
    }
    let unit = figure.unit();
    let moved = format!(
        "{}, {} to {}, in {place}",
        how_sure(it),
        told(unit, it.before_median),
        told(unit, it.after_median)
    );
    match it.difference.telling_beyond(p, beyond, measurement.order) {
        Telling::TooFewRuns => check(
            false,
            format!(
                "of {before} and {after} runs no difference can be told, in {place}; five of each, or better fifteen"
            ),
        ),
        Telling::Shown if condition.is_beyond(it.before_median, it.difference.shift) => {
            check(false, moved)
        }
        Telling::Shown => check(true, moved),
        // What so few runs could not show of so many conditions, however large it is, has not stayed for all that is known.
        Telling::NotShown if least_p(before, after) * all as f64 > LEVEL => check(
            false,
            format!(
                "of {before} and {after} runs no difference can be told where {all} figures are asked about, in {place}; more \
                 runs, or fewer conditions"
            ),
        ),
        Telling::NotShown => {
            let sure = how_sure(it);
            let runs = format!("no difference is shown by {before} and {after} runs");
            check(true, format!("{runs}: {sure}, in {place}"))
        }
    }
}

/// How far a figure moved, how far it may have, and up to which shift none is told of.
fn how_sure(it: &ComparedFigure) -> String {
    let floor = amount(it, it.difference.floor).replace('+', "");
    let interval = it.difference.low.zip(it.difference.high);
    let interval = interval.map_or_else(String::new, |(low, high)| {
        format!("95 % interval {}; ", between(it, low, high))
    });
    format!("{} ({interval}told above {floor})", change(it))
}

/// How far a figure moved, in words: `+3.1 %`, or in its unit where it was nothing before.
pub(super) fn change(figure: &ComparedFigure) -> String {
    amount(figure, figure.difference.shift)
}

/// A shift of this figure in words.
pub(super) fn amount(figure: &ComparedFigure, shift: f64) -> String {
    let sign = if shift < 0.0 { "-" } else { "+" };
    let before = figure.before_median.abs();
    let much =
        if before > 0.0 { ratio(shift.abs() / before) } else { told(figure.unit, shift.abs()) };
    format!("{sign}{much}")
}

/// The least and the most of a shift, in words.
pub(super) fn between(figure: &ComparedFigure, low: f64, high: f64) -> String {
    let [low, high] = [low, high].map(|shift| amount(figure, shift));
    // The unit is told once.
    let low = if high.ends_with(" %") { low.trim_end_matches(" %") } else { &low };
    format!("{low} to {high}")
}
