//! Whether the engine is possible here, and what to do where it is not.

#[cfg(test)]
#[expect(unsafe_code, reason = "a filter of system calls is a pointer to a program")]
mod tests;

use std::sync::OnceLock;
use std::{fs, io};

use io_uring::{Probe, opcode};
use rustix::io::Errno;

use super::ring::Ring;
use super::rooms::Rooms;
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
    static FOUND: OnceLock<Result<(), String>> = OnceLock::new();
    FOUND.get_or_init(find_out).clone()
}

fn find_out() -> Result<(), String> {
    look().map_err(|why| {
        format!(
            "the {NAME} engine is not possible on this machine: {why}, or choose --engine epoll"
        )
    })
}

fn look() -> Result<(), String> {
    let ring = Ring::new(1).map_err(|error| {
        let switch = fs::read_to_string(SWITCH).unwrap_or_default();
        why_no_ring(&error, switch.trim())
    })?;
    let too_old =
        |lacks: &str| format!("this kernel's io_uring lacks {lacks}; boot Linux 6.1 or later");
    if !ring.has_what_it_takes() {
        return Err(too_old("EXT_ARG or NODROP"));
    }
    let mut probe = Probe::new();
    ring.submitter().register_probe(&mut probe).map_err(|_| too_old("REGISTER_PROBE"))?;
    if let Some((_, name)) = OPERATIONS.iter().find(|(code, _)| !probe.is_supported(*code)) {
        return Err(too_old(name));
    }
    match Rooms::new(&ring, 1) {
        Ok(rooms) => {
            drop(ring);
            drop(rooms);
            Ok(())
        }
        Err(_) => Err(too_old("REGISTER_PBUF_RING")),
    }
}

/// Why a ring could not be set up where the switch stands so, and what would allow it.
fn why_no_ring(error: &io::Error, switch: &str) -> String {
    match (Errno::from_io_error(error), switch) {
        (Some(Errno::PERM), "2") => "kernel.io_uring_disabled is 2, which forbids io_uring to everybody; set it to 0 \
                                     (sysctl -w kernel.io_uring_disabled=0)"
            .to_owned(),
        (Some(Errno::PERM), "1") => "kernel.io_uring_disabled is 1, which forbids io_uring to all but root and the group of \
                                     kernel.io_uring_group; run in that group, or set it to 0"
            .to_owned(),
        (Some(Errno::PERM | Errno::ACCESS), _) => "a filter forbids io_uring_setup (seccomp, as containers have it; or a security module); \
                                   allow io_uring_setup, io_uring_enter and io_uring_register there"
            .to_owned(),
        (Some(Errno::NOSYS), _) => "this kernel has no io_uring, or a filter hides it (seccomp, gVisor); boot Linux 6.1 or later"
            .to_owned(),
        (Some(Errno::NOMEM), _) => "there is no memory for its queues, or none that may be locked (ulimit -l); raise that".to_owned(),
        (Some(Errno::MFILE | Errno::NFILE), _) => {
            "no descriptor is left for it (ulimit -n); raise that".to_owned()
        }
        (Some(Errno::INVAL), _) => {
            "this kernel's io_uring lacks DEFER_TASKRUN; boot Linux 6.1 or later".to_owned()
        }
        _ => format!("io_uring_setup failed: {error}"),
    }
}
