//! A multipath test as one of the modes.

use pathscope_core::Wait;
use pathscope_core::quantity::{Period, count};
use pathscope_flow::Transport;

use super::{MultipathPlan, SendOrder};
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
        let paths = match (self.paths.as_slice(), self.lanes) {
            ([], 1) => "the primary path alone".to_owned(),
            ([], _) => "every path".to_owned(),
            (named, _) => named.join(" and "),
        };
        let order = match self.order {
            SendOrder::PrimaryFirst => "primary first",
            SendOrder::Alternate => "each first in its turn",
        };
        format!(
            "UDP over {paths}, {} of {} datagrams in groups of {}, {order}, {}",
            self.rate_bps,
            self.datagram_bytes,
            count(self.grouping.into()),
            self.duration_ns
        )
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
