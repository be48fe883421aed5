//! A goodput test as it runs: stated by the client, sent to the server, stored in the result.

use pathscope_core::Wait;
use pathscope_core::id::{FlowId, Role};
use pathscope_core::quantity::{BitRate, Bytes, Period};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Iterations, Pace, Shape, Shutdown};
use crate::draw::Draws;
use crate::load::{Extent, Pattern, Verify};
use crate::sockets::SocketPlan;

/// What is drawn for a connection, by name.
const TRANSFER: u64 = 1 << 32;
const SHUTDOWN: u64 = 2 << 32;
const BUFFERS: u64 = 3 << 32;
const RATE: u64 = 4 << 32;

/// Everything about a goodput test that both ends must know.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct GoodputPlan {
    /// Who sends when.
    pub pattern: Pattern,
    /// How many connections at once; in `bidir` so many each way.
    pub connections: u32,
    /// How much, or how long.
    pub extent: Extent,
    /// The most that is handed to the kernel at once and, up to 256 KiB, taken from it.
    pub buffer_bytes: Bytes,
    /// In `pushpull`: bytes that the client sends before it turns to receiving.
    pub push_bytes: Bytes,
    /// In `pushpull`: bytes that the server sends before it turns to receiving.
    pub pull_bytes: Bytes,
    /// The most that each sender may send on one connection; absent: no limit but the path's.
    pub rate_bps: Option<BitRate>,
    /// At the start of a run of stated duration: not counted in the goodput.
    pub warm_up_ns: Period,
    /// Whether the receiver compares each byte with what it must be.
    pub verify: Verify,
    /// Congestion control, by the kernel's name for it; absent: the system's own.
    pub congestion_control: Option<String>,
    /// Engine asked for by name; absent: left to each end.
    pub engine: Option<String>,
    /// How both ends wait.
    pub wait: Wait,
    /// How often connections are replaced, what ends the run, what is drawn.
    #[serde(default)]
    pub shape: Shape,
    /// Where and how the connections are opened and set.
    #[serde(default)]
    pub sockets: SocketPlan,
    /// How sends are spread over time.
    #[serde(default)]
    pub pace: Pace,
    /// Processors that the client's workers are kept on, in turns; none: any.
    #[serde(default)]
    pub client_cpus: Vec<u32>,
    /// Processors that the server's workers are kept on, in turns; none: any.
    #[serde(default)]
    pub server_cpus: Vec<u32>,
}

/// The sizes that sends or receives of one flow are drawn from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct BufferRange {
    /// The least.
    pub low: u64,
    /// The most; the least again where every buffer is the same.
    pub high: u64,
}

impl GoodputPlan {
    /// Whether the client sends.
    pub fn is_up(&self) -> bool {
        self.pattern != Pattern::Pull
    }

    /// Whether the server sends.
    pub fn is_down(&self) -> bool {
        self.pattern != Pattern::Push
    }

    /// Connections at once, both ways together.
    pub fn flows_at_once(&self) -> u32 {
        self.pattern.flows(self.connections)
    }

    /// Whether an end sends on a connection.
    pub fn sends_on(&self, role: Role, flow: FlowId) -> bool {
        self.pattern.sends_on(role, flow, self.connections)
    }

    /// Whether a connection that has ended is replaced.
    pub fn replaces(&self) -> bool {
        self.shape.iterations != Iterations::Times(1)
    }

    /// How often each connection is made, where that is stated.
    pub fn connections_in_all(&self) -> Option<u64> {
        match self.shape.iterations {
            Iterations::Times(times) => Some(times.saturating_mul(self.flows_at_once().into())),
            Iterations::Forever => None,
        }
    }

    /// What a connection transfers, both directions together; `None` where it lasts a stated time.
    pub fn transfer_of(&self, flow: FlowId) -> Option<u64> {
        let Extent::TransferBytes(Bytes(low)) = self.extent else { return None };
        let high = self.shape.transfer_most_bytes.map_or(low, |most| most.0);
        Some(self.draws(TRANSFER, flow).within(low, high))
    }

    /// What each sender may send on a connection; `None`: as fast as it goes.
    pub fn rate_of(&self, flow: FlowId) -> Option<BitRate> {
        let low = self.rate_bps?;
        let high = self.pace.rate_most_bps.unwrap_or(low);
        Some(BitRate(self.draws(RATE, flow).within(low.0, high.0)))
    }

    /// Whether the client ends this connection by a reset when it has gone well.
    pub fn ends_rudely(&self, flow: FlowId) -> bool {
        match self.shape.shutdown {
            Shutdown::Graceful => false,
            Shutdown::Rude => true,
            Shutdown::Random => self.draws(SHUTDOWN, flow).within(0, 1) == 1,
        }
    }

    /// The sizes of sends and receives.
    pub fn buffers(&self) -> BufferRange {
        let low = self.buffer_bytes.0;
        BufferRange { low, high: self.shape.buffer_most_bytes.map_or(low, |most| most.0) }
    }

    /// What one half of a flow draws its buffers from.
    pub(super) fn buffer_draws(&self, flow: FlowId, from_client: bool, at: Role) -> Draws {
        let half = u64::from(from_client) << 1 | u64::from(at == Role::Client);
        self.draws(BUFFERS + (half << 34), flow)
    }

    fn draws(&self, name: u64, flow: FlowId) -> Draws {
        Draws::new(self.shape.seed, name + u64::from(flow.0))
    }
}

#[cfg(test)]
mod tests {
    use super::super::shape::NUMBERS_MOST;
    use super::*;
    use crate::limits::PlanError;
    use crate::mode::Mode as _;

    fn plan(words: &str) -> Result<GoodputPlan, PlanError> {
        super::super::args::tests::plan(words)
    }

    #[test]
    fn only_what_goes_both_ways_at_once_keeps_little_unsent() {
        let unsent = |words| plan(words).expect(words).sockets.not_sent_low_water_bytes;
        assert_eq!(unsent("--pattern push"), None);
        assert_eq!(unsent("--pattern pushpull"), None);
        assert_eq!(unsent("--pattern bidir"), None);
        assert_eq!(unsent("--pattern duplex"), Some(Bytes(128 << 10)));
        assert_eq!(unsent("--pattern duplex --notsent-lowat 1GiB"), Some(Bytes(1 << 30)));
    }

    #[test]
    fn a_run_has_as_many_connections_as_were_asked_for() {
        for (words, numbers, all) in [
            ("-c 3", 3, Some(3)),
            ("-c 3 --pattern bidir", 6, Some(6)),
            ("-c 100 -n 1MiB --iterations 10", 1_000, Some(1_000)),
            ("-c 8 -n 1MiB --iterations forever", NUMBERS_MOST, None),
            ("-c 2 -n 1 --iterations 1073741823", NUMBERS_MOST, Some(u64::from(NUMBERS_MOST))),
            ("--iterations forever", NUMBERS_MOST, None),
        ] {
            let plan = plan(words).expect(words);
            assert_eq!(
                (plan.flows().numbers, plan.connections_in_all()),
                (numbers, all),
                "{words}"
            );
        }
    }

    #[test]
    fn what_cannot_be_is_named_with_its_range() {
        for (words, parts) in [
            ("-c 500001 --pattern bidir", &["--connections 500001", "1 to 500000"][..]),
            (
                "--pattern bidir -n 1MiB --iterations 2",
                &["--pattern bidir and --iterations", "--pattern push"],
            ),
            ("--pattern bidir --segments 1MiB", &["--segments has no effect"]),
            ("--pattern bidir -c 4 --source-port [5000,5006]", &["8 connections"]),
            ("-n 1MiB --iterations 0", &["--iterations 0", "1 to"]),
            ("-c 2 -n 1 --iterations 1073741824", &["--iterations", "1 to 1073741823"]),
            ("-t 1s --iterations 2", &["--iterations and --duration", "--transfer"]),
            ("-n 1 --iterations often", &["--iterations 'often'", "forever"]),
            ("-n 1 --time-limit 1ms", &["--time-limit 1 ms", "10 ms"]),
            ("-t 9s --time-limit 5s", &["--time-limit and --duration"]),
            ("-n [2,1]", &["--transfer", "[low,high]"]),
            ("-n [1,2", &["--transfer '[1,2'", "[low,high]"]),
            ("-n [1,x]", &["--transfer 'x' is not a number"]),
            ("-n 1 --buffer [0,5]", &["--buffer 0 B", "1 B"]),
            ("-n 1 --buffer [9,5]", &["--buffer", "[low,high]"]),
            ("--rate 1Mbit --rate-period 1us", &["--rate-period", "1 ms to 60 s"]),
            ("--rate-period 1s", &["--rate-period and no --rate"]),
            ("--rate [2Mbit,1Mbit]", &["--rate [", "[low,high]"]),
            ("--rate [1Mbit,2Pbit]", &["--rate"]),
            ("--rate [1bit,2Mbit]", &["--rate 1.000 bit", "out of range"]),
            ("--rate fast", &["--rate", "fast"]),
            ("--rate 1Mbit --burst-count 1 --burst-delay 1s", &["--rate and --burst-count"]),
            ("--burst-count 0 --burst-delay 1s", &["--burst-count 0", "1 to"]),
            ("--burst-count 1 --burst-delay 0s", &["--burst-delay"]),
            ("-c 4 --total-rate 1kbit", &["--total-rate", "out of range"]),
            ("--cpu 0,4096", &["--cpu 4096", "0 to 4095"]),
            ("-n 1 --shutdown kindly", &["--shutdown 'kindly'", "graceful, rude, random"]),
        ] {
            let error = plan(words).expect_err(words).to_string();
            assert!(parts.iter().all(|part| error.contains(part)), "{words}: {error}");
        }
    }

    #[test]
    fn rates_are_drawn_from_their_range() {
        let plan = plan("--rate [1Mbit,9Mbit] --seed 3").expect("valid");
        let rates: Vec<u64> =
            (0..100).filter_map(|flow| plan.rate_of(FlowId(flow))).map(|rate| rate.0).collect();
        assert!(
            rates.len() == 100 && rates.iter().all(|rate| (1_000_000..=9_000_000).contains(rate))
        );
        assert!(
            rates.iter().any(|&rate| rate < 3_000_000)
                && rates.iter().any(|&rate| rate > 7_000_000)
        );
        let one = super::super::args::tests::plan("--rate 1Mbit").expect("valid");
        assert_eq!(one.rate_of(FlowId(7)), Some(BitRate(1_000_000)));
        assert_eq!(one.even_rate(Role::Client, FlowId(7)), Some(BitRate(1_000_000)));
    }

    #[test]
    fn draws_for_a_connection_follow_from_seed_and_number() {
        let one = plan("-n [1KiB,1MiB] --shutdown random --seed 7").expect("valid");
        let other = plan("-n [1KiB,1MiB] --shutdown random --seed 8").expect("valid");
        let of = |plan: &GoodputPlan| -> Vec<(Option<u64>, bool)> {
            (0..100)
                .map(FlowId)
                .map(|flow| (plan.transfer_of(flow), plan.ends_rudely(flow)))
                .collect()
        };
        assert_eq!(of(&one), of(&one.clone()));
        assert_ne!(of(&one), of(&other));
        let drawn = of(&one);
        assert!(drawn.iter().all(|(bytes, _)| (Some(1 << 10)..=Some(1 << 20)).contains(bytes)));
        let rude = drawn.iter().filter(|(_, rude)| *rude).count();
        assert!((20..=80).contains(&rude), "{rude} of 100");
        assert_eq!(plan("-n 5").expect("valid").transfer_of(FlowId(9)), Some(5));
        assert_eq!(plan("-t 5s").expect("valid").transfer_of(FlowId(9)), None);
        assert_eq!(plan("").expect("valid").transfer_of(FlowId(9)), None);
        for words in ["--iterations 2", "--time-limit 5s"] {
            assert_eq!(
                plan(words).expect("valid").transfer_of(FlowId(9)),
                Some(1 << 30),
                "{words}"
            );
        }
    }
}
