//! The words of a goodput test, and the plan they make or the reason they make none.

use clap::Args;
use pathscope_core::Wait;
use pathscope_core::quantity::{BitRate, Bytes, Period};

use super::{Extent, GoodputPlan, Pattern, Verify};
use crate::limits::{self, PlanError};

/// How long a test runs that was given neither a transfer nor a duration.
const DEFAULT_DURATION: Period = Period::from_secs(10);
/// The first half second is slow start, page faults and waking processors.
const DEFAULT_WARM_UP: Period = Period::from_millis(500);
/// Large enough that a system call, and waking up for it, cost little beside its copy.
const DEFAULT_BUFFER: Bytes = Bytes(512 << 10);
/// A segment of `pushpull`.
const DEFAULT_SEGMENT: Bytes = Bytes(1 << 20);

/// What was typed.
#[derive(Args, Clone, Debug, Default)]
pub struct GoodputArgs {
    /// Who sends when: push (client sends), pull (server sends), pushpull (in turns), duplex (both)
    #[arg(long, value_name = "PATTERN", default_value = "push")]
    pub pattern: String,
    /// Connections at once
    #[arg(short = 'c', long, value_name = "N", default_value_t = 8)]
    pub connections: u32,
    /// Bytes on each connection, both directions together [default: run for --duration]
    #[arg(short = 'n', long, value_name = "BYTES", conflicts_with = "duration")]
    pub transfer: Option<Bytes>,
    /// How long to send [default: 10s]
    #[arg(short = 't', long, value_name = "TIME")]
    pub duration: Option<Period>,
    /// The most handed to the kernel at once, and, up to 64 KiB, taken from it
    #[arg(long, value_name = "BYTES", default_value_t = DEFAULT_BUFFER)]
    pub buffer: Bytes,
    /// Length of the segments of pushpull
    #[arg(long, value_name = "BYTES", default_value_t = DEFAULT_SEGMENT)]
    pub segments: Bytes,
    /// The most each sender may send on one connection
    #[arg(long, value_name = "RATE")]
    pub rate: Option<BitRate>,
    /// Left out of the figures at the start; at most a tenth of --duration [default: 500ms]
    #[arg(long, value_name = "TIME", conflicts_with = "transfer")]
    pub warm_up: Option<Period>,
    /// Which received bytes are checked: full (every one), sampled (one in 16) or off
    #[arg(long, value_name = "HOW", default_value = "full")]
    pub verify: String,
    /// Congestion control at both ends [default: each system's own]
    #[arg(long, value_name = "NAME")]
    pub congestion: Option<String>,
    /// How bytes move: epoll or plain [default: chosen, and told]
    #[arg(long, value_name = "ENGINE")]
    pub engine: Option<String>,
    /// How both ends wait: spin, sleep, hybrid or auto
    #[arg(long, value_name = "HOW", default_value_t = Wait::Auto)]
    pub wait: Wait,
}

impl GoodputArgs {
    /// The plan that these words make.
    pub fn into_plan(self) -> Result<GoodputPlan, PlanError> {
        let extent = match (self.transfer, self.duration) {
            (Some(transfer), _) => Extent::TransferBytes(transfer),
            (None, duration) => Extent::DurationNs(duration.unwrap_or(DEFAULT_DURATION)),
        };
        let plan = GoodputPlan {
            pattern: limits::choice("--pattern", &self.pattern, &Pattern::ALL)?,
            connections: self.connections,
            warm_up_ns: warm_up(self.warm_up, extent)?,
            extent,
            buffer_bytes: self.buffer,
            push_bytes: self.segments,
            pull_bytes: self.segments,
            rate_bps: self.rate,
            verify: limits::choice("--verify", &self.verify, &Verify::ALL)?,
            congestion_control: self.congestion,
            engine: self.engine,
            wait: self.wait,
        };
        plan.validate()?;
        Ok(plan)
    }
}

/// None where bytes are counted; half a second or a tenth of the run where it lasts a stated time.
fn warm_up(asked: Option<Period>, extent: Extent) -> Result<Period, PlanError> {
    let Extent::DurationNs(duration) = extent else { return Ok(Period(0)) };
    limits::warm_up(asked, DEFAULT_WARM_UP, duration)
}
