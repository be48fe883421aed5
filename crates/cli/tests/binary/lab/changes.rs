//! Links that change while they carry traffic: one that is pulled and put back, and a peer that
//! vanishes without a word.

use pathscope_core::record::Check;
use pathscope_os::clock;

use super::{Stand, only};

#[test]
fn a_link_that_is_cut_for_a_second_costs_time_and_no_byte() {
    let text = "name = \"pair\"\nhosts = [\"a\", \"b\"]\n[links]\n\
                \"a:b\" = { rate = \"50Mbit\", delay = \"5ms\", queue = \"50p\" }\n";
    let Some(stand) = Stand::up(text) else { return };
    let _server = stand.server("b");
    let words = ["goodput", "b", "-c", "1", "-t", "4s", "--no-probe", "--report-every", "100ms"];
    let path = stand.folder.path().join("run.json");
    let output = ["-o", path.to_str().expect("plain")];
    let mut client = stand.pathscope("a", &[&words[..], &output[..]].concat());
    client.await_stdout("ms");
    stand.folder.run(&["set", "a:b", "at", "1s", "cut", "at", "2s", "restore"]).exits(0);
    client.finish().exits(0);
    let document = crate::common::document_in(&path);
    let measurement = only(&document);
    assert!(measurement.checks.iter().all(Check::has_held), "{:?}", measurement.checks);
    let up = measurement.summary.goodput.as_ref().and_then(|it| it.up).expect("it went up");
    assert_eq!(up.sent_bytes, up.received_bytes);
    let account = stand.account();
    let link = account.link("a:b").expect("the only one");
    assert!(link.forward.truth.total.cut.frames > 0);
    assert!(!link.forward.is_cut && !link.backward.is_cut);
    assert_eq!(link.forward.truth.total.lost.frames, 0);
}

#[test]
fn a_peer_that_vanishes_without_a_word_is_missed_in_time() {
    let Some(stand) = Stand::up(super::PAIR) else { return };
    let server = stand.server("b");
    let mut clients = ["goodput", "latency"]
        .map(|kind| stand.pathscope("a", &[kind, "b", "-t", "600s", "--report-every", "100ms"]));
    for client in &mut clients {
        client.await_stdout("ms");
    }
    stand.set(&[("cut", 0)], "a:b", None);
    let cut_at = clock::now();
    server.signal("KILL");
    for client in clients {
        let ran = client.finish().exits(3).complains(&["server"]);
        // It says so after 10 s of silence; one that waits for the end of its 600 s does not pass.
        let took_s = clock::now().since(cut_at).as_secs();
        assert!(took_s < 80, "{took_s} s: {}", ran.said());
    }
    let account = stand.account();
    assert!(account.link("a:b").is_some_and(|link| link.forward.is_cut && link.backward.is_cut));
}
