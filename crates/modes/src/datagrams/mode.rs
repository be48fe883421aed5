//! A test of datagram goodput as one of the modes.

use pathscope_core::id::Role;
use pathscope_core::quantity::{BitRate, Period};
use pathscope_flow::{Batches, Transport};

use super::{DatagramsPlan, Offload, presentation};
use crate::limits::PlanError;
use crate::load::Extent;
use crate::memory::MemoryNeed;
use crate::mode::{Asks, DatagramSockets, Flows, Mode, Receives};
use crate::offered::{Load, Offered};
use crate::placement::{Placement, Workers};

impl Mode for DatagramsPlan {
    fn validate(&self) -> Result<(), PlanError> {
        self.check()
    }

    fn flows(&self) -> Flows {
        Flows::of(Transport::Datagram, self.connections)
    }

    fn duration_ns(&self) -> Option<Period> {
        match (self.extent, self.rate_bps) {
            (Extent::DurationNs(duration), _) => Some(duration),
            (Extent::TransferBytes(transfer), Some(rate)) => {
                Some(Period(rate.nanos_for(transfer.0)))
            }
            (Extent::TransferBytes(_), None) => None,
        }
    }

    fn subtitle(&self) -> String {
        presentation::subtitle(self)
    }

    fn server_memory(&self) -> MemoryNeed {
        self.flow_memory()
    }

    fn placement(&self, cpus: usize) -> Placement {
        let flows = (self.connections, self.pattern.is_one_way());
        Placement::of_load(flows, cpus, Workers::EachProcessor)
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
            keep_whole: self.sends(role),
            // Whoever sends: most paths take as much there as back. Where one does not, its sender's flow fails.
            longest_bytes: (role == Role::Client).then_some(self.datagram_bytes.0),
            room_bytes: self.sends(role.peer()).then(|| self.receive_buffer().0),
        })
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
