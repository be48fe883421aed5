//! Figures over time: what each stretch of time, or each instant, has of them. Not here: where a line is drawn that shows them, which
//! is the affair of views.

use super::Source;

/// One figure over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// What it is of.
    pub source: Source,
    /// In order of time; gaps have no value.
    pub points: Vec<SeriesPoint>,
}

/// What a figure was in a stretch of time, or at an instant where that has no length. Times are since the start of the document.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SeriesPoint {
    /// Its begin.
    pub start_ns: u64,
    /// Its end.
    pub end_ns: u64,
    /// How much, in the base unit of the source; absent in a gap.
    pub value: Option<f64>,
}

impl SeriesPoint {
    /// That of a stretch of time.
    pub fn over(start_ns: u64, end_ns: u64, value: Option<f64>) -> Self {
        Self { start_ns, end_ns: end_ns.max(start_ns), value }
    }

    /// That of an instant.
    pub fn at(at_ns: u64, value: Option<f64>) -> Self {
        Self::over(at_ns, at_ns, value)
    }

    /// Its value, where that is a number.
    pub fn number(&self) -> Option<f64> {
        self.value.filter(|value| value.is_finite())
    }

    /// The same, later by so much.
    pub fn moved(&mut self, by_ns: u64) {
        [&mut self.start_ns, &mut self.end_ns]
            .into_iter()
            .for_each(|at_ns| *at_ns = at_ns.saturating_add(by_ns));
    }

    /// The same on a time that begins so much later.
    pub fn moved_back(&mut self, by_ns: u64) {
        [&mut self.start_ns, &mut self.end_ns]
            .into_iter()
            .for_each(|at_ns| *at_ns = at_ns.saturating_sub(by_ns));
    }
}

impl Series {
    /// The values that are numbers.
    pub fn numbers(&self) -> impl Iterator<Item = f64> {
        self.points.iter().filter_map(SeriesPoint::number)
    }
}
