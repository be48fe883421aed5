//! The instrument at both ends as ctsTraffic's users have it, over their wire, to be held against itself over its own:
//! `--subject ctstraffic --against pathscope`. Never an opponent unless it is named.
//!
//! Pulls alone: what is pushed the server counts, and that wire has no place to say it. Nor has it one for the server's congestion
//! control, so that they are compared only where the system's own is the one asked for.

use super::super::case::{Case, Direction, Measure};
use super::pathscope::{PATHSCOPE, figure_beside_others};
use super::{Contender, Setting, words};

/// What all connections of a run receive for each of its seconds: the wire knows amounts, not times.
const BYTES_A_SECOND: usize = 2 << 30;

pub const CTSTRAFFIC: Contender = Contender {
    name: "ctstraffic",
    measure: |case, conditions| {
        let covered = matches!(case, Case::Goodput { direction: Direction::Pull, .. });
        (covered && conditions.system_agrees()).then_some(Measure::GoodputBps)
    },
    server: |setting| {
        let (transfer, port) = (transfer_bytes(setting), setting.port);
        words(&format!(
            "server --listen 127.0.0.1 --accept ctstraffic --ctstraffic-port {port} --quiet \
             --ctstraffic-pattern pull --ctstraffic-transfer {transfer}B"
        ))
    },
    client: |setting| {
        let (transfer, port) = (transfer_bytes(setting), setting.port);
        let Case::Goodput { connections, write_bytes, .. } = setting.case else {
            return Vec::new();
        };
        let congestion = &setting.conditions.congestion;
        words(&format!(
            "goodput 127.0.0.1 --peer ctstraffic --port {port} --pattern pull --transfer {transfer}B \
             --connections {connections} --buffer {write_bytes}B --congestion {congestion} --json"
        ))
    },
    is_timed: false,
    figure: figure_beside_others,
    ..PATHSCOPE
};

/// What each connection receives.
fn transfer_bytes(setting: &Setting<'_>) -> usize {
    let connections = match setting.case {
        Case::Goodput { connections, .. } => connections,
        _ => 1,
    };
    BYTES_A_SECOND * setting.conditions.seconds as usize / connections
}
