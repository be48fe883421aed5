//! A toy's test as labelled figures: all that a view needs.

use pathscope_core::presentation::{Figure, Value};

use super::counts::ToyCounts;
use super::figures::GROUP;
use super::plan::ToyPlan;
use super::results::ToySummary;
use crate::results::{Presents, Slice, Slices};

impl Presents for ToyPlan {
    fn cells(&self, interval: Slices<'_, Self>) -> Vec<Figure> {
        let counted = |end: Option<Slice<'_, Self>>, of: fn(&ToyCounts) -> u64| {
            end.and_then(|end| end.own).map_or(Value::Absent, |own| Value::Count(of(own)))
        };
        vec![
            Figure::new("sent", counted(interval.client, |own| own.sent)),
            Figure::new("received", counted(interval.server, |own| own.received)),
        ]
    }

    fn figures(&self, summary: &ToySummary) -> Vec<Figure> {
        vec![GROUP.figure("received", summary.received), GROUP.figure("late", summary.late)]
    }
}
