//! How what a flow receives comes to its end: said by the other end, by the close of its direction, by nobody for too long, or settled
//! before that. Not here: what is made of the bytes.

use pathscope_core::Tick;
use pathscope_flow::Phase;

use super::super::{GoodputShared, errors};
use super::{NOT_KNOWN, NOT_SETTLED, Receiver};
use crate::conventions::StreamEnd;
use crate::load::JointTransfer;

/// What the other end has sent and what does not come for so long has been lost on the way: a path can swallow the end of
/// a stream without a word. As long as the control connection may be silent.
const STALLED_NS: u64 = 9_000_000_000;
/// The rest of that time is waited for once this end looks again: it may have been suspended itself.
const LAST_CALL_NS: u64 = 1_000_000_000;

/// How far what does not come is from being given up.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Silence {
    /// It may come for a while.
    Borne,
    /// Its time has passed once.
    LastCall,
    /// And twice: it is asked whether it has come, and waits for this end. One that has very many connections may take longer than that
    /// from one visit of a connection to the next.
    LookedInto,
}

impl Receiver {
    /// Where the stream ends, once that is known.
    pub(super) fn end(&self) -> Option<u64> {
        (self.ends_at != NOT_KNOWN).then_some(self.ends_at)
    }

    /// Bytes received, and where the stream ends.
    pub(in crate::goodput) fn progress(&self) -> errors::Progress {
        (self.position, self.end())
    }

    pub(super) fn so_far(&self) -> String {
        format!("after {}", errors::received(self.progress(), self.told))
    }

    pub(super) fn while_receiving(&self) -> String {
        format!("while receiving, {}", self.so_far())
    }

    /// The other end says where the stream ends, whatever the plan does.
    pub(in crate::goodput) fn ends_as_told(&mut self) {
        self.ends_at = NOT_KNOWN;
    }

    /// The other end has sent `total` bytes and will send no more.
    pub(super) fn told(&mut self, total: u64, shared: &mut GoodputShared, now: Tick) {
        // A client that stops in the midst of a send need not know what of it has left.
        let is_stopped = shared.conventions.end == StreamEnd::Stopped;
        let total = if is_stopped { total.max(self.position) } else { total };
        self.told = true;
        self.await_more(now);
        if total < self.position || self.end().is_some_and(|agreed| total > agreed) {
            self.fail(errors::wrong_total(self.position, self.end(), total));
        }
        let is_over = self.end().is_none_or(|agreed| total < agreed);
        self.is_cut |= self.end().is_some() && is_over;
        if is_over && shared.planned.closes_ns != u64::MAX && self.position < total {
            // Its time is over, maybe by its user: what comes from now on is the rest.
            let at = shared.since_start(now).min(shared.planned.closes_ns);
            self.counted.close(at, &mut shared.window);
        }
        self.ends_at = total;
        self.check_close(shared);
    }

    /// Whether it has said for good what it received.
    pub(super) const fn is_settled(&self) -> bool {
        self.settled != NOT_SETTLED
    }

    /// What it says that it received.
    pub(in crate::goodput) fn received_bytes(&self) -> u64 {
        self.position.min(self.settled)
    }

    /// What it is at the least, where nothing is sent any more.
    pub(in crate::goodput) const fn least_phase(&self) -> Phase {
        if self.is_settled() { Phase::Settled } else { Phase::Running }
    }

    /// What was received by now is what is said of it.
    pub(super) fn settle(&mut self, shared: &mut GoodputShared, now: Tick) {
        if self.is_settled() || self.is_done() || self.error.is_some() {
            return;
        }
        self.settled = self.position;
        self.is_cut |= self.end().is_some();
        shared.late_bytes.get_or_insert(0);
        let at = shared.since_start(now).min(shared.planned.closes_ns);
        self.counted.close(at, &mut shared.window);
    }

    /// How many of so many bytes are of what all flows are to receive together: the rest is late.
    #[inline]
    pub(super) fn share_of(&self, bytes: usize, shared: &GoodputShared) -> usize {
        match &shared.joint {
            Some(joint) if !self.is_settled() => joint.take(bytes as u64) as usize,
            _ => bytes,
        }
    }

    /// All flows together have what they are to receive: whatever still comes of this one is late.
    #[inline]
    pub(super) fn settle_jointly(&mut self, shared: &mut GoodputShared, now: Tick) {
        if shared.joint.as_ref().is_some_and(JointTransfer::is_over) {
            self.settle(shared, now);
        }
    }

    /// What has come is all that comes of it here.
    pub(in crate::goodput) fn end_here(&mut self, shared: &mut GoodputShared, now: Tick) {
        self.judge(shared);
        self.told(self.position, shared, now);
    }

    /// The other end has sent all, and more of it may come.
    pub(super) fn await_more(&mut self, now: Tick) {
        if self.is_gone() {
            return;
        }
        self.stalled_at = now.plus_nanos(STALLED_NS);
        self.silence = Silence::Borne;
    }

    /// Nothing has been received for long.
    pub(super) fn call_last(&mut self, now: Tick) {
        (self.silence, self.stalled_at) = match self.silence {
            Silence::Borne => (Silence::LastCall, now.plus_nanos(LAST_CALL_NS)),
            Silence::LastCall | Silence::LookedInto => (Silence::LookedInto, Tick::NEVER),
        };
    }

    /// It was looked whether anything has come. What waits for nothing but this end is not lost: its turn comes, however many
    /// connections have theirs before.
    pub(super) fn end_silence(&mut self, ready_bytes: u64, shared: &mut GoodputShared, now: Tick) {
        if self.silence != Silence::LookedInto || self.is_done() || self.is_gone() {
            return;
        }
        self.await_more(now);
        if ready_bytes == 0 {
            self.stalled_at = Tick::NEVER;
            self.judge(shared);
            self.fail(errors::stalled(self.position, self.end()));
        }
    }

    /// The other end has closed or failed. Nothing more comes, whenever that is judged.
    pub(super) fn note_gone(&mut self, now: Tick) {
        if !self.is_gone() {
            self.stalled_at = now;
        }
    }

    pub(super) const fn is_gone(&self) -> bool {
        self.closed || self.peer_failed
    }

    /// After the other end closed or told its total: whether what is missing can still come.
    pub(super) fn check_close(&mut self, shared: &mut GoodputShared) {
        if self.closed && !self.is_done() {
            self.judge(shared);
            // While the control connection is lost, nobody will say where the stream ends.
            let is_known =
                if self.end().is_some() { self.told || !self.may_overtake } else { self.away };
            if is_known {
                self.fail(errors::closed_early(&self.so_far()));
            }
        }
    }
}
