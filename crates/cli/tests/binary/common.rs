//! The binary as a user has it: started, talked to, stopped; ended again whatever becomes of the test.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use pathscope_modes::document::Document;

/// Nothing that is tested takes longer on a slow machine, unless it hangs.
const PATIENCE: Duration = Duration::from_secs(90);

/// The binary with these words, for a reader of UTF-8. `{}` has no meaning; colors are off.
pub fn pathscope(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pathscope"));
    command.args(words).env_remove("NO_COLOR").env("COLUMNS", "80").stdin(Stdio::null());
    command.env("LC_ALL", "C.UTF-8");
    command
}

/// Runs the binary to its end.
pub fn run(words: &[&str]) -> Ran {
    Running::start(pathscope(words)).finish()
}

/// A binary that ran.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    /// Everything it said, for the message of a failed assertion.
    pub fn said(&self) -> String {
        format!("exit {:?}\n--- stdout\n{}\n--- stderr\n{}", self.code, self.stdout, self.stderr)
    }

    /// It ended with this code.
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}", self.said());
        self
    }

    /// It ended with one of these codes.
    pub fn exits_with(self, codes: &[i32]) -> Self {
        assert!(self.code.is_some_and(|code| codes.contains(&code)), "{}", self.said());
        self
    }

    /// It complained in one sentence that has these words.
    pub fn complains(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.stderr.contains(word), "'{word}' is missing: {}", self.said());
        }
        assert!(!self.stderr.contains("panicked"), "{}", self.said());
        self
    }

    /// The document on standard output.
    pub fn document(&self) -> Document {
        Document::from_json(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.said()))
    }
}

/// A binary that runs. Killed when dropped.
pub struct Running {
    child: Child,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
    seen_stdout: String,
    seen_stderr: String,
}

impl Running {
    /// Starts it and listens to what it says.
    pub fn start(mut command: Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary was built");
        let stdout = lines(child.stdout.take().expect("piped"));
        let stderr = lines(child.stderr.take().expect("piped"));
        Self { child, stdout, stderr, seen_stdout: String::new(), seen_stderr: String::new() }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it says something with these words on standard output.
    pub fn await_stdout(&mut self, words: &str) -> String {
        await_line(&self.stdout, &mut self.seen_stdout, words)
    }

    /// Waits until it says something with these words on standard error.
    pub fn await_stderr(&mut self, words: &str) -> String {
        await_line(&self.stderr, &mut self.seen_stderr, words)
    }

    /// A line that it has said on standard error, and that was waited for.
    pub fn seen_stderr(&mut self, words: &str) -> String {
        let seen = self.seen_stderr.lines().find(|line| line.contains(words));
        let missing = || panic!("'{words}' was not said: {}", self.seen_stderr);
        seen.map_or_else(missing, str::to_owned)
    }

    /// Sends it a signal by its name.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([format!("-{name}"), self.id().to_string()]).status();
        assert!(sent.is_ok_and(|status| status.success()), "kill -{name} {}", self.id());
    }

    /// Waits for its end, but not for ever.
    pub fn finish(mut self) -> Ran {
        // Both ends of output come with the end of the process.
        drain(&self.stdout, &mut self.seen_stdout);
        drain(&self.stderr, &mut self.seen_stderr);
        let status = self.child.wait().expect("it is our child");
        Ran {
            code: status.code(),
            stdout: std::mem::take(&mut self.seen_stdout),
            stderr: std::mem::take(&mut self.seen_stderr),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Fails only where it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

fn await_line(lines: &Receiver<String>, seen: &mut String, words: &str) -> String {
    loop {
        let line = lines
            .recv_timeout(PATIENCE)
            .unwrap_or_else(|_| panic!("'{words}' was never said: {seen}"));
        seen.push_str(&line);
        seen.push('\n');
        if line.contains(words) {
            return line;
        }
    }
}

fn drain(lines: &Receiver<String>, seen: &mut String) {
    loop {
        match lines.recv_timeout(PATIENCE) {
            Ok(line) => {
                seen.push_str(&line);
                seen.push('\n');
            }
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return,
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {
                panic!("it hangs, having said: {seen}")
            }
        }
    }
}

/// A server on a port of loopback that is free.
pub struct Server {
    pub running: Running,
    pub port: u16,
}

impl Server {
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    pub fn start_with(words: &[&str]) -> Self {
        let words = [&["server", "--listen", "127.0.0.1", "--port", "0"], words].concat();
        Self::listening(Running::start(pathscope(&words)))
    }

    /// One whose program is started in another way.
    pub fn start_by(how: impl FnOnce(Command) -> Command) -> Self {
        let words = ["server", "--listen", "127.0.0.1", "--port", "0"];
        Self::listening(Running::start(how(pathscope(&words))))
    }

    /// One that was started, as soon as it listens.
    pub fn listening(mut running: Running) -> Self {
        let line = running.await_stderr("listening on");
        let port = line
            .split_once("127.0.0.1:")
            .and_then(|(_, rest)| {
                rest.split(|character: char| !character.is_ascii_digit()).next()?.parse().ok()
            })
            .unwrap_or_else(|| panic!("no port in '{line}'"));
        Self { running, port }
    }

    /// As clients name it.
    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}

/// The document in a file.
pub fn document_in(path: &Path) -> Document {
    let text =
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Document::from_json(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
