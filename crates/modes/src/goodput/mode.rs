//! A goodput test as one of the modes.

use pathscope_core::id::{FlowId, Role};
use pathscope_core::quantity::{BitRate, Period};
use pathscope_flow::Transport;

use super::{Extent, GoodputPlan, Iterations, Pattern, presentation};
use crate::limits::PlanError;
use crate::memory::MemoryNeed;
use crate::mode::{Asks, Flows, Mode};
use crate::offered::{Load, Offered};
use crate::placement::{Placement, Workers};

/// Beyond this a kernel's pacing spreads nothing that its own batches do not gather again.
const PACED_MOST_BPS: u64 = 10_000_000_000;

impl Mode for GoodputPlan {
    fn validate(&self) -> Result<(), PlanError> {
        self.check()
    }

    fn flows(&self) -> Flows {
        Flows { numbers: self.numbers(), ..Flows::of(Transport::Stream, self.connections) }
    }

    fn duration_ns(&self) -> Option<Period> {
        match self.extent {
            Extent::DurationNs(duration) => Some(duration),
            Extent::TransferBytes(_) => self.shape.time_limit_ns,
        }
    }

    fn subtitle(&self) -> String {
        presentation::subtitle(self)
    }

    fn server_memory(&self) -> MemoryNeed {
        Self::flow_memory()
    }

    fn placement(&self, cpus: usize) -> Placement {
        // A pause counts from the send before it, which must not have slept.
        let changes = self.replaces() || self.pace.burst.is_some();
        let is_one_way = !changes && self.pattern.is_one_way();
        Placement::of_load((self.connections, is_one_way), cpus, Workers::EachNamedProcessor)
    }

    fn asks(&self) -> Asks<'_> {
        Asks {
            wait: self.wait,
            engine: self.engine.as_deref(),
            cpus: [&self.client_cpus, &self.server_cpus],
            sockets: Some(&self.sockets),
            congestion_control: self.congestion_control.as_deref(),
        }
    }

    /// Nothing where that is not the same throughout, as where the two ends take turns.
    fn offered(&self) -> Option<Offered> {
        if self.pattern == Pattern::Pushpull {
            return None;
        }
        let rate_bps = self.rate_bps.map(|rate| rate.0 as f64);
        let load = Load::Streams { connections: self.connections, rate_bps };
        Some(Offered::by(load, self.is_up(), self.is_down()))
    }

    fn spreads(&self) -> bool {
        true
    }

    fn is_endless(&self) -> bool {
        self.shape.iterations == Iterations::Forever
    }

    fn connect_limit(&self) -> u32 {
        self.shape.connect_limit
    }

    fn even_rate(&self, role: Role, flow: FlowId) -> Option<BitRate> {
        let sends = if role == Role::Client { self.is_up() } else { self.is_down() };
        self.rate_of(flow).filter(|rate| sends && self.is_even() && rate.0 <= PACED_MOST_BPS)
    }
}
