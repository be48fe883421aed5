//! Goodput on a line of known rate that loses what it carries: never more than the line carries.

use super::{Stand, only};

/// A line of 10 Mbit/s with a round trip of 80 ms: what is held behind a lost segment is as much as a tenth of a second of it.
const LINE: &str = "hosts = [\"a\", \"b\"]\n[links]\n\
                    \"a:b\" = { rate = \"10Mbit\", delay = \"40ms\", queue = \"200p\" }\n";
const LINE_BPS: f64 = 10e6;
/// The most payload that a frame has, and the frame.
const PAYLOAD: f64 = 1_460.0;
const FRAME: f64 = 1_514.0;

/// Congestion controls that a program may choose here, of those that take a loss differently.
fn controls() -> Vec<&'static str> {
    let path = "/proc/sys/net/ipv4/tcp_allowed_congestion_control";
    let allowed = std::fs::read_to_string(path).unwrap_or_default();
    let is_allowed = |name: &&str| allowed.split_whitespace().any(|it| it == *name);
    ["bbr", "cubic", "reno"].into_iter().filter(is_allowed).collect()
}

#[test]
fn what_is_held_behind_a_loss_when_the_warm_up_ends_makes_no_goodput_above_the_line() {
    let Some(stand) = Stand::up(LINE) else { return };
    let _server = stand.server("b");
    for control in controls() {
        for loss in ["loss=0.5%", "loss=2%"] {
            stand.set(&[(loss, 0)], "a:b", Some("a"));
            let before = stand.settled();
            // A tenth of it is the warm-up.
            let words = ["goodput", "b", "-c", "2", "-t", "3s", "--no-probe"];
            let more = ["--congestion", control, "--json"];
            let ran = stand.pathscope("a", &[&words[..], &more].concat()).finish().exits(0);
            let account = stand.settled().since(&before);
            let forward = &account.link("a:b").expect("the only one").forward;
            // What left the line late by so much was carried so much earlier.
            let late_ns = forward.truth.lateness.max_ns.unwrap_or(0);
            let document = ran.document();
            let far = only(&document).server.as_ref().and_then(|end| end.goodput.as_ref());
            let window = far.expect("the server reported").window;
            let carried_ns = (window.length_ns() + late_ns) as f64;
            let most = LINE_BPS / 8e9 * carried_ns * PAYLOAD / FRAME + 2.0 * PAYLOAD;
            let counted = window.bytes as f64;
            assert!(counted <= most, "{control}, {loss}: {counted} of {most}: {}", ran.said());
        }
    }
}
