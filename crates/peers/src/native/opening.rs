//! The fixed opening of every TCP connection, and the answer to that of a data connection.
//!
//! ```text
//!  client                                              server
//!    |--- opening (control): versions ------------------>|   then frames, see `frame` and `numbered`
//!    |
//!    |--- opening (data): token, group, flow, lane ----->|
//!    |<-- ack: attached, or refused and why -------------|   then the flow's own bytes
//!    |
//!    |--- opening (return): session, last number ------->|   then frames go on after the last good ones
//! ```
//!
//! ```text
//!  opening   0                         8     9     10    11    12            16             28    32              48
//!            +-------------------------+-----+-----+-----+-----+-------------+--------------+-----+----------------+
//!  control   | f5 50 53 50 0d 0a 1a 0a | 1   |  0  |  0  |  0  | least, most | hello's check, crc |                |
//!  data      | f5 50 53 50 0d 0a 1a 0a | 2,4 |lane |group|  0  | flow        | token              | 4: proof,0,crc |
//!  return    | f5 50 53 50 0d 0a 1a 0a | 3   |  0  |  0  |  0  | attempt     | session            | received,0,crc |
//!            +-------------------------+-----+-----+-----+-----+-------------+--------------------+----------------+
//!  ack       f5 70 code 00
//! ```
//!
//! Numbers are in network order. What is zero here is sent as zero and not looked at. The first byte
//! begins no UTF-8 text and no foreign peer's first message; the line ends and the 1a after the name
//! tell when something on the way treats bytes as text. This layout never changes: it is how versions
//! that differ in everything else find out. A control opening without a check is of a client that speaks version 1 alone.
//!
//! In one file: one exchange, both sides of it, and its tests on the wire.

use pathscope_core::id::{FlowId, Lane, Token};
use pathscope_flow::GroupId;
use thiserror::Error;

use super::VersionRange;
use super::checksum::crc32c;
use super::proof::Proof;
use crate::attach::{AttachError, Seat, SeatRefusal};

/// What every TCP connection begins with.
pub const MAGIC: [u8; 8] = *b"\xf5PSP\r\n\x1a\n";
/// Length of an opening of version 1, and of what tells how long another is.
pub const OPENING_BYTES: usize = 32;
/// Length of the longest.
pub const LONG_OPENING_BYTES: usize = 48;
/// Length of the answer to a data connection's opening.
pub const ACK_BYTES: usize = 4;

const CONTROL: u8 = 1;
const DATA: u8 = 2;
const RETURN: u8 = 3;
const CHECKED_DATA: u8 = 4;
const ACK_MAGIC: [u8; 2] = *b"\xf5p";
/// What makes the last byte of an answer one that no other code has.
const ACK_CHECK: u8 = 0xa5;

/// What a connection is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Opening {
    /// It carries the dialogue.
    Control(Greeting),
    /// It is a lane of a flow.
    Data(Seat),
    /// The same, of a session of version 2: it is found when it was damaged, and proves whose it is.
    CheckedData(Seat, Proof),
    /// It carries a dialogue whose connection was lost.
    Return(Return),
}

/// How a client begins a session.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Greeting {
    /// What it speaks.
    pub versions: VersionRange,
    /// What its hello must be, where it speaks more than version 1.
    pub hello: Option<HelloCheck>,
}

impl Greeting {
    /// What can be spoken with it: version 1 alone, unless its hello can be checked.
    pub fn spoken(&self) -> VersionRange {
        match self.hello {
            Some(_) => self.versions,
            None => VersionRange { most: self.versions.most.min(1), ..self.versions },
        }
    }
}

/// What the first frame of a control connection must be: it is a frame of version 1, since its sender does not know yet
/// what the server speaks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct HelloCheck {
    bytes: u32,
    checksum: u32,
}

impl HelloCheck {
    /// Of this frame.
    pub fn of(frame: &[u8]) -> Self {
        Self { bytes: frame.len() as u32, checksum: crc32c(&[frame]) }
    }

    /// The frame's length.
    pub const fn bytes(&self) -> usize {
        self.bytes as usize
    }

    /// Whether this is that frame.
    pub fn holds(&self, frame: &[u8]) -> bool {
        *self == Self::of(frame)
    }
}

/// How a client goes on with a session whose control connection was lost.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Return {
    /// What the server named the session.
    pub session: Token,
    /// The how manieth attempt of this session: none comes twice.
    pub attempt: u32,
    /// The last good number that the client has received.
    pub received: u64,
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
    /// It was ours, and the path has changed it.
    #[error("its opening was damaged on the way: the checksum does not hold")]
    Damaged,
    /// A kind of connection that this version does not know.
    #[error("a connection of kind {kind} is not known to this version; upgrade this end")]
    UnknownKind {
        /// Its number.
        kind: u8,
    },
}

impl Opening {
    /// As it goes on the wire.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![0; OPENING_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        match self {
            Self::Control(Greeting { versions, hello }) => {
                bytes[8] = CONTROL;
                bytes[12..14].copy_from_slice(&versions.least.to_be_bytes());
                bytes[14..16].copy_from_slice(&versions.most.to_be_bytes());
                if let Some(hello) = hello {
                    bytes[16..20].copy_from_slice(&hello.bytes.to_be_bytes());
                    bytes[20..24].copy_from_slice(&hello.checksum.to_be_bytes());
                    seal(&mut bytes);
                }
            }
            Self::Data(seat) => write_seat(*seat, DATA, &mut bytes),
            Self::CheckedData(seat, proof) => {
                write_seat(*seat, CHECKED_DATA, &mut bytes);
                bytes.resize(LONG_OPENING_BYTES, 0);
                bytes[32..40].copy_from_slice(&proof.0);
                seal(&mut bytes);
            }
            Self::Return(Return { session, attempt, received }) => {
                bytes[8] = RETURN;
                bytes[12..16].copy_from_slice(&attempt.to_be_bytes());
                bytes[16..].copy_from_slice(&session.0);
                bytes.resize(LONG_OPENING_BYTES, 0);
                bytes[32..40].copy_from_slice(&received.to_be_bytes());
                seal(&mut bytes);
            }
        }
        bytes
    }

    /// How long the opening is that begins like this.
    pub fn length(said: &[u8]) -> usize {
        match said.get(8) {
            Some(&(RETURN | CHECKED_DATA)) => LONG_OPENING_BYTES,
            _ => OPENING_BYTES,
        }
    }

    /// Reads what [`encode`](Self::encode) wrote, or another version of it. What is not as long as its
    /// [`length`](Self::length) is damaged.
    pub fn decode(bytes: &[u8]) -> Result<Self, OpeningError> {
        if !bytes.starts_with(&MAGIC) {
            let first = excerpt(&bytes[..MAGIC.len().min(bytes.len())]);
            return Err(OpeningError::NotOurs { first });
        }
        let Some((start, rest)) = bytes.split_first_chunk::<OPENING_BYTES>() else {
            return Err(OpeningError::Damaged);
        };
        let is_whole = bytes.len() == Self::length(bytes);
        match start[8] {
            CONTROL => Greeting::decode(start).map(Self::Control),
            DATA => Ok(Self::Data(read_seat(start))),
            CHECKED_DATA if is_whole && is_sealed(bytes) => {
                let proof = rest.first_chunk().map_or(Proof::default(), |bytes| Proof(*bytes));
                Ok(Self::CheckedData(read_seat(start), proof))
            }
            RETURN if is_whole && is_sealed(bytes) => Ok(Self::Return(Return {
                session: last_of(start),
                attempt: u32::from_be_bytes([start[12], start[13], start[14], start[15]]),
                received: rest.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes)),
            })),
            CHECKED_DATA | RETURN => Err(OpeningError::Damaged),
            kind => Err(OpeningError::UnknownKind { kind }),
        }
    }
}

impl Greeting {
    fn decode(bytes: &[u8; OPENING_BYTES]) -> Result<Self, OpeningError> {
        let number = |at: usize| bytes[at..].first_chunk().map_or(0, |it| u32::from_be_bytes(*it));
        let versions = VersionRange {
            least: u16::from_be_bytes([bytes[12], bytes[13]]),
            most: u16::from_be_bytes([bytes[14], bytes[15]]),
        };
        // A client of version 1 has nothing there.
        if bytes[16..].iter().all(|&byte| byte == 0) {
            return Ok(Self { versions, hello: None });
        }
        if !is_sealed(bytes) {
            return Err(OpeningError::Damaged);
        }
        let hello = HelloCheck { bytes: number(16), checksum: number(20) };
        Ok(Self { versions, hello: Some(hello) })
    }
}

/// What proves on a TCP connection for this seat that it is of the session of this name.
pub fn proof_of(seat: Seat, session: Token) -> Proof {
    let mut said = MAGIC.to_vec();
    said.resize(OPENING_BYTES, 0);
    write_seat(seat, CHECKED_DATA, &mut said);
    Proof::of(session, &said)
}

fn write_seat(seat: Seat, kind: u8, bytes: &mut [u8]) {
    bytes[8] = kind;
    bytes[9] = seat.lane.0;
    bytes[10] = seat.group.0;
    bytes[12..16].copy_from_slice(&seat.flow.0.to_be_bytes());
    bytes[16..32].copy_from_slice(&seat.token.0);
}

const fn read_seat(bytes: &[u8; OPENING_BYTES]) -> Seat {
    Seat {
        token: last_of(bytes),
        group: GroupId(bytes[10]),
        flow: FlowId(u32::from_be_bytes([bytes[12], bytes[13], bytes[14], bytes[15]])),
        lane: Lane(bytes[9]),
    }
}

const fn last_of(bytes: &[u8; OPENING_BYTES]) -> Token {
    Token(*bytes.last_chunk().expect("an opening is longer than a token"))
}

/// Puts the checksum of what precedes it into the last four bytes.
fn seal(bytes: &mut [u8]) {
    if let Some((checked, checksum)) = bytes.split_last_chunk_mut::<4>() {
        *checksum = crc32c(&[checked]).to_be_bytes();
    }
}

fn is_sealed(bytes: &[u8]) -> bool {
    bytes
        .split_last_chunk::<4>()
        .is_some_and(|(checked, checksum)| crc32c(&[checked]).to_be_bytes() == *checksum)
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
    /// Another flow of the test comes from this address and port.
    pub const ADDRESS_TAKEN: Self = Self(6);
    /// Nothing proves that it is of the session.
    pub const NOT_PROVEN: Self = Self(7);

    /// What was decided, as its number.
    pub const fn of(decided: Result<(), SeatRefusal>) -> Self {
        match decided {
            Ok(()) => Self::ATTACHED,
            Err(SeatRefusal::UnknownSession) => Self::UNKNOWN_SESSION,
            Err(SeatRefusal::UnknownFlow) => Self::UNKNOWN_FLOW,
            Err(SeatRefusal::Taken) => Self::TAKEN,
            Err(SeatRefusal::NoRoom) => Self::NO_ROOM,
            Err(SeatRefusal::Served) => Self::SERVED,
            Err(SeatRefusal::AddressTaken) => Self::ADDRESS_TAKEN,
            Err(SeatRefusal::NotProven) => Self::NOT_PROVEN,
            Err(SeatRefusal::Other(code)) => Self(code),
        }
    }

    /// Nothing, or why not.
    pub const fn result(self) -> Result<(), AttachError> {
        Err(AttachError::Refused(match self {
            Self::ATTACHED => return Ok(()),
            Self::UNKNOWN_SESSION => SeatRefusal::UnknownSession,
            Self::UNKNOWN_FLOW => SeatRefusal::UnknownFlow,
            Self::TAKEN => SeatRefusal::Taken,
            Self::NO_ROOM => SeatRefusal::NoRoom,
            Self::SERVED => SeatRefusal::Served,
            Self::ADDRESS_TAKEN => SeatRefusal::AddressTaken,
            Self::NOT_PROVEN => SeatRefusal::NotProven,
            Self(code) => SeatRefusal::Other(code),
        }))
    }
}

/// The answer to a data connection's opening.
pub const fn encode_ack(code: AttachCode) -> [u8; ACK_BYTES] {
    [ACK_MAGIC[0], ACK_MAGIC[1], code.0, 0]
}

/// The same, to an opening that bears a checksum.
pub const fn encode_checked_ack(code: AttachCode) -> [u8; ACK_BYTES] {
    [ACK_MAGIC[0], ACK_MAGIC[1], code.0, code.0 ^ ACK_CHECK]
}

/// Reads the answer to an opening that bears a checksum. One of which three bytes say that it is attached is one that the
/// path has damaged: a server has taken the connection, and would not take another for it.
pub fn decode_checked_ack(bytes: [u8; ACK_BYTES]) -> Result<(), AttachError> {
    let attached = encode_checked_ack(AttachCode::ATTACHED);
    if attached.iter().zip(&bytes).filter(|(one, other)| one == other).count() >= 3 {
        return Ok(());
    }
    if bytes == encode_checked_ack(AttachCode(bytes[2])) {
        return AttachCode(bytes[2]).result();
    }
    Err(not_an_ack(hex(&bytes)))
}

/// Reads the answer to a data connection's opening: nothing where it is attached.
pub fn decode_ack(bytes: [u8; ACK_BYTES]) -> Result<(), AttachError> {
    if bytes[..2] != ACK_MAGIC {
        return Err(not_an_ack(excerpt(&bytes)));
    }
    AttachCode(bytes[2]).result()
}

const fn not_an_ack(got: String) -> AttachError {
    AttachError::NotAnAnswer { expected: "f5 70", got }
}

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

/// Bytes as people compare them: `f5 50 53`.
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
        let versions = VersionRange { least: 1, most: 3 };
        let opening = Opening::Control(Greeting { versions, hello: None });
        let wire = b"\xf5PSP\r\n\x1a\n\x01\0\0\0\0\x01\0\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
        assert_eq!(opening.encode(), wire);
        assert_eq!(Opening::decode(wire), Ok(opening));
    }

    #[test]
    fn a_data_opening_on_the_wire() {
        let wire = b"\xf5PSP\r\n\x1a\n\x02\x02\x01\0\0\x01\x02\x03\
            \xaa\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\xbb";
        assert_eq!(Opening::Data(SEAT).encode(), wire);
        assert_eq!(Opening::decode(wire), Ok(Opening::Data(SEAT)));
    }

    #[test]
    fn each_bit_that_is_flipped_in_an_opening_of_version_2_is_found() {
        let versions = VersionRange { least: 1, most: 2 };
        let hello = Some(HelloCheck::of(b"a hello"));
        let back = Return { session: Token([9; 16]), attempt: 2, received: 77 };
        for opening in [
            Opening::Control(Greeting { versions, hello }),
            Opening::CheckedData(SEAT, proof_of(SEAT, Token([9; 16]))),
            Opening::Return(back),
        ] {
            let good = opening.encode();
            assert_eq!((Opening::decode(&good), Opening::length(&good)), (Ok(opening), good.len()));
            for bit in 0..8 * good.len() {
                let mut bytes = good.clone();
                bytes[bit / 8] ^= 1 << (bit % 8);
                // What follows an opening is read with it where the kind says so.
                bytes.resize(Opening::length(&bytes), 0);
                match Opening::decode(&bytes) {
                    // No session has that token: it is too long by its checksum, or holds what is none.
                    Ok(Opening::Data(seat)) => assert_ne!(seat.token, SEAT.token, "bit {bit}"),
                    other => assert!(other.is_err(), "bit {bit}: {other:?}"),
                }
            }
        }
    }

    #[test]
    fn a_greeting_whose_hello_cannot_be_checked_is_of_version_1() {
        let versions = VersionRange { least: 1, most: 3 };
        let plain = Greeting { versions, hello: None };
        assert_eq!(plain.spoken(), VersionRange { least: 1, most: 1 });
        let checked = Greeting { versions, hello: Some(HelloCheck::of(b"")) };
        assert_eq!(checked.spoken(), versions);
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
    fn what_is_decided_is_told_by_its_number_and_understood() {
        for code in (0..=u8::MAX).map(AttachCode) {
            let decided = match code.result() {
                Err(AttachError::Refused(why)) => Err(why),
                other => other.map_err(|error| panic!("{error}")),
            };
            assert_eq!((AttachCode::of(decided), decided.is_ok()), (code, code.0 == 0));
        }
    }

    #[test]
    fn an_answer_that_is_damaged_is_attached_or_none() {
        assert_eq!(encode_checked_ack(AttachCode::TAKEN), [0xf5, 0x70, 3, 0xa6]);
        let refused = decode_checked_ack([0xf5, 0x70, 3, 0xa6]);
        assert_eq!(refused, Err(AttachError::Refused(SeatRefusal::Taken)));
        let attached = encode_checked_ack(AttachCode::ATTACHED);
        for bit in 0..32 {
            let flip = |mut bytes: [u8; ACK_BYTES]| {
                bytes[bit / 8] ^= 1 << (bit % 8);
                decode_checked_ack(bytes)
            };
            assert_eq!(flip(attached), Ok(()), "bit {bit}");
            let refused = flip(encode_checked_ack(AttachCode(6)));
            assert!(
                matches!(refused, Err(AttachError::NotAnAnswer { .. })),
                "bit {bit}: {refused:?}"
            );
        }
    }

    #[test]
    fn another_kind_is_named() {
        let mut bytes = Opening::Data(SEAT).encode();
        bytes[8] = 9;
        assert_eq!(Opening::decode(&bytes), Err(OpeningError::UnknownKind { kind: 9 }));
    }

    proptest! {
        #[test]
        fn what_is_not_looked_at_may_be_anything(noise in any::<[u8; 32]>(), kind in 0_u8..6) {
            let mut bytes = noise;
            bytes[..8].copy_from_slice(&MAGIC);
            bytes[8] = kind;
            let read = Opening::decode(&bytes);
            prop_assert_eq!(read.is_ok(), kind == DATA);
            if let Ok(opening) = read {
                prop_assert_eq!(Opening::decode(&opening.encode()), Ok(opening));
            }
        }
    }
}
