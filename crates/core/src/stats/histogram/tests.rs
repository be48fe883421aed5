//! Tests of `histogram`.

use proptest::prelude::*;

use super::*;

fn of(samples: &[u64]) -> LatencyHistogram {
    let mut histogram = LatencyHistogram::new();
    samples.iter().for_each(|&sample| histogram.record(sample));
    histogram
}

#[test]
fn an_empty_histogram_claims_nothing() {
    let empty = LatencyHistogram::new();
    assert_eq!((empty.min_ns(), empty.max_ns(), empty.mean_ns()), (None, None, None));
    assert_eq!(empty.value_at_quantile(0.5), None);
    assert_eq!(empty.distribution(), Distribution::default());
}

#[test]
fn extremes_and_mean_are_exact() {
    let histogram = of(&[1_000_001, 2_000_003, 70_000_000_000]);
    assert_eq!(histogram.min_ns(), Some(1_000_001));
    assert_eq!(histogram.max_ns(), Some(70_000_000_000));
    assert_eq!(histogram.mean_ns(), Some(70_003_000_004.0 / 3.0));
    assert_eq!(histogram.distribution().clipped, 1);
}

#[test]
fn a_stall_stands_for_all_who_would_have_met_it() {
    // Asked every millisecond, a thousand answers of 100 µs and one of two seconds.
    let mut raw = LatencyHistogram::new();
    (0..1_000).for_each(|_| raw.record(100_000));
    raw.record(2_000_000_000);
    let corrected = raw.corrected(1_000_000);
    assert_eq!(corrected.count(), 1_001 + 1_999);
    assert_eq!((corrected.min_ns(), corrected.max_ns()), (Some(100_000), raw.max_ns()));
    let median = corrected.value_at_quantile(0.5).expect("samples");
    assert!((499_000_000..=502_000_000).contains(&median), "{median}");
    assert_eq!(raw.value_at_quantile(0.99), Some(100_031), "the raw one says nothing of it");
    assert_eq!(raw.corrected(0).count(), raw.count());
}

#[test]
fn memory_does_not_depend_on_the_number_of_samples() {
    // 10⁹ samples as 10⁶ values of 10³ each: what is counted grows, what is kept does not.
    let mut histogram = LatencyHistogram::new();
    for value in 1..=1_000_000_u64 {
        histogram.buckets.record_many(value, 1_000);
    }
    assert_eq!(histogram.count(), 1_000_000_000);
    // What is stored is bounded too: a bucket for each value that three digits can tell apart.
    assert!(histogram.distribution().buckets.len() < 12_000);
}

#[test]
fn a_rank_is_exact_for_every_percentile_of_every_number_of_samples() {
    // In tenths of a percent, and in hundred-thousandths close to the end: ⌈p·n / 100⌉ in whole numbers.
    let tenths = (1..1_000_u64).map(|tenth| (tenth, 1_000));
    let close = (99_990..100_000_u64).map(|part| (part, 100_000));
    for (part, whole) in tenths.chain(close) {
        let percent = part as f64 * 100.0 / whole as f64;
        for samples in (1..50).chain([1_000, 9_999, 10_000, 11_000, 12_000, 1_000_000]) {
            let rank = (part * samples).div_ceil(whole);
            assert_eq!(rank_of(percent / 100.0, samples), rank, "p{percent} of {samples}");
        }
    }
    assert_eq!((rank_of(0.0, 7), rank_of(1.0, 7), rank_of(1.0, u64::MAX)), (1, 7, u64::MAX));
}

#[test]
fn hostile_buckets_do_not_panic() {
    let distribution = Distribution {
        count: 3,
        min_ns: Some(9),
        max_ns: Some(2),
        mean_ns: Some(f64::NAN),
        standard_deviation_ns: Some(f64::INFINITY),
        clipped: 0,
        buckets: vec![Bucket { upper_ns: u64::MAX, count: u64::MAX }; 3],
    };
    let histogram = distribution.histogram();
    histogram.value_at_quantile(0.5);
    histogram.distribution();
}

proptest! {
    #[test]
    fn the_correction_adds_each_missing_sample_once(
        samples in prop::collection::vec(1_u64..2_000_000, 1..30),
        interval_ns in 1_000_u64..100_000,
    ) {
        let raw = of(&samples);
        let corrected = raw.corrected(interval_ns);
        // Three digits of each sample are known, and so the number of its steps to one more or less.
        let steps = |value: u64| (value / interval_ns).saturating_sub(1) as f64;
        let expected: f64 = samples.iter().map(|&sample| 1.0 + steps(sample)).sum();
        let slack: f64 = samples.iter().map(|&it| 1.0 + it as f64 * 0.001 / interval_ns as f64).sum();
        prop_assert!((corrected.count() as f64 - expected).abs() <= slack);
        prop_assert!(corrected.max_ns() == raw.max_ns());
    }

    #[test]
    fn merging_halves_equals_the_whole(
        left in prop::collection::vec(0_u64..100_000_000_000, 0..200),
        right in prop::collection::vec(0_u64..100_000_000_000, 0..200),
    ) {
        let mut merged = of(&left);
        merged.merge(&of(&right));
        let mut other_way = of(&right);
        other_way.merge(&of(&left));
        let whole = of(&[left, right].concat());
        for histogram in [&merged, &other_way] {
            prop_assert_eq!(histogram.distribution().buckets, whole.distribution().buckets);
            prop_assert_eq!(histogram.mean_ns(), whole.mean_ns());
            prop_assert_eq!(histogram.min_ns(), whole.min_ns());
            prop_assert_eq!(histogram.max_ns(), whole.max_ns());
        }
    }

    #[test]
    fn a_quantile_is_the_order_statistic_to_three_digits(
        mut samples in prop::collection::vec(1_u64..10_000_000_000, 1..300),
        rank_share in 0.0_f64..1.0,
    ) {
        let histogram = of(&samples);
        samples.sort_unstable();
        let rank = 1 + (rank_share * (samples.len() - 1) as f64) as u64;
        let truth = samples[rank as usize - 1] as f64;
        let value = histogram.value_at_rank(rank).expect("the rank exists") as f64;
        prop_assert!((value - truth).abs() <= truth * 0.001 + 1.0, "{} {}", value, truth);
    }

    #[test]
    fn storing_and_reading_keeps_the_distribution(
        samples in prop::collection::vec(0_u64..50_000_000_000, 1..200),
    ) {
        let stored = of(&samples).distribution();
        let again = stored.histogram().distribution();
        prop_assert_eq!(&stored.buckets, &again.buckets);
        prop_assert_eq!(stored.count, again.count);
        prop_assert_eq!((stored.min_ns, stored.max_ns), (again.min_ns, again.max_ns));
    }
}
