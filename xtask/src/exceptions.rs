//! What the rules of `tidy` forbid and is still there, each named: lists that only become shorter. What is not needed any
//! more is a fault as well.

/// Of circles of modules that stand side by side, the imports that are to go: who imports whom. Without these there is none.
pub const CIRCLES: &[(&str, &str)] = &[];

/// Files that name a mode or a view and are neither in its folder nor its registry: which file names which folder.
pub const NAMED: &[(&str, &str)] = &[("crates/modes/src/probes.rs", "latency")];
