//! A stream of datagrams at one end: a half that sends, a half that receives, or both, on one socket, and the consent without
//! which nothing is sent. Which halves they are is the mode's affair.

use std::num::NonZero;

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane, Role};
use pathscope_core::record::{FlowError, FlowErrorKind};
use pathscope_flow::{
    Batch, ClockNeed, Consumed, Event, FlowDatagrams, Machine, Phase, RecvMeta, RecvWant, SendWant,
    Totals, Want, Weigh,
};

use super::consent::Consent;
use super::halves::{Receives, Sends, Streams};
use crate::pattern::SessionKey;

/// One stream at one end.
#[derive(Debug)]
pub struct StreamFlow<S, R> {
    flow: FlowId,
    pub(crate) sender: Option<Box<S>>,
    pub(crate) receiver: Option<Box<R>>,
    /// Apart, since most of it is looked at a few times a second.
    consent: Box<Consent>,
    is_under_way: bool,
    /// Since when the control connection is lost.
    away_since: Tick,
    /// When this end had sent all.
    sent_all_at: Tick,
    /// When what the other end has to do with the stream had ended, where that was lost.
    gone_at: Tick,
    /// Datagrams that left, consents not among them.
    sent: u64,
    error: Option<Box<FlowError>>,
}

impl<S, R> StreamFlow<S, R> {
    /// What one takes at the most, beside what its halves hold elsewhere.
    pub(crate) const BYTES: usize =
        size_of::<Self>() + size_of::<Consent>() + size_of::<S>() + size_of::<R>();

    /// Flow `flow` of a session, at the end of this role, of the halves that it has there.
    pub(crate) fn of(
        (role, session, flow): (Role, SessionKey, FlowId),
        sender: Option<S>,
        receiver: Option<R>,
    ) -> Self {
        Self {
            flow,
            sender: sender.map(Box::new),
            receiver: receiver.map(Box::new),
            consent: Box::new(Consent::new(role, session, flow)),
            is_under_way: false,
            away_since: Tick::NEVER,
            sent_all_at: Tick::NEVER,
            gone_at: Tick::NEVER,
            sent: 0,
            error: None,
        }
    }

    /// The same with a peer that sends its stream to who says `START`, which this end does again after so long until something came, and
    /// that hears nothing else.
    #[must_use]
    pub fn with_start(mut self, again_ns: u64) -> Self {
        self.consent.start_again_ns = Some(again_ns);
        self
    }

    /// The same of a test of so many flows.
    #[must_use]
    pub(crate) fn one_of(mut self, flows: u32) -> Self {
        self.consent.share_among(flows);
        self
    }

    /// The same with a peer that says which streams it still wants, and goes by what is said so; or with one that does not.
    #[must_use]
    pub fn with_consent(mut self, is_spoken: bool) -> Self {
        self.consent.is_spoken = is_spoken;
        self
    }
}

impl<S: Sends, R: Receives<Shared = S::Shared>> StreamFlow<S, R> {
    fn wants(&mut self, shared: &mut S::Shared, now: Tick) -> Result<Want, FlowError> {
        let sender = self.sender.as_mut();
        let (mut send, mut wake) =
            sender.map_or((SendWant::Nothing, Tick::NEVER), |half| half.offer(shared, now));
        let sends = !self.has_sent_all();
        if !sends {
            self.sent_all_at = self.sent_all_at.min(now);
        }
        if now >= self.consent.due() {
            self.consent.attend((sends, self.awaits()), now)?;
        }
        if self.consent.is_lapsed() {
            send = SendWant::Nothing;
        }
        let is_away = self.is_away();
        if let Some(half) = self.receiver.as_mut().filter(|half| !half.is_done()) {
            wake = wake.min(half.wake(shared, is_away, now)?);
        }
        let receives = !self.has_received_all();
        if !sends && !receives {
            return Ok(Want::NOTHING);
        }
        let hears = receives || self.consent.listens(send != SendWant::Nothing, now);
        let send = self.consent.offer(self.awaits()).unwrap_or(send);
        let wake = wake.min(self.consent.due());
        let half_weighs = self.receiver.as_ref().is_some_and(|half| half.weighs());
        let weighs = half_weighs || self.consent.is_lapsed();
        Ok(Want {
            send,
            recv: if hears { RecvWant::Any } else { RecvWant::Nothing },
            wake: (wake != Tick::NEVER).then_some(wake),
            weigh: if weighs { Weigh::This } else { Weigh::Nothing },
            ..Want::NOTHING
        })
    }

    fn has_sent_all(&self) -> bool {
        self.sender.as_ref().is_none_or(|half| half.is_done())
    }

    fn has_received_all(&self) -> bool {
        self.receiver.as_ref().is_none_or(|half| half.is_done())
    }

    fn awaits(&self) -> bool {
        self.receiver.as_ref().is_some_and(|half| half.awaits())
    }

    fn is_away(&self) -> bool {
        self.away_since != Tick::NEVER
    }

    /// The other end is lost. It was gone when the control connection was lost, and what this end went on to send has taken its
    /// time: until then the stream ran.
    fn lose(&mut self, shared: &mut S::Shared, now: Tick) {
        let sent = if self.sender.is_some() { self.sent_all_at } else { Tick::ZERO };
        self.gone_at = self.away_since.max(sent).min(now);
        self.part("the session with the other end was lost while the stream ran", shared, now);
    }

    /// Nothing is heard of the other end of the stream any more.
    fn part(&mut self, why: &str, shared: &mut S::Shared, now: Tick) {
        self.receiver.iter_mut().for_each(|half| half.lost(shared, now));
        self.fail(why.to_owned(), None);
    }

    fn fail(&mut self, text: String, errno: Option<i32>) {
        let errno = errno.map(|errno| errno.to_string());
        self.error = Some(Box::new(FlowError { kind: FlowErrorKind::Network, text, errno }));
    }
}

impl<S: Sends, R: Receives<Shared = S::Shared>> Machine for StreamFlow<S, R> {
    type Shared = S::Shared;

    const CLOCK: ClockNeed = ClockNeed::EveryOperation;

    fn id(&self) -> FlowId {
        self.flow
    }

    fn want(&mut self, shared: &mut S::Shared, now: Tick) -> Want {
        if !self.is_under_way {
            return Want::NOTHING;
        }
        let mut want = Want::NOTHING;
        if self.error.is_none() {
            match self.wants(shared, now) {
                Ok(wanted) => want = wanted,
                Err(error) => self.error = Some(Box::new(error)),
            }
        }
        if self.phase().is_over() {
            self.is_under_way = false;
            shared.under_way(false);
        }
        want
    }

    fn fill<'data>(
        &'data mut self,
        shared: &'data mut S::Shared,
        _: Lane,
        batch: &mut Batch<'data>,
        now: Tick,
    ) {
        if self.consent.is_due {
            self.consent.fill(batch, now);
        } else if let Some(half) = &mut self.sender {
            half.fill(shared, batch, now);
        }
    }

    fn sent(&mut self, shared: &mut S::Shared, _: Lane, amount: usize, at: Tick) {
        if self.consent.is_due {
            self.consent.said(at);
        } else if let Some(half) = &mut self.sender {
            half.took(shared, amount as u64, at);
            self.sent += amount as u64;
        }
    }

    fn received(
        &mut self,
        shared: &mut S::Shared,
        _: Lane,
        bytes: &[u8],
        meta: RecvMeta,
        now: Tick,
    ) -> Consumed {
        let stride = meta.stride.map_or(bytes.len().max(1), NonZero::get);
        // One that is empty is one, too.
        let datagrams = bytes.chunks(stride).chain(bytes.is_empty().then_some(bytes));
        match &mut self.receiver {
            Some(half) if !half.is_done() => half.take(shared, datagrams, &mut self.consent, now),
            _ => datagrams.for_each(|datagram| _ = self.consent.hears(datagram, now)),
        }
        Consumed(bytes.len())
    }

    fn event(&mut self, shared: &mut S::Shared, event: Event, now: Tick) {
        match event {
            Event::Start => {
                self.is_under_way = true;
                shared.under_way(true);
                self.sender.iter_mut().for_each(|half| half.start(shared, now));
                self.receiver.iter_mut().for_each(|half| half.start(shared, now));
                self.consent.start(now);
            }
            Event::Stop => {
                self.sender.iter_mut().for_each(|half| half.stop(shared, now));
                self.receiver.iter_mut().for_each(|half| half.stop(now));
            }
            Event::PeerTotal(total) => {
                self.receiver.iter_mut().for_each(|half| half.told(shared, total, now));
            }
            Event::CameBefore { datagrams, bytes } => {
                let half = self.receiver.iter_mut();
                half.for_each(|half| half.came_before(shared, (datagrams, bytes), now));
            }
            Event::Held { bytes, .. } => {
                self.receiver.iter_mut().for_each(|half| half.weighed(bytes));
                self.consent.weighed(bytes);
            }
            Event::Reset { errno, .. } if !self.phase().is_over() => {
                self.fail(shared.broken(errno), Some(errno));
            }
            // A datagram that was refused is a lost one; what keeps being refused is lost altogether.
            Event::Unreachable { errno, is_refusal, .. } => {
                if self.consent.is_due {
                    self.consent.said(now);
                }
                // Of an end that only asks for a stream, nothing that is counted was refused.
                let Some(half) = &mut self.sender else { return };
                let is_refused_for_long = half.refused(shared, now);
                if is_refusal && !half.is_done() {
                    self.consent.refused(errno, now);
                }
                if is_refused_for_long && !self.phase().is_over() {
                    self.fail(shared.broken(errno), Some(errno));
                }
            }
            Event::PeerAway if S::Shared::NEEDS_SESSION && !self.phase().is_over() => {
                self.away_since = now;
            }
            Event::PeerBack => self.away_since = Tick::NEVER,
            Event::PeerFailed if !self.phase().is_over() => {
                self.part("the stream has failed at the other end", shared, now);
            }
            Event::PeerLost if S::Shared::NEEDS_SESSION && !self.phase().is_over() => {
                self.lose(shared, now);
            }
            _ => {}
        }
    }

    fn phase(&self) -> Phase {
        match (&self.error, self.has_sent_all(), self.has_received_all()) {
            (Some(_), ..) => Phase::Failed,
            (None, true, true) if !self.is_away() => Phase::Done,
            (None, true, _) if self.sender.is_some() => Phase::SendingDone,
            (None, ..) if self.receiver.as_ref().is_some_and(|half| half.has_enough()) => {
                Phase::Settled
            }
            (None, ..) => Phase::Running,
        }
    }

    fn totals(&self) -> Totals {
        let received = self.receiver.as_ref().map_or(0, |half| half.received());
        Totals { sent: self.sent, received }
    }

    fn datagrams(&self) -> Option<FlowDatagrams> {
        match &self.receiver {
            Some(half) => half.so_far(),
            None => Some(FlowDatagrams::default()),
        }
    }

    fn error(&self) -> Option<FlowError> {
        self.error.as_deref().cloned()
    }

    fn ended_at(&self) -> Option<Tick> {
        (self.gone_at != Tick::NEVER).then_some(self.gone_at)
    }
}
