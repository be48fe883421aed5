//! Streams that have a name, as data.

use pathscope_core::quantity::{BitRate, Period};

use super::Direction;

/// What a named stream is like. Each value can be stated otherwise beside it.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    /// Bits a second of each stream: UDP payload, headers of datagrams included.
    pub rate: BitRate,
    /// Frames a second.
    pub frame_rate: u32,
    /// How long a frame waits before it is played.
    pub buffer_depth: Period,
    /// Who sends.
    pub direction: Direction,
}

/// Every profile, by its name as typed. `docs/method/media.md` says where the values come from.
pub const PROFILES: [(&str, Profile); 6] = [
    // Video of standard definition, of high definition, and of 2160 lines.
    ("sd", profile(3_000_000, 30, 1_000, Direction::Down)),
    ("hd", profile(5_000_000, 30, 1_000, Direction::Down)),
    ("4k", profile(25_000_000, 60, 1_000, Direction::Down)),
    // A telephone call: G.711 in RTP, 20 ms a packet.
    ("voice", profile(68_800, 50, 100, Direction::Both)),
    // A video call.
    ("conference", profile(1_500_000, 30, 150, Direction::Both)),
    // A game that is drawn elsewhere: three frames of buffer.
    ("cloud-game", profile(25_000_000, 60, 50, Direction::Down)),
];

/// Of so many bits and frames a second, each of which waits for so many milliseconds.
const fn profile(bits: u64, frame_rate: u32, depth_ms: u64, direction: Direction) -> Profile {
    let buffer_depth = Period::from_millis(depth_ms);
    Profile { rate: BitRate(bits), frame_rate, buffer_depth, direction }
}
