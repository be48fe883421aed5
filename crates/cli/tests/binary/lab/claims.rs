//! Who has the name of a lab: one keeper at a time, from before it builds until its process has ended.

use std::fs::File;
use std::io::Write as _;
use std::process::{Command, Stdio};

use pathscope_lab::keeper::KeeperMessage;
use rustix::fs::{FlockOperation, flock};

use super::ends::{Keeper, a_large_star, has_ended, signal};
use super::{BINARY, Folder, PAIR, wait_until};
use crate::common::Running;

/// A lab's folder with nothing in it, as a keeper leaves it that was killed while it built.
fn abandoned(folder: &Folder) {
    let root = folder.registry.root();
    std::fs::create_dir_all(root.join("pair")).expect("a folder of ours");
}

/// Whether somebody holds the lab's folder: it is there a moment before.
fn is_held(folder: &Folder) -> bool {
    let open = File::open(folder.registry.root().join("pair"));
    open.is_ok_and(|it| flock(&it, FlockOperation::NonBlockingLockExclusive).is_err())
}

#[test]
fn of_two_that_are_put_up_at_once_one_is_up_and_the_other_is_told() {
    let Some(folder) = Folder::new() else { return };
    let file = folder.file("star.toml", &a_large_star());
    let start = || Running::start(folder.command(&["up", &file]));
    let ran = [start(), start()].map(Running::finish);
    let (up, refused): (Vec<_>, Vec<_>) = ran.into_iter().partition(|ran| ran.code == Some(0));
    let [refused] = <[_; 1]>::try_from(refused).expect("one is refused");
    refused.exits(2).complains(&["a lab by the name of pair is up already, or being built"]);
    assert_eq!(up.len(), 1);
    // The one that is up is there to be used.
    folder.run(&["exec", "h1", "--", "true"]).exits(0);
    let keeper = folder.registry.read("pair").expect("it is up").keeper;
    folder.run(&["down"]).exits(0).complains(&["lab pair is down"]);
    assert!(has_ended(keeper), "'down' waits for the keeper's process");
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn a_lab_that_is_being_built_is_not_taken_down_by_another() {
    let Some(folder) = Folder::new() else { return };
    let mut keeper = Keeper::start(&folder, &a_large_star());
    wait_until("the lab is begun", || is_held(&folder));
    // Stopped, so that it is being built for as long as we look.
    keeper.signal("STOP");
    let is_built = folder.registry.read("pair").is_ok();
    if !is_built {
        let ran = folder.run(&["down", "pair"]).exits(2);
        ran.complains(&["lab pair is being built", "Ctrl-C", "try again"]);
        let ran = folder.run(&["show"]).exits(2);
        ran.complains(&["lab pair is not up yet"]);
    }
    keeper.signal("CONT");
    keeper.running();
    if is_built {
        eprintln!("skipped, because this test had to wait until the lab was built");
    }
    folder.run(&["exec", "h1", "--", "true"]).exits(0);
}

#[test]
fn a_name_is_waited_for_while_its_keeper_ends() {
    let Some(folder) = Folder::new() else { return };
    let file = folder.file("pair.toml", PAIR);
    let mut old = Keeper::start(&folder, &a_large_star());
    let running = old.running();
    // It does not end when it is asked to, so that the keeper takes its two seconds.
    let script = "trap '' TERM; echo ready; while :; do sleep 1000; done";
    let mut program = Running::start(folder.command(&["exec", "h1", "--", "sh", "-c", script]));
    program.await_stdout("ready");
    old.signal("TERM");
    folder.run(&["up", &file]).exits(0).complains(&["lab pair is up: 2 hosts"]);
    assert!(folder.registry.read("pair").expect("it is up").token != running.token);
    folder.run(&["down"]).exits(0);
}

#[test]
fn a_keeper_that_is_told_to_end_while_it_builds_says_so_and_does_not_build_on() {
    let Some(folder) = Folder::new() else { return };
    let mut keeper = Keeper::start(&folder, &a_large_star());
    wait_until("the lab is begun", || !folder.names().is_empty());
    keeper.signal("INT");
    let KeeperMessage::Failed(why) = keeper.word() else {
        eprintln!("skipped, because this test had to wait until the lab was built");
        return;
    };
    assert!(why.contains("told to end before the lab was up"), "{why}");
    assert!(keeper.child.wait().expect("our child").success());
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn what_was_never_finished_is_cleared_and_down_says_so() {
    let Some(folder) = Folder::new() else { return };
    let file = folder.file("pair.toml", PAIR);
    abandoned(&folder);
    let ran = folder.run(&["down", "pair"]).exits(0);
    ran.complains(&["lab pair had lost its keeper", "its name is free"]);
    assert_eq!(folder.names(), [""; 0]);
    abandoned(&folder);
    folder.run(&["up", &file]).exits(0).complains(&["lab pair is up"]);
    // A living lab whose description was damaged is taken down by its keeper.
    let description = folder.registry.root().join("pair/lab.json");
    let keeper = folder.registry.read("pair").expect("it is up").keeper;
    std::fs::write(description, "{").expect("ours");
    folder.run(&["down", "pair"]).exits(0).complains(&["lab pair is down"]);
    wait_until("the keeper is gone", || has_ended(keeper));
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn a_refused_claim_and_a_brief_that_is_none_are_told() {
    let Some(folder) = Folder::new() else { return };
    let file = folder.file("pair.toml", PAIR);
    // A file in the place of the registry.
    std::fs::write(folder.registry.root(), "").expect("ours");
    let ran = folder.run(&["up", &file]).exits(4);
    ran.complains(&["lab pair is not up: cannot create"]);
    // And for whoever asks which labs there are, that is not none.
    for words in [&["show"][..], &["down"], &["exec", "a", "--", "true"]] {
        folder.run(words).exits(4).complains(&["cannot read", "Not a directory"]);
    }
    std::fs::remove_file(folder.registry.root()).expect("ours");

    let mut keeper = Command::new(BINARY)
        .args(["lab", "keep"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary was built");
    keeper.stdin.take().expect("piped").write_all(b"build!\n").expect("it reads");
    let output = keeper.wait_with_output().expect("our child");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("cannot read what it is to build"), "{said}");
}

#[test]
fn a_file_among_the_labs_is_no_lab() {
    let Some(folder) = Folder::new() else { return };
    std::fs::create_dir_all(folder.registry.root()).expect("ours");
    std::fs::write(folder.registry.root().join("notes"), "").expect("ours");
    assert_eq!(folder.names(), [""; 0]);
    folder.run(&["show"]).exits(2).complains(&["no lab is up"]);
}

#[test]
fn a_keeper_that_is_killed_and_not_yet_buried_is_gone() {
    let Some(folder) = Folder::new() else { return };
    let mut keeper = Keeper::start(&folder, PAIR);
    let running = keeper.running();
    signal(running.keeper, "KILL");
    // Our child, whose exit code nobody asks for yet.
    wait_until("it is dead", || has_ended(running.keeper));
    let ran = folder.run(&["exec", "a", "--", "true"]).exits(4);
    ran.complains(&["the keeper of lab pair", "is gone; 'pathscope lab down pair' clears"]);
    folder.run(&["down"]).exits(0).complains(&["had lost its keeper"]);
}
