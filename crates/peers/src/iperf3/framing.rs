//! How the control connection is cut up: bytes that are said alone, and documents behind their length. Nothing is kept for a document
//! that may not be as long as it says. Not here: what is in them.

use thiserror::Error;

/// Bytes of a document's length, big-endian.
const LENGTH: usize = 4;

/// The most bytes of parameters, as servers take them since 3.18.
pub(super) const PARAMETERS_MOST: usize = 8 << 10;
/// The most bytes of results: nobody states a limit, and 256 streams need a tenth.
pub(super) const RESULTS_MOST: usize = 1 << 20;

/// What has come on the control connection and was not taken yet.
#[derive(Debug, Default)]
pub(super) struct Incoming {
    bytes: Vec<u8>,
}

/// A document that says it is so long, and may not be.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[error("a document says that it is {0} bytes long, and may not be")]
pub(super) struct WrongLength(pub u32);

impl Incoming {
    /// More has come.
    pub fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// What waits.
    pub const fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether what waits begins with this.
    pub fn begins_with(&self, byte: u8) -> bool {
        self.bytes.first() == Some(&byte)
    }

    /// The next byte, where one is there.
    pub fn state(&mut self) -> Option<u8> {
        let first = *self.bytes.first()?;
        self.bytes.drain(..1);
        Some(first)
    }

    /// The next so many bytes, as far as they are there: for what may be cut short.
    pub fn up_to(&mut self, most: usize) -> Vec<u8> {
        let taken = self.bytes.len().min(most);
        self.bytes.drain(..taken).collect()
    }

    /// The next document, once it is whole.
    pub fn document(&mut self, most: usize) -> Result<Option<Vec<u8>>, WrongLength> {
        let Some(&length) = self.bytes.first_chunk::<LENGTH>() else { return Ok(None) };
        let length = u32::from_be_bytes(length);
        let bytes = usize::try_from(length).unwrap_or(usize::MAX);
        if bytes == 0 || bytes > most {
            return Err(WrongLength(length));
        }
        if self.bytes.len() < LENGTH + bytes {
            return Ok(None);
        }
        let document = self.bytes.drain(..LENGTH + bytes).skip(LENGTH).collect();
        Ok(Some(document))
    }
}

/// A document with its length.
pub(super) fn document(text: &[u8]) -> Vec<u8> {
    // What is said here is bounded by the streams of a test, far below four gigabytes.
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    [&length.to_be_bytes(), text].concat()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_framed_comes_back_in_whatever_pieces_and_what_follows_stays(
            text in prop::collection::vec(any::<u8>(), 1..300), cut in 1_usize..9, state in any::<u8>(),
        ) {
            let mut incoming = Incoming::default();
            let said = [document(&text), vec![state]].concat();
            let mut came = None;
            for piece in said.chunks(cut) {
                incoming.add(piece);
                if came.is_none() {
                    came = incoming.document(300).expect("it may be so long");
                }
            }
            prop_assert_eq!(came, Some(text));
            prop_assert_eq!((incoming.state(), incoming.state()), (Some(state), None));
        }
    }

    #[test]
    fn a_length_that_may_not_be_is_told_before_anything_else_has_come() {
        for (length, most) in [(0, 9), (10, 9), (u32::MAX, RESULTS_MOST), (8_193, PARAMETERS_MOST)]
        {
            let mut incoming = Incoming::default();
            incoming.add(&length.to_be_bytes());
            assert_eq!(incoming.document(most), Err(WrongLength(length)));
        }
    }

    #[test]
    fn what_may_be_cut_short_is_taken_as_far_as_it_is_there() {
        let mut incoming = Incoming::default();
        incoming.add(&[1, 2, 3]);
        assert_eq!((incoming.up_to(2), incoming.up_to(8)), (vec![1, 2], vec![3]));
        assert_eq!((incoming.up_to(8), incoming.len()), (Vec::new(), 0));
    }
}
