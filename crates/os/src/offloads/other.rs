//! Any other system: not known.

use super::Offload;
use crate::OsError;

const UNKNOWN: OsError =
    OsError::Unsupported { what: "reading or switching offloads", why: "only Linux so far" };

pub fn active(_interface: &str) -> Result<Vec<Offload>, OsError> {
    Err(UNKNOWN)
}

pub fn switch_off(_interface: &str) -> Result<Vec<Offload>, OsError> {
    Err(UNKNOWN)
}
