//! What the ends of a toy's test say, and what that comes to.

use pathscope_core::presentation::{Figure, Value};
use pathscope_core::quantity::counted;
use pathscope_core::record::{Caveat, Check};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ToyPlan;
use crate::results::{Ends, Results, Slice, Slices, UNKNOWN_DATA};

/// What an end has counted: since its last word, in an interval, in all.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct ToyCounts {
    /// Numbers that left.
    pub sent: u64,
    /// Of those, that left after the next one was due.
    pub late: u64,
    /// Numbers that came.
    pub received: u64,
    /// Of those, that were not the ones that were due.
    pub wrong: u64,
}

impl ToyCounts {
    /// With what another counted.
    pub fn add(&mut self, other: &Self) {
        self.sent += other.sent;
        self.late += other.late;
        self.received += other.received;
        self.wrong += other.wrong;
    }
}

/// What both ends' counts come to.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct ToySummary {
    /// Numbers that the server received; absent where it has not said.
    pub received: Option<u64>,
    /// Numbers that left after the next one was due.
    pub late: u64,
}

impl Results for ToyPlan {
    type Interval = ToyCounts;
    type Report = ToyCounts;
    type Summary = ToySummary;

    fn has_moved(interval: &ToyCounts) -> bool {
        interval.sent > 0 || interval.received > 0
    }

    /// It is never too long.
    fn halve(_: &mut ToyCounts) {}

    fn summary(&self, ends: &Ends<'_, ToyCounts>, _: &[Slice<'_, ToyCounts>]) -> ToySummary {
        ToySummary {
            received: ends.of_server().map(|server| server.received),
            late: ends.of_client().late,
        }
    }

    fn checks(&self, ends: &Ends<'_, ToyCounts>) -> Vec<Check> {
        let (passed, text) = match ends.of_server() {
            None => (false, UNKNOWN_DATA.to_owned()),
            Some(server) => {
                let all = counted(server.received, "number");
                let text =
                    format!("of {all} received, {} were not the ones that were due", server.wrong);
                (server.wrong == 0 && server.received == ends.of_client().sent, text)
            }
        };
        vec![Check { name: "in_turn".to_owned(), passed, text }]
    }

    fn caveats(&self, summary: &ToySummary, _: &Ends<'_, ToyCounts>) -> Vec<Caveat> {
        let text =
            || format!("{} left after the next one was due", counted(summary.late, "number"));
        (summary.late > 0).then(|| Caveat::new("late_numbers", text())).into_iter().collect()
    }

    fn cells(&self, interval: Slices<'_, ToyCounts>) -> Vec<Figure> {
        let counted = |end: Option<Slice<'_, ToyCounts>>, of: fn(&ToyCounts) -> u64| {
            end.and_then(|end| end.own).map_or(Value::Absent, |own| Value::Count(of(own)))
        };
        vec![
            Figure::new("sent", counted(interval.client, |own| own.sent)),
            Figure::new("received", counted(interval.server, |own| own.received)),
        ]
    }

    fn figures(&self, summary: &ToySummary) -> Vec<Figure> {
        vec![
            Figure::new("received", summary.received.map_or(Value::Absent, Value::Count)),
            Figure::new("late", Value::Count(summary.late)),
        ]
    }
}
