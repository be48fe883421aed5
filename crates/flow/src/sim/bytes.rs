//! Bytes in order: what a socket buffer holds.

/// A queue of bytes whose content is always one slice.
#[derive(Debug, Default)]
pub(super) struct ByteQueue {
    bytes: Vec<u8>,
    start: usize,
}

impl ByteQueue {
    pub(super) fn len(&self) -> usize {
        self.bytes.len() - self.start
    }

    pub(super) fn as_slice(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        // Moving the rest down only when it is the smaller part keeps the cost of a byte constant.
        if self.start > self.len() {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Drops the first `len` bytes, or all.
    pub(super) fn consume(&mut self, len: usize) {
        self.start += len.min(self.len());
    }

    /// Takes out the first `len` bytes, or all.
    pub(super) fn take(&mut self, len: usize) -> Vec<u8> {
        let taken = self.as_slice()[..len.min(self.len())].to_vec();
        self.consume(taken.len());
        taken
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.start = 0;
    }
}
