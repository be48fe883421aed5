//! How punctual the lab's relay is: paced datagrams over one link at 100 Mbit/s, and by how much each
//! was handed over too late.
//!
//! No comparison: the bound is a time. Of a link at work in real namespaces, so it takes what a lab does.

use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::net::{SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use pathscope_core::quantity;
use pathscope_lab::harness::{Lab, Plan};
use pathscope_lab::relay::Shortcoming;
use pathscope_lab::running::{Registry, Shaper};
use pathscope_lab::topology::{Family, Topology};
use pathscope_os::cpus;
use serde::Serialize;

use super::conditions::Conditions;
use crate::console::say;
use crate::folder;

/// What `--case` calls it.
pub const NAME: &str = "relay-100Mbit";

const TOPOLOGY: &str = r#"
hosts = ["a", "b"]
[links]
"a:b" = { rate = "100Mbit", delay = "10ms" }
"#;

/// 95 of 100 Mbit/s, so that the link itself drops nothing.
const RATE_BPS: u64 = 95_000_000;
const PAYLOAD_BYTES: usize = 1_400;
/// Headers of Ethernet, IPv4 and UDP.
const HEADER_BYTES: usize = 42;
const PORT: u16 = 5_001;

/// What the 99th percentile of lateness may be on a quiet machine.
const MOST_P99_NS: u64 = 200_000;

/// What the sender is told.
#[derive(Args, Clone, Debug)]
pub struct Paced {
    #[arg(long)]
    to: SocketAddr,
    #[arg(long)]
    seconds: u64,
}

/// One run.
#[derive(Clone, Debug, Serialize)]
pub struct Repetition {
    /// Half of the frames were later than this.
    p50_ns: Option<u64>,
    /// One in a hundred was.
    p99_ns: Option<u64>,
    /// The latest.
    max_ns: Option<u64>,
    /// That were handed over, by the second of sending.
    frames_per_second: f64,
    /// That were lost and by no condition: overruns, and what the kernel dropped.
    lost: u64,
    /// How often the relay woke, by the second of sending.
    turns_per_second: f64,
    /// Of one processor, the share that the relay's thread took.
    cpu_share: Option<f64>,
    has_priority: bool,
    keeps_awake: bool,
}

/// Puts a lab up, sends over it again and again, and prints a row each time.
pub fn run(conditions: &Conditions, repetitions: usize) -> Result<Vec<Repetition>> {
    let network = Topology::read("relay", TOPOLOGY).network();
    let network = network.map_err(anyhow::Error::msg).context("read the topology")?;
    let folder = folder::temporary()?;
    let plan = Plan {
        binary: &conditions.pathscope,
        registry: &Registry::at(folder.path()),
        name: "relay",
        network: &network,
        seed: Some(1),
        shaper: Shaper::Relay,
    };
    let lab = Lab::up(&plan).context("put a lab up")?;
    say(format_args!("\n{NAME}: lateness of the relay, one link, {RATE_BPS} bit/s offered"))?;
    say(format_args!(
        "{:>10} {:>10} {:>10} {:>10} {:>6} {:>9} {:>7}  verdict",
        "p50", "p99", "max", "frames/s", "lost", "turns/s", "cpu"
    ))?;
    let mut all = Vec::new();
    for _ in 0..repetitions {
        let repetition = once(&lab, u64::from(conditions.seconds))?;
        say(repetition.row())?;
        all.push(repetition);
    }
    Ok(all)
}

fn once(lab: &Lab, seconds: u64) -> Result<Repetition> {
    let address = lab.running().network.nodes().get(1).and_then(|node| {
        node.interfaces.first().and_then(|interface| interface.address(Family::V4))
    });
    let to = SocketAddr::new(address.context("find the address of b")?, PORT);
    let us = std::env::current_exe().context("find this program")?;
    // Somebody has to listen, or the kernel would answer each datagram with a complaint. It reads
    // nothing, so it costs nothing.
    let mut sink = lab.command("b", &us);
    sink.args(["bare-loop", "sink", "--port", &PORT.to_string()]);
    let mut sink =
        sink.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("start the sink")?;
    let mut line = String::new();
    let output = sink.stdout.take().context("hear the sink")?;
    BufReader::new(output).read_line(&mut line).context("hear the sink")?;
    let before = lab.account().context("ask the relay")?;
    let cpu_before = relay_cpu_ns(lab.running().keeper);
    let mut sender = lab.command("a", &us);
    sender.args(["bare-loop", "paced", "--to", &to.to_string()]);
    let status = sender.args(["--seconds", &seconds.to_string()]).status();
    let cpu_after = relay_cpu_ns(lab.running().keeper);
    let account = lab.account().context("ask the relay")?.since(&before);
    drop(sink.stdin.take());
    sink.wait().context("end the sink")?;
    ensure!(status.context("start the sender")?.success(), "send: the sender failed");
    let lost = account.shortcomings().into_iter().map(|it| match it {
        Shortcoming::Lost { frames, .. } => frames,
        Shortcoming::Late { .. } => 0,
    });
    let truth = &account.links.first().context("find the link")?.forward.truth;
    let lateness = truth.lateness.histogram();
    let a_second = |count: u64| count as f64 / seconds as f64;
    let cpu = cpu_before.zip(cpu_after).map(|(before, after)| after.saturating_sub(before));
    Ok(Repetition {
        p50_ns: lateness.value_at_quantile(0.5),
        p99_ns: lateness.value_at_quantile(0.99),
        max_ns: lateness.max_ns(),
        frames_per_second: a_second(truth.total.delivered.frames),
        lost: lost.sum(),
        turns_per_second: a_second(account.turns),
        cpu_share: cpu.map(|cpu| a_second(cpu) / 1e9),
        has_priority: account.has_priority,
        keeps_awake: account.keeps_awake,
    })
}

impl Repetition {
    fn row(&self) -> String {
        let time = |it: Option<u64>| it.map_or_else(|| "-".to_owned(), quantity::duration_ns);
        let is_punctual = self.p99_ns.is_some_and(|p99| p99 < MOST_P99_NS) && self.lost == 0;
        let cpu =
            self.cpu_share.map_or_else(|| "-".to_owned(), |it| format!("{:.1} %", it * 100.0));
        let p = if self.has_priority { "" } else { ", no priority" };
        let a = if self.keeps_awake { "" } else { ", processors doze" };
        format!(
            "{:>10} {:>10} {:>10} {:>10.0} {:>6} {:>9.0} {cpu:>7}  {}{p}{a}",
            time(self.p50_ns),
            time(self.p99_ns),
            time(self.max_ns),
            self.frames_per_second,
            self.lost,
            self.turns_per_second,
            if is_punctual { "punctual" } else { "not shown" },
        )
    }
}

/// Sends datagrams at the rate, those that are due together where it woke late.
pub fn send(paced: &Paced) -> Result<()> {
    let socket = UdpSocket::bind(("0.0.0.0", 0)).context("bind")?;
    socket.connect(paced.to).context("connect")?;
    cpus::set_precise_timers().map_err(anyhow::Error::msg)?;
    let payload = [0x5a; PAYLOAD_BYTES];
    let bits = ((PAYLOAD_BYTES + HEADER_BYTES) * 8) as u64;
    let count = paced.seconds * RATE_BPS / bits;
    let start = now();
    for number in 0..count {
        let due = Duration::from_nanos(number * bits * 1_000_000_000 / RATE_BPS);
        pause(due.saturating_sub(start.elapsed()));
        socket.send(&payload).context("send")?;
    }
    Ok(())
}

/// Holds a port and reads nothing, until standard input ends.
pub fn sink(port: u16) -> Result<()> {
    let _socket = UdpSocket::bind(("0.0.0.0", port)).context("bind")?;
    say("ready")?;
    io::copy(&mut io::stdin(), &mut io::sink()).map(drop).context("wait")
}

/// Processor time of the relay's thread so far; none where the kernel does not count it.
fn relay_cpu_ns(keeper: u32) -> Option<u64> {
    let threads = fs::read_dir(format!("/proc/{keeper}/task")).ok()?;
    let is_relay = |path: &PathBuf| {
        fs::read_to_string(path.join("comm")).is_ok_and(|name| name.trim() == "relay")
    };
    let path = threads.flatten().map(|thread| thread.path()).find(is_relay)?;
    let counts = fs::read_to_string(path.join("schedstat")).ok()?;
    counts.split_whitespace().next()?.parse().ok()
}

#[expect(clippy::disallowed_methods, reason = "a loop of its own, outside of the instrument")]
fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "to pace is to sleep until the next is due")]
fn pause(time: Duration) {
    if !time.is_zero() {
        std::thread::sleep(time);
    }
}
