//! When transmissions end, exactly: fractions of a nanosecond are carried over, so that no number
//! of frames makes the rate drift.

use pathscope_core::Tick;

use crate::link::Rate;

/// The clock of a sender: the end of the last transmission.
#[derive(Debug, Default)]
pub struct Transmitter {
    /// Bits a second; `None` is no limit.
    rate: Option<u64>,
    /// The end of the last transmission, whole nanoseconds.
    end: Tick,
    /// And how far into the next one, in parts of `1 / rate` ns.
    fraction: u64,
}

impl Transmitter {
    /// From now on this fast. What has ended, ended when it did, rounded to parts of the new rate.
    pub fn set_rate(&mut self, rate: Rate) {
        let after = match rate {
            Rate::Unlimited => None,
            Rate::Limited(rate) => Some(rate.0.max(1)),
        };
        self.fraction = match (self.rate, after) {
            (Some(before), Some(after)) => {
                let parts = u128::from(self.fraction) * u128::from(after) / u128::from(before);
                u64::try_from(parts).unwrap_or(0)
            }
            (Some(_), None) => {
                self.end = self.end();
                0
            }
            (None, _) => 0,
        };
        self.rate = after;
    }

    /// Sends a frame that is there since `arrived`, as soon as the one before has been sent.
    /// Answers how long it had to wait, and in which nanosecond it has been sent.
    pub fn send(&mut self, arrived: Tick, length: usize) -> (u64, Tick) {
        if arrived >= self.end() {
            (self.end, self.fraction) = (arrived, 0);
        }
        let waited = self.end.nanos_since(arrived);
        if let Some(rate) = self.rate {
            // Bits times nanoseconds a second: exact below 2 GB, and no frame is longer.
            let work = (length as u64).saturating_mul(8_000_000_000).saturating_add(self.fraction);
            self.end = self.end.plus_nanos(work / rate);
            self.fraction = work % rate;
        }
        (waited, self.end())
    }

    /// Forgets a transmission that was broken off.
    pub fn break_off(&mut self, now: Tick) {
        (self.end, self.fraction) = (self.end.min(now), 0);
    }

    /// The end of the last transmission, in the first nanosecond in which it is over.
    fn end(&self) -> Tick {
        self.end.plus_nanos(u64::from(self.fraction > 0))
    }
}

#[cfg(test)]
mod tests {
    use pathscope_core::quantity::BitRate;

    use super::*;

    fn at(rate: u64) -> Transmitter {
        let mut transmitter = Transmitter::default();
        transmitter.set_rate(Rate::Limited(BitRate(rate)));
        transmitter
    }

    #[test]
    fn ten_million_frames_end_where_arithmetic_says() {
        // A prime, so that hardly any frame ends on a whole nanosecond.
        const RATE: u64 = 1_000_000_007;
        let mut transmitter = at(RATE);
        for number in 1..=10_000_000_u128 {
            let (_, end) = transmitter.send(Tick::ZERO, 1514);
            if number % 999_983 == 0 || number == 10_000_000 {
                let exact = (number * 1514 * 8 * 1_000_000_000).div_ceil(u128::from(RATE));
                assert_eq!(u128::from(end.as_nanos()), exact, "frame {number}");
            }
        }
    }

    #[test]
    fn an_idle_sender_begins_when_the_frame_is_there() {
        let mut transmitter = at(8);
        assert_eq!(transmitter.send(Tick::from_nanos(5), 1), (0, Tick::from_nanos(1_000_000_005)));
        let second = Tick::from_nanos(2_000_000_000);
        assert_eq!(transmitter.send(second, 1), (0, Tick::from_nanos(3_000_000_000)));
        assert_eq!(transmitter.send(second, 1).0, 1_000_000_000);
    }

    #[test]
    fn a_new_rate_keeps_the_fraction_of_the_old() {
        // Three bits a second: a byte ends at 2,666,666,666 2/3 ns, and another at 6 bits a second
        // 1 1/3 s later: together 4 s.
        let mut transmitter = at(3);
        assert_eq!(transmitter.send(Tick::ZERO, 1).1, Tick::from_nanos(2_666_666_667));
        transmitter.set_rate(Rate::Limited(BitRate(6)));
        assert_eq!(transmitter.send(Tick::ZERO, 1).1, Tick::from_nanos(4_000_000_000));
    }

    #[test]
    fn absurd_lengths_and_rates_do_not_panic() {
        let mut transmitter = at(0);
        assert_eq!(transmitter.send(Tick::NEVER, usize::MAX).1, Tick::NEVER);
        transmitter.set_rate(Rate::Limited(BitRate(u64::MAX)));
        transmitter.send(Tick::ZERO, usize::MAX);
        transmitter.set_rate(Rate::Unlimited);
        transmitter.send(Tick::NEVER, 1);
    }
}
