//! A test of datagram goodput as one of the modes.

use pathscope_core::id::Role;
use pathscope_core::journal::LoadFacts;
use pathscope_core::quantity::{BitRate, Period, bytes, count, duration_ns};
use pathscope_flow::{Batches, Transport};

use super::limits::{DATAGRAM, DATAGRAM_FLOWS, datagram};
use super::{
    DatagramFlow, DatagramFlowFacts, DatagramShared, DatagramTally, DatagramsPlan, HEADER_BYTES,
    Offload,
};
use crate::arrivals::{Order, Seen};
use crate::conventions::Framing;
use crate::limits::{self, PlanError};
use crate::load::{self, Extent, FlowReceived, Pattern};
use crate::memory::{MemoryNeed, tallies};
use crate::mode::{Asks, DatagramSockets, Flows, Mode, Receives, ToldAs};
use crate::offered::{Load, Offered};
use crate::pattern::StreamImage;
use crate::placement::{Placement, Workers};

impl Mode for DatagramsPlan {
    fn validate(&self) -> Result<(), PlanError> {
        let most = DATAGRAM_FLOWS.end() / u64::from(self.pattern.flows(1));
        limits::in_range(
            "--connections",
            u64::from(self.connections),
            &(*DATAGRAM_FLOWS.start()..=most),
        )?;
        limits::in_range("--datagram", self.datagram_bytes, &DATAGRAM)?;
        let advice = "datagrams take no turns: choose push, pull, duplex or bidir";
        let takes_turns = self.pattern == Pattern::Pushpull;
        limits::not_both(["--protocol udp", "--pattern pushpull"], takes_turns, advice)?;
        self.extent.check(self.warm_up_ns)?;
        limits::in_range("--rate", self.rate_bps, &limits::RATE)?;
        self.sockets.validate_datagrams(None)?;
        self.sockets.validate(self.flows_in_all())?;
        limits::cpus("--cpu", &self.client_cpus)?;
        limits::cpus("--server-cpu", &self.server_cpus)?;
        limits::name("--engine", self.engine.as_deref())
    }

    fn fits(&self, framing: Framing) -> Result<(), PlanError> {
        limits::in_range("--datagram", self.datagram_bytes, &datagram(framing))
    }

    fn flows(&self) -> Flows {
        Flows::of(Transport::Datagram, self.flows_in_all())
    }

    fn duration_ns(&self) -> Option<Period> {
        match self.extent {
            Extent::DurationNs(duration) => Some(duration),
            Extent::TransferBytes(transfer) => Some(Period(self.rate_bps?.nanos_for(transfer.0))),
        }
    }

    fn subtitle(&self) -> String {
        let flows = self.pattern.counted(self.connections, "UDP flow");
        let extent = match self.extent {
            Extent::TransferBytes(transfer) => format!("{} each", bytes(transfer.0)),
            Extent::DurationNs(duration) => duration_ns(duration.0),
        };
        let rate = match self.rate_bps {
            Some(rate) if self.connections > 1 => format!("{rate} each"),
            Some(rate) => rate.to_string(),
            None => "as fast as they go".to_owned(),
        };
        let offload = if self.offload == Offload::Off { ", without offload" } else { "" };
        let fragments = if self.may_fragment { ", fragments allowed" } else { "" };
        format!(
            "{flows}, {}, datagrams of {} bytes, {rate}, {extent}{offload}{fragments}{}",
            self.pattern.name(),
            count(self.datagram_bytes.0),
            self.verify.words()
        )
    }

    fn server_memory(&self) -> MemoryNeed {
        let window = if self.pattern.sends(Role::Client) { self.window() } else { 0 };
        let image = StreamImage::<HEADER_BYTES>::memory_bytes(self.pattern.sends(Role::Server));
        // What is told of each is kept until all are over.
        let told = size_of::<DatagramFlowFacts>() + size_of::<FlowReceived>();
        let flow = DatagramFlow::BYTES + Order::BYTES + told;
        MemoryNeed {
            flow_bytes: flow as u64 + Seen::memory_bytes(window),
            // One distribution of what was due, and one of how delays vary.
            worker_bytes: (size_of::<DatagramShared>() + image) as u64
                + tallies(2, size_of::<DatagramTally>()),
        }
    }

    fn placement(&self, cpus: usize) -> Placement {
        // Each has a thread to itself.
        let few =
            if self.pattern.is_one_way() { u32::try_from(cpus).unwrap_or(u32::MAX) } else { 0 };
        Placement::of_load((self.flows_in_all(), few), Workers::EachProcessor)
    }

    fn asks(&self) -> Asks<'_> {
        Asks {
            wait: self.wait,
            engine: self.engine.as_deref(),
            cpus: [&self.client_cpus, &self.server_cpus],
            sockets: Some(&self.sockets),
            ..Asks::default()
        }
    }

    fn receives(&self) -> Receives {
        let longest = self.datagram_bytes.0 as usize;
        let batches = match self.offload {
            Offload::Auto => Batches::Joined { longest },
            Offload::Off => Batches::Several { longest },
        };
        Receives { batches, ..Receives::default() }
    }

    fn datagram_sockets(&self, role: Role) -> Option<DatagramSockets> {
        Some(DatagramSockets {
            keep_whole: self.pattern.sends(role) && !self.may_fragment,
            // Whoever sends: most paths take as much there as back. Where one does not, its sender's flow fails.
            longest_bytes: (role == Role::Client && !self.may_fragment)
                .then_some(self.datagram_bytes.0),
            room_bytes: self.pattern.sends(role.peer()).then(|| self.receive_buffer().0),
        })
    }

    fn load(&self) -> Option<LoadFacts> {
        Some(LoadFacts {
            is_udp: true,
            connections: self.connections,
            block_bytes: self.datagram_bytes.0,
            warm_up_ns: self.warm_up_ns.0,
            rate_bps: self.rate_bps.map(|rate| rate.0),
            ..load::facts(self.pattern, self.extent, &self.sockets)
        })
    }

    fn told_as(&self, _: Role) -> ToldAs {
        ToldAs::Datagrams
    }

    fn offered(&self) -> Option<Offered> {
        let rate = |rate: BitRate| rate.0 as f64 * f64::from(self.connections);
        let load = Load::Datagrams {
            flows: self.connections,
            rate_bps: self.rate_bps.map(rate),
            payload_bytes: self.datagram_bytes.0,
        };
        Some(Offered::by(load, self.is_up(), self.is_down()))
    }
}
