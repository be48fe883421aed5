//! What a session hears of flows that run in two halves: reports as they come, phases of the whole.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use pathscope_core::Tick;
use pathscope_core::id::FlowId;
use pathscope_core::record::FlowError;
use pathscope_flow::{Phase, Totals};

use crate::inbox::{Notice, Outbox, Sockets};

/// Which half.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Half {
    Sender,
    Receiver,
}

/// The flows as their session sees them.
#[derive(Debug)]
pub(super) struct Whole<R> {
    inner: Mutex<Inner<R>>,
}

#[derive(Debug)]
struct Inner<R> {
    outbox: Outbox<R>,
    flows: HashMap<FlowId, Progress>,
}

/// How far both halves of one flow are.
#[derive(Clone, Copy, Debug)]
struct Progress {
    sender: Phase,
    receiver: Phase,
    totals: Totals,
    told: Phase,
}

impl<R: Send + 'static> Whole<R> {
    pub fn new(outbox: Outbox<R>) -> Self {
        Self { inner: Mutex::new(Inner { outbox, flows: HashMap::new() }) }
    }

    /// Where a half's notices go.
    pub fn outbox(self: &Arc<Self>, half: Half) -> Outbox<R> {
        let whole = Arc::clone(self);
        Outbox::beside_sockets(move |notice, sockets| match notice {
            Notice::Flows { .. } | Notice::Report { .. } | Notice::Look => {
                whole.pass_on(notice, sockets);
            }
            Notice::Phase { flow, phase, totals, at, error } => {
                whole.advance((half, sockets), (flow, phase, totals), at, error);
            }
        })
    }

    fn pass_on(&self, notice: Notice<R>, sockets: &dyn Sockets) {
        // A half that panicked while it told a notice leaves nothing half-done that others would see.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).outbox.send(notice, sockets);
    }

    fn advance(
        &self,
        (half, sockets): (Half, &dyn Sockets),
        (flow, phase, totals): (FlowId, Phase, Totals),
        at: Tick,
        error: Option<Box<FlowError>>,
    ) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let progress = inner.flows.entry(flow).or_insert(Progress::NONE);
        if let Some((phase, totals)) = progress.advance(half, phase, totals) {
            inner.outbox.send(Notice::Phase { flow, phase, totals, at, error }, sockets);
        }
    }
}

impl Progress {
    const NONE: Self = Self {
        sender: Phase::Running,
        receiver: Phase::Running,
        totals: Totals { sent: 0, received: 0 },
        told: Phase::Running,
    };

    /// A half is in this phase; what is to be told of the whole, if that changed.
    fn advance(&mut self, half: Half, phase: Phase, totals: Totals) -> Option<(Phase, Totals)> {
        match half {
            Half::Sender => (self.sender, self.totals.sent) = (phase, totals.sent),
            Half::Receiver => (self.receiver, self.totals.received) = (phase, totals.received),
        }
        let whole = self.whole();
        (whole != self.told).then(|| {
            self.told = whole;
            (whole, self.totals)
        })
    }

    fn whole(&self) -> Phase {
        match (self.sender, self.receiver) {
            (Phase::Failed, _) | (_, Phase::Failed) => Phase::Failed,
            (Phase::Done, Phase::Done) => Phase::Done,
            (Phase::Running, _) => Phase::Running,
            (_, Phase::Settled) => Phase::Settled,
            (Phase::SendingDone | Phase::Settled | Phase::Done, _) => Phase::SendingDone,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_is_over_when_both_halves_are() {
        let mut progress = Progress::NONE;
        let received = Totals { sent: 0, received: 7 };
        assert_eq!(progress.advance(Half::Receiver, Phase::Done, received), None);
        let sent = Totals { sent: 9, received: 0 };
        let both = Totals { sent: 9, received: 7 };
        assert_eq!(progress.advance(Half::Sender, Phase::Done, sent), Some((Phase::Done, both)));
    }

    #[test]
    fn a_sender_that_is_done_has_sent_all() {
        let mut progress = Progress::NONE;
        let sent = Totals { sent: 9, received: 0 };
        let told = progress.advance(Half::Sender, Phase::Done, sent);
        assert_eq!(told, Some((Phase::SendingDone, sent)));
    }

    #[test]
    fn one_half_that_fails_fails_the_whole_once() {
        let mut progress = Progress::NONE;
        let none = Totals::default();
        let told = progress.advance(Half::Sender, Phase::Failed, none);
        assert_eq!(told, Some((Phase::Failed, none)));
        assert_eq!(progress.advance(Half::Receiver, Phase::Failed, none), None);
    }
}
