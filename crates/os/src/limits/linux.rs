//! Linux: `RLIMIT_NOFILE`.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::OsError;

/// `None` means no limit, which the kernel does not grant for files.
pub fn raise_open_files() -> Result<u64, OsError> {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    if limit.current != limit.maximum {
        setrlimit(Resource::Nofile, raised)
            .map_err(OsError::call("raise the limit of open files"))?;
    }
    Ok(limit.maximum.unwrap_or(u64::MAX))
}

pub fn open_files() -> Option<u64> {
    getrlimit(Resource::Nofile).maximum
}
