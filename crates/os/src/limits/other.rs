//! Any other system: not known.

use crate::OsError;

pub fn raise_open_files() -> Result<u64, OsError> {
    Err(OsError::Unsupported { what: "raising the limit of open files", why: "only Linux so far" })
}

pub fn open_files() -> Option<u64> {
    None
}
