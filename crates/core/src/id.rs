//! Names for the things a run counts: flows, lanes, sessions.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One flow of a session, numbered from 0 at both ends alike.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    Deserialize,
    Eq,
    Hash,
    JsonSchema,
    Ord,
    PartialEq,
    PartialOrd,
    Serialize,
)]
pub struct FlowId(pub u32);

impl fmt::Display for FlowId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// One socket of a flow. Multipath has a lane for each path; everything else uses lane 0.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Lane(pub u8);

impl Lane {
    /// The only lane of a flow with one socket.
    pub const ONLY: Self = Self(0);

    /// The lane's place in a table.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Which end of a session this is.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The end that states the test and opens every connection.
    Client,
    /// The end that waits to be asked.
    Server,
}

impl Role {
    /// The other end.
    pub const fn peer(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// 16 unpredictable bytes that name a session to those who were told, and to nobody else.
#[derive(Clone, Copy, Eq, Hash, PartialEq)]
pub struct Token(pub [u8; 16]);

impl Token {
    /// The token as 32 hexadecimal digits.
    pub fn to_hex(self) -> String {
        use fmt::Write as _;
        self.0.iter().fold(String::with_capacity(32), |mut hex, byte| {
            // Writing to a String cannot fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }

    /// Reads 32 hexadecimal digits; `None` for anything else.
    pub fn from_hex(hex: &str) -> Option<Self> {
        if hex.len() != 32 || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let mut token = [0; 16];
        for (byte, digits) in token.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        }
        Some(Self(token))
    }
}

/// Names one connection in the files of both its ends, whatever happened to its addresses between them. As
/// text it is a UUID of version 8 (RFC 9562).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct ConnectionId([u8; 16]);

impl ConnectionId {
    /// The identifier of these bytes, of which six bits become version and variant.
    pub const fn from_bytes(mut bytes: [u8; 16]) -> Self {
        bytes[6] = bytes[6] & 0x0f | 0x80;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        Self(bytes)
    }
}

impl fmt::Display for ConnectionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, byte) in self.0.iter().enumerate() {
            let dash = if matches!(index, 4 | 6 | 8 | 10) { "-" } else { "" };
            write!(formatter, "{dash}{byte:02x}")?;
        }
        Ok(())
    }
}

/// A token is a secret between two ends: only its first bytes are shown.
impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Token({:02x}{:02x}…)", self.0[0], self.0[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_s_identifier_is_a_uuid_of_version_8() {
        assert_eq!(
            ConnectionId::from_bytes([0xff; 16]).to_string(),
            "ffffffff-ffff-8fff-bfff-ffffffffffff"
        );
        assert_eq!(
            ConnectionId::from_bytes([0; 16]).to_string(),
            "00000000-0000-8000-8000-000000000000"
        );
    }

    #[test]
    fn a_token_survives_its_hexadecimal_form() {
        let token = Token([0, 1, 2, 0xfe, 0xff, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
        assert_eq!(Token::from_hex(&token.to_hex()), Some(token));
    }

    #[test]
    fn what_is_not_32_digits_is_no_token() {
        for wrong in
            ["", "00", "+0112233445566778899aabbccddeeff", "zz112233445566778899aabbccddeeff"]
        {
            assert_eq!(Token::from_hex(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_token_is_not_shown_whole() {
        assert_eq!(format!("{:?}", Token([0xab; 16])), "Token(abab…)");
    }
}
