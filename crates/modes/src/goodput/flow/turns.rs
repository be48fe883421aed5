//! Whose turn it is in `pushpull`, and how much each end sends so.

use pathscope_core::id::Role;

use super::super::GoodputPlan;

/// `pushpull`: the client sends a segment, then the server sends one, and so on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turns {
    /// Length of a segment this end sends, and of one it receives.
    send_bytes: u64,
    receive_bytes: u64,
    sends_first: bool,
    /// Of both directions together, where that is agreed on.
    pub total: Option<u64>,
}

impl Turns {
    /// As `role` takes them.
    pub fn of(plan: &GoodputPlan, role: Role, total: Option<u64>) -> Self {
        let (push, pull) = (plan.push_bytes.0, plan.pull_bytes.0);
        let sends_first = role == Role::Client;
        let (send_bytes, receive_bytes) = if sends_first { (push, pull) } else { (pull, push) };
        Self { send_bytes, receive_bytes, sends_first, total }
    }

    /// How many bytes this end may send now, having sent and received so many.
    pub fn may_send(&self, (sent, received): (u64, u64)) -> u64 {
        let cycles_received = received / self.receive_bytes;
        let turns = if self.sends_first { cycles_received + 1 } else { cycles_received };
        let left = self.total.map_or(u64::MAX, |total| total.saturating_sub(sent + received));
        turns.saturating_mul(self.send_bytes).saturating_sub(sent).min(left)
    }

    /// How much of `total` this end sends: whole segments in turn, the last one cut short.
    pub fn share(&self, total: u64) -> u64 {
        let cycle = self.send_bytes + self.receive_bytes;
        let rest = total % cycle;
        let of_rest = if self.sends_first {
            rest.min(self.send_bytes)
        } else {
            rest.saturating_sub(self.receive_bytes)
        };
        total / cycle * self.send_bytes + of_rest
    }
}
