//! Each ping by itself, for whoever wants the raw material: gathered in blocks of fixed size and handed
//! over whole, so that the measuring thread pays a store for each ping and nothing else.
//!
//! Not here: files. What takes the blocks is somebody else's affair.

use std::fmt;

use pathscope_core::Tick;
use pathscope_core::id::FlowId;

/// Samples of one block.
pub const BLOCK: usize = 4_096;

/// What became of a ping.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// It was answered, and is in the figures.
    Answered,
    /// It was answered, and belongs to the warm-up.
    WarmUp,
    /// Nothing of it came.
    Lost,
    /// What came of it had other bytes than were sent.
    Corrupt,
}

/// One ping that was sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Sample {
    /// Its flow.
    pub flow: FlowId,
    /// Its number in the flow, from 0.
    pub sequence: u64,
    /// When it was to leave; in a closed loop, when it left.
    pub due: Tick,
    /// From when its round trip counts: the first attempt to send it, or when it was due where the system refused its flow
    /// then.
    pub from: Tick,
    /// When it left.
    pub sent: Tick,
    /// When its echo came; [`Tick::NEVER`]: no intact one, or not in time.
    pub received: Tick,
    /// When the server received it and sent the echo, by the server's clock, where the echo says so.
    pub server: Option<(Tick, Tick)>,
    /// What became of it.
    pub outcome: Outcome,
}

/// Who takes blocks of samples.
pub trait SampleSink<S = Sample>: Send {
    /// Takes a block, and returns an empty one with room for [`BLOCK`]; `None` where there is none left,
    /// and then the block was not taken. Does not block.
    fn exchange(&mut self, full: &mut Vec<S>) -> Option<Vec<S>>;

    /// Samples were lost, since no block was free.
    fn dropped(&mut self, samples: u64);
}

/// Samples on their way to a sink. What it holds is handed over when it is dropped.
pub struct SampleBuffer<S = Sample> {
    block: Vec<S>,
    sink: Box<dyn SampleSink<S>>,
}

impl<S> SampleBuffer<S> {
    /// An empty buffer before `sink`.
    pub fn new(sink: Box<dyn SampleSink<S>>) -> Self {
        Self { block: Vec::with_capacity(BLOCK), sink }
    }

    /// Adds a sample. Allocates nothing.
    #[inline]
    pub fn push(&mut self, sample: S) {
        self.block.push(sample);
        if self.block.len() >= BLOCK {
            self.hand_over();
        }
    }

    /// Hands over what it holds. Once a report, so that what waits is never long out of date.
    pub(crate) fn hand_over(&mut self) {
        if self.block.is_empty() {
            return;
        }
        if let Some(empty) = self.sink.exchange(&mut self.block) {
            self.block = empty;
        } else {
            self.sink.dropped(self.block.len() as u64);
            self.block.clear();
        }
    }
}

impl<S> Drop for SampleBuffer<S> {
    fn drop(&mut self) {
        self.hand_over();
    }
}

impl<S> fmt::Debug for SampleBuffer<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SampleBuffer")
            .field("held", &self.block.len())
            .finish_non_exhaustive()
    }
}
