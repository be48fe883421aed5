//! netperf: transfers over one connection, and round trips of ends that sleep.
//!
//! Read from 2.7.1 and tried with it.

use anyhow::{Context as _, Result};

use super::super::case::{Case, Direction, Measure, PING_BYTES, Protocol};
use super::super::conditions::Conditions;
use super::super::outputs::Outputs;
use super::{Contender, Program, Setting, sleeps, words};

pub const NETPERF: Contender = Contender {
    name: "netperf",
    program: Program::InstalledPair { server: "netserver", client: "netperf" },
    measure,
    server: |setting| words(&format!("-D -4 -L 127.0.0.1 -p {}", setting.port)),
    server_ends: |_| false,
    controls_by_tcp: true,
    is_timed: true,
    client,
    figure,
};

/// Its percentiles come from buckets a tenth of a decade wide; its mean does not.
fn measure(case: &Case, _conditions: &Conditions) -> Option<Measure> {
    match case {
        Case::Goodput { connections: 1, direction: Direction::Push, .. } => {
            Some(Measure::GoodputBps)
        }
        Case::Latency { .. } if sleeps(case) => Some(Measure::MeanRttNs),
        _ => None,
    }
}

fn client(setting: &Setting<'_>) -> Vec<String> {
    let Setting { conditions, port, .. } = setting;
    let common = format!("-4 -H 127.0.0.1 -p {port} -l {} -P 0", conditions.seconds);
    match setting.case {
        Case::Datagrams { .. } | Case::Churn { .. } | Case::Requests { .. } => Vec::new(),
        Case::Goodput { write_bytes, .. } => words(&format!(
            "{common} -t TCP_STREAM -f m -- -m {write_bytes} -M {write_bytes} -K {congestion} \
             -o REMOTE_RECV_THROUGHPUT",
            congestion = conditions.congestion,
        )),
        Case::Latency { protocol, .. } => {
            let test = if protocol == Protocol::Udp { "UDP_RR" } else { "TCP_RR" };
            words(&format!("{common} -t {test} -- -r {PING_BYTES},{PING_BYTES} -o MEAN_LATENCY"))
        }
    }
}

/// The last line holds the one figure that was asked for: megabits a second, or microseconds.
fn figure(setting: &Setting<'_>, outputs: &Outputs) -> Result<f64> {
    let line = outputs.client.lines().last().context("find a line")?;
    let number: f64 = line.trim().parse().with_context(|| format!("read a number in `{line}`"))?;
    Ok(number * if setting.measure == Measure::GoodputBps { 1e6 } else { 1e3 })
}
