//! How a control connection of protocol version 1 is cut into messages, and what kinds of messages there are in all
//! versions. What a body says is in `message`; the frames of version 2 are in `numbered`.
//!
//! ```text
//!  0              4       6                  6 + length
//!  +--------------+-------+------------------+
//!  | length: u32  | type  | body             |
//!  +--------------+-------+------------------+
//! ```
//!
//! Numbers are in network order; the length is the body's. A type whose high bit is set is optional: an
//! end that does not know it skips it. Any other unknown type is a breach.

use std::fmt;

use thiserror::Error;

use super::opening::excerpt;
use super::unfinished::Unfinished;

/// Length of what precedes each body.
pub const HEADER_BYTES: usize = 6;
/// The longest body of all.
pub const BODY_MOST: usize = 1 << 20;
/// The longest body of a message that holds no list of results, or comes while no test runs: a stranger
/// has to be granted a test before the server stores more than this for it.
pub const SHORT_BODY_MOST: usize = 1 << 16;

/// What a message is. A number, so that types of later versions survive.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct MessageType(pub u16);

impl MessageType {
    /// Client: who I am and what I can do.
    pub const HELLO: Self = Self(0x0001);
    /// Server: who I am, and what of it we use.
    pub const WELCOME: Self = Self(0x0002);
    /// Server: no, and why.
    pub const REFUSE: Self = Self(0x0003);
    /// Client: this is to be measured.
    pub const PROPOSE: Self = Self(0x0004);
    /// Server: yes; this is the token.
    pub const ACCEPT: Self = Self(0x0005);
    /// Client: all flows are there.
    pub const START: Self = Self(0x0006);
    /// Server: mine run.
    pub const STARTED: Self = Self(0x0007);
    /// Either: these flows have sent all they will.
    pub const TOTALS: Self = Self(0x0008);
    /// Either: what my flows came to.
    pub const REPORT: Self = Self(0x0009);
    /// Either: wind up, and why.
    pub const STOP: Self = Self(0x000a);
    /// Client: the test is over, and its connections are closed.
    pub const END: Self = Self(0x000b);
    /// Either: are you there?
    pub const PING: Self = Self(0x000c);
    /// Either: I am.
    pub const PONG: Self = Self(0x000d);
    /// Either, in version 2: nothing but how far the other end's words have come.
    pub const ACK: Self = Self(0x000e);
    /// Server, in version 2: the session goes on over this connection.
    pub const RETURNED: Self = Self(0x000f);
    /// Client, in version 2: I leave. `0010` is taken by the messages that secure a connection.
    pub const LEAVE: Self = Self(0x0011);
    /// Either: the same as `TOTALS`, in few bytes; to an end that can read it.
    pub const PACKED_TOTALS: Self = Self(0x0012);
    /// Either: what happened in one interval.
    pub const INTERVAL: Self = Self(OPTIONAL | 0x0001);
    /// Either: these connections are over, and came to this.
    pub const ENDED: Self = Self(OPTIONAL | 0x0002);

    const NAMES: [(Self, &'static str); 19] = [
        (Self::HELLO, "hello"),
        (Self::WELCOME, "welcome"),
        (Self::REFUSE, "refuse"),
        (Self::PROPOSE, "propose"),
        (Self::ACCEPT, "accept"),
        (Self::START, "start"),
        (Self::STARTED, "started"),
        (Self::TOTALS, "totals"),
        (Self::REPORT, "report"),
        (Self::STOP, "stop"),
        (Self::END, "end"),
        (Self::PING, "ping"),
        (Self::PONG, "pong"),
        (Self::ACK, "ack"),
        (Self::RETURNED, "returned"),
        (Self::LEAVE, "leave"),
        (Self::PACKED_TOTALS, "packed_totals"),
        (Self::INTERVAL, "interval"),
        (Self::ENDED, "ended"),
    ];

    /// Its name, where this version knows it.
    pub fn name(self) -> Option<&'static str> {
        Self::NAMES.iter().find(|(known, _)| *known == self).map(|&(_, name)| name)
    }

    /// Whether an end that does not know it may skip it.
    pub const fn is_optional(self) -> bool {
        self.0 & OPTIONAL != 0
    }

    /// Whether it is about the connection, and not part of what the ends have to say: in version 2 it has no number.
    pub const fn is_about_the_line(self) -> bool {
        matches!(self, Self::PING | Self::PONG | Self::ACK | Self::RETURNED)
    }

    /// The longest body it may have.
    pub const fn body_most(self) -> usize {
        match self {
            Self::TOTALS | Self::REPORT => BODY_MOST,
            _ => SHORT_BODY_MOST,
        }
    }
}

const OPTIONAL: u16 = 0x8000;

impl fmt::Display for MessageType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(formatter, "'{name}'"),
            None => write!(formatter, "of type {:#06x}", self.0),
        }
    }
}

/// One message, its body not yet read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Frame {
    /// What it is.
    pub kind: MessageType,
    /// What it says.
    pub body: Vec<u8>,
}

impl Frame {
    /// As it goes on the wire. Longer bodies than [`MessageType::body_most`] are the caller's to prevent.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER_BYTES + self.body.len());
        bytes.extend_from_slice(&(self.body.len() as u32).to_be_bytes());
        bytes.extend_from_slice(&self.kind.0.to_be_bytes());
        bytes.extend_from_slice(&self.body);
        bytes
    }
}

/// A length that no message has.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("expected a message of at most {most} bytes, got {}", got(.first, *.is_text, *.kind, *.claimed))]
pub struct FrameError {
    /// What it claims to be.
    pub kind: MessageType,
    /// How long it claims to be.
    pub claimed: u32,
    /// How long it may be.
    pub most: usize,
    /// What it begins with: as escaped text, or in hexadecimal.
    pub first: String,
    /// Whether it begins with text, as other programs' greetings do.
    pub is_text: bool,
}

/// The most of a stranger's greeting that is told.
const EXCERPT: usize = 48;

fn got(first: &str, is_text: bool, kind: MessageType, claimed: u32) -> String {
    if is_text {
        format!("{first}, as no pathscope writes it; another program speaks there")
    } else {
        format!("one {kind} that claims {claimed}; it begins with {first}")
    }
}

/// Cuts what comes into messages. Holds one unfinished message and no more, however much comes at once.
#[derive(Debug, Default)]
pub struct Decoder {
    unfinished: Unfinished,
}

impl Decoder {
    /// Takes the next message's bytes, or what there is of them, from the front of `bytes`; `None`:
    /// all of it was taken and the message is not complete. Bodies are no longer than `most`.
    pub fn next(&mut self, bytes: &mut &[u8], most: usize) -> Result<Option<Frame>, FrameError> {
        let Some(header) = self.unfinished.header::<HEADER_BYTES>(bytes) else { return Ok(None) };
        let (kind, length) = read_header(*header, most).map_err(|(kind, claimed, most)| {
            let more = bytes.len().min(EXCERPT - HEADER_BYTES);
            let first = excerpt(&[&header[..], &bytes[..more]].concat());
            let is_text = first.starts_with("the text");
            FrameError { kind, claimed, most, first, is_text }
        })?;
        let Some(mut body) = self.unfinished.whole(bytes, HEADER_BYTES + length) else {
            return Ok(None);
        };
        body.drain(..HEADER_BYTES);
        Ok(Some(Frame { kind, body }))
    }

    /// Whether a message has begun and not ended.
    pub fn is_amid(&self) -> bool {
        self.unfinished.len() > 0
    }

    /// Bytes held.
    pub fn held(&self) -> usize {
        self.unfinished.len()
    }
}

fn read_header(
    header: [u8; HEADER_BYTES],
    most: usize,
) -> Result<(MessageType, usize), (MessageType, u32, usize)> {
    let [a, b, c, d, high, low] = header;
    let claimed = u32::from_be_bytes([a, b, c, d]);
    let kind = MessageType(u16::from_be_bytes([high, low]));
    let most = kind.body_most().min(most);
    match usize::try_from(claimed) {
        Ok(length) if length <= most => Ok((kind, length)),
        _ => Err((kind, claimed, most)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode(decoder: &mut Decoder, mut bytes: &[u8]) -> Result<Vec<Frame>, FrameError> {
        let mut frames = Vec::new();
        while let Some(frame) = decoder.next(&mut bytes, BODY_MOST)? {
            frames.push(frame);
        }
        assert!(bytes.is_empty());
        Ok(frames)
    }

    #[test]
    fn a_frame_on_the_wire() {
        let frame = Frame { kind: MessageType::INTERVAL, body: b"{}".to_vec() };
        assert_eq!(frame.encode(), [0, 0, 0, 2, 0x80, 0x01, b'{', b'}']);
    }

    #[test]
    fn numbers_of_types_do_not_change() {
        let numbers: Vec<_> = MessageType::NAMES.iter().map(|(kind, _)| kind.0).collect();
        let least: Vec<u16> = (1..=15).chain([17, 18, 0x8001, 0x8002]).collect();
        assert_eq!(numbers, least);
    }

    #[test]
    fn a_length_is_checked_before_anything_is_stored() {
        let mut decoder = Decoder::default();
        let error = decode(&mut decoder, b"HTTP/1.1 400 Bad Request").expect_err("no frame");
        assert_eq!(
            (error.claimed, error.first.as_str()),
            (0x4854_5450, "the text 'HTTP/1.1 400 Bad Request'")
        );
        assert_eq!(decoder.held(), HEADER_BYTES);
        let error = decode(&mut Decoder::default(), &[0, 1, 0, 1, 0, 1]).expect_err("too long");
        assert_eq!((error.kind, error.most), (MessageType::HELLO, SHORT_BODY_MOST));
        let report = [0, 1, 0, 1, 0, 9];
        assert_eq!(decode(&mut Decoder::default(), &report), Ok(Vec::new()));
        let early = Decoder::default().next(&mut &report[..], SHORT_BODY_MOST);
        assert_eq!(early.expect_err("too long while no test runs").most, SHORT_BODY_MOST);
    }

    proptest! {
        #[test]
        fn any_cut_gives_the_same_messages(
            bodies in prop::collection::vec((any::<u16>(), prop::collection::vec(any::<u8>(), 0..300)), 0..6),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let frames: Vec<_> = bodies
                .into_iter()
                .map(|(kind, body)| Frame { kind: MessageType(kind), body })
                .collect();
            let bytes: Vec<u8> = frames.iter().flat_map(Frame::encode).collect();
            let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let mut decoder = Decoder::default();
            let mut decoded = Vec::new();
            for pair in cuts.windows(2) {
                decoded.extend(decode(&mut decoder, &bytes[pair[0]..pair[1]]).expect("good frames"));
            }
            prop_assert_eq!(decoded, frames);
            prop_assert!(!decoder.is_amid());
        }

        #[test]
        fn noise_never_fills_memory(chunks in prop::collection::vec(
            prop::collection::vec(prop_oneof![Just(0_u8), any::<u8>()], 0..4_000), 0..20,
        )) {
            let mut decoder = Decoder::default();
            for chunk in chunks {
                if decode(&mut decoder, &chunk).is_err() {
                    break;
                }
                prop_assert!(decoder.held() < HEADER_BYTES + BODY_MOST);
            }
        }
    }
}
