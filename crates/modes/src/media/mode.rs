//! A media test as one of the modes.

use pathscope_core::Wait;
use pathscope_core::id::Role;
use pathscope_core::quantity::{Period, count, counted};
use pathscope_flow::Transport;

use super::delay::Delays;
use super::limits::{BUFFER_DEPTH, FRAME_RATE, STREAM_DATAGRAM, STREAM_MEMORY, STREAMS};
use super::{HEADER_BYTES, Layout, MediaFlow, MediaPlan, MediaShared, MediaTally, Pacing, ledger};
use crate::limits::{self, PlanError};
use crate::memory::{MemoryNeed, tallies};
use crate::mode::{Asks, DatagramSockets, Flows, Mode, ToldAs};
use crate::offered::{Load, Offered};
use crate::pattern::StreamImage;
use crate::placement::{EngineKind, Placement, SPUN_SHARE, Workers};

/// What a timer costs a thread that is awake a little before it: it spins for so long.
const SPUN_NS: u64 = 170_000;

impl Mode for MediaPlan {
    fn validate(&self) -> Result<(), PlanError> {
        limits::in_range("--rate", self.rate_bps, &limits::RATE)?;
        limits::in_range("--frame-rate", u64::from(self.frame_rate), &FRAME_RATE)?;
        limits::in_range("--buffer-depth", self.buffer_depth_ns, &BUFFER_DEPTH)?;
        limits::in_range("--duration", self.duration_ns, &limits::DURATION)?;
        limits::in_range("--streams", u64::from(self.streams), &STREAMS)?;
        limits::in_range("--datagram", self.datagram_bytes, &STREAM_DATAGRAM)?;
        let layout = Layout::of(self);
        let least_bytes = HEADER_BYTES as u64 + 1;
        let (rate, frame_rate, frame_bytes) = (self.rate_bps, self.frame_rate, layout.frame_bytes);
        if frame_bytes < least_bytes {
            let why = format!(
                "{rate} at --frame-rate {frame_rate} makes frames of {frame_bytes} bytes, and each needs \
                 {least_bytes} for a header and one byte; raise the rate or lower the frame rate"
            );
            return Err(PlanError::unfit("--rate", why));
        }
        if layout.frames == 0 {
            let why = format!(
                "{} holds no whole frame at --frame-rate {frame_rate}; give it longer",
                self.duration_ns
            );
            return Err(PlanError::unfit("--duration", why));
        }
        let each = ledger::memory_bytes(&layout).saturating_add(MediaFlow::BYTES as u64);
        let memory = each.saturating_mul(self.streams.into());
        let advice = "an end would need more than 256 MiB to remember what came: ask for less of one of them";
        let both = ["so many --streams of such a --rate", "such a --buffer-depth"];
        limits::not_both(both, memory > STREAM_MEMORY, advice)?;
        limits::name("--profile", self.profile.as_deref())?;
        self.sockets.validate(self.streams)?;
        limits::name("--engine", self.engine.as_deref())
    }

    fn flows(&self) -> Flows {
        Flows::of(Transport::Datagram, self.streams)
    }

    /// From the start to the play-out of the last frame, were nothing late.
    fn duration_ns(&self) -> Option<Period> {
        Some(Period(self.duration_ns.0.saturating_add(self.buffer_depth_ns.0)))
    }

    fn subtitle(&self) -> String {
        let layout = Layout::of(self);
        let way = match (self.is_up(), self.is_down()) {
            (true, true) => "both ways",
            (true, false) => "up",
            _ => "down",
        };
        let streams = counted(self.streams.into(), "stream");
        let profile = self.profile.as_ref().map_or_else(String::new, |name| format!("{name}, "));
        let pacing = if self.pacing == Pacing::Spread { ", spread" } else { "" };
        format!(
            "{profile}{way}, {streams} of {}, {} frames/s of {} B in {}{pacing}, buffer {}, {}",
            self.rate_bps,
            count(layout.frame_rate.into()),
            count(layout.frame_bytes),
            counted(layout.datagrams.into(), "datagram"),
            self.buffer_depth_ns,
            self.duration_ns,
        )
    }

    /// Most of it where a server is the end that plays the streams.
    fn server_memory(&self) -> MemoryNeed {
        let receives = self.sends(Role::Client);
        let kept = if receives { ledger::memory_bytes(&Layout::of(self)) } else { 0 };
        let image = StreamImage::<HEADER_BYTES>::memory_bytes(self.sends(Role::Server));
        MemoryNeed {
            flow_bytes: (MediaFlow::BYTES as u64).saturating_add(kept),
            // Distributions of what was due, of delays, and of how they vary.
            worker_bytes: (size_of::<MediaShared>() + image) as u64
                + tallies(3, size_of::<MediaTally>() + Delays::BYTES),
        }
    }

    /// As many threads as there are processors, each awake a little before a frame is due, where frames are few enough for
    /// that to cost little. Streams that would spin for more sleep, whoever asks.
    fn placement(&self, cpus: usize) -> Placement {
        let workers = cpus.min(self.streams as usize).max(1);
        let layout = Layout::of(self);
        let parts = if layout.is_spread { layout.datagrams } else { 1 };
        let timers = f64::from(self.frame_rate) * f64::from(self.streams) * f64::from(parts);
        let spun = timers / workers as f64 * SPUN_NS as f64 / 1e9;
        let wait = if spun <= SPUN_SHARE {
            (Wait::Hybrid, "it keeps a schedule, and spins for little of the time")
        } else {
            let why = "frames are due so often that spinning before each would use up a processor";
            (Wait::Sleep, why)
        };
        let engine = (EngineKind::Polling, "it carries any number of streams");
        Placement { engine, wait, workers: Workers::EachProcessor, spun_share: 0.0 }
    }

    fn asks(&self) -> Asks<'_> {
        Asks {
            wait: self.wait,
            engine: self.engine.as_deref(),
            sockets: Some(&self.sockets),
            ..Asks::default()
        }
    }

    /// The last datagram of a frame may be shorter than the others.
    fn told_as(&self, role: Role) -> ToldAs {
        ToldAs::Streams { receives: self.sends(role.peer()) }
    }

    fn datagram_sockets(&self, _: Role) -> Option<DatagramSockets> {
        let room_bytes = Some(self.sockets.receive_buffer_bytes?.0);
        Some(DatagramSockets { room_bytes, ..DatagramSockets::default() })
    }

    fn offered(&self) -> Option<Offered> {
        let load = Load::Datagrams {
            flows: self.streams,
            rate_bps: Some(self.rate_bps.0 as f64 * f64::from(self.streams)),
            payload_bytes: self.datagram_bytes.0,
        };
        Some(Offered::by(load, self.is_up(), self.is_down()))
    }
}
