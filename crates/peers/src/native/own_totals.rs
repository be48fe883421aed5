//! What the flows of this end have sent when they send no more: gathered for a moment, then told in few
//! messages.

use pathscope_core::Tick;
use pathscope_core::id::FlowId;
use pathscope_flow::{Dialogue, Group, GroupId, Totals};

use super::deadlines;
use super::line::Line;
use super::message::{FlowTotal, Message, TOTALS_MOST};
use crate::PeerError;
use crate::flow_set::{Added, FlowSet};

/// The totals of this end's flows, each told once.
#[derive(Debug)]
pub(super) struct OwnTotals {
    /// Flows whose totals are told, or about to be.
    known: FlowSet,
    /// Whether the other end reads them in few bytes.
    are_packed: bool,
    unsaid: Vec<FlowTotal>,
    say_at: Option<Tick>,
}

impl OwnTotals {
    /// None is known yet.
    pub fn new(groups: &[Group], are_packed: bool) -> Self {
        Self { known: FlowSet::new(groups), are_packed, unsaid: Vec::new(), say_at: None }
    }

    /// A flow sends no more. Later phases of it say nothing new.
    pub fn add(&mut self, groups: &[Group], total: FlowTotal, now: Tick) {
        if self.known.add(groups, total.group, total.flow) == Added::New {
            self.unsaid.push(total);
            self.say_at.get_or_insert(now.plus_nanos(deadlines::TOTALS.0));
        }
    }

    /// Whether there is nothing to wait for: all flows are known, or a message is full.
    pub fn is_enough(&self) -> bool {
        self.known.is_full() || self.unsaid.len() >= TOTALS_MOST
    }

    /// When what has gathered is to be told.
    pub const fn say_at(&self) -> Option<Tick> {
        self.say_at
    }

    /// Tells what has gathered.
    pub fn say<D>(&mut self, line: &mut Line<D>) -> Result<(), PeerError>
    where
        D: Dialogue<Error = PeerError>,
    {
        self.say_at = None;
        let flows = std::mem::take(&mut self.unsaid);
        match (flows.is_empty(), self.are_packed) {
            (true, _) => Ok(()),
            (false, true) => line.say(&Message::PackedTotals(flows)),
            (false, false) => line.say(&Message::Totals(flows)),
        }
    }
}

/// What a flow has sent when it sends no more.
pub(super) const fn total_of(group: GroupId, flow: FlowId, totals: Totals) -> FlowTotal {
    FlowTotal { group, flow, total: totals.sent }
}
