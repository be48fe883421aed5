//! What has come of a message that is not whole yet, of either version. Not what it says.

/// The bytes of one message, up to where the next would begin. Memory follows what came, not what a header claims.
#[derive(Debug, Default)]
pub(super) struct Unfinished(Vec<u8>);

impl Unfinished {
    /// Its first bytes, taken from the front of `bytes`, once they are there.
    pub fn header<const BYTES: usize>(&mut self, bytes: &mut &[u8]) -> Option<&[u8; BYTES]> {
        self.hold(bytes, BYTES);
        self.0.first_chunk()
    }

    /// The whole message of this length, taken from the front of `bytes`, once it is there. The buffer goes with it, so that one long message
    /// leaves nothing behind.
    pub fn whole(&mut self, bytes: &mut &[u8], length: usize) -> Option<Vec<u8>> {
        self.hold(bytes, length);
        (self.0.len() >= length).then(|| std::mem::take(&mut self.0))
    }

    /// Bytes held.
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Holds `wanted` bytes, or as many as there are.
    fn hold(&mut self, bytes: &mut &[u8], wanted: usize) {
        let missing = wanted.saturating_sub(self.0.len()).min(bytes.len());
        let (taken, rest) = bytes.split_at(missing);
        self.0.extend_from_slice(taken);
        *bytes = rest;
    }
}
