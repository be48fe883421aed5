//! A latency test as one of the modes.

use pathscope_core::Wait;
use pathscope_core::id::Role;
use pathscope_core::quantity::{Period, count, counted, duration_ns};

use super::{Arrivals, Extent, LatencyPlan, LoadModel, Timestamps};
use crate::limits::PlanError;
use crate::memory::MemoryNeed;
use crate::mode::{Asks, Flows, Mode, Receives, ToldAs};
use crate::offered::PingSizes;
use crate::placement::{EngineKind, FEW_FLOWS, Placement, Workers};

/// Connections in the making at once: few enough for any queue of those that wait to be accepted.
const CONNECTS_AT_ONCE: u32 = 100;

/// Pings of a light test are so far apart at the least, those of all its flows together.
const LIGHT_PERIOD_NS: u64 = 10_000_000;

/// How long a thread that spins before it sleeps does so for each ping.
const SPUN_FOR_PING_NS: u64 = 50_000;

impl Mode for LatencyPlan {
    fn validate(&self) -> Result<(), PlanError> {
        self.check()
    }

    fn flows(&self) -> Flows {
        Flows::of(self.protocol.transport(), self.connections)
    }

    fn duration_ns(&self) -> Option<Period> {
        match (self.extent, self.load_model) {
            (Extent::DurationNs(duration), _) => Some(duration),
            (Extent::Iterations(count), LoadModel::Open { period_ns, .. }) => {
                Some(Period(count.saturating_mul(period_ns.0)))
            }
            _ => None,
        }
    }

    fn subtitle(&self) -> String {
        let extent = match self.extent {
            Extent::Iterations(iterations) => format!(", {}", counted(iterations, "ping")),
            Extent::DurationNs(duration) => format!(", {}", duration_ns(duration.0)),
            Extent::WithLoad => String::new(),
        };
        let protocol = self.protocol.name().to_uppercase();
        if (self.extent, self.load_model) == (Extent::WithLoad, LoadModel::Closed) {
            // Nobody but the client knows how long its pings are, and how many.
            return format!("{protocol}, what comes is echoed as it comes");
        }
        let size = match self.reply_bytes {
            Some(reply) => format!("{} there, {reply} back", self.size_bytes),
            None => self.size_bytes.to_string(),
        };
        let flows = match self.connections {
            1 => String::new(),
            flows => format!(", {} flows", count(flows.into())),
        };
        format!("{protocol}, {size}, {}{flows}{extent}", load_model(self))
    }

    fn server_memory(&self) -> MemoryNeed {
        self.echo_memory()
    }

    /// One thread, which spins where it can have a processor to itself and would else add its own wake-ups to what it
    /// measures.
    fn placement(&self, cpus: usize) -> Placement {
        let engine = if self.connections <= FEW_FLOWS {
            (EngineKind::Direct, "it does the least for each ping")
        } else {
            (EngineKind::Polling, "it carries any number of connections")
        };
        let shares = !self.client_cpus.is_empty() && self.client_cpus == self.server_cpus;
        let (wait, spun_share) = match self.load_model {
            LoadModel::Closed => ((Wait::Spin, "this end may use two processors or more"), 0.0),
            LoadModel::Open { period_ns, .. } => (
                (Wait::Hybrid, "it keeps a schedule without using up a processor"),
                f64::from(self.connections) * SPUN_FOR_PING_NS as f64 / period_ns.0.max(1) as f64,
            ),
        };
        let wait = match (shares, cpus) {
            (true, _) => (
                Wait::Sleep,
                "both ends are kept on a processor of the same number, which may be one",
            ),
            (_, 0 | 1) => (Wait::Sleep, "this end may use only one processor"),
            _ => wait,
        };
        Placement { engine, wait, workers: Workers::One, spun_share }
    }

    /// Pings that follow a clock, few of them. What has to be answered at once, a closed loop, has a thread to itself, and so have
    /// probes: load is what they are to see.
    fn is_light(&self) -> bool {
        let LoadModel::Open { period_ns, .. } = self.load_model else { return false };
        let each_ns = period_ns.0 / u64::from(self.connections.max(1));
        each_ns >= LIGHT_PERIOD_NS && !self.lasts_with_load()
    }

    fn asks(&self) -> Asks<'_> {
        Asks {
            wait: self.wait,
            engine: self.engine.as_deref(),
            cpus: [&self.client_cpus, &self.server_cpus],
            sockets: Some(&self.sockets),
            congestion_control: self.congestion_control.as_deref(),
            ..Asks::default()
        }
    }

    /// Never so small that a batch does not fit.
    fn receives(&self) -> Receives {
        let Receives { at_once_bytes, .. } = Receives::default();
        Receives {
            at_once_bytes: at_once_bytes.max(self.size_bytes.max(self.reply_bytes()).0 as usize),
            stamps: self.timestamps == Timestamps::Kernel,
            ..Receives::default()
        }
    }

    /// Whole connections are not what is measured, but a hundred thousand that are made one after the other take as many round trips.
    fn connect_limit(&self) -> u32 {
        CONNECTS_AT_ONCE
    }

    fn lasts_with_load(&self) -> bool {
        self.extent == Extent::WithLoad
    }

    fn ping_sizes(&self) -> Option<PingSizes> {
        Some(PingSizes {
            transport: self.protocol.transport(),
            request_bytes: self.size_bytes.0,
            reply_bytes: self.reply_bytes().0,
        })
    }

    fn told_as(&self, _: Role) -> ToldAs {
        ToldAs::Begins
    }

    fn is_of_times(&self) -> bool {
        true
    }
}

fn load_model(plan: &LatencyPlan) -> String {
    match plan.load_model {
        LoadModel::Closed => match (plan.pace_ns, plan.outstanding) {
            (Some(pace), _) => format!("closed loop, one every {pace} at most"),
            (None, 1) => "closed loop".to_owned(),
            (None, outstanding) => {
                format!("closed loop, {} outstanding", count(outstanding.into()))
            }
        },
        LoadModel::Open { period_ns, arrivals: Arrivals::Fixed } => {
            format!("open loop, one every {period_ns}")
        }
        LoadModel::Open { period_ns, arrivals: Arrivals::Poisson { seed } } => {
            format!("open loop, one every {period_ns} on average (Poisson, seed {seed})")
        }
    }
}
