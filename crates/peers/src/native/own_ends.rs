//! What the connections of this end came to: gathered for a moment, then told in few messages. Which of them the other
//! end wants to hear of, it says in its greeting: those that failed, or all, where it writes them down.

use pathscope_core::Tick;
use pathscope_core::id::FlowId;
use pathscope_core::record::FlowError;
use pathscope_flow::{Dialogue, GroupId, Totals};

use super::frame::SHORT_BODY_MOST;
use super::line::Line;
use super::message::{FlowEnd, Message, json};
use super::{EndsWanted, deadlines};
use crate::PeerError;

/// So many are told without waiting for more.
const ENDS_MOST: usize = 512;

/// The most of one message that ends may fill; the rest is what stands around them.
const BYTES_MOST: usize = SHORT_BODY_MOST - 256;

/// The most characters of why a connection failed.
const TEXT_MOST: usize = 500;

/// The ends of this end's connections.
#[derive(Debug)]
pub(super) struct OwnEnds {
    wanted: EndsWanted,
    unsaid: Vec<FlowEnd>,
    say_at: Option<Tick>,
}

impl OwnEnds {
    /// None yet.
    pub const fn new(wanted: EndsWanted) -> Self {
        Self { wanted, unsaid: Vec::new(), say_at: None }
    }

    /// A connection is over at this end.
    pub fn add(&mut self, end: FlowEnd, now: Tick) {
        let is_wanted = match self.wanted {
            EndsWanted::None => false,
            EndsWanted::Failures => end.failed,
            EndsWanted::All => true,
        };
        if is_wanted {
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
        let mut ends = Vec::new();
        let mut bytes = 0;
        for end in std::mem::take(&mut self.unsaid) {
            let length = json(&end).len() + 1;
            if bytes + length > BYTES_MOST {
                line.say(&Message::Ended(std::mem::take(&mut ends)))?;
                bytes = 0;
            }
            bytes += length;
            ends.push(end);
        }
        if ends.is_empty() { Ok(()) } else { line.say(&Message::Ended(ends)) }
    }
}

/// What a connection came to at this end.
pub(super) fn end_of(
    (group, flow): (GroupId, FlowId),
    totals: Totals,
    failure: Option<FlowError>,
) -> FlowEnd {
    let shortened = |failure: FlowError| FlowError {
        text: failure.text.chars().take(TEXT_MOST).collect(),
        ..failure
    };
    let Totals { sent, received } = totals;
    let failed = failure.is_some();
    FlowEnd { group, flow, sent, received, failed, failure: failure.map(shortened) }
}
