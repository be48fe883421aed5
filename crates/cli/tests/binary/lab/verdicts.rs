//! What holds a transfer back, done on purpose: each cause is named, and the others are not.

use pathscope_core::record::Limit;
use pathscope_modes::document::Measurement;

use super::{Stand, only};

/// A path of 100 Mbit/s and a round trip of 20 ms, whose queue holds more than such a path needs.
const PATH: &str = "hosts = [\"a\", \"b\"]\n[links]\n\
                    \"a:b\" = { rate = \"100Mbit\", delay = \"10ms\", queue = \"500p\" }\n";

/// Two seconds of data from a to b.
fn push(stand: &Stand, more: &[&str]) -> Measurement {
    let words = ["goodput", "b", "-t", "2s", "--no-probe", "--json"];
    let ran = stand.pathscope("a", &[&words[..], more].concat()).finish().exits(0);
    only(&ran.document()).clone()
}

fn named(measurement: &Measurement) -> (Limit, String) {
    let verdict = measurement.verdict.as_ref().expect("both ends reported");
    (verdict.limit, format!("{verdict:#?}"))
}

/// Writes a setting of a node's network.
fn tune(stand: &Stand, node: &str, setting: &str, value: &str) {
    let script = format!("echo '{value}' > /proc/sys/net/ipv4/{setting}");
    let status = stand.lab.command(node, "sh").args(["-c", &script]).status();
    assert!(status.is_ok_and(|status| status.success()), "{node}: {script}");
}

#[test]
fn a_small_window_is_told_from_a_small_buffer_and_from_a_rate() {
    let Some(stand) = Stand::up(PATH) else { return };
    let _server = stand.server("b");
    let (limit, why) = named(&push(&stand, &["-c", "1", "--rate", "5Mbit"]));
    assert_eq!(limit, Limit::ConfiguredRate, "{why}");

    tune(&stand, "b", "tcp_rmem", "4096 16384 16384");
    let (limit, why) = named(&push(&stand, &["-c", "1"]));
    assert_eq!(limit, Limit::ReceiveWindow, "{why}");
    tune(&stand, "b", "tcp_rmem", "4096 131072 6291456");

    tune(&stand, "a", "tcp_wmem", "4096 16384 16384");
    let (limit, why) = named(&push(&stand, &["-c", "1"]));
    assert_eq!(limit, Limit::SendBuffer, "{why}");
}

#[test]
fn loss_and_a_small_queue_are_the_path_s() {
    let Some(stand) = Stand::up(PATH) else { return };
    let _server = stand.server("b");
    for (condition, connections) in [("loss=2%", "1"), ("loss=none queue=10p", "2")] {
        stand.set(&[(condition, 0)], "a:b", Some("a"));
        let measurement = push(&stand, &["-c", connections]);
        let (limit, why) = named(&measurement);
        let verdict = measurement.verdict.as_ref().expect("it was named");
        let share = |name: &str| {
            verdict.evidence.iter().find(|figure| figure.name == name).map(|figure| figure.value)
        };
        assert!(share("retransmits") > Some(0.0), "{condition}: {why}");
        // A machine so full that threads waited for it is no measure of a path, and is told as such.
        let waited = |name: &str| share(name).is_none_or(|share| share >= 0.1);
        let is_full = share("shared_host_cpu_share").is_some_and(|share| share >= 0.9)
            && (waited("sender_cpu_wait_share") || waited("receiver_cpu_wait_share"));
        if is_full {
            println!("skipped, because other programs kept this machine's processors: {why}");
        } else {
            assert_eq!(limit, Limit::Network, "{condition}: {why}");
        }
    }
}

#[test]
fn when_no_port_is_left_it_is_said_and_what_helps() {
    let Some(stand) = Stand::up(PATH) else { return };
    let _server = stand.server("b");
    tune(&stand, "a", "ip_local_port_range", "40000 40009");
    let words = ["goodput", "b", "-t", "1s", "--no-probe", "-c", "20"];
    stand.pathscope("a", &words).finish().exits(4).complains(&[
        "cannot connect",
        "TIME_WAIT",
        "net.ipv4.ip_local_port_range",
    ]);
}
