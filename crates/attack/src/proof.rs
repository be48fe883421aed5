//! What a socket of version 2 shows to prove that it is of its session (docs/protocol.md, "Whose a socket is"):
//! SipHash-2-4 with 128 bits of output (Aumasson and Bernstein), of which the first half is the proof.

/// A session's token, or its name.
pub type Token = [u8; 16];

/// What is hashed before all else.
const LABEL: &[u8; 16] = b"pathscope:socket";

/// The proof for what stands before it, by who knows the name of the session.
pub fn proof(name: Token, before: &[u8]) -> [u8; 8] {
    let mut message = LABEL.to_vec();
    message.extend(before);
    first_half(name, &message).to_le_bytes()
}

/// The four words that are mixed.
struct Words([u64; 4]);

impl Words {
    fn rounds(&mut self, count: u32) {
        let [a, b, c, d] = &mut self.0;
        for _ in 0..count {
            *a = a.wrapping_add(*b);
            *b = b.rotate_left(13) ^ *a;
            *a = a.rotate_left(32);
            *c = c.wrapping_add(*d);
            *d = d.rotate_left(16) ^ *c;
            *a = a.wrapping_add(*d);
            *d = d.rotate_left(21) ^ *a;
            *c = c.wrapping_add(*b);
            *b = b.rotate_left(17) ^ *c;
            *c = c.rotate_left(32);
        }
    }

    fn take(&mut self, word: u64) {
        self.0[3] ^= word;
        self.rounds(2);
        self.0[0] ^= word;
    }
}

fn first_half(key: Token, message: &[u8]) -> u64 {
    let word =
        |bytes: &[u8]| bytes.iter().rev().fold(0_u64, |word, byte| (word << 8) | u64::from(*byte));
    let (low, high) = (word(&key[..8]), word(&key[8..]));
    let mut words = Words([
        low ^ 0x736f_6d65_7073_6575,
        high ^ 0x646f_7261_6e64_6f6d ^ 0xee,
        low ^ 0x6c79_6765_6e65_7261,
        high ^ 0x7465_6462_7974_6573,
    ]);
    let whole = message.len() / 8 * 8;
    for chunk in message[..whole].chunks(8) {
        words.take(word(chunk));
    }
    words.take(word(&message[whole..]) | (message.len() as u64) << 56);
    words.0[2] ^= 0xee;
    words.rounds(4);
    words.0.iter().fold(0, |all, word| all ^ word)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first vector of the authors' test program: the key counts from 0, and nothing is hashed.
    #[test]
    fn the_hash_is_that_of_its_authors() {
        let key: Token = std::array::from_fn(|index| index as u8);
        assert_eq!(
            first_half(key, &[]).to_le_bytes(),
            [0xa3, 0x81, 0x7f, 0x04, 0xba, 0x25, 0xa8, 0xe6]
        );
    }
}
