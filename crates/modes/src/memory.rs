//! What a server needs to remember while it runs its end of a plan, said before anything of it is allocated: no less than
//! that comes to, and not many times as much.
//!
//! And how what is remembered is shared where flows are very many.
//!
//! Not here: what sockets, threads and messages take, which `run` knows; and what a client needs.

use pathscope_core::stats::LatencyHistogram;

/// Tallies of a worker that exist at once: the one that is filled, one on its way to the session, and the sum of all.
const TALLIES: u64 = 3;
/// What a distribution takes beside what is known of its counters.
const BESIDES: u64 = 1 << 10;

/// So many flows each remember all that a mode would have each remember; more share what these have together.
const FEW: u64 = 10_000;

/// Bytes that a server needs for one group of flows.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct MemoryNeed {
    /// For each flow.
    pub flow_bytes: u64,
    /// For each worker, whatever the number of its flows.
    pub worker_bytes: u64,
}

impl MemoryNeed {
    /// Of so many flows, shared out to so many workers.
    pub fn of(self, flows: u64, workers: u64) -> u64 {
        let flows = self.flow_bytes.saturating_mul(flows);
        flows.saturating_add(self.worker_bytes.saturating_mul(workers))
    }
}

/// Tallies of a worker with so many distributions, and counters of so many bytes.
pub(crate) fn tallies(distributions: u64, counters: usize) -> u64 {
    let distributions = distributions * (LatencyHistogram::BYTES as u64 + BESIDES);
    TALLIES * (distributions + counters as u64)
}

/// What each of so many flows remembers, where each of few remembers `of_few`.
pub(crate) fn share_of_each(of_few: u64, flows: u64) -> u64 {
    of_few.min((of_few * FEW).div_ceil(flows.max(1)))
}
