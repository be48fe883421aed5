//! A lab as a value: up when it is made, gone when it is dropped, also by a panic or a kill.
//!
//! The keeper is a process of the binary that is given; its standard input is a pipe of ours, so that it
//! ends when we do, however that comes about.

use std::ffi::OsStr;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use pathscope_core::error::Failure;

use crate::keeper::{Brief, KeeperMessage, STAY};
use crate::relay::{Counters, RelayAccount};
use crate::running::{
    Answer, Registry, Request, RunningLab, RunningLabError, SetOrder, Shaper, ask,
};
use crate::topology::Network;

/// A lab that is up.
#[derive(Debug)]
pub struct Lab {
    binary: PathBuf,
    registry: Registry,
    running: RunningLab,
    keeper: Child,
    /// Its end is the keeper's, unless it was told to stay.
    leash: Option<ChildStdin>,
}

/// Why a lab is not up.
#[derive(Debug, thiserror::Error)]
pub enum UpError {
    /// The keeper did not start.
    #[error("cannot start the lab's keeper: {0}")]
    Start(io::Error),
    /// It ended without a word.
    #[error("the lab's keeper ended before it said whether the lab is up ({0})")]
    Silent(String),
    /// It says why not.
    #[error("{0}")]
    Failed(String),
    /// About labs that are up.
    #[error(transparent)]
    RunningLab(#[from] RunningLabError),
}

/// What to put up, and how.
#[derive(Clone, Debug)]
pub struct Plan<'plan> {
    /// A pathscope binary: it is the keeper, and enters nodes.
    pub binary: &'plan Path,
    /// Where the lab is written down.
    pub registry: &'plan Registry,
    /// What it is called.
    pub name: &'plan str,
    /// What it looks like.
    pub network: &'plan Network,
    /// What its links' chances are drawn from; else what the topology says, else at random.
    pub seed: Option<u64>,
    /// Who applies its links' conditions.
    pub shaper: Shaper,
}

impl Lab {
    /// Puts a lab up. Once it returns, every node answers.
    pub fn up(plan: &Plan<'_>) -> Result<Self, UpError> {
        let Plan { binary, registry, name, network, seed, shaper } = plan.clone();
        let mut keeper = Command::new(binary)
            .args(["lab", "keep"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(UpError::Start)?;
        let brief = Brief {
            registry: registry.root().to_owned(),
            name: name.to_owned(),
            network: network.clone(),
            seed,
            shaper,
        };
        let heard = converse(&mut keeper, &brief);
        let (leash, word) = match heard {
            Ok(heard) => heard,
            Err(error) => {
                // Its input is closed by now, so it ends by itself.
                let ended =
                    keeper.wait().map_or_else(|error| error.to_string(), |it| it.to_string());
                return Err(UpError::Silent(format!("{error}; {ended}")));
            }
        };
        match word {
            KeeperMessage::Ready(running) => Ok(Self {
                binary: binary.to_owned(),
                registry: registry.clone(),
                running: *running,
                keeper,
                leash: Some(leash),
            }),
            KeeperMessage::NameInUse(name) => {
                see_off(keeper, leash);
                Err(RunningLabError::NameInUse { name }.into())
            }
            KeeperMessage::Failed(why) => {
                see_off(keeper, leash);
                Err(UpError::Failed(why))
            }
        }
    }

    /// Lets the lab stand when this process ends.
    pub fn stay(mut self) -> Result<RunningLab, UpError> {
        let mut leash = self.leash.take();
        if let Some(leash) = &mut leash {
            writeln!(leash, "{STAY}").map_err(UpError::Start)?;
        }
        Ok(self.running.clone())
    }

    /// What has to be known to use it.
    pub fn running(&self) -> &RunningLab {
        &self.running
    }

    /// A program that is to run on a node, as a process of its own.
    pub fn command(&self, node: &str, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(["lab", "--registry"]).arg(self.registry.root());
        command.args(["exec", "--lab", &self.running.name, node, "--"]).arg(program);
        command
    }

    /// What the relay did to every frame so far.
    pub fn account(&self) -> Result<RelayAccount, RunningLabError> {
        account(&self.registry, &self.running)
    }

    /// What the interfaces at the ends of relayed links have counted so far, and what the relay has.
    pub fn counters(&self) -> Result<Counters, RunningLabError> {
        match ask(&self.registry, &self.running, &Request::Counters)? {
            Answer::Counters(counters) => Ok(*counters),
            Answer::Done | Answer::Account(_) | Answer::Refused(_) => {
                Err(RunningLabError::Refused(
                    "the keeper answered something else than the counters".to_owned(),
                ))
            }
        }
    }

    /// Has links do something.
    pub fn set(&self, orders: Vec<SetOrder>) -> Result<(), RunningLabError> {
        ask(&self.registry, &self.running, &Request::Set(orders)).map(drop)
    }
}

/// A capture at work. Dropping it ends it.
#[derive(Debug)]
pub struct Capturing {
    child: Child,
    said: Option<BufReader<ChildStderr>>,
}

/// Why not all that passed is in a file.
#[derive(Debug, thiserror::Error)]
pub enum CapturingError {
    /// It came faster than it was taken: the buffers that this user may have are too small for that.
    #[error("{0}")]
    Missed(String),
    /// The capture failed.
    #[error("{0}")]
    Failed(String),
}

impl CapturingError {
    fn failed(error: &io::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

impl Lab {
    /// Begins to capture at the end of a link that its name says first: `a:b` at a. Packets are in the file once it
    /// [ended](Capturing::end); what passes before it [is ready](Capturing::await_ready) may not be.
    pub fn capture(&self, link: &str, snap: u32, file: &Path) -> io::Result<Capturing> {
        let mut command = Command::new(&self.binary);
        command.args(["lab", "--registry"]).arg(self.registry.root());
        command.args(["capture", link, "--lab", &self.running.name]);
        command.args(["--snap", &snap.to_string(), "-o"]).arg(file);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let said = child.stderr.take().map(BufReader::new);
        Ok(Capturing { child, said })
    }
}

impl Capturing {
    /// Waits until packets are captured.
    pub fn await_ready(&mut self) -> io::Result<()> {
        let mut line = String::new();
        if let Some(said) = &mut self.said {
            said.read_line(&mut line)?;
        }
        // Another line is why it does not begin.
        if line.starts_with("capturing") { Ok(()) } else { Err(io::Error::other(line)) }
    }

    /// Ends it. All that passed before is in the file; an error where that is not so.
    pub fn end(mut self) -> Result<(), CapturingError> {
        self.signal(Signal::INT);
        let mut complaint = String::new();
        if let Some(mut said) = self.said.take() {
            said.read_to_string(&mut complaint).map_err(|error| CapturingError::failed(&error))?;
        }
        let ended = self.child.wait().map_err(|error| CapturingError::failed(&error))?;
        let complaint = complaint.trim().to_owned();
        match ended.code() {
            Some(0) => Ok(()),
            Some(code) if code == i32::from(Failure::Check.exit_code()) => {
                Err(CapturingError::Missed(complaint))
            }
            _ => Err(CapturingError::Failed(complaint)),
        }
    }

    fn signal(&self, signal: Signal) {
        if let Some(process) = Pid::from_raw(self.child.id() as i32) {
            // One that has ended is ours until we have waited for it, so its number is nobody else's.
            let _ = kill_process(process, signal);
        }
    }
}

impl Drop for Capturing {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            self.signal(Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        // A lab that was told to stay has no leash any more.
        if self.leash.is_some() {
            // One that cannot be asked ends when its input does.
            let _ = ask(&self.registry, &self.running, &Request::Down);
            self.leash = None;
            let _ = self.keeper.wait();
        }
    }
}

/// What the relay of a lab did to every frame so far.
pub fn account(registry: &Registry, running: &RunningLab) -> Result<RelayAccount, RunningLabError> {
    match ask(registry, running, &Request::Account)? {
        Answer::Account(account) => Ok(*account),
        Answer::Done | Answer::Counters(_) | Answer::Refused(_) => Err(RunningLabError::Refused(
            "the keeper answered something else than the account".to_owned(),
        )),
    }
}

/// Waits for the end of a keeper that has said why there is no lab; how it ends adds nothing.
fn see_off(mut keeper: Child, leash: ChildStdin) {
    drop(leash);
    let _ = keeper.wait();
}

fn converse(keeper: &mut Child, brief: &Brief) -> io::Result<(ChildStdin, KeeperMessage)> {
    let missing = || io::Error::other("it has no pipes");
    let mut leash = keeper.stdin.take().ok_or_else(missing)?;
    let output = keeper.stdout.take().ok_or_else(missing)?;
    let mut line = serde_json::to_vec(brief)?;
    line.push(b'\n');
    leash.write_all(&line)?;
    let mut said = String::new();
    BufReader::new(output).read_line(&mut said)?;
    Ok((leash, serde_json::from_str(&said)?))
}
