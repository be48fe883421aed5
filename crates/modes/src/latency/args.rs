//! The words of a latency test, and the plan they make or the reason they make none.

use clap::Args;
use pathscope_core::Wait;
use pathscope_core::quantity::{Bytes, Frequency, Period};

use super::{Extent, HEADER_BYTES, LatencyPlan, LoadModel, Protocol};
use crate::limits::{self, PlanError};

/// How long a test runs that was given neither a number of pings nor a duration.
const DEFAULT_DURATION: Period = Period::from_secs(10);
/// The first half second is page faults, neighbours and waking processors.
const DEFAULT_WARM_UP: Period = Period::from_millis(500);
/// A small request, as it is common; over UDP it holds the header and a little filler.
const DEFAULT_SIZE: Bytes = Bytes(64);

/// What was typed.
#[derive(Args, Clone, Debug, Default)]
pub struct LatencyArgs {
    /// What carries the pings: tcp or udp
    #[arg(long, value_name = "PROTOCOL", default_value = "tcp")]
    pub protocol: String,
    /// How long to ping [default: 10s]
    #[arg(short = 't', long, value_name = "TIME", conflicts_with = "iterations")]
    pub duration: Option<Period>,
    /// How many pings
    #[arg(short = 'n', long, value_name = "N")]
    pub iterations: Option<u64>,
    /// Time from one ping to the next, whatever came back [default: next ping when the echo has come]
    #[arg(long, value_name = "TIME", conflicts_with = "rate")]
    pub period: Option<Period>,
    /// Pings a second, whatever came back
    #[arg(long, value_name = "N/s")]
    pub rate: Option<Frequency>,
    /// Bytes of a ping and of its echo
    #[arg(long, value_name = "BYTES", default_value_t = DEFAULT_SIZE)]
    pub size: Bytes,
    /// Left out of the figures at the start; at most a tenth of --duration [default: 500ms]
    #[arg(long, value_name = "TIME", conflicts_with = "iterations")]
    pub warm_up: Option<Period>,
    /// How bytes move: epoll or plain [default: chosen, and told]
    #[arg(long, value_name = "ENGINE")]
    pub engine: Option<String>,
    /// How both ends wait: spin, sleep, hybrid or auto
    #[arg(long, value_name = "HOW", default_value_t = Wait::Auto)]
    pub wait: Wait,
}

impl LatencyArgs {
    /// The plan that these words make.
    pub fn into_plan(self) -> Result<LatencyPlan, PlanError> {
        let extent = match (self.iterations, self.duration) {
            (Some(iterations), _) => Extent::Iterations(iterations),
            (None, duration) => Extent::DurationNs(duration.unwrap_or(DEFAULT_DURATION)),
        };
        if self.rate == Some(Frequency(0)) {
            limits::in_range("--rate", Frequency(0), &(Frequency(1)..=Frequency(1_000_000)))?;
        }
        let period = self.period.or(self.rate.map(|rate| Period(rate.period_ns())));
        let plan = LatencyPlan {
            protocol: limits::choice("--protocol", &self.protocol, &Protocol::ALL)?,
            load_model: period.map_or(LoadModel::Closed, |period_ns| LoadModel::Open { period_ns }),
            warm_up_ns: warm_up(self.warm_up, extent)?,
            extent,
            size_bytes: self.size,
            engine: self.engine,
            wait: self.wait,
        };
        plan.validate()?;
        Ok(plan)
    }
}

impl LatencyPlan {
    /// Probes beside a load: small datagrams on schedule, by threads that sleep in between and so
    /// take little from the load.
    pub fn probe(rate: Frequency) -> Self {
        Self {
            protocol: Protocol::Udp,
            load_model: LoadModel::Open { period_ns: Period(rate.period_ns()) },
            extent: Extent::WithLoad,
            size_bytes: Bytes(HEADER_BYTES as u64 + 16),
            warm_up_ns: Period(0),
            engine: None,
            wait: Wait::Sleep,
        }
    }
}

/// None where pings are counted; half a second or a tenth of the run where it lasts a stated time.
fn warm_up(asked: Option<Period>, extent: Extent) -> Result<Period, PlanError> {
    let Extent::DurationNs(duration) = extent else { return Ok(Period(0)) };
    limits::warm_up(asked, DEFAULT_WARM_UP, duration)
}
