//! iperf3: transfers over TCP and UDP, alone and with the instrument at either end. Read from 3.12 and tried with it.

use anyhow::Result;

use super::super::case::{Case, DATAGRAM_BYTES, Direction, Measure};
use super::super::conditions::Conditions;
use super::super::outputs::{Outputs, Role};
use super::{Contender, Program, Setting, number_at, pathscope, words};

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

/// Our client at its server: `--subject served-by-iperf3 --against iperf3` asks whether our client costs anything.
pub const SERVED_BY_IPERF3: Contender = Contender {
    name: "served-by-iperf3",
    program: Program::Beside { name: "iperf3", role: Role::Server },
    measure: one_way,
    client: |setting| {
        let mut words = pathscope::client(setting);
        words.extend(["--peer", "iperf3"].map(str::to_owned));
        if matches!(setting.case, Case::Goodput { direction: Direction::Pull, .. }) {
            // As its own client has it, which is not told `--no-delay`: else its server sends the end of each write, 106 bytes of 128 KiB over
            // loopback, as a segment of its own.
            words.push("--nagle".to_owned());
        }
        words
    },
    figure: pathscope::figure_beside_others,
    ..IPERF3
};

/// Its client at our server: `--subject asked-by-iperf3 --against iperf3` asks the same of our server.
pub const ASKED_BY_IPERF3: Contender = Contender {
    name: "asked-by-iperf3",
    program: Program::Beside { name: "iperf3", role: Role::Client },
    measure: one_way,
    server: |setting| {
        let port = setting.port;
        words(&format!("server --listen 127.0.0.1 --accept iperf3 --iperf3-port {port} --quiet"))
    },
    server_ends: |_| false,
    ..IPERF3
};

/// Both directions on one connection are no test that its wire knows.
fn one_way(case: &Case, conditions: &Conditions) -> Option<Measure> {
    let is_duplex = matches!(case, Case::Goodput { direction: Direction::Duplex, .. });
    measure(case, conditions).filter(|_| !is_duplex)
}

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
