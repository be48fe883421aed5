//! However a lab ends, nothing is left of it: no program on a node, no keeper, nothing in the registry.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};

use pathscope_lab::keeper::{Brief, KeeperMessage};
use pathscope_lab::running::{RunningLab, Shaper};
use pathscope_modes::document::OutcomeState;
use pathscope_os::clock;

use super::{BINARY, Folder, PAIR, Stand, network, processes_with, wait_until};
use crate::common::{Running, document_in};

/// A keeper that is our own child, so that its end can be waited for. Killed when dropped.
pub(super) struct Keeper {
    pub(super) child: Child,
    pub(super) leash: Option<ChildStdin>,
}

impl Keeper {
    /// Told what to build, and nothing awaited.
    pub(super) fn start(folder: &Folder, text: &str) -> Self {
        let mut child = Command::new(BINARY)
            .args(["lab", "keep"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary was built");
        let brief = Brief {
            registry: folder.registry.root().to_owned(),
            name: "pair".to_owned(),
            network: network(text),
            seed: None,
            shaper: Shaper::Relay,
        };
        let mut leash = child.stdin.take().expect("piped");
        let mut line = serde_json::to_vec(&brief).expect("plain data");
        line.push(b'\n');
        leash.write_all(&line).expect("it reads");
        Self { child, leash: Some(leash) }
    }

    pub(super) fn running(&mut self) -> RunningLab {
        match self.word() {
            KeeperMessage::Ready(running) => *running,
            word => panic!("{word:?}"),
        }
    }

    /// The first that it says.
    pub(super) fn word(&mut self) -> KeeperMessage {
        let mut said = String::new();
        let output = self.child.stdout.take().expect("piped");
        BufReader::new(output).read_line(&mut said).expect("it speaks");
        serde_json::from_str(&said).expect(&said)
    }

    pub(super) fn signal(&self, name: &str) {
        signal(self.child.id(), name);
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // Fails only where it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(super) fn signal(process: u32, name: &str) {
    let sent = Command::new("kill").args([format!("-{name}"), process.to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()), "kill -{name} {process}");
}

/// Something that runs until it is ended, on the node a. It says that it is there once it is what it will be: amid an
/// exec(2) a process has no environment to be known by.
fn program(folder: &Folder) -> Running {
    let file = folder.file("ready", "ready\n");
    let words = ["exec", "--lab", "pair", "a", "--", "tail", "-f", &file];
    let mut program = Running::start(folder.command(&words));
    program.await_stdout("ready");
    program
}

pub(super) fn nothing_is_left(folder: &Folder, token: &str) {
    assert_eq!(folder.names(), [""; 0]);
    assert_eq!(processes_with(token), [0; 0]);
}

#[test]
fn a_lab_that_is_dropped_leaves_nothing() {
    let Some(Stand { lab, folder }) = Stand::up(PAIR) else { return };
    let program = program(&folder);
    let RunningLab { token, keeper, .. } = lab.running().clone();
    assert_eq!(processes_with(&token), [program.id()]);
    drop(lab);
    assert_eq!(program.finish().code, None, "it was ended by a signal");
    nothing_is_left(&folder, &token);
    assert!(!std::path::Path::new(&format!("/proc/{keeper}")).exists());
}

#[test]
fn a_keeper_that_is_terminated_or_let_go_takes_all_with_it() {
    type Ending = fn(&mut Keeper);
    let endings: [Ending; 4] = [
        |keeper| keeper.signal("TERM"),
        |keeper| keeper.signal("INT"),
        |keeper| keeper.signal("HUP"),
        |keeper| drop(keeper.leash.take()),
    ];
    for end in endings {
        let Some(folder) = Folder::new() else { return };
        let mut keeper = Keeper::start(&folder, PAIR);
        let running = keeper.running();
        let program = program(&folder);
        end(&mut keeper);
        assert!(keeper.child.wait().expect("our child").success());
        assert_eq!(program.finish().code, None, "it was ended by a signal");
        nothing_is_left(&folder, &running.token);
    }
}

#[test]
fn a_keeper_that_is_stopped_while_it_builds_leaves_nothing() {
    type Ending = fn(&mut Keeper);
    let endings: [Ending; 2] = [|keeper| keeper.signal("TERM"), |keeper| drop(keeper.leash.take())];
    for end in endings {
        let Some(folder) = Folder::new() else { return };
        let mut keeper = Keeper::start(&folder, &a_large_star());
        wait_until("the lab is begun", || !folder.names().is_empty());
        end(&mut keeper);
        // What it says of a large lab is more than a pipe holds, so it is heard out.
        let mut output = keeper.child.stdout.take().expect("piped");
        std::io::copy(&mut output, &mut std::io::sink()).expect("it ends");
        assert!(keeper.child.wait().expect("our child").success());
        assert_eq!(folder.names(), [""; 0]);
    }
}

#[test]
fn a_keeper_that_is_killed_leaves_what_down_or_the_next_up_clears() {
    let Some(folder) = Folder::new() else { return };
    let file = folder.file("pair.toml", PAIR);
    for next in [&["down", "pair"][..], &["up", &file]] {
        let mut keeper = Keeper::start(&folder, PAIR);
        let running = keeper.running();
        let program = program(&folder);
        keeper.signal("KILL");
        assert!(!keeper.child.wait().expect("our child").success());
        assert_eq!(processes_with(&running.token), [program.id()], "nobody has ended it yet");
        let orphaned = folder.run(&["show"]).exits(4);
        orphaned.complains(&["the keeper of lab pair", "'pathscope lab down pair' clears"]);
        let ran = folder.run(next).exits(0);
        assert_eq!(program.finish().code, None, "it was ended by a signal: {}", ran.said());
        assert_eq!(processes_with(&running.token), [0; 0]);
        if next[0] == "down" {
            ran.complains(&["had lost its keeper; what was left of it is cleared"]);
        } else {
            folder.run(&["down"]).exits(0).complains(&["lab pair is down"]);
        }
        nothing_is_left(&folder, &running.token);
    }
}

#[test]
fn ctrl_c_while_a_lab_is_put_up_leaves_nothing() {
    let Some(folder) = Folder::new() else { return };
    let file = folder.file("star.toml", &a_large_star());
    // Whoever runs the tests in the background has them ignore Ctrl-C, and so all that they start.
    let words = folder.command(&["up", &file, "--lab", "pair"]);
    let mut command = Command::new("env");
    command.arg("--default-signal=INT").arg(words.get_program()).args(words.get_args());
    command.stdin(Stdio::null());
    let up = Running::start(command);
    wait_until("the lab is begun", || !folder.names().is_empty());
    let keepers = children_of(up.id());
    up.signal("INT");
    let ran = up.finish();
    assert_eq!(ran.code, None, "it was ended before the lab was up: {}", ran.said());
    assert_eq!(keepers.len(), 1);
    wait_until("the keeper is gone", || keepers.iter().all(|&keeper| has_ended(keeper)));
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn a_program_that_does_not_want_to_end_is_ended() {
    let Some(Stand { lab, folder }) = Stand::up(PAIR) else { return };
    let script = "trap '' TERM HUP INT; echo ready; while :; do sleep 1000; done";
    let words = ["exec", "a", "--", "sh", "-c", script];
    let mut program = Running::start(folder.command(&words));
    program.await_stdout("ready");
    let token = lab.running().token.clone();
    let began = clock::now();
    folder.run(&["down"]).exits(0).complains(&["lab pair is down"]);
    // Two seconds of courtesy, then it is killed; five more are the kernel's.
    assert!(clock::now().since(began).as_secs() < 60);
    assert_eq!(program.finish().code, None, "it was ended by a signal");
    nothing_is_left(&folder, &token);
}

/// A network that takes its time to be built: a hundred hosts around a router.
pub(super) fn a_large_star() -> String {
    let hosts: Vec<_> = (1..=100).map(|number| format!("\"h{number}\"")).collect();
    let mut text =
        format!("name = \"pair\"\nrouters = [\"r\"]\nhosts = [{}]\n[links]\n", hosts.join(", "));
    for number in 1..=100 {
        text.extend(["\"h", &number.to_string(), ":r\" = { delay = \"1ms\" }\n"]);
    }
    text
}

/// What the system says of a process: its state and its parent.
pub(super) fn state_and_parent(process: u32) -> Option<(String, u32)> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let mut words = text.rsplit_once(") ")?.1.split(' ').map(str::to_owned);
    Some((words.next()?, words.next()?.parse().ok()?))
}

pub(super) fn children_of(parent: u32) -> Vec<u32> {
    let is_child = |&process: &u32| state_and_parent(process).is_some_and(|it| it.1 == parent);
    super::processes().filter(is_child).collect()
}

/// Also where nobody has asked for its exit code yet.
pub(super) fn has_ended(process: u32) -> bool {
    state_and_parent(process).is_none_or(|(state, _)| state == "Z" || state == "X")
}

#[test]
fn a_run_whose_lab_is_taken_down_ends_by_itself_with_its_result() {
    let Some(stand) = Stand::up(PAIR) else { return };
    let server = stand.server("b");
    let path = stand.folder.path().join("run.json");
    let file = path.to_str().expect("plain");
    let words = ["goodput", "b", "-t", "60s", "--report-every", "100ms", "-o", file];
    let mut client = stand.pathscope("a", &words);
    client.await_stdout("ms");
    stand.folder.run(&["down"]).exits(0).complains(&["lab pair is down"]);
    // The keeper tells it whether the lab kept up while it ends the programs: it did not have to be killed.
    let ran = client.finish().exits(130);
    let document = document_in(&path);
    assert_eq!(document.outcome.state, OutcomeState::Interrupted, "{}", ran.said());
    assert_eq!(document.measurements.len(), 1, "{}", ran.said());
    assert!(document.caveats.iter().all(|it| it.name != "lab_unknown"), "{:?}", document.caveats);
    server.finish().exits(0);
}
