//! A lab of a user who is not root: in a user namespace, with packet sockets, by the same words.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use super::{BINARY, Folder, PAIR, is_root};
use crate::common::{Ran, Running};

/// Nobody, by number, on every Linux.
const NOBODY: &str = "65534";

/// A command of somebody who is nobody.
fn as_nobody(words: &[&str]) -> Command {
    let mut command = Command::new("setpriv");
    let user = [format!("--reuid={NOBODY}"), format!("--regid={NOBODY}")];
    command.args(user).args(["--clear-groups", "--"]).args(words);
    command.env_remove("XDG_RUNTIME_DIR").stdin(std::process::Stdio::null());
    command
}

#[test]
fn a_lab_of_a_user_without_rights() {
    let Some(folder) = Folder::new() else { return };
    if !is_root() {
        return println!(
            "skipped, because we are not root, and so all other tests of labs are this"
        );
    }
    match as_nobody(&["unshare", "--user", "--map-root-user", "--net", "true"]).output() {
        Ok(output) if output.status.success() => {}
        Ok(output) => {
            let cried = String::from_utf8_lossy(&output.stderr);
            return println!("skipped, because user namespaces are refused: {}", cried.trim());
        }
        Err(error) => return println!("skipped, because setpriv does not start: {error}"),
    }
    // The build's folder may be closed to others.
    let binary = folder.path().join("pathscope");
    fs::copy(BINARY, &binary).expect("room for a copy");
    let binary = binary.to_str().expect("plain");
    let pair = folder.file("pair.toml", PAIR);
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).expect("ours");
    let root = folder.registry.root().to_str().expect("plain").to_owned();
    let start = |words: &[&str]| {
        let words = [&[binary, "lab", "--registry", &root], words].concat();
        Running::start(as_nobody(&words))
    };
    let run = |words: &[&str]| -> Ran { start(words).finish() };

    run(&["up", &pair]).exits(0).complains(&["lab pair is up: 2 hosts, 1 relayed link"]);
    let ran = run(&["exec", "a", "--", "cat", "/proc/self/uid_map"]).exits(0);
    let map: Vec<_> = ran.stdout.split_whitespace().collect();
    assert_eq!(map, ["0", NOBODY, "1"], "root of nothing but itself");
    let mut server = start(&["exec", "b", "--", binary, "server"]);
    server.await_stderr("listening on");
    let words = ["latency", "b", "--protocol", "udp", "-n", "20", "--json"];
    let ran = run(&[&["exec", "a", "--", binary], &words[..]].concat()).exits(0);
    let document = ran.document();
    let summary = super::only(&document).summary.latency.clone().expect("it is latency");
    assert_eq!((summary.sent, summary.received, summary.lost), (20, 20, 0));
    assert!(summary.rtt.min_ns >= Some(2_000_000), "{:?}", summary.rtt.min_ns);
    run(&["set", "a:b", "delay=3ms"]).exits(0);
    let file = folder.path().join("two.pcap");
    let output = file.to_str().expect("plain");
    let mut capture = start(&["capture", "a:b", "-o", output, "--count", "2"]);
    capture.await_stderr("capturing");
    run(&[&["exec", "a", "--", binary], &words[..]].concat()).exits(0);
    capture.finish().exits(0).complains(&["2 packets in"]);
    run(&["down"]).exits(0).complains(&["lab pair is down"]);
    assert_eq!(server.finish().code, Some(0), "a server that is asked to end ends well");
    assert_eq!(folder.names(), [""; 0]);
}
