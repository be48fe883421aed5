//! How a lab stands in a kernel: interfaces, addresses, routes and settings of network namespaces, by
//! the kernel's own interface for them.
//!
//! Each [`Kernel`] is a connection to one network namespace, and every error names that network, what
//! was to be done there and to which interface. Nothing here waits for anything but the kernel's answer.
//!
//! Not here: what a lab consists of, and moving frames between interfaces.

mod addresses;
mod error;
mod links;
mod netlink;
mod settings;
#[cfg(test)]
mod tests;

pub use addresses::Route;
pub use error::KernelError;
pub use links::{End, Link, Statistics};
pub use netlink::Kernel;
pub use settings::{Settings, apply};
