//! What pings and echoes consist of. Over TCP a ping is the next bytes of the client's stream, or of one that says the pings'
//! numbers (`numbered`); over UDP a header and then those of a keyed stream. An echo is its ping, cut where it is to be shorter; where it is to be longer, the server
//! goes on with bytes of its own stream.

use pathscope_core::id::FlowId;
use pathscope_flow::Gather;

use super::LatencyPlan;
use crate::conventions::Pings;
use crate::echoed::Tag;
use crate::pattern::{SessionKey, StreamKey};

/// The content of one flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Content {
    pub tag: Tag,
    pings: StreamKey,
    /// What those over streams consist of.
    pub over_streams: Pings,
    added: StreamKey,
    /// How long pings and echoes are.
    pub ping: usize,
    pub echo: usize,
    /// Of a datagram: before the filler.
    pub header: usize,
}

impl Content {
    pub fn of(plan: &LatencyPlan, session: SessionKey, flow: FlowId) -> Self {
        Self {
            tag: Tag::of(session, flow, plan.connections),
            pings: session.stream(flow.0, true),
            over_streams: Pings::default(),
            added: session.stream(flow.0, false),
            ping: plan.size_bytes.0 as usize,
            echo: plan.reply_bytes().0 as usize,
            header: plan.header_bytes(),
        }
    }

    /// Bytes that an echo takes over from its ping.
    pub fn common(&self) -> usize {
        self.ping.min(self.echo)
    }

    /// The stream of pings from `position` on.
    pub fn gather_pings(&self, position: u64, gather: &mut Gather<'_>) {
        match self.over_streams {
            Pings::Keyed => self.pings.gather(position, gather.room(), gather),
            Pings::Numbered(pings) => pings.gather_ping(self.ping, position, gather),
        }
    }

    /// What follows the header, and the note where there is one, in ping `sequence`.
    pub fn fill_ping(&self, sequence: u64, filler: &mut [u8]) {
        self.pings.copy_to(position(sequence, self.ping, self.header), filler);
    }

    /// What the server adds to echo `sequence` from `offset` on, as far as there is room.
    pub fn gather_added(&self, sequence: u64, offset: usize, gather: &mut Gather<'_>) {
        let room = gather.room().min(self.echo.saturating_sub(offset));
        self.added.gather(position(sequence, self.echo, offset), room, gather);
    }

    /// The same, to a datagram.
    pub fn fill_added(&self, sequence: u64, offset: usize, bytes: &mut [u8]) {
        self.added.copy_to(position(sequence, self.echo, offset), bytes);
    }

    /// Whether these are the bytes of ping `sequence` from `offset` on.
    pub fn is_ping(&self, sequence: u64, offset: usize, bytes: &[u8]) -> bool {
        self.pings.first_wrong(position(sequence, self.ping, offset), bytes).is_none()
    }

    /// Whether these are the bytes of echo `sequence` from `offset` on.
    pub fn is_echo(&self, sequence: u64, offset: usize, bytes: &[u8]) -> bool {
        let taken_over = self.common().saturating_sub(offset).min(bytes.len());
        let (echoed, added) = bytes.split_at(taken_over);
        let from = position(sequence, self.echo, offset + taken_over);
        self.is_ping(sequence, offset, echoed) && self.added.first_wrong(from, added).is_none()
    }

    /// Whether these bytes continue the stream of echoes at `from`.
    pub fn continues(&self, mut from: u64, mut bytes: &[u8]) -> bool {
        let Self { ping, echo, .. } = *self;
        if let Pings::Numbered(pings) = self.over_streams {
            return pings.continues(ping, from, bytes);
        }
        if ping == echo {
            return self.pings.first_wrong(from, bytes).is_none();
        }
        while !bytes.is_empty() {
            let (sequence, offset) = (from / echo as u64, (from % echo as u64) as usize);
            let (piece, rest) = bytes.split_at((echo - offset).min(bytes.len()));
            if !self.is_echo(sequence, offset, piece) {
                return false;
            }
            from += piece.len() as u64;
            bytes = rest;
        }
        true
    }
}

/// Where byte `offset` of the message of this number stands in a stream of messages of this length. A number
/// may be a stranger's.
fn position(sequence: u64, length: usize, offset: usize) -> u64 {
    sequence.wrapping_mul(length as u64).wrapping_add(offset as u64)
}
