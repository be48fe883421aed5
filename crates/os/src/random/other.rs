//! Any other system: none, rather than bytes that somebody can guess.

use crate::OsError;

pub fn fill(_: &mut [u8]) -> Result<(), OsError> {
    Err(OsError::Unsupported { what: "drawing random bytes", why: "only Linux so far" })
}
