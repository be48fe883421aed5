//! The threads that run flows: how many, on which engine and processor, which flows each has, and what they leave.

pub(crate) mod placement;
pub(crate) mod shares;
mod sharing;
pub(crate) mod worker;
