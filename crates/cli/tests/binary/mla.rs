//! The binary as `MultipathLatencyAnalyzer`, at both ends: the lines of its guide, and what they show.

use std::net::UdpSocket;
use std::os::unix::process::CommandExt;

use crate::common::{Ran, Running, pathscope, run};

/// The binary, started under another name.
fn tool(name: &str, words: &[&str]) -> Running {
    let mut command = pathscope(words);
    command.arg0(name);
    Running::start(command)
}

/// A port that nobody has: 0 is none to this tool.
fn free_port() -> String {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
    socket.local_addr().expect("it is bound").port().to_string()
}

/// A server of this tool that listens.
fn server(port: &str, listen: &str) -> Running {
    let port = format!("-port:{port}");
    let mut server = tool("MultipathLatencyAnalyzer.exe", &[listen, &port]);
    server.await_stdout("Listening on");
    server
}

/// The number behind this beginning of a line of the page.
fn figure(ran: &Ran, line: &str) -> f64 {
    let found = ran.stdout.lines().find_map(|it| it.strip_prefix(line));
    let found = found.unwrap_or_else(|| panic!("no line '{line}': {}", ran.said()));
    let number = found.split_whitespace().next().unwrap_or_default();
    number.parse().unwrap_or_else(|_| panic!("'{found}' begins with no number"))
}

/// The same, where it counts something.
fn whole(ran: &Ran, line: &str) -> u64 {
    let found = ran.stdout.lines().find_map(|it| it.strip_prefix(line));
    let found = found.unwrap_or_else(|| panic!("no line '{line}': {}", ran.said()));
    let number = found.split_whitespace().next().unwrap_or_default();
    number.parse().unwrap_or_else(|_| panic!("'{found}' begins with no whole number"))
}

/// What the page says, without its numbers: the guide's lines.
const LINES: [&str; 24] = [
    "The secondary interface prevented ",
    "The secondary interface reduced the overall time waiting for datagrams by ",
    "--- DETAILS ---",
    "Sent datagrams on primary interface: ",
    "Sent datagrams on secondary interface: ",
    "Received datagrams on primary interface: ",
    "Received datagrams on secondary interface: ",
    "Lost datagrams on primary interface: ",
    "Lost datagrams on secondary interface: ",
    "Lost datagrams on both interface simultaneously: ",
    "Average latency on primary interface: ",
    "Average latency on secondary interface: ",
    "Average effective latency on combined interface: ",
    "Jitter (standard deviation) on primary interface: ",
    "Jitter (standard deviation) on secondary interface: ",
    "Jitter (standard deviation) on combined interfaces: ",
    "Median latency on primary interface: ",
    "Median latency on secondary interface: ",
    "Median effective latency on combined interfaces: ",
    "Interquartile range on primary interface: ",
    "Interquartile range latency on combined interfaces: ",
    "Minimum / Maximum latency on primary interface: ",
    "Corrupt datagrams on primary interface: ",
    "Corrupt datagrams on secondary interface: ",
];

#[test]
fn the_lines_of_the_guide_run_and_show_what_it_shows() {
    let port = free_port();
    let server = server(&port, "-listen:*");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("latencyData.csv");
    let output = format!("-output:{}", file.display());
    let port = format!("-port:{port}");
    let words = ["-target:127.0.0.1", &port, "-prepostrecvs:5", "-bitrate:hd", "-grouping:30"];
    let words = [&words[..], &["-duration:1", &output]].concat();
    let client = tool("MultipathLatencyAnalyzer", &words).finish().exits(0);
    let client = client.complains(&["no effect: -prepostrecvs"]);
    let page = "STATISTICS\n-----------------------------------------------------------------------\n\n--- OVERVIEW ---\n";
    assert!(client.stdout.contains(page), "{}", client.said());
    for line in LINES {
        let is_there = client.stdout.lines().any(|it| it.starts_with(line));
        assert!(is_there, "no line '{line}': {}", client.said());
    }
    // 5 x 1024 x 1024 bit/s of 1,024 bytes are 640 a second.
    assert!(client.stdout.contains("640 kB (640 datagrams) were sent in "), "{}", client.said());
    assert_eq!(whole(&client, "Sent datagrams on primary interface: "), 640);
    assert_eq!(whole(&client, "Received datagrams on primary interface: "), 640);
    assert!(figure(&client, "Average latency on primary interface: ") > 0.0);
    assert!(client.stdout.contains("Primary interface lo"), "{}", client.said());

    let text = std::fs::read_to_string(&file).expect("it was written");
    let head = text.lines().next().unwrap_or_default();
    assert!(head.starts_with("Sequence number, Primary Send timestamp (microsec), "), "{head}");
    assert!(head.ends_with(", Secondary Receive timestamp (microsec)"), "{head}");
    assert_eq!(text.lines().count(), 641);
    server.signal("INT");
    server.finish().exits(0);
}

#[test]
fn without_a_secondary_interface_the_page_has_dashes() {
    let port = free_port();
    let server = server(&port, "-listen:127.0.0.1");
    let port = format!("-port:{port}");
    let words = ["mla", "-target:127.0.0.1", &port, "-bitrate:1", "-duration:1", "-secondary:0"];
    let client = run(&[&words[..], &["-loglevel:0"]].concat()).exits(0);
    assert!(client.stdout.starts_with("\n------"), "{}", client.said());
    assert_eq!(whole(&client, "Sent datagrams on secondary interface: "), 0);
    let range = "Minimum / Maximum latency on secondary interface: - / -\n";
    assert!(client.stdout.contains(range), "{}", client.said());
    server.signal("INT");
    server.finish().exits(0);
}

#[test]
fn a_line_that_means_nothing_is_refused_with_the_word_that_is_wrong() {
    run(&["mla", "-target:h", "-bitrate:fast"]).exits(2).complains(&["-bitrate", "'fast'"]);
    run(&["mla", "-target:h", "-durationn"]).exits(2).complains(&["'-durationn'"]);
    run(&["mla", "-target:h", "-gruping:3"]).exits(2).complains(&["-grouping"]);
    let help = run(&["mla", "-?"]).exits(0);
    assert!(help.stdout.contains("-bitrate:<sd,hd,4k,N>"), "{}", help.said());
}
