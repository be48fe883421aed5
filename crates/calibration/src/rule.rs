//! A rule: which truth a figure is held to, and how far off it may be. All rules are fixed before anything is measured.

use pathscope_experiments::plan::Tolerance;
use pathscope_modes::figures::Found;

pub use crate::against::Against;
use crate::evidence::Evidence;

/// Which numbers of a figure a rule is about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Of {
    /// The one of this id.
    One,
    /// Of a distribution how many there are, the smallest and the largest.
    Extremes,
    /// Its mean and its deviation.
    Sums,
    /// All its percentiles.
    Percentiles,
}

/// Which truth a figure is held to.
#[derive(Clone, Copy)]
pub struct Rule {
    /// The figure, without its side: `latency.rtt.min`; a distribution as a whole: `latency.rtt`.
    pub figure: &'static str,
    /// Which numbers of it.
    pub of: Of,
    /// Where the truth comes from.
    pub against: Against,
    /// How far below the truth it may be; absent: any distance.
    pub below: Option<Tolerance>,
    /// How far above.
    pub above: Option<Tolerance>,
    /// Why so far.
    pub reason: &'static str,
    /// Whether it holds on a machine that is busy with other things, too.
    pub holds_when_busy: bool,
    /// The truth, in the figure's base unit; absent where there is none in a cell.
    pub truth: fn(&Evidence<'_>, &Found) -> Option<f64>,
}

/// A histogram's: three significant digits.
const RESOLUTION: f64 = 0.001;
/// None at all.
pub const NONE: Tolerance = Tolerance::Absolute(0.0);

impl Rule {
    /// A number that has to be exactly this.
    pub const fn exact(
        figure: &'static str,
        against: Against,
        truth: fn(&Evidence<'_>, &Found) -> Option<f64>,
    ) -> Self {
        let reason = "it is counted";
        let exactly = Some(NONE);
        Self {
            figure,
            of: Of::One,
            against,
            below: exactly,
            above: exactly,
            reason,
            holds_when_busy: true,
            truth,
        }
    }

    /// No less than this.
    pub const fn at_least(
        figure: &'static str,
        against: Against,
        reason: &'static str,
        truth: fn(&Evidence<'_>, &Found) -> Option<f64>,
    ) -> Self {
        Self { above: None, reason, ..Self::exact(figure, against, truth) }
    }

    /// No more than this.
    pub const fn at_most(
        figure: &'static str,
        against: Against,
        reason: &'static str,
        truth: fn(&Evidence<'_>, &Found) -> Option<f64>,
    ) -> Self {
        Self { below: None, reason, ..Self::exact(figure, against, truth) }
    }

    /// How many samples a distribution has, and the ends of it, by single samples.
    pub const fn extremes(
        figure: &'static str,
        truth: fn(&Evidence<'_>, &Found) -> Option<f64>,
    ) -> Self {
        Self { of: Of::Extremes, ..Self::exact(figure, Against::Samples, truth) }
    }

    /// Its mean and deviation.
    pub const fn sums(
        figure: &'static str,
        truth: fn(&Evidence<'_>, &Found) -> Option<f64>,
    ) -> Self {
        Self { of: Of::Sums, ..Self::by_sums(figure, truth) }
    }

    /// Its percentiles.
    pub const fn percentiles(
        figure: &'static str,
        truth: fn(&Evidence<'_>, &Found) -> Option<f64>,
    ) -> Self {
        let allowed = Some(Tolerance::Relative(RESOLUTION));
        Self {
            of: Of::Percentiles,
            below: allowed,
            above: allowed,
            reason: "histograms have three significant digits",
            ..Self::exact(figure, Against::Samples, truth)
        }
    }

    /// One number that is a sum over single samples.
    pub const fn by_sums(
        figure: &'static str,
        truth: fn(&Evidence<'_>, &Found) -> Option<f64>,
    ) -> Self {
        let allowed = Some(Tolerance::Relative(1e-6));
        Self {
            below: allowed,
            above: allowed,
            reason: "sums of squares lose the last digits",
            ..Self::exact(figure, Against::Samples, truth)
        }
    }

    /// One number that follows from others by sums that lose the last digits.
    pub const fn by_parts(
        figure: &'static str,
        truth: fn(&Evidence<'_>, &Found) -> Option<f64>,
    ) -> Self {
        Self { against: Against::Figures, ..Self::by_sums(figure, truth) }
    }

    /// Whether it is about this number.
    pub fn is_about(&self, found: &Found) -> bool {
        let statistic = found.statistic.as_deref();
        let is_of = match self.of {
            Of::One => return found.kind() == self.figure,
            Of::Extremes => matches!(statistic, Some("count" | "min" | "max")),
            Of::Sums => matches!(statistic, Some("mean" | "deviation")),
            Of::Percentiles => statistic.is_some_and(|name| name.starts_with('p')),
        };
        is_of && found.group.id(found.figure) == self.figure
    }

    /// Whether this may be measured where that is true.
    pub fn allows(&self, measured: f64, truth: f64) -> bool {
        self.below.is_none_or(|it| measured >= truth - it.of(truth) - rounding(truth))
            && self.above.is_none_or(|it| measured <= truth + it.of(truth) + rounding(truth))
    }
}

/// Whether two truths are one.
pub fn is_same(one: f64, other: f64) -> bool {
    (one - other).abs() <= rounding(one)
}

/// What numbers in floating point may differ by.
fn rounding(truth: f64) -> f64 {
    truth.abs() * 1e-9
}
