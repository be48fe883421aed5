//! Whether anything of what waits was acknowledged since the last look at the sockets of a sender.
//!
//! Not here: why a socket does not send more, and how often that was so (`sending`).

use crate::Tick;

/// What the other end had acknowledged of sockets, look by look.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    acknowledged_bytes: u64,
    looks: u64,
    /// When the last look was.
    looked: Tick,
    /// When more than next to nothing had come last.
    came: Tick,
    /// What waited in looks since, of which it is not known yet whether a round trip explains them.
    open: u64,
}

impl Progress {
    /// Of what came on average from one look to the next: with less, next to nothing comes. Where a receiver takes no more,
    /// some of many connections still have a segment acknowledged now and then.
    const SLOW: u64 = 5;

    /// Takes in a look at which so many sockets waited, and answers how many of all looks it shows to have stood still.
    pub(super) fn stood_still(
        &mut self,
        now: Tick,
        acknowledged_bytes: u64,
        waits: u64,
        rtt_ns: u64,
    ) -> u64 {
        let since_look_ns = now.nanos_since(self.looked);
        let is_slow = self.is_slow(acknowledged_bytes);
        self.looked = now;
        if !is_slow {
            (self.came, self.open) = (now, 0);
            return 0;
        }
        self.open += waits;
        // What a window holds comes at once, and then nothing for the rest of a round trip.
        let fits = rtt_ns <= since_look_ns;
        if !fits && now.nanos_since(self.came) < rtt_ns + rtt_ns / 4 {
            return 0;
        }
        std::mem::take(&mut self.open)
    }

    /// Whether next to nothing came since the look before.
    fn is_slow(&mut self, acknowledged_bytes: u64) -> bool {
        let came = acknowledged_bytes.checked_sub(self.acknowledged_bytes);
        // Of a first look nothing is known, nor where other sockets are looked at than before.
        let Some(came) = came.filter(|_| self.looks > 0) else {
            (self.acknowledged_bytes, self.looks) = (acknowledged_bytes, 1);
            return false;
        };
        let is_slow =
            came.saturating_mul(Self::SLOW).saturating_mul(self.looks) <= self.acknowledged_bytes;
        (self.acknowledged_bytes, self.looks) = (acknowledged_bytes, self.looks + 1);
        is_slow
    }
}

#[cfg(test)]
mod tests {
    use super::super::{SendSamples, SendState};
    use super::*;

    /// A socket that has data on its way, on a path of 20 ms.
    fn state(acknowledged_bytes: u64) -> SendState {
        SendState {
            outstanding_segments: 10,
            acknowledged_bytes,
            min_rtt_ns: Some(20_000_000),
            ..SendState::default()
        }
    }

    #[test]
    fn data_that_waits_while_nothing_is_acknowledged_stands_still() {
        let mut samples = SendSamples::default();
        let mut progress = Progress::default();
        let mut now = Tick::default();
        let mut look = |each: u64| {
            let state = state(each);
            // One of them has nothing to send.
            let idle = SendState { outstanding_segments: 0, ..state };
            now = now.plus_nanos(50_000_000);
            samples.count_stalled(&[state, state, idle], now, &mut progress);
            samples.stalled
        };
        // Of a first look it is not known what came before it.
        assert_eq!(look(0), Some(0));
        assert_eq!(look(100_000), Some(0));
        assert_eq!(look(200_000), Some(0));
        assert_eq!(look(200_000), Some(2));
        // A segment now and then is next to nothing; a third of the average is something.
        assert_eq!(look(201_448), Some(4));
        assert_eq!(look(216_000), Some(4));
        // Others are looked at, of which less was acknowledged so far.
        assert_eq!(look(1_000), Some(4));
        assert_eq!(look(1_000), Some(6));
        assert_eq!(samples.with(samples).stalled, Some(12));
        assert_eq!(samples.with(SendSamples::default()).stalled, Some(6));
    }

    #[test]
    fn what_comes_once_in_a_long_round_trip_does_not_stand_still() {
        let mut samples = SendSamples::default();
        let mut progress = Progress::default();
        let mut now = Tick::default();
        let mut look = |acknowledged_bytes: u64| {
            let state = SendState { min_rtt_ns: Some(580_000_000), ..state(acknowledged_bytes) };
            now = now.plus_nanos(50_000_000);
            samples.count_stalled(&[state], now, &mut progress);
            samples.stalled
        };
        // A window comes back in one of twelve looks.
        for number in 0..120_u64 {
            assert_eq!(look(number / 12 * 524_288), Some(0), "{number}");
        }
        // Nothing for 725 ms since it last came, in the look before these eleven: then all of them count.
        for (slow, stalled) in (12..).zip([0, 0, 0, 15, 16, 17]) {
            assert_eq!(look(9 * 524_288), Some(stalled), "{slow}");
        }
        assert_eq!(look(10 * 524_288), Some(17));
        assert_eq!(look(10 * 524_288), Some(17));
    }
}
