//! A media test as it runs: stated by the client, sent to the server, stored in the result.

use pathscope_core::Wait;
use pathscope_core::id::Role;
use pathscope_core::quantity::{BitRate, Bytes, Period};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::limits::{BUFFER_DEPTH, FRAME_RATE, STREAM_DATAGRAM, STREAM_MEMORY, STREAMS};
use super::{HEADER_BYTES, Layout, ledger};
use crate::limits::{self, PlanError};
use crate::sockets::SocketPlan;

/// Everything about a media test that both ends must know.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct MediaPlan {
    /// The profile that was named, if one was; what it says stands in the other fields.
    #[serde(default)]
    pub profile: Option<String>,
    /// Who sends.
    pub direction: Direction,
    /// Bits a second of each stream and direction: UDP payload, headers of datagrams included. Rounded down
    /// to whole bytes of a frame.
    pub rate_bps: BitRate,
    /// Frames a second.
    pub frame_rate: u32,
    /// How long after the begin of a stream its first frame is played. Each is there in time that is there
    /// then.
    pub buffer_depth_ns: Period,
    /// How long each stream sends.
    pub duration_ns: Period,
    /// Streams at once.
    pub streams: u32,
    /// The largest datagram: its UDP payload.
    pub datagram_bytes: Bytes,
    /// How the datagrams of a frame leave.
    pub pacing: Pacing,
    /// How the sockets of the streams are opened and set; what concerns TCP alone does nothing.
    #[serde(default)]
    pub sockets: SocketPlan,
    /// Engine asked for by name; absent: left to each end.
    #[serde(default)]
    pub engine: Option<String>,
    /// How both ends wait.
    pub wait: Wait,
}

impl MediaPlan {
    /// Whether this can be run: everything in its range, nothing contradictory.
    pub(super) fn check(&self) -> Result<(), PlanError> {
        limits::in_range("--rate", self.rate_bps, &limits::RATE)?;
        limits::in_range("--frame-rate", u64::from(self.frame_rate), &FRAME_RATE)?;
        limits::in_range("--buffer-depth", self.buffer_depth_ns, &BUFFER_DEPTH)?;
        limits::in_range("--duration", self.duration_ns, &limits::DURATION)?;
        limits::in_range("--streams", u64::from(self.streams), &STREAMS)?;
        limits::in_range("--datagram", self.datagram_bytes, &STREAM_DATAGRAM)?;
        let layout = Layout::of(self);
        let least_bytes = HEADER_BYTES as u64 + 1;
        if layout.frame_bytes < least_bytes {
            return Err(PlanError::SmallFrame {
                rate: self.rate_bps,
                frame_rate: self.frame_rate,
                frame_bytes: layout.frame_bytes,
                least_bytes,
            });
        }
        if layout.frames == 0 {
            return Err(PlanError::NoFrame {
                duration: self.duration_ns,
                frame_rate: self.frame_rate,
            });
        }
        let memory = ledger::memory_bytes(self, &layout).saturating_mul(self.streams.into());
        if memory > STREAM_MEMORY {
            return Err(PlanError::Contradiction {
                one: "so many --streams of such a --rate",
                other: "such a --buffer-depth",
                advice: "an end would need more than 256 MiB to remember what came: ask for less of one of them",
            });
        }
        limits::name("--profile", self.profile.as_deref())?;
        self.sockets.validate(self.streams)?;
        limits::name("--engine", self.engine.as_deref())
    }

    /// Whether the client sends.
    pub fn is_up(&self) -> bool {
        self.direction != Direction::Down
    }

    /// Whether the server sends.
    pub fn is_down(&self) -> bool {
        self.direction != Direction::Up
    }

    /// Whether an end sends.
    pub fn sends(&self, role: Role) -> bool {
        if role == Role::Client { self.is_up() } else { self.is_down() }
    }
}

/// Who sends.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// The server.
    Down,
    /// The client.
    Up,
    /// Both, each stream both ways.
    Both,
}

impl Direction {
    /// The directions with their names as typed.
    pub const ALL: [(&'static str, Self); 3] =
        [("down", Self::Down), ("up", Self::Up), ("both", Self::Both)];
}

/// How the datagrams of a frame leave.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Pacing {
    /// One right after the other, when the frame is due.
    BackToBack,
    /// Evenly over the time until the next frame is due.
    Spread,
}

impl Pacing {
    /// The ways with their names as typed.
    pub const ALL: [(&'static str, Self); 2] =
        [("back-to-back", Self::BackToBack), ("spread", Self::Spread)];

    /// As it is typed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BackToBack => "back-to-back",
            Self::Spread => "spread",
        }
    }
}
