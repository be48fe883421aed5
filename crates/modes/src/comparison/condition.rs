//! What must not change: a condition fails where the figure moved further than it says, and the runs show that.

use pathscope_core::figure::Unit;
use pathscope_core::quantity::ratio;
use pathscope_core::record::Check;
use pathscope_core::stats::{Bound, Ratio, Telling, holm, least_p};

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

/// How far this condition lets this figure move: by a share of what it was where that can be told, else by so much.
fn bound(condition: &Condition, it: &ComparedFigure) -> Bound {
    let share = condition.share().filter(|_| it.difference.ratio.is_some());
    share.map_or_else(|| Bound::Amount(condition.most_of(it.before_median)), Bound::Share)
}

/// Whether a figure moved further than a condition allows.
fn is_beyond(condition: &Condition, it: &ComparedFigure) -> bool {
    match bound(condition, it) {
        Bound::Share(most) => it.relative().is_some_and(|moved| condition.is_beyond(moved, most)),
        Bound::Amount(most) => condition.is_beyond(it.difference.shift, most),
    }
}

/// How often chance alone moves a figure so far beyond what the condition allows; 1 where it is not beyond it.
fn p_beyond(condition: &Condition, it: &ComparedFigure) -> f64 {
    if !is_beyond(condition, it) {
        return 1.0;
    }
    it.difference.p_beyond(&it.before, &it.after, bound(condition, it))
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
    let bound = bound(condition, it);
    let [before_median, after_median] =
        [it.before_median, it.after_median].map(|median| told(unit, median));
    let moved = format!(
        "{}, {before_median} to {after_median}, in {place}",
        how_sure(condition, it, bound)
    );
    match it.difference.telling_beyond(p, bound, beyond, measurement.order) {
        Telling::TooFewRuns => check(
            false,
            format!(
                "of {before} and {after} runs no difference can be told, in {place}; five of each, or better fifteen"
            ),
        ),
        Telling::Shown if is_beyond(condition, it) => check(false, moved),
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
            let sure = how_sure(condition, it, bound);
            let runs = format!("no difference is shown by {before} and {after} runs");
            check(true, format!("{runs}: {sure}, in {place}"))
        }
    }
}

/// How far a figure moved, how far it may have, and up to which shift none is told of, on the scale on which the condition is judged.
fn how_sure(condition: &Condition, it: &ComparedFigure, bound: Bound) -> String {
    let moved = match bound {
        Bound::Share(_) => Moved::of(it),
        Bound::Amount(_) => Moved::by_amount(it),
    };
    let interval = moved.interval().map_or_else(String::new, |it| format!("95 % interval {it}; "));
    // Of a share that is judged as an amount nobody could tell how much that is.
    let allowed = match (condition.share(), bound) {
        (Some(_), Bound::Amount(most)) => format!("; allowed {}", told(it.unit, most)),
        _ => String::new(),
    };
    format!("{} ({interval}told above {}{allowed})", moved.change(), moved.floor())
}

/// How far a figure moved, in words, on one scale: as a share of what it was, or in its unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moved {
    /// None: shares.
    unit: Option<Unit>,
    change: f64,
    interval: Option<(f64, f64)>,
    floor: f64,
}

impl Moved {
    /// As it is judged: as a share where it can be.
    pub(super) fn of(figure: &ComparedFigure) -> Self {
        let share = |ratio: Ratio| Self {
            unit: None,
            change: ratio.change,
            interval: ratio.low.zip(ratio.high),
            floor: ratio.floor,
        };
        figure.difference.ratio.map_or_else(|| Self::by_amount(figure), share)
    }

    /// In the figure's unit.
    pub(super) fn by_amount(figure: &ComparedFigure) -> Self {
        let difference = &figure.difference;
        Self {
            unit: Some(figure.unit),
            change: difference.shift,
            interval: difference.low.zip(difference.high),
            floor: difference.floor,
        }
    }

    /// `+3.1 %`, or `+2.4 ms`, or `+2.0 points` of a hundred.
    pub(super) fn change(self) -> String {
        self.words(self.change)
    }

    /// Its number.
    pub(super) fn number(self) -> f64 {
        self.change
    }

    /// The least and the most that it may have moved; none of few runs.
    pub(super) fn interval(self) -> Option<String> {
        let (low, high) = self.interval?;
        let [low, high] = [low, high].map(|moved| self.words(moved));
        // The unit is told once.
        let unit = [" %", " points"].into_iter().find(|unit| high.ends_with(unit));
        let low = unit.and_then(|unit| low.strip_suffix(unit)).unwrap_or(&low);
        Some(format!("{low} to {high}"))
    }

    /// Up to which change none is told of.
    pub(super) fn floor(self) -> String {
        self.words(self.floor).replace('+', "")
    }

    fn words(self, moved: f64) -> String {
        let sign = if moved < 0.0 { "-" } else { "+" };
        let much = match self.unit {
            None => ratio(moved.abs()),
            // Of what is a share itself a change of 2 % of it and one by 2 % are not the same.
            Some(Unit::Share) => ratio(moved.abs()).replace(" %", " points"),
            Some(unit) => told(unit, moved.abs()),
        };
        format!("{sign}{much}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_told_on_its_scale() {
        let moved = |unit, change, low, high| {
            let moved = Moved { unit, change, interval: Some((low, high)), floor: 0.011 };
            [moved.change(), moved.interval().expect("two ends"), moved.floor()]
        };
        assert_eq!(moved(None, -0.25, -0.5, 0.1), ["-25.0 %", "-50.0 to +10.0 %", "1.1 %"]);
        let share = Some(Unit::Share);
        let expected = ["+2.0 points", "-1.0 to +3.0 points", "1.1 points"];
        assert_eq!(moved(share, 0.02, -0.01, 0.03), expected);
        let [change, interval, _] = moved(Some(Unit::Duration), -2e6, -3e6, -1e3);
        assert_eq!([&*change, &*interval], ["-2 ms", "-3 ms to -1 µs"]);
    }
}
