//! What a server of iperf3's clients has them held to: what a test may move.

use super::common::{Running, pathscope, run};

/// A server under the name of the tool, of these words, at an address that no other test has.
fn server(at: &str, words: &[&str]) -> Running {
    let mut server = Running::start(pathscope(&[&["iperf3", "-s", "-B", at], words].concat()));
    server.await_stdout("Server listening on 5201");
    server
}

#[test]
fn a_test_moves_no_more_than_its_server_lets_it() {
    let at = "127.77.21.5";
    let server = server(at, &["--server-bitrate-limit", "8M/1"]);
    let client = |words: &[&str]| run(&[&["iperf3", "-c", at], words].concat());
    for words in [&["-b", "9M"][..], &["-u", "-b", "3M", "-P", "3"], &["-b", "5M", "--bidir"]] {
        client(words).exits(3).complains(&["all streams together are faster than it grants"]);
    }
    client(&["-n", "100K", "-b", "8M", "-N"]).exits(0);
    // As fast as it goes may begin; more than a megabyte goes in a second, over loopback, either way.
    for words in [&["-N"][..], &["-N", "-R"], &["-u", "-b", "0", "-R"]] {
        let ran = client(&[words, &["-t", "60"]].concat()).exits(3);
        ran.complains(&[
            "the server stopped while the test ran: all streams together are faster than it grants",
        ]);
    }
    server.signal("TERM");
    let served = server.finish();
    let told = "which is more than the server's limit of 8.000 Mbit/s; it can be raised by --server-bitrate-limit";
    assert_eq!(served.stdout.matches(told).count(), 3, "{}", served.said());
}
