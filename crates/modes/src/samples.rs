//! What is measured one by one, for whoever wants the raw material: gathered in blocks of fixed size and handed over whole, so
//! that the measuring thread pays a store for each and nothing else; and the rows that a file has of it.
//!
//! Not here: files. What takes the blocks is somebody else's affair.

use std::fmt;

use pathscope_core::Tick;
use pathscope_core::journal::Each;

/// Samples of one block.
pub const BLOCK: usize = 4_096;

/// What the cells of a column are, for files that have columns of one kind.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Cells {
    /// Whole numbers.
    Integers,
    /// Numbers with decimals.
    Decimals,
    /// Words.
    Words,
}

/// The rows of a file of samples, as a mode words them: cells with commas between them.
pub trait SampleRows: Send + 'static {
    /// What a row is of.
    type Sample: Copy + Send + 'static;

    /// The first row: the columns' names.
    fn head(&self) -> String;

    /// What the cells of the column of this name are.
    fn cells(&self, _column: &str) -> Cells {
        Cells::Integers
    }

    /// What stands in a row where there is no value.
    fn absent(&self) -> &'static str {
        ""
    }

    /// Adds the row of a sample. Times are told since `start`.
    fn add(&mut self, rows: &mut Vec<u8>, sample: &Self::Sample, start: Tick);

    /// The same by itself, for whoever is told of each; nothing of a mode that tells of none. Times are told since `start`.
    fn each(&self, _sample: &Self::Sample, _start: Tick) -> Option<Each> {
        None
    }
}

/// Of a mode that measures nothing one by one.
#[derive(Debug)]
pub enum NoRows {}

impl SampleRows for NoRows {
    type Sample = ();

    fn head(&self) -> String {
        match *self {}
    }

    fn add(&mut self, _: &mut Vec<u8>, (): &(), _: Tick) {
        match *self {}
    }
}

/// Who takes blocks of samples.
pub trait SampleSink<S>: Send {
    /// Takes a block, and returns an empty one with room for [`BLOCK`]; `None` where there is none left,
    /// and then the block was not taken. Does not block.
    fn exchange(&mut self, full: &mut Vec<S>) -> Option<Vec<S>>;

    /// Samples were lost, since no block was free.
    fn dropped(&mut self, samples: u64);
}

/// Samples on their way to a sink. What it holds is handed over when it is dropped.
pub struct SampleBuffer<S> {
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

/// The digits of a number. A fifth of the time that formatting takes, and every ping has six of them.
pub(crate) fn decimal(text: &mut Vec<u8>, value: impl itoa::Integer) {
    text.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}
