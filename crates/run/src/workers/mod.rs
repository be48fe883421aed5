//! The threads that run flows: how many, on which engine and processor, which flows each has, where
//! those come in that follow others, and what they leave.

pub(crate) mod entrances;
pub(crate) mod placement;
pub(crate) mod shares;
pub(crate) mod sharing;
pub(crate) mod worker;
