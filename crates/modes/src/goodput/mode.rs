//! A goodput test as one of the modes.

use pathscope_core::id::{FlowId, Role};
use pathscope_core::quantity::{BitRate, Period, bytes, count, duration_ns};
use pathscope_flow::Transport;

use super::{BufferRange, GoodputPlan, Iterations};
use crate::limits::PlanError;
use crate::load::{Extent, Pattern};
use crate::memory::MemoryNeed;
use crate::mode::{Asks, Flows, Mode, Receives, ToldAs};
use crate::offered::{Load, Offered};
use crate::placement::{Placement, Workers};

/// Beyond this a kernel's pacing spreads nothing that its own batches do not gather again.
const PACED_MOST_BPS: u64 = 10_000_000_000;

/// The most that a load takes from the kernel at once. Half of a second-level cache of 512 KiB, so that what
/// was copied is still there, beside the table, when it is compared: of 64, 128, 256 and 512 KiB it took
/// the least processor time a gigabyte where it was tried (AMD EPYC, loopback; medians of 9: 367, 350, 328
/// and 344 ms).
const TAKEN_AT_ONCE: usize = 256 << 10;

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
        let connections = if self.connections == 1 { "connection" } else { "connections" };
        let until = self
            .shape
            .time_limit_ns
            .map_or_else(String::new, |limit| format!(", {} at most", duration_ns(limit.0)));
        let replaced = match self.connections_in_all() {
            _ if !self.replaces() => String::new(),
            Some(all) => format!(" at a time, {} in all", count(all)),
            None => " at a time, replaced for ever".to_owned(),
        };
        let extent = match (self.extent, self.shape.transfer_most_bytes) {
            (Extent::TransferBytes(low), Some(high)) => {
                format!("{} to {} each", bytes(low.0), bytes(high.0))
            }
            (Extent::TransferBytes(transfer), None) => format!("{} each", bytes(transfer.0)),
            (Extent::DurationNs(duration), _) => duration_ns(duration.0),
        };
        let rate = match (self.rate_bps, self.pace.rate_most_bps) {
            (Some(low), Some(high)) => format!(", at most {low} to {high} each"),
            (Some(rate), None) => format!(", at most {rate} each"),
            (None, _) => String::new(),
        };
        format!(
            "{} TCP {connections}{replaced}, {}, {extent}{until}{rate}{}",
            self.connections,
            self.pattern.name(),
            self.verify.words()
        )
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
        if self.takes_turns() {
            return None;
        }
        let rate_bps = self.rate_bps.map(|rate| rate.0 as f64);
        let load = Load::Streams { connections: self.connections, rate_bps };
        Some(Offered::by(load, self.is_up(), self.is_down()))
    }

    fn receives(&self) -> Receives {
        let BufferRange { low, high } = self.buffers();
        // What was asked for by a range is drawn from all of it.
        let at_once = if low == high { (low as usize).min(TAKEN_AT_ONCE) } else { high as usize };
        Receives { at_once_bytes: at_once, ..Receives::default() }
    }

    fn has_halves(&self) -> bool {
        self.pattern == Pattern::Duplex && !self.replaces()
    }

    fn sends_bytes(&self, role: Role) -> bool {
        self.pattern.sends(role)
    }

    fn told_as(&self, _: Role) -> ToldAs {
        ToldAs::Connections
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
        self.rate_of(flow)
            .filter(|rate| self.sends_bytes(role) && self.is_even() && rate.0 <= PACED_MOST_BPS)
    }
}
