//! The threads that run flows: how many, on which engine and processor, which flows each has, and what a mode's flows are
//! started with.

pub(crate) mod dispatch;
pub(crate) mod placement;
pub(crate) mod shares;
pub(crate) mod worker;
