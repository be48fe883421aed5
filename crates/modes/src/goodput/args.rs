//! The words of a goodput test, and the plan they make or the reason they make none.

use pathscope_core::quantity::Bytes;

use super::limits::CONNECT_LIMIT;
use super::{Burst, DEFAULT_CONNECT_LIMIT, GoodputPlan, Iterations, Pace, Shape, Shutdown};
use crate::limits::{self, PlanError};
use crate::load::{LoadArgs, Pattern};
use crate::mode::Mode as _;
use crate::span::Span;

/// What a connection transfers that is to end by itself, where that is not stated.
const DEFAULT_TRANSFER: Bytes = Bytes(1 << 30);
/// Several, so that one that is unlucky does not stand for the path.
const DEFAULT_CONNECTIONS: u32 = 8;
/// Large enough that a system call, and waking up for it, cost little beside its copy.
const DEFAULT_BUFFER: Bytes = Bytes(512 << 10);
/// A segment of `pushpull`.
const DEFAULT_SEGMENT: Bytes = Bytes(1 << 20);
/// How often a connection is made unless more is asked for.
const ONCE: Iterations = Iterations::Times(1);

impl GoodputPlan {
    /// The plan that these words make.
    pub fn of(words: LoadArgs) -> Result<Self, PlanError> {
        let advice = "give a range, as --transfer [1MiB,2MiB], or leave it out";
        let is_idle = words.seed.is_some() && !words.draws();
        limits::no_effect("where nothing is drawn", advice, &[("--seed", is_idle)])?;
        let pattern = words.pattern()?;
        let advice = "it is for --pattern pushpull: leave it out";
        let is_idle = |word: Option<Bytes>| word.is_some() && pattern != Pattern::Pushpull;
        let idle = [
            ("--segments", is_idle(words.segments)),
            ("--push-bytes", is_idle(words.push_bytes)),
            ("--pull-bytes", is_idle(words.pull_bytes)),
        ];
        limits::no_effect("where nobody sends in turns", advice, &idle)?;
        let buffer = words.buffer.as_deref().map(|typed| limits::read("--buffer", typed));
        let buffer = buffer.transpose()?.unwrap_or(Span::one(DEFAULT_BUFFER));
        let iterations = words.iterations.as_deref().map_or(Ok(ONCE), iterations)?;
        // Words that only make sense of connections that end by themselves.
        let ends_itself = iterations != ONCE || words.time_limit.is_some();
        let usual =
            (ends_itself && words.duration.is_none()).then_some(Span::one(DEFAULT_TRANSFER));
        let transfer = words.transfer()?.or(usual);
        let extent = words.extent(transfer);
        let connections = words.connections.unwrap_or(DEFAULT_CONNECTIONS);
        let rate = words.rate(connections)?;
        let shutdown = words.shutdown.as_deref();
        let shutdown = shutdown.map(|typed| limits::choice("--shutdown", typed, &Shutdown::ALL));
        let segments = words.segments.unwrap_or(DEFAULT_SEGMENT);
        let burst = words.burst_count.zip(words.burst_delay);
        let plan = Self {
            pattern,
            connections,
            warm_up_ns: words.warm_up(extent)?,
            extent,
            buffer_bytes: buffer.low,
            push_bytes: words.push_bytes.unwrap_or(segments),
            pull_bytes: words.pull_bytes.unwrap_or(segments),
            rate_bps: rate.map(|rate| rate.low),
            verify: words.verify()?,
            congestion_control: words.congestion,
            engine: words.engine,
            wait: words.wait,
            shape: Shape {
                iterations,
                connect_limit: connect_limit(words.connect_limit, connections),
                time_limit_ns: words.time_limit,
                shutdown: shutdown.transpose()?.unwrap_or_default(),
                transfer_most_bytes: transfer.and_then(|transfer| transfer.high),
                buffer_most_bytes: buffer.high,
                seed: words.seed.unwrap_or(0),
                fast_open: words.fast_open,
            },
            sockets: pattern.sockets(words.sockets.into_plan()?),
            pace: Pace {
                period_ns: words.rate_period,
                burst: burst.map(|(sends, pause_ns)| Burst { sends, pause_ns }),
                rate_most_bps: rate.and_then(|rate| rate.high),
            },
            client_cpus: words.client_cpus,
            server_cpus: words.server_cpus,
        };
        plan.validate()?;
        Ok(plan)
    }
}

/// Connections in the making at once. No limit is one that so many connections never come up to.
fn connect_limit(typed: Option<u32>, connections: u32) -> u32 {
    let (least, most) = (*CONNECT_LIMIT.start() as u32, *CONNECT_LIMIT.end() as u32);
    match typed {
        None => DEFAULT_CONNECT_LIMIT,
        Some(0) => connections.clamp(least, most),
        Some(limit) => limit,
    }
}

fn iterations(typed: &str) -> Result<Iterations, PlanError> {
    if typed == "forever" {
        return Ok(Iterations::Forever);
    }
    let unknown = |_| PlanError::unknown_choice("--iterations", typed, "a number, or forever");
    typed.parse().map(Iterations::Times).map_err(unknown)
}

#[cfg(test)]
pub(super) mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: LoadArgs,
    }

    /// The plan of these words, or why there is none.
    pub fn plan(words: &str) -> Result<GoodputPlan, PlanError> {
        let words = std::iter::once("pathscope").chain(words.split_whitespace());
        GoodputPlan::of(Line::try_parse_from(words).expect("known words").args)
    }
}
