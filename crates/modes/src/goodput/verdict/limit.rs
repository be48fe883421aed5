//! The rules: which limit the figures speak of.

use pathscope_core::record::Limit;

use super::facts::{Facts, Seen};

/// A thread that uses its processor for this share of the time has no more to give.
pub(super) const CPU_USED_UP: f64 = 0.9;
/// Of all processors, what both ends must have used for the machine to be full of them.
const CPU_OURS: f64 = 0.6;
/// A receiver this busy is why its window is small.
const CPU_BUSY: f64 = 0.7;
/// A thread that is ready and has no processor for this share of the time is held back by that.
const CPU_KEPT_AWAY: f64 = 0.5;
/// Threads that wait for a processor for less than this share of the time lose nothing by it.
const CPU_WAITS: f64 = 0.1;
/// A rate is reached from this share on: pacing moves whole quanta.
const RATE_REACHED: f64 = 0.95;
/// A program that stood still for this share of the time is what such a run shows.
const STOOD_STILL: f64 = 0.1;
/// A sender stopped for this share of its busy time was held back by it.
const LIMITED: f64 = 0.3;
/// A sender with data in flight for this share of the time was held back by the path.
const BUSY: f64 = 0.8;
/// What most looks at a sender's sockets found held it back.
const MOSTLY: f64 = 0.5;

impl Facts {
    pub fn limit(&self) -> Limit {
        match self {
            _ if at_least(self.rate, RATE_REACHED) => Limit::ConfiguredRate,
            _ if self.is_thread_full() => of_ends(self.sender_cpu >= self.receiver_cpu),
            _ if self.is_kept_waiting() => of_ends(self.sender_wait >= self.receiver_wait),
            _ if at_least(self.stillest(), STOOD_STILL) => self.stopped(),
            _ if self.is_machine_full() => of_ends(self.sender_uses_more),
            _ if at_least(self.paused, MOSTLY) && self.is_held_by_program() => {
                Limit::ConfiguredPauses
            }
            _ if self.is_held_by_window() && at_least(self.receiver_cpu, CPU_BUSY) => {
                Limit::ReceiverCpu
            }
            _ if self.is_held_by_window() => Limit::ReceiveWindow,
            _ if self.is_held_by_buffer() => Limit::SendBuffer,
            _ if self.is_held_by_path() && !self.spins && !self.is_disturbed() => Limit::Network,
            _ if self.in_turns && self.is_held_by_program() => Limit::Turns,
            _ if self.seen.is_some() && self.is_held_by_program() && !self.is_disturbed() => {
                Limit::Sender
            }
            _ => Limit::Undetermined,
        }
    }

    /// Whether a thread of one end waited for a processor most of the time.
    pub fn is_kept_waiting(&self) -> bool {
        at_least(self.sender_wait, CPU_KEPT_AWAY) || at_least(self.receiver_wait, CPU_KEPT_AWAY)
    }

    /// Whether the machine that both ends share was full, and they may have lost by that.
    pub fn is_disturbed(&self) -> bool {
        let waits = [self.sender_wait, self.receiver_wait];
        let lost = waits.iter().any(|wait| wait.is_none_or(|wait| wait >= CPU_WAITS));
        at_least(self.shared_host_cpu, CPU_USED_UP) && lost
    }

    /// Whether both ends used up the machine that they share.
    pub fn is_machine_full(&self) -> bool {
        at_least(self.shared_host_cpu, CPU_USED_UP) && at_least(self.own_cpu, CPU_OURS)
    }

    /// Whether a thread of one end used its processor up.
    pub fn is_thread_full(&self) -> bool {
        at_least(self.sender_cpu, CPU_USED_UP) || at_least(self.receiver_cpu, CPU_USED_UP)
    }

    /// Of the time, how long the end's program stood still that did so longer.
    fn stillest(&self) -> Option<f64> {
        let both = [self.sender_still, self.receiver_still].into_iter().flatten();
        both.map(|(_, share)| share).reduce(f64::max)
    }

    fn stopped(&self) -> Limit {
        let share = |still: Option<(u64, f64)>| still.map(|(_, share)| share);
        if share(self.sender_still) >= share(self.receiver_still) {
            Limit::SenderStopped
        } else {
            Limit::ReceiverStopped
        }
    }

    /// Whether the sender gave its kernel nothing more most of the time.
    fn is_held_by_program(&self) -> bool {
        match self.seen {
            Some(seen) => seen.program >= MOSTLY,
            None => !at_least(self.busy, BUSY),
        }
    }

    fn is_held_by_window(&self) -> bool {
        self.is_held_by_end(|seen| seen.receive_window, self.receive_window)
    }

    fn is_held_by_buffer(&self) -> bool {
        self.is_held_by_end(|seen| seen.send_buffer, self.send_buffer)
    }

    /// Whether a window or a buffer kept the path from being filled: as it was seen, or as the kernel sums it up.
    fn is_held_by_end(&self, seen_so: fn(&Seen) -> f64, limited: Option<f64>) -> bool {
        let is_seen = |seen: &Seen| {
            let seen_so = seen_so(seen);
            let is_confirmed = seen_so >= LIMITED && at_least(limited, LIMITED);
            !seen.fills_path() && (seen_so >= MOSTLY || is_confirmed)
        };
        self.seen.as_ref().map_or(at_least(limited, LIMITED), is_seen)
    }

    /// Whether it is the path that data waited for, since what a full buffer or window held was in its queue, and else few
    /// looks found it so.
    pub fn is_in_queue(&self) -> bool {
        self.seen.is_some_and(|seen| seen.fills_path() && seen.path < MOSTLY)
    }

    /// Whether data waited for the path: unsent, or in its queue.
    fn is_held_by_path(&self) -> bool {
        match self.seen {
            Some(seen) if seen.fills_path() => {
                seen.path + seen.send_buffer + seen.receive_window >= MOSTLY
            }
            Some(seen) => seen.path >= MOSTLY,
            None => at_least(self.busy, BUSY),
        }
    }
}

fn of_ends(is_sender: bool) -> Limit {
    if is_sender { Limit::SenderCpu } else { Limit::ReceiverCpu }
}

fn at_least(share: Option<f64>, bound: f64) -> bool {
    share.is_some_and(|share| share >= bound)
}
