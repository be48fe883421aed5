//! SipHash-2-4 with 128 bits of output: what only the holder of a key can compute. Not a fast hash for
//! tables, and no encryption.
//!
//! Source: Aumasson, Bernstein, "`SipHash`: a fast short-input PRF" (2012), and the authors' reference
//! code for the longer output. The standard library has only a deprecated form with 64 bits.

/// The keyed hash of `message`.
pub(super) fn keyed_hash(key: &[u8; 16], message: &[u8]) -> [u8; 16] {
    let mut state = State::new(key);
    let mut words = message.chunks_exact(8);
    for word in &mut words {
        state.absorb(little_endian(word));
    }
    state.absorb(little_endian(words.remainder()) | (message.len() as u64) << 56);
    state.finish()
}

struct State([u64; 4]);

impl State {
    fn new(key: &[u8; 16]) -> Self {
        let (low, high) = (little_endian(&key[..8]), little_endian(&key[8..]));
        Self([
            low ^ 0x736f_6d65_7073_6575,
            high ^ 0x646f_7261_6e64_6f6d ^ 0xee,
            low ^ 0x6c79_6765_6e65_7261,
            high ^ 0x7465_6462_7974_6573,
        ])
    }

    fn absorb(&mut self, word: u64) {
        self.0[3] ^= word;
        self.rounds(2);
        self.0[0] ^= word;
    }

    fn finish(mut self) -> [u8; 16] {
        self.0[2] ^= 0xee;
        self.rounds(4);
        let low = self.fold();
        self.0[1] ^= 0xdd;
        self.rounds(4);
        (u128::from(low) | u128::from(self.fold()) << 64).to_le_bytes()
    }

    fn fold(&self) -> u64 {
        self.0.iter().fold(0, |all, word| all ^ word)
    }

    fn rounds(&mut self, count: u32) {
        let [mut v0, mut v1, mut v2, mut v3] = self.0;
        for _ in 0..count {
            v0 = v0.wrapping_add(v1);
            v1 = v1.rotate_left(13) ^ v0;
            v0 = v0.rotate_left(32);
            v2 = v2.wrapping_add(v3);
            v3 = v3.rotate_left(16) ^ v2;
            v0 = v0.wrapping_add(v3);
            v3 = v3.rotate_left(21) ^ v0;
            v2 = v2.wrapping_add(v1);
            v1 = v1.rotate_left(17) ^ v2;
            v2 = v2.rotate_left(32);
        }
        self.0 = [v0, v1, v2, v3];
    }
}

/// At most 8 bytes as a number.
fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_authors_first_vector() {
        let key: [u8; 16] = std::array::from_fn(|index| index as u8);
        assert_eq!(
            keyed_hash(&key, &[]),
            [
                0xa3, 0x81, 0x7f, 0x04, 0xba, 0x25, 0xa8, 0xe6, 0x6d, 0xf6, 0x72, 0x14, 0xc7, 0x55,
                0x02, 0x93
            ]
        );
    }

    #[test]
    fn each_bit_of_key_and_message_counts() {
        let message = [7_u8; 23];
        let plain = keyed_hash(&[1; 16], &message);
        for bit in 0..8 * 16 {
            let mut key = [1; 16];
            key[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(keyed_hash(&key, &message), plain);
        }
        for bit in 0..8 * message.len() {
            let mut other = message;
            other[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(keyed_hash(&[1; 16], &other), plain);
        }
        assert_ne!(keyed_hash(&[1; 16], &message[..22]), plain);
    }
}
