//! The shape of a distribution of durations: a row for each of a few ranges, each as many times longer
//! than the last, since delays spread over orders of magnitude.

use pathscope_core::presentation::Shape;
use pathscope_core::quantity::{Dimension, Scale, count, duration_ns, ratio};
use pathscope_core::stats::Distribution;

use super::line::{Line, Style};
use super::page::Page;
use crate::view::Charset;
use crate::{value, words};

const ROWS: usize = 8;
const LONGEST_BAR: usize = 32;
/// Eighths of a block, from one on.
const EIGHTHS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// Adds a distribution; nothing where nothing was counted.
pub fn histogram(page: &mut Page, shape: &Shape) {
    let bins = bins(&shape.distribution);
    let Some(most) = bins.iter().map(|bin| bin.count).max() else { return };
    let total = bins.iter().fold(0_u64, |sum, bin| sum.saturating_add(bin.count));
    page.gap();
    page.sentence(Line::indented(2), Style::Strong, &shape.source.label);
    let edges = edges(&bins);
    let edge_width = edges.iter().map(|edge| words::width(edge)).max().unwrap_or(0);
    let bar_room = page.columns().saturating_sub(4 + edge_width + 2 + 22).min(LONGEST_BAR);
    for (bin, edge) in bins.iter().zip(&edges) {
        let at_most = if page.charset() == Charset::Ascii { "<= " } else { "≤ " };
        let line = Line::indented(2).with(Style::Faint, at_most);
        let line = line.with_right(Style::Plain, edge, edge_width).with(Style::Plain, "  ");
        let bar_end = line.width() + bar_room;
        let line = line.with(Style::Plain, &bar(bin.count, most, bar_room)).padded_to(bar_end);
        let share = ratio(bin.count as f64 / total.max(1) as f64);
        let line = line.with_right(Style::Plain, &share, 9);
        page.line(&line.with_right(Style::Faint, &count(bin.count), 13));
    }
}

/// Samples up to a duration, and above the one before.
struct Bin {
    upper_ns: u64,
    count: u64,
}

/// The buckets gathered in a few ranges of equal ratio.
fn bins(distribution: &Distribution) -> Vec<Bin> {
    let filled = || distribution.buckets.iter().filter(|bucket| bucket.count > 0);
    let Some(most) = filled().map(|bucket| bucket.upper_ns.max(1)).max() else {
        return Vec::new();
    };
    let least = filled().map(|bucket| bucket.upper_ns.max(1)).min().unwrap_or(most);
    let mut bins = ranges(least, most);
    for bucket in filled() {
        let place = bins.partition_point(|bin| bin.upper_ns < bucket.upper_ns);
        if let Some(bin) = bins.get_mut(place) {
            bin.count = bin.count.saturating_add(bucket.count);
        }
    }
    bins
}

/// Empty ranges from `least` to `most`, each as many times longer than the last.
fn ranges(least: u64, most: u64) -> Vec<Bin> {
    let step = (most as f64 / least as f64).powf(1.0 / ROWS as f64);
    let mut uppers: Vec<u64> =
        (1..ROWS).map(|row| (least as f64 * step.powi(row as i32)).round() as u64).collect();
    uppers.push(most);
    uppers.dedup();
    uppers.retain(|&upper| upper <= most);
    uppers.into_iter().map(|upper_ns| Bin { upper_ns, count: 0 }).collect()
}

/// The upper ends, in one unit where one suits all.
fn edges(bins: &[Bin]) -> Vec<String> {
    match Scale::of(Dimension::Duration, bins.iter().map(|bin| bin.upper_ns as f64)) {
        Some(scale) => {
            let number = |bin: &Bin| scale.number(bin.upper_ns as f64);
            let mut numbers: Vec<String> = bins.iter().map(number).collect();
            value::align_points(numbers.iter_mut());
            numbers.iter().map(|number| format!("{number} {}", scale.unit())).collect()
        }
        None => bins.iter().map(|bin| duration_ns(bin.upper_ns)).collect(),
    }
}

/// A bar as long as its share of the longest; whatever is not nothing is seen.
fn bar(count: u64, most: u64, room: usize) -> String {
    if count == 0 || most == 0 {
        return String::new();
    }
    let eighths = (count as f64 / most as f64 * (room * 8) as f64).round().max(1.0) as usize;
    let mut bar = "█".repeat(eighths / 8);
    bar.extend((eighths % 8).checked_sub(1).map(|index| EIGHTHS[index]));
    bar
}

#[cfg(test)]
mod tests {
    use pathscope_core::stats::Bucket;

    use super::*;

    fn of(buckets: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let buckets = buckets.iter().map(|&(upper_ns, count)| Bucket { upper_ns, count }).collect();
        let bins = bins(&Distribution { buckets, ..Distribution::default() });
        bins.into_iter().map(|bin| (bin.upper_ns, bin.count)).collect()
    }

    #[test]
    fn each_range_is_as_many_times_longer_and_no_sample_is_left_out() {
        let bins = of(&[(1_000, 5), (1_999, 1), (2_001, 2), (256_000, 1)]);
        let uppers: Vec<_> = bins.iter().map(|&(upper_ns, _)| upper_ns).collect();
        assert_eq!(uppers, [2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000]);
        let counts: Vec<_> = bins.iter().map(|&(_, count)| count).collect();
        assert_eq!(counts, [6, 2, 0, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn one_value_is_one_range() {
        assert_eq!(of(&[(500, 3)]), [(500, 3)]);
        assert_eq!(of(&[(0, 3)]), [(1, 3)]);
        assert_eq!(of(&[(500, 0)]), []);
    }

    #[test]
    fn whatever_is_not_nothing_is_seen() {
        assert_eq!(bar(1, 1_000_000, 32), "▏");
        assert_eq!(bar(0, 1_000_000, 32), "");
        assert_eq!(bar(3, 4, 2), "█▌");
    }
}
