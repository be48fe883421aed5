//! The binary as ctsTraffic, at both ends: the lines of its guide, with less to move, and what they show and write.

use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::Path;

use crate::common::{Ran, Running, pathscope, run};

/// The binary, started under the name of the tool.
fn tool(words: &str) -> Running {
    let words: Vec<&str> = words.split_whitespace().collect();
    let mut command = pathscope(&words);
    command.arg0("ctsTraffic.exe");
    Running::start(command)
}

/// A port that nobody listens on: 0 is none to this tool.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    listener.local_addr().expect("it is bound").port()
}

/// A server that listens, started by these words of the guide.
fn server(port: u16, words: &str) -> Running {
    let mut server = tool(&format!("-listen:127.0.0.1 -port:{port} {words}"));
    server.await_stdout("Server-accepted connections before exit");
    server
}

/// What a client came to that these words of the guide start.
fn client(port: u16, words: &str) -> Ran {
    tool(&format!("-target:localhost -port:{port} {words}")).finish()
}

/// A number of the summary: `Total Bytes Sent`.
fn total(ran: &Ran, label: &str) -> u64 {
    let line =
        ran.stdout.lines().find_map(|line| line.trim().strip_prefix(label)?.strip_prefix(" : "));
    let number = line.and_then(|rest| rest.split(' ').next()?.parse().ok());
    number.unwrap_or_else(|| panic!("'{label}' is missing: {}", ran.said()))
}

/// How many connections went well, and how many did not.
fn ended(ran: &Ran) -> [u64; 3] {
    let line = ran.stdout.lines().find(|line| line.contains("SuccessfulConnections ["));
    let line = line.unwrap_or_else(|| panic!("no summary: {}", ran.said()));
    let numbers = line.split(['[', ']']).filter_map(|part| part.parse().ok());
    let numbers: Vec<u64> = numbers.collect();
    numbers.try_into().unwrap_or_else(|_| panic!("three numbers: {line}"))
}

/// The rows of a file of CSV, cell by cell.
fn rows(path: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(path).expect("it was written");
    assert!(text.ends_with("\r\n"), "{text}");
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn the_first_lines_of_the_guide_run_show_and_write_what_it_shows() {
    let port = free_port();
    let folder = tempfile::tempdir().expect("a folder");
    let [status, connections] =
        ["clientstatus.csv", "clientconnections.csv"].map(|name| folder.path().join(name));
    let mut server = server(port, "-consoleverbosity:1 -transfer:1048576 -statusupdate:200");
    let words = format!(
        "-consoleverbosity:1 -transfer:1048576 -iterations:2 -statusupdate:200 -statusfilename:{} -connectionfilename:{}",
        status.display(),
        connections.display()
    );
    let ran = client(port, &words).exits(0);
    for line in [
        "  Configured Settings",
        "\tIoPattern: Push <TCP client send/server recv>",
        "\tTotal transfer per connection: 1048576 bytes",
        "\tConnection limit (maximum established connections): 8 [0x8]",
        "  Legend:",
        " TimeSlice      SendBps      RecvBps  In-Flight  Completed  NetError  DataError",
    ] {
        assert!(ran.stdout.lines().any(|it| it == line), "'{line}' is missing: {}", ran.said());
    }
    assert_eq!(ended(&ran), [16, 0, 0], "{}", ran.said());
    assert!(total(&ran, "Total Bytes Sent") >= 16 << 20, "{}", ran.said());
    assert!(!ran.stdout.contains("TCP connection"), "{}", ran.said());

    let status = rows(&status);
    assert_eq!(
        status[0],
        ["TimeSlice", "SendBps", "RecvBps", "In-Flight", "Completed", "NetError", "DataError"]
    );
    let last = status.last().expect("a row");
    assert_eq!(last[3..], ["0", "16", "0", "0"], "{status:?}");
    let connections = rows(&connections);
    assert_eq!(connections.len(), 17, "{connections:?}");
    for row in &connections[1..] {
        assert_eq!((row.len(), row[3].as_str(), row[8].as_str()), (10, "1048576", "Succeeded"));
        assert_eq!(row[9].len(), 36, "{row:?}");
    }

    // Rows go on while nobody is there.
    let of_nobody = format!("{:>13}{:>13}{:>11}{:>11}{:>10}{:>11}", 0, 0, 0, 16, 0, 0);
    server.await_stdout(&of_nobody);
    server.signal("INT");
    let served = server.finish();
    assert_eq!(ended(&served), [16, 0, 0], "{}", served.said());
    assert!(total(&served, "Total Bytes Recv") >= 16 << 20, "{}", served.said());
}

#[test]
fn every_pattern_of_the_guide_runs_at_both_ends() {
    for (pattern, sent, received) in [
        ("push", 400_000, 0),
        ("pull", 0, 400_000),
        ("duplex", 200_000, 200_000),
        ("flood", 200_000, 200_000),
        ("pushpull", 300_000, 100_000),
    ] {
        let port = free_port();
        let turns = if pattern == "pushpull" { "-pushbytes:0x493e0 -pullbytes:100000" } else { "" };
        let words = format!("-consoleverbosity:1 -pattern:{pattern} -transfer:400000 {turns}");
        let server = server(port, &format!("{words} -buffer:[1024,1048576]"));
        let own = format!("{words} -connections:1 -iterations:1 -buffer:[1024,1048576]");
        let ran = client(port, &own).exits(0);
        assert_eq!(ended(&ran), [1, 0, 0], "{pattern}: {}", ran.said());
        for (label, least) in [("Total Bytes Sent", sent), ("Total Bytes Recv", received)] {
            assert!(total(&ran, label) >= least, "{pattern}: {}", ran.said());
        }
        server.signal("INT");
        server.finish();
    }
}

#[test]
fn many_short_connections_end_gracefully_or_rudely_as_the_guide_has_them() {
    for shutdown in ["graceful", "rude", "random"] {
        let port = free_port();
        let server = server(port, "-consoleverbosity:1 -transfer:64 -serverexitlimit:300");
        let words = format!(
            "-consoleverbosity:1 -transfer:64 -connections:100 -iterations:3 -shutdown:{shutdown}"
        );
        let ran = client(port, &words).exits(0);
        assert_eq!(ended(&ran), [300, 0, 0], "{shutdown}: {}", ran.said());
        // It ends by itself once it has served so many.
        let served = server.finish().exits(0);
        assert_eq!(ended(&served), [300, 0, 0], "{shutdown}: {}", served.said());
    }
}

#[test]
fn connections_are_shown_as_they_begin_and_end_unless_less_is_asked_for() {
    let port = free_port();
    let server = server(port, "-transfer:100000");
    let own = "-transfer:100000 -connections:2 -iterations:1";
    let ran = client(port, own).exits(0);
    assert_eq!(ran.stdout.matches("TCP connection established [").count(), 2, "{}", ran.said());
    assert_eq!(ran.stdout.matches("TCP connection succeeded : [").count(), 2, "{}", ran.said());
    assert!(!ran.stdout.contains("TimeSlice"), "{}", ran.said());
    let silent = client(port, &format!("{own} -consoleverbosity:0")).exits(0);
    assert!(!silent.stdout.contains("TCP connection"), "{}", silent.said());
    assert!(silent.stdout.contains("Historic Connection Statistics"), "{}", silent.said());
    server.signal("INT");
    server.finish();
}

#[test]
fn a_run_ends_when_its_time_is_up() {
    let port = free_port();
    let server = server(port, "-consoleverbosity:1 -timelimit:60000");
    let ran = client(port, "-consoleverbosity:1 -timelimit:500").exits(0);
    assert!(total(&ran, "Total Time") >= 500, "{}", ran.said());
    server.signal("INT");
    server.finish();
    // A server whose time is up ends by itself.
    let ended = tool(&format!("-listen:127.0.0.1 -port:{} -timelimit:100", free_port())).finish();
    ended.exits(0);
}

#[test]
fn the_stream_of_the_guide_is_played_and_its_files_are_written() {
    const STREAM: &str = "-protocol:udp -bitspersecond:1000000 -framerate:60 -bufferdepth:1 -streamlength:1 -consoleverbosity:1";
    let port = free_port();
    let folder = tempfile::tempdir().expect("a folder");
    let [status, connection, jitter] =
        ["udpclient.csv", "udpconnection.csv", "jitter.csv"].map(|name| folder.path().join(name));
    let server = server(port, STREAM);
    let files = format!(
        "-connections:1 -iterations:1 -statusfilename:{} -connectionfilename:{} -jitterfilename:{}",
        status.display(),
        connection.display(),
        jitter.display()
    );
    let ran = client(port, &format!("{STREAM} {files}")).exits(0);
    for line in [
        "\tUDP Stream StreamLength: 1 seconds (60 frames)",
        " TimeSlice       Bits/Sec    Streams   Completed   Dropped   Repeated    Errors",
    ] {
        assert!(ran.stdout.lines().any(|it| it == line), "'{line}' is missing: {}", ran.said());
    }
    let labels = ["Successful", "Dropped", "Duplicate", "Error"];
    let frames = labels.map(|how| total(&ran, &format!("Total {how} Frames")));
    assert_eq!(frames.iter().sum::<u64>(), 60, "{}", ran.said());
    assert_eq!(ended(&ran), [1, 0, 0], "{}", ran.said());
    assert_eq!(rows(&status)[0][1], "Bits/Sec");
    let connection = rows(&connection);
    assert_eq!((connection.len(), connection[1][8].as_str()), (2, "Succeeded"), "{connection:?}");
    let jitter = rows(&jitter);
    assert_eq!(jitter[0][..2], ["SequenceNumber", "SenderQpc"]);
    assert_eq!(jitter[0][5..], ["RelativeInFlightTimeMs", "PrevToCurrentInFlightTimeJitter"]);
    assert!(jitter.len() == 61 && jitter.iter().all(|row| row.len() == 7), "{jitter:?}");
    server.signal("INT");
    server.finish();
}

#[test]
fn what_has_no_effect_is_named_once_and_what_is_wrong_is_refused_with_its_word() {
    let port = free_port();
    let server = server(port, "-consoleverbosity:1 -transfer:1000 -acc:accept -prepostsends:0");
    let own = "-transfer:1000 -connections:1 -iterations:1 -io:RioIocp -inlineCompletions:on -msgwaitall:on \
               -conn:connect -threadpool:default";
    let ran = client(port, own).exits(0);
    let named =
        "without effect here: -MsgWaitAll:on -IO:RioIocp -InlineCompletions:on -Threadpool:default";
    assert_eq!(ran.stderr.matches(named).count(), 1, "{}", ran.said());
    server.signal("INT");
    server.finish();

    let of = |words: &str| run(&words.split(' ').collect::<Vec<_>>());
    // A word of the guide's that the original cannot read either.
    of("ctstraffic -target:localhost -protocol:udp framerate:60")
        .exits(2)
        .complains(&["'framerate:60' is no option", "-framerate:60"]);
    of("ctstraffic -target:a -connection:5").exits(2).complains(&["did you mean -Connections?"]);
    of("ctsTraffic -target:a -buffer:128KB").exits(2).complains(&["-Buffer", "'128KB'"]);
    let help = of("CTSTRAFFIC -Help:udp").exits(13);
    assert!(help.stdout.contains("-BitsPerSecond:N"), "{}", help.said());
    // Nobody listens there.
    let alone = client(free_port(), "-connections:1 -iterations:1");
    assert!(alone.code.is_some_and(|code| code != 0), "{}", alone.said());
    assert!(alone.stdout.contains("Historic Connection Statistics"), "{}", alone.said());
}

#[test]
fn a_client_that_reaches_nobody_says_so_once_and_in_ctstraffics_words() {
    // Nobody listens at this address.
    let words = ["ctstraffic", "-target:127.77.9.2", "-connections:1", "-iterations:1"];
    let ran = run(&words).exits(3);
    assert!(ran.stdout.contains("name its port with -Port"), "{}", ran.said());
    assert!(!ran.stdout.contains("--port") && !ran.stdout.contains("--peer"), "{}", ran.said());
    assert_eq!(ran.stderr, "", "it was said above: {}", ran.said());
    let lines = ran.stdout.lines().filter(|line| line.contains("] cannot connect to"));
    assert_eq!(lines.count(), 1, "{}", ran.said());
    // Where the screen shows none, it is said all the same.
    let ran = run(&[&words[..], &["-consoleverbosity:0"]].concat()).exits(3);
    assert!(ran.stderr.contains("name its port with -Port"), "{}", ran.said());
}
