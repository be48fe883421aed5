//! Tests of `probe`: what forbids the engine is named with its remedy.

use std::io;
use std::thread;

use super::*;

/// One of a program of the kernel's filter: what to do, with what, and how far to go on where it is so and where it is not.
fn step(code: u32, number: u32, then: u8, otherwise: u8) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt: then, jf: otherwise, k: number }
}

/// From now on this call fails with this error, for this thread alone.
fn forbid(call: libc::c_long, errno: Errno) -> io::Result<()> {
    let fails = libc::SECCOMP_RET_ERRNO | errno.raw_os_error() as u32;
    let mut program = [
        // The call's number.
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, call as u32, 0, 1),
        step(libc::BPF_RET | libc::BPF_K, fails, 0, 0),
        step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0, 0),
    ];
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    rustix::thread::set_no_new_privs(true)?;
    // SAFETY: the filter points to a program of the length beside it, which the kernel copies.
    let status =
        unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter) };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Whether this machine has rings that could be forbidden.
fn has_rings() -> bool {
    let switch = fs::read_to_string(SWITCH).unwrap_or_default();
    let has_rings = matches!(switch.trim(), "" | "0") && available().is_ok();
    if !has_rings {
        println!("skipped, because this machine has no rings that could be forbidden");
    }
    has_rings
}

#[test]
fn a_filter_of_system_calls_is_recognised() {
    if !has_rings() {
        return;
    }
    for (call, errno, words) in [
        (libc::SYS_io_uring_setup, Errno::PERM, "a filter forbids io_uring_setup (seccomp"),
        (libc::SYS_io_uring_setup, Errno::NOSYS, "or a filter hides it (seccomp"),
        (libc::SYS_io_uring_enter, Errno::PERM, "a filter forbids io_uring_enter (seccomp"),
        (libc::SYS_io_uring_register, Errno::ACCESS, "a filter forbids io_uring_register (seccomp"),
    ] {
        let found =
            thread::spawn(move || forbid(call, errno).map(|()| find_out(Path::new(SWITCH))));
        match found.join().expect("no panic") {
            Err(error) => println!("skipped, because this thread may not be filtered: {error}"),
            Ok(found) => {
                let why = found.expect_err("it is forbidden");
                assert!(why.contains(words) && why.contains("--engine epoll"), "{why}");
            }
        }
    }
}

/// A machine whose switch stands so: its kernel refuses as this filter does.
#[test]
fn the_switch_that_forbids_is_named_as_it_stands() {
    let folder = std::env::temp_dir().join(format!("pathscope-switch-{}", std::process::id()));
    fs::create_dir(&folder).expect("nobody has it yet");
    for (switch, words) in [
        ("2\n", "kernel.io_uring_disabled is 2, which forbids io_uring to everybody; set it to 0"),
        ("1\n", "forbids io_uring to all but root and the group of kernel.io_uring_group; run in"),
        ("0\n", "a filter forbids io_uring_setup (seccomp"),
    ] {
        let file = folder.join("io_uring_disabled");
        fs::write(&file, switch).expect("there is room");
        let found = thread::spawn(move || {
            forbid(libc::SYS_io_uring_setup, Errno::PERM).map(|()| find_out(&file))
        });
        match found.join().expect("no panic") {
            Err(error) => println!("skipped, because this thread may not be filtered: {error}"),
            Ok(found) => {
                let why = found.expect_err("it is forbidden");
                let begin = "the uring engine is not possible on this machine: ";
                assert!(why.starts_with(begin) && why.contains(words), "{switch}: {why}");
                assert!(why.ends_with(", or choose --engine epoll"), "{why}");
            }
        }
    }
    fs::remove_dir_all(&folder).expect("it is ours");
}

#[test]
fn each_reason_has_its_remedy() {
    for (errno, switch, remedy) in [
        (Errno::PERM, "2", "sysctl -w kernel.io_uring_disabled=0"),
        (Errno::PERM, "1", "kernel.io_uring_group"),
        (Errno::PERM, "0", "allow io_uring_setup"),
        (Errno::PERM, "", "allow io_uring_setup"),
        (Errno::NOSYS, "", "Linux 6.1"),
        (Errno::INVAL, "0", "Linux 6.1"),
        (Errno::NOMEM, "0", "ulimit -l"),
        (Errno::MFILE, "0", "ulimit -n"),
    ] {
        let why = why_no_ring(&errno.into(), switch);
        assert!(why.contains(remedy), "{errno:?} {switch}: {why}");
    }
}
