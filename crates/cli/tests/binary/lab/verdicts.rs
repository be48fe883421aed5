//! What holds a transfer back, done on purpose: each cause is named, and the others are not.

use pathscope_core::record::{Limit, WorkerUsage};
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

/// This is what is named; unless other programs kept processors from this test, which is told as such.
fn names(measurement: &Measurement, expected: Limit) {
    let verdict = measurement.verdict.as_ref().expect("both ends reported");
    let workers = [Some(&measurement.client), measurement.server.as_ref()];
    let workers = workers.into_iter().flatten().flat_map(|end| &end.workers);
    let waited = workers.filter_map(WorkerUsage::cpu_wait_share).fold(0.0, f64::max);
    if waited < 0.1 || expected == Limit::ConfiguredRate {
        assert_eq!(verdict.limit, expected, "{verdict:#?}");
    } else {
        let said = &verdict.text;
        println!("skipped, because threads waited {waited:.2} of the time for processors: {said}");
    }
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
    names(&push(&stand, &["-c", "1", "--rate", "5Mbit"]), Limit::ConfiguredRate);

    tune(&stand, "b", "tcp_rmem", "4096 16384 16384");
    names(&push(&stand, &["-c", "1"]), Limit::ReceiveWindow);
    tune(&stand, "b", "tcp_rmem", "4096 131072 6291456");

    tune(&stand, "a", "tcp_wmem", "4096 16384 16384");
    names(&push(&stand, &["-c", "1"]), Limit::SendBuffer);
}

#[test]
fn loss_and_a_small_queue_are_the_path_s() {
    let Some(stand) = Stand::up(PATH) else { return };
    let _server = stand.server("b");
    for (condition, connections) in [("loss=2%", "1"), ("loss=none queue=10p", "2")] {
        stand.set(&[(condition, 0)], "a:b", Some("a"));
        let measurement = push(&stand, &["-c", connections]);
        let verdict = measurement.verdict.as_ref().expect("both ends reported");
        let resent = verdict.evidence.iter().find(|figure| figure.name == "retransmits");
        assert!(resent.is_some_and(|figure| figure.value > 0.0), "{condition}: {verdict:#?}");
        names(&measurement, Limit::Network);
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
