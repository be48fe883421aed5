//! What a machine's other users do to a test, for as long as a value lives: programs that keep a processor busy, and somebody who
//! stops a process again and again.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use rustix::process::{Pid, Signal, kill_process};

use crate::ends::now;

/// As many as go before a thread of ordinary rank.
const LOOPS: usize = 3;
/// The first of all.
const RANK: &str = "-20";
/// Processor time, in seconds, after which a busy program ends by itself, whatever became of us.
const AT_MOST_SECONDS: u32 = 20;

/// Why no program can go before others, where none can. Who may not do this is told by `nice`, and the program runs all the same, at
/// the rank of others.
pub fn no_rank() -> Option<String> {
    let said = Command::new("nice").args(["-n", RANK, "nice"]).output();
    match said {
        Ok(said) if String::from_utf8_lossy(&said.stdout).trim() == RANK => None,
        Ok(_) => Some("no program can go before others: it takes root".to_owned()),
        Err(error) => Some(format!("nice cannot be run: {error}")),
    }
}

/// Programs that do nothing, as fast as they can, on one processor.
#[derive(Debug)]
pub struct BusyPrograms(Vec<Child>);

impl BusyPrograms {
    pub fn on(processor: u32) -> Result<Self> {
        let mut all = Self(Vec::new());
        let script = format!("ulimit -t {AT_MOST_SECONDS}; while :; do :; done");
        for _ in 0..LOOPS {
            let mut command = Command::new("setpriv");
            command.args(["--pdeathsig", "KILL", "taskset", "-c", &processor.to_string()]);
            command.args(["nice", "-n", RANK, "sh", "-c", &script]);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            all.0.push(command.spawn().context("run a busy program: setpriv, taskset, nice, sh")?);
        }
        Ok(all)
    }
}

impl Drop for BusyPrograms {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // Already gone is as good as ended.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A process that is stopped again and again. Runs on when this is dropped.
#[derive(Debug)]
pub struct Stopped {
    process: Pid,
    is_stopped: bool,
    next: Instant,
}

impl Stopped {
    const RUNS: Duration = Duration::from_millis(600);
    const RESTS: Duration = Duration::from_millis(900);

    /// This process, which runs by now.
    pub fn process(id: u32) -> Result<Self> {
        let process = i32::try_from(id).ok().and_then(Pid::from_raw).context("name a process")?;
        Ok(Self { process, is_stopped: false, next: now() + Self::RUNS })
    }

    /// Stops it, or lets it run, where that is due.
    pub fn go_on(&mut self) {
        if now() < self.next {
            return;
        }
        self.is_stopped = !self.is_stopped;
        let (signal, lasts) =
            if self.is_stopped { (Signal::STOP, Self::RESTS) } else { (Signal::CONT, Self::RUNS) };
        // One that has ended needs no signal.
        let _ = kill_process(self.process, signal);
        self.next = now() + lasts;
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        // One that has ended needs no signal.
        let _ = kill_process(self.process, Signal::CONT);
    }
}
