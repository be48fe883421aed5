//! What clients of other tools on other machines can make a server send. Not here: what it counts.

use super::Stand;

/// A caller and a server.
const PAIR: &str = "name = \"capped\"\nhosts = [\"a\", \"b\"]\nisolated = true\n[links]\n\"a:b\" = { delay = \"1ms\" }\n";

#[test]
fn an_iperf3_client_elsewhere_has_no_more_datagrams_sent_than_the_limit() {
    let Some(stand) = Stand::up(PAIR) else { return };
    let words = ["server", "--accept", "iperf3", "--limit-datagram-rate", "1Mbit"];
    let mut server = stand.pathscope("b", &words);
    let limits = server.await_stderr("limits:");
    assert!(limits.contains("1.000 Mbit/s of datagrams for a test of another machine"), "{limits}");
    let asks = |node, to, rate| {
        let words = ["iperf3", "-c", to, "-u", "-R", "-P", "3", "-n", "30K", "-l", "1000", "-b"];
        stand.pathscope(node, &[&words[..], &[rate]].concat()).finish()
    };
    for (rate, how) in [("400K", "at 1.200 Mbit/s in all"), ("0", "as fast as it can")] {
        asks("a", "b", rate).exits(3).complains(&["faster than it grants; ask for a lower -b"]);
        let told = server.await_stderr("refused by the server");
        for words in [how, "its limit of 1.000 Mbit/s", "--limit-datagram-rate"] {
            assert!(told.contains(words), "{words}: {told}");
        }
    }
    asks("a", "b", "300K").exits(0);
    // On the server's own machine nothing is capped.
    asks("b", "127.0.0.1", "400K").exits(0);
}
