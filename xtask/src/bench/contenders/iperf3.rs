//! iperf3: transfers over TCP. Read from 3.12 and tried with it.

use anyhow::Result;

use super::super::case::{Case, DATAGRAM_BYTES, Direction, Measure};
use super::super::conditions::Conditions;
use super::super::outputs::Outputs;
use super::{Contender, Program, Setting, number_at, words};

pub const IPERF3: Contender = Contender {
    name: "iperf3",
    program: Program::Installed("iperf3"),
    measure,
    server: |setting| {
        words(&format!("--server --one-off --bind 127.0.0.1 --port {}", setting.port))
    },
    server_ends: |_| true,
    controls_by_tcp: true,
    is_timed: true,
    client,
    figure,
};

fn measure(case: &Case, _conditions: &Conditions) -> Option<Measure> {
    matches!(case, Case::Goodput { .. } | Case::Datagrams { .. }).then_some(Measure::GoodputBps)
}

fn client(setting: &Setting<'_>) -> Vec<String> {
    let Setting { conditions, port, .. } = setting;
    if matches!(setting.case, Case::Datagrams { .. }) {
        // It knows no offload: what it does is compared with both of ours.
        return words(&format!(
            "--client 127.0.0.1 --port {port} --time {} --udp --bitrate 0 --length {DATAGRAM_BYTES} --json",
            conditions.seconds,
        ));
    }
    let Case::Goodput { connections, direction, write_bytes } = setting.case else {
        return Vec::new();
    };
    words(&format!(
        "--client 127.0.0.1 --port {port} --time {} --parallel {connections} --length {write_bytes} \
         --congestion {} --json {}",
        conditions.seconds,
        conditions.congestion,
        match direction {
            Direction::Push => "",
            Direction::Pull => "--reverse",
            Direction::Duplex => "--bidir",
        },
    ))
}

/// What was received, both directions together.
fn figure(setting: &Setting<'_>, outputs: &Outputs) -> Result<f64> {
    if matches!(setting.case, Case::Datagrams { .. }) {
        let of_all = number_at(&outputs.client, "/end/sum/bits_per_second")?;
        let lost = number_at(&outputs.client, "/end/sum/lost_percent")?;
        return Ok(of_all * (1.0 - lost / 100.0));
    }
    let forward = number_at(&outputs.client, "/end/sum_received/bits_per_second")?;
    match setting.case {
        Case::Goodput { direction: Direction::Duplex, .. } => {
            let place = "/end/sum_received_bidir_reverse/bits_per_second";
            Ok(forward + number_at(&outputs.client, place)?)
        }
        _ => Ok(forward),
    }
}
