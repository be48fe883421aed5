//! Labs that the kernel shapes, by tc: as far as this kernel can.

use std::process::Command;

use pathscope_lab::running::Shaper;
use pathscope_os::clock;

use super::{Folder, Stand, only};

/// A folder, where tc is there to be run.
fn folder() -> Option<Folder> {
    if Command::new("tc").arg("-V").output().is_err() {
        println!("skipped, because there is no tc (iproute2)");
        return None;
    }
    Folder::new()
}

#[test]
fn the_kernel_keeps_a_rate_and_the_result_says_that_it_was_the_kernel() {
    let Some(folder) = folder() else { return };
    let text = "name = \"fast\"\nhosts = [\"a\", \"b\"]\n[links]\n\
                \"a:b\" = { rate = \"40Mbit\", queue = \"100p\" }\n";
    let lab = match folder.up_by(text, Shaper::Tc) {
        Ok(lab) => lab,
        Err(error) => {
            // A kernel without tbf; whatever else goes wrong has other words.
            assert!(error.to_string().contains("Specified qdisc"), "{error}");
            println!("skipped, because {error}");
            return;
        }
    };
    let stand = Stand { lab, folder };
    let _server = stand.server("b");
    let words = ["goodput", "b", "-c", "1", "--transfer", "5MB", "--no-probe", "--json"];
    let began = clock::now();
    let ran = stand.pathscope("a", &words).finish().exits(0);
    let took_ns = clock::now().nanos_since(began);
    // 5 MB of payload in frames of 1,448 + 66 bytes at 40 Mbit/s; a bucket of one frame, and what waits
    // is still to be sent.
    let least_ns = 5_000_000 * 1_514 / 1_448 * 8 * 25;
    assert!(took_ns > least_ns, "{took_ns} ns: {}", ran.said());
    let document = ran.document();
    assert_eq!(
        only(&document).summary.goodput.as_ref().and_then(|it| it.up).map(|it| it.received_bytes),
        Some(Some(5_000_000))
    );
    assert_eq!(document.hosts.client.lab.as_ref().map(|lab| lab.shaper.as_str()), Some("tc"));
    stand
        .folder
        .run(&["set", "a:b", "rate=1Mbit"])
        .exits(2)
        .complains(&["shaped by tc", "--shaper relay"]);
    let shown = stand.folder.run(&["show"]).exits(0);
    assert!(
        shown.stdout.contains("shaped by tc") && shown.stdout.contains("tc -s qdisc"),
        "{}",
        shown.said()
    );
    let sent = stand.start("a", &["tc", "-s", "qdisc"]).finish().exits(0);
    assert!(sent.stdout.contains("tbf") && sent.stdout.contains("rate 40Mbit"), "{}", sent.said());
}

/// tc reads its words before it asks the kernel: where that knows no netem, it says so, and no word is at
/// fault.
#[test]
fn tc_understands_our_words() {
    let Some(folder) = folder() else { return };
    for conditions in [
        "delay = \"1500us\"",
        "delay = \"7ns\"",
        "loss = \"0.5%\", dup = \"1ppm\"",
        "loss = \"burst:1%,30%,0.1%,90%\"",
        "delay = \"1ms\", rate = \"10Mbit\", queue = \"5p\"",
        "rate = \"9Gbit\", queue = \"1MiB\"",
    ] {
        let text = format!("hosts = [\"a\", \"b\"]\n[links]\n\"a:b\" = {{ {conditions} }}\n");
        if let Err(error) = folder.up_by(&text, Shaper::Tc).map(drop) {
            let error = error.to_string();
            assert!(error.contains("Specified qdisc kind is unknown"), "{conditions}: {error}");
        }
    }
}

#[test]
fn a_delay_needs_netem_and_is_refused_without() {
    let Some(folder) = folder() else { return };
    let text = "name = \"far\"\nhosts = [\"a\", \"b\"]\n[links]\n\"a:b\" = { delay = \"20ms\" }\n";
    let lab = match folder.up_by(text, Shaper::Tc) {
        Ok(lab) => lab,
        Err(error) => {
            let error = error.to_string();
            assert!(["netem", "--shaper relay"].iter().all(|it| error.contains(it)), "{error}");
            assert!(folder.names().is_empty(), "nothing is left of it");
            println!("skipped, because without netem there is no delay: {error}");
            return;
        }
    };
    let stand = Stand { lab, folder };
    let _server = stand.server("b");
    let ran = stand.pathscope("a", &["latency", "b", "-n", "20", "--json"]).finish().exits(0);
    let rtt = only(&ran.document()).summary.latency.clone().expect("it is latency").rtt;
    assert!(rtt.min_ns >= Some(40_000_000), "{}", ran.said());
}

#[test]
fn what_tc_does_in_another_way_is_refused_before_anything_is_built() {
    let Some(folder) = folder() else { return };
    let text = "name = \"odd\"\nhosts = [\"a\", \"b\"]\n[links]\n\"a:b\" = { corrupt = \"1%\" }\n";
    let file = folder.file("odd.toml", text);
    let words = ["link a:b has corrupt = \"1%\"", "--shaper relay"];
    folder.run(&["up", &file, "--shaper", "tc"]).exits(4).complains(&words);
    assert!(folder.names().is_empty());
}
