//! A frame that owns its bytes, and the storage that is used again.

/// One Ethernet frame, from its destination address to its payload's end, without the check
/// sequence.
///
/// Its storage may be longer than it is, so that a buffer that has been used once needs no more
/// memory and no clearing.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    storage: Vec<u8>,
    length: usize,
}

impl Frame {
    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.storage[..self.length]
    }

    /// Its bytes, to change.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.storage[..self.length]
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Room for a frame of up to `most` bytes, to be read into; whatever was there before is still
    /// there. [`truncate`](Self::truncate) then says how much of it is the frame.
    pub fn room(&mut self, most: usize) -> &mut [u8] {
        if self.storage.len() < most {
            self.storage.resize(most, 0);
        }
        self.length = most;
        self.bytes_mut()
    }

    /// Ends the frame after `length` bytes, if it is longer.
    pub fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }

    /// Makes it these bytes.
    pub fn fill(&mut self, bytes: &[u8]) {
        self.room(bytes.len()).copy_from_slice(bytes);
    }

    /// The memory it takes.
    pub(super) fn storage_bytes(&self) -> u64 {
        self.storage.capacity() as u64
    }
}

impl From<&[u8]> for Frame {
    fn from(bytes: &[u8]) -> Self {
        Self { storage: bytes.to_vec(), length: bytes.len() }
    }
}

/// Frames whose storage waits to be used again, up to a bound.
#[derive(Debug)]
pub(super) struct Pool {
    blank: Vec<Frame>,
    bytes: u64,
    most_bytes: u64,
}

impl Pool {
    /// An empty pool, for frames of at most so much storage together.
    pub fn new(most_bytes: u64) -> Self {
        Self { blank: Vec::new(), bytes: 0, most_bytes }
    }

    /// An empty frame; with storage, where one was given back.
    pub fn take(&mut self) -> Frame {
        let frame = self.blank.pop().unwrap_or_default();
        self.bytes -= frame.storage_bytes();
        frame
    }

    /// Takes a frame that is done with. Its storage is let go where there is enough, or none.
    pub fn give_back(&mut self, mut frame: Frame) {
        let storage = frame.storage_bytes();
        if storage > 0 && self.bytes + storage <= self.most_bytes {
            frame.truncate(0);
            self.bytes += storage;
            self.blank.push(frame);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_is_used_again() {
        let mut pool = Pool::new(4096);
        let mut frame = pool.take();
        frame.room(2048).fill(7);
        frame.truncate(60);
        assert_eq!((frame.len(), frame.bytes()), (60, [7; 60].as_slice()));
        let storage = frame.bytes().as_ptr();
        pool.give_back(frame);
        let mut again = pool.take();
        assert!(again.is_empty());
        again.fill(&[1; 2048]);
        assert_eq!(again.bytes().as_ptr(), storage);
    }

    #[test]
    fn a_pool_keeps_no_more_than_its_bound() {
        let mut pool = Pool::new(250);
        for _ in 0..3 {
            pool.give_back(Frame::from([0; 100].as_slice()));
        }
        pool.give_back(Frame::default());
        assert_eq!((pool.blank.len(), pool.bytes), (2, 200));
        pool.take();
        assert_eq!(pool.bytes, 100);
    }

    #[test]
    fn a_frame_is_never_cut_longer() {
        let mut frame = Frame::from([1, 2, 3].as_slice());
        frame.truncate(9);
        assert_eq!(frame.bytes(), [1, 2, 3]);
    }
}
