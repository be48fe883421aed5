//! Results that were measured on a lab say so, and say where the lab itself was at fault.

use std::process::Command;

use pathscope_core::record::LabNode;

use super::{Folder, Stand, only};
use crate::common::document_in;

#[test]
fn a_result_names_the_lab_and_a_relay_that_stood_still() {
    let Some(stand) = Stand::up(super::PAIR) else { return };
    let _server = stand.server("b");
    let words = ["latency", "b", "--protocol", "udp", "--rate", "1000/s", "-t", "2s"];
    let path = stand.folder.path().join("run.json");
    let file = path.to_str().expect("plain");
    let words = [&words[..], &["--report-every", "100ms", "-o", file]].concat();
    let mut client = stand.pathscope("a", &words);
    client.await_stdout("ms");
    let keeper = stand.lab.running().keeper.to_string();
    let signal = |name: &str| {
        let sent = Command::new("kill").args([name, &keeper]).status();
        assert!(sent.is_ok_and(|status| status.success()), "kill {name} {keeper}");
    };
    signal("-STOP");
    // Rows come whatever is answered: 200 pings or more wait at the relay until it goes on.
    (0..3).for_each(|_| drop(client.await_stdout("ms")));
    signal("-CONT");
    let ran = client.finish().exits(0);

    let document = document_in(&path);
    let node = |node: &str| LabNode {
        lab: "pair".to_owned(),
        node: node.to_owned(),
        shaper: "relay".to_owned(),
        seed: 7,
    };
    let server = document.hosts.server.as_ref().and_then(|host| host.lab.clone());
    assert_eq!((document.hosts.client.lab.clone(), server), (Some(node("a")), Some(node("b"))));
    let invalid: Vec<_> = document.caveats.iter().filter(|it| it.name == "lab_invalid").collect();
    assert!(invalid.iter().any(|it| it.text.contains("from a to b")), "{}", ran.said());
    assert!(ran.stdout.contains("pair, a to b, shaped by relay, seed 7"), "{}", ran.said());
    assert!(ran.stdout.contains("INVALID"), "{}", ran.said());
    assert_eq!(only(&document).client.latency.as_ref().map(|it| it.sent), Some(2_000));
}

#[test]
fn outside_of_a_lab_nothing_is_said_of_one() {
    let Some(stand) = Stand::up(super::PAIR) else { return };
    // The words of a lab that is not up any more, or never was.
    let token = &stand.lab.running().token;
    for (lab, token) in [("gone", token.as_str()), ("pair", "another")] {
        let mut command = crate::common::pathscope(&["survey", "-t", "600ms", "--json"]);
        command
            .current_dir(stand.folder.path())
            .env("PATHSCOPE_LAB", lab)
            .env("PATHSCOPE_NODE", "a")
            .env("PATHSCOPE_LAB_TOKEN", token)
            .env("PATHSCOPE_LAB_REGISTRY", stand.folder.registry.root());
        let document = crate::common::Running::start(command).finish().exits(0).document();
        assert_eq!(document.hosts.client.lab, None);
        assert!(document.caveats.iter().all(|it| !it.name.starts_with("lab")));
    }
}

#[test]
fn a_lab_of_wires_alone_is_shaped_by_nobody() {
    let Some(folder) = Folder::new() else { return };
    let file = folder
        .file("wires.toml", "name = \"wires\"\nhosts = [\"a\", \"b\"]\n[links]\n\"a:b\" = {}\n");
    let up = folder.run(&["up", &file]).exits(0);
    let shown = folder.run(&["show"]).exits(0);
    for (words, said) in [(&up.stderr, up.said()), (&shown.stdout, shown.said())] {
        let is_told = words.contains("2 hosts, 1 wire") && words.contains("no link is shaped");
        assert!(is_told && !words.contains("shaped by"), "{said}");
    }
    folder.run(&["down"]).exits(0);
}
