//! The stream as datagrams carry it, in memory that the kernel copies from: nothing of it is copied before.
//!
//! Consecutive datagrams of one length, each with a header in the place of the stream's first bytes there, are a
//! stretch of the stream with headers laid over it. The image holds the table as many times in a row as it takes for every
//! stretch to lie in it somewhere in one piece; what was laid over one is taken back before the next.

use std::ops::Range;

use super::table::{LAP_BYTES, MARK_BYTES, StreamKey};

const LAP: usize = LAP_BYTES as usize;

/// The longest stretch, in laps: no less than a datagram or what is cut into several can have.
const STRETCH_LAPS: usize = (1_usize << 16).div_ceil(LAP);
const STRETCH_BYTES: usize = STRETCH_LAPS * LAP;

/// The stream of any key from any position on, to be written over where headers are: of so many bytes each, which is less
/// than a lap.
#[derive(Debug)]
pub struct StreamImage<const HEADER: usize> {
    bytes: Box<[u8]>,
    last: Stretch,
}

/// What lies over the table.
#[derive(Clone, Copy, Debug, Default)]
struct Stretch {
    /// Index in the image.
    start: usize,
    /// Position in the stream, and bytes from there on.
    position: u64,
    len: usize,
    /// From one header to the next.
    stride: usize,
}

impl<const HEADER: usize> StreamImage<HEADER> {
    /// An image for an end that sends, and none for one that does not, which has nothing to lay out: of many flows at a
    /// server that receives, each would have 114 KB for nothing.
    pub fn for_end(sends: bool) -> Self {
        // A lap for where the stretch begins, and one for the rest of the last header.
        let laps = if sends { STRETCH_LAPS + 2 } else { 0 };
        let bytes = StreamKey::table_twice()[..LAP].repeat(laps).into_boxed_slice();
        Self { bytes, last: Stretch::default() }
    }

    /// What one for such an end takes.
    pub(crate) const fn memory_bytes(sends: bool) -> usize {
        if sends { (STRETCH_LAPS + 2) * LAP } else { 0 }
    }

    /// The stream of `key` from `position` on, as datagrams of `stride` bytes and a shorter last one, `len` bytes
    /// together: as many of them as an image holds. The header of each may be written over, and nothing else.
    #[inline]
    pub fn stretch(
        &mut self,
        key: StreamKey,
        position: u64,
        len: usize,
        stride: usize,
    ) -> &mut [u8] {
        self.take_back();
        let stride = stride.max(1);
        let len = if len > STRETCH_BYTES { STRETCH_BYTES / stride * stride } else { len };
        let start = key.index((position % LAP_BYTES) as usize);
        self.last = Stretch { start, position, len, stride };
        let stretch = &mut self.bytes[start..start + len];
        for mark in self.last.marks() {
            key.copy_to(position + mark.start as u64, &mut stretch[mark]);
        }
        stretch
    }

    /// Lays the table over what was laid over it.
    fn take_back(&mut self) {
        let Stretch { start, len, stride, .. } = self.last;
        let table = StreamKey::table_twice();
        for mark in self.last.marks() {
            let (from, until) = (start + mark.start, start + mark.end);
            self.bytes[from..until].copy_from_slice(&table[from % LAP..][..until - from]);
        }
        // All of each header, also where the last datagram is shorter: the table is behind it, too. Of a length that the
        // compiler knows, that is a few moves and no call.
        for from in (start..start + len).step_by(stride.max(1)) {
            self.bytes[from..from + HEADER].copy_from_slice(&table[from % LAP..][..HEADER]);
        }
    }
}

impl Stretch {
    /// Where in it marks lie, or parts of such.
    fn marks(self) -> impl Iterator<Item = Range<usize>> {
        let end = self.position + self.len as u64;
        let first = (self.position + LAP_BYTES - MARK_BYTES) / LAP_BYTES;
        (first..).map(|lap| lap * LAP_BYTES).map_while(move |begin| {
            let (from, until) = (begin.max(self.position), end.min(begin + MARK_BYTES));
            let here = |position: u64| (position - self.position) as usize;
            (from < end).then(|| here(from)..here(until))
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HEADER: usize = 40;

    proptest! {
        #[test]
        fn a_stretch_is_the_stream_whatever_was_laid_over_others(
            stretches in prop::collection::vec(
                (0_u64..1 << 40, 0_usize..81_000, 1_usize..9_000, 0_u32..9), 1..20,
            ),
        ) {
            let mut image = StreamImage::<HEADER>::for_end(true);
            for (position, len, stride, flow) in stretches {
                let key = StreamKey::new(42, flow, flow % 2 == 0);
                let stretch = image.stretch(key, position, len, stride);
                prop_assert_eq!(stretch.len(), len);
                prop_assert_eq!(key.first_wrong(position, stretch), None);
                for datagram in stretch.chunks_mut(stride) {
                    let header = HEADER.min(datagram.len());
                    datagram[..header].fill(0xee);
                }
            }
        }

        #[test]
        fn marks_are_where_laps_begin(
            lap in 0_u64..1 << 20, before in 0_u64..100, len in 0_usize..200,
        ) {
            let position = (lap * LAP_BYTES).saturating_sub(before);
            let key = StreamKey::new(42, 7, true);
            let mut image = StreamImage::<HEADER>::for_end(true);
            let stretch = image.stretch(key, position, len, len);
            prop_assert_eq!(key.first_wrong(position, stretch), None);
        }
    }

    #[test]
    fn what_is_longer_than_an_image_is_cut_to_whole_datagrams() {
        let mut image = StreamImage::<HEADER>::for_end(true);
        let stretch = image.stretch(StreamKey::new(1, 2, true), LAP_BYTES - 1, 1 << 20, 1_000);
        assert_eq!(stretch.len(), 81_000);
    }
}
