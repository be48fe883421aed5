//! When a worker asks its sockets in turn, in the place of being told which of them are ready: where so much comes that it never sleeps. What
//! the kernel tells of a socket, whoever sends to it does the telling, in the middle of the send. Not here: the asking.

use pathscope_flow::{ClockNeed, Machine};

/// So many waits in a row have to bring more than one ready socket each: who sleeps is woken by the first.
const BUSY_WAITS: u32 = 64;

/// Whether a worker asks its sockets in turn now.
#[derive(Debug, Default)]
pub(super) struct Polling {
    /// Whether it ever does.
    is_allowed: bool,
    is_on: bool,
    /// Waits in a row that brought more than one.
    busy: u32,
}

impl Polling {
    /// Of a worker whose flows time each message. Of streams a receiver that is asked often gets little each time.
    pub fn of<M: Machine>() -> Self {
        Self { is_allowed: matches!(M::CLOCK, ClockNeed::EveryOperation), ..Self::default() }
    }

    /// Whether sockets are asked in turn.
    pub const fn is_on(&self) -> bool {
        self.is_on
    }

    /// A wait of a worker with so many flows brought so many ready sockets. Whether they are asked in turn from now on.
    pub fn waited(&mut self, ready: usize, flows: usize) -> bool {
        self.busy = if ready > 1 { self.busy.saturating_add(1) } else { 0 };
        // Whoever changes pays a call for each socket.
        let is_long = self.busy >= BUSY_WAITS && self.busy as usize >= flows;
        self.is_on = self.is_allowed && is_long;
        self.is_on
    }

    /// So many of all were asked in turn, and so many had something to move. Whether that goes on.
    pub fn asked(&mut self, flows: usize, moved: usize) -> bool {
        self.is_on = moved > 0 && moved >= flows / 2;
        if !self.is_on {
            self.busy = 0;
        }
        self.is_on
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Allowed, after so many waits in a row that brought two each to so many flows.
    fn after(waits: u32, flows: usize) -> Polling {
        let mut polling = Polling { is_allowed: true, ..Polling::default() };
        for _ in 0..waits {
            polling.waited(2, flows);
        }
        polling
    }

    #[test]
    fn all_are_asked_once_waits_have_brought_several_often_enough() {
        assert!(!after(BUSY_WAITS - 1, 16).is_on());
        assert!(after(BUSY_WAITS, 16).is_on());
        // Of many, as often as there are flows.
        assert!(!after(999, 1_000).is_on());
        assert!(after(1_000, 1_000).is_on());
    }

    #[test]
    fn one_wait_that_may_have_slept_begins_the_count_anew() {
        for brought in [0, 1] {
            let mut polling = after(BUSY_WAITS - 1, 16);
            assert!(!polling.waited(brought, 16));
            assert!(!polling.waited(2, 16));
        }
    }

    #[test]
    fn it_ends_where_less_than_half_had_anything() {
        for (flows, moved, goes_on) in
            [(16, 16, true), (16, 8, true), (16, 7, false), (16, 0, false), (1, 0, false)]
        {
            let mut polling = after(BUSY_WAITS, 16);
            assert_eq!(polling.asked(flows, moved), goes_on, "{flows} {moved}");
            assert_eq!(polling.is_on(), goes_on);
            // The count begins anew.
            assert!(goes_on || !polling.waited(2, 16));
        }
    }

    #[test]
    fn who_is_not_allowed_never_asks() {
        let mut polling = Polling::default();
        assert!((0..1_000).all(|_| !polling.waited(64, 64)));
    }
}
