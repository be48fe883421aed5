//! What this machine is and allows: sockets, clocks, processors, limits, and facts about itself.
//!
//! A folder for each topic: types and documentation in `mod.rs`, the same functions in a file for each
//! system. `other.rs` answers [`OsError::Unsupported`]; it is built with `--cfg pathscope_other`, so
//! that it does not rot. Facts live here; choosing by them lives in `run`.
//!
//! Not here: moving a flow's bytes (`engines`).

pub mod address;
pub mod background;
pub mod batches;
pub mod clock;
pub mod counters;
pub mod cpus;
pub mod datagrams;
pub mod errno;
mod error;
pub mod fast_open;
#[cfg(any(test, feature = "faults"))]
pub mod faults;
pub mod flow_sockets;
pub mod host;
pub mod interrupts;
pub mod limits;
pub mod memory;
pub mod namespaces;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
mod netlink;
pub mod offloads;
pub mod outlets;
pub mod packets;
pub mod random;
pub mod readiness;
pub mod routes;
pub mod scheduling;
pub mod send_state;
pub mod signals;
mod socket;
pub mod sockets;
pub mod stamps;
pub mod tables;
pub mod tcp_facts;
pub mod terminal;
pub mod wake;
pub mod wireless;

pub use error::OsError;
pub use socket::Socket;
pub use wake::{Waker, Wakers};
