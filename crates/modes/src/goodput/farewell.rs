//! How a connection ends that is replaced while the run goes on: the server says how much it verified, then
//! the client closes first.
//!
//! ```text
//!  client                                    server
//!    |<== all bytes of the flow, both ways ==>|
//!    |<-- f5 70 65 00 00 00 00 00, count -----|   so many bytes of the client's were right
//!    |--- FIN, or RST ----------------------->|   only now: nothing on its way can be lost
//! ```
//!
//! An end that was stopped before it had sent everything says so on the control connection instead, and no
//! count follows: the other end could not tell it from the data that is missing.
//!
//! Where a kind of peer ends each connection by what both have agreed on (`conventions`), the server's word is one of theirs, the
//! client takes its FIN back before all is well, and an end that gives up resets.

use pathscope_core::id::Role;
use pathscope_flow::{Close, Gather, RecvWant, SendWant, Want};

use super::errors::BEFORE_COUNT;
use super::patience::Patience;
use crate::conventions::Agreed;

/// Length of the server's word.
pub(super) const NOTE_BYTES: usize = 16;
const MAGIC: [u8; 8] = *b"\xf5pe\0\0\0\0\0";

/// The end of one connection, at one end of it.
#[derive(Debug)]
pub(super) struct Farewell {
    pub role: Role,
    /// How the client closes.
    close: Close,
    /// What the server says; at the client as much as came of it.
    note: [u8; NOTE_BYTES],
    /// Bytes of it that were sent or came.
    moved: u8,
    stage: Stage,
    /// With whom it is another's word that is said. Apart: most flows have none.
    with: Option<Box<With>>,
}

#[derive(Debug)]
struct With {
    agreed: &'static Agreed,
    /// For how long nothing may move.
    patience: Patience,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Stage {
    /// Data still moves.
    Before,
    /// The note is sent, or awaited.
    Note,
    /// The other end's close is awaited.
    Close,
    /// Nothing is left to do.
    Over,
}

/// What came of a note.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Noted {
    /// There is more to come.
    Partly,
    /// The server verified so many bytes.
    Count(u64),
    /// It is the word that all is there.
    Done,
    /// It is no note.
    Nonsense,
}

impl Farewell {
    /// For `role`; the client closes by a reset where that was asked for.
    pub fn new(role: Role, is_rude: bool) -> Self {
        let close = if is_rude { Close::Reset } else { Close::Complete };
        Self { role, close, note: [0; NOTE_BYTES], moved: 0, stage: Stage::Before, with: None }
    }

    /// The same with a peer of such conventions.
    pub fn agreed(role: Role, is_rude: bool, agreed: &'static Agreed) -> Self {
        let is_rude = is_rude && role == Role::Client;
        let with = Some(Box::new(With { agreed, patience: Patience::default() }));
        Self { with, ..Self::new(role, is_rude) }
    }

    /// By what both have agreed on, where that is another's word.
    pub fn by(&self) -> Option<&'static Agreed> {
        self.with.as_ref().map(|with| with.agreed)
    }

    /// For how long nothing may move then.
    pub fn patience(&mut self) -> Option<&mut Patience> {
        self.with.as_mut().map(|with| &mut with.patience)
    }

    /// How many bytes the server says.
    fn length(&self) -> usize {
        match self.by() {
            Some(agreed) => agreed.done.len(),
            None => NOTE_BYTES,
        }
    }

    /// All bytes have moved, `verified` of them towards this end; `is_cut`: an end whose word would be the
    /// note, or is to be, was stopped before its time.
    pub fn begin(&mut self, verified: u64, is_cut: bool) {
        if self.stage != Stage::Before {
            return;
        }
        self.stage = match (self.role, is_cut) {
            (_, false) => Stage::Note,
            (Role::Server, true) => Stage::Close,
            (Role::Client, true) => Stage::Over,
        };
        if self.role == Role::Server
            && let Some(agreed) = self.by()
        {
            self.note[..agreed.done.len()].copy_from_slice(agreed.done);
        } else if self.role == Role::Server {
            self.note[..8].copy_from_slice(&MAGIC);
            self.note[8..].copy_from_slice(&verified.to_be_bytes());
        }
        if is_cut {
            // What was sent may still be on its way.
            self.close = Close::Graceful;
        }
    }

    /// This end gives up: nothing but a reset tells the other.
    pub fn break_off(&mut self) {
        (self.stage, self.close) = (Stage::Over, Close::Reset);
    }

    /// What is wanted for it.
    pub fn want(&self) -> Want {
        let left = self.length() - usize::from(self.moved);
        match (self.stage, self.role) {
            (Stage::Note, Role::Server) => {
                Want { send: SendWant::Stream { max: left }, ..Want::NOTHING }
            }
            (Stage::Note, Role::Client) => Want { recv: RecvWant::UpTo(left), ..Want::NOTHING },
            // Nothing may come but the end.
            (Stage::Close, Role::Server) => {
                let is_patient = self.with.is_none();
                Want { recv: RecvWant::UpTo(1), is_patient, ..Want::NOTHING }
            }
            (Stage::Close, Role::Client) => {
                let close = Some(Close::HalfWrite);
                Want { recv: RecvWant::UpTo(1), close, ..Want::NOTHING }
            }
            (Stage::Over, Role::Client) => Want { close: Some(self.close), ..Want::NOTHING },
            (Stage::Over, Role::Server) => {
                let close = self.by().map(|_| self.close);
                Want { close, ..Want::NOTHING }
            }
            (Stage::Before, _) => Want::NOTHING,
        }
    }

    /// Whether the note is this end's to send.
    pub fn sends(&self) -> bool {
        self.stage == Stage::Note && self.role == Role::Server
    }

    /// What is left of the note to send.
    pub fn gather(&self, gather: &mut Gather<'_>) {
        gather.copy(&self.note[usize::from(self.moved)..self.length()]);
    }

    /// The kernel took some of it.
    pub fn sent(&mut self, amount: usize) {
        self.moved += amount as u8;
        if usize::from(self.moved) >= self.length() {
            self.stage = Stage::Close;
        }
    }

    /// Bytes came where nothing but a note may; how many of them were taken, and what they say.
    pub fn received(&mut self, bytes: &[u8]) -> (usize, Noted) {
        if self.stage != Stage::Note || self.role == Role::Server {
            return (bytes.len(), Noted::Nonsense);
        }
        let start = usize::from(self.moved);
        let taken = bytes.len().min(self.length() - start);
        self.note[start..start + taken].copy_from_slice(&bytes[..taken]);
        self.moved += taken as u8;
        if usize::from(self.moved) < self.length() {
            return (taken, Noted::Partly);
        }
        if let Some(agreed) = self.by() {
            let is_rude = self.close == Close::Reset;
            self.stage = if is_rude { Stage::Over } else { Stage::Close };
            let is_done = self.note[..agreed.done.len()] == *agreed.done;
            return (taken, if is_done { Noted::Done } else { Noted::Nonsense });
        }
        self.stage = Stage::Over;
        let count = self.note.last_chunk().map(|count| u64::from_be_bytes(*count));
        match count {
            Some(count) if self.note[..8] == MAGIC => (taken, Noted::Count(count)),
            _ => (taken, Noted::Nonsense),
        }
    }

    /// At a client: what the server was to say last, and what it has said instead.
    pub fn other_words(&self) -> Option<(&'static [u8], &[u8])> {
        let done = self.by()?.done;
        let said = &self.note[..done.len()];
        let is_other = self.role == Role::Client
            && usize::from(self.moved) == done.len()
            && self.stage != Stage::Before
            && said != done;
        is_other.then_some((&done[..], said))
    }

    /// The other end is gone, by a reset or not, or nothing more will be heard of it: a farewell that waited for that is over.
    /// Whether it is as it should be.
    pub fn end(&mut self, by_reset: bool) -> bool {
        // A client may close as it likes. What it hears of its own close is the server's.
        if self.stage == Stage::Close && !(by_reset && self.role == Role::Client) {
            self.stage = Stage::Over;
        }
        self.stage == Stage::Over
    }

    /// When that is, of a connection that ends now.
    pub fn moment(&self) -> &'static str {
        match (self.by(), self.stage) {
            (None, _) => BEFORE_COUNT,
            (Some(_), Stage::Close) => "after the server had said that it was done",
            (Some(_), _) => "before the server had said that it was done",
        }
    }

    /// Whether this end closed by a reset.
    pub fn is_reset(&self) -> bool {
        let may_reset = self.role == Role::Client || self.by().is_some();
        may_reset && self.stage == Stage::Over && self.close == Close::Reset
    }

    /// Whether data still moves.
    pub fn is_before(&self) -> bool {
        self.stage == Stage::Before
    }

    /// Whether nothing is left to do but to close.
    pub fn is_over(&self) -> bool {
        self.stage == Stage::Over
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_note_on_the_wire() {
        let mut server = Farewell::new(Role::Server, false);
        server.begin(0x0102_0304, false);
        assert_eq!(server.note, *b"\xf5pe\0\0\0\0\0\0\0\0\0\x01\x02\x03\x04");
    }

    proptest! {
        #[test]
        fn a_note_is_read_in_any_pieces(count: u64, cut in 0_usize..=NOTE_BYTES) {
            let mut server = Farewell::new(Role::Server, false);
            server.begin(count, false);
            let mut client = Farewell::new(Role::Client, true);
            client.begin(0, false);
            let (first, rest) = server.note.split_at(cut);
            let heard = client.received(first);
            if cut < NOTE_BYTES {
                prop_assert_eq!(heard, (cut, Noted::Partly));
                prop_assert_eq!(client.received(rest), (NOTE_BYTES - cut, Noted::Count(count)));
            }
            prop_assert_eq!(client.want().close, Some(Close::Reset));
        }

        #[test]
        fn anything_else_is_nonsense(bytes: [u8; NOTE_BYTES]) {
            prop_assume!(bytes[..8] != MAGIC);
            let mut client = Farewell::new(Role::Client, false);
            client.begin(0, false);
            prop_assert_eq!(client.received(&bytes), (NOTE_BYTES, Noted::Nonsense));
        }
    }
}
