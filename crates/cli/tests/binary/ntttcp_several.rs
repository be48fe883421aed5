//! Several of ntttcp's senders in one test (`-M`, `-L`), and what it tells of the machine meanwhile: the binary at both ends, and the original
//! at either where it is installed.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::common::{Running, pathscope, run};

/// A number that a line tells behind this name.
fn told(text: &str, name: &str) -> f64 {
    let value = text.lines().find_map(|line| line.split_once(name)).map(|(_, value)| value.trim());
    let value = value.unwrap_or_else(|| panic!("{name} is told: {text}"));
    value.parse().unwrap_or_else(|why| panic!("{name}: '{value}': {why}"))
}

#[test]
fn the_last_of_several_begins_the_test_and_both_ends_count_interrupts() {
    let folder = tempfile::tempdir().expect("a folder");
    let xml = folder.path().join("a.xml");
    let path = xml.to_str().expect("it is text");
    // All rows of the table have a colon, and some device or clock interrupts every machine.
    let machine = ["--show-nic-packets", "lo", "--show-dev-interrupts", ":"];
    let of_receiver = ["ntttcp", "-r127.77.9.5", "-M", "-P2", "-t1", "-V", "-x", path];
    let mut receiver = Running::start(pathscope(&[&of_receiver[..], &machine].concat()));
    receiver.await_stdout("3 threads created");
    let of_sender = ["ntttcp", "-s127.77.9.5", "-L", "-P2", "-n1", "-t1", "-V"];
    let sent = run(&[&of_sender[..], &machine].concat()).exits(0);
    let ran = receiver.finish().exits(0);
    assert!(ran.stdout.contains("\nmultiple clients:\t\t yes\n"), "{}", ran.said());
    assert!(sent.stdout.contains("\nlast client:\t\t\t yes\n"), "{}", sent.said());
    for text in [&ran.stdout, &sent.stdout] {
        assert!(told(text, "total bytes\t:") > 0.0, "{text}");
        assert!(
            told(text, "\t total\t\t:") > 0.0 && told(text, "interrupts/sec\t:") > 0.0,
            "{text}"
        );
        assert!(told(text, "pkts/interrupt\t:") >= 0.0, "{text}");
    }
    let written = std::fs::read_to_string(xml).expect("it was written");
    let total = written.split_once("<total_interrupts metric=\"count\">").expect("it is there").1;
    let total = total.split_once('<').map(|(total, _)| total.parse::<f64>());
    assert_eq!(total, Some(Ok(told(&ran.stdout, "\t total\t\t:"))), "{written}");
}

/// The original at one end; it is ended with this.
struct Original {
    process: Child,
    said: String,
    rest: BufReader<ChildStdout>,
}

impl Original {
    /// It has said this. Where it is not installed: why not.
    fn start(words: &[&str], awaited: &str) -> std::io::Result<Self> {
        let mut process = Command::new("ntttcp").args(words).stdout(Stdio::piped()).spawn()?;
        let rest = BufReader::new(process.stdout.take().expect("it is piped"));
        let mut original = Self { process, said: String::new(), rest };
        while !original.said.contains(awaited) {
            let came = original.rest.read_line(&mut original.said).expect("it is text");
            assert!(came > 0, "{awaited}: {}", original.said);
        }
        Ok(original)
    }

    /// All that it said, when it has ended well.
    fn finish(mut self) -> String {
        self.rest.read_to_string(&mut self.said).expect("it is text");
        let status = self.process.wait().expect("it was started");
        assert_eq!(status.code(), Some(0), "{}", self.said);
        std::mem::take(&mut self.said)
    }
}

impl Drop for Original {
    fn drop(&mut self) {
        // It has ended by itself where all is well.
        let _ = self.process.kill().and_then(|()| self.process.wait());
    }
}

const WAITS: &str = "waiting for the last client";

#[test]
fn three_originals_are_one_test_of_our_receiver() {
    let of_several = ["--ntttcp-multi-client", "--ntttcp-duration", "1s"];
    let words =
        ["server", "--accept", "ntttcp", "--listen", "127.77.9.6", "--exit-after-tests", "1"];
    let mut receiver = Running::start(pathscope(&[&words[..], &of_several].concat()));
    receiver.await_stderr("listening on");
    let sender = ["-s127.77.9.6", "-P2", "-n1", "-t1"];
    let mut senders = Vec::new();
    for _ in 0..2 {
        match Original::start(&sender, WAITS) {
            Ok(sender) => senders.push(sender),
            Err(why) => return println!("skipped, because ntttcp for Linux does not start: {why}"),
        }
    }
    let last = Original::start(&[&sender[..], &["-L"]].concat(), "Network activity");
    senders.push(last.expect("it was there"));
    let said = senders.into_iter().map(Original::finish);
    let sent: f64 = said.map(|said| told(&said, "total bytes\t:")).sum();
    let ran = receiver.finish().exits(0);
    let bytes = |line: &str| {
        let of = line.split_once("RecvBytes[")?.1.split_once(']')?.0;
        of.parse::<f64>().ok()
    };
    let received: Vec<f64> = ran.stderr.lines().filter_map(bytes).collect();
    assert_eq!(received.len(), 6, "two connections of each: {}", ran.said());
    // What they send between their last look and the end of their time is in no figure of their own.
    let received: f64 = received.iter().sum();
    assert!(sent > 0.0 && sent <= received, "{sent}, {received}");
    assert!(ran.stderr.contains("6 TCP connections, push, 1 s"), "{}", ran.said());
}

#[test]
fn ours_is_the_last_of_two_originals_at_an_original() {
    // It listens at addresses of interfaces alone: at ports of this process' own, below those that other tests use.
    let port = (18_002 + std::process::id() % 300 * 3).to_string();
    // It goes on for longer than its senders: it resets connections that it ends first.
    let of_receiver = ["-r127.0.0.1", "-M", "-e", "-P2", "-t3", "-p", &port];
    let receiver = match Original::start(&of_receiver, "threads created") {
        Ok(receiver) => receiver,
        Err(why) => return println!("skipped, because ntttcp for Linux does not start: {why}"),
    };
    let sender = ["-s127.0.0.1", "-P2", "-n1", "-t1", "-p", &port];
    let waits = |_| Original::start(&sender, WAITS).expect("it was there");
    let waiting = [0, 1].map(waits);
    let ours = run(&[&["ntttcp"][..], &sender, &["-L"]].concat()).exits(0);
    assert!(told(&ours.stdout, "total bytes\t:") > 0.0, "{}", ours.said());
    for said in waiting.map(Original::finish).into_iter().chain([receiver.finish()]) {
        assert!(told(&said, "total bytes\t:") > 0.0, "{said}");
    }
}
