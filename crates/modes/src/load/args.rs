//! The words of a load, whatever carries it, and what they come to in all plans alike.

use clap::{Args, Parser};
use pathscope_core::Wait;
use pathscope_core::quantity::{BitRate, Bytes, Period};

use super::{Extent, Pattern, Verify};
use crate::limits::{self, PlanError};
use crate::sockets::SocketArgs;
use crate::span::Span;

/// How long a test runs that was given neither a transfer nor a duration.
const DEFAULT_DURATION: Period = Period::from_secs(10);
/// The first half second is slow start, page faults and waking processors.
const DEFAULT_WARM_UP: Period = Period::from_millis(500);

/// What was typed. What means something for connections alone is refused where datagrams go.
#[derive(Args, Clone, Debug)]
pub struct LoadArgs {
    /// Who sends when: push (client sends), pull (server sends), pushpull (in turns), duplex (both), bidir (both, on
    /// connections of their own)
    #[arg(long, value_name = "PATTERN", default_value = "push")]
    pub pattern: String,
    /// Connections at once; over UDP, flows; in bidir so many each way [default: 8; over UDP 1]
    #[arg(short = 'c', long, value_name = "N")]
    pub connections: Option<u32>,
    /// Times that each connection is made, replaced as it ends: a number, or forever [default: 1]
    #[arg(long, value_name = "N")]
    pub iterations: Option<String>,
    /// Connections in the making at once; 0: as many as there are, 100000 at the most [default: 1000]
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
    /// Send the first bytes of each connection that follows another with its SYN (TCP Fast Open), where both systems allow it
    #[arg(long)]
    pub fast_open: bool,
    /// Length of the segments of --pattern pushpull [default: 1 MiB]
    #[arg(long, value_name = "BYTES")]
    pub segments: Option<Bytes>,
    /// In pushpull: bytes that the client sends before it turns to receiving [default: that of --segments]
    #[arg(long, value_name = "BYTES")]
    pub push_bytes: Option<Bytes>,
    /// In pushpull: bytes that the server sends before it turns to receiving [default: that of --segments]
    #[arg(long, value_name = "BYTES")]
    pub pull_bytes: Option<Bytes>,
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
    /// Left out of the figures at the start [default: 500ms, and a tenth of --duration at the most]
    #[arg(long, value_name = "TIME", conflicts_with = "transfer")]
    pub warm_up: Option<Period>,
    /// Which received bytes are checked: full (every one), sampled (one in 16) or off
    #[arg(long, value_name = "HOW", default_value = "full")]
    pub verify: String,
    /// Congestion control at both ends [default: each system's own]
    #[arg(long, value_name = "NAME")]
    pub congestion: Option<String>,
    /// How bytes move: epoll, uring or plain [default: chosen, and told]
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

/// A command line of nothing but these words.
#[derive(Parser)]
struct Line {
    #[command(flatten)]
    words: LoadArgs,
}

impl LoadArgs {
    /// What is meant where nothing was typed.
    ///
    /// # Panics
    ///
    /// Where one of the words has to be typed: none has.
    pub fn usual() -> Self {
        Line::try_parse_from(["load"]).expect("no word has to be typed").words
    }

    /// Whether anything is drawn. A seed that was typed where nothing is, or where datagrams go, is refused.
    pub fn draws(&self) -> bool {
        let ranges = [&self.transfer, &self.buffer, &self.rate];
        ranges.into_iter().flatten().any(|typed| typed.trim_start().starts_with('['))
            || self.shutdown.as_deref() == Some("random")
    }

    /// Bytes on each connection, where that is stated.
    pub(crate) fn transfer(&self) -> Result<Option<Span<Bytes>>, PlanError> {
        self.transfer.as_deref().map(|typed| limits::read("--transfer", typed)).transpose()
    }

    /// How much, or how long.
    pub(crate) fn extent(&self, transfer: Option<Span<Bytes>>) -> Extent {
        match transfer {
            Some(transfer) => Extent::TransferBytes(transfer.low),
            None => Extent::DurationNs(self.duration.unwrap_or(DEFAULT_DURATION)),
        }
    }

    /// What each sender may send on one of so many connections, where that is stated: by itself, or as a part of
    /// what all may together.
    pub(crate) fn rate(&self, connections: u32) -> Result<Option<Span<BitRate>>, PlanError> {
        let parts = u64::from(connections.max(1));
        let least = BitRate(limits::RATE.start().0.saturating_mul(parts));
        limits::in_range("--total-rate", self.total_rate, &(least..=*limits::RATE.end()))?;
        let part = self.total_rate.map(|total| Span::one(BitRate(total.0 / parts)));
        let each = self.rate.as_deref().map(|typed| limits::read("--rate", typed));
        Ok(each.transpose()?.or(part))
    }

    /// None where bytes are counted; half a second or a tenth of the run where it lasts a stated time.
    pub(crate) fn warm_up(&self, extent: Extent) -> Result<Period, PlanError> {
        let Extent::DurationNs(duration) = extent else {
            let is_asked = self.warm_up.is_some_and(|asked| asked.0 > 0);
            let advice = "a transfer is measured from its first byte on: say with --duration how long to send";
            limits::not_both(["--warm-up", "a transfer"], is_asked, advice)?;
            return Ok(Period(0));
        };
        limits::warm_up(self.warm_up, DEFAULT_WARM_UP, duration)
    }

    /// Who sends when.
    pub(crate) fn pattern(&self) -> Result<Pattern, PlanError> {
        limits::choice("--pattern", &self.pattern, &Pattern::ALL)
    }

    /// Which bytes are compared.
    pub(crate) fn verify(&self) -> Result<Verify, PlanError> {
        limits::choice("--verify", &self.verify, &Verify::ALL)
    }
}
