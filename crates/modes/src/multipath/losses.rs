//! When what was lost had been due: how many in each of as many steps of the test as a chart has room for.
//!
//! That a number is lost is known seconds after it left, so that no report interval can say it: this is told at the end.

use pathscope_core::Tick;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Steps at the most.
const MOST_STEPS: u64 = 512;
/// The shortest step.
const LEAST_STEP_NS: u64 = 100_000_000;

/// What was lost, by when it had been due.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct LossesOverTime {
    /// How long each step is.
    pub step_ns: u64,
    /// How many were lost of those that were due in each step, from the first number on. Behind the last none was lost.
    pub lost: Vec<u64>,
}

impl LossesOverTime {
    /// Two neighbours become one; no loss is forgotten.
    pub(super) fn halve(&mut self) {
        self.step_ns = self.step_ns.saturating_mul(2);
        let pairs = self.lost.chunks(2);
        self.lost =
            pairs.map(|pair| pair.iter().fold(0, |sum, it| it.saturating_add(sum))).collect();
    }
}

/// Counts losses in fixed room.
#[derive(Debug)]
pub(super) struct Losses {
    step_ns: u64,
    lost: Vec<u64>,
}

impl Losses {
    /// Of a test of this length.
    pub fn new(length_ns: u64) -> Self {
        // Filled without allocating.
        Self { step_ns: step_ns(length_ns), lost: Vec::with_capacity(MOST_STEPS as usize) }
    }

    /// One was lost that had been due then, counted from `start`. What lies behind the last step is counted there.
    pub fn lost(&mut self, due: Tick, start: Tick) {
        let step = (due.nanos_since(start) / self.step_ns).min(MOST_STEPS - 1) as usize;
        if self.lost.len() <= step {
            self.lost.resize(step + 1, 0);
        }
        self.lost[step] += 1;
    }

    /// All of them; also where there are none.
    pub fn told(&self) -> LossesOverTime {
        LossesOverTime { step_ns: self.step_ns, lost: self.lost.clone() }
    }
}

/// The shortest of 0.1 s, 0.2 s, 0.5 s, 1 s and so on of which a test of this length has no more than there is room for.
fn step_ns(length_ns: u64) -> u64 {
    let enough = |step_ns: &u64| length_ns.div_ceil(*step_ns) <= MOST_STEPS;
    let decades = (0..).map_while(|decade| LEAST_STEP_NS.checked_mul(10_u64.checked_pow(decade)?));
    let mut steps = decades.flat_map(|decade| [1, 2, 5].map(|times| decade.saturating_mul(times)));
    steps.find(enough).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_as_short_as_there_is_room() {
        const SECOND: u64 = 1_000_000_000;
        for (length_ns, step) in [
            (0, SECOND / 10),
            (51 * SECOND, SECOND / 10),
            (52 * SECOND, SECOND / 5),
            (60 * SECOND, SECOND / 5),
            (3_600 * SECOND, 10 * SECOND),
            (u64::MAX, 50_000_000 * SECOND),
        ] {
            assert_eq!(step_ns(length_ns), step, "{length_ns}");
        }
    }

    #[test]
    fn losses_are_where_they_were_due_and_none_is_forgotten() {
        let at = |milliseconds: u64| Tick::from_nanos(7 + milliseconds * 1_000_000);
        let mut losses = Losses::new(10_000_000_000);
        assert_eq!(losses.told().lost, Vec::<u64>::new());
        for due in [99, 100, 199, 350, 1_000_000] {
            losses.lost(at(due), at(0));
        }
        let mut told = losses.told();
        assert_eq!((told.step_ns, &told.lost[..4]), (100_000_000, &[1, 2, 0, 1][..]));
        assert_eq!((told.lost.len(), told.lost[511]), (512, 1));
        told.halve();
        assert_eq!(
            (told.step_ns, &told.lost[..2], told.lost.len()),
            (200_000_000, &[3, 1][..], 256)
        );
        assert_eq!(told.lost.iter().sum::<u64>(), 5);
    }
}
