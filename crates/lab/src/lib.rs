//! Networks of known truth, built in namespaces: what one looks like, what its links do to packets,
//! and how it stands in a kernel.
//!
//! Not here: measuring. The lab starts any program on its nodes, pathscope among them, as a process.

#![forbid(unsafe_code)]

pub mod capture;
pub mod description;
pub mod findings;
pub mod harness;
pub mod keeper;
pub mod kernel;
pub mod link;
pub mod picture;
pub mod relay;
pub mod running;
pub mod tc;
pub mod topology;
