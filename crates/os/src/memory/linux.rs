//! Linux: glibc's allocator.

use super::OWN_BLOCK_BYTES;

/// Heaps for small blocks. Each keeps a page or two for nothing; one alone would have sessions that begin at the same
/// time wait for each other.
const HEAPS: libc::c_int = 2;

/// Blocks that are memory of their own at the most; others come from a heap. The kernel allows 65,530 mappings, and
/// threads need some.
const OWN_BLOCKS: libc::c_int = 32_768;

pub fn keep_little() {
    for (option, value) in [
        // A threshold that is set stays: one that is not rises to the largest block that was ever freed.
        (libc::M_MMAP_THRESHOLD, OWN_BLOCK_BYTES as libc::c_int),
        (libc::M_MMAP_MAX, OWN_BLOCKS),
        // What a heap holds at its end for later would serve large blocks, and be cleared for them by writing.
        (libc::M_TOP_PAD, 4 << 10),
        (libc::M_TRIM_THRESHOLD, OWN_BLOCK_BYTES as libc::c_int),
        (libc::M_ARENA_MAX, HEAPS),
    ] {
        // SAFETY: takes two numbers and no memory. What it refuses stays as it was.
        unsafe { libc::mallopt(option, value) };
    }
}

pub fn give_back() {
    // SAFETY: takes a number and no memory; glibc holds its own locks meanwhile.
    unsafe { libc::malloc_trim(0) };
}
