//! The words of a goodput test, and the plan they make or the reason they make none.

use clap::Args;
use pathscope_core::Wait;
use pathscope_core::quantity::{BitRate, Bytes, Period, shown};

use super::{Burst, DEFAULT_CONNECT_LIMIT, GoodputPlan, Iterations, Pace, Shape, Shutdown};
use crate::limits::{self, PlanError};
use crate::load::{Extent, Pattern, Verify};
use crate::sockets::SocketArgs;
use crate::span::Span;

/// How long a test runs that was given neither a transfer nor a duration.
pub(crate) const DEFAULT_DURATION: Period = Period::from_secs(10);
/// What a connection transfers that is to end by itself, where that is not stated.
const DEFAULT_TRANSFER: Bytes = Bytes(1 << 30);
/// The first half second is slow start, page faults and waking processors.
const DEFAULT_WARM_UP: Period = Period::from_millis(500);
/// Several, so that one that is unlucky does not stand for the path.
const DEFAULT_CONNECTIONS: u32 = 8;
/// Large enough that a system call, and waking up for it, cost little beside its copy.
const DEFAULT_BUFFER: Bytes = Bytes(512 << 10);
/// A segment of `pushpull`.
const DEFAULT_SEGMENT: Bytes = Bytes(1 << 20);

/// What was typed.
#[derive(Args, Clone, Debug)]
pub struct GoodputArgs {
    /// Who sends when: push (client sends), pull (server sends), pushpull (in turns), duplex (both)
    #[arg(long, value_name = "PATTERN", default_value = "push")]
    pub pattern: String,
    /// Connections at once; over UDP, flows [default: 8; over UDP 1]
    #[arg(short = 'c', long, value_name = "N")]
    pub connections: Option<u32>,
    /// Times that each connection is made, replaced as it ends: a number, or forever [default: 1]
    #[arg(long, value_name = "N")]
    pub iterations: Option<String>,
    /// Connections in the making at once [default: 1000]
    #[arg(long, value_name = "N")]
    pub connect_limit: Option<u32>,
    /// Bytes on each connection, or their range
    #[arg(
        short = 'n',
        long,
        value_name = "BYTES",
        conflicts_with = "duration",
        help = "Bytes on each connection, both directions together; '[low,high]': drawn for each [default: run \
                for --duration; 1GiB beside --iterations or --time-limit]"
    )]
    pub transfer: Option<String>,
    /// When a run ends whose connections end by themselves, whatever was transferred by then
    #[arg(long, value_name = "TIME")]
    pub time_limit: Option<Period>,
    /// How long to send [default: 10s]
    #[arg(short = 't', long, value_name = "TIME")]
    pub duration: Option<Period>,
    /// The most at once, or its range
    #[arg(
        long,
        value_name = "BYTES",
        help = "The most handed to the kernel at once, and, up to 256 KiB, taken from it; '[low,high]': drawn \
                anew for each send and receive [default: 512 KiB]"
    )]
    pub buffer: Option<String>,
    /// What draws are made from, to repeat a run in which something is drawn [default: drawn, and told]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// How the client ends connections that went well: graceful, rude (by a reset) or random [default: graceful]
    #[arg(long, value_name = "HOW")]
    pub shutdown: Option<String>,
    /// Length of the segments of --pattern pushpull [default: 1 MiB]
    #[arg(long, value_name = "BYTES")]
    pub segments: Option<Bytes>,
    /// The most each sender may send on one connection, or its range
    #[arg(
        long,
        value_name = "RATE",
        conflicts_with = "total_rate",
        help = "The most each sender may send on one connection; '[low,high]': drawn for each"
    )]
    pub rate: Option<String>,
    /// The most each end may send on all connections together, in equal parts
    #[arg(long, value_name = "RATE")]
    pub total_rate: Option<BitRate>,
    /// Time whose share of --rate leaves at once, at its begin [default: 1ms or less]
    #[arg(long, value_name = "TIME")]
    pub rate_period: Option<Period>,
    /// Sends before each pause of --burst-delay
    #[arg(long, value_name = "N", requires = "burst_delay")]
    pub burst_count: Option<u32>,
    /// Pause after each --burst-count sends
    #[arg(long, value_name = "TIME", requires = "burst_count")]
    pub burst_delay: Option<Period>,
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
    /// Processors to keep this end's workers on, as 0,2 [default: any]
    #[arg(long = "cpu", value_name = "LIST", value_delimiter = ',')]
    pub client_cpus: Vec<u32>,
    /// Processors to keep the server's workers on [default: any]
    #[arg(long = "server-cpu", value_name = "LIST", value_delimiter = ',')]
    pub server_cpus: Vec<u32>,
    /// Where and how connections are opened and set
    #[command(flatten)]
    pub sockets: SocketArgs,
}

impl GoodputArgs {
    /// Whether anything is drawn. A seed that was typed where nothing is, or where datagrams go, is refused.
    pub fn draws(&self) -> bool {
        let ranges = [&self.transfer, &self.buffer, &self.rate];
        ranges.into_iter().flatten().any(|typed| typed.trim_start().starts_with('['))
            || self.shutdown.as_deref().map(shutdown) == Some(Ok(Shutdown::Random))
    }

    /// The plan that these words make.
    pub fn into_plan(self) -> Result<GoodputPlan, PlanError> {
        if !self.draws() {
            let advice = "give a range, as --transfer [1MiB,2MiB], or leave it out";
            limits::no_effect(
                "where nothing is drawn",
                advice,
                &[("--seed", self.seed.is_some())],
            )?;
        }
        let transfer = self.transfer.as_deref().map(|typed| limits::read("--transfer", typed));
        let transfer: Option<Span<Bytes>> = transfer.transpose()?;
        let rate = self.rate.as_deref().map(|typed| limits::read("--rate", typed));
        let rate: Option<Span<BitRate>> = rate.transpose()?;
        let buffer = self.buffer.as_deref().map(|typed| limits::read("--buffer", typed));
        let buffer = buffer.transpose()?.unwrap_or(Span::one(DEFAULT_BUFFER));
        let iterations = self.iterations.as_deref().map_or(Ok(ONCE), iterations)?;
        let extent = match (transfer, self.duration) {
            (Some(transfer), _) => Extent::TransferBytes(transfer.low),
            // Words that only make sense of connections that end by themselves.
            (None, None) if iterations != ONCE || self.time_limit.is_some() => {
                Extent::TransferBytes(DEFAULT_TRANSFER)
            }
            (None, duration) => Extent::DurationNs(duration.unwrap_or(DEFAULT_DURATION)),
        };
        let connections = self.connections.unwrap_or(DEFAULT_CONNECTIONS);
        let part = part_of(self.total_rate, connections)?;
        let shutdown = self.shutdown.as_deref().map(shutdown);
        let shutdown = shutdown.transpose()?.unwrap_or_default();
        let shape = Shape {
            iterations,
            connect_limit: self.connect_limit.unwrap_or(DEFAULT_CONNECT_LIMIT),
            time_limit_ns: self.time_limit,
            shutdown,
            transfer_most_bytes: transfer.and_then(|transfer| transfer.high),
            buffer_most_bytes: buffer.high,
            seed: self.seed.unwrap_or(0),
        };
        let pattern = limits::choice("--pattern", &self.pattern, &Pattern::ALL)?;
        if pattern != Pattern::Pushpull {
            let advice = "it is for --pattern pushpull: leave it out";
            let place = "where nobody sends in turns";
            limits::no_effect(place, advice, &[("--segments", self.segments.is_some())])?;
        }
        let segments = self.segments.unwrap_or(DEFAULT_SEGMENT);
        let plan = GoodputPlan {
            pattern,
            connections,
            warm_up_ns: warm_up(self.warm_up, extent)?,
            extent,
            buffer_bytes: buffer.low,
            push_bytes: segments,
            pull_bytes: segments,
            rate_bps: rate.map(|rate| rate.low).or(part),
            verify: limits::choice("--verify", &self.verify, &Verify::ALL)?,
            congestion_control: self.congestion,
            engine: self.engine,
            wait: self.wait,
            shape,
            sockets: pattern.sockets(self.sockets.into_plan()?),
            pace: Pace {
                period_ns: self.rate_period,
                burst: self
                    .burst_count
                    .zip(self.burst_delay)
                    .map(|(sends, pause_ns)| Burst { sends, pause_ns }),
                rate_most_bps: rate.and_then(|rate| rate.high),
            },
            client_cpus: self.client_cpus,
            server_cpus: self.server_cpus,
        };
        plan.check()?;
        Ok(plan)
    }
}

/// Each connection's part of a rate that is stated for all of them together.
pub(crate) fn part_of(
    total: Option<BitRate>,
    connections: u32,
) -> Result<Option<BitRate>, PlanError> {
    let Some(total) = total else { return Ok(None) };
    let parts = u64::from(connections.max(1));
    let least = BitRate(limits::RATE.start().0.saturating_mul(parts));
    limits::in_range("--total-rate", total, &(least..=*limits::RATE.end()))?;
    Ok(Some(BitRate(total.0 / parts)))
}

/// None where bytes are counted; half a second or a tenth of the run where it lasts a stated time.
pub(crate) fn warm_up(asked: Option<Period>, extent: Extent) -> Result<Period, PlanError> {
    let Extent::DurationNs(duration) = extent else {
        if asked.is_some_and(|asked| asked.0 > 0) {
            return Err(PlanError::Contradiction {
                one: "--warm-up",
                other: "a transfer",
                advice: "a transfer is measured from its first byte on: say with --duration how long to send",
            });
        }
        return Ok(Period(0));
    };
    limits::warm_up(asked, DEFAULT_WARM_UP, duration)
}

/// How often a connection is made unless more is asked for.
const ONCE: Iterations = Iterations::Times(1);

fn shutdown(typed: &str) -> Result<Shutdown, PlanError> {
    limits::choice("--shutdown", typed, &Shutdown::ALL)
}

fn iterations(typed: &str) -> Result<Iterations, PlanError> {
    if typed == "forever" {
        return Ok(Iterations::Forever);
    }
    typed.parse().map(Iterations::Times).map_err(|_| PlanError::UnknownChoice {
        option: "--iterations",
        value: shown(typed),
        choices: "a number, or forever".to_owned(),
    })
}

#[cfg(test)]
pub(super) mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: GoodputArgs,
    }

    /// The plan of these words, or why there is none.
    pub fn plan(words: &str) -> Result<GoodputPlan, PlanError> {
        let words = std::iter::once("pathscope").chain(words.split_whitespace());
        Line::try_parse_from(words).expect("known words").args.into_plan()
    }
}
