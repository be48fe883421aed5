//! Openings and frames of both versions, written from docs/protocol.md and from nothing else.
//!
//! It can say what is wrong as well as what is right: nothing here is checked before it is sent.

use crate::checksum::crc;
pub use crate::proof::Token;
use crate::proof::proof;

const SIGNATURE: [u8; 8] = [0xf5, 0x50, 0x53, 0x50, 0x0d, 0x0a, 0x1a, 0x0a];

/// Types of messages.
pub mod kind {
    pub const HELLO: u16 = 1;
    pub const WELCOME: u16 = 2;
    pub const REFUSE: u16 = 3;
    pub const PROPOSE: u16 = 4;
    pub const ACCEPT: u16 = 5;
    pub const START: u16 = 6;
    pub const STARTED: u16 = 7;
    pub const TOTALS: u16 = 8;
    pub const REPORT: u16 = 9;
    pub const STOP: u16 = 0xa;
    pub const END: u16 = 0xb;
    pub const PING: u16 = 0xc;
    pub const PONG: u16 = 0xd;
    pub const ACK: u16 = 0xe;
    pub const RETURNED: u16 = 0xf;
    pub const LEAVE: u16 = 0x11;
    pub const INTERVAL: u16 = 0x8001;
}

/// A version of the protocol.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Version {
    /// Frames without checks.
    One,
    /// Frames with checks and numbers.
    Two,
}

/// A frame of version 1.
pub fn plain_frame(kind: u16, body: &[u8]) -> Vec<u8> {
    let mut frame = (body.len() as u32).to_be_bytes().to_vec();
    frame.extend(kind.to_be_bytes());
    frame.extend(body);
    frame
}

/// The opening of a control connection.
pub fn control_opening(version: Version, hello: &[u8]) -> Vec<u8> {
    let mut opening = SIGNATURE.to_vec();
    opening.extend([1, 0, 0, 0, 0, 1, 0, if version == Version::One { 1 } else { 2 }]);
    if version == Version::One {
        opening.extend([0; 16]);
    } else {
        opening.extend((hello.len() as u32).to_be_bytes());
        opening.extend(crc(hello).to_be_bytes());
        opening.extend([0; 4]);
        opening.extend(crc(&opening).to_be_bytes());
    }
    opening
}

/// What a socket of a flow shows: what is told to everybody on its way, and in version 2 what proves whose it is.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// The test.
    pub token: Token,
    /// What the session is called, by who knows it.
    pub name: Option<Token>,
}

/// The opening of a data connection.
pub fn data_opening(version: Version, pass: Pass, group: u8, flow: u32, lane: u8) -> Vec<u8> {
    let mut opening = SIGNATURE.to_vec();
    opening.extend([if version == Version::One { 2 } else { 4 }, lane, group, 0]);
    opening.extend(flow.to_be_bytes());
    opening.extend(pass.token);
    if version == Version::Two {
        let proof = pass.name.map_or([0; 8], |name| proof(name, &opening));
        opening.extend(proof);
        opening.extend([0; 4]);
        opening.extend(crc(&opening).to_be_bytes());
    }
    opening
}

/// A message.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Message {
    /// Its type.
    pub kind: u16,
    /// Its body, all parts together.
    pub body: Vec<u8>,
}

/// One end of a control connection after the hello: bytes to messages and back.
#[derive(Debug)]
pub struct Framing {
    /// Whose frames.
    pub version: Version,
    /// The number of the last frame that was said.
    pub said: u64,
    /// The number of the last frame that was heard.
    pub heard: u64,
    bytes: Vec<u8>,
    parts: Vec<u8>,
}

impl Framing {
    /// Nothing said and nothing heard.
    pub fn new(version: Version) -> Self {
        Self { version, said: 0, heard: 0, bytes: Vec::new(), parts: Vec::new() }
    }

    /// A message as it goes on the wire.
    pub fn encode(&mut self, kind: u16, body: &[u8]) -> Vec<u8> {
        if self.version == Version::One {
            return plain_frame(kind, body);
        }
        let parts: Vec<&[u8]> =
            if body.is_empty() { vec![body] } else { body.chunks(4_096).collect() };
        let mut wire = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            let goes_on = index + 1 < parts.len();
            let number = if is_numbered(kind) {
                self.said += 1;
                self.said
            } else {
                0
            };
            wire.extend(self.checked_frame(kind, part, goes_on, number));
        }
        wire
    }

    /// A frame of version 2 with any number.
    pub fn checked_frame(&self, kind: u16, part: &[u8], goes_on: bool, number: u64) -> Vec<u8> {
        let mut frame = vec![0xf5, 0x32, u8::from(goes_on), 0];
        frame.extend(kind.to_be_bytes());
        frame.extend((part.len() as u16).to_be_bytes());
        frame.extend(number.to_be_bytes());
        frame.extend(self.heard.to_be_bytes());
        frame.extend(crc(&frame).to_be_bytes());
        frame.extend(part);
        frame.extend(crc(&frame).to_be_bytes());
        frame
    }

    /// Takes what came.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
    }

    /// The next message, if it is all there. The first byte that a server says tells the version.
    pub fn next(&mut self) -> Option<Message> {
        loop {
            if self.version == Version::One {
                let length = u32::from_be_bytes(self.bytes.get(..4)?.try_into().ok()?) as usize;
                let kind = u16::from_be_bytes(self.bytes.get(4..6)?.try_into().ok()?);
                let body = self.bytes.get(6..6 + length)?.to_vec();
                self.bytes.drain(..6 + length);
                return Some(Message { kind, body });
            }
            let length = u16::from_be_bytes(self.bytes.get(6..8)?.try_into().ok()?);
            let whole = self.bytes.get(..32 + usize::from(length))?.to_vec();
            self.bytes.drain(..whole.len());
            let kind = u16::from_be_bytes([whole[4], whole[5]]);
            let number = u64::from_be_bytes(whole[8..16].try_into().ok()?);
            if number != 0 {
                self.heard = number;
            }
            self.parts.extend(&whole[28..whole.len() - 4]);
            if whole[2] == 0 {
                return Some(Message { kind, body: std::mem::take(&mut self.parts) });
            }
        }
    }

    /// The first byte that waits.
    pub fn first_byte(&self) -> Option<u8> {
        self.bytes.first().copied()
    }
}

const fn is_numbered(kind: u16) -> bool {
    !matches!(kind, kind::PING | kind::PONG | kind::ACK | kind::RETURNED)
}

/// The 32 digits of a token, as bytes.
pub fn token_of(digits: &str) -> Option<Token> {
    let mut token = [0; 16];
    for (index, byte) in token.iter_mut().enumerate() {
        *byte = u8::from_str_radix(digits.get(index * 2..index * 2 + 2)?, 16).ok()?;
    }
    (digits.len() == 32).then_some(token)
}

/// The reverse.
pub fn digits_of(token: Token) -> String {
    use std::fmt::Write as _;
    token.iter().fold(String::new(), |mut digits, byte| {
        // Writing to a string cannot fail.
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(digits: &str) -> Vec<u8> {
        digits.split(' ').map(|two| u8::from_str_radix(two, 16).expect("hexadecimal")).collect()
    }

    #[test]
    fn openings_and_frames_are_those_of_the_document() {
        let hello = plain_frame(kind::HELLO, b"{}");
        assert_eq!(
            control_opening(Version::Two, &hello),
            bytes(
                "f5 50 53 50 0d 0a 1a 0a 01 00 00 00 00 01 00 02 00 00 00 08 81 51 58 d4 00 00 00 \
                 00 b3 bd 1a 18"
            )
        );
        let token = token_of("aa0102030405060708090a0b0c0d0ebb").expect("32 digits");
        assert_eq!(digits_of(token), "aa0102030405060708090a0b0c0d0ebb");
        let name = token_of("bb0e0d0c0b0a09080706050403020100");
        assert_eq!(
            data_opening(Version::Two, Pass { token, name }, 1, 66_051, 2),
            bytes(
                "f5 50 53 50 0d 0a 1a 0a 04 02 01 00 00 01 02 03 aa 01 02 03 04 05 06 07 08 09 0a \
                 0b 0c 0d 0e bb 7d cd 36 ca 6f 19 c3 78 00 00 00 00 dd 97 92 b3"
            )
        );
        let mut framing = Framing::new(Version::Two);
        framing.heard = 1;
        assert_eq!(
            framing.encode(kind::START, b"{}"),
            bytes(
                "f5 32 00 00 00 06 00 02 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00 01 77 85 4e \
                 e9 7b 7d f1 e9 69 3a"
            )
        );
    }

    #[test]
    fn long_messages_come_back_whole() {
        for version in [Version::One, Version::Two] {
            let (mut one, mut other) = (Framing::new(version), Framing::new(version));
            let body = vec![7; 10_000];
            other.feed(&one.encode(kind::REPORT, &body));
            assert_eq!(other.next(), Some(Message { kind: kind::REPORT, body }));
            assert_eq!(other.next(), None);
        }
    }
}
