//! A server whose queue of connections that wait to be accepted is full while a client's follow one another: strangers fill it, as
//! somebody who floods a server does, while the server does not run. The client is told, with how often.

use pathscope_core::quantity::counted;
use pathscope_core::record::Check;

use super::{Stand, only, wait_until};

const HOSTS: &str = "name = \"queue\"\nhosts = [\"a\", \"b\"]\n[links]\n\"a:b\" = {}\n";

/// Connections that wait at a listener at the most, beside one.
const QUEUE: u32 = 8;

/// A counter of a node's kernel.
fn counter(stand: &Stand, node: &str, name: &str) -> u64 {
    let text = stand.start(node, &["cat", "/proc/net/netstat"]).finish().exits(0).stdout;
    let mut lines = text.lines().filter(|line| line.starts_with("TcpExt:"));
    let (names, values) = (lines.next().expect("names"), lines.next().expect("values"));
    let mut both = names.split_whitespace().zip(values.split_whitespace());
    let (_, value) = both.find(|(known, _)| *known == name).expect("the kernel counts it");
    value.parse().expect("a number")
}

#[test]
fn a_full_listen_queue_is_told_with_how_often_it_was_full() {
    let Some(stand) = Stand::up(HOSTS) else { return };
    let limit = format!("echo {QUEUE} > /proc/sys/net/core/somaxconn");
    stand.start("b", &["sh", "-c", &limit]).finish().exits(0);
    let server = stand.server("b");
    let words = "goodput b --json --quiet --no-probe -c 2 --iterations forever --time-limit 8s -n 64 --shutdown rude";
    let words: Vec<&str> = words.split_whitespace().collect();
    let client = stand.pathscope("a", &words);
    let opened = || -> u64 {
        let text = stand.start("b", &["cat", "/proc/net/snmp"]).finish().exits(0).stdout;
        let mut lines = text.lines().filter(|line| line.starts_with("Tcp:"));
        let (names, values) = (lines.next().expect("names"), lines.next().expect("values"));
        let place = names.split_whitespace().position(|name| name == "PassiveOpens");
        let value = values.split_whitespace().nth(place.expect("it counts them"));
        value.and_then(|value| value.parse().ok()).expect("a number")
    };
    // They follow one another: the test runs, and its counters with it.
    wait_until("connections follow one another", || opened() > 10);
    assert_eq!(counter(&stand, "b", "ListenOverflows"), 0);
    server.signal("STOP");
    let address = stand.address("b", "to-a");
    let flood = format!(
        "for i in $(seq 24); do (exec 3<>/dev/tcp/{address}/{} && printf x >&3 && exec sleep 20) & done; wait",
        super::PORT
    );
    let _strangers = stand.start("a", &["bash", "-c", &flood]);
    wait_until("the queue is full", || counter(&stand, "b", "ListenOverflows") > 0);
    server.signal("CONT");
    let ran = client.finish().exits(0);
    let document = ran.document();
    let measurement = only(&document);
    assert!(measurement.checks.iter().all(Check::has_held), "{}", ran.said());
    let caveat = measurement.caveats.iter().find(|caveat| caveat.name == "listen_queue_full");
    let text = caveat.map_or("", |caveat| caveat.text.as_str());
    let times = counter(&stand, "b", "ListenOverflows");
    let told = format!("was full {} at", counted(times, "time"));
    assert!(text.contains(&told), "{times}: {text}");
}
