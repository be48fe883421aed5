//! What one end keeps of a session of protocol version 2, so that the session goes on when its control connection is
//! made anew: the numbers of both directions, and what the other end has not yet confirmed.
//!
//! It knows neither connections nor time; `line` does.

use std::collections::VecDeque;

use pathscope_core::id::Token;

use super::frame::{Frame, MessageType};
use super::numbered::{Damage, Numbered, NumberedDecoder, PART_MOST};

/// What may be kept unconfirmed: the longest message several times over. An end that confirms less cannot have said again
/// what came before.
const KEPT_MOST_BYTES: usize = 4 << 20;
/// What each part costs beside its body, about.
const PART_BYTES: usize = 64;
/// After so much that came, the other end is told how far, though there is nothing else to say.
const CONFIRM_BYTES: usize = 64 << 10;

/// The session as one end keeps it.
#[derive(Debug)]
pub(super) struct Link {
    /// What names the session when its connection is made anew.
    pub session: Token,
    decoder: NumberedDecoder,
    /// The last number that this end has said.
    said: u64,
    /// Up to which the other end has confirmed.
    confirmed: u64,
    /// What it has not confirmed, in order.
    unconfirmed: VecDeque<Part>,
    kept_bytes: usize,
    /// The last good number that came.
    received: u64,
    /// What came since the other end was told how far.
    untold_bytes: usize,
    /// The message whose parts are coming.
    unfinished: Option<Frame>,
}

/// A numbered frame as it is kept.
#[derive(Debug)]
struct Part {
    kind: MessageType,
    goes_on: bool,
    number: u64,
    body: Vec<u8>,
}

/// Why a frame is not taken.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Trouble {
    /// The path has damaged what was said.
    Damage(Damage),
    /// The other end says what it must not.
    Breach(String),
}

impl From<Damage> for Trouble {
    fn from(damage: Damage) -> Self {
        Self::Damage(damage)
    }
}

impl Link {
    /// A session in which nothing has been said.
    pub fn new(session: Token) -> Self {
        Self {
            session,
            decoder: NumberedDecoder::default(),
            said: 0,
            confirmed: 0,
            unconfirmed: VecDeque::new(),
            kept_bytes: 0,
            received: 0,
            untold_bytes: 0,
            unfinished: None,
        }
    }

    /// Numbers a message and keeps it until it is confirmed. What is to be sent.
    pub fn say(&mut self, Frame { kind, body }: &Frame) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut rest = body.as_slice();
        loop {
            let (body, after) = rest.split_at(rest.len().min(PART_MOST));
            self.said += 1;
            let goes_on = !after.is_empty();
            let part = Part { kind: *kind, goes_on, number: self.said, body: body.to_vec() };
            bytes.extend_from_slice(&self.encode(&part));
            self.keep(part);
            rest = after;
            if !goes_on {
                self.untold_bytes = 0;
                return bytes;
            }
        }
    }

    /// A word about the connection itself, which has no number and is not said again.
    pub fn utter(&mut self, Frame { kind, body }: Frame) -> Vec<u8> {
        self.untold_bytes = 0;
        self.encode(&Part { kind, goes_on: false, number: 0, body })
    }

    /// The next message or word, `None` where none is complete. A message is no longer than `most`.
    pub fn next(&mut self, bytes: &mut &[u8], most: usize) -> Result<Option<Frame>, Trouble> {
        while let Some(frame) = self.decoder.next(bytes)? {
            if let Some(frame) = self.hear(frame, most)? {
                return Ok(Some(frame));
            }
        }
        Ok(None)
    }

    /// Whether the other end can be said again all that it lacks when it has received up to this number.
    pub fn can_go_on_after(&self, received: u64) -> bool {
        let first = self.unconfirmed.front().map_or(self.said + 1, |part| part.number);
        (self.confirmed..=self.said).contains(&received) && first <= received + 1
    }

    /// Another connection takes the place of the one before; the other end has received up to this number. All that it
    /// lacks.
    pub fn go_on_after(&mut self, received: u64) -> Vec<Vec<u8>> {
        self.confirm(received);
        self.break_off();
        self.unconfirmed.iter().map(|part| self.encode(part)).collect()
    }

    /// The same, where the other end has just said how far it has come. `None`: what it lacks is not kept.
    pub fn go_on(&mut self) -> Option<Vec<Vec<u8>>> {
        self.can_go_on_after(self.confirmed)
            .then(|| self.unconfirmed.iter().map(|part| self.encode(part)).collect())
    }

    /// What came of an unfinished frame is of no use.
    pub fn break_off(&mut self) {
        self.decoder = NumberedDecoder::default();
    }

    /// The last good number that came.
    pub const fn received(&self) -> u64 {
        self.received
    }

    /// How far both directions have come: what has grown is progress.
    pub const fn progress(&self) -> (u64, u64) {
        (self.received, self.confirmed)
    }

    /// Whether the other end has confirmed all that was said.
    pub const fn is_confirmed(&self) -> bool {
        self.confirmed == self.said
    }

    /// Whether it is time to tell the other end how far its words have come.
    pub const fn owes_word(&self) -> bool {
        self.untold_bytes >= CONFIRM_BYTES
    }

    /// Whether the other end is in the middle of a message.
    pub fn is_amid_message(&self) -> bool {
        self.decoder.is_amid() || self.unfinished.is_some()
    }

    /// Bytes of the message whose parts are coming.
    pub fn unread_bytes(&self) -> usize {
        self.decoder.held() + self.unfinished.as_ref().map_or(0, |whole| whole.body.len())
    }

    /// Bytes of the messages that the other end has not confirmed.
    pub const fn kept_bytes(&self) -> usize {
        self.kept_bytes
    }

    fn hear(&mut self, frame: Numbered, most: usize) -> Result<Option<Frame>, Trouble> {
        let Numbered { kind, goes_on, number, received, body } = frame;
        let has_number = number != 0;
        if has_number == kind.is_about_the_line() && kind != MessageType::REFUSE {
            return Err(Trouble::Breach(format!("a message {kind} has the number {number}")));
        }
        if has_number && number != self.received + 1 {
            return Err(Damage::Order { expected: self.received + 1, number }.into());
        }
        if received > self.said {
            let what = format!("it confirms message {received} of {}", self.said);
            return Err(Trouble::Breach(what));
        }
        self.confirm(received);
        if !has_number {
            return Ok(Some(Frame { kind, body }));
        }
        self.received = number;
        self.untold_bytes += body.len() + PART_BYTES;
        self.join(Frame { kind, body }, goes_on, most)
    }

    /// Puts the parts of a message together.
    fn join(&mut self, part: Frame, goes_on: bool, most: usize) -> Result<Option<Frame>, Trouble> {
        let mut whole = match self.unfinished.take() {
            None => part,
            Some(mut whole) if whole.kind == part.kind => {
                whole.body.extend_from_slice(&part.body);
                whole
            }
            Some(whole) => {
                let what = format!("a message {} amid one {}", part.kind, whole.kind);
                return Err(Trouble::Breach(what));
            }
        };
        let most = whole.kind.body_most().min(most);
        if whole.body.len() > most {
            let what = format!("a message {} is longer than {most} bytes", whole.kind);
            return Err(Trouble::Breach(what));
        }
        if goes_on {
            self.unfinished = Some(whole);
            return Ok(None);
        }
        whole.body.shrink_to_fit();
        Ok(Some(whole))
    }

    fn confirm(&mut self, received: u64) {
        self.confirmed = self.confirmed.max(received);
        while self.unconfirmed.front().is_some_and(|part| part.number <= self.confirmed) {
            self.forget_first();
        }
    }

    /// What is beyond the bound goes, oldest first: the session goes on, as long as its connection does.
    fn keep(&mut self, part: Part) {
        self.kept_bytes += PART_BYTES + part.body.len();
        self.unconfirmed.push_back(part);
        while self.kept_bytes > KEPT_MOST_BYTES {
            self.forget_first();
        }
    }

    fn forget_first(&mut self) {
        if let Some(part) = self.unconfirmed.pop_front() {
            self.kept_bytes -= PART_BYTES + part.body.len();
        }
        if self.unconfirmed.is_empty() {
            // A report of a megabyte leaves nothing behind.
            self.unconfirmed = VecDeque::new();
        }
    }

    fn encode(&self, Part { kind, goes_on, number, body }: &Part) -> Vec<u8> {
        let received = self.received;
        Numbered { kind: *kind, goes_on: *goes_on, number: *number, received, body: body.clone() }
            .encode()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::frame::BODY_MOST;

    fn links() -> [Link; 2] {
        [Link::new(Token([7; 16])), Link::new(Token([7; 16]))]
    }

    fn report(bytes: usize) -> Frame {
        let body = (0..bytes).map(|index| (index / 7) as u8).collect();
        Frame { kind: MessageType::REPORT, body }
    }

    fn hear(link: &mut Link, mut bytes: &[u8]) -> Result<Vec<Frame>, Trouble> {
        let mut frames = Vec::new();
        while let Some(frame) = link.next(&mut bytes, BODY_MOST)? {
            frames.push(frame);
        }
        Ok(frames)
    }

    #[test]
    fn a_long_message_comes_in_parts_and_goes_on_after_the_last_good_one() {
        let [mut here, mut there] = links();
        let said = here.say(&report(100_000));
        let mut damaged = said.clone();
        // In the fifteenth part of 25.
        damaged[60_000] ^= 1;
        assert!(matches!(hear(&mut there, &damaged), Err(Trouble::Damage(Damage::Body { .. }))));
        assert_eq!((there.received(), here.said), (14, 25));
        assert_eq!((there.unread_bytes(), there.kept_bytes()), (14 * PART_MOST, 0));
        assert_eq!(here.kept_bytes(), 100_000 + 25 * PART_BYTES);
        there.break_off();
        assert!(here.can_go_on_after(14));
        let again = here.go_on_after(14);
        assert_eq!(again.len(), 11);
        assert_eq!(hear(&mut there, &again.concat()), Ok(vec![report(100_000)]));
    }

    #[test]
    fn what_comes_again_or_from_nowhere_is_not_taken() {
        let [mut here, mut there] = links();
        let first = here.say(&report(1));
        let [second, third] = [(); 2].map(|()| here.say(&report(2)));
        assert_eq!(hear(&mut there, &first), Ok(vec![report(1)]));
        let order = |expected, number| Err(Trouble::Damage(Damage::Order { expected, number }));
        assert_eq!(hear(&mut there, &first), order(2, 1));
        assert_eq!(hear(&mut there, &third), order(2, 3));
        assert_eq!(hear(&mut there, &second), Ok(vec![report(2)]));
        assert!(!here.can_go_on_after(4), "it was never said");
    }

    #[test]
    fn what_is_confirmed_is_forgotten_and_never_asked_for_again() {
        let [mut here, mut there] = links();
        let said = [here.say(&report(1)), here.say(&report(1))].concat();
        hear(&mut there, &said).expect("good");
        assert!(!here.is_confirmed());
        let word = Frame { kind: MessageType::ACK, body: b"{}".to_vec() };
        let word = there.utter(word);
        assert_eq!(hear(&mut here, &word).expect("good").len(), 1);
        assert!(here.is_confirmed() && here.can_go_on_after(2));
        assert_eq!((here.kept_bytes, here.unconfirmed.capacity()), (0, 0));
        assert!(!here.can_go_on_after(1), "it has been confirmed");
    }

    #[test]
    fn what_is_kept_is_bounded_and_what_is_gone_is_not_promised() {
        let [mut here, _] = links();
        for _ in 0..20 {
            here.say(&report(BODY_MOST));
            assert!(here.kept_bytes <= KEPT_MOST_BYTES);
        }
        assert!(!here.can_go_on_after(0) && here.can_go_on_after(here.said));
        let oldest = here.unconfirmed.front().expect("some is kept").number;
        assert!(here.can_go_on_after(oldest - 1) && !here.can_go_on_after(oldest - 2));
    }

    #[test]
    fn the_other_end_is_told_how_far_before_it_keeps_much() {
        let [mut here, mut there] = links();
        let said = here.say(&report(60_000));
        hear(&mut there, &said).expect("good");
        assert!(!there.owes_word());
        let said = here.say(&report(60_000));
        hear(&mut there, &said).expect("good");
        assert!(there.owes_word());
    }

    #[test]
    fn lies_are_breaches() {
        let [mut here, mut there] = links();
        let lie = |kind, number, received, goes_on| {
            Numbered { kind, goes_on, number, received, body: b"{}".to_vec() }.encode()
        };
        for bytes in [
            lie(MessageType::START, 0, 0, false),
            lie(MessageType::PING, 1, 0, false),
            lie(MessageType::START, 1, 1, false),
        ] {
            assert!(matches!(hear(&mut there, &bytes), Err(Trouble::Breach(_))));
        }
        let (first, other) =
            (lie(MessageType::REPORT, 1, 0, true), lie(MessageType::TOTALS, 2, 0, false));
        assert_eq!(hear(&mut here, &first), Ok(Vec::new()));
        assert!(matches!(hear(&mut here, &other), Err(Trouble::Breach(_))));
    }

    #[test]
    fn a_message_in_parts_is_as_bounded_as_a_whole_one() {
        let [mut here, mut there] = links();
        let mut bytes = Vec::new();
        for _ in 0..17 {
            here.say(&Frame { kind: MessageType::HELLO, body: vec![b' '; PART_MOST] });
            let part = here.unconfirmed.pop_back().expect("it is kept");
            bytes.extend(here.encode(&Part { goes_on: true, ..part }));
        }
        let trouble = hear(&mut there, &bytes).expect_err("68 KiB of hello");
        assert!(matches!(trouble, Trouble::Breach(what) if what.contains("65536")));
    }
}
