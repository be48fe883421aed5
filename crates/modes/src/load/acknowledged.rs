//! What the other end's kernel has acknowledged of what flows send: what is known here of a load whose receiver tells nothing. Not what
//! its receiver took and checked, which nobody here knows.

/// What is known of the sends of a worker's flows, from one report to the next.
#[derive(Clone, Copy, Debug, Default)]
pub struct Acknowledged {
    sent_bytes: u64,
    lost_bytes: u64,
    told_bytes: u64,
}

impl Acknowledged {
    /// A flow was reset before so much of what it had sent was acknowledged.
    pub const fn lose(&mut self, bytes: u64) {
        self.lost_bytes = self.lost_bytes.saturating_add(bytes);
    }

    /// So much more was sent, and of all that was sent so much waits to be acknowledged: how much has been since the last time. What
    /// was sent after it was counted may wait as well, and counts the next time.
    pub const fn since(&mut self, sent_bytes: u64, waiting_bytes: u64) -> u64 {
        self.sent_bytes = self.sent_bytes.saturating_add(sent_bytes);
        let is_not = self.lost_bytes.saturating_add(waiting_bytes);
        let all = self.sent_bytes.saturating_sub(is_not);
        let new = all.saturating_sub(self.told_bytes);
        self.told_bytes = self.told_bytes.saturating_add(new);
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_counts_once_it_is_acknowledged_and_what_was_lost_never() {
        let mut acknowledged = Acknowledged::default();
        assert_eq!(acknowledged.since(1_000, 400), 600);
        // Nothing was sent, and some of it came.
        assert_eq!(acknowledged.since(0, 100), 300);
        // More waits than had been counted: what was sent meanwhile.
        assert_eq!(acknowledged.since(0, 250), 0);
        assert_eq!(acknowledged.since(150, 0), 250);
        acknowledged.lose(70);
        assert_eq!(acknowledged.since(200, 30), 100);
        assert_eq!(acknowledged.since(0, 0), 30);
    }
}
