//! Processes that a task starts: ended with the value that holds them, and heard through pipes or files.

use std::io::Read as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::cargo;

/// A process. Ends with the value.
pub struct End {
    child: Child,
    words: String,
    output: Receiver<String>,
}

impl End {
    /// Starts it; what it writes to its standard output is kept.
    pub fn start(mut command: Command) -> Result<Self> {
        let words = cargo::words(&command);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().with_context(|| format!("run {words}"))?;
        let mut stdout = child.stdout.take().with_context(|| format!("hear {words}"))?;
        let (sender, output) = channel();
        thread::spawn(move || {
            let mut bytes = Vec::new();
            // What could be read before an error is still what it said.
            let _ = stdout.read_to_end(&mut bytes);
            // Nobody listens any more where it was given up.
            let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
        });
        Ok(Self { child, words, output })
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// All that it wrote, if it ends within a time.
    pub fn output(&mut self, within: Duration) -> Result<String> {
        match self.output.recv_timeout(within) {
            Ok(output) => Ok(output),
            Err(RecvTimeoutError::Timeout) => {
                bail!("run {}: it did not end within {} s", self.words, within.as_secs())
            }
            Err(RecvTimeoutError::Disconnected) => bail!("hear {} a second time", self.words),
        }
    }

    /// The same, where it has ended by then.
    pub fn output_if_ended(&mut self, within: Duration) -> Option<String> {
        self.output.recv_timeout(within).ok()
    }
}

impl Drop for End {
    fn drop(&mut self) {
        // Already gone is as good as ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The moment, for limits on waiting.
#[expect(clippy::disallowed_methods, reason = "a limit on waiting, not a measurement")]
pub fn now() -> Instant {
    Instant::now()
}

/// Between two looks at a process.
#[expect(clippy::disallowed_methods, reason = "the kernel offers nothing to wait for here")]
pub fn pause(time: Duration) {
    thread::sleep(time);
}
