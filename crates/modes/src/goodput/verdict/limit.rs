//! The rules: which limit the figures speak of.

use pathscope_core::record::Limit;

use super::bounds::{
    BUSY, Bound, CPU_BUSY, CPU_KEPT_AWAY, CPU_OURS, CPU_USED_UP, CPU_WAITS, FLUENT, LIMITED,
    MOSTLY, NEVER_EMPTY, OFTEN, PATH_ALONE, RATE_REACHED, ROOM, STOOD_STILL, UNFILLED,
};
use super::facts::{Facts, Seen};

impl Facts {
    pub fn limit(&self) -> Limit {
        match self {
            _ if self.reaches(self.rate, RATE_REACHED) => Limit::ConfiguredRate,
            _ if self.is_thread_full() => of_ends(self.sender_cpu >= self.receiver_cpu),
            _ if self.is_kept_waiting() => of_ends(self.sender_kept() >= self.receiver_wait),
            _ if self.reaches(self.stillest(), STOOD_STILL) => self.stopped(),
            _ if self.is_machine_full() => of_ends(self.sender_uses_more),
            _ if self.reaches(self.paused, MOSTLY) && self.runs_empty(LIMITED) => {
                Limit::ConfiguredPauses
            }
            _ if self.is_held_by_window() && self.reaches(self.receiver_cpu, CPU_BUSY) => {
                Limit::ReceiverCpu
            }
            _ if self.is_held_by_window() => Limit::ReceiveWindow,
            _ if self.is_held_by_end(|seen| seen.send_buffer, self.send_buffer) => {
                Limit::SendBuffer
            }
            _ if self.is_held_by_path() && !self.spins && !self.is_path_in_doubt() => {
                Limit::Network
            }
            _ if self.in_turns && self.runs_empty(MOSTLY) => Limit::Turns,
            _ if self.seen.is_some() && self.runs_empty(MOSTLY) && !self.is_disturbed() => {
                Limit::Sender
            }
            _ => Limit::Undetermined,
        }
    }

    /// A threshold, as strictly as these figures are held to it.
    fn bound(&self, bound: Bound) -> f64 {
        bound.at(self.strictness)
    }

    /// Whether a share is known, and counts.
    pub fn reaches(&self, share: Option<f64>, bound: Bound) -> bool {
        share.is_some_and(|share| share >= self.bound(bound))
    }

    /// Whether a thread of one end waited for a processor most of the time, and goodput may have lost by it.
    pub fn is_kept_waiting(&self) -> bool {
        self.reaches(self.sender_kept(), CPU_KEPT_AWAY)
            || self.reaches(self.receiver_wait, CPU_KEPT_AWAY)
    }

    /// Of the time, how long the sender's thread waited for a processor: sockets that always have something on its way, and more
    /// to send, do not miss it.
    fn sender_kept(&self) -> Option<f64> {
        let is_idle = self.busy.is_none_or(|busy| 1.0 - busy >= self.bound(STOOD_STILL));
        self.sender_wait.filter(|_| is_idle || self.seen.is_some() && self.runs_empty(LIMITED))
    }

    /// Whether a receiver is named that rested, or waited for its processor, and nothing at the sockets shows what that cost.
    pub fn is_cost_unseen(&self, limit: Limit) -> bool {
        let by_wait = !self.is_thread_full() && self.is_kept_waiting();
        let is_named = limit == Limit::ReceiverStopped || limit == Limit::ReceiverCpu && by_wait;
        is_named && self.stalled.is_none_or(|stalled| stalled < self.bound(STOOD_STILL))
    }

    /// Whether the machine that both ends share was full, and they may have lost by that.
    pub fn is_disturbed(&self) -> bool {
        let waits = [self.sender_wait, self.receiver_wait];
        let lost = waits.iter().any(|wait| wait.is_none_or(|wait| wait >= CPU_WAITS));
        self.reaches(self.shared_host_cpu, CPU_USED_UP) && lost
    }

    /// Whether what was seen of the path may come of a full machine; not where all that waits does so for the path.
    fn is_path_in_doubt(&self) -> bool {
        self.is_disturbed() && !self.is_path_alone()
    }

    fn is_path_alone(&self) -> bool {
        self.seen.is_some_and(|seen| seen.path >= self.bound(PATH_ALONE))
    }

    /// Whether both ends used up the machine that they share.
    pub fn is_machine_full(&self) -> bool {
        self.reaches(self.shared_host_cpu, CPU_USED_UP) && self.reaches(self.own_cpu, CPU_OURS)
    }

    /// Whether a thread of one end used its processor up.
    pub fn is_thread_full(&self) -> bool {
        self.reaches(self.sender_cpu, CPU_USED_UP) || self.reaches(self.receiver_cpu, CPU_USED_UP)
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
        let is_fluent = self.stalled.is_some_and(|stalled| stalled < self.bound(FLUENT));
        Some(still).filter(|_| !(is_fluent && self.is_path_alone()))
    }

    fn stopped(&self) -> Limit {
        let is_sender = self.sender_rest() >= self.receiver_rest();
        if is_sender { Limit::SenderStopped } else { Limit::ReceiverStopped }
    }

    /// Whether the sender gave its kernel nothing more, so that its sockets ran empty, for such a share of the time.
    fn runs_empty(&self, share: Bound) -> bool {
        match self.seen {
            Some(seen) => seen.program >= self.bound(share),
            None => !self.reaches(self.busy, BUSY),
        }
    }

    fn is_held_by_window(&self) -> bool {
        self.is_held_by_end(|seen| seen.receive_window, self.receive_window)
    }

    /// Whether a window or a buffer kept the path from being filled: as it was seen, or as the kernel sums it up.
    fn is_held_by_end(&self, seen_so: fn(&Seen) -> f64, limited: Option<f64>) -> bool {
        let is_seen = |seen: &Seen| {
            let seen_so = seen_so(seen);
            let is_confirmed = seen_so >= self.bound(LIMITED) && self.reaches(limited, LIMITED);
            let unfilled = seen.send_buffer + seen.receive_window - seen.queued;
            let gains = !self.fills_path() && unfilled >= self.bound(UNFILLED);
            // Of the two, the one that is seen more often.
            let is_first = seen_so >= seen.send_buffer.max(seen.receive_window);
            let has_room = is_first && seen_so >= self.bound(OFTEN) && unfilled >= ROOM;
            gains && (seen_so >= self.bound(MOSTLY) || is_confirmed || has_room)
        };
        self.seen.as_ref().map_or(self.reaches(limited, LIMITED), is_seen)
    }

    /// Whether the path always had enough to carry: a larger buffer or window would have changed nothing.
    fn fills_path(&self) -> bool {
        self.seen.is_some_and(|seen| {
            seen.queued >= self.bound(NEVER_EMPTY) * (seen.send_buffer + seen.receive_window)
        })
    }

    /// Whether it is the path that data waited for, since what a full buffer or window held was in its queue, and else few
    /// looks found it so.
    pub fn is_in_queue(&self) -> bool {
        self.fills_path() && self.seen.is_some_and(|seen| seen.path < self.bound(MOSTLY))
    }

    /// Whether data waited for the path: unsent, or in its queue.
    fn is_held_by_path(&self) -> bool {
        match self.seen {
            Some(seen) if self.fills_path() => {
                seen.path + seen.send_buffer + seen.receive_window >= self.bound(MOSTLY)
            }
            Some(seen) => seen.path >= self.bound(MOSTLY),
            None => self.reaches(self.busy, BUSY),
        }
    }
}

fn of_ends(is_sender: bool) -> Limit {
    if is_sender { Limit::SenderCpu } else { Limit::ReceiverCpu }
}
