//! What a distribution has gained since it was stored earlier.

use pathscope_core::stats::{Bucket, Distribution};

/// What `later` has and `earlier` had not yet, where the two are the same histogram at two times.
///
/// Counts are exact. The mean is, up to rounding; the deviation is left out. Smallest and largest
/// come from the buckets, so to three digits, and never beyond those of `later`.
pub fn gained(later: &Distribution, earlier: &Distribution) -> Distribution {
    let buckets: Vec<Bucket> = later
        .buckets
        .iter()
        .map(|bucket| {
            let before = earlier.buckets.binary_search_by_key(&bucket.upper_ns, |it| it.upper_ns);
            let before = before.map_or(0, |index| earlier.buckets[index].count);
            Bucket { count: bucket.count.saturating_sub(before), ..*bucket }
        })
        .filter(|bucket| bucket.count > 0)
        .collect();
    let count = later.count.saturating_sub(earlier.count);
    let clamped = |bucket: &Bucket| {
        let (least, most) = (later.min_ns.unwrap_or(0), later.max_ns.unwrap_or(u64::MAX));
        bucket.upper_ns.max(least).min(most)
    };
    let sum = |it: &Distribution| it.mean_ns.unwrap_or(0.0) * it.count as f64;
    Distribution {
        count,
        min_ns: buckets.first().map(clamped),
        max_ns: buckets.last().map(clamped),
        mean_ns: (count > 0).then(|| (sum(later) - sum(earlier)).max(0.0) / count as f64),
        standard_deviation_ns: None,
        clipped: later.clipped.saturating_sub(earlier.clipped),
        buckets,
    }
}

#[cfg(test)]
mod tests {
    use pathscope_core::stats::LatencyHistogram;

    use super::*;

    #[test]
    fn what_was_gained_is_what_was_recorded_meanwhile() {
        let mut histogram = LatencyHistogram::new();
        [100, 7, 7].into_iter().for_each(|it| histogram.record(it));
        let earlier = histogram.distribution();
        assert_eq!(gained(&earlier, &earlier), Distribution::default());
        [7, 400, 500].into_iter().for_each(|it| histogram.record(it));
        let step = gained(&histogram.distribution(), &earlier);
        assert_eq!((step.count, step.min_ns, step.max_ns), (3, Some(7), Some(500)));
        assert!((step.mean_ns.expect("three of them") - 907.0 / 3.0).abs() < 1e-6);
        assert_eq!(step.buckets.iter().map(|bucket| bucket.count).sum::<u64>(), 3);
    }
}
