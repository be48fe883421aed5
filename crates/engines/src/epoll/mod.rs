//! The epoll engine: the kernel says which sockets are ready. For any number of flows on one thread.
//!
//! Level-triggered and lean. A flow is tried first and waited for only when its socket has said that it
//! is not ready; what is registered for a socket is added to when a wait needs more, and cut down only
//! when the kernel reports what nobody waits for. So a ping-pong costs three calls a turn, and a
//! registration changes a few times in a flow's life (measured: 14 to 17 % over changing it every turn).

#[cfg(all(target_os = "linux", not(pathscope_other)))]
mod linux;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
use linux as imp;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
mod patient;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
mod polling;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
mod shared;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
pub use shared::{Part, SharedThread};
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
mod other;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
use other as imp;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
pub use other::{Part, SharedThread};

use pathscope_flow::Machine;

use crate::{EngineError, Finished, SystemCalls, Worker};

/// As it is typed.
pub const NAME: &str = "epoll";

/// Runs a worker's flows on the calling thread until all are over.
pub fn run<M: Machine, S: SystemCalls>(
    worker: Worker<M>,
    calls: S,
) -> Result<Finished<M>, EngineError> {
    imp::run(worker, calls)
}
