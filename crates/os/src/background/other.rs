//! Any other system: a supervisor has to do it.

use std::fs::File;

use crate::OsError;

pub fn leave_terminal() -> Result<(), OsError> {
    Err(unsupported())
}

pub fn show_in(_: &File) -> Result<(), OsError> {
    Err(unsupported())
}

pub fn said_to() -> Result<File, OsError> {
    Err(unsupported())
}

pub fn to_starter() -> Result<File, OsError> {
    Err(unsupported())
}

fn unsupported() -> OsError {
    OsError::Unsupported {
        what: "running in the background",
        why: "pathscope does not know how on this system; start it under a supervisor",
    }
}
