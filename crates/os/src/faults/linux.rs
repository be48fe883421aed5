//! Linux: a filter of system calls (seccomp) that asks (`SECCOMP_RET_USER_NOTIF`, Linux 5.5). Whoever is started by a thread with a filter
//! has it as well.

use std::io;
use std::mem::{MaybeUninit, offset_of};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::path::Path;

use libc::{c_long, sock_filter, sock_fprog};
use rustix::event::{PollFd, PollFlags, poll};

use super::{Call, Errno};
use crate::OsError;

/// The most steps that a filter has.
const STEPS: usize = 16;

/// What the kernel asks by.
#[derive(Debug)]
pub struct Filter(OwnedFd);

/// A call that waits for what becomes of it.
#[derive(Debug)]
pub struct Asked {
    id: u64,
    thread: u32,
}

/// The numbers of such calls, and of which argument one of which bits has to be set.
const fn numbers(call: Call) -> (&'static [c_long], Option<(usize, u32)>) {
    match call {
        Call::Accept => (&[libc::SYS_accept4], None),
        Call::Bind => (&[libc::SYS_bind], None),
        Call::Connect => (&[libc::SYS_connect], None),
        // `F_DUPFD_CLOEXEC`, which has this bit; what gets and sets flags has not.
        Call::Duplicate => (&[libc::SYS_fcntl], Some((1, 1 << 10))),
        Call::MakePoller => (&[libc::SYS_epoll_create1], None),
        Call::MakeWaker => (&[libc::SYS_eventfd2], None),
        Call::MakeSocket => (&[libc::SYS_socket, libc::SYS_socketpair], None),
        Call::SetOption => (&[libc::SYS_setsockopt], None),
        Call::Begin => (&[libc::SYS_clone3, libc::SYS_clone], None),
        Call::Watch => (&[libc::SYS_epoll_ctl], None),
        Call::Send => (&[libc::SYS_sendto, libc::SYS_sendmsg, libc::SYS_sendmmsg], None),
    }
}

/// One step of a filter's program: what to do, with what, and how far to go on where it is so and where it is not.
fn step(code: u32, number: u32, then: usize, otherwise: usize) -> sock_filter {
    sock_filter { code: code as u16, jt: then as u8, jf: otherwise as u8, k: number }
}

/// Has the kernel ask of each such call of the calling thread, and of whoever it starts.
pub fn filter(call: Call) -> Result<Filter, OsError> {
    let failed = OsError::call::<io::Error>("filter the calls of a thread");
    let (numbers, bits) = numbers(call);
    let mut program = Vec::with_capacity(STEPS);
    let load =
        |offset: usize| step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset as u32, 0, 0);
    program.push(load(offset_of!(libc::seccomp_data, nr)));
    for (place, &number) in numbers.iter().enumerate() {
        // Past the others, and past the one that lets go on.
        let then = numbers.len() - place;
        let is = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
        program.push(step(is, number as u32, then, 0));
    }
    let lets_go_on = step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0, 0);
    program.push(lets_go_on);
    if let Some((argument, bits)) = bits {
        // The lower half of it, which comes first here.
        program.push(load(offset_of!(libc::seccomp_data, args) + argument * size_of::<u64>()));
        program.push(step(libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K, bits, 1, 0));
        program.push(lets_go_on);
    }
    program.push(step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_USER_NOTIF, 0, 0));
    let filter = sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    if let Err(error) = rustix::thread::set_no_new_privs(true) {
        return Err(failed(error.into()));
    }
    let (what, how) = (libc::SECCOMP_SET_MODE_FILTER, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER);
    // SAFETY: the filter points to a program of the length beside it, which the kernel copies.
    let descriptor = unsafe { libc::syscall(libc::SYS_seccomp, what, how, &raw const filter) };
    if descriptor < 0 {
        return Err(failed(io::Error::last_os_error()));
    }
    // SAFETY: the call has just opened it, and nobody else knows it.
    Ok(Filter(unsafe { OwnedFd::from_raw_fd(descriptor as RawFd) }))
}

/// Waits for the next call; an error once nobody is there any more that has this filter.
pub fn next(filter: &Filter) -> Result<Asked, OsError> {
    let failed = OsError::call::<io::Error>("hear of a call");
    loop {
        let mut ready = [PollFd::new(&filter.0, PollFlags::IN)];
        match poll(&mut ready, None) {
            Err(Errno::INTR) => continue,
            Err(error) => return Err(failed(error.into())),
            Ok(_) => {}
        }
        if !ready[0].revents().contains(PollFlags::IN) {
            return Err(failed(io::ErrorKind::BrokenPipe.into()));
        }
        // SAFETY: zeros are a value of it, and what the kernel wants to find.
        let mut asked: libc::seccomp_notif = unsafe { MaybeUninit::zeroed().assume_init() };
        let descriptor = filter.0.as_raw_fd();
        // SAFETY: the kernel writes no more than such a value, and it is there.
        let status =
            unsafe { libc::ioctl(descriptor, libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut asked) };
        // Whoever has made the call may be gone by now.
        if status == 0 {
            return Ok(Asked { id: asked.id, thread: asked.pid });
        }
    }
}

/// Whether it is a thread of this process that makes the call.
pub fn is_of_this_process(asked: &Asked) -> bool {
    Path::new(&format!("/proc/self/task/{}", asked.thread)).exists()
}

/// Has the call fail with this error, or go on as ever. Whoever has made it may be gone by now.
pub fn answer(filter: &Filter, asked: &Asked, error: Option<Errno>) {
    let answer = libc::seccomp_notif_resp {
        id: asked.id,
        val: 0,
        error: error.map_or(0, |errno| -errno.raw_os_error()),
        flags: if error.is_some() { 0 } else { libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32 },
    };
    let descriptor = filter.0.as_raw_fd();
    // SAFETY: the kernel reads such a value, and it is there.
    let _ = unsafe { libc::ioctl(descriptor, libc::SECCOMP_IOCTL_NOTIF_SEND, &raw const answer) };
}
