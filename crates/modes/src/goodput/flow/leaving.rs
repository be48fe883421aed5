//! How a flow ends on its own connection, whichever way (`farewell`, `parting`), and when it is given up there: nobody says elsewhere
//! that the other end is gone, or was told otherwise.

use pathscope_core::Tick;
use pathscope_core::id::{Lane, Role};
use pathscope_flow::{Close, Consumed, Event, Machine, RecvMeta};

use super::super::farewell::Noted;
use super::super::patience::Patience;
use super::super::{GoodputShared, errors};
use super::GoodputFlow;

impl GoodputFlow {
    /// Whether all data have moved, and nothing was said of it yet.
    pub(super) fn is_before_leave(&self) -> bool {
        self.farewell.as_ref().is_some_and(|farewell| farewell.is_before())
            || self.parting.as_ref().is_some_and(|parting| parting.is_before())
    }

    /// Takes leave as soon as all bytes have moved. Of the two, the server's stream is the one that the
    /// note follows.
    pub(super) fn take_leave(&mut self) {
        if let (true, Some(farewell)) = (self.is_exchanged(), &mut self.farewell) {
            let is_server = farewell.role == Role::Server;
            let is_cut = if is_server { self.sender.is_cut } else { self.receiver.is_cut };
            farewell.begin(self.receiver.position, is_cut);
        }
    }

    /// What a connection that is replaced is told after its bytes have moved. Whether it was that.
    pub(super) fn hear_leave(&mut self, event: Event) {
        self.take_leave();
        let Some(farewell) = &mut self.farewell else { return };
        if farewell.is_before() {
            return;
        }
        let by_reset = matches!(event, Event::Reset { .. });
        let ends =
            by_reset || matches!(event, Event::PeerClosed(_) | Event::PeerFailed | Event::Stop);
        let when = farewell.moment();
        if !ends || farewell.end(by_reset) || event == Event::Stop {
            return;
        }
        self.receiver.fail(match event {
            Event::Reset { errno, .. } => errors::reset(errno, when),
            Event::PeerFailed => errors::failed_there("before both had agreed on their counts"),
            _ => errors::closed_early(when),
        });
    }

    pub(super) fn hear_note(&mut self, shared: &GoodputShared, bytes: &[u8]) -> Consumed {
        let Some(farewell) = &mut self.farewell else { return Consumed(bytes.len()) };
        let (taken, noted) = farewell.received(bytes);
        match noted {
            Noted::Partly | Noted::Done => {}
            Noted::Count(count) if count == self.sender.position => {}
            Noted::Count(count) => {
                self.receiver.fail(errors::short_count(self.sender.position, count));
            }
            Noted::Nonsense => {
                let position = self.receiver.position;
                // More data than were agreed on are not words.
                let other = farewell
                    .other_words()
                    .filter(|(_, said)| self.receiver.is_wrong_there(shared, position, said));
                let error = other.map(|(word, said)| errors::other_words(word, said));
                self.receiver.fail(error.unwrap_or_else(|| errors::too_many(position)));
            }
        }
        Consumed(taken)
    }

    /// Whether nothing but a reset tells the other end that this one was stopped.
    pub(super) fn breaks_off(&self) -> bool {
        self.farewell.as_ref().is_some_and(|farewell| farewell.by().is_some())
    }

    /// It ends where it stands.
    pub(super) fn break_off(&mut self, shared: &mut GoodputShared, now: Tick) {
        if self.phase().is_over() {
            return;
        }
        self.sender.end_here(shared);
        self.sender.is_cut = true;
        if !self.receiver.is_done() {
            self.receiver.end_here(shared, now);
        }
        self.farewell.iter_mut().for_each(|farewell| farewell.break_off());
    }

    /// Something has moved.
    #[inline]
    pub(super) fn note_moved(&mut self, at: Tick) {
        self.patience().into_iter().for_each(|patience| patience.moved(at));
    }

    /// For how long nothing may move, where nobody says anything elsewhere.
    #[inline]
    fn patience(&mut self) -> Option<&mut Patience> {
        match (&mut self.farewell, &mut self.parting) {
            (Some(farewell), _) => farewell.patience(),
            (None, Some(parting)) => Some(&mut parting.patience),
            (None, None) => None,
        }
    }

    /// Does what is due where nobody says anything elsewhere, and says when to look again.
    pub(super) fn keep_time(&mut self, shared: &mut GoodputShared, now: Tick) -> Option<Tick> {
        if !self.breaks_off() && self.parting.is_none()
            || !self.sender.is_started()
            || self.phase().is_over()
        {
            return None;
        }
        if self.breaks_off() && now >= self.sender.stops_at() {
            self.break_off(shared, now);
            return None;
        }
        if let Some(until) = self.sender.pause(now) {
            self.note_moved(until);
        }
        let due = self.part(shared, now);
        let is_of_words = self.is_exchanged();
        match self.patience()?.look(is_of_words, now) {
            Ok(look_at) => Some(look_at.min(due).min(self.sender.stops_at())),
            Err(seconds) => {
                let (sent, received) = (self.sender.progress(), self.receiver.progress());
                self.receiver.fail(errors::unmoved(seconds, is_of_words, sent, received));
                None
            }
        }
    }

    /// Client: all is sent. Server: what looks like the word that says so is that. When to look again.
    fn part(&mut self, shared: &mut GoodputShared, now: Tick) -> Tick {
        let has_sent = self.sender.is_done();
        let Some(parting) = &mut self.parting else { return Tick::NEVER };
        if parting.is_client() {
            if has_sent {
                parting.begin();
            }
            return Tick::NEVER;
        }
        if now < parting.word_at {
            return parting.word_at;
        }
        parting.word_at = Tick::NEVER;
        parting.begin();
        self.receiver.end_here(shared, now);
        Tick::NEVER
    }

    /// These bytes came on a connection that ends by words.
    pub(super) fn received_before_parting(
        &mut self,
        shared: &mut GoodputShared,
        (lane, meta): (Lane, RecvMeta),
        bytes: &[u8],
        now: Tick,
    ) -> Consumed {
        self.note_moved(now);
        let Some(parting) = &mut self.parting else { return Consumed(bytes.len()) };
        if parting.is_client() || !parting.is_before() {
            parting.heard(bytes);
            return Consumed(bytes.len());
        }
        let data = parting.data_of(bytes, self.receiver.position, now);
        if data == 0 {
            return Consumed(0);
        }
        self.receiver.received(shared, lane, &bytes[..data], meta, now)
    }

    /// What such a connection is told.
    pub(super) fn hear_parting(&mut self, shared: &mut GoodputShared, event: Event, now: Tick) {
        let Some(parting) = &mut self.parting else { return };
        let (is_client, is_before) = (parting.is_client(), parting.is_before());
        match event {
            Event::PeerClosed(_) if is_client && !parting.is_over() => {
                self.receiver.fail(errors::closed_early("before it had answered that it has all"));
            }
            Event::Reset { errno, .. } if is_client && !is_before && !parting.is_over() => {
                let when = "before the server had answered that it has all";
                self.receiver.fail(errors::reset(errno, when));
            }
            Event::PeerClosed(_) if is_before && parting.has_word() => {
                parting.word_at = now;
                self.part(shared, now);
            }
            Event::PeerClosed(_) if is_before => {
                let when = "before it had said that this is all";
                self.receiver.fail(errors::closed_early(when));
            }
            Event::Reset { .. } if !is_client && !is_before => parting.end(),
            Event::Stop if !is_client && is_before => {
                parting.end();
                self.receiver.end_here(shared, now);
                self.receiver.is_cut = true;
                self.receiver.close = Some(Close::Reset);
            }
            _ => {}
        }
    }

    /// Where the server's word that it is done stands amid data that were agreed on: behind so many of these bytes.
    pub(super) fn early_end(&self, shared: &GoodputShared, bytes: &[u8]) -> Option<usize> {
        let farewell = self.farewell.as_ref().filter(|it| it.role == Role::Client)?;
        let (before, last) = bytes.split_last_chunk()?;
        if last != farewell.by()?.done || bytes.len() > self.receiver.room() {
            return None;
        }
        let place = self.receiver.position + before.len() as u64;
        self.receiver.is_wrong_there(shared, place, last).then_some(before.len())
    }
}
