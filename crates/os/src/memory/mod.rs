//! What this process holds of the machine's memory beyond what it uses, and how it gives that back.

pub mod counting;
#[cfg(all(target_os = "linux", target_env = "gnu", not(pathscope_other)))]
mod linux;
#[cfg(all(target_os = "linux", target_env = "gnu", not(pathscope_other)))]
use linux as imp;
#[cfg(not(all(target_os = "linux", target_env = "gnu", not(pathscope_other))))]
mod other;
#[cfg(not(all(target_os = "linux", target_env = "gnu", not(pathscope_other))))]
use other as imp;

/// For a process that serves many at once and lives long, or has very many flows: from now on every block of [`OWN_BLOCK_BYTES`] or more is memory
/// of its own. What of it was never touched costs nothing, and all of it goes back the moment it is freed.
///
/// Left to itself, glibc takes such blocks from a heap once the first of them was freed, clears them by writing (so that
/// a histogram or a buffer of which a few pages are used costs all of them), and keeps what is freed for as long as
/// anything lies above it: 600 clients at once left more than half of what they had taken. And it has up to eight such heaps a processor, each of
/// which keeps something: few are enough, since no measuring thread allocates while it moves bytes.
///
/// To be called before there are threads, as far as it is about their heaps. Where the system's allocator knows no such thing, nothing
/// changes.
pub fn keep_little() {
    imp::keep_little();
}

/// Blocks from this size on are memory of their own: what an engine receives into or a control connection reads into is
/// no less, and what is less fits between the pages that are used anyway.
pub const OWN_BLOCK_BYTES: usize = 32 << 10;

/// Gives back whole pages that nothing lies in any more. Costs some time for each that was ever used, and
/// holds up who allocates meanwhile: for the end of sessions, not for a measuring thread.
pub fn give_back() {
    imp::give_back();
}

/// Touches each page of a block whose first bytes are about to be used, so that the kernel finds memory for it now and
/// not while something is timed.
pub fn touch(bytes: &mut [u8]) {
    const PAGE: usize = 4_096;
    for byte in bytes.iter_mut().step_by(PAGE) {
        // A write that the compiler cannot leave out: what is only read need not have memory of its own.
        *byte = std::hint::black_box(*byte);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touching_changes_nothing() {
        let mut bytes: Vec<u8> = (0..10_000_u32).map(|index| index as u8).collect();
        let before = bytes.clone();
        touch(&mut bytes);
        touch(&mut []);
        assert_eq!(bytes, before);
    }
}
