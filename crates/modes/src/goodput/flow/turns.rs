//! Whose turn it is in `pushpull`, and how much each end sends so.

use pathscope_core::id::Role;

use super::super::segments::Segments;

/// One end of a flow that takes turns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turns {
    pub role: Role,
    /// Whether it is agreed on where they end.
    pub have_end: bool,
}

impl Turns {
    /// How many bytes this end may send now, having sent and received so many; beside where its stream ends.
    pub fn may_send(self, segments: Segments, (sent, received): (u64, u64)) -> u64 {
        let (send_bytes, receive_bytes) = segments.at(self.role);
        let cycles_received = received / receive_bytes;
        let turns = match self.role {
            Role::Client => cycles_received + 1,
            Role::Server => cycles_received,
        };
        turns.saturating_mul(send_bytes).saturating_sub(sent)
    }
}
