//! The stream as datagrams carry it, in memory that the kernel copies from: nothing of it is copied before.
//!
//! Consecutive datagrams of one length, each with a header in the place of the stream's first bytes there, are a
//! stretch of the stream with headers laid over it. The image holds the table as many times in a row as it takes for every
//! stretch to lie in it somewhere in one piece; what was laid over one is taken back before the next.

use super::table::{LAP_BYTES, MARK_BYTES, StreamKey};

const LAP: usize = LAP_BYTES as usize;

/// The longest stretch, in laps: no less than a datagram or what is cut into several can have.
const STRETCH_LAPS: usize = (1_usize << 16).div_ceil(LAP);
const STRETCH_BYTES: usize = STRETCH_LAPS * LAP;

/// The stream of any key from any position on, to be written over where headers are.
#[derive(Debug)]
pub struct StreamImage {
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
    /// From one header to the next, and the length of each.
    stride: usize,
    header: usize,
}

impl Default for StreamImage {
    fn default() -> Self {
        Self {
            bytes: StreamKey::table_twice()[..LAP].repeat(STRETCH_LAPS + 1).into_boxed_slice(),
            last: Stretch::default(),
        }
    }
}

impl StreamImage {
    /// The stream of `key` from `position` on, as datagrams of `stride` bytes and a shorter last one, `len` bytes
    /// together: as many of them as an image holds. The first `header` bytes of each may be written over, and nothing
    /// else; it is shorter than a lap.
    #[inline]
    pub fn stretch(
        &mut self,
        key: StreamKey,
        position: u64,
        len: usize,
        (stride, header): (usize, usize),
    ) -> &mut [u8] {
        self.take_back();
        let stride = stride.max(1);
        let len = if len > STRETCH_BYTES { STRETCH_BYTES / stride * stride } else { len };
        let start = key.index((position % LAP_BYTES) as usize);
        self.last = Stretch { start, position, len, stride, header };
        let stretch = &mut self.bytes[start..start + len];
        for mark in self.last.marks() {
            let bytes = &key.mark(mark.lap)[mark.skipped..];
            stretch[mark.from..mark.until].copy_from_slice(&bytes[..mark.until - mark.from]);
        }
        stretch
    }

    /// Lays the table over what was laid over it.
    fn take_back(&mut self) {
        let Stretch { start, len, stride, header, .. } = self.last;
        let table = StreamKey::table_twice();
        let mut lay = |from: usize, until: usize| {
            let index = (start + from) % LAP;
            let bytes = &table[index..index + until - from];
            self.bytes[start + from..start + until].copy_from_slice(bytes);
        };
        for mark in self.last.marks() {
            lay(mark.from, mark.until);
        }
        for from in (0..len).step_by(stride.max(1)) {
            lay(from, len.min(from + header));
        }
    }
}

/// A part of a mark in a stretch.
#[derive(Clone, Copy, Debug)]
struct PartOfMark {
    lap: u64,
    /// Bytes of the mark that lie before the stretch.
    skipped: usize,
    /// Where it lies in the stretch.
    from: usize,
    until: usize,
}

impl Stretch {
    fn marks(self) -> impl Iterator<Item = PartOfMark> {
        let end = self.position + self.len as u64;
        let first = (self.position + LAP_BYTES - MARK_BYTES) / LAP_BYTES;
        (first..).map_while(move |lap| {
            let begin = lap * LAP_BYTES;
            let from = begin.max(self.position);
            (from < end).then(|| PartOfMark {
                lap,
                skipped: (from - begin) as usize,
                from: (from - self.position) as usize,
                until: (end.min(begin + MARK_BYTES) - self.position) as usize,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_stretch_is_the_stream_whatever_was_laid_over_others(
            stretches in prop::collection::vec(
                (0_u64..1 << 40, 0_usize..81_000, 1_usize..9_000, 0_usize..60, 0_u32..9), 1..20,
            ),
        ) {
            let mut image = StreamImage::default();
            for (position, len, stride, header, flow) in stretches {
                let key = StreamKey::new(42, flow, flow % 2 == 0);
                let header = header.min(stride);
                let stretch = image.stretch(key, position, len, (stride, header));
                prop_assert_eq!(stretch.len(), len);
                prop_assert_eq!(key.first_wrong(position, stretch), None);
                for datagram in stretch.chunks_mut(stride) {
                    let header = header.min(datagram.len());
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
            let mut image = StreamImage::default();
            let stretch = image.stretch(key, position, len, (len, 0));
            prop_assert_eq!(key.first_wrong(position, stretch), None);
        }
    }

    #[test]
    fn what_is_longer_than_an_image_is_cut_to_whole_datagrams() {
        let mut image = StreamImage::default();
        let stretch =
            image.stretch(StreamKey::new(1, 2, true), LAP_BYTES - 1, 1 << 20, (1_000, 40));
        assert_eq!(stretch.len(), 81_000);
    }
}
