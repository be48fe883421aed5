//! What an end moved of a test, as intervals tell it; and what it sent with and without its warm-up: results are to be without.

use pathscope_modes::registry::EndInterval;

const SECOND_NS: u64 = 1_000_000_000;

/// What an end sent within the warm-up and after it, as far as intervals tell: results are to be without the warm-up.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sent {
    all: u64,
    counted: u64,
}

impl Sent {
    /// Another interval.
    pub fn add(&mut self, omit: u64, interval: &EndInterval) {
        let (bytes, _) = ways(interval);
        let opens_ns = omit * SECOND_NS;
        let length_ns = interval.end_ns.saturating_sub(interval.start_ns);
        let counted_ns =
            interval.end_ns.saturating_sub(interval.start_ns.max(opens_ns)).min(length_ns);
        self.all = self.all.saturating_add(bytes);
        self.counted = self.counted.saturating_add(share(bytes, counted_ns, length_ns));
    }

    /// Of so many bytes those that count.
    pub fn of(self, bytes: u64) -> u64 {
        share(bytes, self.counted, self.all)
    }
}

/// What an end sent and received in an interval, in bytes, together.
pub(super) fn moved(interval: &EndInterval) -> u64 {
    let (sent, received) = ways(interval);
    sent.saturating_add(received)
}

/// What it sent, and what it received.
fn ways(interval: &EndInterval) -> (u64, u64) {
    let of_streams = interval.goodput.map(|it| (it.sent_bytes, it.received_bytes));
    let of_datagrams = interval.datagrams.as_ref().map(|it| (it.sent_bytes, it.received_bytes));
    of_streams.or(of_datagrams).unwrap_or_default()
}

/// So much of `amount` as `part` is of `whole`; nothing of nothing.
pub(super) fn share(amount: u64, part: u64, whole: u64) -> u64 {
    let part = u128::from(amount) * u128::from(part) / u128::from(whole.max(1));
    u64::try_from(part).unwrap_or(u64::MAX)
}
