//! The rules: which limit the figures speak of.

use pathscope_core::record::Limit;

use super::facts::{Facts, Seen};

/// The thresholds of the rules, shares of one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// A thread that uses its processor for this share of the time has no more to give.
    pub cpu_used_up: f64,
    /// Of all processors, what both ends must have used for the machine to be full of them.
    cpu_ours: f64,
    /// A receiver this busy is why its window is small.
    cpu_busy: f64,
    /// A thread that is ready and has no processor for this share of the time is held back by that.
    cpu_kept_away: f64,
    /// A rate is reached from this share on: pacing moves whole quanta.
    rate_reached: f64,
    /// A program that stood still for this share of the time is what such a run shows.
    stood_still: f64,
    /// A sender stopped for this share of its busy time was held back by it.
    limited: f64,
    /// A sender with data in flight for this share of the time was held back by the path.
    busy: f64,
    /// What most looks at a sender's sockets found held it back.
    mostly: f64,
    /// Where fewer looks than these found that next to nothing was acknowledged, it was acknowledged all the time.
    fluent: f64,
    /// Of all looks, those that found a buffer or a window full and no queue in the path: a larger one gains so much.
    unfilled: f64,
    /// What so many looks found to hold a sender held it, where the path [had room](ROOM) meanwhile: never for sure.
    often: f64,
    /// A path that so many looks found to be what data waits for is all that it waits for.
    path_alone: f64,
    /// Of the looks that found a full buffer or window: so many in moments of a queue in the path mean that the path never
    /// ran empty. One that did would have carried more. Reckoned for sends of 512 KiB that each wait until the one before is
    /// acknowledged, at 100 Mbit/s and 20 ms: some 70 % of them with one connection, 99 % with eight.
    never_empty: f64,
}

/// What decides.
const USUAL: Bounds = Bounds {
    cpu_used_up: 0.9,
    cpu_ours: 0.6,
    cpu_busy: 0.7,
    cpu_kept_away: 0.5,
    rate_reached: 0.95,
    stood_still: 0.1,
    limited: 0.3,
    busy: 0.8,
    mostly: 0.5,
    fluent: 0.02,
    unfilled: 0.0,
    often: 0.4,
    path_alone: 0.9,
    never_empty: 0.92,
};
impl Default for Bounds {
    fn default() -> Self {
        USUAL
    }
}

/// What is well beyond them.
pub(super) const STRICT: Bounds = Bounds {
    cpu_used_up: 0.95,
    cpu_ours: 0.7,
    cpu_busy: 0.8,
    cpu_kept_away: 0.6,
    rate_reached: 0.97,
    stood_still: 0.2,
    limited: 0.4,
    busy: 0.9,
    mostly: 0.65,
    fluent: 0.01,
    unfilled: 0.35,
    often: f64::INFINITY,
    path_alone: 0.85,
    never_empty: 0.96,
};
/// What is nearly there.
pub(super) const LAX: Bounds = Bounds {
    cpu_used_up: 0.8,
    cpu_ours: 0.5,
    cpu_busy: 0.6,
    cpu_kept_away: 0.4,
    rate_reached: 0.92,
    stood_still: 0.05,
    limited: 0.2,
    busy: 0.7,
    mostly: 0.35,
    fluent: 0.05,
    unfilled: 0.0,
    often: 0.3,
    path_alone: 0.95,
    never_empty: 0.85,
};
/// What costs so much of the time costs a sixth of goodput: without it there is a fifth more.
const ROOM: f64 = 1.0 / 6.0;
/// Threads that wait for a processor for less than this share of the time lose nothing by it.
pub(super) const CPU_WAITS: f64 = 0.1;

impl Facts {
    pub fn limit(&self) -> Limit {
        match self {
            _ if at_least(self.rate, self.bounds.rate_reached) => Limit::ConfiguredRate,
            _ if self.is_thread_full() => of_ends(self.sender_cpu >= self.receiver_cpu),
            _ if self.is_kept_waiting() => of_ends(self.sender_kept() >= self.receiver_wait),
            _ if at_least(self.stillest(), self.bounds.stood_still) => self.stopped(),
            _ if self.is_machine_full() => of_ends(self.sender_uses_more),
            _ if at_least(self.paused, self.bounds.mostly) && self.runs_empty() => {
                Limit::ConfiguredPauses
            }
            _ if self.is_held_by_window() && at_least(self.receiver_cpu, self.bounds.cpu_busy) => {
                Limit::ReceiverCpu
            }
            _ if self.is_held_by_window() => Limit::ReceiveWindow,
            _ if self.is_held_by_buffer() => Limit::SendBuffer,
            _ if self.is_held_by_path() && !self.spins && !self.is_path_in_doubt() => {
                Limit::Network
            }
            _ if self.in_turns && self.is_held_by_program() => Limit::Turns,
            _ if self.seen.is_some() && self.is_held_by_program() && !self.is_disturbed() => {
                Limit::Sender
            }
            _ => Limit::Undetermined,
        }
    }

    /// Whether a thread of one end waited for a processor most of the time, and goodput may have lost by it.
    pub fn is_kept_waiting(&self) -> bool {
        at_least(self.sender_kept(), self.bounds.cpu_kept_away)
            || at_least(self.receiver_wait, self.bounds.cpu_kept_away)
    }

    /// Of the time, how long the sender's thread waited for a processor: sockets that always have something on its way, and more
    /// to send, do not miss it.
    fn sender_kept(&self) -> Option<f64> {
        let is_idle = self.busy.is_none_or(|busy| 1.0 - busy >= self.bounds.stood_still);
        self.sender_wait.filter(|_| is_idle || self.seen.is_some() && self.runs_empty())
    }

    /// Whether a receiver is named that rested, or waited for its processor, and nothing at the sockets shows what that cost.
    pub fn is_cost_unseen(&self, limit: Limit) -> bool {
        let by_wait = !self.is_thread_full() && self.is_kept_waiting();
        let is_named = limit == Limit::ReceiverStopped || limit == Limit::ReceiverCpu && by_wait;
        is_named && self.stalled.is_none_or(|stalled| stalled < self.bounds.stood_still)
    }

    /// Whether the machine that both ends share was full, and they may have lost by that.
    pub fn is_disturbed(&self) -> bool {
        let waits = [self.sender_wait, self.receiver_wait];
        let lost = waits.iter().any(|wait| wait.is_none_or(|wait| wait >= CPU_WAITS));
        at_least(self.shared_host_cpu, self.bounds.cpu_used_up) && lost
    }

    /// Whether what was seen of the path may come of a full machine; not where all that waits does so for the path.
    fn is_path_in_doubt(&self) -> bool {
        self.is_disturbed() && !self.is_path_alone()
    }

    fn is_path_alone(&self) -> bool {
        self.seen.is_some_and(|seen| seen.path >= self.bounds.path_alone)
    }

    /// Whether both ends used up the machine that they share.
    pub fn is_machine_full(&self) -> bool {
        at_least(self.shared_host_cpu, self.bounds.cpu_used_up)
            && at_least(self.own_cpu, self.bounds.cpu_ours)
    }

    /// Whether a thread of one end used its processor up.
    pub fn is_thread_full(&self) -> bool {
        at_least(self.sender_cpu, self.bounds.cpu_used_up)
            || at_least(self.receiver_cpu, self.bounds.cpu_used_up)
    }

    /// Of the time, how long the end's program stood still that did so longer, and cost goodput by it.
    fn stillest(&self) -> Option<f64> {
        [self.sender_rest(), self.receiver_rest()].into_iter().flatten().reduce(f64::max)
    }

    /// Of the time, how long the sender's program stood still: no longer than its sockets had nothing on its way. Until then they
    /// send what it gave them before.
    fn sender_rest(&self) -> Option<f64> {
        let (_, still) = self.sender_still?;
        Some(self.busy.map_or(still, |busy| still.min((1.0 - busy).max(0.0))))
    }

    /// The same of the receiver's: not at all where its kernel took in what came all the time, and all that waited did so for
    /// the path.
    fn receiver_rest(&self) -> Option<f64> {
        let (_, still) = self.receiver_still?;
        let is_fluent = self.stalled.is_some_and(|stalled| stalled < self.bounds.fluent);
        Some(still).filter(|_| !(is_fluent && self.is_path_alone()))
    }

    fn stopped(&self) -> Limit {
        if self.sender_rest() >= self.receiver_rest() {
            Limit::SenderStopped
        } else {
            Limit::ReceiverStopped
        }
    }

    /// Whether the sender gave its kernel nothing more most of the time.
    fn is_held_by_program(&self) -> bool {
        match self.seen {
            Some(seen) => seen.program >= self.bounds.mostly,
            None => !at_least(self.busy, self.bounds.busy),
        }
    }

    /// Whether the sender's sockets had nothing to send for a good part of the time.
    fn runs_empty(&self) -> bool {
        match self.seen {
            Some(seen) => seen.program >= self.bounds.limited,
            None => !at_least(self.busy, self.bounds.busy),
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
            let is_confirmed =
                seen_so >= self.bounds.limited && at_least(limited, self.bounds.limited);
            let unfilled = seen.send_buffer + seen.receive_window - seen.queued;
            let gains = !self.fills_path() && unfilled >= self.bounds.unfilled;
            // Of the two, the one that is seen more often.
            let is_first = seen_so >= seen.send_buffer.max(seen.receive_window);
            let has_room = is_first && seen_so >= self.bounds.often && unfilled >= ROOM;
            gains && (seen_so >= self.bounds.mostly || is_confirmed || has_room)
        };
        self.seen.as_ref().map_or(at_least(limited, self.bounds.limited), is_seen)
    }

    /// Whether the path always had enough to carry: a larger buffer or window would have changed nothing.
    fn fills_path(&self) -> bool {
        self.seen.is_some_and(|seen| {
            seen.queued >= self.bounds.never_empty * (seen.send_buffer + seen.receive_window)
        })
    }

    /// Whether it is the path that data waited for, since what a full buffer or window held was in its queue, and else few
    /// looks found it so.
    pub fn is_in_queue(&self) -> bool {
        self.fills_path() && self.seen.is_some_and(|seen| seen.path < self.bounds.mostly)
    }

    /// Whether data waited for the path: unsent, or in its queue.
    fn is_held_by_path(&self) -> bool {
        match self.seen {
            Some(seen) if self.fills_path() => {
                seen.path + seen.send_buffer + seen.receive_window >= self.bounds.mostly
            }
            Some(seen) => seen.path >= self.bounds.mostly,
            None => at_least(self.busy, self.bounds.busy),
        }
    }
}

fn of_ends(is_sender: bool) -> Limit {
    if is_sender { Limit::SenderCpu } else { Limit::ReceiverCpu }
}

fn at_least(share: Option<f64>, bound: f64) -> bool {
    share.is_some_and(|share| share >= bound)
}
