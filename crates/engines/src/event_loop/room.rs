//! The room that a worker receives into, shared by its flows.
//!
//! Not the memory of what was left unread: each lane keeps that itself.

use pathscope_os::memory;

/// What processors compare of two addresses to see whether a load waits for a store.
const PAGE: usize = 4096;

/// How far behind a stream's position, modulo pages, its bytes are received: see [`Room::start`].
const LAG: usize = PAGE - 32;

/// Room for one receive, and for what was left of those before it.
#[derive(Debug)]
pub(crate) struct Room {
    bytes: Box<[u8]>,
    /// The first byte of a page.
    base: usize,
    capacity: usize,
}

impl Room {
    /// None.
    #[cfg(not(pathscope_other))]
    pub fn none() -> Self {
        Self { bytes: Box::default(), base: 0, capacity: 0 }
    }

    /// Room for `capacity` bytes, at least one.
    pub fn new(capacity: usize) -> Self {
        let capacity = capacity.max(1);
        let bytes = vec![0; capacity + 2 * PAGE].into_boxed_slice();
        let base = bytes.as_ptr().align_offset(PAGE).min(PAGE);
        Self { bytes, base, capacity }
    }

    /// The most that is kept and received at once.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Where to receive what follows the first `position` bytes of a stream, with room ahead for the
    /// `kept` bytes before it.
    ///
    /// Copying with `rep movsb`, as kernels do, runs at a twentieth of its speed on some processors
    /// (measured: AMD EPYC, 2.5 instead of 45 GB/s) where the target lies 1 to 31 bytes behind the
    /// source, modulo pages. Over loopback the source lies as the sender's kernel laid it out: in the
    /// order of the stream, from the start of a page. So targets keep a steady distance from the
    /// stream's position, which is short of that of the source by as little as is safe.
    pub fn start(&self, position: u64, kept: usize) -> usize {
        let wanted = (position as usize % PAGE + LAG) % PAGE;
        self.base + kept + (wanted + PAGE - kept % PAGE) % PAGE
    }

    /// Touches the pages that a small message is received into, wherever it begins.
    pub fn touch_first(&mut self) {
        let most = self.bytes.len().min(self.base + 2 * PAGE);
        memory::touch(&mut self.bytes[..most]);
    }

    /// So many bytes from `start` on.
    pub fn at(&mut self, start: usize, len: usize) -> &mut [u8] {
        &mut self.bytes[start..start + len]
    }

    /// All of it.
    pub fn whole(&mut self) -> &mut [u8] {
        &mut self.bytes[self.base..self.base + self.capacity]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_has_room_before_and_behind() {
        let mut room = Room::new(10_000);
        for position in [0, 1, 31, 32, 33, 4095, 4096, 10_001, u64::MAX] {
            for kept in [0, 1, 4095, 4096, 9_999, 10_000] {
                let start = room.start(position, kept);
                assert!(start >= kept);
                assert_eq!(room.at(start, 10_000 - kept).len(), 10_000 - kept);
            }
        }
    }

    #[test]
    fn the_next_byte_of_a_stream_lies_a_byte_further_in_its_page() {
        let mut room = Room::new(100_000);
        let mut page_offset = |position, kept| {
            let start = room.start(position, kept);
            room.at(start, 1).as_ptr() as usize % PAGE
        };
        assert_eq!(page_offset(0, 0), PAGE - 32);
        assert_eq!(page_offset(32, 0), 0);
        assert_eq!(page_offset(65_483, 7), (65_483 - 32) % PAGE);
        assert_eq!(page_offset(1 << 40, 50_000), PAGE - 32);
    }
}
