//! A media test as it runs: stated by the client, sent to the server, stored in the result.

use pathscope_core::Wait;
use pathscope_core::id::Role;
use pathscope_core::quantity::{BitRate, Bytes, Period};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
}
