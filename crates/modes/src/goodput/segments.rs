//! Segments of `pushpull`: how long they are, and how much each end sends of all of them. Whose turn it is, a flow knows.

use pathscope_core::id::Role;

use super::GoodputPlan;

/// `pushpull`: the client sends a segment, then the server sends one, and so on. How long they are is of the plan, and kept once for all
/// flows of a worker.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segments {
    push_bytes: u64,
    pull_bytes: u64,
}

impl Segments {
    /// Those of a plan, whatever its pattern.
    pub const fn of(plan: &GoodputPlan) -> Self {
        Self { push_bytes: plan.push_bytes.0, pull_bytes: plan.pull_bytes.0 }
    }

    /// Lengths of a segment that `role` sends, and of one that it receives.
    pub const fn at(self, role: Role) -> (u64, u64) {
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
