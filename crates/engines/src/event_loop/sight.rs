//! The sockets of a worker's flows as those see them who are told something by it.

use std::ops::ControlFlow;

use pathscope_core::id::FlowId;
use pathscope_flow::Machine;
use pathscope_os::Socket;

use super::places::Places;
use super::{EventLoop, Slot, SlotState};
use crate::SystemCalls;
use crate::inbox::Sockets;

/// All of them at one moment.
#[derive(Debug)]
pub(super) struct Sight<'a, M> {
    slots: &'a [Slot<M>],
    places: &'a Places,
}

impl<M: Machine, S: SystemCalls> EventLoop<M, S> {
    pub(super) fn sight(&self) -> Sight<'_, M> {
        Sight { slots: &self.slots, places: &self.places }
    }
}

impl<M: Machine> Sockets for Sight<'_, M> {
    fn of(&self, flow: FlowId) -> Option<&Socket> {
        let slot = self.slots.get(self.places.get(flow)?)?;
        slot.wires.first()?.socket.as_ref()
    }

    fn lost_bytes(&self, flow: FlowId) -> u64 {
        let slot = self.places.get(flow).and_then(|place| self.slots.get(place));
        slot.map_or(0, |slot| slot.wires.iter().map(|wire| u64::from(wire.lost_bytes)).sum())
    }

    fn each(&self, visit: &mut dyn FnMut(FlowId, &Socket) -> ControlFlow<()>) {
        let open = self.slots.iter().filter(|slot| slot.state != SlotState::Over);
        for slot in open {
            let socket = slot.wires.first().and_then(|wire| wire.socket.as_ref());
            let seen = socket.map(|socket| visit(slot.machine.id(), socket));
            if seen.is_some_and(|seen| seen.is_break()) {
                return;
            }
        }
    }
}
