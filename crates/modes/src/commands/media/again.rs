//! Streams that are asked for again and again: how long each of them lasts where all together have a limit, and, where nobody says how often,
//! the next as each has ended.

use pathscope_core::presentation::{Figure, Row, Value};
use pathscope_core::quantity::Period;
use serde::Serialize;

use crate::document::Document;
use crate::follow_up::{FollowUp, Step, Tests};
use crate::groups::Test;
use crate::limits::{self, PlanError};
use crate::media::MediaPlan;
use crate::mode::Mode as _;

/// The most that are planned one by one.
pub const MOST: u32 = 1_000;

/// How often the streams of a test are asked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Times {
    /// So often.
    Number(u32),
    /// Until somebody stops it, or time is up.
    Forever,
}

impl Times {
    /// What was typed.
    pub fn of(typed: &str) -> Result<Self, PlanError> {
        if typed == "forever" {
            return Ok(Self::Forever);
        }
        let number = typed.parse().ok().filter(|number| (1..=MOST).contains(number));
        let known = "a number from 1 to 1000, or forever";
        number
            .map(Self::Number)
            .ok_or_else(|| PlanError::unknown_choice("--iterations", typed, known))
    }
}

/// What is left of streams that are asked for again.
struct Again {
    plan: MediaPlan,
    report_every: Period,
    /// The time of all that are left, where there is a limit.
    left: Option<Period>,
    /// How many there were, the one that runs included.
    number: u64,
}

/// That one more has ended, as data.
#[derive(Serialize)]
struct Ended {
    run: u64,
}

/// The tests of such streams.
pub fn tests(
    plan: &MediaPlan,
    times: Times,
    limit: Option<Period>,
    report_every: Period,
) -> Result<Tests, PlanError> {
    limits::in_range("--time-limit", limit, &limits::DURATION)?;
    let mut again = Again { plan: plan.clone(), report_every, left: limit, number: 0 };
    let Some(first) = again.next() else {
        let why = format!(
            "{} holds no whole frame at --frame-rate {}; give it longer",
            limit.unwrap_or_default(),
            plan.frame_rate
        );
        return Err(PlanError::unfit("--time-limit", why));
    };
    match times {
        Times::Forever => Ok(Tests {
            follow_up: Some(Box::new(again)),
            ..vec![("media 1".to_owned(), first)].into()
        }),
        Times::Number(1) => Ok(vec![("media".to_owned(), first)].into()),
        Times::Number(all) => {
            let others = (1..all).map_while(|_| again.next());
            let list: Vec<Test> = std::iter::once(first).chain(others).collect();
            let named =
                (1..).zip(list).map(|(number, test)| (format!("media {number} of {all}"), test));
            Ok(named.collect::<Vec<_>>().into())
        }
    }
}

impl Again {
    /// The next of them; none where what is left of the time holds no frame.
    fn next(&mut self) -> Option<Test> {
        let all = self.plan.duration_ns;
        let duration_ns = self.left.map_or(all, |left| left.min(all));
        let plan = MediaPlan { duration_ns, ..self.plan.clone() };
        // What is wrong with the plan itself was told before.
        plan.validate().ok()?;
        self.left = self.left.map(|left| Period(left.0.saturating_sub(duration_ns.0)));
        self.number += 1;
        Some(Test::new(plan.into(), None, self.report_every))
    }
}

impl FollowUp for Again {
    fn ahead(&self) -> String {
        match self.left {
            Some(left) => format!("the same again for {left}"),
            None => "the same again until it is stopped".to_owned(),
        }
    }

    fn follow(&mut self, _: &mut Document) -> Step {
        let run = self.number;
        let cells = vec![Figure::new("run", Value::Count(run))];
        let next = self.next().map(|test| (format!("media {}", self.number), test));
        let row = Row { section: "media, again and again".to_owned(), cells };
        Step { row, record: Box::new(Ended { run }), next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::MediaArgs;
    use crate::registry::Plan;

    fn plan(seconds: u64) -> MediaPlan {
        let args = MediaArgs {
            rate: Some("1Mbit".parse().expect("a rate")),
            duration: Period::from_secs(seconds),
            streams: 1,
            datagram: "1400".parse().expect("bytes"),
            pacing: "back-to-back".to_owned(),
            receive_buffer: "1MiB".parse().expect("bytes"),
            ..MediaArgs::default()
        };
        args.into_plan().expect("it is one")
    }

    fn seconds(test: &Test) -> f64 {
        let Plan::Media(plan) = &test.plan else { panic!("it is a stream") };
        plan.duration_ns.0 as f64 / 1e9
    }

    fn of(times: Times, limit: Option<u64>) -> Vec<(String, f64)> {
        let every = Period::from_secs(1);
        let limit = limit.map(Period::from_millis);
        let tests = tests(&plan(10), times, limit, every).expect("there is one");
        let list = tests.list.iter().map(|(name, test)| (name.clone(), seconds(test)));
        let mut all: Vec<(String, f64)> = list.collect();
        let mut follow_up = tests.follow_up;
        while let Some(next) = follow_up.as_mut().filter(|_| all.len() < 5) {
            let Some((name, test)) = next.follow(&mut Document::default()).next else { break };
            all.push((name, seconds(&test)));
        }
        all
    }

    #[test]
    fn a_limit_cuts_the_last_and_leaves_out_what_is_behind_it() {
        let named = |list: &[(&str, f64)]| {
            list.iter().map(|&(name, long)| (name.to_owned(), long)).collect::<Vec<_>>()
        };
        assert_eq!(of(Times::Number(1), None), named(&[("media", 10.0)]));
        assert_eq!(of(Times::Number(1), Some(2_500)), named(&[("media", 2.5)]));
        let three = [("media 1 of 3", 10.0), ("media 2 of 3", 10.0), ("media 3 of 3", 10.0)];
        assert_eq!(of(Times::Number(3), None), named(&three));
        let cut = [("media 1 of 3", 10.0), ("media 2 of 3", 1.5)];
        assert_eq!(of(Times::Number(3), Some(11_500)), named(&cut));
        let endless: Vec<f64> = of(Times::Forever, None).iter().map(|&(_, long)| long).collect();
        assert_eq!(endless, [10.0; 5]);
        let until = [("media 1", 10.0), ("media 2", 10.0), ("media 3", 5.0)];
        assert_eq!(of(Times::Forever, Some(25_000)), named(&until));
        // One millisecond more is no frame.
        assert_eq!(of(Times::Forever, Some(20_001)), named(&until[..2]));
    }

    #[test]
    fn what_is_no_number_of_times_and_no_limit_is_named() {
        assert_eq!(Times::of("forever"), Ok(Times::Forever));
        assert_eq!(Times::of("1000"), Ok(Times::Number(1_000)));
        for typed in ["0", "1001", "-1", "often"] {
            let error = Times::of(typed).expect_err(typed).to_string();
            assert!(error.contains("--iterations"), "{typed}: {error}");
        }
        let every = Period::from_secs(1);
        for (limit, part) in [(1, "--time-limit 1 ms is out of range"), (12, "no whole frame")] {
            let limit = Some(Period::from_millis(limit));
            let error = tests(&plan(10), Times::Forever, limit, every).err().expect("no test");
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
