//! What the two ends say to each other, as types and as JSON.
//!
//! ```text
//!  client                                             server
//!    |=== opening (control): versions =================>|
//!    |--- hello ---------------------------------------->|
//!    |<-- welcome | refuse -------------------------------|
//!    |                                                    |   for each test
//!    |--- propose --------------------------------------->|
//!    |<-- accept: token | refuse -------------------------|
//!    |=== a data connection or UDP attach for each lane =>|
//!    |--- start ----------------------------------------->|   all are attached
//!    |<-- started ----------------------------------------|
//!    |<-- interval, totals, ended ----------------------->|   while it runs, both ways
//!    |<-- report ---------------------------------------->|   each when its flows are over
//!    |=== closes the test's connections =================>|
//!    |--- end ------------------------------------------->|
//!    |                                                    |
//!    |=== closes the control connection =================>|
//! ```
//!
//! From either end, `stop` may come at any time after the hello, `ping` and `pong` after the welcome.
//!
//! In one file: one message of the protocol after the other, written and read.

use pathscope_core::id::{FlowId, Token};
use pathscope_core::record::{Caveat, FlowError, FlowErrorKind, Host, Substitution};
use pathscope_flow::{GroupId, Resumed, Totals};
use pathscope_modes::groups::Test;
use pathscope_modes::registry::{EndInterval, EndReport};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use super::body::{self, BodyError, Tame};
use super::findings::NativeCaveat;
use super::frame::{Frame, MessageType};
use super::packed;
use crate::{PeerError, Refusal};

/// The most totals in one message: 50 bytes each, 13 where they are packed, so well within its bound.
pub const TOTALS_MOST: usize = 4_096;

/// One message of the control connection.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// Client: who I am and what I can do.
    Hello(Box<Hello>),
    /// Server: who I am, and what of it we use.
    Welcome(Box<Welcome>),
    /// Server: no, and why.
    Refuse(Refusal),
    /// Client: this is to be measured.
    Propose(Propose),
    /// Server: yes.
    Accept(Box<Accept>),
    /// Client: all flows are there.
    Start,
    /// Server: mine run.
    Started,
    /// Either: what happened in one interval.
    Interval(Box<EndInterval>),
    /// Either: these flows have sent all they will.
    Totals(Vec<FlowTotal>),
    /// Either: the same in few bytes, for who can read it.
    PackedTotals(Vec<FlowTotal>),
    /// Either: these connections are over, and came to this; for who asked for it.
    Ended(Vec<FlowEnd>),
    /// Either: what my flows came to.
    Report(Box<EndReport>),
    /// Either: wind up.
    Stop(Stop),
    /// Client: the test is over, and its connections are closed.
    End,
    /// Either: are you there?
    Ping(Beat),
    /// Either: I am.
    Pong(Beat),
    /// Either, in version 2: nothing but how far the other end's words have come.
    Ack,
    /// Server, in version 2: the session goes on over this connection.
    Returned(Returned),
    /// Client, in version 2: I leave.
    Leave,
}

/// Who the client is and what it can do.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct Hello {
    /// What it can do beyond version 1, by name.
    pub capabilities: Vec<String>,
    /// Ways to secure the connection, best first: `none`.
    pub security: Vec<String>,
    /// The client's machine and program.
    pub host: Host,
}

/// Who the server is, and what the two use.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Welcome {
    /// The version that both speak from here on.
    pub version: u16,
    /// What the server can do beyond it, by name.
    #[serde(default)]
    pub capabilities: Vec<String>,
    /// The way to secure the connection that it chose of those offered.
    pub security: String,
    /// What it grants.
    pub limits: crate::limits::Limits,
    /// The server's machine and program.
    #[serde(default)]
    pub host: Host,
    /// From version 2 on: what the session is called when its connection is made anew.
    #[serde(default, with = "optional_token", skip_serializing_if = "Option::is_none")]
    pub session: Option<Token>,
    /// What the server's process says at all of its addresses.
    #[serde(default, with = "optional_token", skip_serializing_if = "Option::is_none")]
    pub server: Option<Token>,
}

/// What is to be measured. Read in two steps: a test of a later version is refused by a sentence, and
/// the connection lives.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Propose {
    /// A [`Test`].
    pub test: Value,
    /// It runs already at the client, and its server was lost: the token that its flows' data bear.
    #[serde(default, with = "optional_token", skip_serializing_if = "Option::is_none")]
    pub resumes: Option<Token>,
    /// From version 2 on: what the session was called that had it.
    #[serde(default, with = "optional_token", skip_serializing_if = "Option::is_none")]
    pub session: Option<Token>,
}

impl Propose {
    /// This test.
    pub fn new(test: &Test) -> Self {
        let test = serde_json::to_value(test)
            .expect("it was asked whether it can be told, and tests hold no maps");
        Self { test, resumes: None, session: None }
    }

    /// This test, which runs already.
    pub fn again(test: &Test, Resumed { token, session }: Resumed) -> Self {
        Self { resumes: Some(token), session, ..Self::new(test) }
    }

    /// The test as this version understands it.
    pub fn test(&self) -> Result<Test, Refusal> {
        Test::deserialize(&self.test).map_err(|error| {
            Refusal::new("not_understood", format!("it does not understand the test: {error}"))
                .with_hint("upgrade the server, or ask for what both versions know")
        })
    }
}

/// A test is accepted.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Accept {
    /// What flows present: 32 hexadecimal digits.
    #[serde(with = "token")]
    pub token: Token,
    /// The test as the server understood it. The client ends the dialogue where that is another one.
    pub test: Test,
    /// What the server runs otherwise than asked.
    #[serde(default)]
    pub substitutions: Vec<Substitution>,
}

/// A flow has sent all it will.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct FlowTotal {
    /// Its group.
    #[serde(with = "group")]
    pub group: GroupId,
    /// The flow.
    pub flow: FlowId,
    /// Bytes or datagrams.
    pub total: u64,
}

impl FlowTotal {
    const fn of((group, flow, total): packed::Total) -> Self {
        Self { group, flow, total }
    }

    const fn packed(&self) -> packed::Total {
        (self.group, self.flow, self.total)
    }
}

/// A connection is over at one end.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct FlowEnd {
    /// Its group.
    #[serde(with = "group")]
    pub group: GroupId,
    /// The flow.
    pub flow: FlowId,
    /// Bytes that this end handed to its kernel.
    pub sent: u64,
    /// Bytes that this end took from its kernel and checked.
    pub received: u64,
    /// Whether it failed at this end.
    #[serde(default)]
    pub failed: bool,
    /// Why, where it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<FlowError>,
}

impl FlowEnd {
    /// What went through.
    pub const fn totals(&self) -> Totals {
        Totals { sent: self.sent, received: self.received }
    }

    /// Why it failed, where it did; an end of an earlier version does not say why.
    pub fn into_failure(self) -> Option<FlowError> {
        self.failed.then(|| self.failure.unwrap_or_else(unnamed_failure))
    }
}

fn unnamed_failure() -> FlowError {
    FlowError {
        kind: FlowErrorKind::Network,
        text: "it failed, and nothing more is said of it".to_owned(),
        errno: None,
    }
}

/// Wind up.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Stop {
    /// Why, for people.
    #[serde(default)]
    pub reason: String,
    /// It is the sender's last word: the session is over with it, and not only the test.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends: bool,
}

/// The session goes on.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct Returned {
    /// Messages that came damaged at the sender, since the session began.
    pub damaged: u32,
}

/// A sign of life.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct Beat {
    /// A pong has its ping's.
    pub id: u64,
}

#[derive(Deserialize, Serialize)]
struct AllTotals {
    flows: Vec<FlowTotal>,
}

#[derive(Deserialize, Serialize)]
struct Ended {
    flows: Vec<FlowEnd>,
}

/// A message without content: an object, so that later versions can put something in.
#[derive(Default, Deserialize, Serialize)]
struct Nothing {}

/// Why a frame is no message.
#[derive(Debug, Error)]
pub enum MessageError {
    /// Not optional, and not known.
    #[error("a message {0} is not known to this version, and cannot be skipped")]
    Unknown(MessageType),
    /// Its body is not what it must be.
    #[error("a message {kind} cannot be read: {source}")]
    Body {
        /// Which.
        kind: MessageType,
        /// Why not.
        source: BodyError,
    },
}

impl Message {
    /// What it is.
    pub const fn kind(&self) -> MessageType {
        match self {
            Self::Hello(_) => MessageType::HELLO,
            Self::Welcome(_) => MessageType::WELCOME,
            Self::Refuse(_) => MessageType::REFUSE,
            Self::Propose(_) => MessageType::PROPOSE,
            Self::Accept(_) => MessageType::ACCEPT,
            Self::Start => MessageType::START,
            Self::Started => MessageType::STARTED,
            Self::Interval(_) => MessageType::INTERVAL,
            Self::Totals(_) => MessageType::TOTALS,
            Self::PackedTotals(_) => MessageType::PACKED_TOTALS,
            Self::Ended(_) => MessageType::ENDED,
            Self::Report(_) => MessageType::REPORT,
            Self::Stop(_) => MessageType::STOP,
            Self::End => MessageType::END,
            Self::Ping(_) => MessageType::PING,
            Self::Pong(_) => MessageType::PONG,
            Self::Ack => MessageType::ACK,
            Self::Returned(_) => MessageType::RETURNED,
            Self::Leave => MessageType::LEAVE,
        }
    }

    /// As a frame of version 1.
    pub fn encode(&self) -> Result<Vec<u8>, PeerError> {
        Ok(self.frame()?.encode())
    }

    /// As it goes on the wire, its frame aside.
    pub fn frame(&self) -> Result<Frame, PeerError> {
        let kind = self.kind();
        let body = self.body();
        let most = kind.body_most();
        if body.len() > most {
            let message = kind.name().unwrap_or("unknown");
            return Err(PeerError::TooLong { message, bytes: body.len(), most });
        }
        Ok(Frame { kind, body })
    }

    fn body(&self) -> Vec<u8> {
        match self {
            Self::Hello(hello) => json(hello),
            Self::Welcome(welcome) => json(welcome),
            Self::Refuse(refusal) => json(refusal),
            Self::Propose(propose) => json(propose),
            Self::Accept(accept) => json(accept),
            Self::Start | Self::Started | Self::End | Self::Ack | Self::Leave => json(&Nothing {}),
            Self::Returned(returned) => json(returned),
            Self::Interval(interval) => json(interval),
            Self::Totals(flows) => json(&AllTotals { flows: flows.clone() }),
            Self::PackedTotals(flows) => packed::pack(flows.iter().map(FlowTotal::packed)),
            Self::Ended(flows) => json(&Ended { flows: flows.clone() }),
            Self::Report(report) => json(report),
            Self::Stop(stop) => json(stop),
            Self::Ping(beat) | Self::Pong(beat) => json(beat),
        }
    }

    /// Reads a message; nothing, if it is of no type that this version knows and may be skipped.
    pub fn decode(frame: &Frame) -> Result<Option<Self>, MessageError> {
        let read = read_body(frame);
        match read {
            Ok(None) if !frame.kind.is_optional() => Err(MessageError::Unknown(frame.kind)),
            _ => read.map_err(|source| MessageError::Body { kind: frame.kind, source }),
        }
    }
}

fn read_body(frame: &Frame) -> Result<Option<Message>, BodyError> {
    let bytes = frame.body.as_slice();
    let message = match frame.kind {
        MessageType::HELLO => Message::Hello(body::read(bytes)?),
        MessageType::WELCOME => Message::Welcome(body::read(bytes)?),
        MessageType::REFUSE => Message::Refuse(body::read(bytes)?),
        MessageType::PROPOSE => Message::Propose(body::read(bytes)?),
        MessageType::ACCEPT => Message::Accept(body::read(bytes)?),
        MessageType::START => body::read(bytes).map(|Nothing {}| Message::Start)?,
        MessageType::STARTED => body::read(bytes).map(|Nothing {}| Message::Started)?,
        MessageType::INTERVAL => Message::Interval(body::read(bytes)?),
        MessageType::TOTALS => Message::Totals(body::read::<AllTotals>(bytes)?.flows),
        MessageType::PACKED_TOTALS => {
            Message::PackedTotals(packed::unpack(bytes)?.map(FlowTotal::of).collect())
        }
        MessageType::ENDED => Message::Ended(body::read::<Ended>(bytes)?.flows),
        MessageType::REPORT => Message::Report(Box::new(read_report(bytes)?)),
        MessageType::STOP => Message::Stop(body::read(bytes)?),
        MessageType::END => body::read(bytes).map(|Nothing {}| Message::End)?,
        MessageType::PING => Message::Ping(body::read(bytes)?),
        MessageType::PONG => Message::Pong(body::read(bytes)?),
        MessageType::ACK => body::read(bytes).map(|Nothing {}| Message::Ack)?,
        MessageType::RETURNED => Message::Returned(body::read(bytes)?),
        MessageType::LEAVE => body::read(bytes).map(|Nothing {}| Message::Leave)?,
        _ => return Ok(None),
    };
    Ok(Some(message))
}

/// A report that holds what this version cannot express comes when all is measured: it is replaced by
/// one that says so, since a breach would end the dialogue of a good test.
fn read_report(bytes: &[u8]) -> Result<EndReport, BodyError> {
    Ok(Tame::of(bytes)?.read().unwrap_or_else(|error| {
        let text = format!("the other end's report cannot be read by this version: {error}");
        EndReport {
            caveats: vec![Caveat::new(NativeCaveat::ReportUnreadable, text)],
            ..EndReport::default()
        }
    }))
}

/// A value of ours as JSON.
pub(super) fn json<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).expect("what we say holds no maps and no foreign types")
}

mod token {
    use pathscope_core::id::Token;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(
        token: &Token,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&token.to_hex())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Token, D::Error> {
        read(&String::deserialize(deserializer)?)
    }

    pub(super) fn read<E: Error>(hex: &str) -> Result<Token, E> {
        Token::from_hex(hex).ok_or_else(|| E::custom("a token has 32 hexadecimal digits"))
    }
}

mod optional_token {
    use pathscope_core::id::Token;
    use serde::{Deserialize, Deserializer, Serializer};

    #[expect(clippy::ref_option, reason = "serde passes fields by reference")]
    pub(super) fn serialize<S: Serializer>(
        token: &Option<Token>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match token {
            Some(token) => super::token::serialize(token, serializer),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Token>, D::Error> {
        let hex = Option::<String>::deserialize(deserializer)?;
        hex.map(|hex| super::token::read(&hex)).transpose()
    }
}

mod group {
    use pathscope_flow::GroupId;
    use serde::{Deserialize, Deserializer, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
    pub(super) fn serialize<S: Serializer>(
        group: &GroupId,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(group.0)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<GroupId, D::Error> {
        u8::deserialize(deserializer).map(GroupId)
    }
}

#[cfg(test)]
mod tests;
