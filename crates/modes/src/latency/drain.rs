//! How long a client awaits echoes once it has sent its last ping. Not what they are: only until when.

use std::ops::RangeInclusive;

use pathscope_core::Tick;

use crate::last_look::LastLook;

/// After the last ping, echoes are awaited for three times the longest round trip, within these bounds.
/// A queue of several seconds delays its last packets by as much: they are late, not lost.
const DRAIN_NS: RangeInclusive<u64> = 1_000_000_000..=10_000_000_000;
/// Once all have come, copies that the network made are awaited for the longest round trip, within these
/// bounds: they come right behind.
const COPIES_NS: RangeInclusive<u64> = 1_000_000..=1_000_000_000;
/// How long the socket is looked into once the time is over.
const LAST_LOOK_NS: u64 = 1_000_000;
/// Where no echo has come yet, nothing is known of the path.
const DRAIN_UNKNOWN_NS: u64 = 2_000_000_000;

/// What is known of the end of one flow.
#[derive(Debug, Default)]
pub(super) struct Drain {
    /// When the last of all pings was answered.
    all_back_at: Option<Tick>,
    /// Until when the socket is looked into, once the time is over.
    last_look: LastLook,
    is_over: bool,
}

impl Drain {
    /// Whether nothing is awaited any more.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Nothing can come any more.
    pub fn end(&mut self) {
        self.is_over = true;
    }

    /// Every ping was answered, the first time that this is said at `now`; copies may follow.
    pub fn all_back(&mut self, now: Tick) {
        self.all_back_at.get_or_insert(now);
    }

    /// Until when echoes are awaited, or `None` once that is over. The last ping left at `last_sent`, and the longest
    /// round trip took `longest_ns`; 0: none has come back.
    pub fn until(&mut self, now: Tick, last_sent: Tick, longest_ns: u64) -> Option<Tick> {
        let ends = self.time_ends(last_sent, longest_ns);
        let until = if now < ends {
            self.last_look.reset();
            Some(ends)
        } else {
            self.last_look.until(LAST_LOOK_NS, now)
        };
        self.is_over |= until.is_none();
        until.filter(|_| !self.is_over)
    }

    /// Whether it is to be told what waits in the socket: the time is over.
    pub fn weighs(&self) -> bool {
        self.last_look.is_on() && !self.is_over
    }

    /// So many bytes wait there.
    pub fn weighed(&mut self, held: u64) {
        self.last_look.weighed(held);
    }

    fn time_ends(&self, last_sent: Tick, longest_ns: u64) -> Tick {
        if let Some(at) = self.all_back_at {
            return at.plus_nanos(longest_ns.clamp(*COPIES_NS.start(), *COPIES_NS.end()));
        }
        let wait = match longest_ns {
            0 => DRAIN_UNKNOWN_NS,
            longest => longest.saturating_mul(3).clamp(*DRAIN_NS.start(), *DRAIN_NS.end()),
        };
        last_sent.plus_nanos(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn at(nanoseconds: u64) -> Tick {
        Tick::from_nanos(nanoseconds)
    }

    #[test]
    fn echoes_are_awaited_by_what_is_known_of_the_path() {
        for (longest_ns, seconds) in [(0, 2), (SECOND / 10, 1), (2 * SECOND, 6), (9 * SECOND, 10)] {
            let until = Drain::default().until(at(5), at(0), longest_ns);
            assert_eq!(until, Some(at(seconds * SECOND)), "{longest_ns}");
        }
        let mut drain = Drain::default();
        drain.all_back(at(100));
        drain.all_back(at(900));
        assert_eq!(drain.until(at(5), at(0), 2_000_000), Some(at(2_000_100)));
    }

    #[test]
    fn the_socket_is_looked_into_once_more_however_late_it_is() {
        let mut drain = Drain::default();
        let late = at(60 * SECOND);
        let look = drain.until(late, at(0), 1).expect("one last look");
        assert_eq!(look, late.plus_nanos(LAST_LOOK_NS));
        assert!(!drain.is_over());
        assert_eq!(drain.until(look, at(0), 1), None);
        assert!(drain.is_over());
    }

    #[test]
    fn what_waits_in_the_socket_is_not_lost() {
        let mut drain = Drain::default();
        assert!(!drain.weighs());
        let look = drain.until(at(60 * SECOND), at(0), 1).expect("one last look");
        assert!(drain.weighs());
        drain.weighed(832);
        let look = drain.until(look, at(0), 1).expect("something waits");
        drain.weighed(0);
        assert_eq!(drain.until(look, at(0), 1), None);
        assert!(!drain.weighs());
    }
}
