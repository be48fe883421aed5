//! What a server does for clients on other machines only where its operator allows it.

use pathscope_modes::document::Document;

use super::{PAIR, Stand, only};

#[test]
fn a_stranger_gets_no_processor_of_his_own_unless_that_is_allowed() {
    let Some(stand) = Stand::up(PAIR) else { return };
    let mut server = stand.pathscope("b", &["server"]);
    server.await_stderr("listening on");
    for (words, parts) in [
        ("goodput b -n 10KiB --no-probe --wait spin", ["may spin", "--allow-spin"]),
        ("latency b -n 5 --wait spin", ["may spin", "--allow-spin"]),
        ("latency b -n 5 --wait hybrid", ["may spin", "--allow-spin"]),
        ("goodput b -n 10KiB --no-probe --server-cpu 0", ["--server-cpu", "--allow-pinning"]),
        ("latency b -n 5 --server-cpu 0", ["--server-cpu", "--allow-pinning"]),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        stand.pathscope("a", &words).finish().exits(3).complains(&parts);
    }
    // What was left open is something else, and the result tells.
    let waits = |document: &Document| {
        let end = only(document).server.as_ref().expect("it reports");
        end.workers.iter().map(|worker| worker.wait.clone()).collect::<Vec<_>>()
    };
    let words = ["latency", "b", "-n", "20", "--json"];
    let document = stand.pathscope("a", &words).finish().exits(0).document();
    assert_eq!(waits(&document), ["sleep"]);
    if pathscope_os::cpus::allowed().len() >= 2 {
        let told = &only(&document).substitutions;
        assert!(told.iter().any(|it| it.why.contains("--allow-spin")), "{told:?}");
    }
    // Whoever is on the server's machine has all of it.
    let words = ["latency", "127.0.0.1", "-n", "20", "--json", "--wait", "spin"];
    let document = stand.pathscope("b", &words).finish().exits(0).document();
    assert_eq!(waits(&document), ["spin"]);
    drop(server);
    let _server = stand.server("b");
    let words = ["latency", "b", "-n", "20", "--json", "--wait", "spin", "--server-cpu"];
    let cpu = pathscope_os::cpus::allowed()[0].to_string();
    let words = [&words[..], &[cpu.as_str()]].concat();
    let document = stand.pathscope("a", &words).finish().exits(0).document();
    assert_eq!(waits(&document), ["spin"]);
}
