//! Bad input and bad luck: a clear sentence, the right exit code, nothing measured lost.
//!
//! In one file: one list of troubles, and what is said.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

use crate::common::{Running, Server, document_in, pathscope, run};
use pathscope_core::record::Check;
use pathscope_modes::document::OutcomeState;

/// A port of loopback that nobody listens on.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .expect("a free port")
        .port()
}

#[test]
fn an_unknown_host() {
    let ran = run(&["latency", "no-such-host.invalid"])
        .exits(3)
        .complains(&["no-such-host.invalid", "cannot find the address"]);
    // Once for whoever reads the result, and once for whoever reads errors.
    for said in [&ran.stdout, &ran.stderr] {
        assert_eq!(said.matches("cannot find the address").count(), 1, "{}", ran.said());
    }
}

#[test]
fn a_port_that_refuses() {
    let target = format!("127.0.0.1:{}", free_port());
    run(&["goodput", &target]).exits(3).complains(&[&target, "refused", "pathscope server"]);
}

#[test]
fn a_peer_that_never_answers() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let target = listener.local_addr().expect("bound").to_string();
    run(&["latency", &target]).exits(3).complains(&["server", "within 10 s"]);
}

#[test]
fn a_peer_that_answers_garbage() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let target = listener.local_addr().expect("bound").to_string();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client comes");
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").expect("it listens");
        // Until it has gone.
        let _ = stream.read_to_end(&mut Vec::new());
    });
    run(&["latency", &target]).exits(3).complains(&["cannot be read", "HTTP/1.1 400"]);
}

#[test]
fn a_peer_that_closes_at_once() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let target = listener.local_addr().expect("bound").to_string();
    std::thread::spawn(move || drop(listener.accept()));
    run(&["latency", &target]).exits(3).complains(&["the server closed the connection"]);
}

#[test]
fn a_peer_that_dies_in_the_middle() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.json");
    for kind in ["goodput", "latency"] {
        let server = Server::start();
        let words = [
            kind,
            &server.host(),
            "-t",
            "60s",
            "--report-every",
            "100ms",
            "-o",
            file.to_str().expect("plain"),
        ];
        let mut client = Running::start(pathscope(&words));
        client.await_stdout("ms");
        client.await_stdout("ms");
        server.running.signal("KILL");
        let ran = client.finish().exits(3).complains(&["server"]);
        let document = document_in(&file);
        assert_eq!(document.outcome.state, OutcomeState::Failed);
        assert!(document.outcome.reason.is_some());
        let measurement = document.measurements.first().unwrap_or_else(|| panic!("{}", ran.said()));
        assert!(!measurement.intervals.is_empty());
        assert!(measurement.caveats.iter().any(|caveat| caveat.name == "server_report_missing"));
        let report = &measurement.client;
        match kind {
            "goodput" => {
                assert!(report.goodput.as_ref().is_some_and(|goodput| goodput.sent_bytes > 0));
            }
            _ => assert!(report.latency.as_ref().is_some_and(|latency| latency.received > 0)),
        }
    }
}

#[test]
fn ctrl_c_saves_and_shows_what_was_measured() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.json");
    for kind in ["goodput", "latency"] {
        let words = [
            kind,
            &server.host(),
            "-t",
            "60s",
            "--report-every",
            "100ms",
            "-o",
            file.to_str().expect("plain"),
        ];
        let mut client = Running::start(pathscope(&words));
        client.await_stdout("ms");
        client.signal("INT");
        let ran = client.finish().exits(130).complains(&["interrupted by the user"]);
        assert!(ran.stdout.contains("RTT"), "{}", ran.said());
        let document = document_in(&file);
        assert_eq!(document.outcome.state, OutcomeState::Interrupted);
        let measurement = &document.measurements[0];
        assert!(measurement.server.is_some(), "both ends still reported");
        assert!(measurement.checks.iter().all(Check::has_held), "{:?}", measurement.checks);
    }
}

#[test]
fn ctrl_c_before_anything_was_measured() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let target = listener.local_addr().expect("bound").to_string();
    let client = Running::start(pathscope(&["latency", &target]));
    // Once it has connected and said hello, it waits.
    let (mut stream, _) = listener.accept().expect("it comes");
    stream.read_exact(&mut [0; 32]).expect("it says what it is");
    client.signal("INT");
    client.finish().exits(130).complains(&["interrupted"]);
}

#[test]
fn sigterm_on_a_server_with_clients() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.json");
    let words = [
        "goodput",
        &server.host(),
        "-t",
        "60s",
        "--report-every",
        "100ms",
        "-o",
        file.to_str().expect("plain"),
    ];
    let mut client = Running::start(pathscope(&words));
    client.await_stdout("ms");
    server.running.signal("TERM");
    server.running.finish().exits(0);
    client.finish().exits(3).complains(&["terminated by a signal"]);
    let document = document_in(&file);
    let measurement = &document.measurements[0];
    assert!(measurement.server.is_some(), "the server handed in its report");
    assert!(measurement.checks.iter().all(Check::has_held), "{:?}", measurement.checks);
}

#[test]
fn a_server_of_another_version() {
    // A client that speaks only version 9 is refused; the same refusal is what a client of version 1
    // hears from a server of version 9, but for who speaks what.
    let server = Server::start();
    let mut future = half_a_word(
        server.port,
        b"\xf5PSP\r\n\x1a\n\x01\0\0\0\0\x09\0\x09\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
    );
    future.set_read_timeout(Some(Duration::from_secs(20))).expect("a socket");
    let mut refusal = Vec::new();
    let mut length = [0; 4];
    future.read_exact(&mut length).expect("an answer");
    refusal.extend_from_slice(&length);
    let mut rest = vec![0; 2 + u32::from_be_bytes(length) as usize];
    future.read_exact(&mut rest).expect("the whole answer");
    refusal.extend_from_slice(&rest);
    drop(future);

    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let target = listener.local_addr().expect("bound").to_string();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client comes");
        stream.write_all(&refusal).expect("it listens");
        // Until it has gone.
        let _ = stream.read_to_end(&mut Vec::new());
    });
    run(&["latency", &target]).exits(3).complains(&[
        "refused by the server",
        "version",
        "9",
        "upgrade",
    ]);
}

/// Passes TCP connections on to a server, and no datagram. Where it listens.
pub fn tcp_only(server: u16) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let target = listener.local_addr().expect("bound").to_string();
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let there = TcpStream::connect(("127.0.0.1", server)).expect("it listens");
            let back =
                (there.try_clone().expect("a socket"), client.try_clone().expect("a socket"));
            for (mut from, mut to) in [(client, there), back] {
                std::thread::spawn(move || {
                    // Until either end has gone; then the other one is told.
                    let _ = std::io::copy(&mut from, &mut to);
                    let _ = to.shutdown(std::net::Shutdown::Write);
                });
            }
        }
    });
    target
}

#[test]
fn a_path_without_udp_costs_no_measurement() {
    let server = Server::start();
    let target = tcp_only(server.port);
    let words = ["goodput", &target, "-c", "2", "--transfer", "4MiB", "--json"];
    let document = run(&words).exits(0).document();
    let measurement = &document.measurements[0];
    assert_eq!(measurement.summary.goodput.as_ref().map(|goodput| goodput.completed), Some(2));
    assert!(measurement.summary.probe.is_some(), "probes went another way");
    assert!(
        document.caveats.iter().any(|caveat| caveat.name == "udp_unanswered"),
        "{:?}",
        document.caveats
    );
    // What was asked for by name is not replaced.
    let words = ["latency", &target, "--protocol", "udp", "-n", "10"];
    run(&words).exits(3).complains(&["no answer", "UDP port"]);
}

#[test]
fn an_address_in_use() {
    let server = Server::start();
    let port = server.port.to_string();
    run(&["server", "--listen", "127.0.0.1", "--port", &port])
        .exits(4)
        .complains(&[&port, "in use", "--port"]);
}

#[test]
fn an_output_that_cannot_be_created_costs_no_measurement() {
    let server = Server::start();
    let words = ["latency", &server.host(), "-n", "10", "-o", "/nowhere/at/all.json"];
    run(&words).exits(2).complains(&["--output /nowhere/at/all.json", "nothing was measured"]);
}

#[test]
fn a_link_is_followed_and_a_pipe_gets_one_result() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let (target, link) = (folder.path().join("target.json"), folder.path().join("link.json"));
    std::fs::write(&target, "before").expect("a folder of ours");
    std::os::unix::fs::symlink(&target, &link).expect("a folder of ours");
    let words = ["latency", &server.host(), "-n", "10", "-o", link.to_str().expect("plain"), "-q"];
    run(&words).exits(0);
    assert!(link.is_symlink());
    assert_eq!(document_in(&target).measurements.len(), 1);
    let refused =
        ["latency", &format!("127.0.0.1:{}", free_port()), "-o", target.to_str().expect("plain")];
    run(&refused).exits(3);
    assert_eq!(
        document_in(&target).measurements.len(),
        1,
        "a run that measured nothing leaves it alone"
    );
    let script = format!(
        "'{}' goodput {} -t 3s --report-every 100ms -q -o /dev/stderr 2>&1 >/dev/null",
        env!("CARGO_BIN_EXE_pathscope"),
        server.host()
    );
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &script]);
    let ran = Running::start(command).finish().exits(0);
    assert_eq!(ran.document().measurements.len(), 1, "one document, and nothing else");
}

#[test]
fn an_output_that_fills_up_costs_the_file_and_nothing_else() {
    let server = Server::start();
    let words = ["latency", &server.host(), "-n", "100", "-o", "/dev/full", "--json"];
    let ran = run(&words).exits(6).complains(&["/dev/full", "No space left"]);
    assert_eq!(ran.document().measurements.len(), 1);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let server = Server::start();
    let script = format!(
        "'{}' latency {} -n 100 | head -n 1",
        env!("CARGO_BIN_EXE_pathscope"),
        server.host()
    );
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &script]);
    let ran = Running::start(command).finish().exits(0);
    assert!(
        !ran.stderr.contains("panicked") && !ran.stderr.contains("cannot write"),
        "{}",
        ran.said()
    );
}

#[test]
fn options_out_of_range_are_named_with_their_range() {
    for (words, said) in [
        (&["goodput", "h", "--connections", "0"][..], &["--connections", "1"][..]),
        (&["goodput", "h", "--pattern", "pushy"], &["--pattern", "push, pull, pushpull, duplex"]),
        (&["goodput", "h", "--transfer", "0"], &["--transfer", "1 B"]),
        (&["goodput", "h", "--buffer", "1TiB"], &["--buffer", "64 MiB"]),
        (&["goodput", "h", "--rate", "5"], &["--rate", "no unit"]),
        (&["goodput", "h", "--rate", "5bit"], &["--rate", "1.000 kbit/s"]),
        (&["goodput", "h", "--duration", "1ns"], &["--duration", "10 ms"]),
        (&["goodput", "h", "--duration", "1s", "--warm-up", "1s"], &["--warm-up", "1 s"]),
        (&["goodput", "h", "--verify", "maybe"], &["--verify", "full, sampled, off"]),
        (&["goodput", "h", "--report-every", "1us"], &["--report-every", "10 ms"]),
        (&["goodput", "h", "--probe-rate", "0/s"], &["--probe-rate", "--no-probe"]),
        (&["latency", "h", "--protocol", "sctp"], &["--protocol", "tcp, udp"]),
        (&["latency", "h", "--protocol", "udp", "--size", "8"], &["--size", "48 B"]),
        (&["latency", "h", "--size", "0"], &["--size", "1 B", "1 MiB"]),
        (&["latency", "h", "--period", "1ns"], &["--period", "1 µs"]),
        (&["latency", "h", "-n", "0"], &["--iterations", "1"]),
        (&["latency", "h", "--wait", "patiently"], &["--wait", "spin, sleep, hybrid, auto"]),
        (&["latency", "h:0"], &["'h:0'", "1 to 65535"]),
        (&["media", "h"], &["--profile NAME", "--rate"]),
        (&["media", "h", "--profile", "8k"], &["--profile '8k'", "sd, hd, 4k, voice, conference"]),
        (&["media", "h", "--rate", "1kbit"], &["frames of 2 bytes", "49", "lower the frame rate"]),
        (&["media", "h", "--rate", "1Mbit", "--iterations", "0"], &["--iterations", "1 to 1000"]),
        (&["media", "h", "--rate", "1Mbit", "--datagram", "70000"], &["--datagram", "128 B"]),
        (
            &["media", "h", "--rate", "1Mbit", "--direction", "up", "--jitter-file", "j.csv"],
            &["--jitter-file", "--direction up"],
        ),
    ] {
        run(words).exits(2).complains(said);
    }
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    for words in [
        &["goodput", "h", "--transfer", "1MiB", "--duration", "1s"][..],
        &["goodput", "h", "--transfer", "1MiB", "--warm-up", "1s"],
        &["goodput", "h", "--json", "--json-stream"],
        &["goodput", "h", "--no-probe", "--probe-rate", "5/s"],
        &["latency", "h", "-n", "5", "-t", "1s"],
        &["latency", "h", "--period", "1ms", "--rate", "5/s"],
    ] {
        run(words).exits(2).complains(&["cannot be used with"]);
    }
}

#[test]
fn a_dash_is_no_file() {
    run(&["survey", "-t", "600ms", "-o", "-"]).exits(2).complains(&["give --json"]);
}

#[test]
fn an_engine_or_a_congestion_control_that_is_not_there() {
    let server = Server::start();
    run(&["goodput", &server.host(), "--engine", "warp"])
        .exits(4)
        .complains(&["'warp'", "plain, epoll, uring"]);
    let words = ["goodput", &server.host(), "--congestion", "telepathy", "-t", "100ms"];
    run(&words).exits(4).complains(&["'telepathy'", "this kernel has"]);
}

#[test]
fn a_limit_of_the_server_is_named_with_its_remedy() {
    let server = Server::start_with(&["--limit-connections", "4", "--limit-duration", "2s"]);
    let host = server.host();
    run(&["goodput", &host, "-c", "8", "-t", "1s"])
        .exits(3)
        .complains(&["limit of 4", "--limit-connections"]);
    run(&["goodput", &host, "-c", "1", "-t", "1h"])
        .exits(3)
        .complains(&["limit of 2 s", "--limit-duration"]);
    run(&["goodput", &host, "-c", "1", "-t", "100ms"]).exits(0);
}

#[test]
fn a_client_too_many_is_refused_with_the_limit() {
    let server = Server::start_with(&["--limit-sessions", "1"]);
    let mut first = Running::start(pathscope(&[
        "latency",
        &server.host(),
        "-t",
        "60s",
        "--report-every",
        "50ms",
    ]));
    first.await_stdout("µs");
    run(&["latency", &server.host()])
        .exits(3)
        .complains(&["limit of 1 session; try", "--limit-sessions"]);
    first.signal("INT");
    first.finish().exits(130);
    run(&["latency", &server.host(), "-n", "10"]).exits(0);
}

/// Sends `bytes` on a connection of its own and leaves it open.
fn half_a_word(port: u16, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    stream.write_all(bytes).expect("it reads");
    stream
}

/// Measures as anybody would. Whoever waits for somebody that is silent or slow waits 10 s.
fn moves_two_connections_undelayed(server: &Server) {
    let begun = pathscope_os::clock::now();
    let words = ["goodput", &server.host(), "-c", "2", "--transfer", "4MiB", "--json"];
    let document = run(&words).exits(0).document();
    let goodput = document.measurements[0].summary.goodput.as_ref();
    assert_eq!(goodput.map(|goodput| goodput.completed), Some(2));
    let took = pathscope_os::clock::now().since(begun);
    assert!(took < Duration::from_secs(8), "{took:?}");
}

#[test]
fn garbage_and_half_messages_delay_nobody() {
    let server = Server::start();
    let opening = b"\xf5PSP\r\n\x1a\n\x01\0\0\0\0\x01\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    let frame = [&opening[..], &[0, 0, 0, 50, 0, 1, b'{']].concat();
    let huge = [&opening[..], &[0xff; 6]].concat();
    let unknown = [&opening[..], &[0, 0, 0, 2, 0x12, 0x34, b'{', b'}']].concat();
    let data = b"\xf5PSP\r\n\x1a\n\x02\0\0\0\0\0\0\0aaaaaaaaaaaaaaaa";
    let pieces: [&[u8]; 9] = [
        b"",
        b"\xf5",
        b"GET / HTTP/1.1\r\n\r\n",
        &[0; 1_000],
        &opening[..20],
        &frame,
        &huge,
        &unknown,
        data,
    ];
    let open: Vec<TcpStream> = pieces.iter().map(|bytes| half_a_word(server.port, bytes)).collect();
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    for bytes in [&b""[..], b"PSAT", b"PSPG", &[0xff; 64], &[0; 1_400]] {
        socket.send_to(bytes, ("127.0.0.1", server.port)).expect("loopback");
    }
    moves_two_connections_undelayed(&server);
    drop(open);
    // The connection with a token that nobody has was told so.
    let mut stranger = half_a_word(server.port, data);
    stranger.set_read_timeout(Some(Duration::from_secs(20))).expect("a socket");
    let mut answer = [0; 4];
    stranger.read_exact(&mut answer).expect("an answer");
    assert_eq!(answer, [0xf5, 0x70, 1, 0]);
}

/// The number at the start of a line.
fn number_in(line: &str) -> usize {
    let digits: String = line.chars().take_while(|it| *it != ' ').filter(|it| *it != ',').collect();
    digits.parse().unwrap_or_else(|_| panic!("no number in '{line}'"))
}

#[test]
fn what_strangers_cause_is_told_in_few_lines_and_their_number() {
    const KNOCKS: usize = 300;
    const CONNECTIONS: usize = 150;
    let server = Server::start();
    let begun = pathscope_os::clock::now();
    for _ in 0..KNOCKS {
        let mut stream = half_a_word(server.port, b"GET / HTTP/1.1\r\n\r\n");
        // Until it is turned away, which may be a reset.
        let _ = stream.read_to_end(&mut Vec::new());
    }
    let connections = CONNECTIONS.to_string();
    let words = ["goodput", &server.host(), "-c", &connections, "--transfer", "1KiB", "--no-probe"];
    run(&words).exits(0);
    server.running.signal("TERM");
    let ran = server.running.finish().exits(0);
    let periods = 1 + pathscope_os::clock::now().since(begun).as_secs() as usize / 10;
    let (told, left_out): (Vec<&str>, Vec<&str>) =
        ran.stderr.lines().partition(|line| !line.contains("were left out"));
    let own = ["listening on", "limits:", "terminated", "served "];
    let is_own = |line: &str| own.iter().any(|words| line.contains(words));
    let told = told.iter().filter(|line| !is_own(line)).count();
    let untold: usize = left_out.iter().map(|line| number_in(line)).sum();
    // Besides, what the session is, and that it is over.
    assert_eq!(told + untold, KNOCKS + CONNECTIONS + 2, "{}", ran.said());
    assert!(told <= 100 * (1 + periods) && left_out.len() <= 1 + periods, "{}", ran.said());
}

#[test]
fn ten_thousand_connections_that_say_nothing_delay_nobody() {
    let wanted = 10_000;
    let files = pathscope_os::limits::raise_open_files().unwrap_or(0);
    if files < wanted + 500 {
        println!("skipped, because this process may open only {files} files");
        return;
    }
    let server = Server::start();
    let silent: Vec<TcpStream> = (0..wanted).map(|_| half_a_word(server.port, b"")).collect();
    moves_two_connections_undelayed(&server);
    drop(silent);
}

#[test]
fn a_result_that_is_none_is_told_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("other.json");
    std::fs::write(&path, "{\"end\": {}}").expect("a folder of ours");
    run(&["show", path.to_str().expect("plain")])
        .exits(2)
        .complains(&["other.json", "not a pathscope result"]);
    run(&["show", "/nowhere/at/all.json"])
        .exits(2)
        .complains(&["/nowhere/at/all.json", "No such file"]);
}
