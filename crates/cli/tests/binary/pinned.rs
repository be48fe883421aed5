//! Workers run on the processors that were named for them, and on no other: as the system tells of each of their threads while they run.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use crate::common::{Running, Server, pathscope};
use crate::tables;

/// Where each thread of a process may run whose name begins so, by name.
fn kept_on(process: u32, start: &str) -> BTreeMap<String, String> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).expect("it runs");
    let of_thread = |task: fs::DirEntry| {
        let name = fs::read_to_string(task.path().join("comm")).ok()?;
        let status = fs::read_to_string(task.path().join("status")).ok()?;
        let may = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
        Some((name.trim().to_owned(), may.trim().to_owned()))
    };
    let threads = tasks.filter_map(|task| of_thread(task.ok()?));
    threads.filter(|(name, _)| name.starts_with(start)).collect()
}

/// Two processors, where this process may use as many: else no worker could be elsewhere.
#[expect(clippy::print_stdout, reason = "a test that cannot run says why")]
fn two_processors() -> Option<[u32; 2]> {
    let allowed = pathscope_os::cpus::allowed();
    let two = allowed.get(..2).and_then(|two| two.try_into().ok());
    if two.is_none() {
        println!("skipped, because this process may use the processors {allowed:?} alone");
    }
    two
}

/// A transfer whose two workers at each end are kept on these, the other way round at the server. It runs until it is told to stop.
fn transfer([one, other]: [u32; 2], words: &[&str]) -> Command {
    let (here, there) = (format!("{one},{other}"), format!("{other},{one}"));
    let common = ["-t", "600s", "--rate", "10kbit", "--no-probe", "--report-every", "200ms"];
    let kept = ["--json-stream", "--cpu", &here, "--server-cpu", &there];
    pathscope(&[&["goodput"], words, &common[..], &kept].concat())
}

/// The threads of these names are kept on these processors, each on one.
fn are_kept(process: u32, names: [&str; 2], cpus: [u32; 2]) {
    let kept = |(name, cpu): (&str, u32)| (name.to_owned(), cpu.to_string());
    let expected: BTreeMap<String, String> = names.into_iter().zip(cpus).map(kept).collect();
    let (start, _) = names[0].split_once('-').expect("a name and a number");
    assert_eq!(kept_on(process, start), expected);
}

#[test]
fn each_worker_runs_on_the_processor_that_was_named_for_it() {
    let Some([one, other]) = two_processors() else { return };
    let server = Server::start();
    let mut client = Running::start(transfer([one, other], &[&server.host(), "-c", "4"]));
    client.await_stdout("\"interval\"");
    let names = ["flows-0", "flows-1"];
    are_kept(client.id(), names, [one, other]);
    are_kept(server.running.id(), names, [other, one]);
    client.signal("INT");
    client.finish().exits(130);
}

#[test]
fn each_that_has_a_table_of_descriptors_to_itself_does_so_too() {
    let Some([one, other]) = two_processors() else { return };
    let server = tables::server();
    if !tables::has_some(&server) {
        return;
    }
    let words = [&server.host(), "-c", "1500"];
    let mut client = Running::start(tables::limited(&transfer([one, other], &words), &[]));
    client.await_stdout("\"interval\"");
    let names = ["holds-0", "holds-750"];
    are_kept(client.id(), names, [one, other]);
    are_kept(server.running.id(), names, [other, one]);
    client.signal("INT");
    client.finish().exits(130);
}
