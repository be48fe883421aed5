//! The last look into a socket, once the time for which something was awaited is over. Where this machine stood still meanwhile, or has very
//! many flows of which each has its turn late, what came in time waits there: it is awaited for as long as it does.

use pathscope_core::Tick;

/// Where something waits in the socket, it is looked into again after so long, and then each time after as long as it was before in all: asking
/// takes time that whoever receives has need of.
const AGAIN_NS: u64 = 20_000_000;
/// But for no longer than so much in all: somebody may send for ever.
const MOST_NS: u64 = 30_000_000_000;

/// What is known of it.
#[derive(Debug, Default)]
pub(crate) struct LastLook {
    /// Since when the socket is looked into, and until when; nothing as long as the time is not over.
    looks: Option<[Tick; 2]>,
    /// Whether something waits in it, as far as was told since.
    holds: bool,
}

impl LastLook {
    /// The time is over. Until when the socket is looked into, at first for so long; nothing once nothing waits there.
    pub fn until(&mut self, first_ns: u64, now: Tick) -> Option<Tick> {
        let [since, until] = *self.looks.get_or_insert([now, now.plus_nanos(first_ns)]);
        if now < until {
            return Some(until);
        }
        let goes_on = self.holds && now < since.plus_nanos(MOST_NS);
        let until = now.plus_nanos(now.nanos_since(since).max(AGAIN_NS));
        self.looks = Some([since, until]);
        goes_on.then_some(until)
    }

    /// The time is not over yet, or no more.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Whether that is under way: it is to be told then what waits in the socket.
    pub const fn is_on(&self) -> bool {
        self.looks.is_some()
    }

    /// So many bytes wait there.
    pub fn weighed(&mut self, held: u64) {
        self.holds = held > 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST_NS: u64 = 1_000_000;

    fn at(milliseconds: u64) -> Tick {
        Tick::from_nanos(milliseconds * 1_000_000)
    }

    #[test]
    fn an_empty_socket_is_looked_into_once_however_late_it_is() {
        let mut look = LastLook::default();
        assert!(!look.is_on());
        assert_eq!(look.until(FIRST_NS, at(90_000)), Some(at(90_001)));
        assert!(look.is_on());
        look.weighed(0);
        assert_eq!(look.until(FIRST_NS, at(90_001)), None);
    }

    #[test]
    fn what_waits_in_the_socket_is_awaited_as_long_as_it_does_and_not_for_ever() {
        let mut look = LastLook::default();
        let mut now = at(1_000);
        while let Some(until) = look.until(FIRST_NS, now) {
            look.weighed(832);
            now = until;
        }
        assert!((at(31_000)..at(62_000)).contains(&now), "{now:?}");
        look.reset();
        assert_eq!(look.until(FIRST_NS, at(2_000)), Some(at(2_001)));
        look.weighed(832);
        assert_eq!(look.until(FIRST_NS, at(2_001)), Some(at(2_021)));
        assert_eq!(look.until(FIRST_NS, at(2_021)), Some(at(2_042)));
        assert_eq!(look.until(FIRST_NS, at(2_100)), Some(at(2_200)));
        look.weighed(0);
        assert_eq!(look.until(FIRST_NS, at(2_200)), None);
    }
}
