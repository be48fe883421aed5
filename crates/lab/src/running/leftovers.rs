//! Taking a lab down: the programs that still run on its nodes, its keeper, what is written of it.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_os::clock;
use pathscope_os::namespaces::Network as Namespace;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use super::control::ask_to_end;
use super::registry::{Hold, Holding};
use super::{Answer, Registry, RunningLab, RunningLabError, TOKEN_VARIABLE};
use crate::kernel::Kernel;

/// How long a program may take to end itself before it is ended.
const COURTESY_NS: u64 = 2_000_000_000;
/// How long the kernel may take to end it then.
const LAST_NS: u64 = 5_000_000_000;

/// Looks at `/proc`, a few milliseconds each. A program that forks and ends in less than that, again and
/// again, and heeds no request can still escape them all: only a control group would hold it.
const LOOKS: u32 = 6;

/// Programs that were there.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Left {
    /// Ended when asked.
    pub ended: usize,
    /// Had to be killed.
    pub killed: usize,
    /// Are still there: the kernel holds them in a call that does not end.
    pub stuck: usize,
}

/// What became of a lab that was taken down.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Down {
    /// Its keeper took it down, and ended.
    ByKeeper,
    /// Its keeper took it down, and its process still has not ended.
    Lingers,
    /// Its keeper was gone, or had to be killed; what was left is cleared.
    Cleared,
    /// Its keeper was gone, and what it had written is missing or cannot be read: the name is free, but
    /// programs on its nodes are not known.
    Forgotten,
}

/// What `lo` of every node is called besides, so that its network is known without its keeper.
pub(crate) fn mark(name: &str, token: &str) -> String {
    format!("pathscope:{name}:{token}")
}

/// Ends every program of this lab but this process and the keeper: asks first, then kills.
///
/// While the keeper lives, those are the processes in a node's namespace, and those elsewhere that carry
/// the lab's token. Afterwards a namespace's number may be another's, so that it must bear the lab's mark;
/// where that cannot be seen, as in the user namespace of a keeper that is gone, the token decides.
pub fn end_programs(running: &RunningLab, keeper_lives: bool) -> Left {
    let mut round = Round { running, keeper_lives, told: HashSet::new() };
    let unwilling = round.end(Signal::TERM, COURTESY_NS).len();
    let asked = round.told.len();
    if unwilling == 0 {
        return Left { ended: asked, ..Left::default() };
    }
    round.told.clear();
    let stuck = round.end(Signal::KILL, LAST_NS).len();
    let killed = round.told.len().saturating_sub(stuck);
    Left { ended: asked.saturating_sub(unwilling), killed, stuck }
}

/// A lab's programs, and those that were told to end.
struct Round<'running> {
    running: &'running RunningLab,
    keeper_lives: bool,
    told: HashSet<Pid>,
}

impl Round<'_> {
    /// Tells each program once, those that come meanwhile too, until none is left or time is up. Those
    /// that are left.
    fn end(&mut self, signal: Signal, patience_ns: u64) -> Vec<Pid> {
        let end: Tick = clock::now().plus_nanos(patience_ns);
        loop {
            let left = self.find();
            for &process in &left {
                if self.told.insert(process) {
                    // One that has ended meanwhile needs none.
                    let _ = kill_process(process, signal);
                }
            }
            if left.is_empty() || clock::now() >= end {
                return left;
            }
            wait_for_an_end(&left, end.nanos_since(clock::now()));
        }
    }

    /// One look at `/proc` misses a process that was forked behind its back by one that has ended since, or
    /// that becomes another program in that moment; so nothing is there only where several looks in a row
    /// find nothing.
    fn find(&self) -> Vec<Pid> {
        let mut looks = (0..LOOKS).map(|_| programs(self.running, self.keeper_lives));
        looks.find(|found| !found.is_empty()).unwrap_or_default()
    }
}

/// How long a keeper's process may take to end when its lab is down.
const FAREWELL: Duration = Duration::from_secs(20);
/// How long one may take that was killed, or that does not answer.
const KILLED: Duration = Duration::from_secs(20);

/// Takes a lab down: by its keeper, or without where that is gone. Returns once the keeper's process has
/// ended, within reason.
pub fn down(registry: &Registry, name: &str) -> Result<Down, RunningLabError> {
    let watch = match registry.hold(name)? {
        Holding::Missing => return Err(RunningLabError::NoLab),
        Holding::Ours(hold) => return clear_dead(registry, name, &hold),
        Holding::Others(watch) => watch,
    };
    let running = registry.read(name);
    if let Err(RunningLabError::Unfinished { .. }) = &running {
        return Err(RunningLabError::BeingBuilt { name: name.to_owned() });
    }
    // Opened while it certainly lives, since its number may be another's later.
    let process = running.as_ref().ok().and_then(keeper_process);
    let keeper = process.and_then(|process| pidfd_open(process, PidfdFlags::empty()).ok());
    let trouble = match ask_to_end(&registry.control(name)) {
        Ok(Answer::Refused(why)) => return Err(RunningLabError::Refused(why)),
        Ok(_) => {
            let is_gone = watch.wait_until_free(FAREWELL)
                && keeper.is_none_or(|keeper| wait_for_end(&keeper, FAREWELL));
            return Ok(if is_gone { Down::ByKeeper } else { Down::Lingers });
        }
        Err(trouble) => trouble,
    };
    // It is gone by now, or hangs: then the lab is cleared without it.
    if let Some(process) = process {
        // One that has ended meanwhile needs none.
        let _ = kill_process(process, Signal::KILL);
    }
    let is_free = watch.wait_until_free(KILLED);
    match registry.hold(name)? {
        Holding::Ours(hold) if is_free => clear_dead(registry, name, &hold),
        // It was taking the lab down already.
        Holding::Missing => Ok(Down::ByKeeper),
        _ => {
            let trouble = running.err().map_or(trouble, |error| error.to_string());
            Err(RunningLabError::Stubborn { name: name.to_owned(), trouble })
        }
    }
}

/// Clears what a dead keeper has left, and the name is free.
fn clear_dead(registry: &Registry, name: &str, hold: &Hold) -> Result<Down, RunningLabError> {
    // Read again, since it is certain only now that nobody writes it.
    let Ok(running) = registry.read(name) else {
        return hold.remove().map(|()| Down::Forgotten);
    };
    clear(hold, &running, false).map(|()| Down::Cleared)
}

/// Clears what a dead keeper of this name has left, and leaves the folder to whoever holds it.
pub(crate) fn clear_for_another(
    registry: &Registry,
    name: &str,
    hold: &Hold,
) -> Result<(), RunningLabError> {
    if let Ok(running) = registry.read(name) {
        unstuck(&running, end_programs(&running, false))?;
    }
    hold.empty()
}

/// Ends the programs on a lab's nodes, and forgets the lab: from then on its name is free.
fn clear(hold: &Hold, running: &RunningLab, keeper_lives: bool) -> Result<(), RunningLabError> {
    forget(hold, running, end_programs(running, keeper_lives))
}

/// Forgets a lab whose programs were ended: from then on its name is free.
pub(crate) fn forget(hold: &Hold, running: &RunningLab, left: Left) -> Result<(), RunningLabError> {
    hold.remove()?;
    unstuck(running, left)
}

fn unstuck(running: &RunningLab, left: Left) -> Result<(), RunningLabError> {
    match left.stuck {
        0 => Ok(()),
        stuck => Err(RunningLabError::Refused(format!(
            "{stuck} programs on the nodes of lab {} do not end even when killed; it is gone once they \
             are",
            running.name
        ))),
    }
}

/// The keeper, where its process lives. Its number may be another's by now: a keeper holds the lab's
/// namespaces by the descriptors that are written down.
fn keeper_process(running: &RunningLab) -> Option<Pid> {
    let node = running.nodes.first()?;
    let found = fs::metadata(format!("/proc/{}/fd/{}", running.keeper, node.descriptor)).ok()?;
    let holds = (found.dev(), found.ino()) == (node.device, node.inode);
    Pid::from_raw(i32::try_from(running.keeper).ok()?).filter(|_| holds)
}

/// Whether a process ends within this time.
fn wait_for_end(process: &OwnedFd, patience: Duration) -> bool {
    let end = clock::now().plus_nanos(patience.as_nanos() as u64);
    loop {
        let mut polled = [PollFd::new(process, PollFlags::IN)];
        let left = timespec(end.nanos_since(clock::now()));
        match poll(&mut polled, Some(&left)) {
            Ok(0) => return false,
            Ok(_) => return true,
            // A signal.
            Err(_) if clock::now() < end => {}
            Err(_) => return false,
        }
    }
}

fn timespec(nanos: u64) -> Timespec {
    Timespec { tv_sec: (nanos / 1_000_000_000) as i64, tv_nsec: (nanos % 1_000_000_000) as i64 }
}

/// Waits until one of these processes ends, or so long.
fn wait_for_an_end(processes: &[Pid], patience_ns: u64) {
    let opened: Result<Vec<_>, _> =
        processes.iter().map(|process| pidfd_open(*process, PidfdFlags::empty())).collect();
    // One that cannot be opened has ended already.
    let Ok(opened) = opened else { return };
    let mut ends: Vec<_> = opened.iter().map(|end| PollFd::new(end, PollFlags::IN)).collect();
    // A signal ends the wait early: then somebody looks again.
    let _ = poll(&mut ends, Some(&timespec(patience_ns)));
}

/// The lab's programs.
fn programs(running: &RunningLab, keeper_lives: bool) -> Vec<Pid> {
    let own = std::process::id();
    // A namespace of many programs is asked for its mark once.
    let mut marked = HashMap::new();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|&process| process != own && process != running.keeper)
        .filter(|&process| {
            carries_token(running, process)
                || node_of(running, process).is_some_and(|inode| {
                    keeper_lives
                        || *marked.entry(inode).or_insert_with(|| bears_mark(running, process))
                })
        })
        .filter(|&process| !has_ended(process))
        .filter_map(|process| Pid::from_raw(i32::try_from(process).ok()?))
        .collect()
}

/// The inode of the node that a process is on, if the number is still the node's.
fn node_of(running: &RunningLab, process: u32) -> Option<u64> {
    // None also where we may not look: then it is not ours.
    let found = fs::metadata(format!("/proc/{process}/ns/net")).ok()?;
    let is_it = |node: &super::NodePlace| (node.device, node.inode) == (found.dev(), found.ino());
    running.nodes.iter().any(is_it).then_some(found.ino())
}

/// Whether the network of a process is of this lab, and not one that got the number since. False where we
/// may not enter it.
fn bears_mark(running: &RunningLab, process: u32) -> bool {
    let Ok(file) = File::open(format!("/proc/{process}/ns/net")) else { return false };
    let namespace = Namespace::from(OwnedFd::from(file));
    let alias = Kernel::of(&namespace, "lo").and_then(|mut kernel| kernel.link("lo"));
    alias.is_ok_and(|lo| lo.alias == Some(mark(&running.name, &running.token)))
}

fn carries_token(running: &RunningLab, process: u32) -> bool {
    let wanted = format!("{TOKEN_VARIABLE}={}", running.token);
    fs::read(format!("/proc/{process}/environ"))
        .is_ok_and(|found| found.split(|&byte| byte == 0).any(|word| word == wanted.as_bytes()))
}

/// Whether it is not there, or only its exit code is left of it, for its parent.
pub(super) fn has_ended(process: u32) -> bool {
    let state = |text: &str| text.rsplit(") ").next().and_then(|rest| rest.chars().next());
    fs::read_to_string(format!("/proc/{process}/stat"))
        .map_or(true, |text| matches!(state(&text), Some('Z' | 'X')))
}
