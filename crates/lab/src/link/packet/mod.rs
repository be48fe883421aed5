//! What is inside a frame, as far as a link wants to know: whose it is, and where its payload lies.
//!
//! Reading never fails and never panics: what is cut short, unknown or nonsense is a frame of
//! which less is known. Not a validator: checksums are not looked at.

mod checksum;
mod corruption;
mod headers;
#[cfg(test)]
pub(super) mod samples;
#[cfg(test)]
mod tests;

use std::net::IpAddr;
use std::ops::Range;

use serde::{Deserialize, Serialize};

pub use corruption::Damage;
pub(super) use corruption::damage;
pub(super) use headers::read;

/// Whose frames: what they have in common.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flow {
    /// Packets of IP, version 4 or 6.
    Ip {
        /// Who sent them.
        source: IpAddr,
        /// Who is to have them.
        destination: IpAddr,
        /// Number of the protocol inside, as in the header: 6 is TCP, 17 is UDP.
        protocol: u8,
        /// What tells flows between the same two apart.
        ports: Ports,
    },
    /// Anything else, as ARP.
    Other {
        /// The frame's type; 0 where the frame is too short to have one.
        ether_type: u16,
    },
}

/// What tells flows between the same two hosts apart.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ports {
    /// Ports of TCP or UDP.
    Pair {
        /// Of the sender.
        source: u16,
        /// Of the receiver.
        destination: u16,
    },
    /// The identifier of an ICMP echo request or its reply.
    Echo(u16),
    /// Fragments: only the first has ports, so all of them stand together.
    Fragments,
    /// None that is known.
    None,
}

/// A frame as it was read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Packet {
    pub flow: Flow,
    /// The identification of IPv4, where there is one.
    pub ip_id: Option<u16>,
    /// The sequence number of TCP.
    pub tcp_sequence: Option<u32>,
    /// Where damage reaches an application: payload of the transport, or of IP where the transport
    /// is not known. Never the padding of a short frame.
    pub payload: Option<Payload>,
}

/// Where in a frame its payload lies, and what guards it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Payload {
    /// Never empty, never beyond the frame.
    pub at: Range<usize>,
    /// The checksum that covers it.
    pub guard: Option<Guard>,
}

/// A checksum of the Internet kind within a frame.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Guard {
    /// Where its two bytes stand.
    pub at: usize,
    /// Where what it covers begins: words are counted from there.
    pub covers_from: usize,
    /// Zero means that there is none (UDP).
    pub is_optional: bool,
}
