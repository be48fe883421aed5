//! After the last flow of a test is over: until what was sent is acknowledged. Only then has the kernel counted all that it
//! sent again. The session's thread asks for it; no word of the other end is awaited, and every wait has an end.

use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::sending::SendState;

use super::RunningTest;
use crate::session::group::GroupState;

/// The first pause between two looks, and the longest: an acknowledgement may be on its way for microseconds or seconds.
const FIRST_PAUSE_NS: u64 = 1_000_000;
const LONGEST_PAUSE_NS: u64 = 16_000_000;

/// For how long acknowledgements are awaited.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Patience {
    /// Nothing was acknowledged for so long.
    pub without_progress: Duration,
    /// By then, whatever is acknowledged.
    pub until: Tick,
}

/// What was sent, on its way to be acknowledged.
#[derive(Debug)]
pub(super) struct Delivery {
    /// When to look next.
    pub next: Tick,
    pause_ns: u64,
    acknowledged_bytes: u64,
    moved_at: Tick,
}

impl RunningTest {
    /// When to ask again whether it is delivered; never where that need not be.
    pub fn next_look(&self) -> Tick {
        let delivery = self.delivery.as_ref().filter(|_| !self.is_reported);
        delivery.map_or(Tick::NEVER, |delivery| delivery.next)
    }

    /// Whether all flows are over, and what they sent has been acknowledged or is waited for no longer.
    pub fn is_delivered(&mut self, patience: Patience, now: Tick) -> bool {
        if self.is_reported || !self.is_over() {
            return self.is_over();
        }
        let Self { delivery, groups, .. } = self;
        let delivery = delivery.get_or_insert_with(|| Delivery::new(now));
        let senders = groups.iter().filter(|state| state.sends_bytes());
        delivery.is_over(patience, now, || senders.flat_map(GroupState::send_states).collect())
    }
}

impl Delivery {
    /// Nobody has looked yet.
    pub const fn new(now: Tick) -> Self {
        Self { next: now, pause_ns: FIRST_PAUSE_NS, acknowledged_bytes: 0, moved_at: now }
    }

    /// Whether it is waited for no longer. `look` is asked where it is time, for how all sockets stand.
    pub fn is_over(
        &mut self,
        patience: Patience,
        now: Tick,
        look: impl FnOnce() -> Vec<SendState>,
    ) -> bool {
        if now < self.next {
            return false;
        }
        let states = look();
        let is_whole = states.iter().all(SendState::is_delivered);
        let acknowledged_bytes =
            states.iter().fold(0, |sum: u64, it| sum.saturating_add(it.acknowledged_bytes));
        if acknowledged_bytes > self.acknowledged_bytes {
            self.acknowledged_bytes = acknowledged_bytes;
            self.moved_at = now;
        }
        self.next = now.plus_nanos(self.pause_ns);
        self.pause_ns = (2 * self.pause_ns).min(LONGEST_PAUSE_NS);
        is_whole || now >= patience.until || now.since(self.moved_at) >= patience.without_progress
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Patience = Patience {
        without_progress: Duration::from_secs(3),
        until: Tick::from_nanos(60_000_000_000),
    };

    fn seen(is_whole: bool, acknowledged_bytes: u64) -> Vec<SendState> {
        let unsent_bytes = u64::from(!is_whole);
        vec![SendState { unsent_bytes, acknowledged_bytes, ..SendState::default() }]
    }

    fn at(milliseconds: u64) -> Tick {
        Tick::from_nanos(milliseconds * 1_000_000)
    }

    #[test]
    fn it_is_over_once_everything_is_acknowledged() {
        let mut delivery = Delivery::new(at(0));
        assert!(!delivery.is_over(PATIENCE, at(0), || seen(false, 7)));
        assert!(!delivery.is_over(PATIENCE, at(0), || panic!("it was looked at just now")));
        assert_eq!(delivery.next, at(1));
        assert!(!delivery.is_over(PATIENCE, at(1), || seen(false, 7)));
        assert_eq!(delivery.next, at(3));
        assert!(delivery.is_over(PATIENCE, at(2_000), || seen(true, 9)));
    }

    #[test]
    fn what_goes_on_is_waited_for_and_what_stands_is_given_up() {
        let mut delivery = Delivery::new(at(0));
        for second in 0..20 {
            assert!(!delivery.is_over(PATIENCE, at(1_000 * second), || seen(false, 1 + second)));
        }
        assert!(!delivery.is_over(PATIENCE, at(21_900), || seen(false, 20)));
        assert!(delivery.is_over(PATIENCE, at(22_000), || seen(false, 20)));
        let short = Patience { until: at(22_500), ..PATIENCE };
        assert!(delivery.is_over(short, at(22_500), || seen(false, 99)));
    }
}
