//! neper: a program for each workload. It has no option for congestion control, so its transfers are
//! compared only where the system's own is the one asked for; and it tells round trips as transactions
//! a second, which for one flow is the inverse of their mean.
//!
//! `tcp_crr` closes by a reset unless it is told otherwise. The others were written from its documentation and not tried.

use anyhow::{Result, ensure};

use super::super::case::{
    ANSWER_BYTES, Case, Direction, Measure, PING_BYTES, Protocol, REQUEST_BYTES,
};
use super::super::outputs::Outputs;
use super::{Contender, Program, Setting, number_after, sleeps, words};

pub const TCP_STREAM: Contender = Contender {
    name: "tcp_stream",
    program: Program::Installed("tcp_stream"),
    measure: |case, conditions| {
        let covered = matches!(case, Case::Goodput { direction: Direction::Push, .. });
        (covered && conditions.system_agrees()).then_some(Measure::GoodputBps)
    },
    server: common,
    server_ends: |_| true,
    controls_by_tcp: true,
    is_timed: true,
    client,
    figure,
};

pub const TCP_RR: Contender = Contender {
    name: "tcp_rr",
    program: Program::Installed("tcp_rr"),
    measure: |case, _| round_trip(case, Protocol::Tcp),
    ..TCP_STREAM
};

pub const UDP_RR: Contender = Contender {
    name: "udp_rr",
    program: Program::Installed("udp_rr"),
    measure: |case, _| round_trip(case, Protocol::Udp),
    ..TCP_STREAM
};

pub const TCP_CRR: Contender = Contender {
    name: "tcp_crr",
    program: Program::Installed("tcp_crr"),
    measure: |case, conditions| {
        let covered = matches!(case, Case::Churn { .. }) && conditions.system_agrees();
        covered.then_some(Measure::ConnectionsPerSecond)
    },
    ..TCP_STREAM
};

fn round_trip(case: &Case, own: Protocol) -> Option<Measure> {
    match case {
        Case::Latency { protocol, .. } if *protocol == own => {
            sleeps(case).then_some(Measure::MeanRttNs)
        }
        Case::Requests { .. } if own == Protocol::Tcp => Some(Measure::RequestsPerSecond),
        _ => None,
    }
}

/// What both ends must be told alike.
fn common(setting: &Setting<'_>) -> Vec<String> {
    let (control, data) = (setting.port, setting.port + 1);
    let test = match setting.case {
        Case::Datagrams { .. } => return Vec::new(),
        Case::Goodput { connections, write_bytes, .. } => {
            format!("--num-flows {connections} --buffer-size {write_bytes}")
        }
        Case::Churn { connections } => format!(
            "--num-flows {connections} --request-size {REQUEST_BYTES} --response-size {ANSWER_BYTES}"
        ),
        Case::Requests { connections } => format!(
            "--num-flows {connections} --request-size {PING_BYTES} --response-size {PING_BYTES}"
        ),
        Case::Latency { .. } => {
            format!("--num-flows 1 --request-size {PING_BYTES} --response-size {PING_BYTES}")
        }
    };
    words(&format!(
        "--logtostderr --control-port {control} --port {data} --test-length {} --num-threads 1 {test}",
        setting.conditions.seconds
    ))
}

fn client(setting: &Setting<'_>) -> Vec<String> {
    let mut all = words("--client --host 127.0.0.1");
    all.extend(common(setting));
    all
}

fn figure(setting: &Setting<'_>, outputs: &Outputs) -> Result<f64> {
    if setting.measure == Measure::GoodputBps {
        // Counted where the bytes arrive.
        return Ok(number_after(&outputs.server, "\nthroughput=")? * 1e6);
    }
    let transactions_a_second = number_after(&outputs.client, "\nthroughput=")?;
    ensure!(transactions_a_second > 0.0, "find any transaction");
    if matches!(setting.measure, Measure::ConnectionsPerSecond | Measure::RequestsPerSecond) {
        return Ok(transactions_a_second);
    }
    Ok(1e9 / transactions_a_second)
}
