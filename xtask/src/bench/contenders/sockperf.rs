//! sockperf: round trips. Read from 3.7 and tried with it. It prints half the round trip unless told
//! `--full-rtt`.

use anyhow::Result;

use super::super::case::{Case, Measure, PING_BYTES, Protocol, Wait};
use super::super::conditions::Conditions;
use super::super::outputs::Outputs;
use super::{Contender, Program, Setting, number_after, words};

pub const SOCKPERF: Contender = Contender {
    name: "sockperf",
    program: Program::Installed("sockperf"),
    measure,
    server: |setting| words(&format!("server {}", common(setting))),
    server_ends: |_| false,
    controls_by_tcp: false,
    is_timed: true,
    client: |setting| {
        let seconds = setting.conditions.seconds;
        let common = common(setting);
        words(&format!("ping-pong {common} --full-rtt --msg-size {PING_BYTES} --time {seconds}"))
    },
    figure,
};

fn measure(case: &Case, _conditions: &Conditions) -> Option<Measure> {
    matches!(case, Case::Latency { .. }).then_some(Measure::MedianRttNs)
}

/// What both ends must be told alike.
fn common(setting: &Setting<'_>) -> String {
    let Case::Latency { protocol, wait } = setting.case else { return String::new() };
    let tcp = if protocol == Protocol::Tcp { "--tcp" } else { "" };
    let spin = if wait == Wait::Spin { "--nonblocked" } else { "" };
    format!("--ip 127.0.0.1 --port {} {tcp} {spin}", setting.port)
}

fn figure(setting: &Setting<'_>, outputs: &Outputs) -> Result<f64> {
    let mark = if setting.measure == Measure::MeanRttNs { "avg-rtt" } else { "percentile 50.000" };
    Ok(number_after(&outputs.client, mark)? * 1_000.0)
}
