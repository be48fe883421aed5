//! Which way a stream moves next where both ways could: what has come goes first, as in a visit of other engines (`event_loop/visit`). Not
//! here: how much is at once each way, which is its flow's to say.

/// So much is received for a byte that is sent, as long as more waits.
const RECEIVED_FOR_SENT: i64 = 2;
/// What is received without anything sent counts up to this: 512 KiB, as in a visit.
const MOST: i64 = 512 << 10;

/// What was received and sent on a lane since its socket was last seen to be empty.
#[derive(Clone, Copy, Debug)]
pub struct Balance {
    has_more: bool,
    /// Bytes received beyond what was to be for those that were sent.
    surplus: i64,
}

impl Balance {
    /// Nothing has come.
    pub const NOTHING: Self = Self { has_more: false, surplus: 0 };

    /// A receive is complete; whether more waits, for sure.
    pub fn received(&mut self, bytes: i32, has_more: bool) {
        let surplus = self.surplus + i64::from(bytes.max(0));
        *self =
            if has_more { Self { has_more, surplus: surplus.min(MOST) } } else { Self::NOTHING };
    }

    /// A send is complete.
    pub fn sent(&mut self, bytes: i32) {
        if self.has_more {
            self.surplus -= RECEIVED_FOR_SENT * i64::from(bytes.max(0));
        }
    }

    /// Whether what waits is received before anything is sent.
    pub fn receives_first(self) -> bool {
        self.has_more && self.surplus <= 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITE: i32 = 64 << 10;

    /// Receives and sends in so many turns, in each of which it receives, and sends where it may.
    fn moved(turns: usize, received: i32, sent: i32) -> (i64, i64) {
        let (mut balance, mut moved) = (Balance::NOTHING, (0, 0));
        for _ in 0..turns {
            balance.received(received, true);
            moved.0 += i64::from(received);
            if !balance.receives_first() {
                balance.sent(sent);
                moved.1 += i64::from(sent);
            }
        }
        moved
    }

    #[test]
    fn twice_as_much_is_received_as_sent_while_more_waits() {
        let (received, sent) = moved(1_000, WRITE, WRITE);
        assert!((received - 2 * sent).abs() <= 2 * i64::from(WRITE), "{received} {sent}");
        let (received, sent) = moved(1_000, WRITE, 4 * WRITE);
        assert!((received - 2 * sent).abs() <= 8 * i64::from(WRITE), "{received} {sent}");
        // Of little at a time that is sent, as many operations.
        assert_eq!(moved(1_000, WRITE, 100).1, 1_000 * 100);
    }

    #[test]
    fn nothing_waits_for_what_has_not_come() {
        let mut balance = Balance::NOTHING;
        assert!(!balance.receives_first());
        balance.sent(WRITE);
        assert!(!balance.receives_first());
        balance.received(WRITE, true);
        balance.sent(WRITE);
        assert!(balance.receives_first());
        balance.received(WRITE, false);
        assert!(!balance.receives_first());
        balance.sent(i32::MAX);
        balance.received(-libc::ECANCELED, true);
        assert!(balance.receives_first(), "it did not count what left while nothing waited");
    }

    #[test]
    fn what_was_received_alone_is_sent_for_up_to_a_limit() {
        let mut balance = Balance::NOTHING;
        (0..1_000).for_each(|_| balance.received(WRITE, true));
        let mut sends = 0;
        while !balance.receives_first() {
            balance.sent(WRITE);
            sends += 1;
        }
        assert_eq!(sends, 4);
    }
}
