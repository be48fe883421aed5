//! From when the round trip of a ping counts: from the first attempt to send it. What it waited until then, it waited for
//! this machine, and that says nothing of the path.
//!
//! Where the system was refusing the flow when the ping fell due, it counts from its due time: then it waited for the path.
//! A stalled path that kept its pings from being asked for would otherwise be one slow ping (coordinated omission).

use pathscope_core::Tick;

/// The attempts of one flow to send its pings, one after the other.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Attempts {
    /// When the system was first asked to take the ping that is to leave next, where it did not take it whole then.
    first: Option<Tick>,
    refusal: Option<Refusal>,
}

/// The last stretch of time in which the system took nothing of this flow.
#[derive(Clone, Copy, Debug)]
struct Refusal {
    from: Tick,
    /// [`Tick::NEVER`] while it goes on.
    until: Tick,
}

impl Attempts {
    /// The system was asked at `at` and did not take the next ping, or not whole. It was due at `due`; in a closed loop
    /// nothing is.
    pub fn refused(&mut self, due: Option<Tick>, at: Tick) {
        self.first.get_or_insert(at);
        let Some(due) = due else { return };
        match &mut self.refusal {
            // What fell due in the last stretch has not left yet: this one goes on from there.
            Some(refusal) if due <= refusal.until => refusal.until = Tick::NEVER,
            refusal => *refusal = Some(Refusal { from: at, until: Tick::NEVER }),
        }
    }

    /// The next ping has left: the system was asked at `at` and took what was left of it. From when it counts.
    pub fn left(&mut self, due: Option<Tick>, at: Tick) -> Tick {
        let first = self.first.take().unwrap_or(at);
        let Some((due, refusal)) = due.zip(self.refusal.as_mut()) else { return first };
        if refusal.until == Tick::NEVER {
            refusal.until = at;
        }
        // What was due before was refused with the one that was tried.
        if due <= refusal.until { due.max(refusal.from).min(first) } else { first }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanoseconds: u64) -> Tick {
        Tick::from_nanos(nanoseconds)
    }

    /// From when a ping counts that was due then, and was taken then.
    fn left(attempts: &mut Attempts, due: u64, taken: u64) -> u64 {
        attempts.left(Some(at(due)), at(taken)).as_nanos()
    }

    #[test]
    fn a_ping_counts_from_its_first_attempt() {
        let mut attempts = Attempts::default();
        assert_eq!(left(&mut attempts, 100, 130), 130);
        attempts.refused(Some(at(200)), at(205));
        attempts.refused(Some(at(200)), at(290));
        assert_eq!(left(&mut attempts, 200, 300), 205);
        assert_eq!(left(&mut attempts, 400, 401), 401);
    }

    #[test]
    fn what_fell_due_while_the_system_refused_counts_from_then() {
        let mut attempts = Attempts::default();
        attempts.refused(Some(at(100)), at(105));
        // Due before the refusal, and refused with the one that was tried.
        for (due, taken, from) in [(100, 400, 105), (102, 401, 105), (200, 402, 200)] {
            assert_eq!(left(&mut attempts, due, taken), from, "{due}");
        }
        // The next is refused again, before all have left that fell due meanwhile.
        attempts.refused(Some(at(300)), at(403));
        for (due, taken, from) in [(300, 700, 300), (400, 701, 400), (500, 702, 500)] {
            assert_eq!(left(&mut attempts, due, taken), from, "{due}");
        }
        // Due after it had ended.
        assert_eq!(left(&mut attempts, 701, 703), 703);
        attempts.refused(Some(at(800)), at(801));
        assert_eq!(left(&mut attempts, 800, 900), 801);
    }

    #[test]
    fn in_a_closed_loop_nothing_is_due() {
        let mut attempts = Attempts::default();
        attempts.refused(None, at(5));
        assert_eq!(attempts.left(None, at(50)), at(5));
        assert_eq!(attempts.left(None, at(60)), at(60));
    }
}
