//! Datagrams of another tool's stream that say their numbers and when they left. Not here: what is made of numbers.

use pathscope_core::Tick;

use super::Receiver;
use crate::conventions::sequenced::{self, Width};
use crate::datagrams::{Damage, DatagramShared};

impl Receiver {
    /// One of a stream that says no more of itself than its number and when it left.
    #[inline]
    pub(super) fn take_sequenced(
        &mut self,
        shared: &mut DatagramShared,
        width: Width,
        datagram: &[u8],
        now: Tick,
    ) {
        let header = match width.read(datagram, self.order.next_expected()) {
            sequenced::Sight::Data(header) => header,
            sequenced::Sight::Opening => return,
            sequenced::Sight::Foreign => return shared.tally.counts.foreign += 1,
        };
        let sent_bytes = shared.schedule.size;
        if datagram.len() as u64 != sent_bytes {
            let damage = || Damage::Length { sent_bytes };
            return self.spoilt(shared, Some(header.sequence), datagram, damage);
        }
        self.count(&mut shared.tally, (header.sequence, header.sent), datagram, now);
    }
}
