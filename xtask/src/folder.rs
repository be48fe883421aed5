//! Folders that tasks keep what they need in meanwhile: gone with who asked for one.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use anyhow::{Context as _, Result};
use tempfile::{Builder, TempDir};

/// An empty folder of its own, which other users can look into.
pub fn temporary() -> Result<TempDir> {
    let open = Permissions::from_mode(0o755);
    Builder::new().prefix("pathscope-").permissions(open).tempdir().context("make a folder")
}
