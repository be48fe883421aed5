//! That the pure rooms are pure: they open no socket or file, read no clock, start no thread, print
//! nothing. Proved by what their sources name and by what their packages depend on; that they hold no
//! unsafe code is a rule of `tidy`.

mod calls;
mod dependencies;

use std::path::Path;

use anyhow::Result;

use crate::cargo;
use crate::tree::Tree;
use crate::violation::Violation;

/// All that is impure in the pure rooms.
pub fn violations(root: &Path) -> Result<Vec<Violation>> {
    let mut found = calls::violations(&Tree::read(root)?);
    found.extend(dependencies::violations(&cargo::metadata(root)?));
    found.sort();
    Ok(found)
}
