//! When each number of a multipath test is due, by what was asked for on its command line alone.
//!
//! Not here: when anything left.

use crate::cell::Cell;

/// As `multipath` has it where nothing else was asked for.
const USUAL_GROUPING: u64 = 30;
/// The same, in nanoseconds.
const USUAL_LATE_BY: u64 = 50_000_000;
/// Nanoseconds of a second.
const SECOND: u64 = 1_000_000_000;
/// A gap of less is no outage.
const LEAST_OUTAGE: u64 = 100_000_000;
/// A path that has not answered for so long is left by a sender that fails over.
const FAIL_OVER_AFTER: u64 = 500_000_000;

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// Payload of a datagram.
    pub bytes: u64,
    /// Payload in bits a second.
    pub rate_bps: u64,
    /// Numbers that are due together.
    pub grouping: u64,
    /// How long in nanoseconds.
    pub duration_ns: u64,
    /// How long a sender of copies that are late waits for the primary.
    pub late_by_ns: u64,
    /// Paths that were named.
    pub named: usize,
}

impl Schedule {
    /// Of a cell; absent where its words do not say so much.
    pub fn of(cell: &Cell) -> Option<Self> {
        let word = |name: &str| {
            let at = cell.words.iter().position(|it| it == name)?;
            cell.words.get(at + 1).map(String::as_str)
        };
        let stated = cell.asked.rate_bps.map(|rate| rate.round() as u64);
        Some(Self {
            bytes: cell.asked.bytes.or_else(|| word("--datagram")?.parse().ok())?,
            rate_bps: stated.or_else(|| with_unit(word("--rate")?, &RATES))?,
            grouping: match word("--grouping") {
                Some(typed) => typed.parse().ok().filter(|it| *it > 0)?,
                None => USUAL_GROUPING,
            },
            duration_ns: cell.duration.0,
            late_by_ns: match word("--late-by") {
                Some(typed) => with_unit(typed, &TIMES)?,
                None => USUAL_LATE_BY,
            },
            named: cell.words.iter().filter(|it| *it == "--path").count(),
        })
    }

    /// How many numbers there are in all.
    pub fn numbers(&self) -> Option<u64> {
        let bits = u128::from(self.rate_bps) * u128::from(self.duration_ns) / u128::from(SECOND);
        u64::try_from(bits.checked_div(8 * u128::from(self.bytes))?).ok()
    }

    /// When a number is due, in nanoseconds from the first: those of a group together.
    pub fn due(&self, number: u64) -> Option<f64> {
        self.length(number - number.checked_rem(self.grouping)?)
    }

    /// What so many numbers last.
    pub fn length(&self, numbers: u64) -> Option<f64> {
        let bits = u128::from(numbers).checked_mul(8 * u128::from(self.bytes))?;
        let nanoseconds = bits.checked_mul(u128::from(SECOND))?;
        Some(nanoseconds.checked_div(u128::from(self.rate_bps))? as f64)
    }

    /// From how long on a gap is an outage: 100 ms or two groups, whichever is more.
    pub fn least_outage(&self) -> Option<f64> {
        Some((2.0 * self.length(self.grouping)?).max(LEAST_OUTAGE as f64))
    }

    /// After how long without an answer a path is left: 500 ms or three groups, whichever is more.
    pub fn fail_over_after(&self) -> Option<f64> {
        Some((3.0 * self.length(self.grouping)?).max(FAIL_OVER_AFTER as f64))
    }
}

/// Units of rates. Those that end with others come first.
const RATES: [(&str, u64); 3] = [("Mbit", 1_000_000), ("kbit", 1_000), ("bit", 1)];
/// Units of times.
const TIMES: [(&str, u64); 2] = [("ms", 1_000_000), ("s", SECOND)];

/// A whole number with its unit, as cells have it.
fn with_unit(typed: &str, units: &[(&str, u64)]) -> Option<u64> {
    let parts = |(unit, worth): &(&str, u64)| Some((typed.strip_suffix(unit)?, *worth));
    let (number, worth) = units.iter().find_map(parts)?;
    number.parse::<u64>().ok()?.checked_mul(worth)
}

#[cfg(test)]
mod tests {
    use super::{RATES, Schedule, TIMES, USUAL_LATE_BY, with_unit};
    use crate::Extent;
    use crate::grid;

    #[test]
    fn units_are_decimal() {
        assert_eq!(with_unit("4Mbit", &RATES), Some(4_000_000));
        assert_eq!(with_unit("1600kbit", &RATES), Some(1_600_000));
        assert_eq!(with_unit("7bit", &RATES), Some(7));
        assert_eq!(
            (with_unit("20ms", &TIMES), with_unit("5s", &TIMES)),
            (Some(20_000_000), Some(5_000_000_000))
        );
        assert_eq!((with_unit("5", &TIMES), with_unit("", &RATES)), (None, None));
        assert_eq!(with_unit("18446744073709551615Mbit", &RATES), None);
    }

    #[test]
    fn numbers_are_due_in_groups() {
        let schedule = Schedule {
            bytes: 1_024,
            rate_bps: 5_000_000,
            grouping: 30,
            duration_ns: 3_600_000_000_000,
            late_by_ns: 0,
            named: 0,
        };
        // 8,192 bits are 1.6384 ms at 5 Mbit/s, 30 of them 49.152 ms.
        assert_eq!((schedule.due(29), schedule.due(30)), (Some(0.0), Some(49_152_000.0)));
        assert_eq!((schedule.due(59), schedule.length(1)), (Some(49_152_000.0), Some(1_638_400.0)));
        assert_eq!(schedule.numbers(), Some(2_197_265));
        assert_eq!(schedule.least_outage(), Some(100_000_000.0));
        assert_eq!(schedule.fail_over_after(), Some(500_000_000.0));
        let slow = Schedule { rate_bps: 1_000_000, ..schedule };
        assert_eq!(slow.least_outage(), Some(491_520_000.0));
        assert_eq!(slow.fail_over_after(), Some(737_280_000.0));
        let nothing = Schedule { rate_bps: 0, grouping: 0, bytes: 0, ..schedule };
        assert_eq!((nothing.due(1), nothing.length(1), nothing.numbers()), (None, None, None));
        let huge = Schedule { bytes: u64::MAX, ..schedule };
        assert_eq!(huge.length(u64::MAX), None);
    }

    #[test]
    fn every_cell_of_several_paths_says_its_schedule() {
        let cells = grid::cells(Extent::Quick);
        let cells = cells.iter().filter(|cell| cell.words.iter().any(|it| it == "multipath"));
        let schedules: Vec<_> = cells.map(Schedule::of).collect();
        assert!(!schedules.is_empty());
        for schedule in schedules {
            let schedule = schedule.expect("words that are understood");
            assert_eq!((schedule.named, schedule.late_by_ns), (2, USUAL_LATE_BY));
            assert!(schedule.numbers() > Some(50), "{schedule:?}");
        }
    }
}
