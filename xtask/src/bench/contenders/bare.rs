//! Our own bare loops, which are run as any other tool is.

use anyhow::{Result, bail};

use super::super::case::{Case, Direction, Measure, Protocol, Wait};
use super::super::conditions::Conditions;
use super::super::outputs::Outputs;
use super::{Contender, Program, Setting, number_at, words};

pub const BARE: Contender = Contender {
    name: "bare",
    program: Program::Ourselves,
    measure,
    server: |setting| command(setting, "server"),
    // The server of pings has nothing to say and hears of no end over UDP.
    server_ends: |case| !matches!(case, Case::Latency { .. } | Case::Churn { .. }),
    controls_by_tcp: false,
    is_timed: true,
    client: |setting| command(setting, "client"),
    figure,
};

/// The same loops, where each byte sent is compared with what it has to be, as the instrument does.
pub const CHECKED: Contender = Contender {
    name: "checked",
    measure: |case, conditions| match case {
        Case::Goodput { .. } | Case::Datagrams { .. } => measure(case, conditions),
        _ => None,
    },
    server: |setting| [&command(setting, "server")[..], &words("--checked")].concat(),
    client: |setting| [&command(setting, "client")[..], &words("--checked")].concat(),
    ..BARE
};

fn measure(case: &Case, _conditions: &Conditions) -> Option<Measure> {
    Some(match case {
        // Its server receives; the same loop the other way round would tell the same. Of round trips it makes one at a time.
        Case::Goodput { direction: Direction::Pull, .. } | Case::Requests { .. } => return None,
        Case::Goodput { .. } | Case::Datagrams { .. } => Measure::GoodputBps,
        Case::Churn { .. } => Measure::ConnectionsPerSecond,
        Case::Latency { .. } => Measure::MedianRttNs,
    })
}

fn command(setting: &Setting<'_>, end: &str) -> Vec<String> {
    let Setting { conditions, port, .. } = setting;
    let seconds = conditions.seconds;
    let common = format!("--port {port} --seconds {seconds}");
    match setting.case {
        Case::Goodput { connections, direction, write_bytes } => words(&format!(
            "bare-loop goodput-{end} {common} --connections {connections} \
             --write-bytes {write_bytes} --congestion {} {}",
            conditions.congestion,
            if direction == Direction::Duplex { "--duplex" } else { "" },
        )),
        Case::Datagrams { offload } => words(&format!(
            "bare-loop datagrams-{end} {common} {}",
            if offload { "--offload" } else { "" },
        )),
        Case::Churn { connections } => {
            words(&format!("bare-loop churn-{end} {common} --connections {connections}"))
        }
        Case::Requests { .. } => Vec::new(),
        Case::Latency { protocol, wait } => words(&format!(
            "bare-loop latency-{end} {common} {} {}",
            if protocol == Protocol::Udp { "--udp" } else { "" },
            if wait == Wait::Spin { "--spin" } else { "" },
        )),
    }
}

fn figure(setting: &Setting<'_>, outputs: &Outputs) -> Result<f64> {
    match setting.measure {
        Measure::GoodputBps => Ok(number_at(&outputs.client, "/receive_bps")?
            + number_at(&outputs.server, "/receive_bps")?),
        Measure::RoundTrips | Measure::RequestsPerSecond => {
            bail!("count round trips: told by others alone")
        }
        Measure::ConnectionsPerSecond => number_at(&outputs.client, "/completed_per_second"),
        Measure::MedianRttNs => number_at(&outputs.client, "/median_rtt_ns"),
        Measure::MeanRttNs => number_at(&outputs.client, "/mean_rtt_ns"),
    }
}
