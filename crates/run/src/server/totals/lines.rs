//! A server's totals in words.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use pathscope_core::quantity::{count, counted, duration_ns};
use pathscope_modes::amounts::{Amounts, Moved};
use pathscope_modes::end::EndedConnections;

use super::{Echoes, Row, Sessions, State};

/// A line on all, and one for each kind of client and mode.
pub(super) fn lines(state: &State, length_ns: u64) -> Vec<String> {
    let all = format!("served in {}: {}", duration_ns(length_ns), sessions(&state.sessions));
    let rows = state.rows();
    let rows = rows.iter().map(|((peer, mode), it)| format!("served {peer} {mode}: {}", row(it)));
    let has_clients = |it: &&(_, Arc<Echoes>)| it.1.clients.load(Ordering::Relaxed) > 0;
    let echoed = state
        .echoes
        .iter()
        .filter(has_clients)
        .map(|(peer, it)| format!("served {peer}: {}", echoes(it)));
    [all].into_iter().chain(rows).chain(echoed).collect()
}

/// What failed, as a sentence.
pub(super) fn failures(state: &State) -> Option<String> {
    let sessions = state.sessions.failed;
    let flows =
        state.kinds.values().map(|row| row.amounts.ended.failed).fold(0, u64::saturating_add);
    let what = match (sessions, flows) {
        (0, 0) => return None,
        (0, flows) => counted(flows, "flow"),
        (sessions, 0) => counted(sessions, "session"),
        (sessions, flows) => {
            format!("{} and {}", counted(sessions, "session"), counted(flows, "flow"))
        }
    };
    Some(format!("{what} of those that were served failed, as was said of each"))
}

fn sessions(&Sessions { begun, served, failed, cut, idle, refused }: &Sessions) -> String {
    let over = [served, failed, cut, idle].into_iter().fold(0, u64::saturating_add);
    let running = begun.saturating_sub(over);
    let parts = [
        (served, "ended well"),
        (failed, "failed"),
        (cut, "cut off by the end"),
        (idle, "had no test"),
        (running, if running == 1 { "is there" } else { "are there" }),
    ];
    let parts = parts.into_iter().filter(|(number, _)| *number > 0);
    let parts: Vec<String> =
        parts.map(|(number, what)| format!("{} {what}", count(number))).collect();
    let parts = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
    format!("{}{parts}, {} refused", counted(begun, "session"), count(refused))
}

fn row(&Row { tests, running, amounts }: &Row) -> String {
    let Amounts { sent, received, ended } = amounts;
    let EndedConnections { completed, failed, network, data, protocol } = ended;
    let mut parts = Vec::new();
    match (tests, running) {
        (0, 0) => parts.push("beside loads".to_owned()),
        (tests, 0) => parts.push(counted(tests, "test")),
        (tests, running) => {
            let verb = if running == 1 { "runs" } else { "run" };
            parts.push(format!("{}, {} more {verb}", counted(tests, "test"), count(running)));
        }
    }
    parts.push(format!("in {}, out {}", moved(received), moved(sent)));
    if completed > 0 || failed > 0 {
        let kinds = [(network, "network"), (data, "data"), (protocol, "protocol")];
        let unknown = (ended.of_no_kind(), "of other kinds");
        let kinds = kinds.into_iter().chain([unknown]).filter(|(number, _)| *number > 0);
        let kinds: Vec<String> =
            kinds.map(|(number, kind)| format!("{} {kind}", count(number))).collect();
        let kinds =
            if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
        let completed = if completed > 0 {
            format!("{} completed, ", counted(completed, "flow"))
        } else {
            "flows: ".to_owned()
        };
        parts.push(format!("{completed}{} failed{kinds}", count(failed)));
    }
    parts.join("; ")
}

fn moved(Moved { bytes, datagrams, pings }: Moved) -> String {
    let amounts = [(pings, "ping"), (datagrams, "datagram"), (bytes, "byte")];
    let amounts: Vec<String> = amounts
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, unit)| counted(number, unit))
        .collect();
    if amounts.is_empty() { "nothing".to_owned() } else { amounts.join(" of ") }
}

fn echoes(Echoes { clients, sent, left_out }: &Echoes) -> String {
    let [clients, sent, left_out] =
        [clients, sent, left_out].map(|number| number.load(Ordering::Relaxed));
    let left_out = if left_out > 0 { format!(", {} not", count(left_out)) } else { String::new() };
    format!("{}; {} echoed{left_out}", counted(clients, "client"), counted(sent, "datagram"))
}
