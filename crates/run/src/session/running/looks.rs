//! What the session's thread asks of a test whose flows are over: whether what was sent is acknowledged.

use pathscope_core::Tick;

use super::RunningTest;
use super::delivery::{Delivery, Patience, Progress};
use crate::session::group::GroupState;

impl RunningTest {
    /// When to ask again; never where that need not be.
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
        delivery.is_over(patience, now, || {
            let senders = groups.iter().filter(|state| state.sends_bytes());
            let states = senders.flat_map(GroupState::send_states);
            let whole = Progress { is_whole: true, acknowledged_bytes: 0 };
            states.fold(whole, |sum, state| Progress {
                is_whole: sum.is_whole && state.is_delivered(),
                acknowledged_bytes: sum.acknowledged_bytes.saturating_add(state.acknowledged_bytes),
            })
        })
    }
}
