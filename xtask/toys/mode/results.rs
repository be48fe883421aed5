//! What the ends of a toy's test say, and what that comes to.

use pathscope_core::finding::{Finding as _, FindingDefinition};
use pathscope_core::quantity::counted;
use pathscope_core::record::{Caveat, Check};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::counts::ToyCounts;
use super::figures::GROUP;
use super::findings::{ToyCaveat, ToyCheck};
use super::plan::ToyPlan;
use crate::checks;
use crate::figure::Group;
use crate::results::{Ends, Results, Slice};

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

    const FIGURES: &'static [Group] = &[GROUP];
    const CHECKS: &'static [FindingDefinition] = ToyCheck::ALL;
    const CAVEATS: &'static [FindingDefinition] = ToyCaveat::ALL;

    fn has_moved(interval: &ToyCounts) -> bool {
        interval.sent > 0 || interval.received > 0
    }

    /// It is never too long.
    fn halve(_: &mut ToyCounts) {}

    fn summary(&self, ends: &Ends<'_, Self>, _: &[Slice<'_, Self>]) -> ToySummary {
        ToySummary {
            received: ends.of_server().map(|server| server.received),
            late: ends.of_client().late,
        }
    }

    fn checks(&self, ends: &Ends<'_, Self>) -> Vec<Check> {
        let told = |server: &ToyCounts| {
            let all = counted(server.received, "number");
            format!("of {all} received, {} were not the ones that were due", server.wrong)
        };
        let is_right =
            |server: &ToyCounts| server.wrong == 0 && server.received == ends.of_client().sent;
        let server = ends.of_server();
        let wrong = server.filter(|server| !is_right(server)).map(told);
        let right = server.map(told).unwrap_or_default();
        vec![checks::of_ends(ToyCheck::InTurn, wrong, checks::unknown_data(ends, (true, true)), right)]
    }

    fn caveats(&self, summary: &ToySummary, _: &Ends<'_, Self>) -> Vec<Caveat> {
        let text =
            || format!("{} left after the next one was due", counted(summary.late, "number"));
        (summary.late > 0)
            .then(|| Caveat::new(ToyCaveat::LateNumbers, text()))
            .into_iter()
            .collect()
    }
}
