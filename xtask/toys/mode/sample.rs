//! The file of single numbers: a row for each that left or came.

use pathscope_core::Tick;

use crate::samples::{SampleRows, decimal};

/// A number that left or came.
#[derive(Clone, Copy, Debug)]
pub struct ToySample {
    /// Which.
    pub number: u64,
    /// When.
    pub at: Tick,
}

/// The rows of numbers.
#[derive(Debug)]
pub struct ToyRows;

impl SampleRows for ToyRows {
    type Sample = ToySample;

    fn head(&self) -> String {
        "number,at_ns\n".to_owned()
    }

    fn add(&mut self, rows: &mut Vec<u8>, sample: &ToySample, start: Tick) {
        decimal(rows, sample.number);
        rows.push(b',');
        decimal(rows, sample.at.nanos_since(start));
        rows.push(b'\n');
    }
}
