//! The instrument itself, as a user runs it: probes off, every byte verified.

use anyhow::Result;

use super::super::case::{Case, Measure, PING_BYTES};
use super::super::conditions::Conditions;
use super::super::ends::Outputs;
use super::{Contender, Program, Setting, number_at, words};

/// Where the figures stand in the document.
const GOODPUT_BPS: &str = "/summary/goodput/goodput_bps";
const MEDIAN_RTT_NS: &str = "/summary/latency/p50_ns";
const MEAN_RTT_NS: &str = "/summary/latency/mean_ns";

pub const PATHSCOPE: Contender = Contender {
    name: "pathscope",
    program: Program::Pathscope,
    measure,
    server: |setting| words(&format!("server --listen 127.0.0.1 --port {} --quiet", setting.port)),
    server_ends: |_| false,
    controls_by_tcp: true,
    client,
    figure,
};

#[expect(clippy::unnecessary_wraps, reason = "the shape that every contender has")]
fn measure(case: &Case, _conditions: &Conditions) -> Option<Measure> {
    Some(match case {
        Case::Goodput { .. } => Measure::GoodputBps,
        Case::Latency { .. } => Measure::MedianRttNs,
    })
}

fn client(setting: &Setting<'_>) -> Vec<String> {
    let Setting { conditions, port, .. } = setting;
    let seconds = conditions.seconds;
    let common = format!("127.0.0.1 --port {port} --duration {seconds}s --json");
    match setting.case {
        Case::Goodput { connections, direction, write_bytes } => words(&format!(
            "goodput {common} --pattern {} --connections {connections} --buffer {write_bytes}B \
             --congestion {} --no-probe",
            direction.name(),
            conditions.congestion,
        )),
        Case::Latency { protocol, wait } => words(&format!(
            "latency {common} --{} --wait {} --size {PING_BYTES}B",
            protocol.name(),
            wait.name(),
        )),
    }
}

fn figure(setting: &Setting<'_>, outputs: &Outputs) -> Result<f64> {
    let place = match setting.measure {
        Measure::GoodputBps => GOODPUT_BPS,
        Measure::MedianRttNs => MEDIAN_RTT_NS,
        Measure::MeanRttNs => MEAN_RTT_NS,
    };
    number_at(&outputs.client, place)
}
