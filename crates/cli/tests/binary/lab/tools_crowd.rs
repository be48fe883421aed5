//! Many clients of another tool on another machine: a server under that tool's name serves them all at once, as many as call. What one
//! address may have of a server of ours (`guide/server.md`) holds of none of them.

use std::process::{Command, Stdio};

use serde_json::Value;

use super::Stand;

/// More than the threads that a server under its own name has for clients on other machines, however many processors it is given here.
const CLIENTS: usize = 100;
const BYTES: u64 = 1 << 20;

#[test]
fn a_hundred_of_iperf3s_clients_on_another_machine_have_all_that_they_ask_for() {
    let Some(stand) = Stand::up(super::PAIR) else { return };
    let known = Command::new("iperf3").arg("--version").stdout(Stdio::null()).status();
    if let Err(error) = known {
        return println!("skipped, because iperf3 does not start: {error}");
    }
    let mut server = stand.pathscope("b", &["iperf3", "-s", "--forceflush"]);
    server.await_stdout("listening on 5201");
    // Two seconds each, so that they are there at the same time.
    let words = ["iperf3", "-c", "b", "-n", "1M", "-b", "4M", "-J"];
    let clients: Vec<_> = (0..CLIENTS).map(|_| stand.start("a", &words)).collect();
    for client in clients {
        let ran = client.finish().exits(0);
        let told: Value = serde_json::from_str(&ran.stdout).expect("it is JSON");
        assert_eq!(told.get("error"), None, "{}", ran.said());
        for sum in ["sum_sent", "sum_received"] {
            assert_eq!(told["end"][sum]["bytes"], BYTES, "{sum}: {}", ran.said());
        }
    }
    server.signal("TERM");
    server.finish();
}
