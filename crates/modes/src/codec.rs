//! The headers of our datagrams: words of 64 bits, little-endian, the first of which begins with four bytes that say what
//! the datagram is.
//!
//! Not here: what the words of each kind are, which stands with the mode that sends it.

/// Writes these words to the start of `bytes`, which must have room for them.
#[inline]
pub(crate) fn write<const WORDS: usize>(words: [u64; WORDS], bytes: &mut [u8]) {
    for (bytes, word) in bytes.as_chunks_mut().0[..WORDS].iter_mut().zip(words) {
        *bytes = word.to_le_bytes();
    }
}

/// Reads as many words from the start of `bytes`; `None` where there are fewer.
#[inline]
pub(crate) fn read<const WORDS: usize>(bytes: &[u8]) -> Option<[u64; WORDS]> {
    bytes.as_chunks().0.first_chunk().map(|words: &[[u8; 8]; WORDS]| words.map(u64::from_le_bytes))
}

/// A word of two numbers.
pub(crate) const fn word(low: u32, high: u32) -> u64 {
    (high as u64) << 32 | low as u64
}

/// The two numbers of a word: the low one and the high one.
pub(crate) const fn halves(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

/// A digest of words. Against damage, not against anybody: each step is reversible, so that a change of any one word
/// makes another digest.
#[inline]
pub(crate) fn digest(seed: u64, words: &[u64]) -> u64 {
    words.iter().fold(seed, |digest, word| {
        let mixed = (digest ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ mixed >> 32
    })
}
