//! The two directions of a path, the protocols that cross it, and what a flow over UDP is opened with in each direction.

use pathscope_modes::figures::Found;

/// Bytes of Ethernet's header.
pub const ETHERNET_BYTES: u64 = 14;
/// UDP's number among protocols (RFC 768).
pub const UDP: u8 = 17;
/// TCP's (RFC 9293).
pub const TCP: u8 = 6;
/// With which a client opens a flow over UDP, and with which a server answers.
pub(crate) const OPENING_BYTES: u64 = 64;
pub(crate) const ANSWER_BYTES: u64 = 32;

/// One direction.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Way {
    /// From the client.
    Up,
    /// From the server.
    Down,
}

impl Way {
    /// That of a figure which there is for each.
    pub fn of(found: &Found) -> Option<Self> {
        match found.side? {
            "up" => Some(Self::Up),
            "down" => Some(Self::Down),
            _ => None,
        }
    }

    /// With so many bytes a flow over UDP is opened this way.
    pub const fn opening_bytes(self) -> u64 {
        match self {
            Self::Up => OPENING_BYTES,
            Self::Down => ANSWER_BYTES,
        }
    }
}
