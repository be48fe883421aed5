//! Any other system: not known.

use crate::OsError;

pub fn raise_open_files() -> Result<u64, OsError> {
    Err(OsError::Unsupported { what: "raising the limit of open files", why: "only Linux so far" })
}

pub fn open_files() -> Option<u64> {
    None
}

pub fn local_ports() -> Option<(u16, u16)> {
    None
}

pub fn files_left() -> Option<u64> {
    None
}

pub fn memory_left() -> Option<u64> {
    None
}
