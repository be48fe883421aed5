//! The binary as ntttcp: sending to whoever speaks as its receivers do, and receiving from itself; what it shows, and its files.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::common::{Running, pathscope, run};

const PATIENCE: Duration = Duration::from_secs(30);
const CONNECTIONS: usize = 4;

/// Listeners at three ports that follow one another: for words, and two for data.
fn listeners() -> [TcpListener; 3] {
    let bind = |port: u16| TcpListener::bind(("127.0.0.1", port)).ok();
    let from = |first: TcpListener| {
        let port = first.local_addr().expect("it is bound").port();
        let (second, third) = (bind(port.checked_add(1)?)?, bind(port.checked_add(2)?)?);
        Some([first, second, third])
    };
    std::iter::from_fn(|| bind(0)).find_map(from).expect("there are some")
}

fn accept(listener: &TcpListener) -> TcpStream {
    let (stream, _) = listener.accept().expect("somebody comes");
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
    stream
}

fn word(sync: &mut TcpStream) -> i32 {
    let mut word = [0; 4];
    sync.read_exact(&mut word).expect("it comes");
    i32::from_be_bytes(word)
}

/// A receiver of one test of these connections (reference/ntttcp.md, section 2).
fn receive([words, data @ ..]: &[TcpListener; 3]) {
    let mut sync = accept(words);
    let say = |sync: &mut TcpStream, word: i32| sync.write_all(&word.to_be_bytes()).expect("taken");
    assert_eq!(word(&mut sync), 88);
    say(&mut sync, 11);
    let cycle = word(&mut sync);
    say(&mut sync, cycle);
    let each = |listener| (0..CONNECTIONS / 2).map(move |_| accept(listener));
    let streams: Vec<TcpStream> = data.iter().flat_map(each).collect();
    assert_eq!(word(&mut sync), 82);
    say(&mut sync, 82);
    let drain = |mut stream: TcpStream| {
        thread::spawn(move || {
            std::io::copy(&mut stream, &mut std::io::sink()).expect("it ends well")
        })
    };
    let drained: Vec<_> = streams.into_iter().map(drain).collect();
    assert_eq!(word(&mut sync), 69);
    say(&mut sync, 13);
    drained.into_iter().for_each(|it| assert!(it.join().expect("it does not panic") > 0));
}

#[test]
fn a_sender_shows_what_ntttcp_shows_and_writes_its_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let [log, xml, json] = ["a.log", "a.xml", "a.json"].map(|name| folder.path().join(name));
    let listeners = listeners();
    let port = listeners[1].local_addr().expect("it is bound").port().to_string();
    let receiver = thread::spawn(move || receive(&listeners));
    let path = |path: &std::path::Path| path.to_str().expect("it is text").to_owned();
    let words = [
        "ntttcp",
        "-s127.0.0.1",
        "-P",
        "2",
        "-n1",
        "-l",
        "2",
        "-t",
        "1",
        "-p",
        &port,
        "-V",
        "-O",
        &path(&log),
        "-x",
        &path(&xml),
        "-j",
        &path(&json),
        "--show-nic-packets",
        "lo",
        "--show-dev-interrupts",
        "some",
        "device",
    ];
    let ran = run(&words).exits(0);
    receiver.join().expect("all of it was as it should be");
    for part in [
        "NTTTCP for Linux 1.4.3\n-----",
        "INFO: 2 threads created\n",
        "INFO: 4 connections created in ",
        "INFO: Network activity progressing...\n",
        "\nReal-time throughput: ",
        "INFO: Test run completed.\n",
        "INFO: Test cycle finished.\n",
        "INFO: \t1\t ",
        "INFO: 4 connections tested\n",
        "bps\n",
        "INFO: \t tx_packets\t:",
        "INFO: \t cycles/byte\t:",
        "INFO: tcpi rtt\t\t:",
    ] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.said());
    }
    let read = |path| std::fs::read_to_string(path).expect("it was written");
    assert!(read(log).contains("INFO: #####  Totals:  #####\n"));
    assert!(read(xml).starts_with("<ntttcps computername=\""));
    let result: serde_json::Value = serde_json::from_str(&read(json)).expect("it is JSON");
    let rate = result["ntttcps"]["throughputs"][0]["value"].as_str().expect("it is text");
    assert!(rate.parse::<f64>().is_ok_and(|rate| rate > 0.0), "{result}");
}

#[test]
fn a_sender_over_udp_tells_what_left_and_nothing_of_what_was_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let xml = folder.path().join("a.xml");
    let path = xml.to_str().expect("it is text");
    let [words, taken, also_taken] = listeners();
    let port = taken.local_addr().expect("it is bound").port();
    // The ports of one transport are nothing to the other.
    let data = [port, port + 1].map(|port| UdpSocket::bind(("127.0.0.1", port)));
    if let Some(error) = data.iter().find_map(|it| it.as_ref().err()) {
        return println!("skipped, because a UDP port is somebody else's: {error}");
    }
    let receiver = thread::spawn(move || {
        let mut sync = accept(&words);
        for answer in [11, 60, 82, 13] {
            word(&mut sync);
            sync.write_all(&i32::to_be_bytes(answer)).expect("taken");
        }
        drop((taken, also_taken));
    });
    let port = port.to_string();
    let of_sender =
        ["-s127.0.0.1", "-P2", "-n1", "-t1", "-b1k", "-B", "8M", "-p", &port, "-x", path];
    let ran = run(&[&["ntttcp", "-u"][..], &of_sender].concat()).exits(0);
    receiver.join().expect("all of it was as it should be");
    for part in [
        "INFO: 2 connections created in ",
        "INFO: Network activity progressing...\n",
        "\nReal-time throughput: ",
        "INFO: Test run completed.\n",
        "INFO: 2 connections tested\n",
        "INFO: total bytes\t:",
        "bps\n",
    ] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.said());
    }
    assert!(!ran.stdout.contains("retrans") && !ran.stdout.contains("lost"), "{}", ran.said());
    let total = ran.stdout.lines().find_map(|line| line.split_once("total bytes\t:"));
    let total: u64 = total.expect("it is told").1.parse().expect("a number");
    // No more than the rate allows in a second, and what is due at its begin.
    assert!((1_024..=1_000_000 + 2 * 1_024).contains(&total), "{}", ran.said());
    let written = std::fs::read_to_string(xml).expect("it was written");
    assert!(written.contains("<udp>True</udp>"), "{written}");
}

#[test]
fn a_receiver_serves_a_sender_as_ntttcp_does_and_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let xml = folder.path().join("a.xml");
    let path = xml.to_str().expect("it is text");
    // Below those that systems give away, and another for each run.
    let port = (20_001 + std::process::id() % 4_000 * 3).to_string();
    let of_receiver = ["ntttcp", "-r127.0.0.1", "-P", "2", "-t", "1", "-p", &port, "-x", path];
    let mut receiver = Running::start(pathscope(&of_receiver));
    receiver.await_stdout("3 threads created");
    let of_sender = ["ntttcp", "-s127.0.0.1", "-P2", "-n1", "-l2", "-t", "1", "-p", &port, "-Q"];
    run(&of_sender).exits(0);
    let ran = receiver.finish().exits(0);
    for part in [
        "INFO: Network activity progressing...\n",
        "\nReal-time throughput: ",
        "INFO: Test run completed.\n",
        "INFO: Test cycle finished.\n",
        "INFO: #####  Totals:  #####\n",
        "bps\n",
    ] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.said());
    }
    assert!(!ran.stdout.contains("connections tested"), "{}", ran.said());
    let written = std::fs::read_to_string(xml).expect("it was written");
    assert!(
        written.starts_with("<ntttcpr computername=\"")
            && written.contains("<total_bytes metric=\"MB\">")
    );
}

#[test]
fn the_original_sends_to_our_receiver_and_is_counted_whole() {
    let port = (20_000 + 12_000 + std::process::id() % 190 * 3 + 1).to_string();
    let mut receiver = Running::start(pathscope(&[
        "server",
        "--accept",
        "ntttcp",
        "--listen",
        "127.0.0.1",
        "--ntttcp-port",
        &port,
        "--ntttcp-ports",
        "2",
        "--exit-after-tests",
        "1",
    ]));
    receiver.await_stderr("listening on");
    let sender = ["-s127.0.0.1", "-P2", "-n1", "-t", "1", "-p", &port];
    let sent = match Command::new("ntttcp").args(sender).output() {
        Ok(sent) => sent,
        Err(error) => return println!("skipped, because ntttcp for Linux does not start: {error}"),
    };
    let text = String::from_utf8_lossy(&sent.stdout);
    assert_eq!(sent.status.code(), Some(0), "{text}");
    let total =
        text.lines().find_map(|line| line.split_once("total bytes\t:")).expect("it is told").1;
    let ran = receiver.finish().exits(0);
    let bytes = |line: &str| {
        let of = line.split_once("RecvBytes[")?.1.split_once(']')?.0;
        of.parse::<u64>().ok()
    };
    let received: u64 = ran.stderr.lines().filter_map(bytes).sum();
    // What it sends between its last look and the end of its time is in no figure of its own.
    assert!(
        total.parse::<u64>().is_ok_and(|total| total > 0 && total <= received),
        "{total}, {received}"
    );
    assert!(ran.stderr.contains("2 TCP connections, push, 1 s"), "{}", ran.said());
}

/// What a line tells of all bytes.
fn total_bytes(text: &str) -> u64 {
    let total = text.lines().find_map(|line| line.split_once("total bytes\t:"));
    total.map(|(_, total)| total.trim().parse().expect("a number")).expect("it is told")
}

#[test]
fn a_receiver_over_udp_tells_what_came_and_nothing_of_what_was_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = ["a.xml", "a.json"].map(|name| folder.path().join(name));
    let [xml, json] = files.each_ref().map(|file| file.to_str().expect("it is text"));
    let port = (16_002 + std::process::id() % 300 * 3).to_string();
    let of_receiver = ["-r127.0.0.1", "-P2", "-t1", "-p", &port, "-V", "-x", xml, "-j", json];
    let mut receiver = Running::start(pathscope(&[&["ntttcp", "-u"][..], &of_receiver].concat()));
    receiver.await_stdout("3 threads created");
    let of_sender = ["-s127.0.0.1", "-P2", "-n2", "-t1", "-b1k", "-B", "4M", "-p", &port, "-Q"];
    let sent = run(&[&["ntttcp", "-u"][..], &of_sender].concat()).exits(0);
    let ran = receiver.finish().exits(0);
    for part in [
        "INFO: Network activity progressing...\n",
        "\nReal-time throughput: ",
        "INFO: Test cycle finished.\n",
        "INFO: #####  Totals:  #####\n",
        "bps\n",
    ] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.said());
    }
    assert_eq!(ran.stdout.matches("DBG : New connection: 127.0.0.1:").count(), 4, "{}", ran.said());
    // The two ends' times are not the same: what of it counts there may not count here.
    let (came, left) = (total_bytes(&ran.stdout), total_bytes(&sent.stdout));
    assert!(came > 0 && came.is_multiple_of(1_024) && left > 0, "{left}: {}", ran.said());
    let written = files.map(|file| std::fs::read_to_string(file).expect("it was written"));
    assert!(written[0].contains("<udp>True</udp>"), "{written:?}");
    for text in written.iter().chain([&ran.stdout]) {
        assert!(!text.contains("lost") && !text.contains("loss"), "{text}");
    }
    assert!(!ran.stdout.contains("retrans segs"), "{}", ran.said());
}

#[test]
fn the_original_sends_datagrams_to_our_receiver_and_those_that_came_are_counted() {
    let port = (17_002 + std::process::id() % 300 * 3).to_string();
    let of_receiver = ["ntttcp", "-u", "-r127.0.0.1", "-P2", "-t10", "-p", &port];
    let mut receiver = Running::start(pathscope(&of_receiver));
    receiver.await_stdout("3 threads created");
    let sender = ["-u", "-s127.0.0.1", "-P2", "-n2", "-t1", "-b1k", "-B8M", "-p", &port];
    let sent = match Command::new("ntttcp").args(sender).output() {
        Ok(sent) => sent,
        Err(error) => return println!("skipped, because ntttcp for Linux does not start: {error}"),
    };
    let text = String::from_utf8_lossy(&sent.stdout);
    assert_eq!(sent.status.code(), Some(0), "{text}");
    let ran = receiver.finish().exits(0);
    let came = total_bytes(&ran.stdout);
    // It is of whole datagrams. What the original sends behind its last look is in no figure of its own.
    assert!(came > 0 && came.is_multiple_of(1_024), "{came}: {}", ran.said());
}

#[test]
fn what_is_not_done_is_refused_with_what_does_it() {
    let refused = run(&["ntttcp", "-r", "-u", "-N"]).exits(255);
    assert!(refused.stdout.contains("leave -N out at both ends"), "{}", refused.said());
    for kind in ["ntttcp-no-sync", "ntttcp-last"] {
        run(&["server", "--accept", kind]).exits(2).complains(&["--accept ntttcp serves"]);
        let help = run(&["server", "--help"]).exits(0).stdout;
        assert!(help.contains("ntttcp") && !help.contains(kind), "{help}");
    }
    let words = ["goodput", "127.0.0.1", "--peer", "ntttcp", "--no-probe", "--transfer", "1MiB"];
    run(&words).exits(2).complains(&["--duration, and no --transfer"]);
}

#[test]
fn what_went_wrong_is_said_once_and_as_ntttcp_says_it() {
    // Nobody listens at this address.
    let ran = run(&["ntttcp", "-s127.77.9.3", "-P1", "-n1", "-t1"]).exits(3);
    assert_eq!(ran.stdout.matches("ERR : ").count(), 1, "{}", ran.said());
    assert!(ran.stdout.contains("127.77.9.3:5000"), "{}", ran.said());
    let advice = "a receiver that was started with -N hears none: say it here, too";
    assert!(ran.stdout.contains(advice), "{}", ran.said());
    assert_eq!(ran.stderr, "", "it was said above: {}", ran.said());
    let words = ["goodput", "127.77.9.3:5001", "--peer", "ntttcp", "--no-probe"];
    run(&words).exits(3).complains(&["-N hears none: --peer ntttcp-no-sync"]);
}
