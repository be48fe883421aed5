//! What a media test may ask for, beside what all modes may.

use std::ops::RangeInclusive;

use pathscope_core::quantity::{Bytes, Period};

/// Frames a second of a stream.
pub(super) const FRAME_RATE: RangeInclusive<u64> = 1..=10_000;
/// How long a frame may wait before it is played.
pub(super) const BUFFER_DEPTH: RangeInclusive<Period> = Period(1_000_000)..=Period::from_secs(60);
/// Streams at once, as far as memory for them goes.
pub(super) const STREAMS: RangeInclusive<u64> = 1..=1_000_000;
/// Bytes of a stream's datagram: room for two headers and what they are for, to the most that UDP carries.
pub(super) const STREAM_DATAGRAM: RangeInclusive<Bytes> = Bytes(128)..=Bytes(65_507);
/// Bytes that an end may need to remember what came of all streams.
pub(super) const STREAM_MEMORY: u64 = 256 << 20;
