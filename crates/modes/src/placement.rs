//! How flows are best run, as their mode says: which engine suits them, how to wait, how many workers. What a machine has
//! and allows, and what is made of it, is `run`'s.

use pathscope_core::Wait;

/// So many streams at the most are moved, or pings sent, by direct calls where nobody says how. With them the other end's sends
/// cost nothing while this one is awake; one that waits for any number of sockets is told of each segment (docs/method/engines.md).
pub(crate) const FEW_FLOWS: u32 = 8;
/// The share of a processor that may be spun away between sleeps, where nobody asked for that.
pub const SPUN_SHARE: f64 = 0.2;

/// What suits flows, each with the reason that is told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// Which kind of engine, unless one was named.
    pub engine: (EngineKind, &'static str),
    /// How to wait, unless that was said.
    pub wait: (Wait, &'static str),
    /// How many workers.
    pub workers: Workers,
    /// The share of a worker's time that it would spin for, where it spins before it sleeps, though it may not spin.
    pub spun_share: f64,
}

/// Which kind of engine suits flows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum EngineKind {
    /// One that tries each socket with direct calls, and sleeps in one where that is best: for few.
    Direct,
    /// One that waits for any number of sockets and a schedule at once.
    Polling,
}

/// How many workers carry the flows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Workers {
    /// One, whichever processor it is kept on.
    One,
    /// As many as there are processors, and no more than there are flows.
    EachProcessor,
    /// As many as processors were named, or else as there are.
    EachNamedProcessor,
}

impl Placement {
    /// A load: as many threads as there are processors, each asleep while it cannot move bytes. Flows that go one way from the
    /// first byte to the last are moved by direct calls, where they are no more than those for which that is better.
    pub(crate) fn of_load((flows, few): (u32, u32), workers: Workers) -> Self {
        let engine = if flows <= few {
            (EngineKind::Direct, "it does the least for few flows that go one way")
        } else {
            (EngineKind::Polling, "it carries any number of connections")
        };
        let wait = (Wait::Sleep, "a load has work to do whenever it is awake");
        Self { engine, wait, workers, spun_share: 0.0 }
    }
}
