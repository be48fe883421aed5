//! A program of ours under attack: started, looked at through /proc, timed, and ended with the value.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::clock;

/// What it holds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Held {
    /// The most memory that was ever resident.
    pub resident_bytes: u64,
    /// Threads.
    pub threads: u64,
    /// Descriptors that are open.
    pub descriptors: u64,
}

/// A program that runs.
#[derive(Debug)]
pub struct Process {
    child: Child,
    output: PathBuf,
    begun: Instant,
    /// The most that it held when looked at.
    pub most: Held,
}

static NUMBER: AtomicU64 = AtomicU64::new(0);

impl Process {
    /// Starts it; all that it says goes to a file.
    pub fn start(binary: &Path, words: &[String]) -> io::Result<Self> {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("pathscope-attack-{}-{number}", std::process::id());
        let output = std::env::temp_dir().join(name);
        let file = File::create(&output)?;
        let errors = file.try_clone()?;
        let mut command = Command::new(binary);
        command.args(words).stdin(Stdio::null()).stdout(file).stderr(errors);
        let child = command.spawn()?;
        Ok(Self { child, output, begun: clock::now(), most: Held::default() })
    }

    /// How long it has run.
    pub fn runs_for(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Looks at what it holds; how it ended, if it has.
    pub fn look(&mut self) -> io::Result<Option<ExitStatus>> {
        let ended = self.child.try_wait()?;
        if ended.is_none() && is_itself(self.child.id()) {
            let held = held(self.child.id());
            self.most.resident_bytes = self.most.resident_bytes.max(held.resident_bytes);
            self.most.threads = self.most.threads.max(held.threads);
            self.most.descriptors = self.most.descriptors.max(held.descriptors);
        }
        Ok(ended)
    }

    /// Looks again and again until it has ended, for so long at the most.
    pub fn wait(&mut self, within: Duration) -> io::Result<Option<ExitStatus>> {
        let until = clock::now() + within;
        loop {
            let ended = self.look()?;
            if ended.is_some() || clock::now() >= until {
                return Ok(ended);
            }
            clock::pause(Duration::from_millis(20));
        }
    }

    /// As Ctrl-C does.
    pub fn interrupt(&self) {
        if let Some(process) = rustix::process::Pid::from_raw(self.child.id() as i32) {
            // One that has ended needs no signal.
            let _ = rustix::process::kill_process(process, rustix::process::Signal::INT);
        }
    }

    /// All that it said so far.
    pub fn said(&self) -> Vec<u8> {
        fs::read(&self.output).unwrap_or_default()
    }

    /// What no program of ours may say, whatever came: as a sentence.
    pub fn fault_in_what_it_said(&self) -> Option<String> {
        let said = self.said();
        let text = String::from_utf8_lossy(&said);
        if let Some(line) = text.lines().find(|line| line.contains("panicked")) {
            return Some(format!("it panicked: {line}"));
        }
        said.contains(&0x1b).then(|| "it wrote an escape of a stranger's as it came".to_owned())
    }

    /// How many descriptors it may have.
    pub fn descriptor_limit(&self) -> u64 {
        let limits = fs::read_to_string(format!("/proc/{}/limits", self.child.id()));
        let limits = limits.unwrap_or_default();
        let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
        line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(u64::MAX)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Already gone is as good as ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_file(&self.output);
    }
}

/// Whether a process that was started from here is the program that it is to be. For some microseconds after its start it still
/// is this one, with all of this one's memory: one in a thousand that is looked at right then is seen so.
fn is_itself(process: u32) -> bool {
    let program = |process: &str| fs::read_link(format!("/proc/{process}/exe")).ok();
    program(&process.to_string()) != program("self")
}

fn held(process: u32) -> Held {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let field = |name: &str| -> u64 {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        let number = line.trim_start_matches(':').split_whitespace().next();
        number.and_then(|number| number.parse().ok()).unwrap_or_default()
    };
    let descriptors = fs::read_dir(format!("/proc/{process}/fd")).map_or(0, Iterator::count);
    Held {
        resident_bytes: field("VmHWM") * 1_024,
        threads: field("Threads"),
        descriptors: descriptors as u64,
    }
}
