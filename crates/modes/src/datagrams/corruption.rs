//! A datagram that is not what was sent: where, and what is wrong with it.

use pathscope_core::id::FlowId;
use pathscope_core::quantity::counted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pattern::{Examination, Nature, Payload, StreamKey};

/// A datagram that came otherwise than it was sent.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct DatagramCorruption {
    /// The flow that it came on.
    pub flow: FlowId,
    /// Whether the client sent it.
    pub from_client: bool,
    /// Its number, where its header is sound.
    pub sequence: Option<u64>,
    /// Bytes of it that came.
    pub came_bytes: u64,
    /// What is wrong.
    pub damage: Damage,
}

/// What is wrong with a datagram.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Damage {
    /// Its header: which datagram it was is not known.
    Header,
    /// Its length.
    Length {
        /// Bytes that were sent.
        sent_bytes: u64,
    },
    /// Its bytes.
    Filler {
        /// The first wrong byte, from the begin of the datagram.
        offset_bytes: u64,
        /// From the first to the last wrong byte, inclusive.
        length_bytes: u64,
        /// What kind of damage it is.
        nature: Nature,
    },
    /// A damage that this version does not know.
    #[serde(other)]
    Unknown,
}

impl Damage {
    /// Of wrong bytes from `offset` on in a datagram whose begin stands at `position` in its stream.
    pub(super) fn filler(key: StreamKey, position: u64, offset: usize, datagram: &[u8]) -> Self {
        let at = position.wrapping_add(offset as u64);
        let found = Examination::new(Payload::Keyed, key, at, &datagram[offset..]).judge();
        Self::Filler {
            offset_bytes: offset as u64,
            length_bytes: found.length_bytes,
            nature: found.nature,
        }
    }
}

impl DatagramCorruption {
    /// As a sentence.
    pub fn text(&self) -> String {
        let which = match self.sequence {
            Some(sequence) => format!("datagram {sequence} of flow {}", self.flow.0),
            None => format!("a datagram of flow {}", self.flow.0),
        };
        match &self.damage {
            Damage::Header => format!("{which} came with a damaged header"),
            Damage::Length { sent_bytes } => {
                format!("{which} came with {} bytes of {sent_bytes}", self.came_bytes)
            }
            Damage::Filler { offset_bytes, length_bytes, nature } => {
                let long = counted(*length_bytes, "byte");
                format!(
                    "{which} came with wrong data at byte {offset_bytes}, {long} long: {nature}"
                )
            }
            Damage::Unknown => format!("{which} came damaged"),
        }
    }
}
