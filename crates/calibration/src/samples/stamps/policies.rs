//! What other senders would have had of the same paths, by their definitions.

use super::schedule::Schedule;
use super::{Row, Stamps};
use crate::samples::Durations;

/// Stamps are in whole microseconds: two of them are apart by less than this more or less than they say.
const ROUNDING: f64 = 1_000.0;

/// What a sender would have had. Parts are absent that the file does not tell for certain.
#[derive(Clone, Debug, PartialEq)]
pub struct Had {
    /// Datagrams that it puts on paths.
    pub sent: Option<f64>,
    /// Numbers without an answer.
    pub lost: f64,
    /// From its first sending to its first answer.
    pub latency: Option<Durations>,
}

impl Stamps {
    /// What the sender of this name would have had; its name is as documents have it.
    pub fn policy(&self, name: &str, schedule: &Schedule) -> Option<Had> {
        match name {
            "primary_only" => Some(self.primary_only()),
            // Where the primary never fell silent it is never left.
            "fail_over" => self.is_primary_alive(schedule)?.then(|| self.primary_only()),
            "duplicate_late" => Some(self.duplicate_late(schedule.late_by_ns as f64)),
            "duplicate_always" => Some(Had {
                sent: Some(self.rows.iter().map(Row::copies).sum::<usize>() as f64),
                lost: self.unanswered(Row::effective),
                latency: Some(self.effective()),
            }),
            _ => None,
        }
    }

    fn primary_only(&self) -> Had {
        Had {
            sent: Some(self.count(|row| row.sent(0).is_some())),
            lost: self.unanswered(|row| row.latency(0)),
            latency: Some(self.durations(|row| row.latency(0))),
        }
    }

    fn unanswered(&self, answer: impl Fn(&Row) -> Option<f64>) -> f64 {
        self.count(|row| answer(row).is_none())
    }

    fn duplicate_late(&self, late_by: f64) -> Had {
        let alone = |row: &Row| row.latency(0).filter(|latency| *latency <= late_by);
        let answer = |row: &Row| {
            let second = row.copy().and_then(|path| row.latency(path));
            let both = [row.latency(0), second.map(|latency| latency + late_by)];
            alone(row).or_else(|| both.into_iter().flatten().reduce(f64::min))
        };
        // Whether a copy leaves hangs on microseconds that the file does not have.
        let is_close =
            |row: &Row| row.latency(0).is_some_and(|latency| (latency - late_by).abs() <= ROUNDING);
        // Nobody says how long it is waited for a primary that is not there.
        let has_no_primary = |row: &Row| row.sent(0).is_none() && row.copy().is_some();
        let copies = self.count(|row| alone(row).is_none() && row.copy().is_some());
        let first = self.count(|row| row.sent(0).is_some());
        Had {
            sent: (!self.rows.iter().any(is_close)).then_some(first + copies),
            lost: self.unanswered(answer),
            latency: (!self.rows.iter().any(has_no_primary)).then(|| self.durations(answer)),
        }
    }

    /// Whether the primary was sent on always and answered so often that nobody would have left it: less than half the time
    /// that a sender waits before that lies between two of its answers, or before the first, or behind the last.
    fn is_primary_alive(&self, schedule: &Schedule) -> Option<bool> {
        let sent: Option<Vec<f64>> = self.rows.iter().map(|row| row.sent(0)).collect();
        let Some(sent) = sent else { return Some(false) };
        let (first, last) =
            (sent.iter().copied().reduce(f64::min)?, sent.into_iter().reduce(f64::max)?);
        let mut moments: Vec<f64> = self.rows.iter().filter_map(|row| row.received(0)).collect();
        moments.retain(|at| *at <= last);
        moments.extend([first, last]);
        moments.sort_by(f64::total_cmp);
        let most = schedule.fail_over_after()? / 2.0;
        let is_close = |pair: &[f64]| matches!(pair, [one, other] if other - one < most);
        Some(moments.windows(2).all(is_close))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SCHEDULE, stamps};
    use super::{Had, Stamps};
    use crate::samples::Durations;
    use crate::samples::stamps::schedule::Schedule;

    /// A copy is late after 50 µs.
    const HASTY: Schedule = Schedule { late_by_ns: 50_000, ..SCHEDULE };

    fn had(stamps: &Stamps, name: &str) -> Had {
        stamps.policy(name, &HASTY).expect("a policy")
    }

    fn micros(latencies: &[f64]) -> Durations {
        Durations::new(latencies.iter().map(|it| it * 1_000.0).collect())
    }

    #[test]
    fn each_sender_has_the_answers_that_it_would_have_had() {
        // In time; late, and the other faster even then; late, and the other slower; lost; lost on both.
        let stamps = stamps(
            "0, 0, 1, 40, 1, 1, 31\n\
             1, 100, 1, 190, 101, 1, 131\n\
             2, 200, 1, 260, 201, 1, 231\n\
             3, 300, -1, -1, 301, 1, 331\n\
             4, 400, -1, -1, 401, -1, -1\n",
        );
        let expected =
            Had { sent: Some(5.0), lost: 2.0, latency: Some(micros(&[40.0, 90.0, 60.0])) };
        assert_eq!(had(&stamps, "primary_only"), expected);
        assert_eq!(had(&stamps, "fail_over"), expected);
        let latency = Some(micros(&[40.0, 80.0, 60.0, 80.0]));
        assert_eq!(had(&stamps, "duplicate_late"), Had { sent: Some(9.0), lost: 1.0, latency });
        let latency = Some(micros(&[31.0; 4]));
        assert_eq!(had(&stamps, "duplicate_always"), Had { sent: Some(10.0), lost: 1.0, latency });
        assert_eq!(stamps.policy("unknown", &HASTY), None);
    }

    #[test]
    fn what_the_file_does_not_tell_is_absent() {
        // As late as a copy leaves, to the microsecond; and one without a primary.
        let close = stamps("0, 0, 1, 51, 1, 1, 31\n");
        assert_eq!(had(&close, "duplicate_late").sent, None);
        assert_eq!(had(&close, "duplicate_late").latency, Some(micros(&[51.0])));
        let without = stamps("0, -1, -1, -1, 1, 1, 31\n");
        let late = had(&without, "duplicate_late");
        assert_eq!((late.sent, late.lost, late.latency), (Some(1.0), 0.0, None));
        assert_eq!(without.policy("fail_over", &HASTY), None);
        assert_eq!(Some(had(&without, "primary_only").lost), Some(1.0));
    }

    #[test]
    fn a_primary_that_fell_silent_may_have_been_left() {
        let silent = |at: u64| {
            let text = format!("0, 0, 1, 40, 1, 1, 31\n1, {at}, 1, {}, {at}, -1, -1\n", at + 40);
            stamps(&text).policy("fail_over", &HASTY).is_some()
        };
        assert!(silent(250_039));
        assert!(!silent(250_041));
    }
}
