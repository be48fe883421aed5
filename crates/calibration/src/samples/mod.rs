//! What a run has written down one by one, and what follows from it by the definitions: sorted, and not by histogram. It is a second
//! way to each figure, which shares no line with the first.

pub mod frames;
pub mod pings;
pub mod stamps;
pub mod trend;

use frames::Frames;
use pings::Pings;
use stamps::Stamps;

/// The rows of a run's file, of whichever mode it is.
#[derive(Clone, Debug, PartialEq)]
pub enum Samples {
    /// Each ping.
    Pings(Box<Pings>),
    /// Each frame that ended at the client.
    Frames(Frames),
    /// Each datagram on each path.
    Stamps(Stamps),
}

impl Samples {
    /// Reads a file that `--samples` or `--jitter-file` wrote; absent where it is none.
    pub fn read(text: &str) -> Option<Self> {
        let pings = || Pings::read(text).map(|pings| Self::Pings(Box::new(pings)));
        let frames = || Frames::read(text).map(Self::Frames);
        pings().or_else(frames).or_else(|| Stamps::read(text).map(Self::Stamps))
    }

    /// Makes every duration longer by this factor, and every count greater by one: what a rule must notice.
    pub fn stretch(&mut self, factor: f64) {
        match self {
            Self::Pings(pings) => pings.stretch(factor),
            Self::Frames(frames) => frames.stretch(factor),
            Self::Stamps(stamps) => stamps.stretch(factor),
        }
    }
}

/// Durations in nanoseconds, sorted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Durations {
    sorted: Vec<f64>,
    /// So many more are claimed than there are: what a rule must notice. Their values would move every percentile.
    more: usize,
}

impl Durations {
    /// Of all of them.
    pub fn new(mut durations: Vec<f64>) -> Self {
        durations.sort_by(f64::total_cmp);
        Self { sorted: durations, more: 0 }
    }

    /// Makes each longer by this factor, and one more.
    pub fn stretch(&mut self, factor: f64) {
        for duration in &mut self.sorted {
            *duration *= factor;
        }
        self.more += 1;
    }

    /// Makes each longer by so much.
    pub fn delay_by(&mut self, by_ns: f64) {
        for duration in &mut self.sorted {
            *duration += by_ns;
        }
    }

    /// A statistic by its name in figures' ids: `min`, `mean`, `p99.9`. Absent where there are no samples for it.
    pub fn statistic(&self, name: &str) -> Option<f64> {
        match name {
            "count" => Some((self.sorted.len() + self.more) as f64),
            "min" => self.sorted.first().copied(),
            "max" => self.sorted.last().copied(),
            "mean" => self.mean(),
            "deviation" => self.deviation(),
            "iqr" => Some(self.percentile(75.0)? - self.percentile(25.0)?),
            _ => self.percentile(name.strip_prefix('p')?.parse().ok()?),
        }
    }

    /// The smallest that at least this share of all, in percent, do not exceed.
    pub fn percentile(&self, percent: f64) -> Option<f64> {
        let count = self.sorted.len();
        let rank = (percent / 100.0 * count as f64 - 1e-9).ceil().max(1.0) as usize;
        self.sorted.get(rank - 1).copied()
    }

    fn mean(&self) -> Option<f64> {
        let count = self.sorted.len();
        (count > 0).then(|| self.sorted.iter().sum::<f64>() / count as f64)
    }

    /// With n − 1.
    fn deviation(&self) -> Option<f64> {
        let (mean, count) = (self.mean()?, self.sorted.len());
        let squares: f64 = self.sorted.iter().map(|it| (it - mean) * (it - mean)).sum();
        (count > 1).then(|| (squares / (count - 1) as f64).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::Durations;

    #[test]
    fn statistics_are_those_of_the_definitions() {
        let durations = Durations::new(vec![1.0, 2.0, 3.0, 4.0, 10.0]);
        let statistic = |name: &str| durations.statistic(name);
        assert_eq!(
            (statistic("count"), statistic("min"), statistic("max")),
            (Some(5.0), Some(1.0), Some(10.0))
        );
        assert_eq!(
            (statistic("mean"), statistic("p50"), statistic("p99.9")),
            (Some(4.0), Some(3.0), Some(10.0))
        );
        assert_eq!(
            (statistic("p20"), statistic("p20.1"), statistic("iqr")),
            (Some(1.0), Some(2.0), Some(2.0))
        );
        assert_eq!(statistic("deviation"), Some(12.5_f64.sqrt()));
        assert_eq!((statistic("slope"), Durations::default().statistic("p50")), (None, None));
    }
}
