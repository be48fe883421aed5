//! Connections that are opened with what they say first (TCP Fast Open), on nodes whose systems allow that at both ends, at one, and
//! at none: how many were is told exactly, and where none was, why. Over a node's loopback, where no SYN is lost or late.

use pathscope_core::record::Check;
use pathscope_modes::load::FastOpen;

use super::{Stand, only};
use crate::common::{Ran, Running};

const HOSTS: &str = "name = \"fast\"\nhosts = [\"a\", \"b\"]\n[links]\n\"a:b\" = {}\n";

/// At a time, and one after the other at each place.
const AT_ONCE: u64 = 4;
const ITERATIONS: u64 = 25;
/// All but those that there are from the beginning.
const FOLLOWERS: u64 = AT_ONCE * (ITERATIONS - 1);

fn allow(stand: &Stand, node: &str, bits: u8) {
    let set = format!("echo {bits} > /proc/sys/net/ipv4/tcp_fastopen");
    stand.start(node, &["sh", "-c", &set]).finish().exits(0);
}

/// A run from a node to itself, of which all connections completed at both ends.
fn churn(stand: &Stand, node: &str, connections: u64, more: &str) -> Ran {
    let words = format!(
        "goodput 127.0.0.1 --json --no-probe -c {connections} --iterations {ITERATIONS} -n 64 \
         --congestion cubic {more}"
    );
    let ran = stand.pathscope(node, &words.split_whitespace().collect::<Vec<_>>()).finish();
    let ran = ran.exits(0);
    let document = ran.document();
    let measurement = only(&document);
    let summary = measurement.summary.goodput.as_ref().expect("it is goodput");
    assert_eq!(summary.completed, connections * ITERATIONS, "{}", ran.said());
    assert!(measurement.checks.iter().all(Check::has_held), "{}", ran.said());
    ran
}

fn counts(ran: &Ran) -> Option<FastOpen> {
    let document = ran.document();
    only(&document).summary.goodput.as_ref().and_then(|summary| summary.fast_open)
}

/// What is said where none was opened so.
fn caveat(ran: &Ran) -> Option<String> {
    let document = ran.document();
    let mut caveats = only(&document).caveats.iter();
    let caveat = caveats.find(|caveat| caveat.name == "fast_open_not_taken");
    caveat.map(|caveat| caveat.text.clone())
}

/// A server on a node.
fn server(stand: &Stand, node: &str) -> Running {
    let mut server = stand.pathscope(node, &["server", "--allow-congestion"]);
    server.await_stderr("listening on");
    server
}

#[test]
fn requests_leave_with_syns_once_there_is_a_cookie() {
    let Some(stand) = Stand::up(HOSTS) else { return };
    for node in ["a", "b"] {
        allow(&stand, node, 3);
        let _server = server(&stand, node);
        // Nobody who did not ask has a SYN of another kind.
        assert_eq!(counts(&churn(&stand, node, AT_ONCE, "--quiet")), None);
        // Told one by one, by the thread that opens them; and quiet, by the worker that has them.
        let more = if node == "a" { "--fast-open" } else { "--fast-open --quiet" };
        let told = counts(&churn(&stand, node, 1, more)).expect("it was asked for");
        let served = Some(true);
        let one = FastOpen { taken: ITERATIONS - 2, fell_back: 1, is_served: served };
        assert_eq!(told, one, "the first that follows asks for the cookie");
        // The system keeps it.
        for engine in ["", "--engine plain", "--engine epoll", "--pattern pull", "--shutdown rude"]
        {
            let told = counts(&churn(&stand, node, AT_ONCE, &format!("{more} {engine}")));
            let all = FastOpen { taken: FOLLOWERS, fell_back: 0, is_served: served };
            assert_eq!(told, Some(all), "{engine}");
        }
    }
}

#[test]
fn a_server_whose_system_takes_nothing_with_a_syn_is_named_with_the_remedy() {
    let Some(stand) = Stand::up(HOSTS) else { return };
    allow(&stand, "a", 1);
    let _server = server(&stand, "a");
    let none = FastOpen { taken: 0, fell_back: FOLLOWERS, is_served: Some(false) };
    for more in ["--fast-open", "--fast-open --quiet"] {
        let ran = churn(&stand, "a", AT_ONCE, more);
        assert_eq!(counts(&ran), Some(none), "{more}");
        let text = caveat(&ran).expect("it is said");
        assert!(text.contains("sysctl -w net.ipv4.tcp_fastopen=3"), "{text}");
    }
    // A cookie from before, and a system that knows nothing of it any more: what goes with the SYN is sent again.
    allow(&stand, "a", 3);
    assert_eq!(caveat(&churn(&stand, "a", AT_ONCE, "--fast-open --quiet")), None);
    allow(&stand, "a", 1);
    for more in ["--fast-open", "--fast-open --quiet"] {
        let ran = churn(&stand, "a", AT_ONCE, more);
        assert_eq!(counts(&ran), Some(none), "{more}");
        assert!(caveat(&ran).is_some(), "{more}");
    }
}

#[test]
fn a_client_whose_system_sends_nothing_with_a_syn_is_refused_with_the_remedy() {
    let Some(stand) = Stand::up(HOSTS) else { return };
    allow(&stand, "a", 2);
    let _server = server(&stand, "a");
    let words = "goodput 127.0.0.1 --no-probe -c 2 --iterations 3 -n 64 --fast-open";
    let ran = stand.pathscope("a", &words.split_whitespace().collect::<Vec<_>>()).finish();
    ran.exits(4).complains(&["TCP Fast Open", "net.ipv4.tcp_fastopen", "--fast-open"]);
}
