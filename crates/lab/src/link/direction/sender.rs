//! The near end of a direction: a queue that drops at its tail, and one frame that is being sent.

use std::collections::VecDeque;

use pathscope_core::Tick;

use super::Carried;
use super::transmitter::Transmitter;
use crate::link::ledger::QueueCounts;
use crate::link::{Queue, Rate};

/// A queue and what it leads to.
#[derive(Debug, Default)]
pub struct Sender {
    waiting: VecDeque<(Tick, Carried)>,
    waiting_bytes: u64,
    /// What is being sent, and when it will have been. Nothing waits while this is empty.
    sending: Option<(Tick, Carried)>,
    transmitter: Transmitter,
}

impl Sender {
    /// From now on this fast; what is being sent keeps the rate it began with.
    pub fn set_rate(&mut self, rate: Rate) {
        self.transmitter.set_rate(rate);
    }

    /// Whether a frame of this length would be sent at once or find room to wait.
    pub fn admits(&self, queue: Queue, length: usize) -> bool {
        self.sending.is_none()
            || match queue {
                Queue::Packets(most) => (self.waiting.len() as u64) < u64::from(most),
                Queue::Bytes(most) => self.waiting_bytes.saturating_add(length as u64) <= most,
            }
    }

    /// Notes what a frame sees that comes now.
    pub fn look(&self, counts: &mut QueueCounts) {
        counts.arrived(self.waiting.len(), self.waiting_bytes);
    }

    /// Sends a frame, or lets it wait.
    pub fn accept(&mut self, arrived: Tick, carried: Carried, counts: &mut QueueCounts) {
        if self.sending.is_none() {
            return self.begin(arrived, carried, counts);
        }
        self.waiting_bytes += carried.frame.len() as u64;
        self.waiting.push_back((arrived, carried));
        counts.grew_to(self.waiting.len(), self.waiting_bytes);
    }

    /// The next frame whose transmission is over by `now`, and when it was.
    pub fn sent_by(&mut self, now: Tick, counts: &mut QueueCounts) -> Option<(Tick, Carried)> {
        let sent = self.sending.take_if(|(end, _)| *end <= now)?;
        if let Some((arrived, next)) = self.waiting.pop_front() {
            self.waiting_bytes -= next.frame.len() as u64;
            self.begin(arrived, next, counts);
        }
        Some(sent)
    }

    /// When the frame that is being sent will have been.
    pub fn next_end(&self) -> Option<Tick> {
        self.sending.as_ref().map(|(end, _)| *end)
    }

    /// Breaks off at `now` and gives up all that was to be sent.
    pub fn cut(&mut self, now: Tick) -> impl Iterator<Item = Carried> {
        self.transmitter.break_off(now);
        self.waiting_bytes = 0;
        self.sending.take().into_iter().chain(self.waiting.drain(..)).map(|(_, carried)| carried)
    }

    fn begin(&mut self, arrived: Tick, carried: Carried, counts: &mut QueueCounts) {
        let (waited, end) = self.transmitter.send(arrived, carried.frame.len());
        counts.began(waited);
        self.sending = Some((end, carried));
    }
}
