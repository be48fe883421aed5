//! Where a machine puts what it sends: borrowed slices for a stream, segments of one buffer for
//! datagrams. Neither allocates. What outlives the call that asks for it is copied, but for tables that live for ever.

use std::io::IoSlice;

use arrayvec::ArrayVec;

/// The most slices that one gathered send is made of. Kernels take 1,024.
pub const MAX_SLICES: usize = 256;

/// The slices of one stream send, in order. The engine hands them to the kernel as they are: what the
/// machine lends or borrows is never copied in user space, unless the send outlives the call (see [`KeptSend`]).
#[derive(Debug)]
pub struct Gather<'data> {
    slices: ArrayVec<IoSlice<'data>, MAX_SLICES>,
    scratch: &'data mut [u8],
    room: usize,
    len: usize,
    /// Where the send is kept, what it is made of.
    kept: Option<&'data mut Pieces>,
}

impl<'data> Gather<'data> {
    /// An empty send of at most `room` bytes; `scratch` holds the little that has to be written anew.
    pub fn new(scratch: &'data mut [u8], room: usize) -> Self {
        Self { slices: ArrayVec::new_const(), scratch, room, len: 0, kept: None }
    }

    /// How many bytes still fit.
    pub fn room(&self) -> usize {
        if self.slices.is_full() { 0 } else { self.room - self.len }
    }

    /// Appends bytes of a table that lives for ever, as many as fit; returns how many. Nobody copies them.
    pub fn lend(&mut self, bytes: &'static [u8]) -> usize {
        let taken = self.append(bytes);
        if taken > 0
            && let Some(kept) = &mut self.kept
        {
            kept.push(Piece::Table(&bytes[..taken]));
        }
        taken
    }

    /// Appends bytes that live elsewhere for as long as the call, as many as fit; returns how many. A send that outlives it
    /// copies them.
    pub fn borrow(&mut self, bytes: &'data [u8]) -> usize {
        if self.kept.is_some() { self.copy(bytes) } else { self.append(bytes) }
    }

    /// Appends a copy of `bytes`, as many as fit in the send and in the scratch; returns how many.
    pub fn copy(&mut self, bytes: &[u8]) -> usize {
        let taken = bytes.len().min(self.room()).min(self.scratch.len());
        if taken > 0 {
            let (head, tail) = std::mem::take(&mut self.scratch).split_at_mut(taken);
            head.copy_from_slice(&bytes[..taken]);
            self.scratch = tail;
            self.slices.push(IoSlice::new(head));
            self.len += taken;
            if let Some(kept) = &mut self.kept {
                kept.push(Piece::Copy(taken));
            }
        }
        taken
    }

    fn append(&mut self, bytes: &'data [u8]) -> usize {
        let taken = bytes.len().min(self.room());
        if taken > 0 {
            self.slices.push(IoSlice::new(&bytes[..taken]));
            self.len += taken;
        }
        taken
    }

    /// Bytes gathered so far.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing was gathered.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The slices, for a vectored send.
    pub fn slices(&self) -> &[IoSlice<'data>] {
        &self.slices
    }
}

type Pieces = ArrayVec<Piece, MAX_SLICES>;

/// One slice of a send that is kept.
#[derive(Clone, Copy, Debug)]
enum Piece {
    Table(&'static [u8]),
    /// So many bytes, behind those copied before.
    Copy(usize),
}

/// One send of a stream that outlives the call in which it was gathered, for engines whose operations the kernel has for a
/// while: of what was gathered it holds tables that live for ever as they are, and all else as a copy of its own.
#[derive(Debug)]
pub struct KeptSend {
    copies: Box<[u8]>,
    pieces: Box<Pieces>,
}

impl KeptSend {
    /// One with room for so many bytes that are copied.
    pub fn new(copied_bytes: usize) -> Self {
        let copies = vec![0; copied_bytes].into_boxed_slice();
        Self { copies, pieces: Box::new(ArrayVec::new_const()) }
    }

    /// To be gathered anew, of at most `room` bytes.
    pub fn gather(&mut self, room: usize) -> Gather<'_> {
        self.pieces.clear();
        let kept = Some(&mut *self.pieces);
        Gather { kept, ..Gather::new(&mut self.copies, room) }
    }

    /// What was gathered.
    pub fn slices(&self) -> ArrayVec<IoSlice<'_>, MAX_SLICES> {
        let mut copied = 0;
        let slice = |piece: &Piece| match *piece {
            Piece::Table(bytes) => IoSlice::new(bytes),
            Piece::Copy(len) => {
                copied += len;
                IoSlice::new(&self.copies[copied - len..copied])
            }
        };
        self.pieces.iter().map(slice).collect()
    }
}

/// What every kernel that cuts and joins datagrams cuts and joins at once: later ones take more.
const BATCH_DATAGRAMS: usize = 64;
/// The most that a datagram over IPv4 carries, and so the batch that it is before it is cut.
const BATCH_BYTES: usize = 65_507;

/// Datagrams of so many bytes that a kernel cuts out of one, or joins to one, at the most.
pub fn datagrams_in_one(bytes: usize) -> usize {
    (BATCH_BYTES / bytes.max(1)).clamp(1, BATCH_DATAGRAMS)
}

/// The datagrams of one send: segments of one buffer, all of one length but for a shorter last one. The buffer is the
/// engine's, or the machine's own.
/// The engine decides whether they leave one by one or as one offloaded batch.
#[derive(Debug)]
pub struct Batch<'buffer> {
    buffer: &'buffer mut [u8],
    stride: usize,
    max: usize,
    count: usize,
    len: usize,
    /// Whether what is lent is copied.
    is_kept: bool,
}

impl<'buffer> Batch<'buffer> {
    /// An empty batch of at most `max` datagrams of `stride` bytes in `buffer`.
    pub fn new(buffer: &'buffer mut [u8], stride: usize, max: usize) -> Self {
        let fit = buffer.len().checked_div(stride).unwrap_or(0);
        Self { buffer, stride, max: max.min(fit), count: 0, len: 0, is_kept: false }
    }

    /// The same for a send that outlives the call: what is lent is copied to `buffer`, too.
    pub fn kept(buffer: &'buffer mut [u8], stride: usize, max: usize) -> Self {
        Self { is_kept: true, ..Self::new(buffer, stride, max) }
    }

    /// How many more datagrams fit. None after a short one.
    pub fn room(&self) -> usize {
        if self.len == self.count * self.stride { self.max - self.count } else { 0 }
    }

    /// The next datagram of `len` bytes to be written; `None` where none fits or `len` is over the
    /// stride. Holds whatever the buffer held before.
    pub fn datagram(&mut self, len: usize) -> Option<&mut [u8]> {
        if self.room() == 0 || len > self.stride {
            return None;
        }
        let start = self.len;
        self.count += 1;
        self.len += len;
        Some(&mut self.buffer[start..start + len])
    }

    /// Datagrams that lie in `bytes` already, instead of any written: each as long as the stride but for the last.
    /// What is over the room is left out.
    pub fn lend(&mut self, bytes: &'buffer mut [u8]) {
        let len = bytes.len().min(self.max * self.stride);
        (self.count, self.len) = (len.div_ceil(self.stride.max(1)), len);
        if self.is_kept {
            self.buffer[..len].copy_from_slice(&bytes[..len]);
        } else {
            self.buffer = bytes;
        }
    }

    /// Datagrams written or lent.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Length of each but the last.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// All datagrams, one after the other.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[..self.len]
    }
}

/// How datagrams are handed over to the system and taken from it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Batches {
    /// One with each receive; several with one send where a machine offers several.
    One,
    /// Several with one call.
    Several {
        /// The longest that may come; what is longer is cut to one byte more.
        longest: usize,
    },
    /// Several as one, where the system cuts and joins them; else several with one call.
    Joined {
        /// The longest that may come.
        longest: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gather_takes_no_more_than_its_room() {
        let mut scratch = [0; 4];
        let table = [7; 10];
        let mut gather = Gather::new(&mut scratch, 12);
        assert_eq!(gather.copy(&[1, 2, 3]), 3);
        assert_eq!(gather.borrow(&table), 9);
        assert_eq!((gather.borrow(&table), gather.copy(&[1])), (0, 0));
        let sent: Vec<u8> = gather.slices().iter().flat_map(|slice| slice.to_vec()).collect();
        assert_eq!(sent, [1, 2, 3, 7, 7, 7, 7, 7, 7, 7, 7, 7]);
    }

    static TABLE: [u8; 6] = [1, 2, 3, 4, 5, 6];

    #[test]
    fn a_send_that_is_kept_holds_what_lived_no_longer_than_the_call() {
        let mut kept = KeptSend::new(5);
        for _ in 0..2 {
            let (mut short_lived, mut gather) = ([7, 8, 9], kept.gather(12));
            assert_eq!((gather.copy(&short_lived[..1]), gather.lend(&TABLE)), (1, 6));
            assert_eq!(gather.copy(&short_lived[1..]), 2);
            assert_eq!((gather.lend(&TABLE[..2]), gather.len()), (2, 11));
            drop(gather);
            short_lived.fill(0);
            let sent: Vec<u8> = kept.slices().iter().flat_map(|slice| slice.to_vec()).collect();
            assert_eq!(sent, [7, 1, 2, 3, 4, 5, 6, 8, 9, 1, 2]);
            assert_eq!(kept.slices()[1].as_ptr(), TABLE.as_ptr(), "a table is not copied");
        }
    }

    #[test]
    fn what_is_borrowed_is_kept_as_far_as_there_is_room_for_copies() {
        let (bytes, mut kept) = ([7; 9], KeptSend::new(5));
        let mut gather = kept.gather(12);
        assert_eq!((gather.borrow(&bytes), gather.borrow(&bytes)), (5, 0));
        assert_eq!(gather.lend(&TABLE), 6);
    }

    #[test]
    fn datagrams_that_are_kept_are_copied() {
        let (mut buffer, mut lent) = ([0; 32], [7; 21]);
        let mut batch = Batch::kept(&mut buffer, 8, 3);
        batch.lend(&mut lent);
        assert_eq!((batch.count(), batch.bytes()), (3, &[7; 21][..]));
        assert_eq!(buffer[..21], [7; 21]);
    }

    #[test]
    fn a_gather_takes_no_more_slices_than_the_kernel_gets() {
        let mut gather = Gather::new(&mut [], usize::MAX);
        for _ in 0..MAX_SLICES {
            assert_eq!(gather.borrow(&[0]), 1);
        }
        assert_eq!((gather.room(), gather.borrow(&[0])), (0, 0));
    }

    #[test]
    fn a_short_datagram_ends_a_batch() {
        let mut buffer = [0; 32];
        let mut batch = Batch::new(&mut buffer, 8, 9);
        assert_eq!(batch.room(), 4);
        batch.datagram(8).expect("fits").fill(1);
        assert!(batch.datagram(9).is_none());
        batch.datagram(3).expect("fits").fill(2);
        assert!(batch.datagram(8).is_none());
        assert_eq!(batch.bytes(), [1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2]);
    }

    #[test]
    fn a_batch_without_length_holds_nothing() {
        assert_eq!(Batch::new(&mut [0; 8], 0, 4).room(), 0);
    }

    #[test]
    fn what_is_lent_takes_the_place_of_what_is_written() {
        let (mut buffer, mut lent) = ([0; 32], [7; 21]);
        let mut batch = Batch::new(&mut buffer, 8, 3);
        batch.lend(&mut lent);
        assert_eq!((batch.count(), batch.bytes()), (3, &[7; 21][..]));
        assert_eq!((batch.room(), batch.datagram(1)), (0, None));

        let mut longer = [9; 40];
        batch.lend(&mut longer);
        assert_eq!(
            (batch.count(), batch.bytes().len()),
            (3, 24),
            "what is over the room is left out"
        );
    }
}
