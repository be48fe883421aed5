//! What holds a transfer back, done on purpose: each cause is named, and the others are not, whichever congestion control
//! sends.

use pathscope_core::record::Limit;
use pathscope_lab::relay::Shortcoming;
use pathscope_modes::document::Measurement;

use super::disturbed::is_named;
use super::{Stand, only};

/// A path of 100 Mbit/s and a round trip of 20 ms, whose queue holds more than such a path needs.
const PATH: &str = "hosts = [\"a\", \"b\"]\n[links]\n\
                    \"a:b\" = { rate = \"100Mbit\", delay = \"10ms\", queue = \"500p\" }\n";

/// What kernels come with. Each finds the capacity of a path in its own way.
const CONGESTION_CONTROLS: [&str; 3] = ["cubic", "reno", "bbr"];

/// Two seconds of data between a and b, and what the lab did wrong meanwhile.
struct Measured {
    measurement: Measurement,
    shortcomings: Vec<Shortcoming>,
}

fn run(stand: &Stand, more: &[&str]) -> Measured {
    let words = ["goodput", "b", "-t", "2s", "--no-probe", "--json"];
    let before = stand.account();
    let ran = stand.pathscope("a", &[&words[..], more].concat()).finish().exits(0);
    let shortcomings = stand.account().since(&before).shortcomings();
    Measured { measurement: only(&ran.document()).clone(), shortcomings }
}

/// Those of them that this kernel has.
fn congestion_controls() -> Vec<&'static str> {
    let path = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let available = std::fs::read_to_string(path).unwrap_or_default();
    let is_there = |name: &&str| {
        let is_there = available.split_whitespace().any(|it| it == *name);
        if !is_there {
            println!("skipped, because this kernel has no {name}");
        }
        is_there
    };
    CONGESTION_CONTROLS.into_iter().filter(is_there).collect()
}

/// This is what is named, unless the test was disturbed.
fn names(measured: &Measured, expected: Limit, by: &str) {
    is_named(&measured.measurement, &measured.shortcomings, expected, by);
}

/// Writes a setting of a node's network.
fn tune(stand: &Stand, node: &str, setting: &str, value: &str) {
    let script = format!("echo '{value}' > /proc/sys/net/ipv4/{setting}");
    let status = stand.lab.command(node, "sh").args(["-c", &script]).status();
    assert!(status.is_ok_and(|status| status.success()), "{node}: {script}");
}

#[test]
fn each_cause_is_named_whichever_congestion_control_sends() {
    let Some(stand) = Stand::up(PATH) else { return };
    let _server = stand.server("b");
    for control in congestion_controls() {
        let one = ["-c", "1", "--congestion", control];
        names(
            &run(&stand, &[&one[..], &["--rate", "5Mbit"]].concat()),
            Limit::ConfiguredRate,
            control,
        );
        names(&run(&stand, &one), Limit::Network, control);

        tune(&stand, "b", "tcp_rmem", "4096 16384 16384");
        names(&run(&stand, &one), Limit::ReceiveWindow, control);
        tune(&stand, "b", "tcp_rmem", "4096 131072 6291456");

        tune(&stand, "a", "tcp_wmem", "4096 16384 16384");
        names(&run(&stand, &one), Limit::SendBuffer, control);
        tune(&stand, "a", "tcp_wmem", "4096 16384 4194304");
    }
}

#[test]
fn the_server_s_sockets_are_looked_at_where_it_sends() {
    let Some(stand) = Stand::up(PATH) else { return };
    let _server = stand.server("b");
    tune(&stand, "b", "tcp_wmem", "4096 16384 16384");
    for control in congestion_controls() {
        let words = ["-c", "1", "--pattern", "pull", "--congestion", control];
        let measured = run(&stand, &words);
        let measurement = &measured.measurement;
        let looks = |end: Option<&pathscope_modes::registry::EndReport>| {
            end.and_then(|end| Some(end.goodput.as_ref()?.sending?.all()))
        };
        assert_eq!(looks(Some(&measurement.client)), None);
        assert!(looks(measurement.server.as_ref()) >= Some(1));
        names(&measured, Limit::SendBuffer, control);
    }
}

#[test]
fn loss_and_a_small_queue_are_the_path_s() {
    let Some(stand) = Stand::up(PATH) else { return };
    let _server = stand.server("b");
    for (condition, connections) in [("loss=2%", "1"), ("loss=none queue=10p", "2")] {
        stand.set(&[(condition, 0)], "a:b", Some("a"));
        for control in congestion_controls() {
            let by = format!("{condition} {control}");
            let measured = run(&stand, &["-c", connections, "--congestion", control]);
            let verdict = measured.measurement.verdict.as_ref().expect("both ends reported");
            let resent = verdict.evidence.iter().find(|figure| figure.name == "retransmits");
            assert!(resent.is_some_and(|figure| figure.value > 0.0), "{by}: {verdict:#?}");
            names(&measured, Limit::Network, &by);
        }
    }
}

#[test]
fn pauses_and_turns_that_were_asked_for_are_named() {
    let Some(stand) = Stand::up(PATH) else { return };
    let _server = stand.server("b");
    for control in congestion_controls() {
        let one = ["-c", "1", "--congestion", control];
        let bursts = ["--buffer", "64KiB", "--burst-count", "2", "--burst-delay", "150ms"];
        let measured = run(&stand, &[&one[..], &bursts].concat());
        names(&measured, Limit::ConfiguredPauses, control);
        let verdict = measured.measurement.verdict.expect("both ends reported");
        let paused = verdict.evidence.iter().find(|figure| figure.name == "paused_share");
        assert!(paused.is_some_and(|figure| figure.value > 0.5), "{control}: {verdict:#?}");

        let turns = ["--pattern", "pushpull", "--segments", "4KiB"];
        names(&run(&stand, &[&one[..], &turns].concat()), Limit::Turns, control);
    }
}

#[test]
fn where_there_are_too_few_ports_it_is_said_before_the_first_connection() {
    let Some(stand) = Stand::up(PATH) else { return };
    let _server = stand.server("b");
    tune(&stand, "a", "ip_local_port_range", "40000 40009");
    let words = ["goodput", "b", "-t", "1s", "--no-probe", "-c", "20"];
    stand.pathscope("a", &words).finish().exits(4).complains(&[
        "20 connections at a time need a port each, and there are 10",
        "net.ipv4.ip_local_port_range 40000 40009",
        "--bind",
    ]);
}
