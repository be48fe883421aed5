//! How a frame is cut into datagrams, when each frame is due, and when it is played. Arithmetic on a plan, the same at both ends.

use super::{HEADER_BYTES, MediaPlan, Pacing};
use crate::conventions::{Framing, frames};

const SECOND_NS: u128 = 1_000_000_000;

/// The frames of a plan.
///
/// A frame fills datagrams to their size, and the last one takes the rest. Where the rest has no room for a
/// header and a byte, the datagram before it gives up as much as is missing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Layout {
    /// Bytes of one frame, the headers of its datagrams included.
    pub frame_bytes: u64,
    /// Datagrams of one frame.
    pub datagrams: u32,
    /// Frames of one stream.
    pub frames: u64,
    /// Frames a second.
    pub frame_rate: u32,
    /// Bytes of each datagram but the last two.
    pub datagram_bytes: u32,
    /// Bytes of the last datagram but one.
    before_last: u32,
    /// Bytes of the last datagram.
    last: u32,
    /// Whether the datagrams of a frame leave spread over its time.
    pub is_spread: bool,
    /// How long after the begin of a stream its first frame is played.
    pub depth_ns: u64,
}

impl Layout {
    /// That of `plan`, valid or not.
    pub fn of(plan: &MediaPlan) -> Self {
        Self::framed(plan, Framing::Own)
    }

    /// The same of datagrams that are laid out like this.
    pub fn framed(plan: &MediaPlan, framing: Framing) -> Self {
        let header = if framing == Framing::Frames { frames::HEADER_BYTES } else { HEADER_BYTES };
        let frame_rate = plan.frame_rate.max(1);
        let frame_bytes = plan.rate_bps.0 / 8 / u64::from(frame_rate);
        let size = plan.datagram_bytes.0.clamp(1, u64::from(u32::MAX));
        let rest = frame_bytes % size;
        let least = header as u64 + 1;
        // A single datagram has none before it that could give anything up.
        let (before_last, last) = match rest {
            0 => (size, size),
            rest if rest < least && frame_bytes > size => (size - (least - rest).min(size), least),
            rest => (size, rest),
        };
        let datagrams = u32::try_from(frame_bytes.div_ceil(size).max(1)).unwrap_or(u32::MAX);
        let frames = u128::from(plan.duration_ns.0) * u128::from(frame_rate) / SECOND_NS;
        Self {
            frame_bytes,
            datagrams,
            frames: u64::try_from(frames).unwrap_or(u64::MAX),
            frame_rate,
            datagram_bytes: size as u32,
            before_last: before_last as u32,
            last: last as u32,
            is_spread: plan.pacing == Pacing::Spread,
            depth_ns: plan.buffer_depth_ns.0,
        }
    }

    /// Bytes of the datagram at this place in a frame.
    pub fn len(&self, index: u32) -> usize {
        let bytes = match self.datagrams - index {
            1 => self.last,
            2 => self.before_last,
            _ => self.datagram_bytes,
        };
        bytes as usize
    }

    /// Of the datagrams from `index` on, as many as are of one length but for a shorter last one, and at most `most`:
    /// that length, and the bytes of all of them.
    pub fn stretch(&self, index: u32, most: usize) -> (usize, usize) {
        let stride = self.len(index);
        let left = (self.datagrams - index) as usize;
        let (before_last, last) = (self.before_last as usize, self.last as usize);
        // The last one leaves by itself where the one before it is a short one already.
        let is_apart = left > 1 && (before_last < stride || last > stride);
        let count = most.min(left - usize::from(is_apart));
        let bytes = count
            .checked_sub(1)
            .map_or(0, |before| before * stride + self.len(index + before as u32));
        (stride, bytes)
    }

    /// Whether a stream has a datagram at this place.
    pub fn holds(&self, frame: u64, index: u32) -> bool {
        frame < self.frames && index < self.datagrams
    }

    /// The number of a datagram in its stream.
    pub fn sequence(&self, frame: u64, index: u32) -> u64 {
        frame.wrapping_mul(self.datagrams.into()).wrapping_add(index.into())
    }

    /// Where a datagram begins in the bytes of its stream.
    pub fn position(&self, frame: u64, index: u32) -> u64 {
        self.sequence(frame, index).wrapping_mul(self.datagram_bytes.into())
    }

    /// From the begin of a stream to the time that frame `frame` is due.
    pub fn frame_at_ns(&self, frame: u64) -> u64 {
        let at = u128::from(frame) * SECOND_NS / u128::from(self.frame_rate);
        u64::try_from(at).unwrap_or(u64::MAX)
    }

    /// From the begin of a stream to the time that a datagram is due.
    pub fn due_ns(&self, frame: u64, index: u32) -> u64 {
        let within = if self.is_spread {
            let parts = u128::from(self.frame_rate) * u128::from(self.datagrams);
            u64::try_from(u128::from(index) * SECOND_NS / parts).unwrap_or(u64::MAX)
        } else {
            0
        };
        self.frame_at_ns(frame).saturating_add(within)
    }

    /// From the begin of a stream to the play-out of frame `frame`.
    pub fn played_at_ns(&self, frame: u64) -> u64 {
        self.depth_ns.saturating_add(self.frame_at_ns(frame))
    }

    /// How many frames fall into so long, rounded up.
    pub fn frames_in(&self, nanoseconds: u64) -> u64 {
        let frames = (u128::from(nanoseconds) * u128::from(self.frame_rate)).div_ceil(SECOND_NS);
        u64::try_from(frames).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use pathscope_core::quantity::{BitRate, Bytes};
    use proptest::prelude::*;

    use super::super::tests::plan;
    use super::*;

    fn layout(rate: u64, frame_rate: u32, datagram: u64) -> Layout {
        Layout::of(&MediaPlan {
            rate_bps: BitRate(rate),
            frame_rate,
            datagram_bytes: Bytes(datagram),
            ..plan()
        })
    }

    fn lengths(layout: &Layout) -> Vec<usize> {
        (0..layout.datagrams).map(|index| layout.len(index)).collect()
    }

    #[test]
    fn twenty_five_megabits_at_sixty_frames_are_37_datagrams_and_a_rest() {
        let layout = layout(25_000_000, 60, 1_400);
        assert_eq!((layout.frame_bytes, layout.datagrams), (52_083, 38));
        let lengths = lengths(&layout);
        assert_eq!((lengths[0], lengths[36], lengths[37]), (1_400, 1_400, 283));
        assert_eq!(layout.frame_at_ns(60), 1_000_000_000);
        assert_eq!(layout.frames_in(1_000_000_001), 61);
    }

    #[test]
    fn a_rest_without_room_for_a_byte_is_made_larger() {
        let header = HEADER_BYTES;
        for (frame, expected) in [
            (1_400, vec![1_400]),
            (1_401, vec![1_400 - header, header + 1]),
            (1_400 + header as u64, vec![1_399, header + 1]),
            (1_401 + header as u64, vec![1_400, header + 1]),
            (2_801, vec![1_400, 1_400 - header, header + 1]),
            (60, vec![60]),
        ] {
            assert_eq!(lengths(&layout(frame * 8, 1, 1_400)), expected, "{frame}");
        }
    }

    #[test]
    fn datagrams_that_are_spread_divide_the_time_of_their_frame() {
        let plan = MediaPlan { pacing: Pacing::Spread, frame_rate: 50, ..plan() };
        let layout = Layout::of(&MediaPlan { rate_bps: BitRate(4 * 1_000 * 8 * 50), ..plan });
        assert_eq!(layout.datagrams, 4);
        let due: Vec<u64> = (0..4).map(|index| layout.due_ns(1, index)).collect();
        assert_eq!(due, [20_000_000, 25_000_000, 30_000_000, 35_000_000]);
    }

    /// Section 3.4 of ctsTraffic's reference.
    #[test]
    fn a_shorter_header_leaves_other_rests() {
        for (frame, expected) in [
            (52_083, [vec![1_400; 37], vec![283]].concat()),
            (1_401, vec![1_374, 27]),
            (1_427, vec![1_400, 27]),
            (2_826, vec![1_400, 1_399, 27]),
        ] {
            let plan = MediaPlan {
                rate_bps: BitRate(frame * 8),
                frame_rate: 1,
                datagram_bytes: Bytes(1_400),
                ..plan()
            };
            assert_eq!(lengths(&Layout::framed(&plan, Framing::Frames)), expected, "{frame}");
        }
    }

    proptest! {
        #[test]
        fn datagrams_make_the_frame_and_none_is_too_small(
            frame in HEADER_BYTES as u64 + 1..200_000, datagram in 2 * HEADER_BYTES as u64 + 2..65_507,
        ) {
            let layout = layout(frame * 8, 1, datagram);
            let lengths = lengths(&layout);
            prop_assert_eq!(lengths.iter().sum::<usize>() as u64, frame);
            prop_assert!(lengths.iter().all(|&it| it > HEADER_BYTES && it as u64 <= datagram));
        }
    }
}
