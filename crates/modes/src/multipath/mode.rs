//! A multipath test as one of the modes.

use pathscope_core::Wait;
use pathscope_core::quantity::Period;
use pathscope_flow::Transport;

use super::{MultipathPlan, presentation};
use crate::limits::PlanError;
use crate::memory::MemoryNeed;
use crate::mode::{Flows, Mode};
use crate::placement::{EngineKind, Placement, Workers};

impl Mode for MultipathPlan {
    fn validate(&self) -> Result<(), PlanError> {
        self.check()
    }

    fn flows(&self) -> Flows {
        Flows { lanes: self.lanes, roams: true, ..Flows::of(Transport::Datagram, 1) }
    }

    fn duration_ns(&self) -> Option<Period> {
        Some(self.duration_ns)
    }

    fn subtitle(&self) -> String {
        presentation::subtitle(self)
    }

    fn server_memory(&self) -> MemoryNeed {
        self.echo_memory()
    }

    /// One thread that sleeps until it is time or something comes, on any of several sockets.
    fn placement(&self, _cpus: usize) -> Placement {
        Placement {
            engine: (EngineKind::Polling, "it waits for several sockets and a schedule at once"),
            wait: (Wait::Sleep, "it takes little of a processor for hours"),
            workers: Workers::One,
            spun_share: 0.0,
        }
    }

    fn path_names(&self) -> &[String] {
        &self.paths
    }

    fn is_of_times(&self) -> bool {
        true
    }
}
