//! Which writes share segments where another follows at once, and which leave by themselves: by how long they are, and by how the kernel
//! sends on their connections. What was measured is in docs/method/bench.md, "Writes that follow one another share segments". Not here:
//! whether another follows.

use std::ops::Range;

use crate::kernel_sending::KernelSending;
use crate::load::Pattern;

/// What a kernel hands down at once, at the most: of a longer write the rest is a packet by itself.
const PACKET_BYTES: usize = 64 << 10;

/// Lengths of writes that share segments where another follows at once.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Joining {
    /// Shorter ones: each would be a small segment.
    short_below: usize,
    /// And these: each would leave a small rest.
    long: Range<usize>,
}

impl Joining {
    /// On connections of such a pattern, on which the kernel sends so.
    pub fn on(pattern: Pattern, sending: KernelSending) -> Self {
        let Some(segment_bytes) = sending.segment_bytes else { return Self::default() };
        // All that the kernel hands down at once is one segment, as on loopback. A connection that is new there has half of one: no more
        // than half of the other end's first window.
        let is_long = segment_bytes >= PACKET_BYTES / 2;
        if sending.is_paced {
            // What is held back until a segment is full is less than a pace would let out at once: over links whose segments are short it
            // took up to eight times as long.
            return Self { short_below: if is_long { PACKET_BYTES / 2 } else { 0 }, long: 0..0 };
        }
        let long_below =
            if pattern == Pattern::Duplex { 2 * PACKET_BYTES } else { 4 * PACKET_BYTES };
        Self {
            short_below: if is_long { PACKET_BYTES } else { segment_bytes },
            long: PACKET_BYTES..long_below,
        }
    }

    /// Whether writes of so many bytes do.
    pub fn holds(&self, bytes: usize) -> bool {
        bytes < self.short_below || self.long.contains(&bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest segment, whether the kernel keeps a pace, the pattern; which writes share segments, and which do not.
    type Case = (Option<usize>, bool, Pattern, &'static [usize], &'static [usize]);

    #[test]
    fn writes_shorter_than_a_segment_and_of_a_packet_and_a_little_share_segments() {
        let (loopback, new) = (Some(65_483), Some(32_768));
        let link = Some(1_448);
        let cases: [Case; 9] = [
            (
                loopback,
                false,
                Pattern::Push,
                &[1, 16 << 10, 64 << 10, 192 << 10],
                &[256 << 10, 1 << 20],
            ),
            (loopback, false, Pattern::Duplex, &[1, 64 << 10], &[128 << 10, 512 << 10]),
            (loopback, true, Pattern::Push, &[1, 16 << 10], &[32 << 10, 64 << 10, 128 << 10]),
            (loopback, true, Pattern::Duplex, &[1, 16 << 10], &[64 << 10, 128 << 10]),
            (new, false, Pattern::Push, &[1, 48 << 10, 64 << 10, 192 << 10], &[256 << 10]),
            (new, true, Pattern::Push, &[1, 16 << 10], &[32 << 10, 64 << 10]),
            (
                link,
                false,
                Pattern::Push,
                &[1, 1_447, 64 << 10],
                &[1_448, 4_096, 32 << 10, 512 << 10],
            ),
            (link, true, Pattern::Push, &[], &[1, 1_024, 4_096, 64 << 10, 512 << 10]),
            (None, false, Pattern::Push, &[], &[1, 64 << 10]),
        ];
        for (segment_bytes, is_paced, pattern, shared, alone) in cases {
            let joining = Joining::on(pattern, KernelSending { segment_bytes, is_paced });
            let name = format!("{segment_bytes:?} {is_paced} {pattern:?}");
            assert!(shared.iter().all(|&bytes| joining.holds(bytes)), "{name}: {joining:?}");
            assert!(!alone.iter().any(|&bytes| joining.holds(bytes)), "{name}: {joining:?}");
        }
    }
}
