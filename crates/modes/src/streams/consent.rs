//! Consent: a stream of datagrams goes on only while the address that it goes to keeps asking for it.
//!
//! The end that awaits a stream says about every [`PERIOD_NS`], where there are very many less often, on the flow's own path that it does. The end that sends stops
//! where it has heard no such word for [`FRESH_NS`], and soon where the other machine answers that nobody is there. The idea is
//! that of RFC 7675. The waits are drawn from half the period to one and a half, as those of RTCP are (RFC 3550, section 6.3.1):
//! flows that spoke in step would fill a short queue in step, and those at the end of it would never be heard. An end that sends a stream of its own asks by that as well: over a path that loses most of all
//! datagrams, those are the ones that come.
//!
//! A consent is a datagram's header alone (`header.rs`), which begins with `PSCN` and is numbered from 0 on. Older
//! peers know nothing of it; with them only a refusal ends a stream.

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Role};
use pathscope_core::quantity::Period;
use pathscope_core::record::{FlowError, FlowErrorKind};
use pathscope_flow::{Batch, SendWant};

use super::header::{HEADER_BYTES, Header, Identity, Reading, differing_bits};
use crate::conventions::frames::START;
use crate::draw::Draws;
use crate::last_look::LastLook;
use crate::pattern::SessionKey;

/// Length of a consent.
const CONSENT_BYTES: usize = HEADER_BYTES;
/// First four bytes of a consent.
const MAGIC: [u8; 4] = *b"PSCN";
/// Bits of them that may differ in one that was damaged. From those of data they differ in five.
const MAGIC_BITS: u32 = 2;

/// How often an end says that it wants a stream, in the mean: of those that are said while one is fresh, nineteen of twenty may be
/// lost.
const PERIOD_NS: u64 = 250_000_000;
/// Of all flows of a test together one is said in so long at the most: of very many each says it less often.
const SHARE_NS: u64 = 25_000;
/// But so often: of those that are said while one is fresh, three of four may be lost.
const LONGEST_PERIOD_NS: u64 = 1_250_000_000;
/// How long a stream goes on after the last such word.
const FRESH_NS: u64 = 5_000_000_000;
/// And after a refusal by the other machine, in tenths of what is between two words in the mean: three more would have come meanwhile.
const REFUSED_TENTHS: u64 = 32;
/// From one look into the socket to the next, while there is something to send all the time.
const LOOK_NS: u64 = 1_000_000;
/// How long the socket is looked into once the time is over.
const LAST_LOOK_NS: u64 = 100_000_000;

/// What one end of a flow says of consent, and what it has heard.
#[derive(Debug)]
pub struct Consent {
    peer: Role,
    /// Whether the other end knows of it.
    pub is_spoken: bool,
    /// With a peer of ctsTraffic: that this end wants a stream is said in its words, and so often until something came.
    pub start_again_ns: Option<u64>,
    ours: Identity,
    theirs: Identity,
    /// When it looks for word of the other end next, while it sends.
    look_at: Tick,
    /// When this end says again that it wants the stream.
    say_at: Tick,
    /// It is to be said now: what is sent next is a consent.
    pub is_due: bool,
    said: u64,
    /// What the waits between them are drawn from, and what they are in the mean.
    waits: Draws,
    period_ns: u64,
    /// Numbers below it have been heard, or are out of date.
    heard: u64,
    /// The last sign that the other end wants this one's stream, or the start.
    since: Tick,
    /// Until when that is good.
    until: Tick,
    /// Signs before then change nothing.
    renew_at: Tick,
    /// The system's number for a refusal after which no such sign has come.
    refusal: Option<i32>,
    /// From when the time is over on: until when the socket is looked into.
    look_until: Option<Tick>,
    last_look: LastLook,
}

impl Consent {
    /// Of flow `flow` at the end of this role, where the other end knows nothing of consent.
    pub fn new(role: Role, session: SessionKey, flow: FlowId) -> Self {
        let named = |role| Identity::new(MAGIC, session.token, flow.0, role == Role::Client);
        Self {
            peer: role.peer(),
            is_spoken: false,
            start_again_ns: None,
            ours: named(role),
            theirs: named(role.peer()),
            look_at: Tick::ZERO,
            say_at: Tick::NEVER,
            is_due: false,
            said: 0,
            waits: Draws::new(
                session.token,
                u64::from(flow.0) << 1 | u64::from(role == Role::Client),
            ),
            period_ns: PERIOD_NS,
            heard: 0,
            since: Tick::ZERO,
            until: Tick::NEVER,
            renew_at: Tick::ZERO,
            refusal: None,
            look_until: None,
            last_look: LastLook::default(),
        }
    }

    /// It is one of so many flows of a test.
    pub fn share_among(&mut self, flows: u32) {
        self.period_ns = (u64::from(flows) * SHARE_NS).clamp(PERIOD_NS, LONGEST_PERIOD_NS);
    }

    /// How long a stream goes on after a refusal.
    const fn refused_ns(&self) -> u64 {
        self.period_ns / 10 * REFUSED_TENTHS
    }

    /// Whether to look for words of the other end now. An end that has something to send does so a thousand times a second:
    /// one that looked after each batch would make twice the system calls.
    #[inline]
    pub fn listens(&mut self, sends_now: bool, now: Tick) -> bool {
        let is_time = !sends_now || now >= self.look_at;
        if is_time {
            self.look_at = now.plus_nanos(LOOK_NS);
        }
        self.is_spoken && is_time
    }

    /// The flow begins: the other end's address was proven before.
    pub fn start(&mut self, now: Tick) {
        self.renew(now);
        if self.is_spoken {
            self.say_at = now.plus_nanos(self.waits.within(0, self.period_ns));
        }
        if self.start_again_ns.is_some() {
            self.say_at = now;
        }
    }

    /// When to [`attend`](Self::attend) next.
    #[inline]
    pub fn due(&self) -> Tick {
        self.say_at.min(self.look_until.unwrap_or(self.until))
    }

    /// Something is due. Fails where the stream that this end sends has lost its consent.
    #[cold]
    pub fn attend(&mut self, (sends, awaits): (bool, bool), now: Tick) -> Result<(), FlowError> {
        if now >= self.say_at {
            (self.say_at, self.is_due) = (Tick::NEVER, awaits);
        }
        if now < self.until {
            return Ok(());
        }
        if !sends {
            (self.until, self.look_until) = (Tick::NEVER, None);
            self.last_look.reset();
            return Ok(());
        }
        self.look_until = self.last_look.until(LAST_LOOK_NS, now);
        if self.look_until.is_some() { Ok(()) } else { Err(self.lost(now)) }
    }

    /// Whether nothing may be sent for now.
    #[inline]
    pub fn is_lapsed(&self) -> bool {
        self.look_until.is_some()
    }

    /// So many bytes wait in the socket.
    pub fn weighed(&mut self, held: u64) {
        self.last_look.weighed(held);
    }

    /// What to send before anything else.
    #[inline]
    pub fn offer(&mut self, awaits: bool) -> Option<SendWant> {
        self.is_due &= awaits;
        let stride = if self.start_again_ns.is_some() { START.len() } else { CONSENT_BYTES };
        self.is_due.then_some(SendWant::Datagrams { stride, max: 1 })
    }

    /// Writes it.
    pub fn fill(&self, batch: &mut Batch<'_>, now: Tick) {
        if self.start_again_ns.is_some() {
            if let Some(datagram) = batch.datagram(START.len()) {
                datagram.copy_from_slice(START);
            }
        } else if let Some(datagram) = batch.datagram(CONSENT_BYTES) {
            let header = Header { sequence: self.said, sent: now, length: CONSENT_BYTES as u32 };
            header.write(self.ours, datagram);
        }
    }

    /// It has left, or was refused, which is as good as lost.
    pub fn said(&mut self, at: Tick) {
        self.is_due = false;
        self.said += 1;
        self.waits.advance();
        let wait = self.waits.within(self.period_ns / 2, self.period_ns / 2 * 3);
        self.say_at = at.plus_nanos(self.start_again_ns.unwrap_or(wait));
    }

    /// Whether a datagram that is no sound one of a stream is a consent, or was one. One that was damaged, or is none of this
    /// flow's, or older than another, says nothing.
    #[cold]
    pub fn hears(&mut self, datagram: &[u8], now: Tick) -> bool {
        if let Reading::Sound(header) = Header::read(self.theirs, datagram)
            && header.length as usize == datagram.len()
            && header.sequence >= self.heard
        {
            self.heard = header.sequence.saturating_add(1);
            self.renew(now);
        }
        let magic = datagram.get(..MAGIC.len());
        magic.is_some_and(|magic| differing_bits(&MAGIC, magic) <= MAGIC_BITS)
    }

    /// A datagram of the other end's own stream came.
    #[inline]
    pub fn sign_of_life(&mut self, now: Tick) {
        if self.start_again_ns.is_some() {
            (self.say_at, self.is_due) = (Tick::NEVER, false);
        }
        if now >= self.renew_at {
            self.renew(now);
        }
    }

    /// The other machine has answered that nobody wants what this end sends.
    pub fn refused(&mut self, errno: i32, now: Tick) {
        let until = now.plus_nanos(self.refused_ns());
        if until < self.until {
            (self.until, self.refusal) = (until, Some(errno));
        }
    }

    fn renew(&mut self, now: Tick) {
        self.since = now;
        self.until = if self.is_spoken { now.plus_nanos(FRESH_NS) } else { Tick::NEVER };
        self.renew_at = now.plus_nanos(PERIOD_NS);
        (self.refusal, self.look_until) = (None, None);
        self.last_look.reset();
    }

    fn lost(&self, now: Tick) -> FlowError {
        let who = if self.peer == Role::Client { "client" } else { "server" };
        let text = match self.refusal {
            Some(errno) => format!(
                "the {who}'s machine refuses its datagrams (error {errno}), and in {} nothing has come from there that asks \
                 for more; see whether it still runs",
                Period(self.refused_ns())
            ),
            None => format!(
                "the {who} has not asked for its datagrams for {}; without that they are sent for {} at most. See whether \
                 it still runs, and whether UDP passes both ways",
                Period(now.nanos_since(self.since) / 1_000_000 * 1_000_000),
                Period(FRESH_NS)
            ),
        };
        // No call failed here: the number of a refusal is in the sentence.
        FlowError { kind: FlowErrorKind::Network, text, errno: None }
    }
}

#[cfg(test)]
mod tests;
