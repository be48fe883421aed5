//! Readers of output that stop reading: they cost no measurement, keep no client waiting, and can be left.

use std::fs::File;
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Read, Write, pipe};
use std::net::TcpStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};

use crate::common::{Server, pathscope, run};

/// What a pipe holds.
const PIPE_BYTES: usize = 1 << 16;

/// Killed when dropped.
struct Ours(Child);

impl Drop for Ours {
    fn drop(&mut self) {
        // Fails only where it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A pipe that takes no more; its reader must be kept.
fn full() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = pipe().expect("two files");
    writer.write_all(&vec![b' '; PIPE_BYTES]).expect("so much fits");
    (reader, writer)
}

#[test]
fn a_reader_that_stops_reading_costs_no_measurement() {
    let mut server = Server::start();
    // More than a pipe holds, for longer than a session waits for its other end.
    let host = server.host();
    let words = ["goodput", &host, "-t", "12s", "--report-every", "10ms", "--json-stream"];
    let mut child = pathscope(&words)
        .args(["--connections", "1", "--buffer", "1KiB", "--rate", "1Mbit"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary was built");
    let said = server.running.await_stderr("session over");
    assert!(!said.contains("session over:"), "{said}");
    let mut text = String::new();
    child.stdout.take().expect("piped").read_to_string(&mut text).expect("it is text");
    assert!(child.wait().expect("it is our child").success());
    assert!(text.len() > 200_000, "{} bytes would have fitted a pipe", text.len());
    let last = text.lines().last().expect("it said something");
    assert!(last.contains("\"completed\""), "{last}");
}

#[test]
fn a_signal_ends_who_waits_for_a_reader_when_all_is_saved() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let frequencies = folder.path().join("frequencies.json");
    let made = Command::new("mkfifo").arg(&frequencies).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo");
    // Opened for both, it waits for nobody.
    let told = File::options().read(true).write(true).open(&frequencies).expect("a pipe");
    let (_reader, stuck) = full();
    let host = server.host();
    let words = ["latency", &host, "-n", "100", "--frequency-file"];
    let child = pathscope(&words).arg(&frequencies).stdout(stuck).stderr(Stdio::null()).spawn();
    let mut child = Ours(child.expect("the binary was built"));
    // What it saves is saved before it waits for whoever reads.
    let mut line = String::new();
    BufReader::new(told).read_line(&mut line).expect("it is text");
    assert_eq!(line, "{\n");
    let process = rustix::process::Pid::from_child(&child.0);
    rustix::process::kill_process(process, rustix::process::Signal::TERM).expect("it is ours");
    let status = child.0.wait().expect("it is our child");
    assert_eq!(status.signal(), Some(15), "{status}");
}

#[test]
fn who_does_not_read_what_a_server_says_keeps_no_client_waiting() {
    let (mut reader, mut writer) = pipe().expect("two files");
    let words = ["server", "--listen", "127.0.0.1", "--port", "0"];
    let out = writer.try_clone().expect("a file");
    let child = pathscope(&words).stdout(Stdio::null()).stderr(out).spawn();
    let _child = Ours(child.expect("the binary was built"));
    let mut said = String::new();
    while said.lines().count() < 2 || !said.ends_with('\n') {
        let mut bytes = [0; 512];
        let count = reader.read(&mut bytes).expect("it listens");
        said.push_str(std::str::from_utf8(&bytes[..count]).expect("it is text"));
    }
    let port = said.split("127.0.0.1:").nth(1).and_then(|rest| rest.split(' ').next());
    let host = format!("127.0.0.1:{}", port.expect("where it listens"));
    // All was read: it takes so much, and no more.
    writer.write_all(&vec![b' '; PIPE_BYTES]).expect("so much fits");
    for _ in 0..3 {
        let mut stranger = TcpStream::connect(&host).expect("it listens");
        stranger.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("it reads");
        // Turned away, which the server has something to say of.
        let _ = stranger.read(&mut [0; 64]);
    }
    run(&["latency", &host, "-n", "10"]).exits(0);
}
