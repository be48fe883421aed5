//! The table, the key of a stream, and the two operations on the hot path: hand out what to send,
//! compare what came.

use std::sync::LazyLock;

use pathscope_core::id::Token;
use pathscope_flow::Gather;

use crate::draw::{self, mix};

/// Streams start in the table at a multiple of this, and a lap is one: so the two addresses of a copy, and
/// those of a comparison, lie alike in the words that a processor moves.
const GRAIN: u64 = 32;

/// Bytes from one mark to the next: 32 times a prime. No multiple of any buffer, page or segment, and so few that most of
/// the table stays in a first-level cache of 32 KiB while what it is compared with streams through it. Measured (AMD EPYC,
/// 256 KiB compared right after they were copied): 16 ms a gigabyte, 15 with half as many bytes, 23 with four times as
/// many. With half as many, a sender began to pay for the many slices.
pub const LAP_BYTES: u64 = 509 * GRAIN;

/// Bytes of the mark that opens each lap.
pub const MARK_BYTES: u64 = 16;
/// Bytes of each lap, from its mark on, that are looked at where one in sixteen is.
pub const SAMPLE_BYTES: u64 = LAP_BYTES / 16;

const LAP: usize = LAP_BYTES as usize;
const MARK: usize = MARK_BYTES as usize;

/// What processors compare of two addresses to see whether a load waits for a store.
const PAGE: usize = 4096;

/// Copies of the table, each a quarter of a page further into its page than the one before.
const COPIES: usize = 4;
const STEP: usize = PAGE / COPIES;

/// How far before its place in the stream, modulo pages, a run is lent from: see [`Table::nearest`].
const LEAD: usize = 64 + STEP / 2;

/// Random bytes of period [`LAP_BYTES`], several times.
#[derive(Debug)]
struct Table {
    bytes: Box<[u8]>,
    /// Where each copy starts. Each is there twice in a row, so that a lap of any phase lies in one piece.
    starts: [usize; COPIES],
}

/// What the table is drawn from: "pathscop".
const SEED: u64 = 0x7061_7468_7363_6f70;

static TABLE: LazyLock<Table> = LazyLock::new(Table::new);

impl Table {
    fn new() -> Self {
        let seeds = (0..).map(|word: u64| SEED.wrapping_add(word.wrapping_mul(draw::STEP)));
        let lap: Vec<u8> = seeds.flat_map(|seed| mix(seed).to_le_bytes()).take(LAP).collect();
        // From one copy to the next: whole pages and a step.
        let stride = (2 * LAP).next_multiple_of(PAGE) + STEP;
        let mut bytes = vec![0; COPIES * stride + PAGE].into_boxed_slice();
        let first = bytes.as_ptr().align_offset(PAGE).min(PAGE);
        let starts = std::array::from_fn(|copy| first + copy * stride);
        for start in starts {
            bytes[start..start + LAP].copy_from_slice(&lap);
            bytes[start + LAP..start + 2 * LAP].copy_from_slice(&lap);
        }
        Self { bytes, starts }
    }

    /// One of the copies, twice in a row. What compares keeps to the first: flows of all phases share its bytes in a core's
    /// cache.
    fn twice(&self, copy: usize) -> &[u8] {
        &self.bytes[self.starts[copy % COPIES]..][..2 * LAP]
    }

    /// The copy whose byte `index` lies where the byte at `position` of a stream should be copied from.
    ///
    /// Copying with `rep movsb`, as kernels do, runs at a twentieth of its speed on some processors
    /// (measured: AMD EPYC, 2.5 instead of 45 GB/s) where the target lies 1 to 31 bytes behind the
    /// source, modulo pages. A kernel fills its pages in the order of the stream, from the start of
    /// one, and at times leaves a few bytes out. So sources keep a steady distance from the stream's
    /// position: the target starts 64 bytes to a quarter of a page behind, and can move on by half a
    /// page before it meets the source again.
    fn nearest(&self, position: u64, index: usize) -> &[u8] {
        let behind =
            (position as usize % PAGE + 2 * LAP.next_multiple_of(PAGE) - index - LEAD) % PAGE;
        self.twice((behind + STEP / 2) / STEP)
    }
}

/// What both ends derive from a session's token: the names of its streams and of its datagrams.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SessionKey {
    /// The number that opens each mark.
    pub number: u32,
    /// The word that each datagram carries.
    pub token: u64,
}

impl SessionKey {
    /// The key of one direction of a flow.
    pub fn stream(self, flow: u32, from_client: bool) -> StreamKey {
        StreamKey::new(self.number, flow, from_client)
    }
}

impl From<Token> for SessionKey {
    fn from(Token(bytes): Token) -> Self {
        let words = u128::from_le_bytes(bytes);
        Self { number: words as u32, token: (words >> 64) as u64 }
    }
}

/// Names one direction of one flow, and thereby every byte of it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct StreamKey {
    /// The halves of the tag, apart: each flow has two keys, and there may be very many flows.
    session: u32,
    flow: u32,
    phase: u32,
}

impl StreamKey {
    /// The key of a direction of a flow. Flows are numbered below 2^31.
    pub fn new(session: u32, flow: u32, from_client: bool) -> Self {
        Self::from_tag(
            u64::from(session) << 32 | u64::from(from_client) << 31 | u64::from(flow & 0x7fff_ffff),
        )
    }

    pub(super) fn from_tag(tag: u64) -> Self {
        let phase = (mix(tag) % (LAP_BYTES / GRAIN) * GRAIN) as u32;
        Self { session: (tag >> 32) as u32, flow: tag as u32, phase }
    }

    /// The number shared by all flows of a session.
    pub fn session(self) -> u32 {
        self.session
    }

    /// The flow's number.
    pub fn flow(self) -> u32 {
        self.flow & 0x7fff_ffff
    }

    /// Whether this is the direction that the client sends.
    pub fn is_from_client(self) -> bool {
        self.flow >> 31 == 1
    }

    /// Gathers the stream from `position` on, up to `limit` bytes or as much as fits.
    #[inline]
    pub fn gather(self, position: u64, limit: usize, gather: &mut Gather<'_>) {
        let mut lap = position / LAP_BYTES;
        let mut offset = (position % LAP_BYTES) as usize;
        let mut left = limit;
        while left > 0 {
            let taken = if offset < MARK {
                let mark = &self.mark(lap)[offset..];
                gather.copy(&mark[..mark.len().min(left)])
            } else {
                let at = position + (limit - left) as u64;
                let run = self.run(TABLE.nearest(at, self.index(offset)), offset);
                gather.lend(&run[..run.len().min(left)])
            };
            if taken == 0 {
                return;
            }
            left -= taken;
            offset += taken;
            if offset == LAP {
                (lap, offset) = (lap + 1, 0);
            }
        }
    }

    /// Writes the stream from `position` on over `bytes`.
    pub fn copy_to(self, mut position: u64, mut bytes: &mut [u8]) {
        let mut mark = [0; MARK];
        while !bytes.is_empty() {
            let source = self.piece(position, &mut mark);
            let (head, tail) = bytes.split_at_mut(source.len().min(bytes.len()));
            head.copy_from_slice(&source[..head.len()]);
            position += head.len() as u64;
            bytes = tail;
        }
    }

    /// Compares `bytes`, received at `position`, with what they must be: the index of the first wrong
    /// one, or `None`.
    #[inline]
    pub fn first_wrong(self, position: u64, bytes: &[u8]) -> Option<usize> {
        let mut lap = position / LAP_BYTES;
        let mut offset = (position % LAP_BYTES) as usize;
        let mut done = 0;
        while done < bytes.len() {
            let mark;
            let expected = if offset < MARK {
                mark = self.mark(lap);
                &mark[offset..]
            } else {
                self.run(TABLE.twice(0), offset)
            };
            let len = expected.len().min(bytes.len() - done);
            if let Some(index) = first_difference(&expected[..len], &bytes[done..done + len]) {
                return Some(done + index);
            }
            done += len;
            offset += len;
            if offset == LAP {
                (lap, offset) = (lap + 1, 0);
            }
        }
        None
    }

    /// Like [`first_wrong`](Self::first_wrong), of the bytes alone that lie in the first
    /// [`SAMPLE_BYTES`] of each lap.
    #[inline]
    pub fn first_wrong_sampled(self, position: u64, bytes: &[u8]) -> Option<usize> {
        let end = position + bytes.len() as u64;
        let first = position - position % LAP_BYTES;
        (first..end).step_by(LAP).find_map(|lap| {
            let (from, until) = (lap.max(position), (lap + SAMPLE_BYTES).min(end));
            // None of the lap that it begins in, where that is further on than its sample.
            let index = (from - position) as usize;
            let sample = bytes.get(index..until.saturating_sub(position) as usize)?;
            Some(index + self.first_wrong(from, sample)?)
        })
    }

    /// The byte at `position`.
    pub(super) fn byte(self, position: u64) -> u8 {
        self.piece(position, &mut [0; MARK])[0]
    }

    /// Where in its lap this key's stream stands when it shows what the table holds at `index`.
    pub(super) fn offset_of_table_index(self, index: usize) -> u64 {
        (index as u64 + LAP_BYTES - u64::from(self.phase)) % LAP_BYTES
    }

    /// The table, twice in a row.
    pub(super) fn table_twice() -> &'static [u8] {
        TABLE.twice(0)
    }

    /// Where the table holds `pattern`, as an index below the period.
    pub(super) fn find_in_table(pattern: &[u8]) -> Option<usize> {
        TABLE.twice(0)[..LAP + pattern.len() - 1]
            .windows(pattern.len())
            .position(|window| window == pattern)
    }

    /// What opens a lap.
    pub(super) fn mark(self, lap: u64) -> [u8; MARK] {
        let mut mark = [0; MARK];
        mark[..4].copy_from_slice(&self.flow.to_le_bytes());
        mark[4..8].copy_from_slice(&self.session.to_le_bytes());
        mark[8..].copy_from_slice(&lap.to_le_bytes());
        mark
    }

    /// The stream from `position` on, to the end of its lap, or of the mark there, which is written to `mark`.
    #[inline]
    fn piece(self, position: u64, mark: &mut [u8; MARK]) -> &[u8] {
        let offset = (position % LAP_BYTES) as usize;
        if offset >= MARK {
            return self.run(TABLE.twice(0), offset);
        }
        *mark = self.mark(position / LAP_BYTES);
        &mark[offset..]
    }

    /// The lap from `offset` on, to its end, in this copy of the table.
    fn run(self, copy: &'static [u8], offset: usize) -> &'static [u8] {
        &copy[self.index(offset)..][..LAP - offset]
    }

    /// Where in the table a lap of this stream shows what it does at `offset`.
    pub(super) fn index(self, offset: usize) -> usize {
        (self.phase as usize + offset) % LAP
    }
}

/// Where two pieces of equal length differ first. That they are equal, as they nearly always are, is found at the speed of memory.
#[inline]
pub(super) fn first_difference(expected: &[u8], came: &[u8]) -> Option<usize> {
    if expected == came {
        return None;
    }
    expected.iter().zip(came).position(|(right, came)| right != came)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sent(key: StreamKey, position: u64, len: usize) -> Vec<u8> {
        let mut scratch = [0; 4096];
        let mut gather = Gather::new(&mut scratch, len);
        key.gather(position, len, &mut gather);
        gather.slices().iter().flat_map(|slice| slice.to_vec()).collect()
    }

    #[test]
    fn the_stream_is_a_promise() {
        // Both ends must make the same bytes, whatever their version: these are fixed for protocol 1, and another
        // program made them of docs/protocol.md.
        let key = StreamKey::new(0xdead_beef, 5, true);
        let begin = sent(key, 0, 24);
        assert_eq!(begin[..8], [5, 0, 0, 0x80, 0xef, 0xbe, 0xad, 0xde], "tag");
        assert_eq!(begin[8..16], [0; 8], "lap");
        assert_eq!(begin[16..], [149, 60, 112, 114, 195, 24, 210, 23], "table");
        let end = sent(key, LAP_BYTES - 8, 24);
        assert_eq!(end[..8], [57, 188, 227, 6, 144, 230, 218, 242], "end of the first lap");
        assert_eq!(end[16..], [1, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn a_session_key_is_a_promise() {
        let key = SessionKey::from(Token(std::array::from_fn(|index| index as u8)));
        assert_eq!((key.number, key.token), (0x0302_0100, 0x0f0e_0d0c_0b0a_0908));
    }

    #[test]
    fn a_mebibyte_is_gathered_at_once() {
        assert_eq!(sent(StreamKey::new(1, 2, false), 12_345, 1 << 20).len(), 1 << 20);
    }

    #[test]
    fn a_key_names_its_flow() {
        let key = StreamKey::new(7, 1 << 20, false);
        assert_eq!((key.session(), key.flow(), key.is_from_client()), (7, 1 << 20, false));
    }

    proptest! {
        #[test]
        fn what_is_sent_is_what_is_expected(
            flow in 0_u32..1000, position in 0_u64..1 << 40, len in 1_usize..200_000,
        ) {
            let key = StreamKey::new(42, flow, flow % 2 == 0);
            let bytes = sent(key, position, len);
            prop_assert_eq!(bytes.len(), len);
            prop_assert_eq!(key.first_wrong(position, &bytes), None);
            let mut copied = vec![0; len];
            key.copy_to(position, &mut copied);
            prop_assert!(copied == bytes);
            for index in [0, len / 2, len - 1] {
                prop_assert_eq!(bytes[index], key.byte(position + index as u64));
            }
        }

        #[test]
        fn each_wrong_byte_is_found(
            position in 0_u64..1 << 40, len in 1_usize..200_000, at in 0.0_f64..1.0, flip in 1_u8..,
        ) {
            let key = StreamKey::new(42, 3, true);
            let mut bytes = sent(key, position, len);
            let index = (at * (len - 1) as f64) as usize;
            bytes[index] ^= flip;
            prop_assert_eq!(key.first_wrong(position, &bytes), Some(index));
        }
    }
}
