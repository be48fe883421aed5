//! A goodput test as one of the modes.

use pathscope_core::id::{FlowId, Role};
use pathscope_core::journal::LoadFacts;
use pathscope_core::quantity::{BitRate, Period, bytes, count, duration_ns};
use pathscope_flow::Transport;

use super::limits::{CONNECTIONS, SEGMENT};
use super::shape::NUMBERS_MOST;
use super::{BufferRange, GoodputFlow, GoodputPlan, GoodputShared, Iterations, Shutdown};
use crate::limits::{self, PlanError};
use crate::load::{self, Extent, Pattern};
use crate::memory::MemoryNeed;
use crate::mode::{Asks, Flows, Mode, Receives, ToldAs};
use crate::offered::{Load, Offered};
use crate::placement::{FEW_FLOWS, Placement, Workers};

/// Beyond this a kernel's pacing spreads nothing that its own batches do not gather again.
const PACED_MOST_BPS: u64 = 10_000_000_000;

/// The most that a load takes from the kernel at once. Half of a second-level cache of 512 KiB, so that what
/// was copied is still there, beside the table, when it is compared: of 64, 128, 256 and 512 KiB it took
/// the least processor time a gigabyte where it was tried (AMD EPYC, loopback; medians of 9: 367, 350, 328
/// and 344 ms).
const TAKEN_AT_ONCE: usize = 256 << 10;

impl Mode for GoodputPlan {
    fn validate(&self) -> Result<(), PlanError> {
        let most = CONNECTIONS.end() / u64::from(self.pattern.flows(1));
        limits::in_range(
            "--connections",
            u64::from(self.connections),
            &(*CONNECTIONS.start()..=most),
        )?;
        let advice =
            "which way one goes that replaces another nobody says: choose --pattern push or pull";
        let is_replaced = self.pattern == Pattern::Bidir && self.replaces();
        limits::not_both(["--pattern bidir", "--iterations"], is_replaced, advice)?;
        self.extent.check(self.warm_up_ns)?;
        limits::in_range("--buffer", self.buffer_bytes, &limits::BUFFER)?;
        limits::in_range("--push-bytes", self.push_bytes, &SEGMENT)?;
        limits::in_range("--pull-bytes", self.pull_bytes, &SEGMENT)?;
        limits::in_range("--rate", self.rate_bps, &limits::RATE)?;
        self.shape.check(self.flows_at_once(), self.extent, self.buffer_bytes)?;
        self.sockets.validate(self.flows_at_once())?;
        self.pace.check(self.rate_bps)?;
        limits::cpus("--cpu", &self.client_cpus)?;
        limits::cpus("--server-cpu", &self.server_cpus)?;
        limits::name("--congestion", self.congestion_control.as_deref())?;
        limits::name("--engine", self.engine.as_deref())
    }

    /// As many numbers as there are, where it is not stated how many connections the whole run has.
    fn flows(&self) -> Flows {
        let most = u64::from(NUMBERS_MOST);
        let numbers = self.connections_in_all().map_or(NUMBERS_MOST, |all| all.min(most) as u32);
        Flows { numbers, ..Flows::of(Transport::Stream, self.flows_at_once()) }
    }

    fn duration_ns(&self) -> Option<Period> {
        match self.extent {
            Extent::DurationNs(duration) => Some(duration),
            Extent::TransferBytes(_) => self.shape.time_limit_ns,
        }
    }

    fn subtitle(&self) -> String {
        let connections = self.pattern.counted(self.connections, "TCP connection");
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
            "{connections}{replaced}, {}, {extent}{until}{rate}{}",
            self.pattern.name(),
            self.verify.words()
        )
    }

    /// Bytes that come are compared with a table that all flows have in common.
    fn server_memory(&self) -> MemoryNeed {
        /// Corruptions that are told one by one, and what both halves are as two.
        const BESIDES: usize = 8 << 10;
        MemoryNeed {
            flow_bytes: 2 * size_of::<GoodputFlow>() as u64,
            worker_bytes: (2 * size_of::<GoodputShared>() + BESIDES) as u64,
        }
    }

    fn placement(&self, _: usize) -> Placement {
        // A pause counts from the send before it, which must not have slept.
        let changes = self.replaces() || self.pace.burst.is_some();
        let few = if !changes && self.pattern.is_one_way() { FEW_FLOWS } else { 0 };
        Placement::of_load((self.flows_at_once(), few), Workers::EachNamedProcessor)
    }

    fn asks(&self) -> Asks<'_> {
        Asks {
            wait: self.wait,
            engine: self.engine.as_deref(),
            cpus: [&self.client_cpus, &self.server_cpus],
            sockets: Some(&self.sockets),
            congestion_control: self.congestion_control.as_deref(),
            fast_open: self.shape.fast_open,
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

    fn sends_on(&self, role: Role, flow: FlowId) -> bool {
        Self::sends_on(self, role, flow)
    }

    fn load(&self) -> Option<LoadFacts> {
        Some(LoadFacts {
            is_udp: false,
            connections: self.connections,
            block_bytes: self.buffer_bytes.0,
            warm_up_ns: self.warm_up_ns.0,
            rate_bps: self.rate_bps.map(|rate| rate.0),
            ..load::facts(self.pattern, self.extent, &self.sockets)
        })
    }

    fn told_as(&self, _: Role) -> ToldAs {
        ToldAs::Connections
    }

    fn spreads(&self) -> bool {
        true
    }

    fn keeps_ports(&self) -> bool {
        self.shape.shutdown != Shutdown::Rude
    }

    fn is_endless(&self) -> bool {
        self.shape.iterations == Iterations::Forever
    }

    fn connect_limit(&self) -> u32 {
        self.shape.connect_limit
    }

    fn even_rate(&self, role: Role, flow: FlowId) -> Option<BitRate> {
        // Not where the beginning of each period is to be a burst.
        let is_even = self.sends_on(role, flow) && self.pace.period_ns.is_none();
        self.rate_of(flow).filter(|rate| is_even && rate.0 <= PACED_MOST_BPS)
    }
}
