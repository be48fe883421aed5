//! Namespaces made and entered for real. What takes a process with one thread is done in a child.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use std::os::fd::{AsFd as _, AsRawFd as _};

use super::*;

/// A network of our own; none where this user may not have one.
fn network() -> Option<Network> {
    Network::create().map_err(|error| println!("skipped, because we {error}")).ok()
}

#[test]
fn a_new_network_is_another_and_we_stay_where_we_are() {
    let Some(new) = network() else { return };
    let here = Network::current().expect("we are somewhere").identity().expect("it is open");
    assert_ne!(new.identity().expect("it is open"), here);
    assert_eq!(Network::current().expect("still").identity().expect("it is open"), here);
}

#[test]
fn what_is_done_in_a_network_sees_that_network() {
    let Some(new) = network() else { return };
    let seen = new.run(|| {
        let devices = std::fs::read_to_string("/proc/thread-self/net/dev").expect("proc(5)");
        (Network::current().and_then(|here| here.identity()).expect("it is open"), devices)
    });
    let (identity, devices) = seen.expect("we made it");
    assert_eq!(identity, new.identity().expect("it is open"));
    // Two lines of titles, and the loopback device.
    assert_eq!(devices.lines().count(), 3, "{devices}");
}

#[test]
fn a_panic_within_is_a_panic_without() {
    let Some(new) = network() else { return };
    let outcome = std::panic::catch_unwind(|| new.run(|| panic!("on purpose")));
    assert!(outcome.is_err());
}

#[test]
fn a_network_is_found_by_who_holds_it() {
    let Some(new) = network() else { return };
    let us = std::process::id();
    let found = Network::held_by(us, new.as_fd().as_raw_fd()).expect("we hold it");
    assert_eq!(found.identity().expect("open"), new.identity().expect("open"));
    let error = Network::held_by(us, 100_000).expect_err("we hold no such descriptor");
    assert!(error.to_string().contains("a process that lives and holds it"), "{error}");
    assert!(error.remedy().is_some());
}

#[test]
fn what_is_no_network_is_not_entered() {
    let file = std::fs::File::open("/dev/null").expect("every system has it");
    let error = Network::from(std::os::fd::OwnedFd::from(file)).enter().expect_err("no namespace");
    assert!(error.to_string().starts_with("cannot enter a network namespace: "), "{error}");
}

#[test]
fn a_process_with_threads_cannot_become_root_and_says_so() {
    let error = become_root().expect_err("the harness has threads").to_string();
    assert!(error.contains("one thread") || error.contains("user namespaces"), "{error}");
}

#[test]
fn our_own_user_namespace_needs_no_entering() {
    assert!(!enter_user_namespace(std::process::id()).expect("we are in it"));
    let error = enter_user_namespace(u32::MAX).expect_err("there is no such process");
    assert!(error.to_string().contains("a process that lives"), "{error}");
}

#[test]
fn a_name_and_mounts_of_our_own_are_seen_by_nobody_else() {
    if network().is_none() {
        return;
    }
    let before = (host_name(), read("/etc/hosts"));
    let shown = std::env::temp_dir().join(format!("pathscope-hosts-{}", std::process::id()));
    std::fs::write(&shown, "192.0.2.4 h4\n").expect("a folder to write in");
    let inside = std::thread::spawn({
        let shown = shown.clone();
        move || {
            rename_host("h4").expect("we may");
            separate_mounts().expect("we may");
            cover_file(&shown, Path::new("/etc/hosts")).expect("both are there");
            let missing =
                cover_file(&shown, Path::new("/no/such/file")).expect_err("it is missing");
            (host_name(), read("/etc/hosts"), missing.to_string())
        }
    });
    let (name, hosts, missing) = inside.join().expect("no panic");
    std::fs::remove_file(&shown).expect("it is ours");
    assert_eq!((name.as_str(), hosts.as_str()), ("h4", "192.0.2.4 h4\n"));
    assert!(missing.contains("two files that exist"), "{missing}");
    assert_eq!((host_name(), read("/etc/hosts")), before);
}

#[test]
fn a_fresh_sysfs_shows_the_devices_of_the_network() {
    let Some(new) = network() else { return };
    let devices = new.run(|| {
        separate_mounts().expect("we may");
        mount_sysfs().map(|()| {
            let entries = std::fs::read_dir("/sys/class/net").expect("sysfs(5)");
            entries.map(|entry| entry.expect("readable").file_name()).collect::<Vec<_>>()
        })
    });
    match devices.expect("we made it") {
        Ok(devices) => assert!(devices.iter().all(|name| name != "eth0"), "{devices:?}"),
        Err(refusal) => println!("skipped, because we {refusal}"),
    }
}

#[test]
fn a_name_that_is_too_long_is_a_sentence() {
    if network().is_none() {
        return;
    }
    let renamed = std::thread::spawn(|| rename_host(&"x".repeat(65))).join().expect("no panic");
    let error = renamed.expect_err("too long").to_string();
    assert!(error.contains("at most 64 bytes"), "{error}");
}

/// A child that is root of a user namespace of its own and waits for the end of its input.
fn root_without_privileges() -> Option<std::process::Child> {
    let mut command = Command::new("sh");
    command.args(["-c", "id -u; unshare -n true && echo may; cat"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let prepare = || become_root().map_err(|error| std::io::Error::other(error.to_string()));
    // SAFETY: the child of fork has one thread and only writes three files before it becomes another
    // program; the C library makes its allocator usable after a fork.
    unsafe { command.pre_exec(prepare) };
    command.spawn().map_err(|error| println!("skipped, because of {error}")).ok()
}

#[test]
fn whoever_becomes_root_may_make_networks() {
    let Some(child) = root_without_privileges() else { return };
    let output = child.wait_with_output().expect("it ends with its input");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "0\nmay\n");
}

#[test]
fn the_user_namespace_of_another_process_is_entered() {
    let Some(holder) = root_without_privileges() else { return };
    let process = holder.id();
    let mut command = Command::new("readlink");
    command.arg("/proc/self/ns/user").stdin(Stdio::null());
    let prepare = move || match enter_user_namespace(process) {
        Ok(true) => Ok(()),
        other => Err(std::io::Error::other(format!("{other:?}"))),
    };
    // SAFETY: as above; it only looks at two files and changes its own namespace.
    unsafe { command.pre_exec(prepare) };
    let output = command.output().expect("it enters");
    let expected = std::fs::read_link(format!("/proc/{process}/ns/user")).expect("it lives");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), expected.to_string_lossy());
    holder.wait_with_output().expect("it ends with its input");
}

fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}
