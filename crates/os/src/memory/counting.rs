//! An allocator that counts what is allocated: for tests that prove what something takes. No program of ours runs with it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's allocator, with a count.
#[derive(Debug, Default)]
pub struct Counting {
    held: AtomicUsize,
    most: AtomicUsize,
}

impl Counting {
    /// Nothing allocated yet.
    pub const fn new() -> Self {
        Self { held: AtomicUsize::new(0), most: AtomicUsize::new(0) }
    }

    /// Bytes that are allocated now.
    pub fn held(&self) -> usize {
        self.held.load(Ordering::SeqCst)
    }

    /// The most that was allocated at once since this was asked the last time.
    pub fn take_most(&self) -> usize {
        self.most.swap(self.held(), Ordering::SeqCst)
    }

    fn add(&self, bytes: usize) {
        let held = self.held.fetch_add(bytes, Ordering::SeqCst) + bytes;
        self.most.fetch_max(held, Ordering::SeqCst);
    }
}

// SAFETY: each call is handed on as it came, and what is counted beside it touches no memory that is handed out.
unsafe impl GlobalAlloc for Counting {
    // SAFETY: the caller keeps what the trait asks of him.
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.add(layout.size());
        // SAFETY: the caller's promise holds for the system's allocator as well.
        unsafe { System.alloc(layout) }
    }

    // SAFETY: the caller keeps what the trait asks of him.
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        self.add(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    // SAFETY: the caller keeps what the trait asks of him.
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        self.held.fetch_sub(layout.size(), Ordering::SeqCst);
        // SAFETY: as above; the block is one of the system's.
        unsafe { System.dealloc(block, layout) }
    }

    // SAFETY: the caller keeps what the trait asks of him.
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        self.add(bytes);
        self.held.fetch_sub(layout.size(), Ordering::SeqCst);
        // SAFETY: as above; the block is one of the system's.
        unsafe { System.realloc(block, layout, bytes) }
    }
}
