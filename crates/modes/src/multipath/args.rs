//! The words of a multipath test, and the plan they make or the reason they make none.

use clap::Args;
use pathscope_core::quantity::{BitRate, Bytes, Period};

use super::{MOST_PATHS, MultipathPlan, SendOrder};
use crate::limits::{self, PlanError};

/// The rates that have names: streams of video, in decimal megabits a second.
const RATES: [(&str, u64); 3] = [("sd", 3_000_000), ("hd", 5_000_000), ("4k", 25_000_000)];

/// How long that policy waits, unless it is stated.
pub(super) const DEFAULT_LATE_BY: Period = Period::from_millis(50);

/// What was typed.
#[derive(Args, Clone, Debug)]
pub struct MultipathArgs {
    /// Interface that is one path, by its name or its number, the primary first; once for each path [default: the one that the
    /// route to HOST leads over, and each other that reaches HOST]
    #[arg(long = "path", value_name = "INTERFACE")]
    pub paths: Vec<String>,
    /// Paths at most, where none is named: the primary and the first others that reach HOST
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=i64::from(MOST_PATHS)), conflicts_with = "paths")]
    pub most_paths: Option<u8>,
    /// Payload of each path: sd (3 Mbit/s), hd (5), 4k (25), or a rate
    #[arg(long, value_name = "RATE", default_value = "hd")]
    pub rate: String,
    /// Datagrams that leave together
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub grouping: u32,
    /// Bytes of a datagram's payload
    #[arg(long, value_name = "BYTES", default_value_t = Bytes(1_024))]
    pub datagram: Bytes,
    /// How long datagrams are sent
    #[arg(short = 't', long, value_name = "TIME", default_value_t = Period::from_secs(60))]
    pub duration: Period,
    /// Which path sends first: primary-first or alternate [default: primary-first]
    #[arg(long, value_name = "ORDER")]
    pub order: Option<String>,
    /// 0: the primary alone, for comparison [default: 1]
    #[arg(long, value_name = "0|1", value_parser = clap::value_parser!(u8).range(..=1))]
    pub secondary: Option<u8>,
    /// How long the policy that duplicates only late ones waits for the primary [default: 50ms]
    #[arg(long, value_name = "TIME")]
    pub late_by: Option<Period>,
}

impl MultipathArgs {
    /// The plan that these words make on a machine with so many interfaces that could be paths.
    pub fn into_plan(self, interfaces: usize) -> Result<MultipathPlan, PlanError> {
        let is_alone = self.secondary == Some(0);
        let is_alone_of_several = is_alone && self.paths.len() > 1;
        let advice = "name one path, or leave --secondary out";
        limits::not_both(["--secondary 0", "several --path"], is_alone_of_several, advice)?;
        let is_second_of_one = self.secondary == Some(1) && self.paths.len() == 1;
        let advice = "name a second --path, or none";
        limits::not_both(["--secondary 1", "a single --path"], is_second_of_one, advice)?;
        if is_alone || self.paths.len() == 1 {
            let typed = [
                ("--order", self.order.is_some()),
                ("--late-by", self.late_by.is_some()),
                ("--most-paths", self.most_paths.is_some()),
            ];
            limits::no_effect("with one path", "name a second --path, or leave it out", &typed)?;
        }
        let order = self.order.as_deref();
        let order = order.map(|typed| limits::choice("--order", typed, &SendOrder::ALL));
        let lanes = match (is_alone, self.paths.len()) {
            (true, _) => 1,
            // What was named and what comes up later; more than was named is refused by the plan.
            (_, 0) => {
                let most = usize::from(self.most_paths.unwrap_or(MOST_PATHS));
                interfaces.clamp(2, usize::from(MOST_PATHS)).min(most) as u8
            }
            (_, named) => named.min(usize::from(MOST_PATHS)) as u8,
        };
        let plan = MultipathPlan {
            rate_bps: rate(&self.rate)?,
            grouping: self.grouping,
            datagram_bytes: self.datagram,
            duration_ns: self.duration,
            paths: self.paths,
            lanes,
            order: order.transpose()?.unwrap_or_default(),
            late_by_ns: self.late_by.unwrap_or(DEFAULT_LATE_BY),
        };
        plan.check()?;
        Ok(plan)
    }
}

fn rate(typed: &str) -> Result<BitRate, PlanError> {
    match RATES.iter().find(|(name, _)| *name == typed) {
        Some(&(_, rate)) => Ok(BitRate(rate)),
        None => limits::read("--rate (sd, hd, 4k or a rate)", typed),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Words {
        #[command(flatten)]
        mode: MultipathArgs,
    }

    /// The plan of a command line, or what is said instead.
    fn plan(words: &str) -> Result<MultipathPlan, String> {
        let words = std::iter::once("multipath").chain(words.split_whitespace());
        let parsed = Words::try_parse_from(words).map_err(|error| error.to_string())?;
        parsed.mode.into_plan(3).map_err(|error| error.to_string())
    }

    #[test]
    fn words_make_the_plan_that_they_say() {
        let usual = plan("").expect("good words");
        assert_eq!((usual.rate_bps, usual.grouping), (BitRate(5_000_000), 30));
        assert_eq!(
            (usual.datagram_bytes, usual.duration_ns),
            (Bytes(1_024), Period::from_secs(60))
        );
        assert_eq!((usual.lanes, usual.order), (3, SendOrder::PrimaryFirst));
        assert_eq!(plan("--rate sd").expect("good").rate_bps, BitRate(3_000_000));
        assert_eq!(plan("--rate 4k").expect("good").rate_bps, BitRate(25_000_000));
        assert_eq!(plan("--rate 8Mbit").expect("good").rate_bps, BitRate(8_000_000));
        assert_eq!(plan("--secondary 0").expect("good").lanes, 1);
        assert_eq!(plan("--most-paths 2").expect("good").lanes, 2);
        assert_eq!(plan("--most-paths 8").expect("good").lanes, 3);
        assert_eq!(plan("--secondary 1 --path a --path b").expect("good").lanes, 2);
        let named = plan("--path wlan0 --path eth0.7 --order alternate").expect("good words");
        assert_eq!((named.lanes, named.paths), (2, vec!["wlan0".to_owned(), "eth0.7".to_owned()]));
    }

    #[test]
    fn what_makes_no_plan_is_named() {
        for (words, said) in [
            ("--rate fast", "--rate (sd, hd, 4k or a rate)"),
            ("--rate 1bit", "--rate 1.000 bit/s is out of range"),
            ("--grouping 0", "--grouping 0 is out of range: 1 to 10000"),
            ("--datagram 47", "--datagram 47 B is out of range: 48 B to"),
            ("--datagram 65508", "--datagram"),
            ("--duration 1ms", "--duration 1 ms is out of range"),
            ("--late-by 0ms", "--late-by 0 s is out of range"),
            ("--order backwards", "primary-first, alternate"),
            ("--secondary 2", "0..=1"),
            (
                "--secondary 0 --order alternate",
                "--order has no effect with one path; name a second",
            ),
            ("--secondary 0 --most-paths 2", "--most-paths has no effect with one path"),
            ("--path a --path b --most-paths 2", "cannot be used with"),
            ("--most-paths 9", "1..=8"),
            ("--path a --late-by 5ms", "--late-by has no effect with one path"),
            ("--secondary 0 --path a --path b", "--secondary 0 and several --path exclude"),
            ("--secondary 1 --path a", "--secondary 1 and a single --path exclude"),
            ("--path a --path a", "each path is an interface of its own"),
            ("--path this/that", "--path is not an interface's name"),
            ("--path 1234567890123456", "--path is not an interface's name"),
            ("--rate 1kbit --datagram 65507 --duration 10ms", "not one datagram would leave"),
            (
                "--path a --path b --path c --path d --path e --path f --path g --path h --path i",
                "number of --path 9 is out of range: 0 to 8",
            ),
        ] {
            let error = plan(words).expect_err(words);
            assert!(error.contains(said), "{words}: {error}");
        }
    }

    #[test]
    fn an_hour_at_hd_is_on_schedule_to_the_nanosecond() {
        let plan = plan("--duration 3600s").expect("good words");
        assert_eq!(plan.datagrams(), 3_600 * 5_000_000 / 8_192);
        assert_eq!(plan.interval_ns(), 49_152_000);
        assert_eq!((plan.due_ns(29), plan.due_ns(30)), (0, 49_152_000));
        // No rounding adds up: each time follows from the number alone.
        assert_eq!(plan.due_ns(30 * 1_000_000), 49_152_000 * 1_000_000);
    }
}
