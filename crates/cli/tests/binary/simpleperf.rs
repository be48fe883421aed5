//! The binary as simpleperf, at both ends: the lines of its guide, and what they show.

use std::net::TcpListener;
use std::os::unix::process::CommandExt;

use crate::common::{Running, pathscope, run};

/// The binary, started under another name.
fn tool(name: &str, words: &str) -> Running {
    let words: Vec<&str> = words.split_whitespace().collect();
    let mut command = pathscope(&words);
    command.arg0(name);
    Running::start(command)
}

/// A port that nobody listens on: 0 is none to this tool.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    listener.local_addr().expect("it is bound").port()
}

/// A server of this tool that listens, started as its guide does.
fn server(port: u16) -> Running {
    let mut server = tool("simpleperf.py", &format!("-s -b 127.0.0.1 -p {port}"));
    assert_eq!(
        server.await_stdout("A simpleperf"),
        format!("A simpleperf server is listening on port {port}")
    );
    server
}

/// The numbers of a row, in order.
fn numbers(row: &str) -> Vec<f64> {
    row.split_whitespace().filter_map(|cell| cell.parse().ok()).collect()
}

#[test]
fn the_lines_of_the_guide_run_and_show_what_it_shows() {
    let port = free_port();
    let mut server = server(port);
    let client =
        tool("simpleperf.py", &format!("-c -I 127.0.0.1 -p {port} -t 1")).finish().exits(0);
    let lines: Vec<&str> = client.stdout.lines().collect();
    let head = [
        "Host: 127.0.0.1",
        &format!("Port: {port}"),
        "-----",
        &format!("A simpleperf client 0 connecting to server 127.0.0.1, port {port}"),
        "-----",
        &format!("Client connected with server_IP 127.0.0.1 port {port}"),
        "-----",
        "FINISHED",
        "-----",
        "ID\t\t\tInterval\tTransfer\tBandwidth",
    ];
    assert_eq!(lines[..head.len()], head, "{}", client.said());
    let [row] = lines[head.len()..] else { panic!("one row: {}", client.said()) };
    assert!(row.starts_with(&format!("0     127.0.0.1:{port} ")), "{row}");
    assert!(row.contains(" 0.0 - ") && row.contains("  MB ") && row.ends_with(" Mbps"), "{row}");
    let [_, _, _, megabytes, rate] = numbers(row)[..] else { panic!("five numbers: {row}") };
    assert!(megabytes > 0.0 && rate > 0.0, "{row}");

    let row = server.await_stdout(" Mbps");
    assert!(row.starts_with("127.0.0.1:") && row.contains(" s ") && row.contains(" MB "), "{row}");
    server.signal("INT");
    let ended = server.finish().exits(0);
    assert!(ended.stdout.contains("A simpleperf client with IP 127.0.0.1:"), "{}", ended.said());
    assert!(ended.stdout.contains("ID\t\tInterval\tReceived\t\tRate"), "{}", ended.said());
}

#[test]
fn parallel_connections_have_rows_of_each_interval_and_a_summary_each() {
    let port = free_port();
    let server = server(port);
    let words = format!("simpleperf -c -I 127.0.0.1 -p {port} -P 2 -t 2 -i 1 -f KB");
    let words: Vec<&str> = words.split(' ').collect();
    let client = run(&words).exits(0);
    for connection in ["0", "1"] {
        let begin = format!("{connection}     127.0.0.1:{port} ");
        let rows: Vec<&str> =
            client.stdout.lines().filter(|line| line.starts_with(&begin)).collect();
        let [intervals @ .., whole] = &rows[..] else { panic!("no rows: {}", client.said()) };
        assert!(intervals.len() >= 2, "{}", client.said());
        // Its number, the begin and the end, and what was sent.
        let (mut end, mut kilobytes) = (0.0, 0.0);
        for row in intervals {
            let [_, from, to, sent, _] = numbers(row)[..] else { panic!("five numbers: {row}") };
            assert!(from >= end && to > from && sent > 0.0, "{}", client.said());
            (end, kilobytes) = (to, kilobytes + sent);
        }
        assert!(whole.contains(" 0.0 - ") && whole.contains("  KB "), "{whole}");
        // What was sent while the end was awaited may be in no row of an interval.
        assert!(kilobytes <= numbers(whole)[3] + 0.1 * rows.len() as f64, "{}", client.said());
    }
    assert_eq!(client.stdout.matches("ID\t\tInterval\tTransfer\tBandwidth").count(), 2);
    server.signal("INT");
    server.finish().exits(0);
}

#[test]
fn an_amount_is_sent_on_each_connection_and_no_more() {
    let port = free_port();
    let mut server = server(port);
    let words = format!("--client -I127.0.0.1 -p{port} --num=3MB -f B");
    let client = tool("SimplePerf", &words).finish().exits(0);
    assert!(client.stdout.contains(" 3000000.0   B "), "{}", client.said());
    let row = server.await_stdout(" Mbps");
    assert!(row.contains(" 3.0 MB "), "{row}");
    server.signal("INT");
    server.finish().exits(0);
}

#[test]
fn a_line_that_means_nothing_is_refused_with_the_word_that_is_wrong() {
    let of = |words: &str| run(&words.split(' ').collect::<Vec<_>>());
    of("simpleperf -c -p 80").exits(2).complains(&["-p/--port has to be from 1044 to 65535"]);
    of("simpleperf -s -b here").exits(2).complains(&["-b/--bind", "'here'"]);
    of("simpleperf -c -n 5TB").exits(2).complains(&["-n/--num", "B, KB, MB or GB"]);
    of("simpleperf -c --tme 5").exits(2).complains(&["'--tme'", "--time"]);
    let none = tool("simpleperf.py", "").finish().exits(0);
    assert!(none.stdout.contains("-s for a server, -c for a client"), "{}", none.said());
    of("simpleperf -p 8088")
        .exits(1)
        .complains(&["Error: you must run either in server or client mode"]);
    // Nobody listens there.
    let port = free_port().to_string();
    of(&format!("simpleperf -c -p {port} -t 1")).exits(3);
}
