//! The binary on loopback, as a user has it.

mod common;
mod measure;
mod show;
mod trouble;
