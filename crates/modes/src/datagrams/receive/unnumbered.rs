//! Datagrams of a stream that says nothing of itself: all that is known of one is that it came, and how long it is. Not here: until when
//! they are awaited.

use pathscope_core::Tick;

use super::Receiver;
use crate::datagrams::{DatagramShared, DatagramTally};

impl Receiver {
    /// One came. Those of a stream are of one length.
    #[inline]
    pub(super) fn take_unnumbered(&mut self, shared: &mut DatagramShared, datagram: &[u8]) {
        let bytes = datagram.len() as u64;
        if bytes == shared.schedule.size {
            self.count_unnumbered(&mut shared.tally, (1, bytes));
        } else {
            shared.tally.counts.foreign += 1;
        }
    }

    /// So many datagrams and bytes came before the flow had its socket. Of a stream that has numbers they say how many there were.
    pub(super) fn unnumbered_came_before(
        &mut self,
        shared: &mut DatagramShared,
        came: (u64, u64),
        now: Tick,
    ) {
        let (_, bytes) = came;
        if self.unnumbered.is_some() && bytes > 0 {
            self.count_unnumbered(&mut shared.tally, came);
            self.record(shared, bytes, now);
        }
    }

    #[inline]
    fn count_unnumbered(&mut self, tally: &mut DatagramTally, (datagrams, bytes): (u64, u64)) {
        let so_far = self.unnumbered.get_or_insert(0);
        *so_far = so_far.saturating_add(datagrams);
        tally.counts.received = tally.counts.received.saturating_add(datagrams);
        tally.counts.received_bytes = tally.counts.received_bytes.saturating_add(bytes);
    }
}
