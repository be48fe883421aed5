//! A limit on what one test moves in all, whoever sends it: what is asked for before it begins, and what it comes to on average while it
//! runs. Not here: what a server sends to who does not go on asking for it (`limits`), nor what is said to whom is beyond it.

use std::collections::VecDeque;

use pathscope_core::quantity::{BitRate, Period};

use crate::Refusal;

/// How long it is averaged over where nobody says it, as iperf3's servers do.
const OVER: Period = Period::from_secs(5);

/// What one test may move in all.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RateLimit {
    /// All its flows and both directions together.
    pub most_bps: BitRate,
    /// What is measured is averaged over so long.
    pub over_ns: Period,
    /// The option that raises it.
    pub option: &'static str,
}

impl RateLimit {
    /// So much, averaged over this time, or the usual.
    pub fn new(most_bps: BitRate, over_ns: Option<Period>, option: &'static str) -> Self {
        Self { most_bps, over_ns: over_ns.unwrap_or(OVER), option }
    }

    /// Whether a test may begin that asks for so much in all.
    pub fn check(self, wanted: BitRate) -> Result<(), Refusal> {
        let Self { most_bps, option, .. } = self;
        if wanted <= most_bps {
            return Ok(());
        }
        let sentence = format!("{wanted} in all is more than its limit of {most_bps} for a test");
        let hint = format!("ask for a lower rate, or start the server with a higher {option}");
        Err(Refusal::new("rate", sentence).with_hint(hint))
    }

    /// Why a test is ended that moved so much on average.
    pub fn reached(self, average: BitRate) -> String {
        let Self { most_bps, over_ns, option } = self;
        format!(
            "the test moved {average} in all over the last {over_ns}, which is more than the server's limit of {most_bps}; it \
             can be raised by {option}"
        )
    }
}

/// What a test moved in its last intervals.
#[derive(Debug, Default)]
pub struct Average {
    /// How long each was, and the bytes of it.
    intervals: VecDeque<(u64, u64)>,
    length_ns: u64,
    bytes: u64,
}

impl Average {
    /// So many bytes were moved in an interval of so many nanoseconds, the last. The average, where that is beyond the limit: nothing
    /// until as much time has passed as it is over.
    pub fn beyond(&mut self, limit: RateLimit, length_ns: u64, bytes: u64) -> Option<BitRate> {
        self.intervals.push_back((length_ns, bytes));
        self.length_ns = self.length_ns.saturating_add(length_ns);
        self.bytes = self.bytes.saturating_add(bytes);
        // They end a moment early or late: as many as come nearest to the time.
        let enough_ns = limit.over_ns.0.saturating_sub(length_ns / 2);
        while let Some(&(oldest_ns, oldest)) = self.intervals.front()
            && self.length_ns.saturating_sub(oldest_ns) >= enough_ns
            && self.intervals.len() > 1
        {
            self.intervals.pop_front();
            self.length_ns -= oldest_ns;
            self.bytes -= oldest;
        }
        if self.length_ns < enough_ns {
            return None;
        }
        let bits = u128::from(self.bytes) * 8 * 1_000_000_000 / u128::from(self.length_ns.max(1));
        let average = BitRate(u64::try_from(bits).unwrap_or(u64::MAX));
        (average > limit.most_bps).then_some(average)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;
    const OPTION: &str = "--kind-rate-limit";

    fn limit(seconds: u64) -> RateLimit {
        RateLimit::new(BitRate(8_000_000), Some(Period::from_secs(seconds)), OPTION)
    }

    /// The average after each interval, where it is beyond, of so many kilobytes in each second.
    fn told(seconds: u64, kilobytes: &[u64]) -> Vec<Option<u64>> {
        let mut average = Average::default();
        let one = |bytes: &u64| average.beyond(limit(seconds), SECOND_NS, bytes * 1_000);
        kilobytes.iter().map(one).map(|it| it.map(|rate| rate.0)).collect()
    }

    #[test]
    fn what_is_asked_for_may_be_as_much_as_the_limit_and_not_a_bit_more() {
        assert_eq!(limit(5).check(BitRate(8_000_000)), Ok(()));
        let refusal = limit(5).check(BitRate(8_000_001)).expect_err("it is more");
        assert_eq!(refusal.code, "rate");
        let told = refusal.to_string();
        assert!(told.contains("8.000 Mbit/s for a test") && told.ends_with(OPTION), "{told}");
        assert_eq!(RateLimit::new(BitRate(1), None, OPTION).over_ns, Period::from_secs(5));
    }

    #[test]
    fn the_average_is_of_the_last_intervals_and_of_no_less_time() {
        // Three seconds at exactly the limit, and a byte more: what came in the first does not count any more.
        assert_eq!(told(3, &[1_000, 1_000, 1_000, 1_000]), [None; 4]);
        assert_eq!(told(3, &[9_000, 0, 0, 0]), [None, None, Some(24_000_000), None]);
        assert_eq!(told(3, &[0, 1_000, 2_001, 0]), [None, None, Some(8_002_666), Some(8_002_666)]);
        assert_eq!(told(1, &[1_000, 1_001]), [None, Some(8_008_000)]);
        // Shorter than an interval it is of one.
        assert_eq!(told(0, &[1_001]), [Some(8_008_000)]);
    }

    #[test]
    fn intervals_that_end_early_or_late_are_counted_by_their_length() {
        let mut average = Average::default();
        // 999 ms each, at the limit: three of them are the nearest to 3 s.
        for _ in 0..5 {
            assert_eq!(average.beyond(limit(3), 999_000_000, 999_000), None);
        }
        assert_eq!(average.intervals.len(), 3);
        let beyond = average.beyond(limit(3), 999_000_000, 1_999_000);
        assert_eq!(beyond.map(|rate| rate.0), Some(10_669_336));
        let mut average = Average::default();
        assert_eq!(average.beyond(limit(0), 0, 0), None);
    }
}
