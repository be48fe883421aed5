//! What every payload byte must be, and what a wrong one says.
//!
//! The expected value of each byte is a function of the flow's key, its direction and its position, so
//! that a block which is shifted, repeated, stale or swapped with another flow's is caught. One
//! read-only table serves every flow: a flow starts in it at a phase drawn from its
//! key, and each lap through the table opens with a 16-byte mark that names the flow and the lap. The
//! table catches shifts by anything but whole laps; the marks catch those, and flows that share a
//! phase. The lap is 32 times a prime, so no multiple of any buffer, page or segment.
//!
//! ```text
//! position   0                16                          16,288             16,304
//!            +----------------+---------------------------+------------------+----------
//!            | tag   lap = 0  | table[phase + 16 ..]      | tag   lap = 1    | table ...
//!            +----------------+---------------------------+------------------+----------
//! tag: session (32 bits), client's direction (1 bit), flow (31 bits); tag and lap little-endian
//! ```
//!
//! Sent without being filled: the sender hands out slices of the table, or of an image of it on which only
//! the headers of datagrams are written. Checked by comparing slices, which the C library does at the speed of memory. What it cannot see is a stretch shorter than a
//! lap, without a mark in it, that is replaced by the same stretch of another lap.

mod examine;
mod image;
mod payload;
mod table;

pub use examine::{Corruption, Examination, Nature};
pub use image::StreamImage;
pub use payload::{Block, Payload};
pub use table::{LAP_BYTES, MARK_BYTES, SAMPLE_BYTES, SessionKey, StreamKey};
