//! What is known of the paths of a test while it runs: what happened to them, and what their radios say. The thread that
//! keeps them is `connect/paths`.

pub(crate) mod log;
pub(crate) mod radio;
