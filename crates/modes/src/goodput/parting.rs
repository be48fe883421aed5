//! How a connection ends of which only the client knows how many bytes it carries: a word behind its data, which the server answers.
//!
//! ```text
//!  client                               server
//!    |=== data, message after message ===>|   (some send them back, which is of no use to anybody)
//!    |--- word -------------------------->|
//!    |<-- answer -------------------------|
//!    |--- FIN --------------------------->|
//! ```
//!
//! The word may stand in the data of others, too. So it is one only where nothing follows: at the end of what has come, behind whole
//! messages, or where nothing has come for a while.

use pathscope_core::Tick;
use pathscope_core::id::Role;
use pathscope_flow::{Close, Gather, RecvWant, SendWant, Want};

use super::patience::Patience;
use crate::conventions;

/// What looks like the word amid a message is one where nothing follows for so long.
const FOLLOWS_WITHIN_NS: u64 = 100_000_000;

/// Taken at once of what is sent back.
const DISCARDED_BYTES: usize = 64 << 10;

/// The end of one connection, at one end of it.
#[derive(Debug)]
pub(super) struct Parting {
    terms: &'static conventions::Parting,
    role: Role,
    stage: Stage,
    /// Bytes of this end's word that were sent.
    moved: u8,
    /// Client: the last bytes that came.
    last: [u8; 8],
    /// Server: bytes that may be the word or its beginning, and were left where they are.
    held: u8,
    /// Server: when what looks like the word is taken for it; never: nothing does.
    pub word_at: Tick,
    pub patience: Patience,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Stage {
    /// Data move.
    Data,
    /// This end says its word.
    Word,
    /// Client: the answer is awaited.
    Answer,
    /// Nothing is left to do.
    Over,
}

impl Parting {
    /// For `role`.
    pub fn new(role: Role, terms: &'static conventions::Parting) -> Self {
        Self {
            terms,
            role,
            stage: Stage::Data,
            moved: 0,
            last: [0; 8],
            held: 0,
            word_at: Tick::NEVER,
            patience: Patience::default(),
        }
    }

    /// Whether this is the client's end.
    pub fn is_client(&self) -> bool {
        self.role == Role::Client
    }

    /// Whether what was left where it is looks like the word.
    pub fn has_word(&self) -> bool {
        usize::from(self.held) == self.terms.said.len()
    }

    /// Whether data still move.
    pub fn is_before(&self) -> bool {
        self.stage == Stage::Data
    }

    /// Whether nothing is left to do but to close.
    pub fn is_over(&self) -> bool {
        self.stage == Stage::Over
    }

    /// Whether this end has its word to say.
    pub fn speaks(&self) -> bool {
        self.stage == Stage::Word
    }

    /// All data have moved.
    pub fn begin(&mut self) {
        if self.stage == Stage::Data {
            (self.stage, self.last) = (Stage::Word, [0; 8]);
        }
    }

    /// Nobody listens any more.
    pub fn end(&mut self) {
        self.stage = Stage::Over;
    }

    fn word(&self) -> &'static [u8] {
        match self.role {
            Role::Client => self.terms.said,
            Role::Server => self.terms.answer,
        }
    }

    fn left(&self) -> &'static [u8] {
        self.word().get(usize::from(self.moved)..).unwrap_or_default()
    }

    /// What is wanted for it, beside data.
    pub fn want(&self) -> Want {
        // Whoever sends data back has to get rid of them before anything else.
        let discards = self.role == Role::Client;
        let recv = if discards { RecvWant::UpTo(DISCARDED_BYTES) } else { RecvWant::Nothing };
        match self.stage {
            Stage::Data | Stage::Answer => Want { recv, ..Want::NOTHING },
            Stage::Word => {
                let send = SendWant::Stream { max: self.left().len() };
                Want { send, recv, ..Want::NOTHING }
            }
            Stage::Over => Want { close: Some(Close::Graceful), ..Want::NOTHING },
        }
    }

    /// What is left of this end's word.
    pub fn gather(&self, gather: &mut Gather<'_>) {
        gather.lend(self.left());
    }

    /// The kernel took some of it.
    pub fn sent(&mut self, amount: usize) {
        self.moved = self.moved.saturating_add(u8::try_from(amount).unwrap_or(u8::MAX));
        if self.left().is_empty() {
            self.stage = if self.role == Role::Client { Stage::Answer } else { Stage::Over };
            self.heard(&[]);
        }
    }

    /// Client: what came is the answer, or was sent back.
    pub fn heard(&mut self, bytes: &[u8]) {
        let new = bytes.len().min(self.last.len());
        self.last.rotate_left(new);
        let kept = self.last.len() - new;
        self.last[kept..].copy_from_slice(&bytes[bytes.len() - new..]);
        if self.stage == Stage::Answer && self.last == *self.terms.answer {
            self.stage = Stage::Over;
        }
    }

    /// Server: how many of these bytes, which came behind `position` others, are data. Of the rest it is not known, or they are the word.
    pub fn data_of(&mut self, bytes: &[u8], position: u64, now: Tick) -> usize {
        let said = self.terms.said;
        let longest = said.len().min(bytes.len());
        let held = (1..=longest).rev().find(|&held| bytes.ends_with(&said[..held])).unwrap_or(0);
        let data = bytes.len() - held;
        let is_word = held == said.len();
        let is_whole =
            (position + data as u64).is_multiple_of(self.terms.message_bytes.max(1).into());
        self.held = held as u8;
        self.word_at = match (is_word, is_whole) {
            (false, _) => Tick::NEVER,
            (true, true) => now,
            (true, false) => now.plus_nanos(FOLLOWS_WITHIN_NS),
        };
        data
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static TERMS: conventions::Parting =
        conventions::Parting { said: b"BYE", answer: b"ACK: BYE", message_bytes: 10 };
    const NOW: Tick = Tick::from_nanos(5);

    #[test]
    fn a_word_is_one_where_nothing_follows() {
        let mut server = Parting::new(Role::Server, &TERMS);
        for (bytes, position, data, word_at) in [
            (&b"0123456789BYE"[..], 0, 10, NOW),
            (b"BYE", 20, 0, NOW),
            (b"0123BYE", 0, 4, NOW.plus_nanos(FOLLOWS_WITHIN_NS)),
            (b"0123456789BY", 0, 10, Tick::NEVER),
            (b"0123456789B", 0, 10, Tick::NEVER),
            (b"0BYE456789", 0, 10, Tick::NEVER),
            (b"BYEB", 0, 3, Tick::NEVER),
            (b"", 7, 0, Tick::NEVER),
        ] {
            assert_eq!(server.data_of(bytes, position, NOW), data, "{bytes:?}");
            assert_eq!(server.word_at, word_at, "{bytes:?}");
        }
    }

    #[test]
    fn an_answer_is_known_behind_whatever_was_sent_back_and_in_any_pieces() {
        for cut in 0..12 {
            let mut client = Parting::new(Role::Client, &TERMS);
            client.heard(b"ACK: BYE");
            client.begin();
            assert!(client.speaks(), "what came before the word is no answer");
            client.sent(2);
            client.sent(1);
            let (first, rest) = b"6789ACK: BYE".split_at(cut);
            client.heard(first);
            assert!(!client.is_over());
            client.heard(rest);
            assert!(client.is_over(), "{cut}");
        }
    }
}
