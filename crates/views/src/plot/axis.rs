//! Axes: which round numbers stand at them, and how these are told.

use pathscope_core::quantity::count;

/// Round numbers from `least` to `most`, about `wanted` of them, and the step from one to the next.
pub fn round_numbers(least: f64, most: f64, wanted: usize) -> (Vec<f64>, f64) {
    let rough = ((most - least) / wanted.max(1) as f64).max(f64::MIN_POSITIVE);
    let power = 10_f64.powf(rough.log10().floor());
    let step =
        [1.0, 2.0, 5.0].map(|digit| digit * power).into_iter().find(|&step| step >= rough * 0.999);
    let step = step.unwrap_or(10.0 * power);
    let first = (least / step - 1e-9).ceil();
    let numbers = (0..=2 * wanted).map(|at| (first + at as f64) * step);
    (numbers.take_while(|&number| number <= most + step * 1e-9).collect(), step)
}

/// One of them, with the digits that tell it from its neighbours.
pub fn told(number: f64, step: f64) -> String {
    let decimals = (-(step * 1.001).log10().floor()).clamp(0.0, 9.0) as usize;
    match decimals {
        0 => count(number.round().max(0.0) as u64),
        _ => format!("{number:.decimals$}"),
    }
}

/// Durations at an axis on which each is as far from the next as it is times longer.
pub fn durations(least_ns: f64, most_ns: f64) -> Vec<f64> {
    let of_decades = |digits: &[f64]| {
        let first = least_ns.log10().floor() as i32;
        let last = most_ns.log10().ceil() as i32;
        let all = (first..=last)
            .flat_map(|power| digits.iter().map(move |digit| digit * 10_f64.powi(power)));
        all.filter(|it| (least_ns * 0.999..=most_ns * 1.001).contains(it)).collect::<Vec<_>>()
    };
    let choices = [&[1.0][..], &[1.0, 3.0], &[1.0, 2.0, 5.0]].map(of_decades);
    let found = choices.into_iter().find(|numbers| numbers.len() >= 4);
    found.unwrap_or_else(|| round_numbers(least_ns, most_ns, 6).0)
}

/// A round duration: `50 µs`, `2.5 ms`.
pub fn duration(nanoseconds: f64) -> String {
    let units = [("s", 1e9), ("ms", 1e6), ("µs", 1e3)];
    let unit = units.into_iter().find(|(_, multiple)| nanoseconds >= multiple * 0.999_999);
    let (name, multiple) = unit.unwrap_or(("ns", 1.0));
    let number = format!("{:.3}", nanoseconds / multiple);
    format!("{} {name}", number.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_at_an_axis_are_round_and_told_as_exactly_as_they_differ() {
        let told = |least, most, wanted| {
            let (numbers, step) = round_numbers(least, most, wanted);
            numbers.iter().map(|&number| told(number, step)).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(told(0.0, 9.7, 4), "0 5");
        assert_eq!(told(0.0, 10.0, 5), "0 2 4 6 8 10");
        assert_eq!(told(0.0, 0.9, 5), "0.0 0.2 0.4 0.6 0.8");
        assert_eq!(told(0.0, 23_000.0, 4), "0 10,000 20,000");
        assert_eq!(told(3.1, 3.4, 3), "3.1 3.2 3.3 3.4");
    }

    #[test]
    fn durations_at_an_axis_are_decades_or_what_lies_between() {
        let told = |least, most| {
            durations(least, most).into_iter().map(duration).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(told(900.0, 2e6), "1 µs, 10 µs, 100 µs, 1 ms");
        assert_eq!(told(15_000.0, 400_000.0), "20 µs, 50 µs, 100 µs, 200 µs");
        assert_eq!(told(20_000.0, 31_000.0), "20 µs, 22 µs, 24 µs, 26 µs, 28 µs, 30 µs");
        assert_eq!(
            told(1.0, 1e11),
            "1 ns, 10 ns, 100 ns, 1 µs, 10 µs, 100 µs, 1 ms, 10 ms, 100 ms, 1 s, 10 s, 100 s"
        );
    }
}
