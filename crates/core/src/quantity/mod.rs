//! Quantities as people type and read them: `256MiB`, `25Mbit`, `1000/s`, `1ms`.
//!
//! Parsing is strict: a number without a unit is taken only where one unit is possible, and what is
//! out of range is named together with the range. Formatting is for people; documents hold base units.

mod bytes;
mod format;
mod number;
mod period;
mod rate;
mod scale;

pub use bytes::Bytes;
pub use format::{
    average, bit_rate, bytes, count, counted, duration_ns, echoes, frequency, ratio, were,
};
pub use number::{QuantityError, named, shown};
pub use period::Period;
pub use rate::{BitRate, Frequency};
pub use scale::{Dimension, Scale, duration_range, rate_range};

/// The sum of counts, at most the most there is: what a peer reports may be any number.
pub fn total(counts: impl IntoIterator<Item = u64>) -> u64 {
    counts.into_iter().fold(0, u64::saturating_add)
}
