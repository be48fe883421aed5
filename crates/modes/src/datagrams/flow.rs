//! A datagram flow at one end, of the halves that it has there, and what became of it.

use pathscope_core::id::{FlowId, Role};
use pathscope_flow::Machine;

use super::receive::Receiver;
use super::send::Sender;
use super::{DatagramFlowFacts, DatagramsPlan};
use crate::pattern::SessionKey;
use crate::streams::{Identity, StreamFlow};

/// First four bytes of every datagram.
const MAGIC: [u8; 4] = *b"PSDG";
/// Numbers remembered of all flows together: of one flow at a million a second, more than half a second.
const WINDOW: usize = 1 << 19;
/// Of each flow at least so many.
const LEAST_WINDOW: usize = 1 << 12;

/// One end of one datagram flow.
pub type DatagramFlow = StreamFlow<Sender, Receiver>;

impl DatagramsPlan {
    /// Numbers that each flow remembers.
    pub(super) fn window(&self) -> usize {
        (WINDOW / self.connections.max(1) as usize).max(LEAST_WINDOW)
    }
}

impl DatagramFlow {
    /// Flow number `flow` of `plan` as `role` has it.
    pub fn new(plan: &DatagramsPlan, role: Role, session: SessionKey, flow: FlowId) -> Self {
        let names = |sender: Role| {
            let from_client = sender == Role::Client;
            let identity = Identity::new(MAGIC, session.token, flow.0, from_client);
            plan.pattern.sends(sender).then(|| (session.stream(flow.0, from_client), identity))
        };
        let sender = names(role).map(Sender::new);
        let receiver = names(role.peer()).map(|names| Receiver::new(names, plan.window()));
        Self::of((role, session, flow), sender, receiver)
    }

    /// What became of this flow.
    pub fn facts(&self) -> DatagramFlowFacts {
        let totals = self.totals();
        DatagramFlowFacts {
            flow: self.id(),
            sent: totals.sent,
            expected: self.receiver.as_ref().map_or(Some(0), |half| half.total),
            received: totals.received,
            lost: self.receiver.as_ref().map_or(0, |half| half.lost),
            received_bps: None,
            error: self.error(),
        }
    }
}
