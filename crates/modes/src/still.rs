//! What is said of programs that stood still while a test ran: in a row as it is shown, and of the whole.

use pathscope_core::quantity::{counted, duration_ns};
use pathscope_core::record::{Caveat, StoodStill};

use crate::document::Interval;
use crate::finding::TestCaveat;
use crate::registry::{EndReport, Plan};

/// Stretches that are told by their times.
const TOLD: usize = 3;

/// What to mind of a test at whose ends programs stood still.
pub fn caveats(
    plan: &Plan,
    client: &EndReport,
    server: Option<&EndReport>,
) -> impl Iterator<Item = Caveat> {
    let ends = [("client", Some(client)), ("server", server)];
    let still = |(name, end): (&'static str, Option<&EndReport>)| {
        Some(caveat(name, end?.stood_still.as_ref()?, plan))
    };
    ends.map(still).into_iter().flatten()
}

/// What it means for figures: for times, and for rates of a row.
fn meaning(plan: &Plan, times: &str, row: &str) -> String {
    if plan.is_of_times() {
        format!("what was under way or due meanwhile waited for it, and {times}")
    } else {
        format!("what waited in buffers meanwhile counts in {row}, whose rates are not the path's")
    }
}

fn caveat(name: &str, still: &StoodStill, plan: &Plan) -> Caveat {
    let means = meaning(plan, "its times are not the path's", "the row that follows");
    let told = still.stretches.iter().take(TOLD).map(|stretch| {
        format!("from {} to {}", duration_ns(stretch.start_ns), duration_ns(stretch.end_ns))
    });
    let told: Vec<String> = told.collect();
    let more = match still.times.saturating_sub(told.len() as u64) {
        0 => String::new(),
        more => format!(", and {} more", counted(more, "time")),
    };
    Caveat::new(
        TestCaveat::StoodStill,
        format!(
            "the {name}'s program stood still for {} of the run, {}{more}: it was stopped, or its machine stood still; \
             {means}",
            duration_ns(still.total_ns),
            told.join(" and ")
        ),
    )
}

/// Rows as they are shown, and what has to be said of them.
#[derive(Debug, Default)]
pub struct StillRows {
    /// Of each end, what was said last.
    said: [Option<u64>; 2],
}

impl StillRows {
    /// What is to be said beside the row of this interval; once for rows that follow one another.
    pub fn note(&mut self, plan: &Plan, interval: &Interval) -> Vec<Caveat> {
        let times = "counts in this row or the next with times that are not the path's";
        let means = meaning(plan, times, "this row or the next");
        let ends = [("client", &interval.client), ("server", &interval.server)];
        let mut notes = Vec::new();
        for (said, (name, end)) in self.said.iter_mut().zip(ends) {
            let still = end.as_ref().and_then(|end| end.stood_still_ns);
            if let Some(still_ns) = still.filter(|_| *said != still) {
                let text = format!(
                    "the {name}'s program had stood still for {}: {means}",
                    duration_ns(still_ns)
                );
                notes.push(Caveat::new(TestCaveat::StoodStill, text));
            }
            *said = still;
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use crate::latency::LatencyPlan;
    use crate::registry::EndInterval;
    use pathscope_core::quantity::Frequency;
    use pathscope_core::record::Stretch;

    use super::*;

    fn pings() -> Plan {
        Plan::Latency(LatencyPlan::probe(Frequency(100)))
    }

    #[test]
    fn a_program_that_stood_still_is_told_with_its_times() {
        let mut server = EndReport::default();
        assert_eq!(caveats(&pings(), &EndReport::default(), Some(&server)).count(), 0);
        let mut still = StoodStill::default();
        for start in [2, 6, 7, 8, 9] {
            let [start_ns, end_ns] = [start, start + 1].map(|time| time * 1_000_000_000);
            still.add(Stretch { start_ns, end_ns });
        }
        server.stood_still = Some(still);
        let told: Vec<Caveat> = caveats(&pings(), &EndReport::default(), Some(&server)).collect();
        assert_eq!(told.len(), 1);
        let start = "the server's program stood still for 5 s of the run, from 2 s to 3 s and from 6 s to 7 s and from \
                     7 s to 8 s, and 2 times more: ";
        assert!(told[0].text.starts_with(start), "{}", told[0].text);
        assert!(told[0].text.ends_with("its times are not the path's"), "{}", told[0].text);
    }

    #[test]
    fn rows_that_hold_the_same_stretch_say_so_once() {
        let row = |still| Interval {
            server: Some(EndInterval { stood_still_ns: still, ..EndInterval::default() }),
            ..Interval::default()
        };
        let mut rows = StillRows::default();
        let said: Vec<usize> = [None, Some(3), Some(3), None, Some(3)]
            .map(|still| rows.note(&pings(), &row(still)).len())
            .to_vec();
        assert_eq!(said, [0, 1, 0, 0, 1]);
    }
}
