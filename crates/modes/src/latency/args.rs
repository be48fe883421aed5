//! The words of a latency test, and the plan they make or the reason they make none.

use std::ops::RangeInclusive;

use clap::Args;
use pathscope_core::Wait;
use pathscope_core::quantity::{Bytes, Frequency, Period};

use pathscope_core::stats::LinearRanges;

use super::limits::PERCENTILE_PPB;
use super::{Arrivals, Extent, HEADER_BYTES, LatencyPlan, LoadModel, Protocol, Timestamps};
use crate::limits::{self, PlanError};
use crate::sockets::{SocketArgs, SocketPlan};

/// How long a test runs that was given neither a number of pings nor a duration.
const DEFAULT_DURATION: Period = Period::from_secs(10);
/// The first half second is page faults, neighbours and waking processors.
const DEFAULT_WARM_UP: Period = Period::from_millis(500);
/// A small request, as it is common; over UDP it holds the header and a little filler.
const DEFAULT_SIZE: Bytes = Bytes(64);
/// As much filler behind a longer header.
const STAMPED_SIZE: Bytes = Bytes(88);

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
    /// How the pings of --period or --rate are spread: fixed or poisson
    #[arg(long, value_name = "HOW", default_value = "fixed")]
    pub arrivals: String,
    /// What random arrivals follow from [default: random, and recorded]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// With --period or --rate: no more often than that, and never before the echo has come
    #[arg(long)]
    pub closed: bool,
    /// Pings of each flow on their way at a time, in a closed loop
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub outstanding: u32,
    /// Flows beside each other, each with pings of its own
    #[arg(short = 'c', long, value_name = "N", default_value_t = 1)]
    pub connections: u32,
    /// Bytes of a ping and of its echo
    #[arg(
        long,
        value_name = "BYTES",
        help = "Bytes of a ping and of its echo [default: 64B; 88B with --timestamps kernel; 4B to a lagscope server]"
    )]
    pub size: Option<Bytes>,
    /// Bytes of a ping [default: --size]
    #[arg(long, value_name = "BYTES", conflicts_with = "size")]
    pub request_size: Option<Bytes>,
    /// Bytes of its echo [default: --size]
    #[arg(long, value_name = "BYTES", conflicts_with = "size")]
    pub reply_size: Option<Bytes>,
    /// Percentiles to state beside the standard ones, as 50,99,99.99
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = percentile)]
    pub percentiles: Vec<u32>,
    /// Count round trips in ranges of equal width: start, width and number, as 0us,10us,50 [alone: 0us,100us,10]
    #[arg(
        long, value_name = "START,WIDTH,COUNT", value_parser = ranges,
        num_args = 0..=1, default_missing_value = "0us,100us,10"
    )]
    pub histogram: Option<LinearRanges>,
    /// Left out of the figures at the start [default: 500ms, and a tenth of --duration at the most]
    #[arg(long, value_name = "TIME", conflicts_with = "iterations")]
    pub warm_up: Option<Period>,
    /// How bytes move: epoll, uring or plain [default: chosen, and told]
    #[arg(long, value_name = "ENGINE")]
    pub engine: Option<String>,
    /// How both ends wait: spin, sleep, hybrid or auto
    #[arg(long, value_name = "HOW", default_value_t = Wait::Auto)]
    pub wait: Wait,
    /// Whose stamps split a round trip over UDP: user (its ends' alone) or kernel (both kernels', too)
    #[arg(long, value_name = "WHOSE", default_value = "user")]
    pub timestamps: String,
    /// Congestion control at both ends [default: each system's own]
    #[arg(long, value_name = "NAME")]
    pub congestion: Option<String>,
    /// Processor to keep this end's worker on [default: any]
    #[arg(long = "cpu", value_name = "N", value_delimiter = ',')]
    pub client_cpus: Vec<u32>,
    /// Processor to keep the server's worker on [default: any]
    #[arg(long = "server-cpu", value_name = "N", value_delimiter = ',')]
    pub server_cpus: Vec<u32>,
    /// Where and how flows are opened and set
    #[command(flatten)]
    pub sockets: SocketArgs,
}

impl LatencyArgs {
    /// The plan that these words make.
    pub fn into_plan(self) -> Result<LatencyPlan, PlanError> {
        let extent = match (self.iterations, self.duration) {
            (Some(iterations), _) => Extent::Iterations(iterations),
            (None, duration) => Extent::DurationNs(duration.unwrap_or(DEFAULT_DURATION)),
        };
        limits::in_range("--rate", self.rate, &RATE)?;
        let period = self.period.or(self.rate.map(|rate| Period(rate.period_ns())));
        let timestamps = limits::choice("--timestamps", &self.timestamps, &Timestamps::ALL)?;
        let size = self.size.unwrap_or(match timestamps {
            Timestamps::User => DEFAULT_SIZE,
            Timestamps::Kernel => STAMPED_SIZE,
        });
        let request = self.request_size.unwrap_or(size);
        let reply = self.reply_size.unwrap_or(size);
        let plan = LatencyPlan {
            protocol: limits::choice("--protocol", &self.protocol, &Protocol::ALL)?,
            load_model: self.load_model(period)?,
            pace_ns: period.filter(|_| self.closed),
            connections: self.connections,
            outstanding: self.outstanding,
            warm_up_ns: warm_up(self.warm_up, extent)?,
            extent,
            size_bytes: request,
            reply_bytes: (reply != request).then_some(reply),
            engine: self.engine,
            wait: self.wait,
            percentiles_ppb: self.percentiles,
            histogram: self.histogram,
            timestamps,
            congestion_control: self.congestion,
            sockets: self.sockets.into_plan()?,
            client_cpus: self.client_cpus,
            server_cpus: self.server_cpus,
        };
        plan.check()?;
        Ok(plan)
    }

    /// Whether nothing says how long pings and echoes are.
    pub const fn says_no_size(&self) -> bool {
        self.size.is_none() && self.request_size.is_none() && self.reply_size.is_none()
    }

    /// Whether arrivals are random and nothing says yet what they follow from.
    pub fn wants_seed(&self) -> bool {
        let is_random = limits::choice("--arrivals", &self.arrivals, &ARRIVALS);
        self.seed.is_none() && is_random == Ok(true)
    }

    fn load_model(&self, period: Option<Period>) -> Result<LoadModel, PlanError> {
        let is_random = limits::choice("--arrivals", &self.arrivals, &ARRIVALS)?;
        let advice = "give --arrivals poisson, or leave it out";
        let is_idle = self.seed.is_some() && !is_random;
        limits::not_both(["--seed", "pings that are not random"], is_idle, advice)?;
        let arrivals = if is_random {
            Arrivals::Poisson { seed: self.seed.unwrap_or(0) }
        } else {
            Arrivals::Fixed
        };
        let Some(period_ns) = period.filter(|_| !self.closed) else {
            let advice = "give --period or --rate, without --closed";
            limits::not_both(["--arrivals poisson", "a closed loop"], is_random, advice)?;
            return Ok(LoadModel::Closed);
        };
        Ok(LoadModel::Open { period_ns, arrivals })
    }
}

/// Pings a second, as far as there are periods for them.
const RATE: RangeInclusive<Frequency> = Frequency(1)..=Frequency(1_000_000);
/// Whether arrivals are random.
const ARRIVALS: [(&str, bool); 2] = [("fixed", false), ("poisson", true)];

/// A percentile in 10⁻⁹, digit by digit: 99.99 has no exact binary fraction.
fn percentile(typed: &str) -> Result<u32, String> {
    let (whole, decimals) = typed.split_once('.').unwrap_or((typed, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_in_form = matches!(whole.len(), 1..=2) && decimals.len() <= 7;
    let ppb = format!("{whole}{decimals:0<7}").parse().ok();
    let is_right = is_in_form && is_number(whole) && is_number(decimals);
    ppb.filter(|ppb| is_right && PERCENTILE_PPB.contains(ppb)).ok_or_else(|| {
        format!(
            "'{typed}' is no percentile: give a number above 0 and below 100 with at most 7 decimals"
        )
    })
}

/// Start, width and number of ranges.
fn ranges(typed: &str) -> Result<LinearRanges, String> {
    let words: Vec<&str> = typed.split(',').map(str::trim).collect();
    let [start, width, count] = words[..] else {
        return Err("give start, width and number of ranges, as 0us,10us,50".to_owned());
    };
    let time = |word: &str| word.parse::<Period>().map_err(|error| error.to_string());
    Ok(LinearRanges {
        start_ns: time(start)?.0,
        width_ns: time(width)?.0,
        count: count.parse().map_err(|_| format!("'{count}' is no number of ranges"))?,
    })
}

impl LatencyPlan {
    /// A rate of probes as it was typed. `instead`: what to do where there are to be none.
    pub fn probe_rate(typed: Frequency, instead: &str) -> Result<Frequency, PlanError> {
        const MOST: Frequency = Frequency(10_000);
        if typed == Frequency(0) {
            let why = format!("{typed} is no rate; {instead}");
            return Err(PlanError::unfit("--probe-rate", why));
        }
        limits::in_range("--probe-rate", typed, &(Frequency(1)..=MOST)).map(|()| typed)
    }

    /// The same for so long.
    #[must_use]
    pub fn lasting(self, duration: Period) -> Self {
        Self { extent: Extent::DurationNs(duration), ..self }
    }

    /// Probes beside a load: small datagrams on schedule, by threads that sleep in between and so
    /// take little from the load. When each leaves within its period is its schedule's affair.
    pub fn probe(rate: Frequency) -> Self {
        Self {
            protocol: Protocol::Udp,
            load_model: LoadModel::Open {
                period_ns: Period(rate.period_ns()),
                arrivals: Arrivals::Fixed,
            },
            extent: Extent::WithLoad,
            connections: 1,
            outstanding: 1,
            pace_ns: None,
            reply_bytes: None,
            percentiles_ppb: Vec::new(),
            histogram: None,
            size_bytes: Bytes(HEADER_BYTES as u64 + 16),
            warm_up_ns: Period(0),
            engine: None,
            wait: Wait::Sleep,
            timestamps: Timestamps::User,
            congestion_control: None,
            sockets: SocketPlan::default(),
            client_cpus: Vec::new(),
            server_cpus: Vec::new(),
        }
    }
}

/// None where pings are counted; half a second or a tenth of the run where it lasts a stated time.
fn warm_up(asked: Option<Period>, extent: Extent) -> Result<Period, PlanError> {
    let Extent::DurationNs(duration) = extent else { return Ok(Period(0)) };
    limits::warm_up(asked, DEFAULT_WARM_UP, duration)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Words {
        #[command(flatten)]
        mode: LatencyArgs,
    }

    /// The plan of a command line, or what is said instead.
    fn plan(words: &str) -> Result<LatencyPlan, String> {
        let words = std::iter::once("latency").chain(words.split_whitespace());
        let parsed = Words::try_parse_from(words).map_err(|error| error.to_string())?;
        parsed.mode.into_plan().map_err(|error| error.to_string())
    }

    #[test]
    fn words_make_the_load_that_they_say() {
        let load = |words: &str| {
            let plan = plan(words).expect("good words");
            (plan.load_model, plan.pace_ns, plan.outstanding, plan.connections)
        };
        let period_ns = Period::from_millis(1);
        let open = |arrivals| LoadModel::Open { period_ns, arrivals };
        let poisson = open(Arrivals::Poisson { seed: 9 });
        for (words, expected) in [
            ("", (LoadModel::Closed, None, 1, 1)),
            ("--outstanding 8 -c 3", (LoadModel::Closed, None, 8, 3)),
            ("--rate 1k/s", (open(Arrivals::Fixed), None, 1, 1)),
            ("--period 1ms --arrivals poisson --seed 9", (poisson, None, 1, 1)),
            ("--rate 1000/s --closed", (LoadModel::Closed, Some(period_ns), 1, 1)),
            ("--closed", (LoadModel::Closed, None, 1, 1)),
        ] {
            assert_eq!(load(words), expected, "{words}");
        }
    }

    #[test]
    fn a_seed_is_wanted_where_something_follows_from_it() {
        for (words, wanted) in [
            ("--rate 1k/s", false),
            ("--rate 1k/s --arrivals poisson", true),
            ("--rate 1k/s --arrivals poisson --seed 0", false),
            ("--arrivals sometimes", false),
        ] {
            let words = std::iter::once("latency").chain(words.split_whitespace());
            let parsed = Words::try_parse_from(words.clone()).expect("good words");
            assert_eq!(parsed.mode.wants_seed(), wanted, "{words:?}");
        }
    }

    #[test]
    fn words_make_the_sizes_and_figures_that_they_say() {
        let sizes = |words: &str| {
            let plan = plan(words).expect("good words");
            (plan.size_bytes.0, plan.reply_bytes().0)
        };
        assert_eq!(sizes("--size 4"), (4, 4));
        assert_eq!(sizes("--request-size 100"), (100, 64));
        assert_eq!(sizes("--protocol udp --timestamps kernel"), (88, 88));
        assert_eq!(sizes("--request-size 1 --reply-size 1MiB"), (1, 1 << 20));
        assert_eq!(sizes("--protocol udp --reply-size 65507"), (64, 65_507));
        let usual = LinearRanges { start_ns: 0, width_ns: 100_000, count: 10 };
        assert_eq!(plan("--histogram -n 9").map(|plan| plan.histogram), Ok(Some(usual)));
        let figures = plan("--percentiles 50,99.99,0.1 --histogram 30us,15us,30").expect("good");
        assert_eq!(figures.percentiles(), [50.0, 99.99, 0.1]);
        let ranges = LinearRanges { start_ns: 30_000, width_ns: 15_000, count: 30 };
        assert_eq!(figures.histogram, Some(ranges));
    }

    #[test]
    fn what_makes_no_plan_is_named() {
        for (words, said) in [
            ("--size 0", "--size 0 B is out of range: 1 B to"),
            ("--request-size 0", "--request-size 0 B is out of range: 1 B to"),
            ("--protocol udp --size 47", "out of range: 48 B to"),
            ("--protocol udp --reply-size 65508", "--reply-size"),
            ("--size 10 --reply-size 3", "cannot be used with"),
            ("-c 0", "--connections 0 is out of range: 1 to 1000000"),
            ("--outstanding 0", "--outstanding 0 is out of range: 1 to 1024"),
            ("--outstanding 1024 -c 1025", "1,048,576 pings on their way are the most"),
            ("--outstanding 2 --rate 1k/s", "an open loop never waits for an answer"),
            ("--outstanding 2 --rate 1k/s --closed", "has one ping on its way"),
            ("-c 65 --size 1MiB", "64 MiB at most: ask for fewer or smaller ones"),
            ("--arrivals poisson", "give --period or --rate"),
            ("--arrivals poisson --rate 1k/s --closed", "give --period or --rate"),
            ("--arrivals sometimes --rate 1k/s", "fixed, poisson"),
            ("--timestamps kernel", "--timestamps kernel and TCP exclude each other"),
            ("--timestamps card", "--timestamps 'card' is not known; choose user, kernel"),
            (
                "--protocol udp --timestamps kernel --size 71",
                "--size 71 B is out of range: 72 B to",
            ),
            ("--protocol udp --nagle", "--nagle and UDP exclude each other"),
            ("--protocol udp --congestion reno", "--congestion and UDP"),
            ("--dscp 64", "--dscp 64 is out of range: 0 to 63"),
            ("-c 3 --source-port [4000,4001]", "2 ports, and there are 3 connections"),
            ("--cpu 0,1", "one worker carries all pings of an end: name one"),
            ("--server-cpu 5000", "--server-cpu 5000 is out of range: 0 to 4095"),
            ("--period 1ns", "--period 1 ns is out of range"),
            ("--rate 2M/s", "--rate 2,000,000/s is out of range: 1/s to 1,000,000/s"),
            ("--rate 0/s", "--rate 0/s is out of range"),
            ("--rate 2M/s --closed", "--rate 2,000,000/s is out of range"),
            ("--seed 9", "--seed and pings that are not random exclude each other"),
            ("--seed 9 --rate 1k/s", "give --arrivals poisson, or leave it out"),
            ("--percentiles 100", "is no percentile"),
            ("--percentiles 0", "is no percentile"),
            ("--percentiles -1", "unexpected argument"),
            ("--percentiles 99.99999999", "is no percentile"),
            ("--percentiles fifty", "is no percentile"),
            ("--histogram 0us,10us", "give start, width and number"),
            ("--histogram 0us,10us,many", "no number of ranges"),
            ("--histogram 0us,0us,5", "--histogram width"),
            ("--histogram 0us,1us,10001", "--histogram count 10001 is out of range: 1 to 10000"),
            ("--histogram 5,1us,5", "has no unit"),
        ] {
            let error = plan(words).expect_err(words);
            assert!(error.contains(said), "{words}: {error}");
        }
    }
}
