//! Taking a lab down: the programs that still run on its nodes, its keeper, what is written of it.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use pathscope_core::Tick;
use pathscope_os::clock;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use super::{Registry, Request, Standing, StandingError, TOKEN_VARIABLE, ask};

/// How long a program may take to end itself before it is ended.
const COURTESY_NS: u64 = 2_000_000_000;
/// How long the kernel may take to end it then.
const LAST_NS: u64 = 5_000_000_000;

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

/// Ends every process on a node of this lab but this one and the keeper: asks first, then kills.
///
/// While the keeper lives, a process is on a node where it is in its namespace. Afterwards a namespace's
/// number may be another's, so a process must carry the lab's token, too.
pub fn end_programs(standing: &Standing, keeper_lives: bool) -> Left {
    let find = || programs(standing, keeper_lives);
    let before = find();
    if before.is_empty() {
        return Left::default();
    }
    signal(&before, Signal::TERM);
    let unwilling = wait_for_none(&find, COURTESY_NS);
    if unwilling.is_empty() {
        return Left { ended: before.len(), ..Left::default() };
    }
    signal(&unwilling, Signal::KILL);
    let stuck = wait_for_none(&find, LAST_NS).len();
    Left {
        ended: before.len().saturating_sub(unwilling.len()),
        killed: unwilling.len().saturating_sub(stuck),
        stuck,
    }
}

/// Takes a lab down: by its keeper, or without where that is gone. Returns whether the keeper lived.
pub fn down(registry: &Registry, standing: &Standing) -> Result<bool, StandingError> {
    match ask(registry, standing, &Request::Down) {
        Ok(_) => Ok(true),
        Err(error @ StandingError::Refused(_)) => Err(error),
        // It is gone, or hangs: then the lab is cleared without it.
        Err(_) => {
            let cleared = clear(registry, standing, false);
            end_keeper(standing);
            cleared.map(|()| false)
        }
    }
}

/// Ends the programs on a lab's nodes, and forgets the lab: from then on its name is free. To be called
/// once for each lab, since the name may be another's afterwards.
pub(crate) fn clear(
    registry: &Registry,
    standing: &Standing,
    keeper_lives: bool,
) -> Result<(), StandingError> {
    let left = end_programs(standing, keeper_lives);
    registry.remove(&standing.name)?;
    match left.stuck {
        0 => Ok(()),
        stuck => Err(StandingError::Refused(format!(
            "{stuck} programs on the nodes of lab {} do not end even when killed; it is gone once they \
             are",
            standing.name
        ))),
    }
}

/// Ends a keeper that does not answer. Its number may be another's by now: a keeper holds the lab's
/// namespaces by the descriptors that are written down.
fn end_keeper(standing: &Standing) {
    let holds = standing.nodes.first().is_some_and(|node| {
        fs::metadata(format!("/proc/{}/fd/{}", standing.keeper, node.descriptor))
            .is_ok_and(|found| (found.dev(), found.ino()) == (node.device, node.inode))
    });
    let process = i32::try_from(standing.keeper).ok().and_then(Pid::from_raw);
    if let (true, Some(process)) = (holds, process) {
        // One that has ended meanwhile needs none.
        let _ = kill_process(process, Signal::KILL);
    }
}

fn signal(processes: &[Pid], signal: Signal) {
    for process in processes {
        // One that has ended meanwhile needs none.
        let _ = kill_process(*process, signal);
    }
}

fn wait_for_none(find: &impl Fn() -> Vec<Pid>, patience_ns: u64) -> Vec<Pid> {
    let end: Tick = clock::now().plus_nanos(patience_ns);
    loop {
        let left = find();
        if left.is_empty() || clock::now() >= end {
            return left;
        }
        wait_for_an_end(&left, end.nanos_since(clock::now()));
    }
}

/// Waits until one of these processes ends, or so long.
fn wait_for_an_end(processes: &[Pid], patience_ns: u64) {
    let opened: Result<Vec<_>, _> =
        processes.iter().map(|process| pidfd_open(*process, PidfdFlags::empty())).collect();
    // One that cannot be opened has ended already.
    let Ok(opened) = opened else { return };
    let mut ends: Vec<_> = opened.iter().map(|end| PollFd::new(end, PollFlags::IN)).collect();
    let patience = Timespec {
        tv_sec: (patience_ns / 1_000_000_000) as i64,
        tv_nsec: (patience_ns % 1_000_000_000) as i64,
    };
    // A signal ends the wait early: then somebody looks again.
    let _ = poll(&mut ends, Some(&patience));
}

/// The processes on the lab's nodes.
fn programs(standing: &Standing, keeper_lives: bool) -> Vec<Pid> {
    let own = std::process::id();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|&process| process != own && process != standing.keeper)
        .filter(|&process| is_on_node(standing, process))
        .filter(|&process| keeper_lives || carries_token(standing, process))
        .filter(|&process| !has_ended(process))
        .filter_map(|process| Pid::from_raw(i32::try_from(process).ok()?))
        .collect()
}

fn is_on_node(standing: &Standing, process: u32) -> bool {
    // Also false where we may not look: then it is not ours.
    fs::metadata(format!("/proc/{process}/ns/net")).is_ok_and(|found| {
        standing.nodes.iter().any(|node| (node.device, node.inode) == (found.dev(), found.ino()))
    })
}

fn carries_token(standing: &Standing, process: u32) -> bool {
    let wanted = format!("{TOKEN_VARIABLE}={}", standing.token);
    fs::read(format!("/proc/{process}/environ"))
        .is_ok_and(|found| found.split(|&byte| byte == 0).any(|word| word == wanted.as_bytes()))
}

/// Whether only its exit code is left of it, for its parent.
fn has_ended(process: u32) -> bool {
    let state = |text: &str| text.rsplit(") ").next().and_then(|rest| rest.chars().next());
    fs::read_to_string(format!("/proc/{process}/stat"))
        .map_or(true, |text| matches!(state(&text), Some('Z' | 'X')))
}
