//! Consent: a stream of datagrams goes on only while the address that it goes to keeps asking for it.
//!
//! The end that awaits a stream says about every [`PERIOD_NS`] on the flow's own path that it does. The end that sends stops
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

use super::header::{HEADER_BYTES, Header, Identity, Reading};
use crate::draw::Draws;
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
/// How long a stream goes on after the last such word.
const FRESH_NS: u64 = 5_000_000_000;
/// And after a refusal by the other machine: three more words would have come meanwhile.
const REFUSED_NS: u64 = 800_000_000;
/// From one look into the socket to the next, while there is something to send all the time.
const LOOK_NS: u64 = 1_000_000;
/// How long the socket is looked into once the time is over. Where this machine stood still meanwhile, words wait there
/// that came in time.
const LAST_LOOK_NS: u64 = 100_000_000;

/// What one end of a flow says of consent, and what it has heard.
#[derive(Debug)]
pub struct Consent {
    peer: Role,
    /// Whether the other end knows of it.
    pub is_spoken: bool,
    ours: Identity,
    theirs: Identity,
    /// When it looks for word of the other end next, while it sends.
    look_at: Tick,
    /// When this end says again that it wants the stream.
    say_at: Tick,
    /// It is to be said now.
    is_due: bool,
    said: u64,
    /// What the waits between them are drawn from.
    waits: Draws,
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
    /// The time is over: until when the socket is looked into.
    look_until: Option<Tick>,
}

impl Consent {
    /// Of flow `flow` at the end of this role, where the other end knows nothing of consent.
    pub fn new(role: Role, session: SessionKey, flow: FlowId) -> Self {
        let named = |role| Identity::new(MAGIC, session.token(), flow.0, role == Role::Client);
        Self {
            peer: role.peer(),
            is_spoken: false,
            ours: named(role),
            theirs: named(role.peer()),
            look_at: Tick::ZERO,
            say_at: Tick::NEVER,
            is_due: false,
            said: 0,
            waits: Draws::new(
                session.token(),
                u64::from(flow.0) << 1 | u64::from(role == Role::Client),
            ),
            heard: 0,
            since: Tick::ZERO,
            until: Tick::NEVER,
            renew_at: Tick::ZERO,
            refusal: None,
            look_until: None,
        }
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
            self.say_at = now.plus_nanos(self.waits.within(0, PERIOD_NS));
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
            return Ok(());
        }
        let look_until = *self.look_until.get_or_insert(now.plus_nanos(LAST_LOOK_NS));
        if now < look_until { Ok(()) } else { Err(self.lost(now)) }
    }

    /// Whether nothing may be sent for now.
    #[inline]
    pub fn is_lapsed(&self) -> bool {
        self.look_until.is_some()
    }

    /// What to send before anything else.
    #[inline]
    pub fn offer(&mut self, awaits: bool) -> Option<SendWant> {
        self.is_due &= awaits;
        self.is_due.then_some(SendWant::Datagrams { stride: CONSENT_BYTES, max: 1 })
    }

    /// Whether what is sent next is a consent.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.is_due
    }

    /// Writes it.
    pub fn fill(&self, batch: &mut Batch<'_>, now: Tick) {
        if let Some(datagram) = batch.datagram(CONSENT_BYTES) {
            let header = Header { sequence: self.said, sent: now, length: CONSENT_BYTES as u32 };
            header.write(self.ours, datagram);
        }
    }

    /// It has left, or was refused, which is as good as lost.
    pub fn said(&mut self, at: Tick) {
        self.is_due = false;
        self.said += 1;
        self.waits.advance();
        self.say_at = at.plus_nanos(self.waits.within(PERIOD_NS / 2, PERIOD_NS / 2 * 3));
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
        let differing =
            |magic| (u32::from_ne_bytes(MAGIC) ^ u32::from_ne_bytes(magic)).count_ones();
        datagram.first_chunk::<4>().is_some_and(|&magic| differing(magic) <= MAGIC_BITS)
    }

    /// A datagram of the other end's own stream came.
    #[inline]
    pub fn sign_of_life(&mut self, now: Tick) {
        if now >= self.renew_at {
            self.renew(now);
        }
    }

    /// The other machine has answered that nobody wants what this end sends.
    pub fn refused(&mut self, errno: i32, now: Tick) {
        let until = now.plus_nanos(REFUSED_NS);
        if until < self.until {
            (self.until, self.refusal) = (until, Some(errno));
        }
    }

    fn renew(&mut self, now: Tick) {
        self.since = now;
        self.until = if self.is_spoken { now.plus_nanos(FRESH_NS) } else { Tick::NEVER };
        self.renew_at = now.plus_nanos(PERIOD_NS);
        (self.refusal, self.look_until) = (None, None);
    }

    fn lost(&self, now: Tick) -> FlowError {
        let who = if self.peer == Role::Client { "client" } else { "server" };
        let text = match self.refusal {
            Some(errno) => format!(
                "the {who}'s machine refuses its datagrams (error {errno}), and in {} nothing has come from there that asks \
                 for more; see whether it still runs",
                Period(REFUSED_NS)
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
mod tests {
    use pathscope_core::id::Token;

    use super::*;

    const MS: u64 = 1_000_000;

    fn at(milliseconds: u64) -> Tick {
        Tick::from_nanos(milliseconds * MS)
    }

    fn session() -> SessionKey {
        SessionKey::from(Token(std::array::from_fn(|index| index as u8)))
    }

    /// Both ends of flow 7, started at 0.
    fn both() -> (Consent, Consent) {
        let end = |role| {
            let mut consent = Consent::new(role, session(), FlowId(7));
            consent.is_spoken = true;
            consent.start(Tick::ZERO);
            consent
        };
        (end(Role::Client), end(Role::Server))
    }

    /// What an end says next.
    fn said(consent: &mut Consent, now: Tick) -> Vec<u8> {
        consent.say_at = now;
        assert!(consent.attend((false, true), now).is_ok());
        assert!(consent.offer(true).is_some());
        let mut buffer = [0; 64];
        let mut batch = Batch::new(&mut buffer, CONSENT_BYTES, 1);
        consent.fill(&mut batch, now);
        consent.said(now);
        batch.bytes().to_vec()
    }

    #[test]
    fn a_sender_that_never_waits_looks_a_thousand_times_a_second() {
        let (_, mut server) = both();
        let looks =
            (0..10_000).filter(|tenth| server.listens(true, Tick::from_nanos(tenth * MS / 10)));
        assert_eq!(looks.count(), 1_000);
        // One that waits, or may not send, always hears.
        assert!((0..10).all(|_| server.listens(false, at(1_000))));
        assert!(!server.listens(true, at(1_000)));
        // Nobody says anything to who does not know of it.
        let mut older = Consent::new(Role::Server, session(), FlowId(7));
        older.start(Tick::ZERO);
        assert!(!older.listens(false, at(9_000)));
    }

    /// When the sender gives up, if nothing comes.
    fn gives_up(consent: &mut Consent) -> (Tick, FlowError) {
        loop {
            let now = consent.due();
            assert!(now < Tick::NEVER, "it never does");
            if let Err(error) = consent.attend((true, false), now) {
                return (now, error);
            }
        }
    }

    #[test]
    fn a_consent_is_a_promise() {
        let (mut client, mut server) = both();
        said(&mut client, at(0));
        let datagram = said(&mut client, at(250));
        assert_eq!(
            datagram[..24],
            *b"PSCN\x07\0\0\x80\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x01\0\0\0\0\0\0\0"
        );
        assert_eq!(datagram[24..36], [0x80, 0xb2, 0xe6, 0x0e, 0, 0, 0, 0, 40, 0, 0, 0]);
        // The example of docs/protocol.md.
        assert_eq!(datagram[36..], [0x2d, 0x8e, 0xd1, 0x41]);
        server.hears(&datagram, at(1_000));
        assert!(server.due() <= at(250), "it has its own to say");
        server.say_at = Tick::NEVER;
        assert_eq!(server.due(), at(6_000));
    }

    #[test]
    fn flows_do_not_speak_in_step() {
        let said_at = |flow| {
            let mut consent = Consent::new(Role::Server, session(), FlowId(flow));
            consent.is_spoken = true;
            consent.start(at(0));
            let mut said_at = [at(0); 40];
            for when in &mut said_at {
                *when = consent.say_at;
                assert!(consent.attend((false, true), *when).is_ok());
                consent.said(*when);
            }
            said_at
        };
        let all: Vec<[Tick; 40]> = (0..50).map(said_at).collect();
        for flow in &all {
            assert!(flow[0] <= at(250), "{flow:?}");
            let waits = flow.windows(2).map(|pair| pair[1].nanos_since(pair[0]));
            assert!(waits.clone().all(|wait| (125 * MS..=375 * MS).contains(&wait)), "{flow:?}");
            // The mean of 39 waits; five standard deviations are 58 ms.
            let mean = waits.sum::<u64>() / 39;
            assert!(mean.abs_diff(250 * MS) < 58 * MS, "{mean}");
        }
        // Fifty at once would fill a queue of twenty. No 25 ms of ten seconds hold more than a few: five on the average.
        let mut times: Vec<Tick> = all.into_iter().flatten().collect();
        times.sort_unstable();
        let crowded = times.windows(20).find(|some| some[19].nanos_since(some[0]) < 25 * MS);
        assert_eq!(crowded, None);
    }

    #[test]
    fn nothing_else_is_a_consent() {
        let (mut client, mut server) = both();
        server.say_at = Tick::NEVER;
        let datagram = said(&mut client, at(0));
        let unchanged = |server: &mut Consent, datagram: &[u8], why: &str| {
            let is_consent = server.hears(datagram, at(1_000));
            assert_eq!(server.due(), at(5_000), "{why}");
            is_consent
        };
        for bit in 0..8 * datagram.len() {
            let mut damaged = datagram.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(unchanged(&mut server, &damaged, "damaged"), "bit {bit}");
        }
        unchanged(&mut server, &datagram[..39], "cut");
        unchanged(&mut server, &[&datagram[..], &[0]].concat(), "longer");
        let mut other = Consent::new(Role::Client, session(), FlowId(8));
        other.say_at = at(0);
        unchanged(&mut server, &said(&mut other, at(0)), "of another flow");
        let mut own = Consent::new(Role::Server, session(), FlowId(7));
        own.say_at = at(0);
        unchanged(&mut server, &said(&mut own, at(0)), "its own");
        for other in [&b"PSDG"[..], b"PSMV", b"PSAT", b"PSC", b""] {
            assert!(!unchanged(&mut server, other, "of another kind"));
        }
        // Once heard, it does not count again, and nor does one before it.
        let later = said(&mut client, at(250));
        server.hears(&later, at(500));
        assert_eq!(server.due(), at(5_500));
        for old in [&datagram, &later] {
            server.hears(old, at(4_000));
            assert_eq!(server.due(), at(5_500));
        }
    }

    #[test]
    fn a_stream_that_is_not_asked_for_ends_after_five_seconds_with_who_does_not() {
        let (_, mut server) = both();
        server.say_at = Tick::NEVER;
        assert!(server.attend((true, false), at(5_000)).is_ok() && server.is_lapsed());
        let (when, error) = gives_up(&mut server);
        assert_eq!(when, at(5_100));
        assert_eq!(
            error.text,
            "the client has not asked for its datagrams for 5.1 s; without that they are sent for 5 s at most. See \
             whether it still runs, and whether UDP passes both ways"
        );
    }

    #[test]
    fn word_that_waited_while_this_machine_stood_still_is_heard_before_it_gives_up() {
        let (mut client, mut server) = both();
        server.say_at = Tick::NEVER;
        let datagram = said(&mut client, at(0));
        assert!(server.attend((true, false), at(60_000)).is_ok() && server.is_lapsed());
        server.hears(&datagram, at(60_001));
        assert!(!server.is_lapsed());
        assert_eq!(gives_up(&mut server).0, at(65_101));
    }

    #[test]
    fn a_refusal_ends_it_within_a_second_unless_it_is_asked_for_meanwhile() {
        let (mut client, mut server) = both();
        server.say_at = Tick::NEVER;
        let first = said(&mut client, at(0));
        server.refused(111, at(1_000));
        server.hears(&first, at(1_500));
        assert_eq!(server.due(), at(6_500));
        server.refused(111, at(2_000));
        // Those that follow do not put it off.
        server.refused(111, at(2_500));
        let (when, error) = gives_up(&mut server);
        assert_eq!(when, at(2_900));
        assert!(error.text.contains("the client's machine refuses"), "{}", error.text);
    }

    #[test]
    fn with_an_older_peer_a_refusal_alone_ends_it() {
        let mut client = Consent::new(Role::Client, session(), FlowId(7));
        client.start(Tick::ZERO);
        assert_eq!(client.due(), Tick::NEVER);
        client.refused(111, at(1_000));
        client.sign_of_life(at(1_500));
        assert_eq!(client.due(), Tick::NEVER);
        client.refused(111, at(2_000));
        assert_eq!(gives_up(&mut client).0, at(2_900));
    }
}
