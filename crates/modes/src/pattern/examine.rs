//! What wrong bytes say: where they are, how many, and what happened to them. Off the hot path.
//!
//! What is seen is told before what is concluded: few bits, or a few bytes, are just that. Of more, it is looked for where
//! the same data belongs: by the marks among it, which name flow and place, else by the table, which names the place in a lap.

mod clusters;
mod source;

#[cfg(test)]
mod tests;

use std::fmt;

use pathscope_core::quantity::{count, counted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::clusters::Cluster;
use self::source::{Search, Source};
use super::payload::Payload;
use super::table::{LAP_BYTES, MARK_BYTES, StreamKey};

/// Evidence is gathered until four laps and a mark are certain to be in it.
const EVIDENCE_BYTES: usize = (4 * LAP_BYTES + 2 * MARK_BYTES) as usize;

/// A stretch of so many bytes that is nowhere in the table is of no flow. Shorter ones are told as what they are.
const FOREIGN_BYTES: usize = 24;

/// A stretch of wrong bytes: where, how long, and of what nature.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Corruption {
    /// Position of the first wrong byte in the stream of its direction.
    pub offset_bytes: u64,
    /// From the first to the last wrong byte among those looked at, inclusive. At most some 64 KiB are
    /// looked at: a stream that is shifted from here on is wrong to its end.
    pub length_bytes: u64,
    /// What kind of damage it is; of several, that of the longest stretch.
    pub nature: Nature,
}

/// What kind of damage.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Nature {
    /// Single bits differ, at most two for each wrong byte.
    BitFlip {
        /// How many bits.
        bits: u32,
    },
    /// Single bytes differ in more bits than that, and are too few to say whose data they are.
    Overwritten {
        /// How many bytes.
        bytes: u32,
        /// How many of their bits differ.
        bits: u32,
    },
    /// The stream's own data from another position: that of a later one (positive), as where bytes are missing, or of an
    /// earlier one (negative), as where they come again. A mark among it says so.
    Shifted {
        /// By how many bytes the data is ahead of its place.
        by_bytes: i64,
    },
    /// Data of another flow of the same session, or of its other direction. A mark among it says so.
    OtherFlow {
        /// Which flow.
        flow: u32,
        /// Whether it is of the direction that the client sends.
        from_client: bool,
    },
    /// Data that streams are made of, from another place, with no mark among it: neither its flow nor its lap is known.
    Misplaced {
        /// By how many bytes it is ahead of its place if it is of this stream, in the nearest lap: as many whole laps of
        /// 16,288 bytes more or less look the same. Absent: it is not of this stream.
        by_bytes: Option<i64>,
    },
    /// Nothing that a flow of this session sends.
    Foreign,
    /// A nature that this version does not know.
    #[serde(other)]
    Unknown,
}

impl fmt::Display for Nature {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BitFlip { bits } => {
                write!(formatter, "{} flipped", counted((*bits).into(), "bit"))
            }
            Self::Overwritten { bytes, bits } => write!(
                formatter,
                "{} overwritten ({})",
                counted((*bytes).into(), "byte"),
                counted((*bits).into(), "wrong bit")
            ),
            Self::Shifted { by_bytes } => {
                write!(formatter, "the data is that of {} in its stream", place(*by_bytes))
            }
            Self::OtherFlow { flow, from_client } => {
                let direction = if *from_client { "client" } else { "server" };
                write!(formatter, "the data is that of flow {flow} from the {direction}")
            }
            Self::Misplaced { by_bytes: Some(by_bytes) } => write!(
                formatter,
                "the data is that of {} in its stream, whole laps of {} bytes more or less, or that of another flow",
                place(*by_bytes),
                count(LAP_BYTES)
            ),
            Self::Misplaced { by_bytes: None } => {
                formatter.write_str("the data is that of another flow")
            }
            Self::Foreign => formatter.write_str("the data is of no flow of this session"),
            Self::Unknown => formatter.write_str("unknown damage"),
        }
    }
}

/// A place in a stream, as seen from here.
fn place(by_bytes: i64) -> String {
    let distance = counted(by_bytes.unsigned_abs(), "byte");
    format!("{distance} {}", if by_bytes < 0 { "before" } else { "further on" })
}

/// Wrong bytes under examination: gathers what follows the first of them, then judges.
#[derive(Debug)]
pub struct Examination {
    payload: Payload,
    key: StreamKey,
    /// Position of the first wrong byte.
    offset: u64,
    evidence: Vec<u8>,
}

impl Examination {
    /// Begins with the first wrong byte and what follows it.
    pub fn new(payload: Payload, key: StreamKey, offset: u64, bytes: &[u8]) -> Self {
        let evidence = Vec::with_capacity(EVIDENCE_BYTES);
        let mut examination = Self { payload, key, offset, evidence };
        examination.add(bytes);
        examination
    }

    /// Adds bytes that follow. Returns whether there is now enough to judge.
    pub fn add(&mut self, bytes: &[u8]) -> bool {
        let room = EVIDENCE_BYTES - self.evidence.len();
        self.evidence.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.evidence.len() == EVIDENCE_BYTES
    }

    /// Judges what there is.
    pub fn judge(&self) -> Corruption {
        let positions = (0..).map(|index| self.offset.wrapping_add(index));
        let expected = positions.map(|position| self.payload.byte(self.key, position));
        let clusters = clusters::of(expected, &self.evidence);
        Corruption {
            offset_bytes: self.offset,
            length_bytes: clusters.last().map_or(0, |last| last.end as u64),
            nature: self.nature(&clusters),
        }
    }

    /// Where the wrong data belongs; of a block that all flows send nobody can say.
    fn source(&self, longest: Option<&Cluster>) -> Option<Source> {
        if self.payload != Payload::Keyed {
            return None;
        }
        let search = Search::new(self.key, self.offset, &self.evidence);
        longest
            .filter(|longest| !longest.has_few_bits())
            .and_then(|longest| search.source_of(longest))
            // Where only marks are wrong, they say whose data it is if several say the same.
            .or_else(|| search.agreed_by_marks())
    }

    fn nature(&self, clusters: &[Cluster]) -> Nature {
        let longest = clusters.iter().max_by_key(|cluster| cluster.bytes);
        if let Some(source) = self.source(longest) {
            return source.nature(self.key);
        }
        let sum = clusters.iter().copied().reduce(Cluster::with).unwrap_or_default();
        match longest {
            _ if sum.has_few_bits() => Nature::BitFlip { bits: sum.bits },
            Some(longest) if !longest.has_few_bits() && longest.len() >= FOREIGN_BYTES => {
                Nature::Foreign
            }
            _ => Nature::Overwritten { bytes: sum.bytes, bits: sum.bits },
        }
    }
}
