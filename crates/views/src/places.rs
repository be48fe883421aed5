//! Where the places of a chart of estimates stand beside one another: as far apart as their numbers are, where they have some, or else evenly.

use pathscope_core::presentation::{Estimate, Estimates};

use crate::words::clean;

/// From so many times on the axis is one of ratios: 1, 2, 4, 8, 16 stand evenly.
const LOGARITHMIC_FROM: f64 = 8.0;

/// The name of each place, and how far it is from the left: 0 to 1.
pub fn places(estimates: &Estimates) -> Vec<(String, f64)> {
    let mut places: Vec<(String, Option<f64>)> = Vec::new();
    for Estimate { place, at, .. } in points(estimates) {
        let name = clean(place);
        if !places.iter().any(|(other, _)| *other == name) {
            places.push((name, at.filter(|at| at.is_finite())));
        }
    }
    let numbers: Option<Vec<f64>> = places.iter().map(|(_, at)| *at).collect();
    let numbers = numbers.filter(|numbers| numbers.len() > 1);
    let evenly = |at: usize| (at as f64 + 0.5) / places.len() as f64;
    let least = numbers.iter().flatten().copied().fold(f64::MAX, f64::min);
    let most = numbers.iter().flatten().copied().fold(f64::MIN, f64::max);
    let share = |number: f64| {
        let share = if least > 0.0 && most / least >= LOGARITHMIC_FROM {
            (number / least).ln() / (most / least).ln()
        } else {
            (number - least) / (most - least)
        };
        // Words below the first and the last have room.
        ((0.06 + 0.88 * share) * 1e4).round() / 1e4
    };
    let is_wide = most > least;
    let place = |(at, (name, number)): (usize, &(String, Option<f64>))| {
        let share = number.filter(|_| numbers.is_some() && is_wide).map(share);
        (name.clone(), share.unwrap_or_else(|| evenly(at)))
    };
    places.iter().enumerate().map(place).collect()
}

/// The place of an estimate among them.
pub fn place_of(places: &[(String, f64)], estimate: &Estimate) -> Option<usize> {
    let name = clean(&estimate.place);
    places.iter().position(|(other, _)| *other == name)
}

/// The least and the most that a chart has to show: zero, every number and every interval.
pub fn range(estimates: &Estimates) -> (f64, f64) {
    let ends = points(estimates).flat_map(|it| {
        let (low, high) = it.interval.unwrap_or((it.value, it.value));
        [it.value, low, high]
    });
    let ends = ends.filter(|end| end.is_finite());
    ends.fold((0.0, 0.0), |(least, most), end| (end.min(least), end.max(most)))
}

/// All numbers of a chart.
pub fn points(estimates: &Estimates) -> impl Iterator<Item = &Estimate> {
    estimates.lines.iter().flat_map(|line| &line.points).filter(|it| it.value.is_finite())
}

#[cfg(test)]
mod tests {
    use pathscope_core::presentation::EstimateLine;

    use super::*;

    fn of(all: &[(&str, Option<f64>)]) -> Vec<f64> {
        let point = |(place, at): &(&str, Option<f64>)| Estimate {
            place: (*place).to_owned(),
            at: *at,
            value: 1.0,
            interval: Some((0.5, 2.0)),
        };
        let points: Vec<Estimate> = all.iter().map(point).collect();
        let line = EstimateLine { points, ..EstimateLine::default() };
        // What two lines have in common is one place.
        let estimates = Estimates { lines: vec![line.clone(), line], ..Estimates::default() };
        assert_eq!(range(&estimates), (0.0, 2.0));
        let shares = places(&estimates).into_iter().map(|(_, share)| (share * 100.0).round());
        shares.collect()
    }

    #[test]
    fn numbers_stand_as_far_apart_as_they_are_and_words_evenly() {
        assert_eq!(
            of(&[("0", Some(0.0)), ("5", Some(5.0)), ("20", Some(20.0))]),
            [6.0, 28.0, 94.0]
        );
        assert_eq!(
            of(&[("1", Some(1.0)), ("4", Some(4.0)), ("16", Some(16.0))]),
            [6.0, 50.0, 94.0]
        );
        assert_eq!(of(&[("cubic", None), ("bbr", None)]), [25.0, 75.0]);
        assert_eq!(of(&[("1", Some(1.0)), ("many", None)]), [25.0, 75.0]);
        assert_eq!(of(&[("4", Some(4.0))]), [50.0]);
        assert_eq!(of(&[("4", Some(4.0)), ("4.0", Some(4.0))]), [25.0, 75.0]);
    }
}
