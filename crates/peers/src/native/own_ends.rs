//! What the connections of this end came to, for an end that writes that down: gathered for a moment, then told in few
//! messages. Who wants to hear it says so in its greeting.

use pathscope_core::Tick;
use pathscope_core::id::FlowId;
use pathscope_flow::{Dialogue, GroupId, Totals};

use super::deadlines;
use super::line::Line;
use super::message::{FlowEnd, Message};
use crate::PeerError;

/// The most in one message: some 100 bytes each, so well within its bound.
const ENDS_MOST: usize = 512;

/// The ends of this end's connections.
#[derive(Debug)]
pub(super) struct OwnEnds {
    is_wanted: bool,
    unsaid: Vec<FlowEnd>,
    say_at: Option<Tick>,
}

impl OwnEnds {
    /// None yet.
    pub const fn new(is_wanted: bool) -> Self {
        Self { is_wanted, unsaid: Vec::new(), say_at: None }
    }

    /// A connection is over at this end.
    pub fn add(&mut self, end: FlowEnd, now: Tick) {
        if self.is_wanted {
            self.unsaid.push(end);
            self.say_at.get_or_insert(now.plus_nanos(deadlines::TOTALS.0));
        }
    }

    /// Whether a message is full.
    pub fn is_enough(&self) -> bool {
        self.unsaid.len() >= ENDS_MOST
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
        let unsaid = std::mem::take(&mut self.unsaid);
        unsaid.chunks(ENDS_MOST).try_for_each(|ends| line.say(&Message::Ended(ends.to_vec())))
    }
}

/// What a connection came to at this end.
pub(super) const fn end_of(
    (group, flow): (GroupId, FlowId),
    totals: Totals,
    failed: bool,
) -> FlowEnd {
    FlowEnd { group, flow, sent: totals.sent, received: totals.received, failed }
}
