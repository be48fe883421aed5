//! qperf: round trips of ends that sleep; it cannot spin on sockets. Read from 0.4.11 and tried with it.
//! It prints half the round trip, and its mean only.

use anyhow::Result;

use super::super::case::{Case, Measure, PING_BYTES, Protocol};
use super::super::conditions::Conditions;
use super::super::outputs::Outputs;
use super::{Contender, Program, Setting, number_after, sleeps, words};

pub const QPERF: Contender = Contender {
    name: "qperf",
    program: Program::Installed("qperf"),
    measure,
    server: |setting| words(&format!("--listen_port {}", setting.port)),
    server_ends: |_| false,
    controls_by_tcp: true,
    is_timed: true,
    client,
    figure,
};

fn measure(case: &Case, _conditions: &Conditions) -> Option<Measure> {
    sleeps(case).then_some(Measure::MeanRttNs)
}

fn client(setting: &Setting<'_>) -> Vec<String> {
    let test = match setting.case {
        Case::Latency { protocol: Protocol::Udp, .. } => "udp_lat",
        _ => "tcp_lat",
    };
    let (port, seconds) = (setting.port, setting.conditions.seconds);
    words(&format!(
        "--listen_port {port} --time {seconds} --msg_size {PING_BYTES} --unify_units 127.0.0.1 {test}"
    ))
}

fn figure(_setting: &Setting<'_>, outputs: &Outputs) -> Result<f64> {
    Ok(2.0 * in_nanoseconds(&outputs.client)?)
}

/// It chooses the unit by size, unless units are unified; then it is still named.
fn in_nanoseconds(output: &str) -> Result<f64> {
    let value = number_after(output, "latency")?;
    let unit = output.split_whitespace().last().unwrap_or_default();
    Ok(value
        * match unit {
            "us" => 1e3,
            "ms" => 1e6,
            "sec" => 1e9,
            _ => 1.0,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_round_trips_are_read_in_any_unit() {
        assert_eq!(in_nanoseconds("tcp_lat:\n    latency  =  10262 ns\n").ok(), Some(10_262.0));
        assert_eq!(in_nanoseconds("tcp_lat:\n    latency  =  10.3 us\n").ok(), Some(10_300.0));
    }
}
