//! Words of a connection for words, as bytes bring them: each a number of four, most significant first. What a word means is told by its
//! place, which the dialogues know.

/// What is said.
pub(super) const QUERY: i32 = 88;
pub(super) const START: i32 = 82;
pub(super) const LAST: i32 = 76;
pub(super) const END: i32 = 69;
/// What is answered.
pub(super) const IDLE: i32 = 11;
pub(super) const BUSY: i32 = 12;
pub(super) const FINISHED: i32 = 13;
pub(super) const WAIT: i32 = 87;

/// What has come of a word that is not whole.
#[derive(Debug, Default)]
pub(super) struct Hearing {
    bytes: [u8; 4],
    come: usize,
}

impl Hearing {
    /// The word that this byte is the last of.
    pub(super) fn word(&mut self, byte: u8) -> Option<i32> {
        self.bytes[self.come] = byte;
        self.come = (self.come + 1) % self.bytes.len();
        (self.come == 0).then(|| i32::from_be_bytes(self.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole_however_their_bytes_come() {
        let mut hearing = Hearing::default();
        let bytes = [0, 0, 0, 78, 255, 255, 255, 255, 0, 0, 1];
        let words: Vec<i32> = bytes.into_iter().filter_map(|byte| hearing.word(byte)).collect();
        assert_eq!(words, [78, -1]);
        assert_eq!(hearing.word(2), Some(258));
    }
}
