//! Any other system: there are none.

use std::convert::Infallible;
use std::path::Path;

use super::Identity;
use crate::OsError;

const NONE: OsError =
    OsError::Unsupported { what: "having a namespace", why: "only Linux has them" };

#[derive(Debug)]
pub struct Network(Infallible);

impl Network {
    pub fn create() -> Result<Self, OsError> {
        Err(NONE)
    }

    pub fn current() -> Result<Self, OsError> {
        Err(NONE)
    }

    pub fn held_by(_process: u32, _descriptor: i32) -> Result<Self, OsError> {
        Err(NONE)
    }

    pub fn identity(&self) -> Result<Identity, OsError> {
        match self.0 {}
    }

    pub fn enter(&self) -> Result<(), OsError> {
        match self.0 {}
    }
}

pub fn become_root() -> Result<(), OsError> {
    Err(NONE)
}

pub fn enter_user_namespace(_process: u32) -> Result<bool, OsError> {
    Err(NONE)
}

pub fn rename_host(_name: &str) -> Result<(), OsError> {
    Err(NONE)
}

pub fn separate_mounts() -> Result<(), OsError> {
    Err(NONE)
}

pub fn cover_file(_shown: &Path, _path: &Path) -> Result<(), OsError> {
    Err(NONE)
}

pub fn mount_sysfs() -> Result<(), OsError> {
    Err(NONE)
}
