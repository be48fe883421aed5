//! Whose turn it is in `pushpull`, and how much each end sends so.

use pathscope_core::id::Role;

use super::super::GoodputPlan;

/// `pushpull`: the client sends a segment, then the server sends one, and so on. How long they are is of the plan, and kept once for all
/// flows of a worker.
#[derive(Clone, Copy, Debug)]
pub(in crate::goodput) struct Segments {
    push_bytes: u64,
    pull_bytes: u64,
}

impl Segments {
    /// Those of a plan, whatever its pattern.
    pub const fn of(plan: &GoodputPlan) -> Self {
        Self { push_bytes: plan.push_bytes.0, pull_bytes: plan.pull_bytes.0 }
    }

    /// Lengths of a segment that `role` sends, and of one that it receives.
    const fn at(self, role: Role) -> (u64, u64) {
        match role {
            Role::Client => (self.push_bytes, self.pull_bytes),
            Role::Server => (self.pull_bytes, self.push_bytes),
        }
    }

    /// How much of `total` in both directions `role` sends: whole segments in turn, the last one cut short.
    pub fn share(self, role: Role, total: u64) -> u64 {
        let (send_bytes, receive_bytes) = self.at(role);
        let cycle = send_bytes + receive_bytes;
        let rest = total % cycle;
        let of_rest = match role {
            Role::Client => rest.min(send_bytes),
            Role::Server => rest.saturating_sub(receive_bytes),
        };
        total / cycle * send_bytes + of_rest
    }
}

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
