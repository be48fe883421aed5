//! Programs that try to outlive their lab.

use super::ends::Keeper;
use super::{Folder, PAIR, is_root};
use crate::common::Running;

/// Something on the node a that says it is ready and runs until it is ended.
fn program(folder: &Folder, words: &[&str]) -> Running {
    let start = ["exec", "--lab", "pair", "a", "--"];
    let mut program = Running::start(folder.command(&[&start, words].concat()));
    program.await_stdout("ready");
    program
}

const SLEEP: &str = "echo ready; exec sleep 1000";

#[test]
fn one_that_has_moved_to_another_network_is_ended_with_its_lab() {
    let Some(folder) = Folder::new() else { return };
    let mut keeper = Keeper::start(&folder, PAIR);
    keeper.running();
    let moved = program(&folder, &["unshare", "--net", "sh", "-c", SLEEP]);
    folder.run(&["down"]).exits(0).complains(&["lab pair is down"]);
    assert_eq!(moved.finish().code, None, "it was ended by a signal");
}

#[test]
fn one_without_our_environment_is_ended_where_the_keeper_was_killed() {
    let Some(folder) = Folder::new() else { return };
    if !is_root() {
        return println!("skipped, because another user cannot see whose network it is");
    }
    let mut keeper = Keeper::start(&folder, PAIR);
    keeper.running();
    let bare = program(&folder, &["env", "-i", "sh", "-c", SLEEP]);
    keeper.signal("KILL");
    keeper.child.wait().expect("our child");
    folder.run(&["down"]).exits(0).complains(&["had lost its keeper"]);
    assert_eq!(bare.finish().code, None, "it was ended by a signal");
}
