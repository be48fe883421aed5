//! Streams that have a name, as data.

use pathscope_core::quantity::{BitRate, Period};

use super::Direction;

/// What a named stream is like. Each value can be stated otherwise beside it.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    /// As it is typed.
    pub name: &'static str,
    /// Bits a second of each stream: UDP payload, headers of datagrams included.
    pub rate: BitRate,
    /// Frames a second.
    pub frame_rate: u32,
    /// How long a frame waits before it is played.
    pub buffer_depth: Period,
    /// Who sends.
    pub direction: Direction,
    /// What it stands for.
    pub about: &'static str,
}

/// Every profile. `docs/method/media.md` says where the values come from.
pub const PROFILES: [Profile; 6] = [
    Profile {
        name: "sd",
        rate: BitRate(3_000_000),
        frame_rate: 30,
        buffer_depth: Period::from_secs(1),
        direction: Direction::Down,
        about: "video of standard definition",
    },
    Profile {
        name: "hd",
        rate: BitRate(5_000_000),
        frame_rate: 30,
        buffer_depth: Period::from_secs(1),
        direction: Direction::Down,
        about: "video of high definition",
    },
    Profile {
        name: "4k",
        rate: BitRate(25_000_000),
        frame_rate: 60,
        buffer_depth: Period::from_secs(1),
        direction: Direction::Down,
        about: "video of 2160 lines",
    },
    Profile {
        name: "voice",
        rate: BitRate(68_800),
        frame_rate: 50,
        buffer_depth: Period::from_millis(100),
        direction: Direction::Both,
        about: "a telephone call: G.711 in RTP, 20 ms a packet",
    },
    Profile {
        name: "conference",
        rate: BitRate(1_500_000),
        frame_rate: 30,
        buffer_depth: Period::from_millis(150),
        direction: Direction::Both,
        about: "a video call",
    },
    Profile {
        name: "cloud-game",
        rate: BitRate(25_000_000),
        frame_rate: 60,
        buffer_depth: Period::from_millis(50),
        direction: Direction::Down,
        about: "a game that is drawn elsewhere: three frames of buffer",
    },
];

impl Profile {
    /// The profile of this name.
    pub fn of(name: &str) -> Option<&'static Self> {
        PROFILES.iter().find(|profile| profile.name == name)
    }
}
