//! How a UDP flow joins its session: no stream of datagrams goes to an address that has not echoed an
//! unpredictable value on that same flow.
//!
//! ```text
//!  client                                                       server
//!    |--- 1 request: seat, nonce, padded ------------------------->|
//!    |<-- 2 challenge: nonce, cookie = keyed hash(address, seat, nonce, period)
//!    |--- 3 confirm: seat, nonce, cookie ------------------------->|   the address is proven
//!    |<-- 4 attached: nonce, or refused and why -------------------|
//! ```
//!
//! ```text
//!            0      4    5    6     7    8      12     16        32        40        56        64
//!            +------+----+----+-----+----+------+------+---------+---------+---------+---------+
//!  client    | PSAT |kind|lane|group| 0  | flow |check | token   | nonce   | cookie  | proof   |
//!            +------+----+----+-----+----+------+------+---------+---------+---------+---------+
//!            0      4    5    6          8         16        32
//!            +------+----+----+----------+---------+---------+
//!  server    | PSAT |kind|code| check    | nonce   | cookie  |
//!            +------+----+----+----------+---------+---------+
//! ```
//!
//! Numbers are in network order; what is zero is sent as zero and not looked at; longer datagrams are
//! taken and the rest of them ignored. An answer is half as long as what it answers, so the server
//! amplifies nothing. It remembers nothing before the address is proven: it computes the cookie again.
//! In a session of version 2 the confirmation bears a proof that it is of that session, made of all before it: of the
//! cookie, too, and so of one address. Its check is the CRC-32C of all else; both are 0 in a request and in version 1.
//! A request that was damaged is challenged for what it is not, and its confirmation challenged anew, as is one whose proof
//! was damaged; an answer that was damaged is found by its check, the two halves of a CRC-32C xored (0: of an older server,
//! which says none).
//! Each step may be lost, repeated or overtaken; the client says its last message again until it is answered.
//!
//! In one file: one exchange, and both sides of it.

use std::net::{IpAddr, SocketAddr};

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane, Token};
use pathscope_flow::GroupId;

use super::checksum::crc32c;
use super::keyed_hash::keyed_hash;
use super::opening::AttachCode;
use super::proof::Proof;
use crate::attach::{
    AttachDatagrams, AttachError, ClaimSeat, DatagramHeard, HearDatagrams, Seat, SeatRefusal,
};

/// Length of what a client says.
pub const REQUEST_BYTES: usize = 64;
/// Length of what a server answers.
pub const ANSWER_BYTES: usize = 32;

/// Where a confirmation says its check, and its proof.
const CHECK_AT: usize = 12;
const PROOF_AT: usize = 56;

const MAGIC: [u8; 4] = *b"PSAT";
const REQUEST: u8 = 1;
const CHALLENGE: u8 = 2;
const CONFIRM: u8 = 3;
const ANSWER: u8 = 4;

/// The first repetition comes after this: longer than most round trips, short beside a test.
const RESEND_FIRST_NS: u64 = 200_000_000;
/// Each wait is twice the last, up to this, so that a path of one second works too.
const RESEND_MOST_NS: u64 = 1_000_000_000;
/// Then there is no way through. Less than the 15 s after which the dialogue gives up, so that the
/// better sentence is told.
const GIVE_UP_S: u64 = 10;
/// A cookie is good in the period in which it was made and in the next: longer than any client asks, and not for ever,
/// since whoever has an address need not keep it.
const COOKIE_NS: u64 = 15_000_000_000;

/// Whether this is a datagram of this exchange, and not one of a flow's own.
pub fn is_attach(datagram: &[u8]) -> bool {
    datagram.starts_with(&MAGIC)
}

/// What a client says.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct AttachMessage {
    kind: u8,
    seat: Seat,
    nonce: u64,
    cookie: [u8; 16],
    proof: Proof,
}

impl AttachMessage {
    fn encode(&self) -> [u8; REQUEST_BYTES] {
        let mut bytes = [0; REQUEST_BYTES];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4] = self.kind;
        bytes[5] = self.seat.lane.0;
        bytes[6] = self.seat.group.0;
        bytes[8..12].copy_from_slice(&self.seat.flow.0.to_be_bytes());
        bytes[16..32].copy_from_slice(&self.seat.token.0);
        bytes[32..40].copy_from_slice(&self.nonce.to_be_bytes());
        bytes[40..56].copy_from_slice(&self.cookie);
        bytes
    }

    /// What proves that it is of the session of this name.
    fn proof(&self, session: Token) -> Proof {
        Proof::of(session, &self.encode()[..PROOF_AT])
    }

    /// With its proof and the check of it, as it goes on the wire.
    fn sealed(&self) -> [u8; REQUEST_BYTES] {
        let mut bytes = self.encode();
        bytes[PROOF_AT..].copy_from_slice(&self.proof.0);
        let check = check_of_request(&bytes);
        bytes[CHECK_AT..CHECK_AT + 4].copy_from_slice(&check);
        bytes
    }

    /// Whether what it says of a proof is what was said. Version 1 says nothing.
    fn is_whole(datagram: &[u8]) -> bool {
        datagram.first_chunk::<REQUEST_BYTES>().is_some_and(|bytes| {
            let (check, proof) = (&bytes[CHECK_AT..CHECK_AT + 4], &bytes[PROOF_AT..]);
            let says_nothing = check.iter().chain(proof).all(|&byte| byte == 0);
            says_nothing || *check == check_of_request(bytes)
        })
    }

    fn decode(datagram: &[u8]) -> Option<Self> {
        let bytes = datagram.first_chunk::<REQUEST_BYTES>()?;
        is_attach(bytes).then(|| Self {
            kind: bytes[4],
            seat: Seat {
                token: Token(array(&bytes[16..])),
                group: GroupId(bytes[6]),
                flow: FlowId(u32::from_be_bytes(array(&bytes[8..]))),
                lane: Lane(bytes[5]),
            },
            nonce: u64::from_be_bytes(array(&bytes[32..])),
            cookie: array(&bytes[40..]),
            proof: Proof(array(&bytes[PROOF_AT..])),
        })
    }
}

/// What a server answers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Answer {
    kind: u8,
    code: AttachCode,
    nonce: u64,
    cookie: [u8; 16],
}

impl Answer {
    fn encode(&self) -> [u8; ANSWER_BYTES] {
        let mut bytes = [0; ANSWER_BYTES];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4] = self.kind;
        bytes[5] = self.code.0;
        bytes[8..16].copy_from_slice(&self.nonce.to_be_bytes());
        bytes[16..].copy_from_slice(&self.cookie);
        let check = check_of(&bytes);
        bytes[6..8].copy_from_slice(&check);
        bytes
    }

    fn decode(datagram: &[u8]) -> Option<Self> {
        let bytes = datagram.first_chunk::<ANSWER_BYTES>()?;
        let is_whole = bytes[6..8] == [0, 0] || bytes[6..8] == check_of(bytes);
        (is_attach(bytes) && is_whole).then(|| Self {
            kind: bytes[4],
            code: AttachCode(bytes[5]),
            nonce: u64::from_be_bytes(array(&bytes[8..])),
            cookie: array(&bytes[16..]),
        })
    }
}

/// What finds damage in a confirmation, where its cookie does not.
fn check_of_request(request: &[u8; REQUEST_BYTES]) -> [u8; 4] {
    crc32c(&[&request[..CHECK_AT], &request[CHECK_AT + 4..]]).to_be_bytes()
}

/// What finds damage in an answer.
fn check_of(answer: &[u8; ANSWER_BYTES]) -> [u8; 2] {
    let [a, b, c, d] = crc32c(&[&answer[..6], &answer[8..]]).to_be_bytes();
    [a ^ c, b ^ d]
}

/// The client's side of one lane: what to send, and when again.
#[derive(Debug)]
pub struct Attaching {
    seat: Seat,
    /// What proves that it is of its session, where anything does.
    session: Option<Token>,
    nonce: u64,
    state: State,
    send_at: Tick,
    wait_ns: u64,
    give_up: Tick,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum State {
    Requesting,
    Confirming([u8; 16]),
    Over(Result<(), AttachError>),
}

impl Attaching {
    /// A lane that is to join; `session` is what its session is called, if it has a name, and `nonce` unpredictable and
    /// another one for each.
    pub const fn new(seat: Seat, session: Option<Token>, nonce: u64, now: Tick) -> Self {
        Self {
            seat,
            session,
            nonce,
            state: State::Requesting,
            send_at: now,
            wait_ns: RESEND_FIRST_NS,
            give_up: now.plus_nanos(GIVE_UP_S * 1_000_000_000),
        }
    }

    fn confirm(&mut self, cookie: [u8; 16], now: Tick) {
        self.state = State::Confirming(cookie);
        self.send_at = now;
        self.wait_ns = RESEND_FIRST_NS;
    }

    fn expire(&mut self, now: Tick) {
        if now >= self.give_up && !matches!(self.state, State::Over(_)) {
            self.state = State::Over(Err(AttachError::Unanswered { seconds: GIVE_UP_S }));
        }
    }
}

impl AttachDatagrams for Attaching {
    fn datagram(&mut self, now: Tick) -> Option<Vec<u8>> {
        self.expire(now);
        let (kind, cookie) = match self.state {
            State::Requesting => (REQUEST, [0; 16]),
            State::Confirming(cookie) => (CONFIRM, cookie),
            State::Over(_) => return None,
        };
        if now < self.send_at {
            return None;
        }
        self.send_at = now.plus_nanos(self.wait_ns);
        self.wait_ns = (2 * self.wait_ns).min(RESEND_MOST_NS);
        let request = AttachMessage {
            kind,
            seat: self.seat,
            nonce: self.nonce,
            cookie,
            proof: Proof::default(),
        };
        let bytes = match self.session.filter(|_| kind == CONFIRM) {
            Some(session) => AttachMessage { proof: request.proof(session), ..request }.sealed(),
            None => request.encode(),
        };
        Some(bytes.to_vec())
    }

    fn deadline(&self) -> Option<Tick> {
        let pending = !matches!(self.state, State::Over(_));
        pending.then(|| self.send_at.min(self.give_up))
    }

    fn received(&mut self, datagram: &[u8], now: Tick) {
        let Some(answer) = Answer::decode(datagram).filter(|answer| answer.nonce == self.nonce)
        else {
            return;
        };
        match (answer.kind, &self.state) {
            (_, State::Over(_)) => {}
            // The same challenge again answers an old request; another one comes of a changed address.
            (CHALLENGE, State::Confirming(cookie)) if *cookie == answer.cookie => {}
            (CHALLENGE, _) => self.confirm(answer.cookie, now),
            (ANSWER, State::Confirming(_)) => self.state = State::Over(answer.code.result()),
            _ => {}
        }
    }

    fn outcome(&self) -> Option<&Result<(), AttachError>> {
        match &self.state {
            State::Over(outcome) => Some(outcome),
            _ => None,
        }
    }
}

/// The server's side, for all sessions: holds one secret and no table, so that requests with forged
/// addresses fill nothing.
#[derive(Clone)]
pub struct Challenger {
    secret: [u8; 16],
}

/// What a server makes of a datagram.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Heard {
    /// Nothing of this exchange.
    Nothing,
    /// Send this to where it came from.
    Challenge([u8; ANSWER_BYTES]),
    /// Whoever is at that address asks for this seat: decide, and send [`Claim::answer`].
    Confirmed(Claim),
}

/// A proven address asks for a seat. The same claim may come again: its answer was lost.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Claim {
    request: AttachMessage,
}

impl Claim {
    /// The datagram that tells the decision.
    pub fn answer(&self, code: AttachCode) -> [u8; ANSWER_BYTES] {
        Answer { kind: ANSWER, code, nonce: self.request.nonce, cookie: [0; 16] }.encode()
    }
}

impl ClaimSeat for Claim {
    fn seat(&self) -> Seat {
        self.request.seat
    }

    fn proves(&self, session: Token) -> bool {
        self.request.proof == self.request.proof(session)
    }

    fn reply(&self, decided: Result<(), SeatRefusal>) -> Vec<u8> {
        self.answer(AttachCode::of(decided)).to_vec()
    }
}

impl HearDatagrams for Challenger {
    type Claim = Claim;

    fn hear(&self, from: SocketAddr, datagram: &[u8], now: Tick) -> DatagramHeard<Claim> {
        match self.received(from, datagram, now) {
            Heard::Nothing => DatagramHeard::Nothing,
            Heard::Challenge(answer) => DatagramHeard::Answer(answer.to_vec()),
            Heard::Confirmed(claim) => DatagramHeard::Claimed(claim),
        }
    }
}

impl Challenger {
    /// A server with this unpredictable secret, drawn once a process.
    pub const fn new(secret: [u8; 16]) -> Self {
        Self { secret }
    }

    /// Judges a datagram that came from `from`.
    pub fn received(&self, from: SocketAddr, datagram: &[u8], now: Tick) -> Heard {
        let Some(request) = AttachMessage::decode(datagram) else { return Heard::Nothing };
        let period = now.as_nanos() / COOKIE_NS;
        let cookie = self.cookie(from, &request, period);
        let is_last =
            |given: [u8; 16]| period > 0 && given == self.cookie(from, &request, period - 1);
        match request.kind {
            CONFIRM
                if (request.cookie == cookie || is_last(request.cookie))
                    && AttachMessage::is_whole(datagram) =>
            {
                Heard::Confirmed(Claim { request })
            }
            // A wrong cookie is of another address: a translator on the way has changed its mind. Or it is too old, or what
            // came is not what was said: the same cookie again changes nothing for its client, who repeats what it said.
            REQUEST | CONFIRM => Heard::Challenge(
                Answer {
                    kind: CHALLENGE,
                    code: AttachCode::ATTACHED,
                    nonce: request.nonce,
                    cookie,
                }
                .encode(),
            ),
            _ => Heard::Nothing,
        }
    }

    fn cookie(&self, from: SocketAddr, request: &AttachMessage, period: u64) -> [u8; 16] {
        let address = match from.ip() {
            IpAddr::V4(address) => address.to_ipv6_mapped(),
            IpAddr::V6(address) => address,
        };
        let mut message = [0; 18 + 40 + 8];
        message[..16].copy_from_slice(&address.octets());
        message[16..18].copy_from_slice(&from.port().to_be_bytes());
        // Seat and nonce as they stand in the datagram, without its kind.
        message[18..58].copy_from_slice(&AttachMessage { kind: 0, ..*request }.encode()[..40]);
        message[58..].copy_from_slice(&period.to_be_bytes());
        keyed_hash(&self.secret, &message)
    }
}

/// The first bytes as an array of known length.
fn array<const LENGTH: usize>(bytes: &[u8]) -> [u8; LENGTH] {
    *bytes.first_chunk().expect("callers slice fixed places of arrays of known length")
}

#[cfg(test)]
mod tests;
