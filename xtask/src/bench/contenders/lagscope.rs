//! lagscope: round trips over TCP of ends that sleep. Read from 1.0.1 and tried with it. Both ends must be told the size, or
//! its server waits for more than comes. Its mean goes with every run; its percentiles only with all samples kept.

use anyhow::Result;

use super::super::case::{Case, Measure, PING_BYTES, Protocol};
use super::super::conditions::Conditions;
use super::super::outputs::{Outputs, Role};
use super::{Contender, Program, Setting, number_after, pathscope, sleeps, words};

pub const LAGSCOPE: Contender = Contender {
    name: "lagscope",
    program: Program::Installed("lagscope"),
    measure,
    server: |setting| words(&format!("-r127.0.0.1 -p{} -z{PING_BYTES}", setting.port)),
    server_ends: |_| false,
    controls_by_tcp: true,
    is_timed: true,
    client: |setting| {
        let (port, seconds) = (setting.port, setting.conditions.seconds);
        // From any port: its own is still in use after the run before.
        words(&format!("-s127.0.0.1 -p{port} -z{PING_BYTES} -t{seconds} -o0"))
    },
    figure,
};

/// Our client at its server: `--subject served-by-lagscope --against lagscope` asks whether our client adds to a round trip.
pub const SERVED_BY_LAGSCOPE: Contender = Contender {
    name: "served-by-lagscope",
    program: Program::Beside { name: "lagscope", role: Role::Server },
    client: |setting| {
        let (port, seconds) = (setting.port, setting.conditions.seconds);
        words(&format!(
            "latency 127.0.0.1 --peer lagscope --port {port} --size {PING_BYTES}B --duration {seconds}s \
             --wait sleep --json"
        ))
    },
    figure: pathscope::figure_beside_others,
    ..LAGSCOPE
};

/// Its client at our server: `--subject asked-by-lagscope --against lagscope` asks the same of our server.
pub const ASKED_BY_LAGSCOPE: Contender = Contender {
    name: "asked-by-lagscope",
    program: Program::Beside { name: "lagscope", role: Role::Client },
    server: |setting| {
        words(&format!(
            "server --listen 127.0.0.1 --accept lagscope --lagscope-port {} --quiet",
            setting.port
        ))
    },
    ..LAGSCOPE
};

fn measure(case: &Case, _conditions: &Conditions) -> Option<Measure> {
    let is_tcp = matches!(case, Case::Latency { protocol: Protocol::Tcp, .. });
    (is_tcp && sleeps(case)).then_some(Measure::MeanRttNs)
}

fn figure(_setting: &Setting<'_>, outputs: &Outputs) -> Result<f64> {
    Ok(number_after(&outputs.client, "Average")? * 1_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_mean_is_found_behind_its_progress() {
        let client = "127.0.0.1: 99% completed.127.0.0.1: 100% completed.12:09:14 INFO: TEST COMPLETED.\n\
                      12:09:14 INFO: \t  Minimum = 14.750us, Maximum = 4140.500us, Average = 78.544us\n";
        assert_eq!(number_after(client, "Average").ok(), Some(78.544));
    }
}
