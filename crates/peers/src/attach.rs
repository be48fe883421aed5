//! How a socket becomes part of its flow, whoever the peer is: whom it is for, what a peer makes of what is answered on it, and
//! why it may be turned away. Not here: what is said for it, which is each peer's own; who has which seat, which is `seats`'
//! and `access`'s; and the socket itself.

use std::net::SocketAddr;

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane, Token};
use pathscope_flow::GroupId;
use thiserror::Error;

use crate::joining::name_in;

/// A lane of a flow of a test: whom a socket is for.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Seat {
    /// Names the test.
    pub token: Token,
    /// The flow's group.
    pub group: GroupId,
    /// The flow.
    pub flow: FlowId,
    /// Which of its sockets.
    pub lane: Lane,
}

/// Why a server does not give a socket its seat.
#[derive(Clone, Copy, Debug, Eq, Error, Hash, PartialEq)]
pub enum SeatRefusal {
    /// No session has this token, or no longer.
    #[error("no such session, or it is over")]
    UnknownSession,
    /// The test has no such group, flow or lane, or not of this transport.
    #[error("the test has no such flow")]
    UnknownFlow,
    /// Another socket has this place.
    #[error("the flow has its socket already")]
    Taken,
    /// The server has no room for more.
    #[error("the server has no room for more connections")]
    NoRoom,
    /// The server has served as many connections as it was to serve.
    #[error("it has served as many connections as it was started for (--exit-after)")]
    Served,
    /// Another flow of the test comes from this address and port.
    #[error(
        "another flow of the test comes from the same address and port; each needs a port of its own"
    )]
    AddressTaken,
    /// Nothing proves that it is of the session.
    #[error(
        "nothing proves that it is of the session: protocol version 2 asks for a proof, version 1 for an address that \
         the session has told"
    )]
    NotProven,
    /// A reason that only a later version has.
    #[error("code {0}, which this version does not know")]
    Other(u8),
}

/// Why a socket did not become part of its flow.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum AttachError {
    /// The server declined.
    #[error("refused by the server: {0}")]
    Refused(SeatRefusal),
    /// The answer is none.
    #[error("expected the server's answer, which begins with {expected}, got {got}")]
    NotAnAnswer {
        /// What an answer of this peer begins with, in hexadecimal.
        expected: &'static str,
        /// What came: as escaped text, or in hexadecimal.
        got: String,
    },
    /// The server says something else than what it calls the connection.
    #[error(
        "no such server answers there: it should say first what it calls the connection, 36 letters and a zero, and says {got}"
    )]
    NoName {
        /// What came, as escaped text.
        got: String,
    },
    /// It is a datagram flow, and the kind of peer knows none.
    #[error("this kind of server knows no datagram flows")]
    NoDatagrams,
    /// No answer in time.
    #[error("no answer from the server's UDP port within {seconds} s; does a firewall drop it?")]
    Unanswered {
        /// How long was waited.
        seconds: u64,
    },
}

/// How far a TCP connection is that asks for its seat.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum StreamProgress {
    /// More is to come.
    Waiting,
    /// It is its flow's: what comes and goes on it from here on is data.
    Attached,
    /// The path has damaged what was said or what was answered: another connection is to ask again.
    Damaged,
}

/// A TCP connection that asks for its seat, at the client: what it says, and what it makes of the answer.
pub trait AttachStream {
    /// What it says as soon as it is established. Short: what a new connection takes at once.
    fn opening(&self) -> Vec<u8>;

    /// So many bytes of the answer have not come yet; what follows them is the flow's, and none of it is to be read here.
    /// None from the beginning, where the peer answers nothing.
    fn missing_bytes(&self) -> usize;

    /// So many bytes of the answer as were missing, or fewer, have come.
    fn received(&mut self, bytes: &[u8]) -> Result<StreamProgress, AttachError>;

    /// What the server has called the connection, where it does that.
    fn called(&self) -> Option<String> {
        None
    }

    /// Whether a connection that is closed before its answer was whole may be one that the path has damaged: another one is
    /// to ask again then.
    fn closes_when_damaged(&self) -> bool {
        false
    }
}

/// What is answered to a connection of a kind of peer that says the same to all of them, or as much.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Answer {
    /// Nothing.
    None,
    /// These bytes; and what an answer begins with, in hexadecimal.
    Bytes(&'static [u8], &'static str),
    /// What the connection is called: 36 visible letters and a zero.
    Name,
}

impl Answer {
    /// Its length.
    const fn length(self) -> usize {
        match self {
            Self::None => 0,
            Self::Bytes(bytes, _) => bytes.len(),
            Self::Name => NAME_BYTES,
        }
    }
}

/// A TCP connection that says something and awaits such an answer, or says nothing where the server speaks first.
#[derive(Clone, Debug)]
pub struct Answered {
    opening: Vec<u8>,
    answer: Answer,
    came: Vec<u8>,
}

impl Answered {
    /// It says `opening`, and awaits `answer`.
    pub const fn new(opening: Vec<u8>, answer: Answer) -> Self {
        Self { opening, answer, came: Vec::new() }
    }
}

impl AttachStream for Answered {
    fn opening(&self) -> Vec<u8> {
        self.opening.clone()
    }

    fn missing_bytes(&self) -> usize {
        self.answer.length().saturating_sub(self.came.len())
    }

    fn called(&self) -> Option<String> {
        name_in(&self.came)
    }

    fn received(&mut self, bytes: &[u8]) -> Result<StreamProgress, AttachError> {
        self.came.extend(bytes.iter().take(self.missing_bytes()));
        if self.missing_bytes() > 0 {
            return Ok(StreamProgress::Waiting);
        }
        match self.answer {
            Answer::Bytes(answer, expected) if self.came != answer => {
                let got = self.came.escape_ascii().to_string();
                Err(AttachError::NotAnAnswer { expected, got })
            }
            Answer::Name if !is_name(&self.came) => {
                Err(AttachError::NoName { got: self.came.escape_ascii().to_string() })
            }
            _ => Ok(StreamProgress::Attached),
        }
    }
}

/// Bytes of a name on the wire.
const NAME_BYTES: usize = 37;

/// Whether these may be a name: they are shown to people.
fn is_name(said: &[u8]) -> bool {
    said.split_last()
        .is_some_and(|(&last, name)| last == 0 && name.iter().all(u8::is_ascii_graphic))
}

/// A datagram flow, or a lane of one, that asks for its seat, at the client: what to send, and when again.
pub trait AttachDatagrams {
    /// The datagram to send now, if one is due. Ask after each [`received`](Self::received) and at each
    /// [`deadline`](Self::deadline).
    fn datagram(&mut self, now: Tick) -> Option<Vec<u8>>;

    /// When to ask for a datagram again if nothing comes; nothing once it is over.
    fn deadline(&self) -> Option<Tick>;

    /// A datagram came on this lane's socket. What is not for this exchange is ignored.
    fn received(&mut self, datagram: &[u8], now: Tick);

    /// Whether it joined; nothing while that is open.
    fn outcome(&self) -> Option<&Result<(), AttachError>>;
}

/// A socket that says for which seat it is, at the server.
pub trait ClaimSeat {
    /// The seat.
    fn seat(&self) -> Seat;

    /// Whether it proves that it is of the session of this name.
    fn proves(&self, session: Token) -> bool;

    /// What is answered once it is decided. A few bytes, which a new connection takes at once.
    fn reply(&self, decided: Result<(), SeatRefusal>) -> Vec<u8>;
}

/// What a server makes of a datagram that is of no flow yet.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum DatagramHeard<C> {
    /// Nothing that is answered.
    Nothing,
    /// Send this to where it came from. Never longer than what it answers.
    Answer(Vec<u8>),
    /// Whoever is at that address is proven to be there, and asks for a seat: decide, and send [`ClaimSeat::reply`]. The same
    /// may come again: its answer was lost.
    Claimed(C),
    /// It asks for the next seat of the test of its address whose flows are awaited: send this where there is one. The same may come
    /// again.
    Joins(Vec<u8>),
}

/// The server's side of datagram flows that ask for their seats, for all sessions. It keeps nothing of an address that is not
/// proven.
pub trait HearDatagrams {
    /// One that asks, and whose address is proven.
    type Claim: ClaimSeat;

    /// Judges a datagram that came from `from`.
    fn hear(&self, from: SocketAddr, datagram: &[u8], now: Tick) -> DatagramHeard<Self::Claim>;
}

/// In place of a claim, of a kind of peer whose connections ask for no seat, or which knows no datagrams. There is none.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum NoClaim {}

impl ClaimSeat for NoClaim {
    fn seat(&self) -> Seat {
        match *self {}
    }

    fn proves(&self, _session: Token) -> bool {
        match *self {}
    }

    fn reply(&self, _decided: Result<(), SeatRefusal>) -> Vec<u8> {
        match *self {}
    }
}

/// A datagram flow that asks for nothing: it has its seat as soon as it has a socket. What is to be said for it is said elsewhere, or once it
/// begins.
#[derive(Clone, Copy, Debug)]
pub struct AtOnce;

impl AttachDatagrams for AtOnce {
    fn datagram(&mut self, _: Tick) -> Option<Vec<u8>> {
        None
    }

    fn deadline(&self) -> Option<Tick> {
        None
    }

    fn received(&mut self, _: &[u8], _: Tick) {}

    fn outcome(&self) -> Option<&Result<(), AttachError>> {
        Some(&Ok(()))
    }
}

/// In place of a datagram flow that asks for its seat, of a kind of peer that knows none. There is none.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum NoDatagrams {}

impl AttachDatagrams for NoDatagrams {
    fn datagram(&mut self, _now: Tick) -> Option<Vec<u8>> {
        match *self {}
    }

    fn deadline(&self) -> Option<Tick> {
        match *self {}
    }

    fn received(&mut self, _datagram: &[u8], _now: Tick) {
        match *self {}
    }

    fn outcome(&self) -> Option<&Result<(), AttachError>> {
        match *self {}
    }
}

/// The server's side of a kind of peer that knows no datagrams: none is its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct HearNothing;

impl HearDatagrams for HearNothing {
    type Claim = NoClaim;

    fn hear(&self, _from: SocketAddr, _datagram: &[u8], _now: Tick) -> DatagramHeard<NoClaim> {
        DatagramHeard::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_whole_in_whatever_pieces_it_comes_and_no_byte_beyond_is_asked_for() {
        let name = b"0f8fad5b-d9cb-469f-a165-70867728950e\0";
        for (answer, whole) in
            [(Answer::Bytes(b"ok now", "6f 6b"), &b"ok now"[..]), (Answer::Name, &name[..])]
        {
            for cut in 1..whole.len() {
                let mut connection = Answered::new(b"hello".to_vec(), answer);
                assert_eq!(connection.opening(), b"hello");
                assert_eq!(connection.missing_bytes(), whole.len());
                let (head, tail) = whole.split_at(cut);
                assert_eq!(connection.received(head), Ok(StreamProgress::Waiting));
                assert_eq!(connection.missing_bytes(), whole.len() - cut);
                assert_eq!(connection.received(tail), Ok(StreamProgress::Attached));
            }
        }
        assert_eq!(Answered::new(Vec::new(), Answer::None).missing_bytes(), 0);
    }

    #[test]
    fn another_answer_is_told_with_what_came() {
        let mut connection = Answered::new(Vec::new(), Answer::Bytes(b"ok", "6f 6b"));
        let error = connection.received(b"\xffo").expect_err("it is another");
        let expected = "expected the server's answer, which begins with 6f 6b, got \\xffo";
        assert_eq!(error.to_string(), expected);
        for said in [*b"HTTP/1.1 400 Bad Request\r\nServer: x\r\n", [b'a'; 37], [0; 37]] {
            let mut connection = Answered::new(Vec::new(), Answer::Name);
            let error = connection.received(&said).expect_err("it is no name");
            assert!(error.to_string().starts_with("no such server answers there"), "{error}");
        }
    }
}
