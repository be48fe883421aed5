//! One stream at either end: a half that sends, a half that receives, or both.

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane, Role};
use pathscope_core::record::{FlowError, FlowErrorKind};
use pathscope_flow::{
    Batch, ClockNeed, Consumed, Event, Gather, Machine, Phase, RecvMeta, RecvWant, SendWant,
    Totals, Want,
};

use super::delay::Delays;
use super::receive::Receiving;
use super::send::{Sending, Wish};
use super::{HEADER_BYTES, Layout, MediaPlan, MediaShared, MediaTally, StreamFacts, ledger};
use crate::consent::{Consent, is_consent};
use crate::memory::{MemoryNeed, tallies};
use crate::pattern::{SessionKey, StreamImage};

/// One stream at one end.
#[derive(Debug)]
pub struct MediaFlow {
    flow: FlowId,
    sending: Option<Box<Sending>>,
    receiving: Option<Box<Receiving>>,
    consent: Box<Consent>,
    is_started: bool,
    /// Counted among the streams that are under way.
    is_open: bool,
    /// Since when the control connection is lost. The stream is not over meanwhile: whether the other end was there to its
    /// end is to be seen.
    away_since: Option<Tick>,
    /// When this end had sent all.
    sent_all_at: Option<Tick>,
    /// When what the other end has to do with the stream had ended, where that was lost.
    gone_at: Option<Tick>,
    error: Option<Box<FlowError>>,
}

impl MediaPlan {
    /// What a server remembers of such streams: most of it where it is the end that plays them.
    pub(super) fn stream_memory(&self) -> MemoryNeed {
        let receives = self.sends(Role::Client);
        let own = size_of::<MediaFlow>() + size_of::<Consent>();
        let halves = size_of::<Sending>() + size_of::<Receiving>();
        let kept = if receives { ledger::memory_bytes(self, &Layout::of(self)) } else { 0 };
        let image = StreamImage::<HEADER_BYTES>::memory_bytes(self.sends(Role::Server));
        MemoryNeed {
            flow_bytes: ((own + halves) as u64).saturating_add(kept),
            // Distributions of what was due, of delays, and of how they vary.
            worker_bytes: (size_of::<MediaShared>() + image) as u64
                + tallies(3, size_of::<MediaTally>() + Delays::BYTES),
        }
    }
}

impl MediaFlow {
    /// Flow number `flow` of a session, at the end of this role.
    pub fn new(plan: &MediaPlan, role: Role, session: SessionKey, flow: FlowId) -> Self {
        let is_client = role == Role::Client;
        let sending = plan.sends(role).then(|| Sending::new(session, flow, is_client));
        let receiving =
            plan.sends(role.peer()).then(|| Receiving::new(plan, session, flow, !is_client));
        Self {
            flow,
            sending: sending.map(Box::new),
            receiving: receiving.map(Box::new),
            consent: Box::new(Consent::new(role, session, flow)),
            is_started: false,
            is_open: false,
            away_since: None,
            sent_all_at: None,
            gone_at: None,
            error: None,
        }
    }

    /// The same with a peer that says which streams it still wants, and goes by what is said so.
    #[must_use]
    pub fn with_consent(mut self) -> Self {
        self.consent.speak();
        self
    }

    /// What the stream came to so far; where it went is known to others.
    pub fn facts(&self) -> StreamFacts {
        let sent = self.sending.as_ref().map(|half| half.stats).unwrap_or_default();
        let received = self.receiving.as_ref().map(|half| half.stats).unwrap_or_default();
        StreamFacts {
            flow: self.flow,
            frames_sent: sent.frames,
            sent_datagrams: sent.datagrams,
            sent_bytes: sent.bytes,
            received_datagrams: received.datagrams,
            received_bytes: received.bytes,
            lost_datagrams: received.lost,
            frames: received.frames,
            longest_freeze_ns: received.longest_freeze_ns,
            needed_depth_ns: received.needed_depth_ns,
            error: self.error(),
            ..StreamFacts::default()
        }
    }

    fn wants(&mut self, shared: &mut MediaShared, now: Tick) -> Want {
        if !self.is_started || self.error.is_some() {
            return Want::NOTHING;
        }
        let mut want = Want::NOTHING;
        match self.sending.as_mut().map(|half| half.wish(shared, now)) {
            Some(Wish::Send(send)) => want.send = send,
            Some(Wish::Wait(due)) => want.wake = Some(due),
            Some(Wish::Over) => drop(self.sent_all_at.get_or_insert(now)),
            None => {}
        }
        let wake = self.receiving.as_mut().filter(|half| !half.is_done());
        if let Some(wake) = wake.and_then(|half| half.next_wake(shared, now)) {
            want.recv = RecvWant::Any;
            want.wake = Some(want.wake.map_or(wake, |due| due.min(wake)));
        }
        if self.has_sent_all() && self.has_received_all() {
            return want;
        }
        self.heed_consent(want, now)
    }

    /// The same want, with what is due of consent.
    fn heed_consent(&mut self, mut want: Want, now: Tick) -> Want {
        let awaits = self.receiving.as_ref().is_some_and(|half| half.awaits());
        if now >= self.consent.due() {
            let ends = (!self.has_sent_all(), awaits);
            self.error = self.consent.attend(ends, now).err().map(Box::new);
        }
        if self.error.is_some() {
            return Want::NOTHING;
        }
        if self.consent.is_lapsed() {
            want.send = SendWant::Nothing;
        }
        want.send = self.consent.offer(awaits).unwrap_or(want.send);
        if self.consent.listens(want.send != SendWant::Nothing, now) {
            want.recv = RecvWant::Any;
        }
        if self.consent.due() != Tick::NEVER {
            let due = self.consent.due();
            want.wake = Some(want.wake.map_or(due, |wake| wake.min(due)));
        }
        want
    }

    /// The other end is lost: until when the stream ran. It was gone when the control connection was lost, and what this end
    /// went on to send has taken its time.
    fn lost_since(&self, now: Tick) -> Tick {
        let sent =
            if self.sending.is_some() { self.sent_all_at.unwrap_or(now) } else { Tick::ZERO };
        self.away_since.unwrap_or(now).max(sent)
    }

    fn has_sent_all(&self) -> bool {
        self.sending.as_ref().is_none_or(|half| half.is_over())
    }

    fn has_received_all(&self) -> bool {
        self.receiving.as_ref().is_none_or(|half| half.is_done())
    }

    fn fail(&mut self, text: String, errno: Option<i32>) {
        let (kind, errno) = (FlowErrorKind::Network, errno.map(|errno| errno.to_string()));
        self.error.get_or_insert_with(|| Box::new(FlowError { kind, text, errno }));
    }
}

impl Machine for MediaFlow {
    type Shared = MediaShared;

    const CLOCK: ClockNeed = ClockNeed::EveryOperation;

    fn id(&self) -> FlowId {
        self.flow
    }

    fn want(&mut self, shared: &mut MediaShared, now: Tick) -> Want {
        let want = self.wants(shared, now);
        if self.is_open && self.phase().is_over() {
            self.is_open = false;
            shared.open -= 1;
        }
        want
    }

    fn gather<'data>(&'data self, _: &'data MediaShared, _: Lane, _: &mut Gather<'data>) {
        debug_assert!(false, "a stream of frames wants datagrams alone");
    }

    fn fill<'data>(
        &'data mut self,
        shared: &'data mut MediaShared,
        _: Lane,
        batch: &mut Batch<'data>,
        now: Tick,
    ) {
        if self.consent.is_due() {
            return self.consent.fill(batch, now);
        }
        if let Some(half) = &mut self.sending {
            half.fill(shared, batch, now);
        }
    }

    fn sent(&mut self, shared: &mut MediaShared, _: Lane, amount: usize, at: Tick) {
        if self.consent.is_due() {
            return self.consent.said(at);
        }
        self.sending.iter_mut().for_each(|half| half.sent(shared, amount));
    }

    fn received(
        &mut self,
        shared: &mut MediaShared,
        _: Lane,
        bytes: &[u8],
        meta: RecvMeta,
        now: Tick,
    ) -> Consumed {
        let stride = meta.stride.map_or(bytes.len().max(1), std::num::NonZeroUsize::get);
        if let Some(half) = &mut self.receiving
            && bytes.is_empty()
            && !half.is_done()
        {
            half.datagram(shared, bytes, now);
        }
        for datagram in bytes.chunks(stride) {
            match &mut self.receiving {
                _ if is_consent(datagram) => self.consent.hear(datagram, now),
                Some(half) if !half.is_done() => {
                    let before = half.stats.datagrams;
                    half.datagram(shared, datagram, now);
                    if half.stats.datagrams > before {
                        self.consent.sign_of_life(now);
                    }
                }
                _ => {}
            }
        }
        Consumed(bytes.len())
    }

    fn event(&mut self, shared: &mut MediaShared, event: Event, now: Tick) {
        match event {
            Event::Start => {
                self.is_started = true;
                self.is_open = true;
                shared.open += 1;
                self.sending.iter_mut().for_each(|half| half.start(shared, now));
                self.receiving.iter_mut().for_each(|half| half.start(now));
                self.consent.start(now);
            }
            Event::Stop => {
                self.sending.iter_mut().for_each(|half| half.stop());
                self.receiving.iter_mut().for_each(|half| half.stop(now));
            }
            Event::PeerTotal(total) => {
                self.receiving.iter_mut().for_each(|half| half.sender_is_done(shared, total));
            }
            Event::Reset { errno, .. } if !self.phase().is_over() => {
                self.fail(format!("its socket failed (error {errno})"), Some(errno));
            }
            Event::PeerAway if !self.phase().is_over() => {
                self.away_since = Some(now);
                self.receiving.iter_mut().for_each(|half| half.sender_is_away(true));
            }
            Event::PeerBack => {
                self.away_since = None;
                self.receiving.iter_mut().for_each(|half| half.sender_is_away(false));
            }
            Event::PeerLost if !self.phase().is_over() => {
                self.gone_at = Some(self.lost_since(now));
                self.receiving.iter_mut().for_each(|half| half.sender_is_lost(shared, now));
                let text = "the session with the other end was lost while the stream ran";
                self.fail(text.to_owned(), None);
            }
            // A datagram that was refused is a lost one; what keeps being refused is lost altogether.
            Event::Unreachable { errno, is_refusal, .. } => {
                if self.consent.is_due() {
                    self.consent.said(now);
                }
                // Of an end that only asks for a stream, nothing that is counted was refused.
                shared.tally.counts.unreachable += u64::from(self.sending.is_some());
                if is_refusal && !self.has_sent_all() {
                    self.consent.refused(errno, now);
                }
            }
            _ => {}
        }
    }

    fn phase(&self) -> Phase {
        match (&self.error, self.has_sent_all(), self.has_received_all()) {
            (Some(_), ..) => Phase::Failed,
            (None, true, true) if self.away_since.is_none() => Phase::Done,
            (None, true, _) if self.sending.is_some() => Phase::SendingDone,
            (None, ..) => Phase::Running,
        }
    }

    fn totals(&self) -> Totals {
        Totals {
            sent: self.sending.as_ref().map_or(0, |half| half.stats.datagrams),
            received: self.receiving.as_ref().map_or(0, |half| half.stats.datagrams),
        }
    }

    fn error(&self) -> Option<FlowError> {
        self.error.as_deref().cloned()
    }

    fn ended_at(&self) -> Option<Tick> {
        self.gone_at
    }
}
