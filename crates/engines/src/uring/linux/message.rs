//! Headers of messages, for operations that need more than a place and a length: several slices, or what the kernel says beside the bytes.

use std::io::IoSlice;
use std::mem::{MaybeUninit, size_of};

/// Room for the kernel's stamps, aligned as it wants that.
#[derive(Debug)]
#[repr(C, align(8))]
struct Control([u8; 128]);

/// A header with what it points to. It must not be moved while the kernel has it, so it lives in a box.
pub struct Message {
    header: libc::msghdr,
    slices: Vec<libc::iovec>,
    control: Control,
}

impl Message {
    pub fn new() -> Box<Self> {
        // SAFETY: numbers and null pointers: all zero is a valid message header.
        let header = unsafe { MaybeUninit::zeroed().assume_init() };
        Box::new(Self { header, slices: Vec::new(), control: Control([0; 128]) })
    }

    /// For sending these slices, which have to stay where they are until that is done.
    pub fn sending(&mut self, slices: &[IoSlice<'_>]) -> *const libc::msghdr {
        self.slices.clear();
        self.slices.extend(slices.iter().map(|slice| libc::iovec {
            iov_base: slice.as_ptr().cast_mut().cast(),
            iov_len: slice.len(),
        }));
        self.point_to_slices();
        self.header.msg_control = std::ptr::null_mut();
        self.header.msg_controllen = 0;
        &raw const self.header
    }

    /// For receiving at most so many bytes to a room that the kernel takes, and what is said beside them.
    pub fn receiving(&mut self, most: usize) -> *mut libc::msghdr {
        self.slices.clear();
        self.slices.push(libc::iovec { iov_base: std::ptr::null_mut(), iov_len: most });
        self.point_to_slices();
        self.header.msg_control = (&raw mut self.control).cast();
        self.header.msg_controllen = size_of::<Control>() as _;
        &raw mut self.header
    }

    fn point_to_slices(&mut self) {
        self.header.msg_iov = self.slices.as_mut_ptr();
        self.header.msg_iovlen = self.slices.len() as _;
    }

    /// When the kernel got what was received, by the wall clock, where it says so.
    pub fn stamp(&self) -> Option<u64> {
        let written: usize = self.header.msg_controllen as _;
        stamp_in(&self.control.0[..written.min(size_of::<Control>())])
    }
}

/// A word as control messages have it.
fn word(bytes: &[u8]) -> Option<usize> {
    bytes.first_chunk().map(|bytes| usize::from_ne_bytes(*bytes))
}

fn number(bytes: &[u8]) -> Option<i32> {
    bytes.first_chunk().map(|bytes| i32::from_ne_bytes(*bytes))
}

/// The software stamp among control messages: each is a length, a level, a kind and what it holds, and the next begins at a whole word.
fn stamp_in(mut control: &[u8]) -> Option<u64> {
    const WORD: usize = size_of::<usize>();
    const HEADER: usize = size_of::<libc::cmsghdr>().next_multiple_of(WORD);
    loop {
        let len = word(control).filter(|&len| len >= HEADER)?;
        let kind = (number(control.get(WORD..)?)?, number(control.get(WORD + 4..)?)?);
        if kind == (libc::SOL_SOCKET, libc::SCM_TIMESTAMPING) {
            let seconds = word(control.get(HEADER..)?)? as u64;
            let rest = word(control.get(HEADER + WORD..)?)? as u64;
            let wall_ns = seconds.checked_mul(1_000_000_000)?.checked_add(rest)?;
            return (wall_ns > 0).then_some(wall_ns);
        }
        control = control.get(len.checked_next_multiple_of(WORD)?..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(level: i32, kind: i32, words: &[usize]) -> Vec<u8> {
        let len = size_of::<libc::cmsghdr>() + size_of_val(words);
        let mut said = len.to_ne_bytes().to_vec();
        said.extend(level.to_ne_bytes());
        said.extend(kind.to_ne_bytes());
        words.iter().for_each(|word| said.extend(word.to_ne_bytes()));
        said
    }

    #[test]
    fn a_stamp_is_found_behind_other_messages() {
        let other = said(libc::SOL_UDP, libc::UDP_GRO, &[1_400]);
        let stamp = said(libc::SOL_SOCKET, libc::SCM_TIMESTAMPING, &[3, 7, 0, 0, 0, 0]);
        let both = [other.clone(), stamp.clone()].concat();
        assert_eq!(stamp_in(&both), Some(3_000_000_007));
        assert_eq!(stamp_in(&other), None);
        for len in 0..stamp.len() - 4 * size_of::<usize>() {
            assert_eq!(stamp_in(&stamp[..len]), None, "{len}");
        }
        let none = said(libc::SOL_SOCKET, libc::SCM_TIMESTAMPING, &[0, 0, 0, 0, 0, 0]);
        assert_eq!(stamp_in(&none), None, "a card that does not stamp");
        assert_eq!(stamp_in(&[0; 64]), None, "a length of nothing");
    }
}
