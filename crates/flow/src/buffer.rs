//! Where a machine puts what it sends: borrowed slices for a stream, segments of one buffer for
//! datagrams. Neither allocates.

use std::io::IoSlice;

use arrayvec::ArrayVec;

/// The most slices that one gathered send is made of. Kernels take 1,024.
pub const MAX_SLICES: usize = 256;

/// The slices of one stream send, in order. The engine hands them to the kernel as they are: what the
/// machine borrows from its tables is never copied in user space.
#[derive(Debug)]
pub struct Gather<'data> {
    slices: ArrayVec<IoSlice<'data>, MAX_SLICES>,
    scratch: &'data mut [u8],
    room: usize,
    len: usize,
}

impl<'data> Gather<'data> {
    /// An empty send of at most `room` bytes; `scratch` holds the little that has to be written anew.
    pub fn new(scratch: &'data mut [u8], room: usize) -> Self {
        Self { slices: ArrayVec::new_const(), scratch, room, len: 0 }
    }

    /// How many bytes still fit.
    pub fn room(&self) -> usize {
        if self.slices.is_full() { 0 } else { self.room - self.len }
    }

    /// Appends bytes that live elsewhere, as many as fit; returns how many.
    pub fn borrow(&mut self, bytes: &'data [u8]) -> usize {
        let taken = bytes.len().min(self.room());
        if taken > 0 {
            self.slices.push(IoSlice::new(&bytes[..taken]));
            self.len += taken;
        }
        taken
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
}

impl<'buffer> Batch<'buffer> {
    /// An empty batch of at most `max` datagrams of `stride` bytes in `buffer`.
    pub fn new(buffer: &'buffer mut [u8], stride: usize, max: usize) -> Self {
        let fit = buffer.len().checked_div(stride).unwrap_or(0);
        Self { buffer, stride, max: max.min(fit), count: 0, len: 0 }
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
        self.buffer = bytes;
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
