//! What the streams of a load are made of, as a value that all flows of a worker share: our own pattern, a block that other
//! programs send over and over, or what nobody says. Not here: what is said of wrong bytes (`examine`).

use pathscope_flow::Gather;

use super::table::{StreamKey, first_difference};

/// What streams are made of.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Payload {
    /// Another sequence for each direction of each flow, by its key.
    #[default]
    Keyed,
    /// The same in all of them, whichever flow a connection is.
    Block(Block),
    /// What an end likes. This one sends as it always does, and has nothing to compare with what it receives.
    Opaque,
}

/// Some bytes, over and over.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Block(&'static [u8]);

impl Block {
    /// These bytes.
    pub const fn new<const LENGTH: usize>(bytes: &'static [u8; LENGTH]) -> Self {
        const { assert!(LENGTH > 0, "no stream can be made of nothing") }
        Self(bytes)
    }

    /// The block from where it stands at `position` on, to its end.
    fn rest(self, position: u64) -> &'static [u8] {
        &self.0[(position % self.0.len() as u64) as usize..]
    }

    /// Gathers it from `position` on, up to `limit` bytes or as much as fits.
    pub(crate) fn gather(self, mut position: u64, mut limit: usize, gather: &mut Gather<'_>) {
        while limit > 0 {
            let rest = self.rest(position);
            let taken = gather.lend(&rest[..rest.len().min(limit)]);
            if taken == 0 {
                return;
            }
            position += taken as u64;
            limit -= taken;
        }
    }

    fn copy_to(self, mut position: u64, mut bytes: &mut [u8]) {
        while !bytes.is_empty() {
            let rest = self.rest(position);
            let (now, later) = bytes.split_at_mut(rest.len().min(bytes.len()));
            now.copy_from_slice(&rest[..now.len()]);
            position += now.len() as u64;
            bytes = later;
        }
    }

    /// Of bytes that stand at `position`: the index of the first wrong one, or `None`.
    pub(crate) fn first_wrong(self, position: u64, bytes: &[u8]) -> Option<usize> {
        let mut done = 0;
        while done < bytes.len() {
            let expected = self.rest(position + done as u64);
            let len = expected.len().min(bytes.len() - done);
            if let Some(index) = first_difference(&expected[..len], &bytes[done..done + len]) {
                return Some(done + index);
            }
            done += len;
        }
        None
    }
}

impl Payload {
    /// Gathers the stream of this key from `position` on, up to `limit` bytes or as much as fits.
    #[inline]
    pub fn gather(self, key: StreamKey, position: u64, limit: usize, gather: &mut Gather<'_>) {
        match self {
            Self::Keyed | Self::Opaque => key.gather(position, limit, gather),
            Self::Block(block) => block.gather(position, limit, gather),
        }
    }

    /// Writes the stream of this key from `position` on.
    #[inline]
    pub fn copy_to(self, key: StreamKey, position: u64, bytes: &mut [u8]) {
        match self {
            Self::Keyed | Self::Opaque => key.copy_to(position, bytes),
            Self::Block(block) => block.copy_to(position, bytes),
        }
    }

    /// Compares `bytes`, received at `position`, with what they must be: the index of the first wrong one, or `None`, also where nobody knows.
    #[inline]
    pub fn first_wrong(self, key: StreamKey, position: u64, bytes: &[u8]) -> Option<usize> {
        match self {
            Self::Keyed => key.first_wrong(position, bytes),
            Self::Block(block) => block.first_wrong(position, bytes),
            Self::Opaque => None,
        }
    }

    /// The same, of one byte in sixteen alone where that saves time.
    #[inline]
    pub fn first_wrong_sampled(self, key: StreamKey, position: u64, bytes: &[u8]) -> Option<usize> {
        match self {
            Self::Keyed => key.first_wrong_sampled(position, bytes),
            Self::Block(block) => block.first_wrong(position, bytes),
            Self::Opaque => None,
        }
    }

    /// The byte at `position`.
    pub(super) fn byte(self, key: StreamKey, position: u64) -> u8 {
        match self {
            Self::Keyed | Self::Opaque => key.byte(position),
            Self::Block(block) => block.rest(position).first().copied().unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    static BYTES: [u8; 7] = *b"a block";

    fn block() -> Payload {
        Payload::Block(Block::new(&BYTES))
    }

    fn sent(position: u64, len: usize) -> Vec<u8> {
        let mut gather = Gather::new(&mut [], len);
        block().gather(StreamKey::new(1, 2, true), position, len, &mut gather);
        gather.slices().iter().flat_map(|slice| slice.to_vec()).collect()
    }

    #[test]
    fn a_block_comes_over_and_over() {
        assert_eq!(sent(5, 17), b"cka blocka blocka");
    }

    #[test]
    fn what_is_made_of_nobody_knows_what_is_never_wrong_and_is_sent_as_ever() {
        let key = StreamKey::new(1, 2, true);
        let mut bytes = [[0; 4_096]; 2];
        Payload::Keyed.copy_to(key, 5, &mut bytes[0]);
        Payload::Opaque.copy_to(key, 5, &mut bytes[1]);
        assert_eq!(bytes[0], bytes[1]);
        assert_eq!(Payload::Opaque.byte(key, 9), bytes[0][4]);
        assert!(Payload::Keyed.first_wrong(key, 6, &bytes[0]).is_some());
        assert_eq!(Payload::Opaque.first_wrong(key, 6, &bytes[0]), None);
        assert_eq!(Payload::Opaque.first_wrong_sampled(key, 6, &bytes[0]), None);
    }

    proptest! {
        #[test]
        fn what_is_sent_is_expected_of_any_flow_and_a_wrong_byte_is_found(
            position in 0_u64..1 << 40, len in 1_usize..1_000, at in 0.0_f64..1.0, flip in 1_u8..,
        ) {
            let key = StreamKey::new(3, 4, false);
            let mut bytes = sent(position, len);
            prop_assert_eq!(bytes.len(), len);
            prop_assert_eq!(block().first_wrong(key, position, &bytes), None);
            let index = (at * (len - 1) as f64) as usize;
            prop_assert_eq!(bytes[index], block().byte(key, position + index as u64));
            bytes[index] ^= flip;
            prop_assert_eq!(block().first_wrong(key, position, &bytes), Some(index));
            prop_assert_eq!(block().first_wrong_sampled(key, position, &bytes), Some(index));
        }
    }
}
