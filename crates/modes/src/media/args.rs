//! The words of a media test, and the plan they make or the reason they make none.

use clap::Args;
use pathscope_core::Wait;
use pathscope_core::quantity::{BitRate, Bytes, Period};

use super::{Direction, MediaPlan, PROFILES, Pacing};
use crate::limits::{self, PlanError};
use crate::mode::Mode;
use crate::sockets::{OwnAddress, SocketPlan, own_place, source_ports};

/// How long a test runs that was given no duration.
const DEFAULT_DURATION: Period = Period::from_secs(10);
/// That of most video.
const DEFAULT_FRAME_RATE: u32 = 60;
/// What players of streams that are not talked back to wait for.
const DEFAULT_BUFFER_DEPTH: Period = Period::from_secs(1);
/// Room in a frame of 1500 bytes for the headers of IP, IPv6, tunnels and VLANs.
const DEFAULT_DATAGRAM: Bytes = Bytes(1_400);
/// What ctsTraffic asks for.
const DEFAULT_RECEIVE_BUFFER: Bytes = Bytes(1 << 20);

/// What was typed.
#[derive(Args, Clone, Debug, Default)]
pub struct MediaArgs {
    /// A stream by its name: sd, hd, 4k, voice, conference or cloud-game; what is stated beside it counts more
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Bits a second of each stream
    #[arg(long, value_name = "RATE")]
    pub rate: Option<BitRate>,
    /// Frames a second [default: 60]
    #[arg(long, value_name = "N")]
    pub frame_rate: Option<u32>,
    /// How long a frame may wait before it is played [default: 1s]
    #[arg(long, value_name = "TIME")]
    pub buffer_depth: Option<Period>,
    /// How long each stream sends
    #[arg(short = 't', long, value_name = "TIME", default_value_t = DEFAULT_DURATION)]
    pub duration: Period,
    /// Streams at once
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub streams: u32,
    /// Who sends: down (the server), up (the client) or both [default: down, or as --profile says]
    #[arg(long, value_name = "WAY")]
    pub direction: Option<String>,
    /// The largest datagram: its UDP payload
    #[arg(long, value_name = "BYTES", default_value_t = DEFAULT_DATAGRAM)]
    pub datagram: Bytes,
    /// How the datagrams of a frame leave: back-to-back, or spread over its time
    #[arg(long, value_name = "HOW", default_value = "back-to-back")]
    pub pacing: String,
    /// Receive buffer of each stream
    #[arg(long, value_name = "BYTES", default_value_t = DEFAULT_RECEIVE_BUFFER)]
    pub receive_buffer: Bytes,
    /// Code point (DSCP) of what both ends send, 0 to 63
    #[arg(long, value_name = "N")]
    pub dscp: Option<u8>,
    /// Interface of this end, by its name or its number
    #[arg(long, value_name = "NAME")]
    pub interface: Option<String>,
    /// Address of this end, or a name that has some; may be given several times, and streams take all of them in turns; '*': whichever the
    /// system chooses
    #[arg(long, value_name = "ADDRESS")]
    pub bind: Vec<OwnAddress>,
    /// Port of this end, or a range
    #[arg(
        long,
        value_name = "PORT",
        help = "Port of this end; '[low,high]': one of these for each stream at a time"
    )]
    pub source_port: Option<String>,
    /// How bytes move: epoll, uring or plain [default: chosen, and told]
    #[arg(long, value_name = "ENGINE")]
    pub engine: Option<String>,
    /// How both ends wait: spin, sleep, hybrid or auto
    #[arg(long, value_name = "HOW", default_value_t = Wait::Auto)]
    pub wait: Wait,
}

impl MediaArgs {
    /// The plan that these words make.
    pub fn into_plan(self) -> Result<MediaPlan, PlanError> {
        let profile = self.profile.as_deref();
        let profile = profile.map(|typed| limits::choice("--profile", typed, &PROFILES));
        let profile = profile.transpose()?;
        let direction = match &self.direction {
            Some(typed) => limits::choice("--direction", typed, &Direction::ALL)?,
            None => profile.map_or(Direction::Down, |profile| profile.direction),
        };
        let no_stream =
            || PlanError::NoStream { profiles: PROFILES.map(|(name, _)| name).join(", ") };
        let rate = self.rate.or(profile.map(|profile| profile.rate)).ok_or_else(no_stream)?;
        let frame_rate = self.frame_rate.or(profile.map(|profile| profile.frame_rate));
        let buffer_depth = self.buffer_depth.or(profile.map(|profile| profile.buffer_depth));
        let (bind, interface) = own_place(self.bind, self.interface)?;
        let plan = MediaPlan {
            direction,
            rate_bps: rate,
            frame_rate: frame_rate.unwrap_or(DEFAULT_FRAME_RATE),
            buffer_depth_ns: buffer_depth.unwrap_or(DEFAULT_BUFFER_DEPTH),
            duration_ns: self.duration,
            streams: self.streams,
            datagram_bytes: self.datagram,
            pacing: limits::choice("--pacing", &self.pacing, &Pacing::ALL)?,
            sockets: SocketPlan {
                receive_buffer_bytes: Some(self.receive_buffer),
                dscp: self.dscp,
                interface,
                bind,
                source_ports: self.source_port.as_deref().map(source_ports).transpose()?,
                ..SocketPlan::default()
            },
            engine: self.engine,
            wait: self.wait,
            profile: self.profile,
        };
        plan.validate()?;
        Ok(plan)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::Layout;
    use super::*;

    #[derive(Parser)]
    struct Words {
        #[command(flatten)]
        mode: MediaArgs,
    }

    /// The plan of a command line, or what is said instead.
    fn plan(words: &str) -> Result<MediaPlan, String> {
        let words = std::iter::once("media").chain(words.split_whitespace());
        let parsed = Words::try_parse_from(words).map_err(|error| error.to_string())?;
        parsed.mode.into_plan().map_err(|error| error.to_string())
    }

    #[test]
    fn every_profile_is_a_plan_and_gives_way_to_what_is_stated() {
        for (name, profile) in PROFILES {
            let plan = plan(&format!("--profile {name}")).expect(name);
            assert_eq!((plan.rate_bps, plan.frame_rate), (profile.rate, profile.frame_rate));
            assert_eq!(plan.buffer_depth_ns, profile.buffer_depth, "{name}");
            assert_eq!(plan.direction, profile.direction);
        }
        let stated = plan("--profile voice --direction down --buffer-depth 40ms --frame-rate 100");
        let stated = stated.expect("in range");
        assert_eq!((stated.frame_rate, stated.direction), (100, Direction::Down));
        assert_eq!(stated.buffer_depth_ns, Period::from_millis(40));
    }

    #[test]
    fn the_guides_stream_has_the_guides_frames() {
        let plan =
            plan("--rate 25Mbit --frame-rate 60 --buffer-depth 1s --duration 60s --streams 10");
        let layout = Layout::of(&plan.expect("in range"));
        assert_eq!((layout.frame_bytes, layout.frames, layout.datagrams), (52_083, 3_600, 38));
    }

    #[test]
    fn what_makes_no_plan_is_named() {
        for (words, said) in [
            ("", "--profile NAME (one of sd, hd, 4k, voice, conference, cloud-game), or --rate"),
            ("--rate 25", "has no unit"),
            ("--rate 999bit", "--rate 999.0 bit/s is out of range: 1"),
            ("--profile 8k", "--profile '8k' is not known; choose sd, hd, 4k, voice"),
            ("--rate 1Mbit --frame-rate 0", "--frame-rate 0 is out of range: 1 to 10000"),
            ("--rate 1Gbit --frame-rate 10001", "--frame-rate 10001 is out of range"),
            ("--rate 1Mbit --buffer-depth 999us", "--buffer-depth 999 µs is out of range: 1 ms to"),
            ("--rate 1Mbit --buffer-depth 61s", "60 s"),
            ("--rate 1Mbit --duration 1ms", "--duration 1 ms is out of range"),
            ("--rate 1Mbit --streams 0", "--streams 0 is out of range: 1 to 1000000"),
            ("--rate 1Mbit --streams 1000001", "--streams 1000001 is out of range"),
            ("--rate 1Mbit --datagram 127", "--datagram 127 B is out of range: 128 B to"),
            ("--rate 1Mbit --datagram 65508", "--datagram"),
            ("--rate 20kbit --frame-rate 60", "frames of 41 bytes"),
            ("--rate 1Mbit --frame-rate 10 -t 50ms", "no whole frame"),
            ("--rate 1Gbit --streams 10000 --buffer-depth 60s", "more than 256 MiB"),
            ("--rate 1Mbit --pacing evenly", "choose back-to-back, spread"),
            ("--rate 1Mbit --direction sideways", "choose down, up, both"),
            ("--rate 1Mbit --receive-buffer 2GiB", "--receive-buffer 2 GiB is out of range"),
            ("--rate 1Mbit --dscp 64", "--dscp 64 is out of range: 0 to 63"),
            ("--rate 1Mbit --interface a/b", "--interface"),
            ("--rate 1Mbit --source-port 0", "--source-port 0 is out of range"),
            ("--rate 1Mbit --streams 3 --source-port [4000,4001]", "2 ports"),
            ("--rate 1Mbit --engine a/b", "--engine"),
        ] {
            let error = plan(words).expect_err(words);
            assert!(error.contains(said), "{words}: {error}");
        }
    }
}
