//! Whether the engine is possible here, and what to do where it is not.

#[cfg(test)]
#[expect(unsafe_code, reason = "a filter of system calls is a pointer to a program")]
mod tests;

use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;
use std::{fs, io};

use io_uring::{Probe, opcode};
use rustix::io::Errno;

use super::ring::Ring;
use super::rooms::Rooms;
use crate::Trouble;
use crate::uring::NAME;

/// Who may have a ring: 0 all, 1 root and a group of users, 2 nobody.
const SWITCH: &str = "/proc/sys/kernel/io_uring_disabled";

/// The operations that the engine consists of, each with the name that it has in the kernel.
const OPERATIONS: [(u8, &str); 6] = [
    (opcode::Send::CODE, "SEND"),
    (opcode::SendMsg::CODE, "SENDMSG"),
    (opcode::Recv::CODE, "RECV"),
    (opcode::RecvMsg::CODE, "RECVMSG"),
    (opcode::PollAdd::CODE, "POLL_ADD"),
    (opcode::AsyncCancel2::CODE, "ASYNC_CANCEL"),
];

pub fn available() -> Result<(), String> {
    static IS_THERE: OnceLock<()> = OnceLock::new();
    if IS_THERE.get().is_none() {
        // What is in the way now need not be later.
        find_out(Path::new(SWITCH))?;
        IS_THERE.get_or_init(|| ());
    }
    Ok(())
}

/// Where the switch is in this file.
fn find_out(switch: &Path) -> Result<(), String> {
    look(switch).map_err(|why| {
        format!(
            "the {NAME} engine is not possible on this machine: {why}, or choose --engine epoll"
        )
    })
}

fn look(switch: &Path) -> Result<(), String> {
    let mut ring = Ring::new(1).map_err(|error| {
        let switch = fs::read_to_string(switch).unwrap_or_default();
        why_no_ring(&error, switch.trim())
    })?;
    if !ring.has_what_it_takes() {
        return Err(too_old("EXT_ARG or NODROP"));
    }
    if let Err(Trouble::Failed(errno)) = ring.sleep(Some(Duration::ZERO)) {
        return Err(why_not("io_uring_enter", "EXT_ARG", Errno::from_raw_os_error(errno)));
    }
    let not_registered = |what: &str, error: io::Error| {
        why_not("io_uring_register", what, Errno::from_io_error(&error).unwrap_or(Errno::INVAL))
    };
    let mut probe = Probe::new();
    let probed = ring.submitter().register_probe(&mut probe);
    probed.map_err(|error| not_registered("REGISTER_PROBE", error))?;
    if let Some((_, name)) = OPERATIONS.iter().find(|(code, _)| !probe.is_supported(*code)) {
        return Err(too_old(name));
    }
    let rooms =
        Rooms::new(&ring, 1).map_err(|error| not_registered("REGISTER_PBUF_RING", error))?;
    // The ring goes before the memory that it knows.
    drop(ring);
    drop(rooms);
    Ok(())
}

fn too_old(lacks: &str) -> String {
    format!("this kernel's io_uring lacks {lacks}; boot Linux 6.1 or later")
}

fn forbidden(call: &str) -> String {
    format!(
        "a filter forbids {call} (seccomp, as containers have it; or a security module); allow io_uring_setup, io_uring_enter and \
         io_uring_register there"
    )
}

/// Why a ring that is there cannot be used.
fn why_not(call: &str, lacks: &str, errno: Errno) -> String {
    match errno {
        Errno::PERM | Errno::ACCESS | Errno::NOSYS => forbidden(call),
        Errno::INVAL => too_old(lacks),
        errno => format!("{call} failed: {}", io::Error::from(errno)),
    }
}

/// Why a ring could not be set up where the switch stands so, and what would allow it.
fn why_no_ring(error: &io::Error, switch: &str) -> String {
    let why = match (Errno::from_io_error(error), switch) {
        (Some(Errno::PERM), "2") => {
            "kernel.io_uring_disabled is 2, which forbids io_uring to everybody; set it to 0 (sysctl -w kernel.io_uring_disabled=0)"
        }
        (Some(Errno::PERM), "1") => {
            "kernel.io_uring_disabled is 1, which forbids io_uring to all but root and the group of kernel.io_uring_group; run in that \
             group, or set it to 0"
        }
        (Some(Errno::PERM | Errno::ACCESS), _) => return forbidden("io_uring_setup"),
        (Some(Errno::NOSYS), _) => {
            "this kernel has no io_uring, or a filter hides it (seccomp, gVisor); boot Linux 6.1 or later, or allow it there"
        }
        (Some(Errno::NOMEM), _) => {
            "there is no memory for its queues, or none that may be locked (ulimit -l); raise that"
        }
        (Some(Errno::MFILE | Errno::NFILE), _) => {
            "no descriptor is left for it (ulimit -n); raise that"
        }
        (Some(Errno::INVAL), _) => return too_old("DEFER_TASKRUN"),
        _ => return format!("io_uring_setup failed: {error}"),
    };
    why.to_owned()
}
