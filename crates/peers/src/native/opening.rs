//! The fixed opening of every TCP connection, and the answer to that of a data connection.
//!
//! ```text
//!  client                                              server
//!    |--- opening (control): versions ------------------>|   then frames, see `frame`
//!    |
//!    |--- opening (data): token, group, flow, lane ----->|
//!    |<-- ack: attached, or refused and why -------------|   then the flow's own bytes
//! ```
//!
//! ```text
//!  opening   0                       8     9     10    11    12            16           32
//!            +-----------------------+-----+-----+-----+-----+-------------+------------+
//!  control   | f5 50 53 50 0d 0a 1a 0a | 1 |  0  |  0  |  0  | least, most |     0      |
//!  data      | f5 50 53 50 0d 0a 1a 0a | 2 |lane |group|  0  | flow        |   token    |
//!            +-----------------------+-----+-----+-----+-----+-------------+------------+
//!  ack       f5 70 code 00
//! ```
//!
//! Numbers are in network order. What is zero here is sent as zero and not looked at. The first byte
//! begins no UTF-8 text and no foreign peer's first message; the line ends and the 1a after the name
//! tell when something on the way treats bytes as text. This layout never changes: it is how versions
//! that differ in everything else find out.

use std::fmt;

use pathscope_core::id::{FlowId, Lane, Token};
use pathscope_flow::GroupId;
use thiserror::Error;

use super::VersionRange;

/// What every TCP connection begins with.
pub const MAGIC: [u8; 8] = *b"\xf5PSP\r\n\x1a\n";
/// Length of an opening, whatever its kind.
pub const OPENING_BYTES: usize = 32;
/// Length of the answer to a data connection's opening.
pub const ACK_BYTES: usize = 4;

const CONTROL: u8 = 1;
const DATA: u8 = 2;
const ACK_MAGIC: [u8; 2] = *b"\xf5p";

/// What a connection is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Opening {
    /// It carries the dialogue.
    Control(VersionRange),
    /// It is a lane of a flow.
    Data(Seat),
}

/// A lane of a flow of a session: what a data connection or a datagram flow presents.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Seat {
    /// Names the session.
    pub token: Token,
    /// The flow's group.
    pub group: GroupId,
    /// The flow.
    pub flow: FlowId,
    /// Which of its sockets.
    pub lane: Lane,
}

/// Why an opening cannot be read.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum OpeningError {
    /// Something else is calling.
    #[error(
        "expected a pathscope connection, which begins with f5 50 53 50 0d 0a 1a 0a, got {first}"
    )]
    NotOurs {
        /// The first bytes: as escaped text, or in hexadecimal.
        first: String,
    },
    /// A kind of connection that this version does not know.
    #[error("a connection of kind {kind} is not known to this version; upgrade this end")]
    UnknownKind {
        /// Its number.
        kind: u8,
    },
}

impl Opening {
    /// As it goes on the wire.
    pub fn encode(&self) -> [u8; OPENING_BYTES] {
        let mut bytes = [0; OPENING_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        match self {
            Self::Control(versions) => {
                bytes[8] = CONTROL;
                bytes[12..14].copy_from_slice(&versions.least.to_be_bytes());
                bytes[14..16].copy_from_slice(&versions.most.to_be_bytes());
            }
            Self::Data(seat) => {
                bytes[8] = DATA;
                bytes[9] = seat.lane.0;
                bytes[10] = seat.group.0;
                bytes[12..16].copy_from_slice(&seat.flow.0.to_be_bytes());
                bytes[16..].copy_from_slice(&seat.token.0);
            }
        }
        bytes
    }

    /// Reads what [`encode`](Self::encode) wrote, or another version of it.
    pub fn decode(bytes: &[u8; OPENING_BYTES]) -> Result<Self, OpeningError> {
        if bytes[..8] != MAGIC {
            return Err(OpeningError::NotOurs { first: excerpt(&bytes[..8]) });
        }
        match bytes[8] {
            CONTROL => Ok(Self::Control(VersionRange {
                least: u16::from_be_bytes([bytes[12], bytes[13]]),
                most: u16::from_be_bytes([bytes[14], bytes[15]]),
            })),
            DATA => Ok(Self::Data(Seat {
                token: Token(*bytes.last_chunk().expect("an opening is longer than a token")),
                group: GroupId(bytes[10]),
                flow: FlowId(u32::from_be_bytes([bytes[12], bytes[13], bytes[14], bytes[15]])),
                lane: Lane(bytes[9]),
            })),
            kind => Err(OpeningError::UnknownKind { kind }),
        }
    }
}

/// What the server says to a data connection or a datagram flow. A number, so that codes of later
/// versions survive.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct AttachCode(pub u8);

impl AttachCode {
    /// It belongs to the flow now.
    pub const ATTACHED: Self = Self(0);
    /// No session has this token, or no longer.
    pub const UNKNOWN_SESSION: Self = Self(1);
    /// The test has no such group, flow or lane, or not of this transport.
    pub const UNKNOWN_FLOW: Self = Self(2);
    /// Another socket has this place.
    pub const TAKEN: Self = Self(3);
    /// The server has no room for more.
    pub const NO_ROOM: Self = Self(4);
    /// The server has served as many connections as it was to serve.
    pub const SERVED: Self = Self(5);

    /// Nothing, or why not.
    pub fn result(self) -> Result<(), AttachError> {
        if self == Self::ATTACHED { Ok(()) } else { Err(AttachError::Refused(self)) }
    }
}

impl fmt::Display for AttachCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::ATTACHED => formatter.pad("attached"),
            Self::UNKNOWN_SESSION => formatter.pad("no such session, or it is over"),
            Self::UNKNOWN_FLOW => formatter.pad("the test has no such flow"),
            Self::TAKEN => formatter.pad("the flow has its socket already"),
            Self::NO_ROOM => formatter.pad("the server has no room for more connections"),
            Self::SERVED => formatter
                .pad("it has served as many connections as it was started for (--exit-after)"),
            Self(code) => write!(formatter, "code {code}, which this version does not know"),
        }
    }
}

/// Why a socket did not become part of its flow.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum AttachError {
    /// The server declined.
    #[error("refused by the server: {0}")]
    Refused(AttachCode),
    /// The answer is none.
    #[error("expected the server's answer, which begins with f5 70, got {got}")]
    NotAnAck {
        /// What came: as escaped text, or in hexadecimal.
        got: String,
    },
    /// No answer in time.
    #[error("no answer from the server's UDP port within {seconds} s; does a firewall drop it?")]
    Unanswered {
        /// How long was waited.
        seconds: u64,
    },
}

/// The answer to a data connection's opening.
pub const fn encode_ack(code: AttachCode) -> [u8; ACK_BYTES] {
    [ACK_MAGIC[0], ACK_MAGIC[1], code.0, 0]
}

/// Reads the answer to a data connection's opening: nothing where it is attached.
pub fn decode_ack(bytes: [u8; ACK_BYTES]) -> Result<(), AttachError> {
    if bytes[..2] != ACK_MAGIC {
        return Err(AttachError::NotAnAck { got: excerpt(&bytes) });
    }
    AttachCode(bytes[2]).result()
}

/// Bytes as people compare them: `f5 50 53`.
/// What somebody else said first: as text with everything that a terminal would obey escaped, where it is text, else in
/// hexadecimal.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    let is_text = |byte: &u8| matches!(byte, b' '..=b'~' | b'\r' | b'\n' | b'\t');
    if !bytes.is_empty() && bytes.iter().all(is_text) {
        format!("the text '{}'", bytes.escape_ascii())
    } else {
        hex(bytes)
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_a_stranger_says_is_told_as_text_that_drives_no_terminal() {
        assert_eq!(excerpt(b"SSH-2.0-x\r\n"), "the text 'SSH-2.0-x\\r\\n'");
        assert_eq!(excerpt(b"it's \\"), "the text 'it\\'s \\\\'");
        assert_eq!(excerpt(b"\x1b[2J"), "1b 5b 32 4a");
        assert_eq!(excerpt(b""), "");
    }

    const SEAT: Seat = Seat {
        token: Token([0xaa, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0xbb]),
        group: GroupId(1),
        flow: FlowId(0x0001_0203),
        lane: Lane(2),
    };

    #[test]
    fn a_control_opening_on_the_wire() {
        let opening = Opening::Control(VersionRange { least: 1, most: 3 });
        let wire = b"\xf5PSP\r\n\x1a\n\x01\0\0\0\0\x01\0\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
        assert_eq!(&opening.encode(), wire);
        assert_eq!(Opening::decode(wire), Ok(opening));
    }

    #[test]
    fn a_data_opening_on_the_wire() {
        let wire = b"\xf5PSP\r\n\x1a\n\x02\x02\x01\0\0\x01\x02\x03\
            \xaa\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\xbb";
        assert_eq!(&Opening::Data(SEAT).encode(), wire);
        assert_eq!(Opening::decode(wire), Ok(Opening::Data(SEAT)));
    }

    #[test]
    fn an_ack_on_the_wire() {
        assert_eq!(encode_ack(AttachCode::TAKEN), [0xf5, 0x70, 3, 0]);
        assert_eq!(decode_ack([0xf5, 0x70, 0, 9]), Ok(()));
        let late = decode_ack([0xf5, 0x70, 77, 0]).expect_err("a refusal").to_string();
        assert!(late.contains("code 77"), "{late}");
        let wrong = decode_ack(*b"HTTP").expect_err("no ack").to_string();
        assert!(wrong.ends_with("got the text 'HTTP'"), "{wrong}");
    }

    #[test]
    fn another_kind_is_named() {
        let mut bytes = Opening::Data(SEAT).encode();
        bytes[8] = 9;
        assert_eq!(Opening::decode(&bytes), Err(OpeningError::UnknownKind { kind: 9 }));
    }

    proptest! {
        #[test]
        fn what_is_not_looked_at_may_be_anything(noise in any::<[u8; 32]>()) {
            let mut bytes = noise;
            bytes[..8].copy_from_slice(&MAGIC);
            let read = Opening::decode(&bytes);
            prop_assert_eq!(read.is_ok(), matches!(bytes[8], CONTROL | DATA));
            let again = read.map(|opening| Opening::decode(&opening.encode()));
            prop_assert_eq!(again.unwrap_or(Opening::decode(&bytes)), Opening::decode(&bytes));
        }
    }
}
